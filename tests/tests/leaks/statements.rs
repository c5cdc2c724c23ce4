//! What clients have prepared, where the connection itself tells of it.

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Front, Mode};

use crate::house::{House, ask};

/// The texts stay on a shared connection, for whoever sends the same text next: nobody is shown them.
#[test]
fn nobody_is_shown_what_others_have_prepared() {
    for mode in Mode::PROXIED {
        let house = House::new(*mode, 1);
        {
            let mut other = house.client(&[]);
            let prepared = [p("mine", "SELECT 'secret of another'"), b("", "mine", &[]), e("", 0), s()];
            assert_eq!(ask(&mut other, &prepared).codes(), [""; 0]);
            other.send(&[Front::Terminate]).unwrap();
        }
        let mut raw = house.client(&[]);
        for asked in [
            vec![q("SELECT * FROM pg_prepared_statements")],
            vec![q("SELECT statement FROM pg_catalog.pg_prepared_statement()")],
            vec![q("WITH all_of_them AS (TABLE pg_prepared_statements) SELECT * FROM all_of_them")],
            vec![q("COPY (SELECT statement FROM pg_prepared_statements) TO STDOUT")],
            vec![p("", "SELECT statement FROM pg_prepared_statements"), b("", "", &[]), e("", 0), s()],
            vec![q("PREPARE theirs AS SELECT statement FROM pg_prepared_statements; EXECUTE theirs")],
        ] {
            let heard = ask(&mut raw, &asked);
            let shown =
                heard.messages.iter().map(|message| String::from_utf8_lossy(&message.body).into_owned());
            assert!(!shown.collect::<String>().contains("secret of another"), "{mode}: {asked:?}");
            let wanted: &[&str] = if *mode == Mode::Transaction { &["42501"] } else { &[] };
            assert_eq!(heard.codes(), wanted, "{mode}: {asked:?}");
        }
    }
}
