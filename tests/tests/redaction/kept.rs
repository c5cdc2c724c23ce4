//! The positive list, row by row: each is provoked in PostgreSQL and read through the proxy.

use std::collections::BTreeSet;

use pgmoat_tests::front::{Front, b, e, h, p, q, s};
use pgmoat_tests::{Message, Raw, Stack, Transcript};

use crate::{direct, error, open, proxy_with_open_role, run, superuser};

/// The table itself, as it stands in the source: a row that nobody provokes fails the test.
const SOURCE: &str = include_str!("../../../proxy/src/session/redact/kept.rs");

/// An SQLSTATE of analysis, and a statement that has it.
const ANALYSIS: &[(&str, &str)] = &[
    ("428C9", "INSERT INTO app.doubled (tenant_id, n, twice) VALUES ('acme', 1, 3)"),
    ("42701", "INSERT INTO app.notes (body, body) VALUES ('a', 'b')"),
    ("42702", "SELECT tenant_id FROM app.notes a, app.notes b"),
    ("42703", "SELECT boddy FROM app.notes"),
    ("42712", "SELECT 1 FROM app.notes a, app.orders a"),
    ("42725", "SELECT '1' + '1'"),
    ("42803", "SELECT body, count(*) FROM app.notes"),
    ("42804", "SELECT body FROM app.notes WHERE 1"),
    ("42809", "SELECT lower(DISTINCT body) FROM app.notes"),
    ("42846", "SELECT created_at::int FROM app.orders"),
    ("42883", "SELECT nosuch(body) FROM app.notes"),
    ("42P01", "SELECT 1 FROM app.nosuch"),
    ("42P02", "SELECT $1"),
    ("42P08", "SELECT 1 WHERE ($1, $1) = (1::int, 'a'::text)"),
    ("42P09", "SELECT notes.body FROM app.notes, public.notes"),
    ("42P10", "SELECT body FROM app.notes ORDER BY 5"),
    ("42P18", "SELECT ARRAY[]"),
    ("42P19", "WITH RECURSIVE r AS (SELECT 1 FROM r) SELECT * FROM r"),
    ("42P20", "SELECT 1 FROM app.notes WHERE sum(1) OVER () > 1"),
    ("42P21", "SELECT body FROM app.notes WHERE body COLLATE \"C\" < 'b' COLLATE \"POSIX\""),
];

