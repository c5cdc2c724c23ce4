//! Errors and notices without values (policy 3.9).
//!
//! PostgreSQL may evaluate an expression on another tenant's row before it evaluates the tenant equality, and its
//! message then carries the value. So what goes to a tenant-bound principal is built anew: severity, SQLSTATE,
//! position, and one fixed text for that SQLSTATE in PostgreSQL's wording.

use pgmoat_policy::ErrorPosture;
use pgmoat_upstream::frame::Fields;

/// An error as the client may read it. `edited`: its position does not count in the client's text.
pub(super) fn error(fields: &Fields, errors: ErrorPosture, edited: bool) -> Fields {
    let mut read = fields.clone();
    match errors {
        ErrorPosture::Pass => {}
        ErrorPosture::Redact | ErrorPosture::Deny => {
            let text = fields.sqlstate().map_or(UNKNOWN, text);
            read.retain(|field| matches!(field.code, b'S' | b'V' | b'C' | b'P'));
            read.set(b'M', text);
        }
    }
    if edited {
        read.remove(b'P');
    }
    read
}

/// A notice as the client may read it; none where nothing is left of it.
pub(super) fn notice(fields: Fields, errors: ErrorPosture) -> Option<Fields> {
    match errors {
        ErrorPosture::Pass => Some(fields),
        ErrorPosture::Redact | ErrorPosture::Deny => {
            // A notice is its text; where there is none for its SQLSTATE, it says nothing.
            let text = fields.sqlstate().and_then(exact)?;
            let mut read = fields;
            read.retain(|field| matches!(field.code, b'S' | b'V' | b'C'));
            read.set(b'M', text);
            Some(read)
        }
    }
}

/// The text for an SQLSTATE: its own, or its class's.
fn text(sqlstate: &str) -> &'static str {
    exact(sqlstate)
        .or_else(|| {
            let class = sqlstate.get(..2)?;
            CLASSES.iter().find(|(name, _)| *name == class).map(|(_, text)| *text)
        })
        .unwrap_or(UNKNOWN)
}

fn exact(sqlstate: &str) -> Option<&'static str> {
    let at = TEXTS.binary_search_by(|(code, _)| (*code).cmp(sqlstate)).ok()?;
    TEXTS.get(at).map(|(_, text)| *text)
}

const UNKNOWN: &str = "error in the database";

