//! Transaction mode: prepared statements belong to clients, and connections get what they lack.

use pgmoat_tests::front::{b, c_statement, d_statement, e, h, p, q, s};
use pgmoat_tests::{Front, Login, Proxied, Raw, Stack};

use crate::pool_queue::leave;

#[test]
fn a_statement_is_there_whatever_the_connection() {
    let proxied = proxied("size: 2");
    let mut clients: Vec<Raw> = (0..6).map(|_| client(&proxied)).collect();
    for (number, raw) in clients.iter_mut().enumerate() {
        // The same name for different texts, and different names for the same text.
        raw.send(&[p("own", &by_number(number)), p(&format!("one{number}"), ONE), s()]).unwrap();
        raw.expect("1 1 Z(I)").unwrap();
    }
    for round in 0..4 {
        // Two at a time hold a connection, so that the others move.
        for (number, raw) in clients.iter_mut().enumerate() {
            raw.send(&[b("", "own", &[]), e("", 0), s()]).unwrap();
            let heard = raw.expect("2 D C Z(I)").unwrap();
            assert_eq!(heard.rows()[0][0], Some(number.to_string()), "round {round}");
            raw.send(&[d_statement(&format!("one{number}")), s()]).unwrap();
            raw.expect("t T Z(I)").unwrap();
        }
    }
}

#[test]
fn clients_that_stand_aside_find_their_statements_on_other_connections() {
    let proxied = proxied("size: 2");
    let (mut one, mut holder) = (client(&proxied), client(&proxied));
    one.send(&[p("a", ONE), p("", &by_number(7)), s()]).unwrap();
    one.expect("1 1 Z(I)").unwrap();
    let first = pid_of(&mut one);
    // Of `PID` the unnamed statement is lost, as a Query makes it.
    one.send(&[b("", "", &[]), s()]).unwrap();
    one.expect("E(26000) Z(I)").unwrap();
    one.send(&[p("", &by_number(7)), s()]).unwrap();
    one.expect("1 Z(I)").unwrap();
    holder.send(&[q("BEGIN")]).unwrap();
    holder.expect("C Z(T)").unwrap();
    assert_eq!(pid_of(&mut holder), first, "the one that was used last");
    one.send(&[b("", "", &[]), e("", 0), b("", "a", &[]), e("", 0), s()]).unwrap();
    let heard = one.expect("2 D C 2 D C Z(I)").unwrap();
    assert_eq!(heard.rows()[0][0].as_deref(), Some("7"));
    assert_ne!(pid_of(&mut one), first);
}

/// Known faults C5, C17, C19, C20.
#[test]
fn names_are_each_clients_own() {
    let proxied = proxied("size: 1");
    let (mut one, mut two) = (client(&proxied), client(&proxied));
    for (raw, number) in [(&mut one, 1), (&mut two, 2)] {
        raw.send(&[p("a", &by_number(number)), s()]).unwrap();
        raw.expect("1 Z(I)").unwrap();
    }
    for (first, number) in [(true, "1"), (false, "2"), (true, "1")] {
        let raw = if first { &mut one } else { &mut two };
        raw.send(&[b("", "a", &[]), e("", 0), s()]).unwrap();
        assert_eq!(raw.expect("2 D C Z(I)").unwrap().rows()[0][0].as_deref(), Some(number));
    }
    // A live name.
    one.send(&[p("a", ONE), s()]).unwrap();
    one.expect("E(42P05) Z(I)").unwrap();
    one.send(&[p("a", "SELEC"), s()]).unwrap();
    one.expect("E(42601) Z(I)").unwrap();
    one.send(&[b("", "a", &[]), e("", 0), s()]).unwrap();
    one.expect("2 D C Z(I)").unwrap();
    // What one closes the other has.
    one.send(&[p("shared", ONE), s()]).unwrap();
    two.send(&[p("too", ONE), s()]).unwrap();
    one.expect("1 Z(I)").unwrap();
    two.expect("1 Z(I)").unwrap();
    one.send(&[c_statement("shared"), s()]).unwrap();
    one.expect("3 Z(I)").unwrap();
    one.send(&[b("", "shared", &[]), s()]).unwrap();
    one.expect("E(26000) Z(I)").unwrap();
    two.send(&[b("", "too", &[]), e("", 0), s()]).unwrap();
    two.expect("2 D C Z(I)").unwrap();
    one.send(&[p("shared", "SELECT 1"), b("", "shared", &[]), e("", 0), s()]).unwrap();
    one.expect("1 2 D C Z(I)").unwrap();
}

