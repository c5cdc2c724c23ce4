//! Many threads, one chain.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pgmoat_audit::{Durability, Outcome};

use crate::fixture::{Folder, completion, decision, now};

#[test]
fn each_receipt_names_the_line_of_its_own_entry() {
    for durability in [Durability::None, Durability::Os, Durability::Batched, Durability::Fsync] {
        let folder = Folder::new();
        let (log, _) = folder.open(durability).unwrap();
        let each: u64 = if durability == Durability::Fsync { 50 } else { 500 };
        let receipts: BTreeMap<u64, String> = thread::scope(|scope| {
            let log = &log;
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    scope.spawn(move || {
                        let mut taken = Vec::new();
                        for at in 0..each {
                            let text = format!("SELECT {thread}, {at}");
                            let receipt = log.append(now(), &decision(thread, &text)).unwrap();
                            log.append_unawaited(now(), &completion(receipt.seq())).unwrap();
                            taken.push((receipt.seq(), text));
                        }
                        taken
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        log.close(now()).unwrap();

        let count = usize::try_from(THREADS * each).unwrap();
        assert_eq!(receipts.len(), count, "two entries with one sequence number ({durability})");
        let lines = folder.lines();
        assert_eq!(lines.len(), 2 * count + 2);
        for (seq, text) in receipts {
            let line = &lines[usize::try_from(seq).unwrap() - 1];
            assert_eq!(line["seq"], seq);
            assert_eq!(line["statement"], text, "{durability}");
        }
        assert_eq!(folder.whole().lines, u64::try_from(lines.len()).unwrap());
    }
}

#[test]
fn a_completion_is_never_before_its_decision() {
    let folder = Folder::new();
    let (log, _) = folder.open(Durability::None).unwrap();
    for session in 0..5_000 {
        let receipt = log.append(now(), &decision(session, "SELECT 1")).unwrap();
        log.append_unawaited(now(), &completion(receipt.seq())).unwrap();
    }
    log.close(now()).unwrap();
    let lines = folder.lines();
    let completions: Vec<_> = lines.iter().filter(|line| line["kind"] == "completion").collect();
    assert_eq!(completions.len(), 5_000);
    for line in completions {
        let of = line["of"].as_u64().unwrap();
        assert!(of < line["seq"].as_u64().unwrap());
        assert_eq!(lines[usize::try_from(of).unwrap() - 1]["kind"], "decision");
    }
}

#[test]
fn a_log_can_be_verified_while_it_is_written() {
    let folder = Folder::new();
    let (log, _) = folder.open(Durability::Batched).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut session = 0;
            while !done.load(Ordering::Relaxed) {
                let _receipt = log.append(now(), &decision(session, "SELECT 1")).unwrap();
                session += 1;
                // Else a file that grows faster than it is read doubles from one look to the next.
                if session > 5_000 {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        });
        let outcomes: Vec<Outcome> = (0..40).map(|_| folder.verify()).collect();
        done.store(true, Ordering::Relaxed);
        for outcome in outcomes {
            assert!(matches!(outcome, Outcome::Whole(_)), "{outcome}");
        }
    });
}

const THREADS: u64 = 8;
