//! A file that takes nothing more: everything is refused, the file stays whole, and it recovers by itself.
//!
//! The fault is the system's own: a limit on the size of files (RLIMIT_FSIZE, with SIGXFSZ ignored), which
//! write(2) meets in the middle of a line with a short count and then EFBIG, as a full disk does with ENOSPC.

use pgmoat_audit::{AppendError, Durability, Log, Options, Outcome, verify_file};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::fixture::{Folder, Told, child, completion, decision, log_of_child, now, options};

#[test]
fn a_full_disk_refuses_everything_and_recovers_by_itself() {
    in_child("full_disk::child_awaited");
}

#[test]
fn entries_that_nobody_waits_for_outlive_a_full_disk() {
    in_child("full_disk::child_unawaited");
}

#[test]
fn a_log_that_only_queues_refuses_after_the_first_failed_write() {
    in_child("full_disk::child_queued");
}

#[test]
fn threads_that_share_a_failed_write_are_all_refused() {
    in_child("full_disk::child_threads");
}

/// What is lost for want of room is told with its number, when there is room again.
#[test]
fn what_there_was_no_room_for_is_counted() {
    in_child("full_disk::child_overflowing");
}

fn in_child(test: &str) {
    let folder = Folder::new();
    let output = child(test, "trap '' XFSZ", &folder.path()).output().expect("the test binary starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
    let whole = folder.whole();
    assert_eq!(whole.unfinished_bytes, 0);
    assert_eq!(whole.recoveries.count, 0);
}

#[test]
#[ignore = "a child: it needs SIGXFSZ ignored and limits its own files"]
fn child_awaited() {
    for_each_durability(|path, durability| {
        let (log, _) = Log::open(options(path, durability), now()).unwrap();
        let size = || path.metadata().unwrap().len();
        let before = log.append(now(), &decision(1, "SELECT 'before'")).unwrap().seq();
        let full = size();
        // Room for part of a line.
        limit(Some(full + 100));
        for round in 0..20 {
            let error = log.append(now(), &decision(round, "SELECT 'refused'")).unwrap_err();
            assert!(
                matches!(&error, AppendError::Write { fault, .. } if fault.errno() == Some(EFBIG)),
                "{error}"
            );
            assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
            assert_eq!(size(), full, "the partial line was not cut off");
        }
        assert!(matches!(verify_file(path, &pgmoat_audit::Expect::default()), Outcome::Whole(_)));
        limit(None);
        assert_eq!(log.append(now(), &decision(1, "SELECT 'after'")).unwrap().seq(), before + 1);
        log.close(now()).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text.matches("SELECT 'before'").count(), 1);
        assert_eq!(text.matches("SELECT 'after'").count(), 1);
        assert_eq!(
            text.matches("SELECT 'refused'").count(),
            0,
            "a refused statement has no line that allows it"
        );
    });
}

#[test]
#[ignore = "a child: it needs SIGXFSZ ignored and limits its own files"]
fn child_unawaited() {
    for_each_durability(|path, durability| {
        let (log, _) = Log::open(options(path, durability), now()).unwrap();
        let taken = log.append(now(), &decision(1, "SELECT 'before'")).unwrap().seq();
        limit(Some(path.metadata().unwrap().len() + 100));
        for _ in 0..50 {
            log.append_unawaited(now(), &completion(taken)).unwrap();
            assert!(log.append(now(), &decision(2, "SELECT 'refused'")).is_err());
        }
        limit(None);
        // By itself: nothing is appended, and the completions come in their order.
        let mut waits = 0;
        while log.head().seq < taken + 50 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            waits += 1;
            assert!(waits < 1_000, "the queue was not written after 20 s");
        }
        assert_eq!(log.append(now(), &decision(3, "SELECT 'after'")).unwrap().seq(), taken + 51);
        log.close(now()).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text.matches("\"completion\"").count(), 50);
        assert_eq!(text.matches("SELECT 'refused'").count(), 0);
    });
}