#[test]
fn a_parse_of_what_is_there_is_answered_in_its_place_and_as_the_server_would() {
    let proxied = proxied("size: 1");
    let mut raw = client(&proxied);
    for name in ["a", "b"] {
        raw.send(&[p(name, ONE), s()]).unwrap();
        raw.expect("1 Z(I)").unwrap();
    }
    // In its place, also where nothing else comes of the batch for now.
    raw.send(&[p("c", ONE), h()]).unwrap();
    raw.expect("1").unwrap();
    raw.send(&[p("d", "SELECT 1"), b("", "d", &[]), p("e", ONE), e("", 0), p("f", ONE), s()]).unwrap();
    raw.expect("1 2 1 D C 1 Z(I)").unwrap();
    // Behind an error it is skipped.
    raw.send(&[b("", "none", &[]), p("g", ONE), s(), b("", "g", &[]), s()]).unwrap();
    raw.expect("E(26000) Z(I) E(26000) Z(I)").unwrap();
    // In a failed transaction nothing is parsed but its end.
    raw.send(&[q("BEGIN"), q("SELECT 1/0")]).unwrap();
    raw.expect("C Z(T) E(22012) Z(E)").unwrap();
    raw.send(&[p("h", ONE), s()]).unwrap();
    raw.expect("E(25P02) Z(E)").unwrap();
    raw.send(&[p("i", "ROLLBACK"), b("", "i", &[]), e("", 0), s()]).unwrap();
    raw.expect("1 2 C Z(I)").unwrap();
    // The same where the failure is still on its way.
    raw.send(&[
        q("BEGIN"),
        q("SELECT 1/0"),
        p("j", ONE),
        s(),
        p("k", "ROLLBACK"),
        b("", "k", &[]),
        e("", 0),
        s(),
    ])
    .unwrap();
    raw.expect("C Z(T) E(22012) Z(E) E(25P02) Z(E) 1 2 C Z(I)").unwrap();
    raw.send(&[b("", "a", &[]), e("", 0), s()]).unwrap();
    raw.expect("2 D C Z(I)").unwrap();
}

/// Known faults C2 and C3.
#[test]
fn deallocate_all_takes_what_came_before_it() {
    let proxied = proxied("size: 1");
    let (mut one, mut two) = (client(&proxied), client(&proxied));
    for raw in [&mut one, &mut two] {
        raw.send(&[p("a", ONE), s()]).unwrap();
        raw.expect("1 Z(I)").unwrap();
    }
    for all in ["DEALLOCATE ALL", "DISCARD ALL"] {
        one.send(&[p("", all), b("", "", &[]), e("", 0), s(), p("a", ONE), b("", "a", &[]), e("", 0), s()])
            .unwrap();
        one.expect("1 2 C Z(I) 1 2 D C Z(I)").unwrap();
        two.send(&[b("", "a", &[]), e("", 0), s()]).unwrap();
        two.expect("2 D C Z(I)").unwrap();
        one.send(&[q(all)]).unwrap();
        one.expect("C Z(I)").unwrap();
        one.send(&[b("", "a", &[]), s()]).unwrap();
        one.expect("E(26000) Z(I)").unwrap();
        two.send(&[b("", "a", &[]), e("", 0), s()]).unwrap();
        two.expect("2 D C Z(I)").unwrap();
    }
    one.send(&[
        p("", "DEALLOCATE ALL"),
        b("", "", &[]),
        e("", 0),
        p("a", ONE),
        b("", "a", &[]),
        e("", 0),
        s(),
    ])
    .unwrap();
    one.expect("1 2 C 1 2 D C Z(I)").unwrap();
}

/// Known faults C4 and C14.
#[test]
fn sql_names_the_clients_statements() {
    let proxied = proxied("size: 1");
    let (mut one, mut two) = (client(&proxied), client(&proxied));
    for raw in [&mut one, &mut two] {
        raw.send(&[p("a", ONE), s()]).unwrap();
        raw.expect("1 Z(I)").unwrap();
    }
    one.send(&[q("EXECUTE a"), q("DEALLOCATE a")]).unwrap();
    one.expect("T D C Z(I) C Z(I)").unwrap();
    assert_eq!(one.query("EXECUTE a").unwrap().codes(), ["26000"]);
    // Its text is not there any more, but to this client it is.
    two.send(&[q("BEGIN"), q("EXECUTE a"), q("COMMIT")]).unwrap();
    two.expect("C Z(T) T D C Z(T) C Z(I)").unwrap();
    two.send(&[q("DEALLOCATE a")]).unwrap();
    two.expect("C Z(I)").unwrap();
}

