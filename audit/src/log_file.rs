//! The file that lines are appended to: all of a write, or none of it.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use crate::Fault;

/// An open log file that ends at `len`, or beyond it with bytes of a failed write.
pub(crate) struct LogFile {
    file: Arc<File>,
    len: u64,
    /// A failed write left bytes behind `len` and cutting them off failed too.
    surplus: bool,
}

impl LogFile {
    /// `file` is open for appending and ends at `len` with a whole line.
    pub(crate) const fn new(file: Arc<File>, len: u64) -> Self {
        Self { file, len, surplus: false }
    }

    /// Writes whole lines.
    ///
    /// INVARIANT (the file stays whole): after an error nothing of `lines` stays; where cutting it off fails,
    /// nothing else is written until that succeeds.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<(), Fault> {
        if self.surplus {
            self.cut()?;
        }
        match (&*self.file).write_all(lines) {
            Ok(()) => {
                self.len = self.len.saturating_add(u64::try_from(lines.len()).unwrap_or(u64::MAX));
                Ok(())
            }
            Err(error) => {
                self.surplus = true;
                // The write's error is the one to tell; a cut that fails is tried again before the next
                // write.
                let _ = self.cut();
                Err(Fault::from(&error))
            }
        }
    }

    fn cut(&mut self) -> Result<(), Fault> {
        self.file.set_len(self.len).map_err(|error| Fault::from(&error))?;
        self.surplus = false;
        Ok(())
    }
}
