//! Transaction mode: more clients than connections, each with a connection for a transaction, none with another's state.

use pgmoat_tests::front::{b, cancel_request, e, p, q, s};
use pgmoat_tests::{Login, Proxied, Raw, Stack};

use crate::patience::eventually;

#[test]
fn clients_take_turns_on_one_connection() {
    let proxied = proxied("size: 1");
    let mut clients: Vec<Raw> = (0..5).map(|_| client(&proxied)).collect();
    let mut pids = Vec::new();
    for _ in 0..3 {
        for raw in &mut clients {
            pids.push(shown(raw, PID));
        }
    }
    pids.dedup();
    assert_eq!(pids.len(), 1, "{pids:?}");
}

#[test]
fn a_transaction_keeps_its_connection() {
    let proxied = proxied("size: 1, wait_timeout_ms: 300");
    let (mut inside, mut outside) = (client(&proxied), client(&proxied));
    inside.send(&[q("BEGIN"), q(NOTE)]).unwrap();
    inside.expect("C Z(T) C Z(T)").unwrap();
    assert_eq!(outside.query(ONE).unwrap().codes(), ["53300"]);
    inside.send(&[q("SELECT 1/0")]).unwrap();
    inside.expect("E(22012) Z(E)").unwrap();
    assert_eq!(outside.query(ONE).unwrap().codes(), ["53300"]);
    inside.send(&[q("ROLLBACK")]).unwrap();
    inside.expect("C Z(I)").unwrap();
    outside.send(&[q(ONE)]).unwrap();
    outside.expect("T D C Z(I)").unwrap();
    let notes = "SELECT count(*) FROM app.notes WHERE body = 'shared'";
    assert_eq!(Stack::get().cluster().psql(&proxied.database, notes).unwrap().trim(), "0");
}

/// Known fault A10: one Sync of three has been answered.
#[test]
fn a_pipeline_is_not_parted() {
    let proxied = proxied("size: 1, wait_timeout_ms: 10000");
    let (mut first, mut second) = (client(&proxied), client(&proxied));
    let one = [p("", ONE), b("", "", &[]), e("", 0), s()];
    let sleep = [p("", SLOW), b("", "", &[]), e("", 0), s()];
    first.send(&[one.clone(), sleep, one].concat()).unwrap();
    second.send(&[q(ONE)]).unwrap();
    first.expect("1 2 D C Z(I) 1 2 D C Z(I) 1 2 D C Z(I)").unwrap();
    second.expect("T D C Z(I)").unwrap();
}

#[test]
fn a_batch_keeps_its_connection_until_its_sync() {
    let proxied = proxied("size: 1, wait_timeout_ms: 300");
    let (mut inside, mut outside) = (client(&proxied), client(&proxied));
    inside.send(&[p("", ONE), b("", "", &[]), e("", 0), pgmoat_tests::front::h()]).unwrap();
    inside.expect("1 2 D C").unwrap();
    assert_eq!(outside.query(ONE).unwrap().codes(), ["53300"]);
    inside.send(&[s(), q("SELECT 1")]).unwrap();
    inside.expect("Z(I) T D C Z(I)").unwrap();
    outside.send(&[q(ONE)]).unwrap();
    outside.expect("T D C Z(I)").unwrap();
}

