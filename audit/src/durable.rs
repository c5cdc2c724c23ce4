//! What fdatasync(2) has made durable. Group commit: who comes while another one syncs waits, and one sync of
//! its own, or of whoever was first, serves all that waited.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::Fault;

/// A file with how far it was written and synced.
pub(crate) struct Durable {
    file: Arc<File>,
    written_seq: AtomicU64,
    synced_seq: Mutex<u64>,
    /// The errno of the first sync that failed; 0 for none.
    errno: AtomicI32,
}

impl Durable {
    pub(crate) const fn new(file: Arc<File>, synced_seq: u64) -> Self {
        Self {
            file,
            written_seq: AtomicU64::new(synced_seq),
            synced_seq: Mutex::new(synced_seq),
            errno: AtomicI32::new(0),
        }
    }

    /// All lines up to `seq` were written.
    pub(crate) fn written(&self, seq: u64) {
        self.written_seq.store(seq, Ordering::Release);
    }

    /// Returns when the written line `seq` is durable.
    pub(crate) fn reach(&self, seq: u64) -> Result<(), Fault> {
        let mut synced = self.synced_seq.lock();
        self.check()?;
        if *synced >= seq {
            return Ok(());
        }
        let written = self.written_seq.load(Ordering::Acquire).max(seq);
        if let Err(error) = self.file.sync_data() {
            let fault = Fault::from(&error);
            self.errno.store(fault.errno(), Ordering::Release);
            return Err(fault);
        }
        *synced = written;
        Ok(())
    }

    /// INVARIANT (a failed sync is final): after one the kernel may have dropped the pages and call the next
    /// sync a success (Linux does; PostgreSQL stops for the same reason), so the fault stays.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        match self.errno.load(Ordering::Acquire) {
            0 => Ok(()),
            errno => Err(Fault::from_errno(errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn a_failed_sync_is_never_forgotten() {
        // Linux refuses to sync a character device: EINVAL.
        let durable = Durable::new(Arc::new(File::open("/dev/null").unwrap()), 7);
        durable.written(9);
        assert_eq!(durable.reach(7), Ok(()));
        let fault = durable.reach(8).unwrap_err();
        assert_eq!(fault.errno(), 22);
        assert_eq!(durable.check(), Err(fault));
        // Not even for lines that were durable before.
        assert_eq!(durable.reach(7), Err(fault));
    }
}