#[test]
fn what_a_text_means_goes_by_its_clients_settings() {
    let proxied = proxied("size: 1");
    let (mut mdy, mut dmy) = (client(&proxied), client(&proxied));
    mdy.query("SET DateStyle = 'ISO, MDY'").unwrap();
    dmy.query("SET DateStyle = 'ISO, DMY'").unwrap();
    let text = "SELECT '01/02/2003'::date";
    for raw in [&mut mdy, &mut dmy] {
        raw.send(&[p("a", text), s()]).unwrap();
        raw.expect("1 Z(I)").unwrap();
    }
    for _ in 0..2 {
        for (raw, date) in [(&mut mdy, "2003-01-02"), (&mut dmy, "2003-02-01")] {
            raw.send(&[b("", "a", &[]), e("", 0), s()]).unwrap();
            assert_eq!(raw.expect("2 D C Z(I)").unwrap().rows()[0][0].as_deref(), Some(date));
        }
    }
    // Of a statement from before, PostgreSQL keeps the meaning: it stays where it was made.
    mdy.query("SET DateStyle = 'ISO, DMY'").unwrap();
    mdy.send(&[b("", "a", &[]), e("", 0), s()]).unwrap();
    assert_eq!(mdy.expect("2 D C Z(I)").unwrap().rows()[0][0].as_deref(), Some("2003-01-02"));
    leave(mdy);
    dmy.send(&[b("", "a", &[]), e("", 0), s()]).unwrap();
    assert_eq!(dmy.expect("2 D C Z(I)").unwrap().rows()[0][0].as_deref(), Some("2003-02-01"));
}

#[test]
fn more_texts_than_a_connection_keeps() {
    let proxied = proxied("size: 1");
    let (mut one, mut two) = (client(&proxied), client(&proxied));
    for batch in 0..4 {
        for raw in [&mut one, &mut two] {
            let parses: Vec<Front> = (0..150)
                .map(|number| p(&format!("s{batch}_{number}"), &by_number(batch * 150 + number)))
                .collect();
            raw.send(&[parses, vec![s()]].concat()).unwrap();
            raw.read(1).unwrap();
        }
    }
    for number in [0, 599, 300, 1, 0] {
        for raw in [&mut one, &mut two] {
            let name = format!("s{}_{}", number / 150, number % 150);
            raw.send(&[b("", &name, &[]), e("", 0), s()]).unwrap();
            assert_eq!(raw.expect("2 D C Z(I)").unwrap().rows()[0][0], Some(number.to_string()));
        }
    }
    let held = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()";
    assert!(Stack::get().cluster().psql(&proxied.database, held).is_ok());
}

/// An error in a replayed Parse is that of the message that needed it.
#[test]
fn a_statement_that_cannot_be_made_again_fails_where_it_is_used() {
    let proxied = proxied("size: 2");
    let psql = |sql: &str| Stack::get().cluster().psql(&proxied.database, sql).unwrap();
    let (mut one, mut holder) = (client(&proxied), client(&proxied));
    one.send(&[p("a", "SELECT body FROM app.notes WHERE tenant_id = 'acme'"), s()]).unwrap();
    one.expect("1 Z(I)").unwrap();
    holder.send(&[q("BEGIN"), q("SELECT 1")]).unwrap();
    holder.expect("C Z(T) T D C Z(T)").unwrap();
    psql("ALTER TABLE app.notes RENAME COLUMN body TO content");
    one.send(&[b("", "a", &[]), e("", 0), s()]).unwrap();
    let heard = one.read(1).unwrap();
    assert_eq!(heard.codes().len(), 1, "{heard}");
    assert!(heard.to_string().ends_with("Z(I)"), "{heard}");
    psql("ALTER TABLE app.notes RENAME COLUMN content TO body");
    crate::patience::eventually("the catalog is as before", || {
        one.send(&[b("", "a", &[]), e("", 0), s()]).unwrap();
        one.read(1).unwrap().codes().is_empty()
    });
    drop(holder);
}