/// Known faults E1 and E3.
#[test]
fn a_cancel_hits_the_clients_own_statement_or_none() {
    let proxied = proxied("size: 1, wait_timeout_ms: 20000");
    let (mut first, mut second) = (client(&proxied), client(&proxied));
    let cancel = |raw: &Raw| {
        let mut cancel = Raw::open(proxied.proxy.port()).unwrap();
        cancel.send(&[cancel_request(&raw.cancel_key())]).unwrap();
        cancel.expect("closed").unwrap();
    };
    for _ in 0..10 {
        first.send(&[q(ONE)]).unwrap();
        first.expect("T D C Z(I)").unwrap();
        second.send(&[q(SLOW)]).unwrap();
        cancel(&first);
        second.expect("T D C Z(I)").unwrap();
    }
    first.send(&[q(SLOWER)]).unwrap();
    let runs = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() \
                AND query LIKE '%300000000%'";
    let psql = |sql: &str| Stack::get().cluster().psql(&proxied.database, sql).unwrap();
    eventually("it runs", || psql(runs).trim() == "1");
    let waits = || proxied.proxy.log().matches("waits for an upstream connection").count();
    let before = waits();
    second.send(&[q(ONE)]).unwrap();
    eventually("the other waits", || waits() > before);
    cancel(&second);
    second.expect("E(57014) Z(I)").unwrap();
    cancel(&first);
    first.expect("T E(57014) Z(I)").unwrap();
    second.send(&[q(ONE)]).unwrap();
    second.expect("T D C Z(I)").unwrap();
}

#[test]
fn settings_go_with_their_client() {
    let proxied = proxied("size: 1");
    let more = [("TimeZone", "Asia/Tokyo"), ("application_name", "mine")];
    let mut tokyo = Raw::connect(&Login { more: &more, ..proxied.login("acme_app") }).unwrap();
    let mut plain = Raw::connect(&proxied.login("globex_app")).unwrap();
    let before = shown(&mut plain, "SHOW TimeZone");
    for _ in 0..2 {
        assert_eq!(shown(&mut tokyo, "SHOW TimeZone"), "Asia/Tokyo");
        assert_eq!(shown(&mut plain, "SHOW TimeZone"), before);
        assert_eq!(shown(&mut tokyo, "SHOW application_name"), "pgmoat/acme_app");
    }
    assert_eq!(plain.query("SET TimeZone = 'Europe/Berlin'").unwrap().commands(), ["SET"]);
    assert_eq!(shown(&mut tokyo, "SHOW TimeZone"), "Asia/Tokyo");
    assert_eq!(shown(&mut plain, "SHOW TimeZone"), "Europe/Berlin");
    plain.query("RESET TimeZone").unwrap();
    tokyo.query("RESET ALL").unwrap();
    assert_eq!(shown(&mut tokyo, "SHOW TimeZone"), "Asia/Tokyo");
    assert_eq!(shown(&mut plain, "SHOW TimeZone"), before);
}

#[test]
fn settings_are_taken_back_as_the_server_does() {
    let proxied = proxied("size: 1");
    let (mut raw, mut other) = (client(&proxied), client(&proxied));
    let before = shown(&mut raw, "SHOW DateStyle");
    for (statements, after) in [
        (&["BEGIN", "SET DateStyle = 'German'", "ROLLBACK"][..], &*before),
        (&["BEGIN", "SET LOCAL DateStyle = 'German'", "COMMIT"], &before),
        (&["BEGIN", "SAVEPOINT a", "SET DateStyle = 'German'", "ROLLBACK TO a", "COMMIT"], &before),
        (&["SET DateStyle = 'German'; SELECT 1/0"], &before),
        (&["BEGIN", "SET DateStyle = 'German'", "SELECT 1/0", "COMMIT"], &before),
        (&["BEGIN; SET DateStyle = 'German'; ROLLBACK"], &before),
        (&["SELECT set_config('DateStyle', 'German', true)"], &before),
        (&["BEGIN", "SAVEPOINT a", "SET DateStyle = 'German'", "RELEASE a", "COMMIT"], "German, DMY"),
        (&["SET DateStyle = 'ISO, MDY'"], "ISO, MDY"),
        (&["BEGIN; SET DateStyle = 'German'; COMMIT; SELECT 1/0"], "German, DMY"),
        (&["RESET DateStyle"], &before),
        (&["SELECT set_config('DateStyle', 'German', false)"], "German, DMY"),
        (&["DISCARD ALL"], &before),
        (
            &["SELECT set_config('DateStyle', 'German', false), set_config('TimeZone', 'UTC', false)"],
            "German, DMY",
        ),
        (&["RESET ALL"], &before),
    ] {
        for sql in statements {
            raw.query(sql).unwrap();
            if !sql.starts_with("BEGIN") && statements.len() == 1 {
                assert_eq!(shown(&mut other, "SHOW DateStyle"), before, "{statements:?}");
            }
        }
        assert_eq!(shown(&mut other, "SHOW DateStyle"), before, "{statements:?}");
        assert_eq!(shown(&mut raw, "SHOW DateStyle"), after, "{statements:?}");
    }
}