#[test]
#[ignore = "a child: it needs SIGXFSZ ignored and limits its own files"]
fn child_queued() {
    let Some(path) = log_of_child() else {
        return;
    };
    let (log, _) = Log::open(options(&path, Durability::None), now()).unwrap();
    limit(Some(path.metadata().unwrap().len() + 100));
    let mut taken = Vec::new();
    let error = loop {
        match log.append(now(), &decision(1, "SELECT 'queued'")) {
            Ok(receipt) => taken.push(receipt.seq()),
            Err(error) => break error,
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(taken.len() < 10_000, "no append failed for long after the disk was full");
    };
    assert!(matches!(error, AppendError::Write { .. }), "{error}");
    assert!(log.append(now(), &decision(1, "SELECT 'refused'")).is_err());
    limit(None);
    let after = log.append(now(), &decision(1, "SELECT 'after'")).unwrap().seq();
    assert_eq!(Some(after), taken.last().map(|last| last + 1));
    log.close(now()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches("SELECT 'queued'").count(), taken.len(), "nothing that was taken is lost");
    assert_eq!(text.matches("SELECT 'refused'").count(), 0);
}

#[test]
#[ignore = "a child: it needs SIGXFSZ ignored and limits its own files"]
fn child_overflowing() {
    let Some(path) = log_of_child() else {
        return;
    };
    let told = Told::default();
    let watched = Options { watch: told.watch(), ..options(&path, Durability::Os) };
    let (log, _) = Log::open(watched, now()).unwrap();
    limit(Some(path.metadata().unwrap().len() + 100));
    for _ in 0..3 {
        assert!(log.append(now(), &decision(1, "SELECT 'refused'")).is_err());
    }
    // Until there is no room, and then some.
    let long = "x".repeat(1 << 20);
    let mut lost = 0;
    while lost < 5 {
        match log.append_unawaited(now(), &decision(2, &long)) {
            Ok(()) => {}
            Err(AppendError::QueueFull { .. }) => lost += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(told.words(), ["Failing"], "once, whatever fails: {}", told.all());
    limit(None);
    let _receipt = log.append(now(), &decision(3, "SELECT 'after'")).unwrap();
    assert!(told.all().ends_with("Taking { refused: 3, lost: 5 }"), "{}", told.all());
    log.close(now()).unwrap();
}

#[test]
#[ignore = "a child: it needs SIGXFSZ ignored and limits its own files"]
fn child_threads() {
    let Some(path) = log_of_child() else {
        return;
    };
    let (log, _) = Log::open(options(&path, Durability::Os), now()).unwrap();
    limit(Some(path.metadata().unwrap().len() + 150_000));
    let taken: Vec<(u64, String)> = std::thread::scope(|scope| {
        let log = &log;
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                scope.spawn(move || {
                    let texts = (0..200).map(|at| format!("SELECT {thread}, {at}"));
                    texts
                        .filter_map(|text| {
                            let receipt = log.append(now(), &decision(thread, &text)).ok()?;
                            Some((receipt.seq(), text))
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    limit(None);
    log.close(now()).unwrap();
    assert!(taken.len() > 100 && taken.len() < 1_000, "{} were taken", taken.len());
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), taken.len() + 2);
    for (seq, text) in taken {
        let line = lines[usize::try_from(seq).unwrap() - 1];
        assert!(line.contains(&format!("\"statement\":\"{text}\"")), "{text}: {line}");
    }
}

fn for_each_durability(test: impl Fn(&std::path::Path, Durability)) {
    let Some(path) = log_of_child() else {
        return;
    };
    for durability in [Durability::Os, Durability::Batched, Durability::Fsync] {
        test(&path, durability);
        if durability != Durability::Fsync {
            // The last one's log is looked at by the parent.
            std::fs::remove_file(&path).unwrap();
        }
    }
}

/// Limits the size of this process's files, or lifts the limit.
fn limit(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
}

const EFBIG: i32 = 27;
