//! A refused statement at every place of a batch, a Query and a transaction: what came before it in the same implicit
//! transaction does not stay, what comes after it does not run, and the words look as PostgreSQL's own.
//!
//! PostgreSQL is the measure: the same batch with a statement that cannot be parsed, a Bind of a statement that is not
//! there, is played directly; only the SQLSTATE differs.

use pgmoat_lab::SERVICE_USER;
use pgmoat_tests::front::{b, c_portal, d_portal, d_statement, e, function_call, h, p, q, s};
use pgmoat_tests::{Front, Login, Raw, Stack};

/// How long the batches are.
const LONGEST: usize = 3;

#[test]
fn a_refused_statement_at_every_place_of_a_batch_looks_as_a_failing_one() {
    let stack = Stack::get();
    let proxied = stack.proxy().unwrap();
    let other = stack.database().unwrap();
    let directly = stack.direct(SERVICE_USER, &other);
    let mut wrong = Vec::new();
    for length in 1..=LONGEST {
        for place in 0..length {
            for how in [How::Parse, How::Bind, How::ParseWithoutMore, How::Query, How::Describe] {
                for begin in [Begin::Nothing, Begin::Transaction, Begin::Savepoint, Begin::InTheBatch] {
                    let name = format!("{how:?} at {place} of {length} after {begin:?}");
                    let batch = |door| batch(length, place, how, begin, door);
                    let direct =
                        play(&directly, begin, &batch(Door::Direct)).replace(how.sqlstate(), "refused");
                    let through = play(&proxied.login("acme_app"), begin, &batch(Door::Proxy))
                        .replace("42501", "refused");
                    if direct != through {
                        wrong.push(format!("{name}:\n  PostgreSQL {direct}\n  the proxy  {through}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    // A Query ends an implicit transaction: what follows a refused one in the batch stays, there as here.
    assert_eq!(notes(&proxied.database), notes(&other), "what stays");
}

#[test]
fn a_query_is_refused_as_a_whole_wherever_the_refused_part_stands() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for place in 0..3 {
        let mut parts = vec![NOTE, NOTE];
        parts.insert(place, ALL);
        let heard = raw.query(&parts.join("; ")).unwrap();
        assert_eq!(heard.to_string(), "E(42501) Z(I)", "at {place}");
        let detail = heard.error_field(b'D').unwrap();
        assert!(detail.contains(&format!("statement: {}", place + 1)), "{detail}");
        let heard = raw.query(&format!("BEGIN; {NOTE}; COMMIT; {ALL}")).unwrap();
        assert_eq!(heard.to_string(), "E(42501) Z(I)");
    }
    assert_eq!(notes(&proxied.database), "0");
}

/// Nothing of a refused statement reaches the server while the session rests.
#[test]
fn a_refusal_at_rest_does_not_touch_the_server() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for _ in 0..3 {
        raw.send(&[q(ALL)]).unwrap();
        raw.expect("E(42501) Z(I)").unwrap();
        raw.send(&[p("", ALL), d_statement(""), s()]).unwrap();
        raw.expect("E(42501) Z(I)").unwrap();
    }
    let backends =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ~ 'app.orders'";
    assert_eq!(
        Stack::get().cluster().psql(&proxied.database, backends).unwrap().trim(),
        "1",
        "only the one that asks"
    );
}

#[test]
fn function_calls_are_refused_and_the_session_goes_on() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    raw.send(&[function_call(2026)]).unwrap(); // pg_backend_pid
    raw.expect("E(42501) Z(I)").unwrap();
    raw.send(&[q("BEGIN"), function_call(2026), q("COMMIT")]).unwrap();
    raw.expect("C Z(T) E(42501) Z(E) C Z(I)").unwrap();
}

#[test]
fn the_position_counts_characters() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for before in ["", "'é', ", "'日本語', '\u{1f600}', ", "/* ü */ "] {
        let sql = format!("SELECT {before}o.id FROM app.orders o");
        let heard = raw.query(&sql).unwrap();
        let position: usize = heard.error_field(b'P').expect("a position").parse().unwrap();
        let under: String = sql.chars().skip(position - 1).collect();
        assert!(under == "app.orders o" || under == "orders o" || under == "o", "{sql}: {under}");
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// The text is refused.
    Parse,
    /// The same, and nothing of the statement follows.
    ParseWithoutMore,
    /// A value is not the session's own.
    Bind,
    /// A Query in the middle of the batch.
    Query,
    /// The text is refused, and its Describe is skipped.
    Describe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begin {
    Nothing,
    Transaction,
    Savepoint,
    /// BEGIN is the batch's first statement.
    InTheBatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Direct,
    Proxy,
}

impl How {
    /// What PostgreSQL says for what stands in the refused statement's place.
    fn sqlstate(self) -> &'static str {
        match self {
            Self::Bind => "26000",
            Self::Parse | Self::ParseWithoutMore | Self::Query | Self::Describe => "42601",
        }
    }
}

/// INSERTs, and at one place what is refused.
fn batch(length: usize, place: usize, how: How, begin: Begin, door: Door) -> Vec<Front> {
    let refused = match door {
        Door::Direct => "no statement",
        Door::Proxy => ALL,
    };
    let mut batch = Vec::new();
    if begin == Begin::InTheBatch {
        batch.extend([p("", "BEGIN"), b("", "", &[]), e("", 0)]);
    }
    for at in 0..length {
        if at != place {
            batch.extend([p("", NOTE), b("", "", &[]), d_portal(""), e("", 0)]);
            continue;
        }
        match (how, door) {
            (How::Parse, _) => batch.extend([p("", refused), b("", "", &[]), e("", 0)]),
            (How::ParseWithoutMore, _) => batch.extend([p("n", refused), h()]),
            (How::Describe, _) => {
                batch.extend([p("", refused), d_statement(""), b("", "", &[]), c_portal("")])
            }
            (How::Query, _) => batch.push(q(refused)),
            (How::Bind, Door::Direct) => {
                batch.extend([p("bound", BOUND), b("", "not there", &["acme"]), e("", 0)]);
            }
            (How::Bind, Door::Proxy) => {
                batch.extend([p("bound", BOUND), b("", "bound", &["globex"]), e("", 0)])
            }
        }
    }
    batch.push(s());
    batch
}

/// What is heard, up to the end of what follows the batch; everything is rolled back.
fn play(login: &Login<'_>, begin: Begin, batch: &[Front]) -> String {
    let mut raw = Raw::connect(login).unwrap();
    match begin {
        Begin::Nothing | Begin::InTheBatch => {}
        Begin::Transaction => drop(raw.query("BEGIN").unwrap()),
        Begin::Savepoint => {
            raw.query("BEGIN").unwrap();
            raw.query("SAVEPOINT s").unwrap();
        }
    }
    raw.send(batch).unwrap();
    if begin == Begin::Savepoint {
        raw.send(&[q("ROLLBACK TO s")]).unwrap();
    }
    raw.send(&[q("ROLLBACK"), q(ONE)]).unwrap();
    let mut heard = pgmoat_tests::Transcript::default();
    while heard.rows().is_empty() && !heard.closed {
        match raw.next_message().unwrap() {
            Some(message) => heard.messages.push(message),
            None => heard.closed = true,
        }
    }
    let last = raw.read(1).unwrap();
    format!("{heard} {last}")
}

/// How many rows have stayed.
fn notes(database: &str) -> String {
    let sql = "SELECT count(*) FROM app.notes WHERE body = 'refusal'";
    Stack::get().cluster().psql(database, sql).unwrap().trim().to_owned()
}

const ALL: &str = "SELECT id FROM app.orders";
const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
const BOUND: &str = "SELECT id FROM app.orders WHERE tenant_id = $1 AND id = 2";
const NOTE: &str = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'refusal')";
