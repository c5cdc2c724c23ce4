//! Thirty scripts, each of which leaves something behind if nobody takes care: settings, names, locks, cursors, open
//! transactions, copies, unread replies.

use pgmoat_tests::front::{b, c_statement, copy_data, d_portal, d_statement, e, h, p, q, s};
use pgmoat_tests::{Front, is_long};

/// A place where something is killed: a script, how many of its messages were sent, and whether the next one was begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) script: usize,
    pub(crate) sent: usize,
    pub(crate) begun: bool,
}

impl Moment {
    /// What was sent, and bytes of the next message.
    pub(crate) fn bytes(self) -> Vec<u8> {
        let script = &scripts()[self.script];
        let mut bytes = Vec::new();
        for message in &script[..self.sent] {
            message.encode(&mut bytes).unwrap();
        }
        if let Some(next) = script.get(self.sent).filter(|_| self.begun) {
            let mut more = Vec::new();
            next.encode(&mut more).unwrap();
            bytes.extend(&more[..more.len() / 2]);
        }
        bytes
    }
}

/// All moments; where lengths are short, every `stride`th.
pub(crate) fn moments(stride: usize) -> Vec<Moment> {
    let all = scripts();
    let moments = all.iter().enumerate().flat_map(|(script, messages)| {
        (0..=messages.len()).flat_map(move |sent| [false, true].map(|begun| Moment { script, sent, begun }))
    });
    let moments = moments.filter(|moment| !(moment.begun && moment.sent == all[moment.script].len()));
    moments.step_by(if is_long() { 1 } else { stride }).collect()
}

fn run(sql: &str) -> Vec<Front> {
    vec![p("", sql), b("", "", &[]), e("", 0)]
}

/// Markers that the next client looks for are named `left`.
pub(crate) fn scripts() -> Vec<Vec<Front>> {
    let insert = "INSERT INTO notes (tenant_id, body) VALUES ('acme', 'left')";
    let copy = "COPY notes (tenant_id, body) FROM STDIN";
    let rows = "SELECT g FROM generate_series(1, 3000) g";
    let sleep = "SELECT pg_sleep(0.2)";
    vec![
        vec![q("SET TimeZone = 'Asia/Tokyo'"), q("SHOW TimeZone"), q("SELECT 1")],
        vec![q("SET work_mem = '77MB'"), q("SET default_transaction_read_only = on"), q("SELECT 1")],
        vec![q("BEGIN"), q("SET LOCAL work_mem = '77MB'"), q(insert), q("COMMIT")],
        vec![q("BEGIN"), q(insert), q("SELECT 1"), q("ROLLBACK")],
        vec![q("BEGIN"), q("SELECT 1/0"), q("SELECT 1"), q("COMMIT")],
        vec![q("BEGIN"), q("SAVEPOINT s"), q(insert), q("ROLLBACK TO s"), q("COMMIT")],
        vec![q("PREPARE left_one AS SELECT 1"), q("EXECUTE left_one"), q("DEALLOCATE left_one")],
        vec![p("left_two", "SELECT $1::int"), s(), b("", "left_two", &["1"]), e("", 0), s()],
        vec![p("", "SELECT 'left'"), s(), b("", "", &[]), e("", 0), s()],
        vec![q("BEGIN"), q("DECLARE left_cursor CURSOR FOR SELECT 1"), q("FETCH left_cursor"), q("COMMIT")],
        vec![
            q("DECLARE left_held CURSOR WITH HOLD FOR SELECT 1"),
            q("FETCH left_held"),
            q("CLOSE left_held"),
        ],
        vec![
            q("CREATE TEMP TABLE left_table (x int)"),
            q("INSERT INTO left_table VALUES (1)"),
            q("TABLE left_table"),
        ],
        vec![q("SELECT pg_advisory_lock(4711)"), q("SELECT 1"), q("SELECT pg_advisory_unlock(4711)")],
        vec![q("BEGIN"), q("SELECT pg_advisory_xact_lock(4712)"), q("SELECT 1"), q("COMMIT")],
        vec![q("LISTEN left_channel"), q("NOTIFY left_channel, 'x'"), q("UNLISTEN *")],
        vec![q("BEGIN"), q("LOCK TABLE notes IN EXCLUSIVE MODE"), q("SELECT 1"), q("COMMIT")],
        vec![q(copy), copy_data("acme\tleft\n"), copy_data("acme\tle"), copy_data("ft\n"), Front::CopyDone],
        [run(copy), vec![s(), copy_data("acme\tleft\n"), Front::CopyDone, s()]].concat(),
        vec![q(copy), copy_data("no columns\n"), copy_data("acme\tleft\n"), Front::CopyDone, q("SELECT 1")],
        vec![q(copy), copy_data("acme\tleft\n"), Front::CopyFail("no".into())],
        vec![q("COPY (SELECT g, repeat('x', 200) FROM generate_series(1, 3000) g) TO STDOUT"), q("SELECT 1")],
        vec![q(rows), q("SELECT 1"), q(rows)],
        vec![p("", rows), b("", "", &[]), d_portal(""), h(), e("", 100), h(), e("", 0), s()],
        [run(insert), run("SELECT 1"), vec![s()], run("SELECT 2"), vec![s()]].concat(),
        [run(insert), run("SELECT 1/0"), run("SELECT 1"), vec![s(), q("SELECT 2")]].concat(),
        [run("BEGIN"), run(insert), vec![s()], run("COMMIT"), vec![s()]].concat(),
        vec![q(sleep), q("SELECT 1")],
        [run(sleep), vec![s()], run("SELECT 3"), vec![s()]].concat(),
        vec![
            p("left_three", "SELECT 1"),
            d_statement("left_three"),
            c_statement("left_three"),
            s(),
            q("SELECT 1"),
        ],
        vec![
            q("DO $$BEGIN RAISE NOTICE 'said'; END$$"),
            q("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
            q("SELECT 1; SELECT 2; SELECT 3"),
        ],
    ]
}

#[test]
fn there_are_thirty() {
    assert_eq!(scripts().len(), 30);
}
