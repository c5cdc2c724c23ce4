//! Errors of the positive list that need a second session, or end the first.

use std::thread;
use std::time::Duration;

use pgmoat_tests::{Login, Proxied, Raw, Stack};

use crate::{direct, error, run};

const MINE: &str = "UPDATE app.notes SET body = body WHERE tenant_id = 'acme' AND id = 3";

fn text(raw: &mut Raw, sql: &str) -> (String, String) {
    let heard = raw.query(sql).unwrap();
    let error = error(&heard, sql);
    (error.field(b'C').unwrap(), error.field(b'M').unwrap())
}

fn pair(sqlstate: &str, text: &str) -> (String, String) {
    (sqlstate.to_owned(), text.to_owned())
}

fn acme(proxied: &Proxied) -> Raw {
    Raw::connect(&proxied.login("acme_app")).unwrap()
}

#[test]
fn other_transactions_in_the_way() {
    let proxied = Stack::get().proxy().unwrap();
    let (mut one, mut two) = (acme(&proxied), acme(&proxied));
    let first = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme'";
    for (statement, wanted) in [
        (MINE, "could not serialize access due to concurrent update"),
        (
            "DELETE FROM app.notes WHERE tenant_id = 'acme' AND id = 3",
            "could not serialize access due to concurrent delete",
        ),
    ] {
        run(&mut one, "BEGIN ISOLATION LEVEL REPEATABLE READ");
        run(&mut one, first);
        run(&mut two, statement);
        assert_eq!(text(&mut one, MINE), pair("40001", wanted));
        run(&mut one, "ROLLBACK");
    }
    let six = "UPDATE app.notes SET body = body WHERE tenant_id = 'acme' AND id = 6";
    run(&mut two, "BEGIN");
    run(&mut two, six);
    run(&mut one, "SET lock_timeout = 50");
    assert_eq!(text(&mut one, six), pair("55P03", "canceling statement due to lock timeout"));
    run(&mut two, "ROLLBACK");
}

#[test]
fn dependencies_among_serializable_transactions() {
    let proxied = Stack::get().proxy().unwrap();
    let (mut one, mut two) = (acme(&proxied), acme(&proxied));
    for raw in [&mut one, &mut two] {
        run(raw, "BEGIN ISOLATION LEVEL SERIALIZABLE");
        run(raw, "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme'");
    }
    for raw in [&mut one, &mut two] {
        run(raw, "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'x')");
    }
    run(&mut one, "COMMIT");
    let wanted = "could not serialize access due to read/write dependencies among transactions";
    assert_eq!(text(&mut two, "COMMIT"), pair("40001", wanted));
}

#[test]
fn a_deadlock() {
    let proxied = Stack::get().proxy().unwrap();
    let (mut one, mut two) = (acme(&proxied), acme(&proxied));
    let update = |id: u32| format!("UPDATE app.notes SET body = body WHERE tenant_id = 'acme' AND id = {id}");
    run(&mut one, "BEGIN");
    run(&mut two, "BEGIN");
    run(&mut one, &update(3));
    run(&mut two, &update(6));
    let (six, three) = (update(6), update(3));
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| one.query(&six).unwrap());
        let second = scope.spawn(|| two.query(&three).unwrap());
        (first.join().unwrap(), second.join().unwrap())
    });
    let said: Vec<_> = first.errors().chain(second.errors()).collect();
    assert_eq!(said.len(), 1, "{first} {second}");
    assert_eq!(said[0].field(b'M').as_deref(), Some("deadlock detected"));
    assert_eq!(said[0].field(b'D'), None);
}

#[test]
fn cancels_and_timeouts() {
    let stack = Stack::get();
    let proxied = stack.proxy().unwrap();
    let mut raw = acme(&proxied);
    let slow = "SELECT count(*) FROM app.orders a, app.orders b WHERE a.tenant_id = 'acme' AND b.tenant_id = 'acme' \
                AND a.total + b.total < 0";
    let key = raw.cancel_key();
    let heard = thread::scope(|scope| {
        let asked = scope.spawn(|| raw.query(slow).unwrap());
        thread::sleep(Duration::from_millis(300));
        let mut cancel = Raw::open(proxied.proxy.port()).unwrap();
        cancel.send(&[pgmoat_tests::front::cancel_request(&key)]).unwrap();
        asked.join().unwrap()
    });
    assert_eq!(error(&heard, slow).field(b'M').as_deref(), Some("canceling statement due to user request"));

    for (setting, begin, sqlstate, wanted) in [
        (
            "idle_in_transaction_session_timeout",
            "BEGIN",
            "25P03",
            "terminating connection due to idle-in-transaction timeout",
        ),
        ("idle_session_timeout", "SELECT 1", "57P05", "terminating connection due to idle-session timeout"),
    ] {
        let mut raw = acme(&proxied);
        run(&mut raw, &format!("SET {setting} = 100"));
        run(&mut raw, begin);
        ends(&mut raw, sqlstate, wanted);
    }
    // An administrator ends the server's process.
    let more = [("application_name", "to be ended")];
    let mut raw = Raw::connect(&Login { more: &more, ..proxied.login("acme_app") }).unwrap();
    run(&mut raw, "SELECT id FROM app.notes WHERE tenant_id = 'acme' LIMIT 1");
    let terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE usename = 'pgmoat_service' AND pid <> pg_backend_pid() AND query LIKE '%LIMIT 1'";
    run(&mut direct(&proxied.database), terminate);
    ends(&mut raw, "57P01", "terminating connection due to administrator command");
}

fn ends(raw: &mut Raw, sqlstate: &str, wanted: &str) {
    let heard = raw.read(1).unwrap();
    let error = error(&heard, wanted);
    assert_eq!((error.field(b'C').as_deref(), error.field(b'M').as_deref()), (Some(sqlstate), Some(wanted)));
    assert_eq!(error.field(b'V').as_deref(), Some("FATAL"));
}