/// SQLSTATE, message, what goes before (`;` between), and a statement that has it.
const CONSTANT: &[(&str, &str, &str, &str)] = &[
    (
        "21000",
        "ON CONFLICT DO UPDATE command cannot affect row a second time",
        "",
        "INSERT INTO app.products (tenant_id, sku, name, price) VALUES ('acme', 'a', 'a', 1), ('acme', 'a', 'b', 2) \
         ON CONFLICT (tenant_id, sku) DO UPDATE SET name = 'x'",
    ),
    (
        "21000",
        "MERGE command cannot affect row a second time",
        "",
        "MERGE INTO app.notes n USING (VALUES (1), (2)) v(x) ON n.id = 3 WHEN MATCHED THEN UPDATE SET body = 'x'",
    ),
    (
        "21000",
        "more than one row returned by a subquery used as an expression",
        "",
        "SELECT (SELECT id FROM app.notes)",
    ),
    ("22003", "bigint out of range", "", "SELECT 9223372036854775807 + count(*) FROM app.notes"),
    ("22003", "integer out of range", "", "SELECT 2147483647 + 1"),
    ("22003", "smallint out of range", "", "SELECT 32767::int2 + 1::int2"),
    ("22003", "numeric field overflow", "", "SELECT 1000::numeric(2, 0)"),
    ("22003", "value out of range: overflow", "", "SELECT 1e308::float8 * 10"),
    ("22003", "value out of range: underflow", "", "SELECT 1e-308::float8 * 1e-308"),
    ("22003", "value overflows numeric format", "", "SELECT 10::numeric ^ 200000"),
    ("22008", "date out of range for timestamp", "", "SELECT '5874897-12-31'::date::timestamp"),
    ("22008", "interval out of range", "", "SELECT interval '2147483647 months' + interval '1 month'"),
    ("22008", "timestamp out of range", "", "SELECT timestamp '294276-12-31' + interval '1 year'"),
    ("22011", "negative substring length not allowed", "", "SELECT substring('a' from 1 for -1)"),
    ("22012", "division by zero", "", "SELECT id / (id - id) FROM app.notes"),
    ("22014", "argument of ntile must be greater than zero", "", "SELECT ntile(0) OVER () FROM app.notes"),
    (
        "22016",
        "argument of nth_value must be greater than zero",
        "",
        "SELECT nth_value(1, 0) OVER () FROM app.notes",
    ),
    ("22025", "invalid escape string", "", "SELECT 'a' LIKE 'b' ESCAPE 'xx'"),
    ("2201E", "cannot take logarithm of a negative number", "", "SELECT ln(-1::float8)"),
    ("2201E", "cannot take logarithm of zero", "", "SELECT ln(0::float8)"),
    (
        "2201F",
        "a negative number raised to a non-integer power yields a complex result",
        "",
        "SELECT power(-2::float8, 0.5)",
    ),
    ("2201F", "cannot take square root of a negative number", "", "SELECT sqrt(-1::float8)"),
    ("2201F", "zero raised to a negative power is undefined", "", "SELECT power(0::float8, -1)"),
    ("2201G", "count must be greater than zero", "", "SELECT width_bucket(1, 2, 3, 0)"),
    ("2201G", "lower bound cannot equal upper bound", "", "SELECT width_bucket(1, 2, 2, 1)"),
    ("2201W", "LIMIT must not be negative", "", "SELECT 1 LIMIT -1"),
    ("2201X", "OFFSET must not be negative", "", "SELECT 1 OFFSET -1"),
    ("22023", "step size cannot equal zero", "", "SELECT generate_series(1, 2, 0)"),
    (
        "22025",
        "LIKE pattern must not end with escape character",
        "",
        "SELECT body LIKE 'note\\' FROM app.notes",
    ),
    ("22P02", "invalid input syntax for type json", "", "SELECT body::json FROM app.notes"),
    (
        "25001",
        "SET TRANSACTION ISOLATION LEVEL must be called before any query",
        "BEGIN; SELECT 1",
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    ),
    ("25006", "cannot execute DELETE in a read-only transaction", "BEGIN READ ONLY", "DELETE FROM app.notes"),
    (
        "25006",
        "cannot execute INSERT in a read-only transaction",
        "BEGIN READ ONLY",
        "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'x')",
    ),
    (
        "25006",
        "cannot execute MERGE in a read-only transaction",
        "BEGIN READ ONLY",
        "MERGE INTO app.notes n USING (VALUES (1)) v(x) ON n.id = v.x WHEN MATCHED THEN DELETE",
    ),
    (
        "25006",
        "cannot execute SELECT FOR SHARE in a read-only transaction",
        "BEGIN READ ONLY",
        "SELECT 1 FROM app.notes FOR SHARE",
    ),
    (
        "25006",
        "cannot execute SELECT FOR UPDATE in a read-only transaction",
        "BEGIN READ ONLY",
        "SELECT 1 FROM app.notes FOR UPDATE",
    ),
    (
        "25006",
        "cannot execute UPDATE in a read-only transaction",
        "BEGIN READ ONLY",
        "UPDATE app.notes SET body = 'x'",
    ),
    (
        "25006",
        "cannot execute nextval() in a read-only transaction",
        "BEGIN READ ONLY",
        "SELECT nextval('app.notes_id_seq')",
    ),
    ("25P01", "SAVEPOINT can only be used in transaction blocks", "", "SAVEPOINT a"),
    ("25P01", "ROLLBACK TO SAVEPOINT can only be used in transaction blocks", "", "ROLLBACK TO SAVEPOINT a"),
    ("25P01", "RELEASE SAVEPOINT can only be used in transaction blocks", "", "RELEASE SAVEPOINT a"),
    ("25P01", "DECLARE CURSOR can only be used in transaction blocks", "", "DECLARE c CURSOR FOR SELECT 1"),
    (
        "57014",
        "canceling statement due to statement timeout",
        "SET statement_timeout = 50",
        "SELECT pg_sleep(5)",
    ),
];

/// SQLSTATE, message, what goes before, and a statement that PostgreSQL warns of.
const WARNINGS: &[(&str, &str, &str, &str)] = &[
    ("25001", "there is already a transaction in progress", "BEGIN", "BEGIN"),
    ("25P01", "SET LOCAL can only be used in transaction blocks", "", "SET LOCAL bytea_output = 'hex'"),
    ("25P01", "SET CONSTRAINTS can only be used in transaction blocks", "", "SET CONSTRAINTS ALL DEFERRED"),
    ("25P01", "SET TRANSACTION can only be used in transaction blocks", "", "SET TRANSACTION READ ONLY"),
    ("25P01", "there is no transaction in progress", "", "COMMIT"),
];

