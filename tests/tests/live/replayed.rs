//! What a shared connection is given of a client's settings is what the client has said, to the letter.

use pgmoat_tests::front::q;
use pgmoat_tests::{Mode, Proxied, Raw, Stack};

/// Known fault G10: values with quotes, commas and backslashes, lists, and names in odd letters come back as they were,
/// each time that another client has had the connection.
#[test]
fn values_are_given_again_as_they_were_said() {
    let proxied =
        Stack::get().proxy_with(|config| config.databases[0].pool = Mode::Transaction.pool(1)).unwrap();
    let (mut one, mut other) = (connect(&proxied), connect(&proxied));
    for (set, name, value) in [
        (r#"SET application_name = 'it''s "A b", \ $1 end'"#, "application_name", r#"it's "A b", \ $1 end"#),
        (r#"SET application_name = E'a\\b\'c'"#, "application_name", r"a\b'c"),
        ("SET \"application_name\" TO \"Odd Name\"", "application_name", "Odd Name"),
        ("SET application_name = ''", "application_name", ""),
        ("SET datestyle = German, DMY", "DateStyle", "German, DMY"),
        ("SET DateStyle TO 'ISO, YMD'", "DateStyle", "ISO, YMD"),
        ("SET TimeZone = '<+05:30>-05:30'", "TimeZone", "<+05:30>-05:30"),
        ("SET TIME ZONE INTERVAL '-08:00' HOUR TO MINUTE", "TimeZone", "<-08>+08"),
        ("SET TIME ZONE 7.5", "TimeZone", "<+07:30>-07:30"),
        ("SET statement_timeout = '1min'", "statement_timeout", "1min"),
        ("SET extra_float_digits = -3", "extra_float_digits", "-3"),
    ] {
        let heard = one.query(set).unwrap();
        assert_eq!(heard.commands(), ["SET"], "{set}: {heard}");
        for _ in 0..2 {
            other.send(&[q("SELECT 1")]).unwrap();
            other.expect("T D C Z(I)").unwrap();
            let shown = one.query(&format!("SHOW {name}")).unwrap();
            assert_eq!(shown.rows(), [[Some(value.to_owned())]], "{set}: {shown}");
        }
    }
}

/// Known fault G11: a value that the server does not take is its own to refuse, and changes nothing.
#[test]
fn a_bad_value_is_refused_at_once_and_not_given_again() {
    let proxied =
        Stack::get().proxy_with(|config| config.databases[0].pool = Mode::Transaction.pool(1)).unwrap();
    let (mut one, mut other) = (connect(&proxied), connect(&proxied));
    assert_eq!(one.query("SET TimeZone = 'Asia/Tokyo'").unwrap().commands(), ["SET"]);
    assert_eq!(one.query("SET TimeZone = 'Nowhere/At all'").unwrap().codes(), ["22023"]);
    other.query("SELECT 1").unwrap();
    let shown = one.query("SHOW TimeZone").unwrap();
    assert_eq!(shown.rows(), [[Some("Asia/Tokyo".to_owned())]], "{shown}");
}

fn connect(proxied: &Proxied) -> Raw {
    Raw::connect(&proxied.login("acme_app")).unwrap()
}