/// PostgreSQL merges a style alone with the order of fields that is there, and the other way round: whoever shares the
/// connection has set one of his own.
#[test]
fn half_a_date_style_is_not_completed_by_another_client() {
    let proxied = proxied("size: 1, wait_timeout_ms: 2000");
    let starting = |style: &str| {
        let more = [("DateStyle", style)];
        Raw::connect(&Login { more: &more, ..proxied.login("acme_app") }).unwrap()
    };
    let mut other = starting("SQL, DMY");
    let mut clients = [client(&proxied), starting("ISO"), starting("YMD")];
    let (plain, style, order) = (0, 1, 2);
    let show = "SHOW DateStyle";
    assert_eq!(shown(&mut clients[plain], show), "ISO, MDY");
    for (at, sets, after) in [
        (style, "SELECT 1", "ISO, MDY"),
        (order, "SELECT 1", "ISO, YMD"),
        (plain, "SET DateStyle = 'German'", "German, DMY"),
        (plain, "SET DateStyle = ISO", "ISO, DMY"),
        (plain, "RESET DateStyle", "ISO, MDY"),
        (plain, "SET DateStyle = us", "ISO, MDY"),
        (plain, "BEGIN; SET LOCAL DateStyle = 'SQL, YMD'; SET DateStyle = postgres; COMMIT", "Postgres, YMD"),
        (plain, "SELECT set_config('datestyle', 'German', true)", "Postgres, YMD"),
        (plain, "DISCARD ALL", "ISO, MDY"),
        (style, "SET DateStyle = euro", "ISO, DMY"),
        (style, "RESET ALL", "ISO, MDY"),
    ] {
        let raw = &mut clients[at];
        other.query(ONE).unwrap();
        raw.query(sets).unwrap();
        other.query(ONE).unwrap();
        assert_eq!(shown(raw, show), after, "{sets}");
        assert_eq!(shown(&mut other, show), "SQL, DMY");
    }
    // What it comes to is the server's to say.
    clients[plain].query("SET DateStyle = 'default'").unwrap();
    assert_eq!(other.query(ONE).unwrap().codes(), ["53300"]);
}

/// Known fault G13.
#[test]
fn clients_are_told_of_their_own_settings_alone() {
    let proxied = proxied("size: 1");
    let (mut one, mut other) = (client(&proxied), client(&proxied));
    one.send(&[q("SET TimeZone = 'Asia/Tokyo'")]).unwrap();
    one.expect("C S Z(I)").unwrap();
    for _ in 0..2 {
        for raw in [&mut other, &mut one] {
            raw.send(&[q(ONE)]).unwrap();
            raw.expect("T D C Z(I)").unwrap();
        }
    }
    one.send(&[q("RESET TimeZone")]).unwrap();
    one.expect("C S Z(I)").unwrap();
    one.send(&[q(ONE)]).unwrap();
    one.expect("T D C Z(I)").unwrap();
}

