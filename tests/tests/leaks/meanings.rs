//! What a constant means depends on settings, and the server keeps what it has made of one: in a prepared statement, in a
//! function's plans. Nobody is answered by what another's settings, or his own of a moment, have made of it.

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Front, Mode, Raw, Stack};

use crate::house::{House, backend_pid};

/// How values are printed is a constant to the planner, too.
#[test]
fn a_statement_is_shared_by_those_to_whom_it_means_the_same() {
    let house = House::new(Mode::Transaction, 1);
    for (set, text) in [
        ("SET bytea_output = 'escape'", "SELECT '\\xff41'::bytea::text"),
        ("SET extra_float_digits = -12", "SELECT 0.123456789012::float8::text"),
        ("SET DateStyle = 'ISO, DMY'", "SELECT '01/02/2020'::date - '2020-01-01'::date"),
        ("SET TimeZone = 'Asia/Tokyo'", "SELECT extract(epoch FROM '2020-01-01 00:00'::timestamptz)"),
        ("SET IntervalStyle = 'sql_standard'", "SELECT '1 day -2:00'::interval::text"),
    ] {
        let (mut one, mut two) = (house.client(&[]), house.client(&[]));
        one.query(set).unwrap();
        let ask = [p("x", text), b("", "x", &[]), e("", 0), s()];
        let others = first_value(&mut one, &ask);
        let own = first_value(&mut two, &ask);
        assert_ne!(own, others, "{set}");
        assert_eq!(own, direct(&house, &[q(text)]), "{set}");
    }
}

#[test]
fn a_function_looks_its_constants_up_anew_for_other_settings() {
    let house = House::with(Mode::Transaction, 1, &format!("{}; {}", looking_up("now"), looking_up("once")));
    for (name, local) in [("now", false), ("once", true)] {
        let call = [q(&format!("SELECT public.looked_up_{name}()"))];
        let (mut one, mut two) = (house.client(&[]), house.client(&[]));
        if local {
            one.query("BEGIN").unwrap();
        }
        one.query(if local { "SET LOCAL DateStyle = dmy" } else { "SET DateStyle = dmy" }).unwrap();
        assert_eq!(first_value(&mut one, &call), "31");
        if local {
            one.query("COMMIT").unwrap();
        }
        assert_eq!(first_value(&mut two, &call), "1");
    }
    let call = [q("SELECT public.looked_up_now()")];
    let mut starting = house.client(&[("DateStyle", "DMY")]);
    assert_eq!(first_value(&mut starting, &call), "31");
    assert_eq!(first_value(&mut house.client(&[]), &call), "1");
}

/// The server looks statements up anew by itself, when a table has changed: with the settings of whoever uses them then.
#[test]
fn a_statement_that_was_looked_up_again_means_what_it_meant() {
    let house = House::with(Mode::Transaction, 1, CHANGES);
    let mut beside = house.beside();
    let use_it = [b("", "x", &[]), e("", 0), s()];
    let by_name = [q("EXECUTE x")];
    for (before, using, after) in [
        (&["BEGIN", "SET LOCAL DateStyle = dmy"][..], &use_it[..], "COMMIT"),
        (&["BEGIN", "SET LOCAL DateStyle = dmy"], &use_it, "ROLLBACK"),
        (&["BEGIN", "SET LOCAL DateStyle = dmy"], &by_name, "COMMIT"),
        (&["SET DateStyle = dmy"], &use_it, "RESET DateStyle"),
        (
            &["SELECT set_config('DateStyle', 'dmy', false)"],
            &use_it,
            "SELECT set_config('DateStyle', NULL, false)",
        ),
    ] {
        let (mut one, mut two) = (house.client(&[]), house.client(&[]));
        let prepare = [p("x", DATED), b("", "x", &[]), e("", 0), s()];
        for raw in [&mut one, &mut two] {
            assert_eq!(first_value(raw, &prepare), "1");
        }
        beside.query("ALTER TABLE public.changes ALTER a SET STATISTICS 50; ANALYZE public.changes").unwrap();
        before.iter().for_each(|sql| drop(one.query(sql).unwrap()));
        // As a direct connection has it.
        assert_eq!(first_value(&mut one, using), "31", "{before:?}");
        one.query(after).unwrap();
        assert_eq!(first_value(&mut two, &use_it), "1", "{before:?} {after}");
        assert_eq!(first_value(&mut house.client(&[]), &prepare), "1", "{before:?} {after}");
    }
}

/// PostgreSQL keeps what a statement means to its client when he moves his settings, whoever had the connection between.
#[test]
fn a_client_s_statement_keeps_its_meaning() {
    let house = House::with(Mode::Transaction, 1, CHANGES);
    let prepare = [p("x", DATED), b("", "x", &[]), e("", 0), s()];
    let mut clients = [house.client(&[]), house.client(&[("TimeZone", "Asia/Tokyo")])];
    for raw in &mut clients {
        assert_eq!(first_value(raw, &prepare), "1");
    }
    for _ in 0..2 {
        for at in [1, 0, 0] {
            let raw = &mut clients[at];
            raw.query("BEGIN; SET LOCAL DateStyle = dmy").unwrap();
            assert_eq!(first_value(raw, &[b("", "x", &[]), e("", 0), s()]), "1");
            raw.query("COMMIT").unwrap();
        }
    }
}

