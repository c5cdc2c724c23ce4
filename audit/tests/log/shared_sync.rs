//! Many that wait for one sync, on one thread.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use pgmoat_audit::{Durability, Log};

use crate::fixture::{Folder, decision, now};

/// Who was woken.
#[derive(Default)]
struct Woken {
    sessions: Mutex<BTreeSet<usize>>,
    moved: Condvar,
}

struct Session {
    number: usize,
    woken: Arc<Woken>,
}

impl Wake for Session {
    fn wake(self: Arc<Self>) {
        self.woken.sessions.lock().unwrap().insert(self.number);
        self.woken.moved.notify_one();
    }
}

#[test]
fn many_entries_that_were_written_together_wait_for_few_syncs_and_each_gets_its_receipt() {
    let folder = Folder::new();
    let (log, _) = folder.open(Durability::Fsync).unwrap();
    assert!(log.has_receipts_later());
    let woken = Arc::new(Woken::default());
    let wakes = AtomicUsize::new(0);
    for round in 0..20 {
        let mut waiting: Vec<_> = (0..SESSIONS)
            .map(|number| {
                let waker = Waker::from(Arc::new(Session { number, woken: Arc::clone(&woken) }));
                (waker, Some(log.write(now(), &decision(round, "SELECT 1")).unwrap()))
            })
            .collect();
        poll(&log, &mut waiting, 0..SESSIONS);
        while waiting.iter().any(|(_, written)| written.is_some()) {
            let mut sessions = woken.sessions.lock().unwrap();
            while sessions.is_empty() {
                sessions = woken.moved.wait(sessions).unwrap();
            }
            let ready = std::mem::take(&mut *sessions);
            drop(sessions);
            wakes.fetch_add(1, Ordering::Relaxed);
            poll(&log, &mut waiting, ready);
        }
    }
    log.close(now()).unwrap();
    assert_eq!(folder.whole().lines, 20 * u64::try_from(SESSIONS).unwrap() + 2);
}

#[test]
fn where_nothing_is_promised_about_a_power_cut_nobody_waits() {
    for durability in [Durability::None, Durability::Os, Durability::Batched] {
        let folder = Folder::new();
        let (log, _) = folder.open(durability).unwrap();
        assert!(!log.has_receipts_later());
        let written = log.write(now(), &decision(1, "SELECT 1")).unwrap();
        let Poll::Ready(receipt) = log.poll_receipt(&written, &Context::from_waker(Waker::noop())) else {
            panic!("not ready ({durability})")
        };
        assert_eq!(receipt.unwrap().seq(), written.seq());
    }
}

fn poll(
    log: &Log,
    waiting: &mut [(Waker, Option<pgmoat_audit::Written>)],
    ready: impl IntoIterator<Item = usize>,
) {
    for number in ready {
        let (waker, written) = &mut waiting[number];
        let Some(taken) = written else { continue };
        if let Poll::Ready(receipt) = log.poll_receipt(taken, &Context::from_waker(waker)) {
            assert_eq!(receipt.unwrap().seq(), taken.seq());
            *written = None;
        }
    }
}

const SESSIONS: usize = 32;