#[test]
fn what_ties_keeps_the_connection_and_what_lets_go_frees_it() {
    let proxied = proxied("size: 1, wait_timeout_ms: 300");
    for (ties, frees) in [
        (&["PREPARE a AS SELECT 1"][..], &["DEALLOCATE a"][..]),
        (&["PREPARE a AS SELECT 1", "PREPARE b AS SELECT 1"], &["DEALLOCATE ALL"]),
        (&["BEGIN", "DECLARE c CURSOR WITH HOLD FOR SELECT 1", "COMMIT"], &["CLOSE c"]),
        (&["BEGIN", "PREPARE a AS SELECT 1", "ROLLBACK"], &["DISCARD ALL"]),
        // It would end the connection at rest.
        (&["SET idle_session_timeout = '1min'"], &["DISCARD ALL"]),
        // The second runs first: the sort needs it.
        (
            &[
                "SELECT set_config('TimeZone', 'Asia/Tokyo', false) a, set_config('TimeZone', 'UTC', false) b ORDER BY b",
            ],
            &["DISCARD ALL"],
        ),
    ] {
        let (mut tied, mut other) = (client(&proxied), client(&proxied));
        for sql in ties {
            let heard = tied.query(sql).unwrap();
            assert!(heard.codes().is_empty(), "{sql}: {heard}");
        }
        assert_eq!(other.query(ONE).unwrap().codes(), ["53300"], "{ties:?}");
        for sql in frees {
            tied.query(sql).unwrap();
        }
        eventually("the other is served", || other.query(ONE).unwrap().codes().is_empty());
    }
    let log = proxied.proxy.log();
    for reason in ["a prepared statement that cannot be made elsewhere", "a cursor WITH HOLD"] {
        assert!(log.contains(&format!("\"reason\":\"{reason}\"")), "{reason}: {log}");
    }
}

#[test]
fn a_tied_session_leaves_nothing_behind() {
    let proxied = proxied("size: 1");
    let mut tied = client(&proxied);
    tied.query("PREPARE a AS SELECT 1").unwrap();
    tied.query("SET TimeZone = 'Asia/Tokyo'").unwrap();
    crate::pool_queue::leave(tied);
    let mut next = client(&proxied);
    assert_ne!(shown(&mut next, "SHOW TimeZone"), "Asia/Tokyo");
    assert_eq!(next.query("EXECUTE a").unwrap().codes(), ["26000"]);
}

#[test]
fn a_client_that_dies_in_a_transaction_takes_the_connection_along() {
    let proxied = proxied("size: 1");
    let mut dying = client(&proxied);
    dying.send(&[q("BEGIN"), q(NOTE)]).unwrap();
    dying.expect("C Z(T) C Z(T)").unwrap();
    drop(dying);
    let mut next = client(&proxied);
    eventually("the next is served", || next.query(ONE).unwrap().codes().is_empty());
    let notes = "SELECT count(*) FROM app.notes WHERE body = 'shared'";
    assert_eq!(Stack::get().cluster().psql(&proxied.database, notes).unwrap().trim(), "0");
}

fn proxied(pool: &str) -> Proxied {
    let pool = format!("mode: transaction, {pool}");
    Stack::get()
        .proxy_with(|config| {
            config.databases[0].pool = pool;
            config.env.push(("PGMOAT_LOG".into(), "info,pgmoat=debug".into()));
        })
        .unwrap()
}

fn client(proxied: &Proxied) -> Raw {
    Raw::connect(&proxied.login("acme_app")).unwrap()
}

fn shown_or_code(raw: &mut Raw, sql: &str) -> Result<String, String> {
    let heard = raw.query(sql).unwrap();
    match heard.codes().first() {
        Some(code) => Err(code.clone()),
        None => Ok(heard.rows()[0][0].clone().unwrap()),
    }
}

fn shown(raw: &mut Raw, sql: &str) -> String {
    shown_or_code(raw, sql).unwrap_or_else(|code| panic!("{sql}: {code}"))
}

const PID: &str = "SELECT pg_backend_pid()";
const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
const NOTE: &str = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'shared')";
/// Some tenths of a second.
const SLOW: &str = "SELECT count(*) FROM generate_series(1, 1000000)";
/// Many seconds.
const SLOWER: &str = "SELECT count(*) FROM generate_series(1, 300000000)";
