//! Each driver at each door.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pgmoat_tests::Mode;

use crate::checklist::{Item, items};
use crate::doors::{Door, doors};
use crate::{pgbench, psql, readme, scripts, tokio_postgres};

#[test]
fn psql_does_the_same() {
    check("psql", psql::session);
}

#[test]
fn pgbench_does_the_same() {
    check("pgbench", pgbench::session);
}

#[test]
fn psycopg_does_the_same() {
    check("psycopg", |door| scripts::python("psycopg_session.py", door));
}

#[test]
fn psycopg2_does_the_same() {
    check("psycopg2", |door| scripts::python("psycopg2_session.py", door));
}

#[test]
fn asyncpg_does_the_same() {
    check("asyncpg", |door| scripts::python("asyncpg_session.py", door));
}

#[test]
fn node_pg_does_the_same() {
    check("pg", |door| scripts::node("pg_session.mjs", door));
}

#[test]
fn postgres_js_does_the_same() {
    check("postgres.js", |door| scripts::node("postgres_session.mjs", door));
}

#[test]
fn pgjdbc_does_the_same() {
    check("pgjdbc", |door| scripts::java("PgjdbcSession.java", door));
}

#[test]
fn lib_pq_does_the_same() {
    check("lib/pq", scripts::go);
}

#[test]
fn ruby_pg_does_the_same() {
    check("ruby-pg", |door| scripts::ruby("ruby_pg_session.rb", door));
}

#[test]
fn pdo_does_the_same() {
    check("PDO", |door| scripts::php("pdo_session.php", door));
}

#[test]
fn tokio_postgres_does_the_same() {
    check("tokio-postgres", tokio_postgres::session);
}

#[test]
fn sqlx_does_the_same() {
    check("sqlx", scripts::sqlx);
}

#[test]
fn sqlalchemy_does_the_same() {
    check("SQLAlchemy", |door| scripts::python("sqlalchemy_session.py", door));
}

#[test]
fn django_does_the_same() {
    check("Django", |door| scripts::python("django_session.py", door));
}

/// Plays a driver's list at each door; what it says goes into README's table.
fn check(driver: &str, session: impl Fn(&Door) -> String) {
    let items = items(driver);
    let mut wrong = String::new();
    let mut said: BTreeMap<Mode, BTreeMap<String, String>> = BTreeMap::new();
    for door in doors() {
        // Two at a time, with their pools of twenty: there are only so many connections.
        static TURNS: [Mutex<()>; 2] = [Mutex::new(()), Mutex::new(())];
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let turn = TURNS.get(NEXT.fetch_add(1, Ordering::Relaxed) % TURNS.len()).map(Mutex::lock);
        let output = session(door);
        drop(turn);
        let lines: BTreeMap<_, _> = output.lines().filter_map(line).collect();
        compare(driver, door.mode, &items, &lines, &mut wrong);
        said.insert(door.mode, lines);
    }
    let direct = said.remove(&Mode::Direct).unwrap();
    for (mode, lines) in &said {
        let cannot = |lines: &BTreeMap<String, String>| {
            let some = lines.iter().filter(|(_, result)| result.starts_with("- "));
            some.map(|(name, why)| (name.clone(), why.clone())).collect::<Vec<_>>()
        };
        assert_eq!(cannot(lines), cannot(&direct), "{driver}, {mode}: it can what it can directly");
    }
    assert!(wrong.is_empty(), "{driver}\n{wrong}");
    readme::row(driver, &items, &direct);
}

fn line(line: &str) -> Option<(String, String)> {
    let (name, result) = line.split_once('\t')?;
    Some((name.to_owned(), result.to_owned()))
}

fn compare(driver: &str, mode: Mode, items: &[Item], said: &BTreeMap<String, String>, wrong: &mut String) {
    for item in items {
        let wanted = item.result(mode);
        match said.get(item.name) {
            Some(result) if result == wanted || result.starts_with("- ") => {}
            other => {
                let _ = writeln!(wrong, "  {mode}: {}: {other:?}, not {wanted:?}", item.name);
            }
        }
    }
    for name in said.keys().filter(|name| !items.iter().any(|item| item.name == name.as_str())) {
        let _ = writeln!(wrong, "  {mode}: {name} is not on the list of {driver}");
    }
}
