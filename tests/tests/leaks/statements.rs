//! What clients have prepared, where the connection itself tells of it.

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Front, Mode, Raw};

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

/// A temporary table hides the table of its name from the texts of its client, and from nobody else's.
#[test]
fn a_text_names_the_temporary_table_of_its_own_client() {
    let house = House::with(Mode::Transaction, 1, CHANGES);
    let (mut one, mut two) = (house.client(&[]), house.client(&[]));
    let count = |raw: &mut Raw, name: &str| {
        let heard = ask(raw, &[p(name, COUNT), b("", name, &[]), e("", 0), s()]);
        assert_eq!(heard.codes(), [""; 0], "{name}: {heard}");
        heard.rows().concat().into_iter().flatten().collect::<String>()
    };
    assert_eq!(count(&mut one, "x"), "1");
    // The second time the server has a place for temporary tables.
    for round in 0..2 {
        let make = "CREATE TEMP TABLE changes (a int) ON COMMIT DROP";
        ask(&mut two, &[q("BEGIN"), q(make), q("INSERT INTO changes VALUES (1), (2)")]);
        assert_eq!(count(&mut two, &format!("y{round}")), "2");
        ask(&mut two, &[q("COMMIT"), q("DEALLOCATE ALL")]);
        assert_eq!(count(&mut one, &format!("x{round}")), "1");
        assert_eq!(count(&mut two, &format!("z{round}")), "1");
    }
}

const COUNT: &str = "SELECT count(*) FROM changes";
const CHANGES: &str =
    "CREATE TABLE public.changes AS SELECT 1 AS a; GRANT SELECT ON public.changes TO PUBLIC";
