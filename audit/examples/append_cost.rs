//! What an append costs: `cargo run --release -p pgmoat-audit --example append_cost [FOLDER]`.
//!
//! Prints nanoseconds per append, p50 and p99, for one thread and for several, beside a bare write(2) of as
//! many bytes to the same file system: the difference is this crate's own cost.

#![expect(clippy::print_stdout, clippy::expect_used, reason = "an example prints and stops at errors")]

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use pgmoat_audit::{Decision, Durability, Entry, Log, Micros, Options, Parameters, Phase, Protocol, Verdict};

fn main() {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = folder.join(format!("append-cost-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("the folder can be made");
    for (name, text) in [("50 B", text_of(50)), ("1.4 KB", text_of(1_400))] {
        let bytes = line_bytes(&folder, &text);
        let bare = bare_write(&folder.join("bare"), bytes);
        println!(
            "statement of {name}, line of {bytes} B, bare write(2) p50 {} ns, p99 {} ns",
            bare.0, bare.1
        );
        for durability in [Durability::None, Durability::Os, Durability::Batched, Durability::Fsync] {
            for threads in [1, 2, 8] {
                let (p50, p99, per_second) = appends(&folder, durability, threads, &text);
                println!("  {durability:8} {threads} threads: p50 {p50} ns, p99 {p99} ns, {per_second}/s");
            }
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
}

fn appends(folder: &Path, durability: Durability, threads: u32, text: &str) -> (u64, u64, u64) {
    let path = folder.join("audit.jsonl");
    let options = Options::new(&path, durability);
    let (log, _) = Log::open(options, Micros(0)).expect("the log opens");
    let each = if durability == Durability::Fsync { 2_000 } else { 200_000 / threads };
    let start = Instant::now();
    let samples: Vec<u64> = thread::scope(|scope| {
        let log = &log;
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(move || {
                    let mut samples = Vec::new();
                    for at in 0..each {
                        let start = Instant::now();
                        let taken = log.append(Micros(u64::from(at)), &decision(text));
                        samples.push(nanoseconds(start));
                        let _receipt = taken.expect("the entry is taken");
                    }
                    samples
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("the thread ends")).collect()
    });
    let per_second = u64::from(each * threads) * 1_000_000_000 / nanoseconds(start).max(1);
    log.close(Micros(0)).expect("the log closes");
    std::fs::remove_file(&path).expect("the log can be removed");
    std::fs::remove_file(path.with_extension("jsonl.head")).expect("its head can be removed");
    let (p50, p99) = percentiles(samples);
    (p50, p99, per_second)
}

fn line_bytes(folder: &Path, text: &str) -> usize {
    let path = folder.join("one.jsonl");
    let options = Options::new(&path, Durability::Os);
    let (log, _) = Log::open(options, Micros(0)).expect("the log opens");
    let _receipt = log.append(Micros(0), &decision(text)).expect("the entry is taken");
    drop(log);
    let content = std::fs::read_to_string(&path).expect("the log can be read");
    for suffix in ["jsonl", "jsonl.head"] {
        std::fs::remove_file(path.with_extension(suffix)).expect("the log can be removed");
    }
    content.lines().last().map_or(0, |line| line.len() + 1)
}

fn bare_write(path: &Path, bytes: usize) -> (u64, u64) {
    let mut file: File = OpenOptions::new().append(true).create(true).open(path).expect("the file opens");
    let line = vec![b'x'; bytes];
    let samples = (0..200_000)
        .map(|_| {
            let start = Instant::now();
            file.write_all(&line).expect("the file takes it");
            nanoseconds(start)
        })
        .collect();
    std::fs::remove_file(path).expect("the file can be removed");
    percentiles(samples)
}

fn percentiles(mut samples: Vec<u64>) -> (u64, u64) {
    samples.sort_unstable();
    let at = |percent: usize| samples.get(samples.len() * percent / 100).copied().unwrap_or_default();
    (at(50), at(99))
}

fn nanoseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn text_of(bytes: usize) -> String {
    "SELECT id, total FROM invoices WHERE tenant_id = 'acme' AND note <> \"x\" "
        .chars()
        .cycle()
        .take(bytes)
        .collect()
}

fn decision(statement: &str) -> Entry<'_> {
    Entry::Decision(Decision {
        session: 7,
        user: "acme_app",
        role: "app",
        tenant: Some("acme"),
        database: "lab",
        client: "127.0.0.1:50412",
        backend: Some(4711),
        protocol: Protocol::Simple,
        phase: Phase::Query,
        statement: Some(statement),
        shape: Some(0x0123_4567_89ab_cdef),
        verdict: Verdict::Allow,
        code: None,
        position: None,
        message: None,
        parameters: Parameters::None,
        policy: 1,
        catalog: Some("00112233445566ff"),
    })
}
