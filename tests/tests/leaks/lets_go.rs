//! What lets go of a session's state may not have run, may be undone, or may have been followed by what takes it again: the
//! connection is not handed on then.

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Front, Mode};

use crate::house::{House, ask, told};

#[test]
fn what_lets_go_is_believed_only_where_it_did() {
    let house = House::impatient();
    let all = "pg_advisory_unlock_all()";
    let (lock, listen) = ("SELECT pg_advisory_lock(5)", "LISTEN a");
    let (unlock, unlisten) = (&*format!("SELECT {all}"), "UNLISTEN *");
    let temp = "CREATE TEMP TABLE let_go (a int)";
    let text = |sql: &str| vec![q(sql)];
    let mut ways = Vec::new();
    for sql in [
        format!("EXPLAIN SELECT {all}"),
        format!("SELECT {all} LIMIT 0"),
        format!("SELECT {all} WHERE false"),
        format!("BEGIN; DECLARE c CURSOR FOR SELECT {all}; COMMIT"),
        format!("SELECT CASE WHEN false THEN {all} END"),
    ] {
        ways.push(vec![q(lock), q(&sql)]);
        if !sql.contains(';') {
            ways.push([text(lock), batch(&[&sql])].concat());
        }
    }
    for (lets_go, takes) in
        [(unlock, lock), (unlisten, listen), ("DISCARD TEMP", temp), ("DISCARD ALL", listen)]
    {
        if lets_go != "DISCARD ALL" {
            ways.push(text(&format!("{lets_go}; {takes}")));
            ways.push(text(&format!("BEGIN; {lets_go}; {takes}; COMMIT")));
        }
        ways.push(vec![q(lets_go), q(takes)]);
        ways.push(batch(&[lets_go, takes]));
        ways.push([batch(&[lets_go]), batch(&[takes])].concat());
    }
    for takes in [listen, temp] {
        // An end of another transaction, and a failure.
        for end in ["ROLLBACK", "SELECT 1/0", "BEGIN; SELECT 1; ROLLBACK"] {
            ways.push(vec![q(end), q(takes)]);
        }
        ways.push([batch(&["SELECT 1/0"]), batch(&[takes])].concat());
    }
    ways.push(text("BEGIN; LISTEN a; SAVEPOINT s; UNLISTEN *; ROLLBACK TO s; COMMIT"));
    ways.push(vec![q(listen), q("BEGIN; SAVEPOINT s; UNLISTEN *; ROLLBACK TO s; COMMIT")]);
    ways.push(vec![q(temp), q("BEGIN; SAVEPOINT s; DISCARD TEMP; ROLLBACK TO s; COMMIT")]);
    // Nobody else has any of it.
    let look = [q(LOOK)];
    let nothing = told(&ask(&mut house.client(&[]), &look));
    let mut leaks = Vec::new();
    for way in ways {
        let (mut one, mut two) = (house.client(&[]), house.client(&[]));
        let heard = ask(&mut one, &way);
        assert!(!heard.closed, "{way:?}: {heard}");
        // It waits in vain for the connection, or has one on which there is nothing.
        let seen = ask(&mut two, &look);
        if seen.codes() != ["53300"] && told(&seen) != nothing {
            leaks.push(format!("{way:?}: {}", told(&seen)));
        }
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

/// And what did is believed: else a client that cleans up after itself kept its connection for ever.
#[test]
fn what_has_let_go_frees_the_connection() {
    let house = House::impatient();
    for (takes, lets_go) in [
        ("SELECT pg_advisory_lock(5)", "SELECT pg_advisory_unlock_all()"),
        ("LISTEN a", "UNLISTEN *"),
        ("BEGIN; LISTEN a; COMMIT", "BEGIN; UNLISTEN *; COMMIT"),
        ("CREATE TEMP TABLE let_go (a int)", "DISCARD TEMP"),
    ] {
        let (mut one, mut two) = (house.client(&[]), house.client(&[]));
        ask(&mut one, &[q(takes)]);
        assert_eq!(ask(&mut two, &[q("SELECT 1")]).codes(), ["53300"], "{takes}");
        ask(&mut one, &[q(lets_go)]);
        assert_eq!(ask(&mut two, &[q("SELECT 1")]).codes(), [""; 0], "{lets_go}");
    }
}

/// A domain's default draws for the columns that have none.
#[test]
fn a_domain_s_default_draws_for_the_columns_that_have_it() {
    let drawn = "CREATE SEQUENCE public.drawn START 7; GRANT ALL ON public.drawn TO PUBLIC; \
                 CREATE DOMAIN public.number AS int DEFAULT nextval('public.drawn'); \
                 CREATE DOMAIN public.numbers AS public.number; \
                 CREATE TABLE public.draws (id public.numbers, x int); GRANT ALL ON public.draws TO PUBLIC";
    let house = House::with(Mode::Transaction, 1, drawn);
    let (mut one, mut two) = (house.client(&[]), house.client(&[]));
    assert_eq!(ask(&mut one, &[q("INSERT INTO public.draws (x) VALUES (1)")]).codes(), [""; 0]);
    assert_eq!(ask(&mut two, &[q("SELECT lastval()")]).codes(), ["55000"]);
}

/// These, in one batch.
fn batch(texts: &[&str]) -> Vec<Front> {
    let one = |sql: &&str| [p("", sql), b("", "", &[]), e("", 0)];
    texts.iter().flat_map(one).chain([s()]).collect()
}

const LOOK: &str = "SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()), \
                    (SELECT count(*) FROM pg_listening_channels()), to_regclass('pg_temp.let_go')";