/// A statement that a connection lacks is made there before the client's settings move, or not at all.
#[test]
fn a_statement_is_not_made_again_under_other_settings() {
    let house = House::with(Mode::Transaction, 2, CHANGES);
    let use_it = [b("", "x", &[]), e("", 0), s()];
    let set = "SET LOCAL DateStyle = dmy";
    let ways: [&[Front]; 4] = [
        &[q("BEGIN"), q(set)],
        &[q(&format!("BEGIN; {set}"))],
        &[p("", "BEGIN"), b("", "", &[]), e("", 0), p("", set), b("", "", &[]), e("", 0), s()],
        &[q("BEGIN"), p("set", set), b("", "set", &[]), e("", 0), s()],
    ];
    for before in ways {
        let (mut one, mut holder) = (house.client(&[]), house.client(&[]));
        assert_eq!(first_value(&mut one, &[p("x", DATED), b("", "x", &[]), e("", 0), s()]), "1");
        let had = backend_pid(&mut one);
        holder.query("BEGIN").unwrap();
        assert_eq!(backend_pid(&mut holder), had, "the one that was used last");
        let messages = [before, &use_it].concat();
        one.send(&messages).unwrap();
        let heard = one.read(messages.iter().filter(|message| is_end(message)).count()).unwrap();
        assert_eq!(heard.rows(), [[Some("1".to_owned()), Some("1".to_owned())]], "{before:?}: {heard}");
        one.query("COMMIT").unwrap();
        for raw in [&mut one, &mut house.client(&[])] {
            assert_eq!(first_value(raw, &[p("y", DATED), b("", "y", &[]), e("", 0), s()]), "1");
        }
        holder.query("COMMIT").unwrap();
    }
}

/// The unnamed statement of whoever had the connection stands there until another is made.
#[test]
fn nobody_runs_the_last_clients_unnamed_statement() {
    let house = House::new(Mode::Transaction, 1);
    let mine = "SELECT 'mine'";
    for moves in ["SET statement_timeout = '5s'", "SET DateStyle = dmy", "ROLLBACK", "RESET ALL"] {
        let (mut one, mut two) = (house.client(&[]), house.client(&[]));
        one.send(&[p("s", moves), p("", mine), s()]).unwrap();
        one.expect("1 1 Z(I)").unwrap();
        assert_eq!(
            first_value(&mut two, &[p("", "SELECT 'another''s'"), b("", "", &[]), e("", 0), s()]),
            "another's"
        );
        one.send(&[b("", "s", &[]), e("", 0), b("", "", &[]), e("", 0), s()]).unwrap();
        let heard = one.read(1).unwrap();
        let gone = heard.codes() == ["26000"] && moves == "ROLLBACK";
        assert!(gone || heard.rows() == [[Some("mine".to_owned())]], "{moves}: {heard} {:?}", heard.rows());
    }
}

/// A batch that begins with a setting, as drivers send a tenant's name, and goes on with what the connection lacks.
#[test]
fn a_setting_in_front_of_a_statement_is_no_matter() {
    let house = House::new(Mode::Transaction, 1);
    let mut other = house.client(&[("TimeZone", "Asia/Tokyo")]);
    for set in ["SET statement_timeout = '5s'", "SET LOCAL work_mem = '5MB'", "SET application_name = 'x'"] {
        let mut one = house.client(&[]);
        one.send(&[p("x", "SELECT 'mine'"), s()]).unwrap();
        one.expect("1 Z(I)").unwrap();
        other.query("SELECT 1").unwrap();
        let batch = [p("", set), b("", "", &[]), e("", 0), b("", "x", &[]), e("", 0), s()];
        assert_eq!(first_value(&mut one, &batch), "mine", "{set}");
    }
}

/// What was made while a temporary table hid another is not the next client's.
#[test]
fn a_statement_that_names_a_temporary_table_is_not_handed_on() {
    let house = House::with(Mode::Transaction, 1, CHANGES);
    let mut other = house.client(&[("TimeZone", "Asia/Tokyo")]);
    let text = "SELECT a FROM changes";
    for round in 0..2 {
        let (mut one, mut two) = (house.client(&[]), house.client(&[]));
        one.send(&[p("x", text), s()]).unwrap();
        one.expect("1 Z(I)").unwrap();
        other.query("SELECT 1").unwrap();
        one.query("BEGIN; CREATE TEMP TABLE changes (a text) ON COMMIT DROP").unwrap();
        one.send(&[b("", "x", &[]), e("", 0), s(), q("COMMIT")]).unwrap();
        one.read(2).unwrap();
        assert_eq!(
            first_value(&mut two, &[p("y", text), b("", "y", &[]), e("", 0), s()]),
            "1",
            "round {round}"
        );
    }
}

fn is_end(message: &Front) -> bool {
    matches!(message, Front::Query(_) | Front::Sync)
}

/// A function whose body has a constant that means one day or thirty-one.
fn looking_up(name: &str) -> String {
    format!(
        "CREATE FUNCTION public.looked_up_{name}() RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS \
         $$ BEGIN RETURN ('01/02/2020'::date - '2020-01-01'::date)::text; END $$"
    )
}

fn first_value(raw: &mut Raw, messages: &[Front]) -> String {
    raw.send(messages).unwrap();
    let heard = raw.read(messages.iter().filter(|message| is_end(message)).count()).unwrap();
    let rows = heard.rows();
    let value = rows.first().and_then(|row| row.first().cloned().flatten());
    value.unwrap_or_else(|| panic!("{messages:?}: {heard}"))
}

fn direct(house: &House, messages: &[Front]) -> String {
    let login = Stack::get().direct(pgmoat_lab::SUPERUSER, &house.proxied.database);
    first_value(&mut Raw::connect(&login).unwrap(), messages)
}

const DATED: &str = "SELECT '01/02/2020'::date - '2020-01-01'::date, a FROM public.changes";
const CHANGES: &str =
    "CREATE TABLE public.changes AS SELECT 1 AS a; GRANT SELECT ON public.changes TO PUBLIC";
