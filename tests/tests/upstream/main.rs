//! The upstream crate against a real PostgreSQL: login, pool, cancel, catalog, relay.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod cancel;
mod catalog;
mod catalog_version;
mod crowd;
mod down;
mod failover;
mod hostile;
mod login;
mod pool;
mod relay;
mod resting;
mod tls;
mod versions;

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::BytesMut;
use pgmoat_lab::{Cluster, SERVICE_USER};
use pgmoat_tests::Stack;
use pgmoat_upstream::frame::backend::{self, TransactionStatus};
use pgmoat_upstream::frame::{Cursor, Fields, Piece, Scanner, frontend};
use pgmoat_upstream::io::progress;
use pgmoat_upstream::{
    Address, Connection, Endpoint, Lease, PinnedSettings, Pool, PoolConfig, Quiet, Secret, SessionAttributes,
    Target, TlsPolicy, WeakPasswords,
};
use tokio::time::Instant;

/// Longer than anything takes on a busy machine: a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

fn target_at(cluster: &Cluster, user: &str, database: &str) -> Target {
    Target {
        endpoint: Endpoint {
            address: Address::Tcp { host: "127.0.0.1".to_owned(), port: cluster.port() },
            tls: TlsPolicy::disable(),
            connect_timeout: PATIENCE,
            keepalive: None,
        },
        fallbacks: Vec::new(),
        attributes: SessionAttributes::Any,
        database: database.to_owned(),
        user: user.to_owned(),
        password: Some(Secret::new(cluster.password(user).to_owned())),
        settings: settings(&[]),
        weak_passwords: WeakPasswords::Refuse,
    }
}

fn settings(others: &[(&str, &str)]) -> PinnedSettings {
    let others: BTreeMap<_, _> =
        others.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    PinnedSettings::new(&["app".to_owned(), "public".to_owned()], others).unwrap()
}

/// The service user's way into a database of the shared server.
fn target(database: &str) -> Target {
    // The user comes with the first lab database.
    static USER: LazyLock<String> = LazyLock::new(lab_database);
    LazyLock::force(&USER);
    target_at(Stack::get().cluster(), SERVICE_USER, database)
}

fn lab_database() -> String {
    Stack::get().database().unwrap()
}

fn psql(database: &str, sql: &str) -> String {
    Stack::get().cluster().psql(database, sql).unwrap().trim_end().to_owned()
}

fn pool_of(max_connections: usize, database: &str) -> Pool {
    let config = PoolConfig { max_connections, wait_timeout: PATIENCE, ..PoolConfig::default() };
    Pool::new(target(database), config)
}

fn soon() -> Instant {
    Instant::now() + PATIENCE
}

const QUIET: Quiet =
    Quiet { status: TransactionStatus::Idle, replies_owed: 0, unsynced: false, copy: false, unsent: 0 };

async fn give_back(mut lease: Lease) {
    let proof = lease.prove_clean(QUIET).unwrap();
    lease.give_back(proof).await;
}

/// What a simple Query was answered, as a relay sees it.
#[derive(Debug, Default)]
struct Answer {
    cells: Vec<String>,
    tags: Vec<String>,
    error: Option<Fields>,
    status: Option<TransactionStatus>,
}

impl Answer {
    fn sqlstate(&self) -> &str {
        self.error.as_ref().and_then(Fields::sqlstate).unwrap_or("00000")
    }
}

async fn send(connection: &mut Connection, sql: &str) {
    let mut out = BytesMut::new();
    frontend::query(sql.as_bytes(), &mut out).unwrap();
    while !out.is_empty() {
        progress(&mut connection.stream, None, &mut out).await.unwrap();
    }
}

/// Reads to ReadyForQuery, or to the end of the stream.
async fn receive(connection: &mut Connection) -> Answer {
    let (mut answer, mut scanner, mut nothing) = (Answer::default(), Scanner::new(), BytesMut::new());
    let mut buffer = std::mem::take(&mut connection.incoming);
    let mut row = Vec::new();
    loop {
        match scanner.next(&buffer, 1).unwrap() {
            Piece::Run(run) => {
                row.extend_from_slice(&buffer.split_to(run.bytes));
                if !run.open {
                    answer.cells.push(first_cell(&row));
                    row.clear();
                }
            }
            Piece::Whole(frame) => {
                match frame.tag {
                    b'C' => answer.tags.push(backend::command_complete(frame.body()).unwrap().to_owned()),
                    b'E' => answer.error = Some(Fields::decode(frame.body()).unwrap()),
                    b'S' => {
                        let (name, value) = backend::parameter_status(frame.body()).unwrap();
                        connection.note_parameter(name, value).unwrap();
                    }
                    b'Z' => answer.status = Some(backend::ready_for_query(frame.body()).unwrap()),
                    _ => {}
                }
                let taken = frame.bytes.len();
                let _ = buffer.split_to(taken);
                if answer.status.is_some() {
                    connection.incoming = buffer;
                    return answer;
                }
            }
            Piece::More { .. } => {
                let moved = progress(&mut connection.stream, Some(&mut buffer), &mut nothing).await;
                if matches!(moved.map(|moved| moved.read), Ok(Some(0)) | Err(_)) {
                    return answer;
                }
            }
        }
    }
}

fn first_cell(row: &[u8]) -> String {
    let mut cursor = Cursor::new(&row[5..]);
    cursor.u16("columns").unwrap();
    match usize::try_from(cursor.i32("length").unwrap()) {
        Ok(length) => String::from_utf8(cursor.bytes(length, "value").unwrap().to_vec()).unwrap(),
        Err(_) => "NULL".to_owned(),
    }
}

async fn run(connection: &mut Connection, sql: &str) -> Answer {
    send(connection, sql).await;
    receive(connection).await
}

/// The single cell of a query that must succeed.
async fn cell(connection: &mut Connection, sql: &str) -> String {
    let answer = run(connection, sql).await;
    assert!(answer.error.is_none(), "{sql}: {:?}", answer.error);
    answer.cells.into_iter().next().unwrap_or_else(|| panic!("{sql}: no row"))
}

/// Waits for something that happens on the server's side.
async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = soon();
    while !holds().await {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