/// By SQLSTATE, sorted. What PostgreSQL says with a value or a name in it stands here without.
const TEXTS: &[(&str, &str)] = &[
    ("01003", "null value eliminated in set function"),
    ("01004", "string data right truncation"),
    ("01006", "no privileges could be revoked"),
    ("01007", "no privileges were granted"),
    ("01P01", "deprecated feature"),
    ("02000", "no data"),
    ("03000", "SQL statement not yet complete"),
    ("08003", "connection does not exist"),
    ("08006", "connection failure"),
    ("08P01", "protocol violation"),
    ("0A000", "feature not supported"),
    ("0L000", "invalid grantor"),
    ("0LP01", "invalid grant operation"),
    ("20000", "case not found"),
    ("21000", "more than one row returned by a subquery used as an expression"),
    ("22000", "data exception"),
    ("22001", "value too long for its type"),
    ("22002", "null value, no indicator parameter"),
    ("22003", "value out of range"),
    ("22004", "null value not allowed"),
    ("22005", "error in assignment"),
    ("22007", "invalid input syntax for a date or time type"),
    ("22008", "date/time field value out of range"),
    ("22009", "time zone displacement out of range"),
    ("2200B", "escape character conflict"),
    ("2200C", "invalid use of escape character"),
    ("2200D", "invalid escape octet"),
    ("2200F", "zero-length character string"),
    ("2200G", "most specific type mismatch"),
    ("2200H", "sequence generator limit exceeded"),
    ("2200L", "not an XML document"),
    ("2200M", "invalid XML document"),
    ("2200N", "invalid XML content"),
    ("22010", "invalid indicator parameter value"),
    ("22011", "negative substring length not allowed"),
    ("22012", "division by zero"),
    ("22013", "invalid preceding or following size in window function"),
    ("22014", "argument of ntile must be greater than zero"),
    ("22015", "interval field value out of range"),
    ("22016", "argument of nth_value must be greater than zero"),
    ("22018", "invalid character value for cast"),
    ("22019", "invalid escape string"),
    ("2201B", "invalid regular expression"),
    ("2201E", "cannot take logarithm of this number"),
    ("2201F", "invalid argument for power function"),
    ("2201G", "invalid argument for width_bucket function"),
    ("2201W", "LIMIT must not be negative"),
    ("2201X", "OFFSET must not be negative"),
    ("22021", "invalid byte sequence for encoding"),
    ("22022", "indicator overflow"),
    ("22023", "invalid parameter value"),
    ("22024", "unterminated C string"),
    ("22025", "invalid escape sequence"),
    ("22026", "string length does not match the type's length"),
    ("22027", "trim error"),
    ("2202E", "array subscript error"),
    ("2202G", "invalid repeat argument in a sample clause"),
    ("2202H", "sample percentage must be between 0 and 100"),
    ("22030", "duplicate JSON object key value"),
    ("22031", "invalid argument for SQL/JSON datetime function"),
    ("22032", "invalid JSON text"),
    ("22033", "invalid SQL/JSON subscript"),
    ("22034", "more than one SQL/JSON item"),
    ("22035", "no SQL/JSON item"),
    ("22036", "non-numeric SQL/JSON item"),
    ("22037", "non-unique keys in a JSON object"),
    ("22038", "singleton SQL/JSON item required"),
    ("22039", "SQL/JSON array not found"),
    ("2203A", "SQL/JSON member not found"),
    ("2203B", "SQL/JSON number not found"),
    ("2203C", "SQL/JSON object not found"),
    ("2203D", "too many JSON array elements"),
    ("2203E", "too many JSON object members"),
    ("2203F", "SQL/JSON scalar required"),
    ("2203G", "SQL/JSON item cannot be cast to target type"),
    ("22P01", "floating-point exception"),
    ("22P02", "invalid input syntax"),
    ("22P03", "incorrect binary data format"),
    ("22P04", "bad copy file format"),
    ("22P05", "character has no equivalent in this encoding"),
    ("22P06", "nonstandard use of escape character"),
    ("23000", "integrity constraint violation"),
    ("23001", "update or delete violates a restrict constraint"),
    ("23502", "null value violates not-null constraint"),
    ("23503", "insert, update or delete violates foreign key constraint"),
    ("23505", "duplicate key value violates unique constraint"),
    ("23514", "new row violates check constraint"),
    ("23P01", "conflicting key value violates exclusion constraint"),
    ("24000", "invalid cursor state"),
    ("25000", "invalid transaction state"),
    ("25001", "command cannot run inside a transaction block, or there is already a transaction in progress"),
    ("25006", "cannot execute the statement in a read-only transaction"),
    ("25P01", "there is no transaction in progress"),
    ("25P02", super::refusal::ABORTED),
    ("25P03", "terminating connection due to idle-in-transaction timeout"),
    ("25P04", "terminating connection due to transaction timeout"),
    ("26000", "prepared statement does not exist"),
    ("27000", "triggered data change violation"),
    ("28000", "invalid authorization specification"),
    ("2BP01", "other objects depend on it"),
    ("2D000", "invalid transaction termination"),
    ("2F000", "SQL routine exception"),
    ("34000", "cursor does not exist"),
    ("3B001", "savepoint does not exist"),
    ("3D000", "database does not exist"),
    ("3F000", "schema does not exist"),
    ("40001", "could not serialize access"),
    ("40002", "transaction integrity constraint violation"),
    ("40003", "statement completion unknown"),
    ("40P01", "deadlock detected"),
    ("42501", "permission denied"),
    ("42601", "syntax error"),
    ("42602", "invalid name"),
    ("42611", "invalid column definition"),
    ("42622", "name too long"),
    ("42701", "duplicate column"),
    ("42702", "column reference is ambiguous"),
    ("42703", "column does not exist"),
    ("42704", "object does not exist"),
    ("42710", "object already exists"),
    ("42712", "table name specified more than once"),
    ("42723", "function already exists"),
    ("42725", "function or operator is not unique"),
    ("42803", "grouping error"),
    ("42804", "datatype mismatch"),
    ("42809", "wrong object type"),
    ("42830", "invalid foreign key"),
    ("42846", "cannot cast type"),
    ("42883", "function or operator does not exist"),
    ("42939", "reserved name"),
    ("42P01", "relation does not exist"),
    ("42P02", "there is no such parameter"),
    ("42P03", "cursor already exists"),
    ("42P05", "prepared statement already exists"),
    ("42P07", "relation already exists"),
    ("42P08", "inconsistent types for a parameter"),
    ("42P09", "alias is ambiguous"),
    ("42P10", "invalid column reference"),
    ("42P12", "invalid database definition"),
    ("42P13", "invalid function definition"),
    ("42P14", "invalid prepared statement definition"),
    ("42P16", "invalid table definition"),
    ("42P17", "invalid object definition"),
    ("42P18", "could not determine data type"),
    ("42P19", "invalid recursion"),
    ("42P20", "windowing error"),
    ("42P21", "collation mismatch"),
    ("42P22", "could not determine which collation to use"),
    ("44000", "new row violates check option"),
    ("53000", "insufficient resources"),
    ("53100", "disk full"),
    ("53200", "out of memory"),
    ("53300", "too many connections"),
    ("53400", "configuration limit exceeded"),
    ("54000", "program limit exceeded"),
    ("54001", "stack depth limit exceeded"),
    ("54011", "too many columns"),
    ("54023", "too many arguments"),
    ("55000", "object not in prerequisite state"),
    ("55006", "object in use"),
    ("55P02", "parameter cannot be changed now"),
    ("55P03", "could not obtain lock"),
    ("57014", "canceling statement due to user request"),
    ("57P01", "terminating connection due to administrator command"),
    ("57P02", "terminating connection because of crash of another server process"),
    ("57P03", "the database system is not accepting connections"),
    ("57P04", "database was dropped"),
    ("57P05", "terminating connection due to idle-session timeout"),
    ("58000", "system error"),
    ("58030", "I/O error"),
    ("P0001", "error raised by a database function"),
    ("P0002", "query returned no rows"),
    ("P0003", "query returned more than one row"),
    ("P0004", "assertion failed"),
    ("XX000", "internal error"),
    ("XX001", "data corrupted"),
    ("XX002", "index corrupted"),
];