#[test]
fn a_describe_waits_for_a_connection_too() {
    let proxied = proxied("size: 1, wait_timeout_ms: 300");
    let (mut one, mut holder) = (client(&proxied), client(&proxied));
    one.send(&[p("a", ONE), s()]).unwrap();
    one.expect("1 Z(I)").unwrap();
    holder.send(&[q("BEGIN"), q("SELECT 1")]).unwrap();
    holder.expect("C Z(T) T D C Z(T)").unwrap();
    one.send(&[d_statement("a"), s(), q("SELECT 2")]).unwrap();
    one.expect("E(53300) Z(I) E(53300) Z(I)").unwrap();
    holder.send(&[q("COMMIT")]).unwrap();
    holder.expect("C Z(I)").unwrap();
    one.send(&[d_statement("a"), s()]).unwrap();
    one.expect("t T Z(I)").unwrap();
}

fn proxied(pool: &str) -> Proxied {
    let pool = format!("mode: transaction, {pool}");
    Stack::get().proxy_with(|config| config.databases[0].pool = pool).unwrap()
}

fn client(proxied: &Proxied) -> Raw {
    Raw::connect(&Login { more: &[], ..proxied.login("acme_app") }).unwrap()
}

fn by_number(number: usize) -> String {
    format!("SELECT {number} + 0")
}

fn pid_of(raw: &mut Raw) -> String {
    raw.query("SELECT pg_backend_pid()").unwrap().rows()[0][0].clone().unwrap()
}

const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";

/// Known fault C1: an ALTER TABLE makes the server refuse a statement from before until it is parsed again.
#[test]
fn a_changed_result_is_no_matter_where_nothing_was_done() {
    let proxied = proxied("size: 1");
    let psql = |sql: &str| Stack::get().cluster().psql(&proxied.database, sql).unwrap();
    let (mut one, mut two) = (client(&proxied), client(&proxied));
    for raw in [&mut one, &mut two] {
        raw.send(&[p("a", ALL), b("", "a", &[]), e("", 0), s()]).unwrap();
        raw.read(1).unwrap();
    }
    let columns = |heard: &pgmoat_tests::Transcript| heard.rows()[0].len();
    one.send(&[b("", "a", &[]), e("", 1), s()]).unwrap();
    let before = columns(&one.expect("2 D s Z(I)").unwrap());
    for (number, synced) in [(1, true), (2, false)] {
        psql(&format!("ALTER TABLE app.notes ADD COLUMN more{number} int"));
        // As one write, and with the Sync behind the answer.
        if synced {
            one.send(&[b("", "a", &[]), e("", 1), s()]).unwrap();
            assert_eq!(columns(&one.expect("2 D s Z(I)").unwrap()), before + number);
        } else {
            one.send(&[b("", "a", &[]), e("", 1), h()]).unwrap();
            assert_eq!(columns(&one.expect("2 D s").unwrap()), before + number);
            one.send(&[s()]).unwrap();
            one.expect("Z(I)").unwrap();
        }
        two.send(&[b("", "a", &[]), e("", 1), s()]).unwrap();
        assert_eq!(columns(&two.expect("2 D s Z(I)").unwrap()), before + number);
    }
    // Inside a transaction, or behind other messages, the client is told; it may go on then.
    psql("ALTER TABLE app.notes ADD COLUMN more3 int");
    one.send(&[q("BEGIN"), b("", "a", &[]), e("", 1), s(), q("ROLLBACK")]).unwrap();
    one.expect("C Z(T) E(0A000) Z(E) C Z(I)").unwrap();
    one.send(&[b("", "a", &[]), e("", 1), s()]).unwrap();
    assert_eq!(columns(&one.expect("2 D s Z(I)").unwrap()), before + 3);
    psql("ALTER TABLE app.notes ADD COLUMN more4 int");
    one.send(&[p("", "SELECT 1"), b("", "", &[]), e("", 0), b("", "a", &[]), e("", 1), s()]).unwrap();
    one.expect("1 2 D C E(0A000) Z(I)").unwrap();
    one.send(&[b("", "a", &[]), e("", 1), s(), b("", "a", &[]), e("", 1), s()]).unwrap();
    assert_eq!(columns(&one.expect("2 D s Z(I) 2 D s Z(I)").unwrap()), before + 4);
}

const ALL: &str = "SELECT * FROM app.notes WHERE tenant_id = 'acme'";
