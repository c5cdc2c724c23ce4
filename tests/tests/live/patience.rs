//! Waiting for what happens elsewhere, without counting on how fast.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than anything takes on a busy machine: a test that waits this long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Polls until it holds.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        sleep(Duration::from_millis(20));
    }
}
