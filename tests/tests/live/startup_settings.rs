//! What a client may set in its first packet: what SET may, and nothing else.

use pgmoat_tests::front::startup;
use pgmoat_tests::{Login, Proxied, Raw, Stack, front};

#[test]
fn settings_in_options_are_obeyed() {
    let proxied = Stack::get().proxy().unwrap();
    for more in [
        &[("options", "-c TimeZone=Asia/Tokyo")][..],
        &[("options", "-cTimeZone=Asia/Tokyo -c extra_float_digits=2")],
        &[("options", "--TimeZone=Asia/Tokyo")],
        &[("TimeZone", "Asia/Tokyo")],
        &[("timezone", "Asia/Tokyo")],
    ] {
        let mut raw = Raw::connect(&Login { more, ..proxied.login("acme_app") }).unwrap();
        let reported =
            raw.greeting().messages.iter().any(|m| m.tag == b'S' && m.body == b"TimeZone\0Asia/Tokyo\0");
        assert!(reported, "{more:?} in the greeting");
        assert_eq!(show(&mut raw, "TimeZone"), "Asia/Tokyo", "{more:?}");
        // The client's own start-up is what it returns to.
        raw.query("SET TimeZone = 'UTC'").unwrap();
        raw.query("RESET TimeZone").unwrap();
        assert_eq!(show(&mut raw, "TimeZone"), "Asia/Tokyo", "{more:?} after RESET");
        raw.query("DISCARD ALL").unwrap();
        assert_eq!(show(&mut raw, "TimeZone"), "Asia/Tokyo", "{more:?} after DISCARD ALL");
    }
    // Connections are used again; what the last client set is not there any more.
    let mut other = Raw::connect(&proxied.login("globex_app")).unwrap();
    assert_ne!(show(&mut other, "TimeZone"), "Asia/Tokyo");
}

#[test]
fn settings_that_nobody_may_write_are_refused_at_the_door() {
    let proxied = Stack::get().proxy().unwrap();
    for more in [
        ("options", "-c work_mem=1GB"),
        ("options", "-c search_path=internal"),
        ("options", "-c role=postgres"),
        ("options", "-c session_authorization=postgres"),
        ("options", "-c row_security=off"),
        ("options", "-c TimeZone=UTC -c standard_conforming_strings=off"),
        ("options", "-c session_preload_libraries=evil"),
        ("options", "-c app.tenant=globex"),
        ("options", "-c"),
        ("options", "-d 5"),
        ("options", "-c client_encoding=LATIN1"),
        ("work_mem", "1GB"),
        ("role", "postgres"),
        ("client_encoding", "LATIN1"),
        ("search_path", "internal"),
        ("nonsense", "1"),
        ("replication", "true"),
        ("replication", "database"),
        ("replication", "1"),
    ] {
        let refused = Raw::connect(&Login { more: &[more], ..proxied.login("acme_app") });
        let refused = refused.map(|_| ()).expect_err(&format!("{more:?} is let in")).to_string();
        assert!(refused.contains(",FATAL)"), "{more:?}: {refused}");
    }
}

#[test]
fn pinned_settings_may_be_said_as_they_are() {
    let proxied = Stack::get().proxy().unwrap();
    for more in [
        ("client_encoding", "UTF8"),
        ("client_encoding", "utf-8"),
        ("standard_conforming_strings", "on"),
        ("replication", "false"),
        ("replication", "off"),
        ("options", ""),
        ("application_name", "it's \"quoted\" \\ and é"),
    ] {
        let mut raw = Raw::connect(&Login { more: &[more], ..proxied.login("acme_app") })
            .map_err(|error| format!("{more:?}: {error}"))
            .unwrap();
        assert_eq!(show(&mut raw, "client_encoding"), "UTF8");
    }
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    let proxied = Stack::get().proxy().unwrap();
    for twice in [
        &[("user", "acme_app"), ("user", "ops")][..],
        &[("user", "acme_app"), ("database", "lab"), ("database", "lab")],
        &[("user", "acme_app"), ("database", "lab"), ("options", ""), ("options", "-c TimeZone=UTC")],
    ] {
        let heard = first_words(&proxied, twice);
        assert_eq!(heard, "E(08P01,FATAL) closed", "{twice:?}");
    }
}

fn first_words(proxied: &Proxied, parameters: &[(&str, &str)]) -> String {
    let mut raw = Raw::open(proxied.proxy.port()).unwrap();
    raw.send(&[startup(0x0003_0000, parameters)]).unwrap();
    raw.read(1).unwrap().to_string()
}

fn show(raw: &mut Raw, name: &str) -> String {
    let heard = raw.ask(&[front::q(&format!("SHOW {name}"))]).unwrap();
    let rows = heard.rows();
    rows.first().and_then(|row| row.first().cloned().flatten()).unwrap_or_else(|| format!("{heard}"))
}
