//! What a client sets at start-up holds as long as it does on a direct connection.

use pgmoat_lab::SERVICE_USER;
use pgmoat_tests::front::{Front, b, c_portal, c_statement, d_statement, e, h, p, q, s};
use pgmoat_tests::{Login, Proxied, Raw, Stack};

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
        // Upstream's is the proxy's.
        assert_eq!(shown(&mut raw, "application_name"), "pgmoat/acme_app", "after {letting_go}");
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
    let refused = Raw::connect(&Login { more: &more, ..proxied.login("acme_app") }).unwrap_err().to_string();
    assert!(refused.contains("E(22023,FATAL)"), "{refused}");
    ask_nobody_new(&proxied);
    let mut raw = Raw::connect(&Login { more: &more, ..proxied.login("globex_app") });
    // The server has said so already.
    assert!(raw.is_err());
    let more = [("TimeZone", "Nowhere/Sea")];
    raw = Raw::connect(&Login { more: &more, ..proxied.login("acme_app") });
    let mut raw = raw.unwrap();
    raw.send(&[q("SELECT 1")]).unwrap();
    raw.expect("E(22023,FATAL) closed").unwrap();
}

#[test]
fn they_hold_for_what_is_sent_behind_a_letting_go() {
    let proxied = Stack::get().proxy().unwrap();
    let more = [("TimeZone", TOKYO), ("application_name", "flow")];
    let mut raw = Raw::connect(&Login { more: &more, ..proxied.login("acme_app") }).unwrap();
    for letting_go in
        [&["RESET ALL"][..], &["DISCARD ALL"], &["BEGIN", "RESET TimeZone", "SELECT 1", "COMMIT"]]
    {
        let all = [&["SET TimeZone = 'UTC'"][..], letting_go, &["SHOW TimeZone"]].concat();
        let simple: Vec<Front> = all.iter().map(|sql| q(sql)).collect();
        let batch = |sql: &&str| [p("", sql), b("", "", &[]), e("", 0), s()];
        let extended: Vec<Front> = all.iter().flat_map(batch).collect();
        for messages in [simple, extended] {
            raw.send(&messages).unwrap();
            let heard = raw.read(all.len()).unwrap();
            assert_eq!(heard.rows().last().unwrap()[0].as_deref(), Some(TOKYO), "{letting_go:?}: {heard}");
        }
    }
}

/// The name that a session has upstream is the proxy's; what a client is told is its own.
#[test]
fn clients_are_told_of_their_own_application_name() {
    let proxied = Stack::get().proxy().unwrap();
    let more = [("application_name", "mine")];
    let mut named = Raw::connect(&Login { more: &more, ..proxied.login("acme_app") }).unwrap();
    let mut unnamed = Raw::connect(&proxied.login("acme_app")).unwrap();
    for (raw, steps) in [
        (
            &mut named,
            &[
                ("SELECT 1", "T D C Z(I)", None),
                ("RESET ALL", "C Z(I)", None),
                ("DISCARD ALL", "C Z(I)", None),
                ("SET application_name = 'other'", "C S Z(I)", Some("other")),
                ("RESET application_name", "C S Z(I)", Some("mine")),
                ("SELECT 1", "T D C Z(I)", None),
            ][..],
        ),
        (
            &mut unnamed,
            &[
                ("SELECT 1", "T D C Z(I)", None),
                ("BEGIN", "C Z(T)", None),
                ("RESET ALL", "C Z(T)", None),
                ("ROLLBACK", "C Z(I)", None),
                ("BEGIN", "C Z(T)", None),
                ("SET application_name = 'a'", "C S Z(T)", Some("a")),
                ("ROLLBACK", "C S Z(I)", Some("")),
            ],
        ),
    ] {
        for (sql, wanted, told) in steps {
            raw.send(&[q(sql)]).unwrap();
            let heard = raw.expect(wanted).unwrap_or_else(|error| panic!("{sql}: {error}"));
            let status = heard.messages.iter().find(|message| message.tag == b'S');
            let expected = told.map(|name| format!("application_name\0{name}\0").into_bytes());
            assert_eq!(status.map(|message| message.body.clone()), expected, "{sql}");
        }
    }
}

#[test]
fn nothing_runs_without_them() {
    let proxied = Stack::get().proxy().unwrap();
    let more = [("default_transaction_read_only", "on"), ("TimeZone", "Nowhere/Land")];
    let insert = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'without its settings')";
    ask_nobody_new(&proxied);
    for messages in [vec![q(insert)], vec![s(), p("", insert), b("", "", &[]), e("", 0), s(), q(insert)]] {
        let mut raw = Raw::connect(&Login { more: &more, ..proxied.login("acme_app") }).unwrap();
        raw.send(&messages).unwrap();
        let heard = raw.read(9).unwrap().to_string();
        assert!(heard.ends_with("E(22023,FATAL) closed") && !heard.contains('C'), "{heard}");
    }
    takes_connections(&proxied, true);
    let sql = "SELECT count(*) FROM app.notes WHERE body = 'without its settings'";
    assert_eq!(Stack::get().cluster().psql(&proxied.database, sql).unwrap().trim(), "0");
}