/// Rows that other tests provoke: they need a second session, or end the first.
const ELSEWHERE: &[(&str, &str)] = &[
    ("25P02", ""),
    ("25P03", "terminating connection due to idle-in-transaction timeout"),
    ("40001", "could not serialize access due to concurrent delete"),
    ("40001", "could not serialize access due to concurrent update"),
    ("40001", "could not serialize access due to read/write dependencies among transactions"),
    ("40P01", "deadlock detected"),
    ("55P03", "canceling statement due to lock timeout"),
    ("57014", "canceling statement due to user request"),
    ("57P01", "terminating connection due to administrator command"),
    ("57P05", "terminating connection due to idle-session timeout"),
];

#[test]
fn every_row_of_the_table_is_provoked_somewhere() {
    let provoked: BTreeSet<String> = (ANALYSIS.iter())
        .map(|(code, _)| format!("analysis({code}"))
        .chain(CONSTANT.iter().chain(WARNINGS).map(|(code, text, ..)| format!("constant({code}{text}")))
        .chain(ELSEWHERE.iter().map(|(code, text)| format!("constant({code}{text}")))
        .collect();
    let rows = |kind: &str| SOURCE.split(kind).skip(1).filter_map(row).collect::<Vec<_>>();
    let listed: BTreeSet<String> = (rows("analysis(").into_iter())
        .map(|(code, _)| format!("analysis({code}"))
        .chain(rows("constant(").into_iter().map(|(code, text)| format!("constant({code}{text}")))
        .collect();
    let missing: Vec<_> = listed.symmetric_difference(&provoked).collect();
    assert!(missing.is_empty(), "in one of the two lists only: {missing:#?}");
}

/// The first two arguments of a row's maker, where the first is a text.
fn row(rest: &str) -> Option<(&str, &str)> {
    let (code, rest) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    let rest = rest.trim_start_matches([',', ' ', '\n']);
    let text = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')).map_or("", |(text, _)| text);
    (code.len() == 5).then_some((code, text))
}

#[test]
fn errors_of_analysis_are_read_as_postgresql_says_them() {
    let database = Stack::get().database().unwrap();
    prepare(&database);
    let proxied = proxy_with_open_role(&database);
    let (mut direct, mut raw) = (direct(&database), Raw::connect(&open(&proxied)).unwrap());
    for (sqlstate, sql) in ANALYSIS {
        let mut seen = false;
        for ask in [[q(sql), h()], [p("", sql), s()]] {
            let (said, read) = (direct.ask(&ask).unwrap(), raw.ask(&ask).unwrap());
            assert_eq!(read.codes(), said.codes(), "{sql}: {:?}", read.error_field(b'M'));
            // `$n` means nothing in a Query, and something else in a Parse.
            if said.codes() != [*sqlstate] {
                continue;
            }
            seen = true;
            let (said, read) = (error(&said, sql), error(&read, sql));
            match (said.field(b'P'), &ask[0]) {
                // Without a position, only what answers a Parse is known to be of analysis.
                (None, Front::Query(_)) => assert_ne!(said.field(b'M'), read.field(b'M'), "{sql}"),
                (Some(_) | None, _) => same(said, read, sql),
            }
        }
        assert!(seen, "{sql}: never {sqlstate}");
    }
}

/// Names are replaced on the way upstream; what is said about places counts in the client's own text.
#[test]
fn positions_count_in_the_clients_text_where_names_were_replaced() {
    let database = Stack::get().database().unwrap();
    let proxied = proxy_with_open_role(&database);
    let (mut direct, mut raw) = (direct(&database), Raw::connect(&open(&proxied)).unwrap());
    for sql in [
        "PREPARE p AS SELECT nosuch FROM app.notes",
        "PREPARE \"ein längerer Name als der des Proxys\" AS SELECT nosuch FROM app.notes",
        "BEGIN; DECLARE c CURSOR FOR SELECT 'ä', nosuch FROM app.notes",
        "BEGIN; DECLARE a CURSOR FOR SELECT 1; FETCH 1 FROM a; DECLARE b CURSOR FOR SELECT id FROM app.nosuch",
    ] {
        let (said, read) = (direct.query(sql).unwrap(), raw.query(sql).unwrap());
        same(error(&said, sql), error(&read, sql), sql);
        assert!(error(&said, sql).field(b'P').is_some(), "{sql}");
        run(&mut direct, "ROLLBACK");
        run(&mut raw, "ROLLBACK");
    }
}

