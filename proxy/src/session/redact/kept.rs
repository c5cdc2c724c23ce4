//! The positive list: errors whose original message a tenant may read (policy 3.9). Nothing else is handed through.
//!
//! Not on it, though one could think so: 42601 and 42704, which the server raises for values too after the text has
//! been parsed here already (`note::tsquery`); class 54, whose texts carry numbers that count rows or bytes; 22P02 and
//! kin, whose texts quote what was read.

/// An SQLSTATE of name and type analysis, and why its message holds no value of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Analysis {
    pub(super) sqlstate: &'static str,
    /// Read by the test that provokes each, and by people.
    #[cfg_attr(not(test), expect(dead_code, reason = "a reason is for its reader"))]
    pub(super) reason: &'static str,
}

/// A message that is the same whatever the rows hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constant {
    pub(super) sqlstate: &'static str,
    pub(super) text: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "a reason is for its reader"))]
    pub(super) reason: &'static str,
}

/// Whether an SQLSTATE is one of analysis. That it came of analysis shows by a POSITION, which no error of these
/// SQLSTATEs has at run time, or by its answering a Parse, which looks at no row.
pub(in crate::session) fn is_analysis(sqlstate: &str) -> bool {
    ANALYSIS.iter().any(|row| row.sqlstate == sqlstate)
}

/// Whether a message is on the list by its exact text.
pub(super) fn is_constant(sqlstate: &str, message: &str) -> bool {
    CONSTANT.iter().any(|row| row.sqlstate == sqlstate && row.text == message)
}

const fn analysis(sqlstate: &'static str, reason: &'static str) -> Analysis {
    Analysis { sqlstate, reason }
}

const fn constant(sqlstate: &'static str, text: &'static str, reason: &'static str) -> Constant {
    Constant { sqlstate, text, reason }
}

/// From parse_*.c: each names what stands in the text, or types.
pub(super) const ANALYSIS: &[Analysis] = &[
    analysis("428C9", "names the generated column that the text assigns"),
    analysis("42701", "the column that the text names twice"),
    analysis("42702", "the ambiguous column as written"),
    analysis(
        "42703",
        "the column as written; the near miss that PostgreSQL guesses is in the HINT, which goes",
    ),
    analysis("42712", "the alias that the text uses twice"),
    analysis("42725", "function or operator as written, with its operands' types"),
    analysis("42803", "columns as written"),
    analysis("42804", "types of expressions of the text"),
    analysis("42809", "the object as written, and what kind it is"),
    analysis("42846", "the two types of a cast of the text"),
    analysis("42883", "function or operator as written, with its operands' types"),
    analysis("42P01", "the relation as written"),
    analysis("42P02", "the parameter's number"),
    analysis("42P08", "the parameter's number, and types"),
    analysis("42P09", "the alias as written"),
    analysis("42P10", "a clause's name, or a place in a list of the text"),
    analysis("42P18", "the parameter's number, or a constant text"),
    analysis("42P19", "the query's name as written"),
    analysis("42P20", "the window's name as written"),
    analysis("42P21", "two collations by name"),
];

const ARITHMETIC: &str = "arithmetic has failed on some value; which one is not said";
const ARGUMENT: &str = "an argument is out of its domain; which value it has is not said";
const ROWS: &str = "a rule about numbers of rows; which rows is not said";
const TRANSACTION: &str = "about the session's own transaction";
const CONFLICT: &str = "another transaction was in the way; which one is in the DETAIL, which goes";
const ENDED: &str = "somebody or some timeout has ended it";