#[test]
fn what_needs_no_statement_may_come_first() {
    let proxied = Stack::get().proxy().unwrap();
    let more = [("TimeZone", TOKYO), ("application_name", "flow")];
    let bad = "SELECT 1 FROM pg_catalog.pg_authid";
    for (messages, wanted) in [
        (vec![s()], "Z(I)"),
        (vec![s(), s(), h(), s()], "Z(I) Z(I) Z(I)"),
        (vec![c_statement("x"), s()], "3 Z(I)"),
        (vec![c_portal(""), c_statement(""), h(), s()], "3 3 Z(I)"),
        (vec![c_statement("x"), d_statement("x"), c_statement("x"), s()], "3 E(26000) Z(I)"),
        (vec![c_statement("x"), p("", bad), b("", "", &[]), s(), s()], "3 E(42501) Z(I) Z(I)"),
        (vec![c_statement("x"), s(), p("x", "SELECT 1"), b("", "x", &[]), s()], "3 Z(I) 1 2 Z(I)"),
        (vec![c_statement("x"), p("x", "SELECT 1"), b("", "x", &[]), e("", 0), s()], "3 1 2 D C Z(I)"),
        (vec![s(), q("SELECT 1")], "Z(I) T D C Z(I)"),
    ] {
        let mut raw = Raw::connect(&Login { more: &more, ..proxied.login("acme_app") }).unwrap();
        raw.send(&messages).unwrap();
        raw.expect(wanted).unwrap();
        assert_eq!(shown(&mut raw, "TimeZone"), TOKYO, "after {wanted}");
    }
}

/// From now on the server takes no new connections; the pool has some.
fn ask_nobody_new(proxied: &Proxied) {
    let mut pooled: Vec<Raw> = (0..4).map(|_| Raw::connect(&proxied.login("acme_app")).unwrap()).collect();
    for raw in &mut pooled {
        assert_eq!(run(raw, "BEGIN"), "BEGIN");
    }
    for raw in &mut pooled {
        assert_eq!(run(raw, "COMMIT"), "COMMIT");
    }
    drop(pooled);
    takes_connections(proxied, false);
}

fn takes_connections(proxied: &Proxied, whether: bool) {
    let sql = format!("ALTER DATABASE \"{}\" ALLOW_CONNECTIONS {whether}", proxied.database);
    Stack::get().cluster().psql("postgres", &sql).unwrap();
}

/// A session through the proxy begins as it would at the server: the same values are refused, in the same words, and
/// the greeting says the same of those that are not; none of it is said again with the first statement.
#[test]
fn start_up_settings_are_answered_as_the_server_answers_them() {
    let proxied = Stack::get().proxy().unwrap();
    let direct = Stack::get().direct(SERVICE_USER, &proxied.database);
    for more in [
        &[("DateStyle", "German")][..],
        &[("datestyle", "sql, dmy"), ("TimeZone", "europe/berlin")],
        &[("options", "-c IntervalStyle=ISO_8601 -c timezone=+3"), ("application_name", "one")],
        &[("default_transaction_read_only", "yes")],
        &[("statement_timeout", "1"), ("DateStyle", "ISO")],
        &[("extra_float_digits", "2")],
        &[],
    ] {
        let here = Raw::connect(&Login { more, ..proxied.login("acme_app") });
        let mut here = here.unwrap_or_else(|error| panic!("{more:?}: {error}"));
        let there = Raw::connect(&Login { more, ..direct.clone() }).unwrap();
        assert_eq!(greeted(&here), greeted(&there), "{more:?}");
        if !more.iter().any(|(name, _)| name.ends_with("timeout")) {
            here.send(&[q("SHOW DateStyle")]).unwrap();
            here.expect("T D C Z(I)").unwrap_or_else(|error| panic!("{more:?}: {error}"));
        }
    }
    for more in [
        [("DateStyle", "bogus")],
        [("TimeZone", "Nowhere/Land")],
        [("extra_float_digits", "many")],
        [("options", "-c IntervalStyle=odd")],
    ] {
        let refusal = |login: &Login<'_>| {
            let said =
                Raw::connect(&Login { more: &more, ..login.clone() }).map(|_| ()).unwrap_err().to_string();
            said.split_once("E(").map(|(_, error)| error.to_owned())
        };
        let (here, there) = (refusal(&proxied.login("acme_app")), refusal(&direct));
        assert!(here.is_some() && here == there, "{more:?}: {here:?}, {there:?}");
    }
}

/// What was reported of settings that a client may choose.
fn greeted(raw: &Raw) -> Vec<String> {
    let status = raw.greeting().messages.iter().filter(|message| message.tag == b'S');
    let mut said: Vec<String> =
        status.map(|message| String::from_utf8_lossy(&message.body).replace('\0', "=")).collect();
    let own = ["session_authorization", "is_superuser", "in_hot_standby", "search_path", "scram_iterations"];
    said.retain(|text| !own.iter().any(|name| text.starts_with(name)));
    said.sort();
    said
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