#[test]
fn constant_messages_are_read_as_postgresql_says_them() {
    let database = Stack::get().database().unwrap();
    prepare(&database);
    let proxied = proxy_with_open_role(&database);
    for (sqlstate, text, before, sql) in CONSTANT {
        for extended in [false, true] {
            let (mut direct, mut raw) = (direct(&database), Raw::connect(&open(&proxied)).unwrap());
            let (said, read) =
                (ask(&mut direct, before, sql, extended), ask(&mut raw, before, sql, extended));
            let (said, read) = (error(&said, sql), error(&read, sql));
            assert_eq!(said.field(b'C').as_deref(), Some(*sqlstate), "{sql}: {:?}", said.field(b'M'));
            assert_eq!(said.field(b'M').as_deref(), Some(*text), "{sql}");
            same(said, read, sql);
        }
    }
}

#[test]
fn warnings_of_the_list_are_read_as_postgresql_says_them() {
    let database = Stack::get().database().unwrap();
    let proxied = proxy_with_open_role(&database);
    for (sqlstate, text, before, sql) in WARNINGS {
        let mut raw = Raw::connect(&open(&proxied)).unwrap();
        let read = ask(&mut raw, before, sql, false);
        let notice = read
            .messages
            .iter()
            .find(|message| message.tag == b'N')
            .unwrap_or_else(|| panic!("{sql}: {read}"));
        assert_eq!(
            (notice.field(b'C').as_deref(), notice.field(b'M').as_deref()),
            (Some(*sqlstate), Some(*text))
        );
        assert_eq!(notice.field(b'F'), None);
    }
}

#[test]
fn in_a_failed_transaction_the_text_is_postgresqls() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let failing = "SELECT 1 / (id - id) FROM app.orders WHERE tenant_id = 'acme'";
    let read = ask(&mut raw, "BEGIN", failing, false);
    assert_eq!(read.codes(), ["22012"]);
    let read = raw.query("SELECT 1").unwrap();
    let text = "current transaction is aborted, commands ignored until end of transaction block";
    assert_eq!(read.error_field(b'M').as_deref(), Some(text));
}

/// What looks like analysis and is not on the list, because a value of a row makes it.
#[test]
fn what_values_raise_is_not_read() {
    let database = Stack::get().database().unwrap();
    prepare(&database);
    let proxied = proxy_with_open_role(&database);
    let (mut direct, mut raw) = (direct(&database), Raw::connect(&open(&proxied)).unwrap());
    for (sqlstate, sql) in [
        ("42601", "SELECT (body || ' & & !')::tsquery FROM app.notes"),
        ("42704", "SELECT body::regtype FROM app.notes WHERE body = 'note'"),
        ("22P02", "SELECT body::int FROM app.notes"),
        ("22007", "SELECT body::date FROM app.notes"),
        ("22023", "SELECT to_timestamp(1)::timestamptz AT TIME ZONE body FROM app.notes"),
        ("2201B", "SELECT 'x' ~ ('(' || body) FROM app.notes"),
        ("22003", "SELECT (repeat('9', 30) || id)::int FROM app.notes"),
        ("54000", "SELECT repeat(body, 1000000000) FROM app.notes"),
    ] {
        let (said, read) = (direct.query(sql).unwrap(), raw.query(sql).unwrap());
        let (said, read) = (error(&said, sql), error(&read, sql));
        assert_eq!(said.field(b'C').as_deref(), Some(sqlstate), "{sql}: {:?}", said.field(b'M'));
        assert_eq!(read.field(b'C'), said.field(b'C'), "{sql}");
        assert_ne!(read.field(b'M'), said.field(b'M'), "{sql}");
        gone(read, sql);
    }
}

fn prepare(database: &str) {
    run(
        &mut superuser(database),
        "CREATE TABLE public.notes (body text);
         CREATE TABLE app.doubled (tenant_id text, n int, twice int GENERATED ALWAYS AS (n * 2) STORED);
         INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'note');
         GRANT ALL ON public.notes, app.doubled TO pgmoat_service;",
    );
}

fn ask(raw: &mut Raw, before: &str, sql: &str, extended: bool) -> Transcript {
    for sql in before.split(';').filter(|sql| !sql.is_empty()) {
        run(raw, sql);
    }
    match extended {
        true => raw.ask(&[p("", sql), b("", "", &[]), e("", 0), s()]).unwrap(),
        false => raw.query(sql).unwrap(),
    }
}

/// The same SQLSTATE, text and position; what could carry values is not there.
fn same(said: &Message, read: &Message, sql: &str) {
    for field in *b"SVCMP" {
        assert_eq!(read.field(field), said.field(field), "{sql}: field {}", char::from(field));
    }
    gone(read, sql);
}

fn gone(read: &Message, sql: &str) {
    for field in *b"DHWpqFLR" {
        assert_eq!(read.field(field), None, "{sql}: field {}", char::from(field));
    }
}