/// By exact text. PostgreSQL's translations are other texts, and get the fixed one.
pub(super) const CONSTANT: &[Constant] = &[
    constant("21000", "ON CONFLICT DO UPDATE command cannot affect row a second time", ROWS),
    constant("21000", "MERGE command cannot affect row a second time", ROWS),
    constant("21000", "more than one row returned by a subquery used as an expression", ROWS),
    constant("22003", "bigint out of range", ARITHMETIC),
    constant("22003", "integer out of range", ARITHMETIC),
    constant("22003", "smallint out of range", ARITHMETIC),
    constant("22003", "numeric field overflow", "the precision is in the DETAIL, which goes"),
    constant("22003", "value out of range: overflow", ARITHMETIC),
    constant("22003", "value out of range: underflow", ARITHMETIC),
    constant("22003", "value overflows numeric format", ARITHMETIC),
    constant("22008", "date out of range for timestamp", ARITHMETIC),
    constant("22008", "interval out of range", ARITHMETIC),
    constant("22008", "timestamp out of range", ARITHMETIC),
    constant("22011", "negative substring length not allowed", ARGUMENT),
    constant("22012", "division by zero", ARITHMETIC),
    constant("22014", "argument of ntile must be greater than zero", ARGUMENT),
    constant("22016", "argument of nth_value must be greater than zero", ARGUMENT),
    constant("2201E", "cannot take logarithm of a negative number", ARGUMENT),
    constant("2201E", "cannot take logarithm of zero", ARGUMENT),
    constant("2201F", "a negative number raised to a non-integer power yields a complex result", ARGUMENT),
    constant("2201F", "cannot take square root of a negative number", ARGUMENT),
    constant("2201F", "zero raised to a negative power is undefined", ARGUMENT),
    constant("2201G", "count must be greater than zero", ARGUMENT),
    constant("2201G", "lower bound cannot equal upper bound", ARGUMENT),
    constant("2201W", "LIMIT must not be negative", ARGUMENT),
    constant("2201X", "OFFSET must not be negative", ARGUMENT),
    constant("22023", "step size cannot equal zero", ARGUMENT),
    constant(
        "22025",
        "invalid escape string",
        "the string is not said; what it must be is in the HINT, which goes",
    ),
    constant("22025", "LIKE pattern must not end with escape character", "the pattern is not said"),
    constant("22P02", "invalid input syntax for type json", "what was read is in the DETAIL, which goes"),
    constant("25001", "there is already a transaction in progress", TRANSACTION),
    constant("25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query", TRANSACTION),
    constant("25006", "cannot execute DELETE in a read-only transaction", TRANSACTION),
    constant("25006", "cannot execute INSERT in a read-only transaction", TRANSACTION),
    constant("25006", "cannot execute MERGE in a read-only transaction", TRANSACTION),
    constant("25006", "cannot execute SELECT FOR SHARE in a read-only transaction", TRANSACTION),
    constant("25006", "cannot execute SELECT FOR UPDATE in a read-only transaction", TRANSACTION),
    constant("25006", "cannot execute UPDATE in a read-only transaction", TRANSACTION),
    constant("25006", "cannot execute nextval() in a read-only transaction", TRANSACTION),
    constant("25P01", "SAVEPOINT can only be used in transaction blocks", TRANSACTION),
    constant("25P01", "ROLLBACK TO SAVEPOINT can only be used in transaction blocks", TRANSACTION),
    constant("25P01", "RELEASE SAVEPOINT can only be used in transaction blocks", TRANSACTION),
    constant("25P01", "DECLARE CURSOR can only be used in transaction blocks", TRANSACTION),
    constant("25P01", "SET LOCAL can only be used in transaction blocks", TRANSACTION),
    constant("25P01", "SET CONSTRAINTS can only be used in transaction blocks", TRANSACTION),
    constant("25P01", "SET TRANSACTION can only be used in transaction blocks", TRANSACTION),
    constant("25P01", "there is no transaction in progress", TRANSACTION),
    constant("25P02", super::super::refusal::ABORTED, TRANSACTION),
    constant("25P03", "terminating connection due to idle-in-transaction timeout", ENDED),
    constant("40001", "could not serialize access due to concurrent delete", CONFLICT),
    constant("40001", "could not serialize access due to concurrent update", CONFLICT),
    constant(
        "40001",
        "could not serialize access due to read/write dependencies among transactions",
        CONFLICT,
    ),
    constant("40P01", "deadlock detected", CONFLICT),
    constant("55P03", "canceling statement due to lock timeout", CONFLICT),
    constant("57014", "canceling statement due to statement timeout", ENDED),
    constant("57014", "canceling statement due to user request", ENDED),
    constant("57P01", "terminating connection due to administrator command", ENDED),
    constant("57P05", "terminating connection due to idle-session timeout", ENDED),
];