/// By the first two characters, for SQLSTATEs that are not in the list above.
const CLASSES: &[(&str, &str)] = &[
    ("08", "connection exception"),
    ("09", "triggered action exception"),
    ("0A", "feature not supported"),
    ("21", "cardinality violation"),
    ("22", "data exception"),
    ("23", "integrity constraint violation"),
    ("24", "invalid cursor state"),
    ("25", "invalid transaction state"),
    ("28", "invalid authorization specification"),
    ("2B", "dependent privilege descriptors still exist"),
    ("2D", "invalid transaction termination"),
    ("2F", "SQL routine exception"),
    ("38", "external routine exception"),
    ("39", "external routine invocation exception"),
    ("3B", "savepoint exception"),
    ("40", "transaction rollback"),
    ("42", "syntax error or access rule violation"),
    ("53", "insufficient resources"),
    ("54", "program limit exceeded"),
    ("55", "object not in prerequisite state"),
    ("57", "operator intervention"),
    ("58", "system error"),
    ("72", "snapshot too old"),
    ("F0", "configuration file error"),
    ("HV", "foreign data wrapper error"),
    ("P0", "error raised by a database function"),
    ("XX", "internal error"),
];

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn upstream(body: &[u8]) -> Fields {
        Fields::decode(body).unwrap()
    }

    #[test]
    fn the_list_is_sorted_and_its_codes_are_codes() {
        assert!(TEXTS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(TEXTS.iter().all(|(code, _)| code.len() == 5));
    }

    #[test]
    fn nothing_but_severity_code_position_and_the_fixed_text_is_left() {
        let body = b"SERROR\0VERROR\0C22P02\0Minvalid input syntax for type integer: \"globex secret\"\0\
            DKey (email)=(x)\0HHint\0P8\0p3\0qselect x\0WPL/pgSQL\0sapp\0torders\0cnote\0dint4\0nfk\0Fint.c\0L1\0Rf\0\0";
        let read = error(&upstream(body), ErrorPosture::Redact, false);
        let fields: Vec<(u8, &[u8])> = read.iter().map(|field| (field.code, &*field.value)).collect();
        let expected: [(u8, &[u8]); 5] = [
            (b'S', b"ERROR"),
            (b'V', b"ERROR"),
            (b'C', b"22P02"),
            (b'P', b"8"),
            (b'M', b"invalid input syntax"),
        ];
        assert_eq!(fields, expected);
        assert_eq!(error(&upstream(body), ErrorPosture::Pass, false), upstream(body));
        assert_eq!(error(&upstream(body), ErrorPosture::Pass, true).get(b'P'), None);
    }

    #[test]
    fn an_unknown_code_gets_its_classs_text_and_an_odd_one_the_general() {
        assert_eq!(text("22ZZZ"), "data exception");
        assert_eq!(text("ZZZZZ"), UNKNOWN);
        let odd = error(&upstream(b"SERROR\0C\xe9\0Msecret\0\0"), ErrorPosture::Deny, false);
        assert_eq!(odd.message(), Some(UNKNOWN));
    }

    #[test]
    fn a_notice_without_a_text_of_its_own_is_dropped() {
        let plain = b"SNOTICE\0VNOTICE\0C00000\0Mrow: globex\0\0";
        assert_eq!(notice(upstream(plain), ErrorPosture::Redact), None);
        assert_eq!(notice(upstream(plain), ErrorPosture::Pass), Some(upstream(plain)));
        let warning = b"SWARNING\0VWARNING\0C25P01\0Mx\0Fxact.c\0\0";
        let read = notice(upstream(warning), ErrorPosture::Redact).unwrap();
        assert_eq!((read.message(), read.get(b'F')), (Some("there is no transaction in progress"), None));
    }
}
