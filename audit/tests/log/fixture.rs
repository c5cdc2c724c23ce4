//! A folder with a log, entries to put in, and ways to read what came out.

use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use pgmoat_audit::{
    Completion, Decision, Durability, Entry, Executed, Expect, Log, Micros, OpenError, Opened, Options,
    Outcome, Parameters, Phase, Protocol, Verdict, Watch, Whole, verify_file,
};
use serde_json::Value;

pub(crate) struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("audit.jsonl")
    }

    pub(crate) fn head_path(&self) -> PathBuf {
        self.folder.path().join("audit.jsonl.head")
    }

    pub(crate) fn torn_path(&self) -> PathBuf {
        self.folder.path().join("audit.jsonl.torn")
    }

    pub(crate) fn open(&self, durability: Durability) -> Result<(Log, Opened), OpenError> {
        Log::open(options(&self.path(), durability), now())
    }

    /// A closed log with `decisions` decisions, between an `open` and a `close` line.
    pub(crate) fn filled(decisions: u64) -> Self {
        let folder = Self::new();
        let (log, _) = folder.open(Durability::Os).unwrap();
        for session in 1..=decisions {
            let _receipt = log.append(now(), &decision(session, "SELECT 1")).unwrap();
        }
        log.close(now()).unwrap();
        folder
    }

    pub(crate) fn whole(&self) -> Whole {
        match self.verify() {
            Outcome::Whole(whole) => whole,
            other => panic!("not whole: {other}"),
        }
    }

    pub(crate) fn verify(&self) -> Outcome {
        verify_file(&self.path(), &Expect::default())
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        lines_of(&self.path())
    }

    /// The log's files: finished ones in their order, then the one in use.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let names = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> = names.filter(|name| name.extension().unwrap() == "jsonl").collect();
        files.sort_by_key(|file| first_seq(file));
        files
    }

    pub(crate) fn kinds(&self) -> Vec<String> {
        self.lines().iter().map(|line| line["kind"].as_str().unwrap().to_owned()).collect()
    }
}

/// A rotation's first line may be on its way into the file.
fn first_seq(file: &Path) -> u64 {
    let mut first = None;
    eventually("a first line", || {
        let text = fs::read_to_string(file).unwrap();
        first = text.split_once('\n').map(|(line, _)| serde_json::from_str::<Value>(line).unwrap());
        first.is_some()
    });
    first.unwrap()["seq"].as_u64().unwrap()
}

pub(crate) fn lines_of(file: &Path) -> Vec<Value> {
    let text = fs::read(file).unwrap();
    text.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// Waits for what another thread does.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("not after 10 s: {what}");
}

/// What a log has told about itself.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    pub(crate) fn watch(&self) -> Watch {
        let told = self.clone();
        Watch::new(move |change| told.0.lock().unwrap().push(format!("{change:?}")))
    }

    /// The first word of each change.
    pub(crate) fn words(&self) -> Vec<String> {
        let word = |change: &String| change.split(['(', ' ']).next().unwrap().to_owned();
        self.0.lock().unwrap().iter().map(word).collect()
    }

    pub(crate) fn all(&self) -> String {
        self.0.lock().unwrap().join("; ")
    }
}

pub(crate) fn options(path: &Path, durability: Durability) -> Options {
    Options { sync_interval: Duration::from_millis(5), ..Options::new(path, durability) }
}

pub(crate) fn now() -> Micros {
    SystemTime::now().into()
}

pub(crate) fn decision(session: u64, statement: &str) -> Entry<'_> {
    Entry::Decision(Decision {
        session,
        user: "acme_app",
        role: "app",
        tenant: Some("acme"),
        database: "lab",
        client: "127.0.0.1:50412",
        backend: Some(4711),
        protocol: Protocol::Simple,
        phase: Phase::Query,
        statement: Some(statement),
        shape: Some(session),
        verdict: Verdict::Allow,
        code: None,
        position: None,
        message: None,
        parameters: Parameters::None,
        policy: 1,
        catalog: Some("00112233445566ff"),
    })
}

pub(crate) fn completion(of: u64) -> Entry<'static> {
    Entry::Completion(Completion {
        of,
        executed: Executed::Yes,
        tag: Some("SELECT 1"),
        sqlstate: None,
        rows: 1,
        duration_us: 250,
    })
}

/// This test binary, to run one of its tests as a process of its own. `setup` is shell text that runs before
/// it.
pub(crate) fn child(test: &str, setup: &str, log: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{setup}\nexec \"$0\" \"$@\""))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--include-ignored"])
        .env(CHILD_LOG, log);
    command
}

/// The log that a child is to use; none in a test that was not started as a child.
pub(crate) fn log_of_child() -> Option<PathBuf> {
    std::env::var_os(CHILD_LOG).map(PathBuf::from)
}

const CHILD_LOG: &str = "PGMOAT_AUDIT_TEST_LOG";
