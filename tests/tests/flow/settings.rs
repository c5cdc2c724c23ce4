//! What a client sets at start-up holds as long as it does on a direct connection.

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Login, Raw, Stack};

const TOKYO: &str = "Asia/Tokyo";

#[test]
fn start_up_settings_come_back_after_a_letting_go() {
    let proxied = Stack::get().proxy().unwrap();
    let more = [("TimeZone", TOKYO), ("application_name", "flow")];
    let mut raw = Raw::connect(&Login { more: &more, ..proxied.login("acme_app") }).unwrap();
    assert_eq!(shown(&mut raw, "TimeZone"), TOKYO);
    for letting_go in ["RESET ALL", "DISCARD ALL", "RESET TimeZone", "SET TimeZone TO DEFAULT"] {
        assert_eq!(run(&mut raw, "SET TimeZone = 'UTC'"), "SET");
        assert_eq!(shown(&mut raw, "TimeZone"), "UTC");
        run(&mut raw, letting_go);
        assert_eq!(shown(&mut raw, "TimeZone"), TOKYO, "after {letting_go}");
        assert_eq!(shown(&mut raw, "application_name"), "flow", "after {letting_go}");
    }
    // By the extended protocol, as pools of drivers do.
    raw.send(&[p("", "DISCARD ALL"), b("", "", &[]), e("", 0), s()]).unwrap();
    raw.read(1).unwrap();
    assert_eq!(shown(&mut raw, "TimeZone"), TOKYO);
}

#[test]
fn a_reset_that_is_rolled_back_changes_nothing() {
    let proxied = Stack::get().proxy().unwrap();
    let more = [("TimeZone", TOKYO)];
    let mut raw = Raw::connect(&Login { more: &more, ..proxied.login("acme_app") }).unwrap();
    run(&mut raw, "SET TimeZone = 'UTC'");
    for sql in ["BEGIN", "RESET ALL", "ROLLBACK"] {
        run(&mut raw, sql);
    }
    assert_eq!(shown(&mut raw, "TimeZone"), "UTC");
}

#[test]
fn a_value_that_the_server_refuses_ends_the_session() {
    let proxied = Stack::get().proxy().unwrap();
    let more = [("TimeZone", "Nowhere/Land")];
    let Ok(mut raw) = Raw::connect(&Login { more: &more, ..proxied.login("acme_app") }) else { return };
    raw.send(&[q("SELECT 1")]).unwrap();
    raw.expect("E(22023,FATAL) closed").unwrap();
}

fn run(raw: &mut Raw, sql: &str) -> String {
    raw.send(&[q(sql)]).unwrap();
    let heard = raw.read(1).unwrap();
    assert!(heard.codes().is_empty(), "{sql}: {heard}");
    heard.commands().remove(0)
}

fn shown(raw: &mut Raw, name: &str) -> String {
    raw.send(&[q(&format!("SHOW {name}"))]).unwrap();
    let heard = raw.read(1).unwrap();
    heard.rows()[0][0].clone().unwrap()
}
