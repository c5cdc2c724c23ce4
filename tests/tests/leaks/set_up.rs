//! What one client has set neither ends nor holds up what the next one is first given on the same connection.

use pgmoat_tests::front::{p, q, s};
use pgmoat_tests::{Mode, Raw};

use crate::house::House;

/// The set-up makes the server forget many statements, which takes longer.
#[test]
fn a_time_limit_of_one_client_ends_no_other() {
    let house = House::new(Mode::Transaction, 1);
    for (round, limit) in ["1", "'1ms'", "'900us'", "' 5 ms'"].into_iter().enumerate() {
        // Each takes a while to be forgotten.
        let sums: Vec<String> = (0..60).map(|at| format!("{at} + {round}")).collect();
        let many: Vec<_> = (0..480)
            .map(|number| p(&format!("s{round}_{number}"), &format!("SELECT {number}, {}", sums.join(", "))))
            .collect();
        let mut statements = house.client(&[]);
        let heard = statements.ask(&many.into_iter().chain([s()]).collect::<Vec<_>>()).unwrap();
        assert!(heard.codes().is_empty(), "{:?}", heard.codes());
        let mut one = house.client(&[]);
        one.ask(&[q(&format!("SET statement_timeout = {limit}")), q("SET TimeZone = 'Asia/Tokyo'")]).unwrap();
        let mut other = house.client(&[("TimeZone", "Europe/Paris"), ("DateStyle", "German")]);
        assert_eq!(shown(&mut other, "TimeZone"), "Europe/Paris", "{limit}");
        assert_eq!(shown(&mut other, "statement_timeout"), "0", "{limit}");
    }
}

/// A read-only serializable transaction that is deferrable waits, before its first snapshot, for others to end.
#[test]
fn nobody_waits_for_the_others_of_one_client() {
    let house = House::new(Mode::Transaction, 1);
    let mut beside = house.beside();
    beside.query("BEGIN ISOLATION LEVEL SERIALIZABLE").unwrap();
    beside.query("SELECT count(*) FROM pg_catalog.pg_class").unwrap();
    let mut one = house.client(&[]);
    for set in [
        "default_transaction_isolation = serializable",
        "default_transaction_read_only = on",
        "default_transaction_deferrable = on",
    ] {
        one.query(&format!("SET {set}")).unwrap();
    }
    let mut other = house.client(&[("TimeZone", "Europe/Paris")]);
    assert_eq!(shown(&mut other, "default_transaction_deferrable"), "off");
    beside.query("ROLLBACK").unwrap();
}

fn shown(raw: &mut Raw, setting: &str) -> String {
    let heard = raw.query(&format!("SHOW {setting}")).unwrap();
    assert!(heard.codes().is_empty(), "{setting}: {:?}", heard.codes());
    heard.rows()[0][0].clone().unwrap()
}
