//! psycopg 3, some clients in one process, which tells what it has met when it is told to stop.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use pgmoat_tests::drivers;
use serde::Deserialize;

use crate::tally::Tally;

pub(crate) struct Psycopg {
    child: Child,
}

#[derive(Deserialize)]
struct Seen {
    sessions: u64,
    statements: u64,
    rows: u64,
    denied: u64,
    wrong: Vec<String>,
    protocol: Vec<String>,
    faults: Vec<(f64, String, String)>,
}

impl Psycopg {
    pub(crate) fn start(dsn: &str, clients: usize, first: usize, statements_per_session: usize) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("drivers/psycopg_soak.py");
        let child = Command::new(drivers().unwrap().join("python/bin/python"))
            .arg("-B")
            .arg(script)
            .args([clients, first, statements_per_session].map(|number| number.to_string()))
            .env("PGMOAT_DSN", dsn)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Psycopg { child }
    }

    /// Its clients stop; what they have met is added.
    pub(crate) fn stop(mut self, tally: &Tally) {
        drop(self.child.stdin.take());
        let output = self.child.wait_with_output().unwrap();
        let seen: Seen = serde_json::from_slice(&output.stdout).unwrap();
        for (counter, count) in [
            (&tally.sessions, seen.sessions),
            (&tally.statements, seen.statements),
            (&tally.rows, seen.rows),
            (&tally.denied, seen.denied),
        ] {
            Tally::add(counter, count);
        }
        seen.wrong.into_iter().for_each(|what| tally.wrong(format!("psycopg: {what}")));
        seen.protocol.into_iter().for_each(|what| tally.protocol(format!("psycopg: {what}")));
        for (at, code, text) in seen.faults {
            tally.fault(
                SystemTime::UNIX_EPOCH + Duration::from_secs_f64(at),
                &code,
                format!("psycopg: {text}"),
            );
        }
    }
}
