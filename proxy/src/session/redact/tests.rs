#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use super::*;

fn upstream(body: &[u8]) -> Fields {
    Fields::decode(body).unwrap()
}

fn about(errors: ErrorPosture) -> About<'static> {
    About { errors, answers_parse: false, sight: None }
}

fn redacted(body: &[u8]) -> Fields {
    error(&upstream(body), about(ErrorPosture::Redact), &[])
}

#[test]
fn each_row_has_a_code_and_a_reason() {
    for row in kept::ANALYSIS {
        assert!(row.sqlstate.len() == 5 && !row.reason.is_empty());
        assert!(row.sqlstate.starts_with("42"), "{row:?}");
    }
    for row in kept::CONSTANT {
        assert!(row.sqlstate.len() == 5 && !row.reason.is_empty());
        assert!(!row.sqlstate.starts_with("54"), "{row:?}");
    }
    for not_listed in ["42601", "42704", "22P02", "54000", "42501"] {
        assert!(!is_analysis(not_listed), "{not_listed}");
    }
}

#[test]
fn nothing_but_severity_code_position_and_the_fixed_text_is_left() {
    let body = b"SERROR\0VERROR\0C22P02\0Minvalid input syntax for type integer: \"globex secret\"\0\
        DKey (email)=(x)\0HHint\0P8\0p3\0qselect x\0WPL/pgSQL\0sapp\0torders\0cnote\0dint4\0nfk\0Fint.c\0L1\0Rf\0\0";
    let read = redacted(body);
    let fields: Vec<(u8, &[u8])> = read.iter().map(|field| (field.code, &*field.value)).collect();
    let expected: [(u8, &[u8]); 5] =
        [(b'S', b"ERROR"), (b'V', b"ERROR"), (b'C', b"22P02"), (b'M', b"invalid input syntax"), (b'P', b"8")];
    assert_eq!(fields, expected);
    assert_eq!(error(&upstream(body), about(ErrorPosture::Pass), &[]), upstream(body));
}

#[test]
fn analysis_keeps_its_text_where_a_position_or_a_parse_shows_that_it_is_one() {
    let at = b"SERROR\0VERROR\0C42883\0Mfunction f(int4) does not exist\0HNo f\0P8\0Fparse_func.c\0\0";
    let read = redacted(at);
    assert_eq!(read.message(), Some("function f(int4) does not exist"));
    assert_eq!((read.get(b'H'), read.get(b'F')), (None, None));
    let nowhere = upstream(b"SERROR\0VERROR\0C42883\0Mno function for a secret\0\0");
    let read = error(&nowhere, about(ErrorPosture::Redact), &[]);
    assert_eq!(read.message(), Some("function or operator does not exist"));
    let parse = About { answers_parse: true, ..about(ErrorPosture::Redact) };
    assert_eq!(error(&nowhere, parse, &[]).message(), Some("no function for a secret"));
    // What is not of analysis keeps nothing, position or not.
    let value = b"SERROR\0VERROR\0C42601\0Msyntax error in tsquery: \"a secret\"\0P8\0\0";
    assert_eq!(redacted(value).message(), Some("syntax error"));
}

#[test]
fn constant_texts_are_kept_by_their_exact_text() {
    let said = |message: &str| {
        let body = format!("SERROR\0VERROR\0C22003\0M{message}\0Dx\0\0");
        redacted(body.as_bytes()).message().unwrap().to_owned()
    };
    assert_eq!(said("integer out of range"), "integer out of range");
    assert_eq!(said("value \"9\" is out of range for type integer"), "value out of range");
    assert_eq!(said("integer out of range "), "value out of range");
}

#[test]
fn positions_go_back_to_the_clients_text() {
    let edits = [Edit { at: 9, was: 1, is: 23 }];
    let body = upstream(b"SERROR\0C42703\0Mx\0P40\0\0");
    assert_eq!(error(&body, about(ErrorPosture::Pass), &edits).text(b'P'), Some("18"));
    let odd = upstream(b"SERROR\0C42703\0Mx\0Pa\0\0");
    assert_eq!(error(&odd, about(ErrorPosture::Pass), &edits).text(b'P'), None);
}

#[test]
fn a_notice_without_a_text_of_its_own_is_dropped_and_over_tenants_rows_each_is() {
    let plain = b"SNOTICE\0VNOTICE\0C00000\0Mrow: globex\0\0";
    assert_eq!(notice(upstream(plain), ErrorPosture::Redact, false), None);
    assert_eq!(notice(upstream(plain), ErrorPosture::Pass, true), Some(upstream(plain)));
    let warning = b"SWARNING\0VWARNING\0C25P01\0Mthere is no transaction in progress\0Fxact.c\0\0";
    let read = notice(upstream(warning), ErrorPosture::Redact, false).unwrap();
    assert_eq!((read.message(), read.get(b'F')), (Some("there is no transaction in progress"), None));
    assert_eq!(notice(upstream(warning), ErrorPosture::Redact, true), None);
    let debug = b"SDEBUG\0VDEBUG\0C25P01\0Mthere is no transaction in progress\0\0";
    assert_eq!(notice(upstream(debug), ErrorPosture::Redact, false), None);
}

#[test]
fn an_odd_sqlstate_gets_the_general_text() {
    let odd = redacted(b"SERROR\0C\xe9\0Msecret\0\0");
    assert_eq!(odd.message(), Some(texts::UNKNOWN));
}
