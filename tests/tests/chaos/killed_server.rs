//! The server dies at each message: its backend by an administrator's order, or all of it by SIGKILL. Known faults A14, A17, H5.

use std::process::Command;
use std::time::Duration;

use pgmoat_lab::Postgres;
use pgmoat_tests::{Mode, Stack, Transcript};

use crate::afterwards::{House, assert_beginning, eventually, rest, superuser};
use crate::scripts::moments;

#[test]
fn a_client_whose_backend_is_ended_hears_the_beginning_and_one_fatal() {
    for mode in Mode::PROXIED {
        let house = House::with_pool(Stack::get(), *mode);
        hears_one_fatal(&house, *mode);
    }
}

fn hears_one_fatal(house: &House<'_>, mode: Mode) {
    let mut beside = superuser(house);
    for moment in moments(36) {
        let whole = house.undisturbed(moment.script);
        let mut raw = house.client();
        raw.query("SELECT 1").unwrap();
        raw.send_bytes(&moment.bytes()).unwrap();
        let ended = beside.query(TERMINATE).unwrap();
        // Beside it there may be one that is on its way out.
        assert!(!ended.rows().is_empty(), "{moment:?}");
        let heard = rest(&mut raw, until(mode));
        assert_beginning(&heard, &whole, &format!("{moment:?}"));
        // Of a shared connection that is at rest, nobody's session ends with it.
        let least = usize::from(mode == Mode::Session);
        assert!((least..=1).contains(&fatals(&heard)), "{moment:?}: {heard}");
        drop(raw);
        // One that is still on its way out would take the next client with it, as PostgreSQL's own.
        let pids: Vec<_> = ended.rows().into_iter().filter_map(|row| row[0].clone()).collect();
        let left = format!("SELECT count(*) FROM pg_stat_activity WHERE pid IN ({})", pids.join(", "));
        let mut gone = || beside.query(&left).unwrap().rows()[0][0].as_deref() == Some("0");
        eventually("the backend is gone", &mut gone, || left.clone());
        house.look_around();
    }
    house.is_whole();
}

#[test]
fn a_server_that_is_killed_comes_back_to_clean_sessions() {
    let stack = own();
    for mode in Mode::PROXIED {
        comes_back(&House::with_pool(&stack, *mode), *mode);
    }
}

fn comes_back(house: &House<'_>, mode: Mode) {
    for moment in moments(200) {
        let whole = house.undisturbed(moment.script);
        let mut raw = house.client();
        raw.query("SELECT 1").unwrap();
        raw.send_bytes(&moment.bytes()).unwrap();
        let mut beside = superuser(house);
        kill9(&beside.query(PID).unwrap());
        let heard = rest(&mut raw, until(mode));
        assert_beginning(&heard, &whole, &format!("{moment:?}"));
        assert!(fatals(&heard) <= 1, "{moment:?}: {heard}");
        // The server ends all others then; until it has, one of them would take the next client with it.
        let mut ended = || beside.query("SELECT 1").is_err();
        eventually("the server has ended its other backends", &mut ended, || format!("{moment:?}"));
        house.answers();
        house.look_around();
    }
    house.is_whole();
}

/// How long is listened for more: a session whose shared connection is at rest goes on, and says nothing.
fn until(mode: Mode) -> Duration {
    match mode {
        Mode::Direct | Mode::Session => Duration::from_secs(10),
        Mode::Transaction => Duration::from_millis(100),
    }
}

fn fatals(heard: &Transcript) -> usize {
    heard.errors().filter(|error| error.field(b'V').as_deref() == Some("FATAL")).count()
}

/// A server of the test's own: others would not survive.
fn own() -> Stack {
    Stack::of(Postgres::find().unwrap()).unwrap()
}

/// The backend that serves the proxy's client: the server takes it for a crash of its own and starts anew. Beside it there
/// may be one that is on its way out, or gone by now.
pub(crate) fn kill9(pids: &Transcript) {
    let pids = pids.rows().concat().into_iter().flatten();
    let killed = |pid: String| Command::new("kill").args(["-9", &pid]).status().unwrap().success();
    assert!(pids.map(killed).filter(|killed| *killed).count() > 0, "nobody was killed");
}

const TERMINATE: &str = "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = 'pgmoat_service' AND application_name LIKE 'pgmoat/%'";

const PID: &str = "SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND usename = 'pgmoat_service' AND application_name LIKE 'pgmoat/%'";
