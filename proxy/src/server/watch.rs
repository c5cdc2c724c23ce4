//! Whether files have changed, by what the system says of them.
//!
//! A change counts once it has rested for one look: an editor that is still writing is waited for.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Files, as they were when they were last read, and as they were seen since.
pub(crate) struct Watch {
    files: Vec<PathBuf>,
    read: Vec<Stamp>,
    seen: Vec<Stamp>,
}

/// None of a file that is not there. A link's is that of the file behind it: mounted configuration is changed by
/// turning a link.
type Stamp = Option<(u64, u64, i64, i64, i64, i64)>;

impl Watch {
    pub(crate) fn new(files: Vec<PathBuf>) -> Watch {
        let read = stamps(&files);
        Watch { seen: read.clone(), files, read }
    }

    /// The files are about to be read.
    pub(crate) fn look(&mut self) {
        self.read = stamps(&self.files);
        self.seen.clone_from(&self.read);
    }

    /// Others are watched from now on, too: those that were read already as they were then.
    pub(crate) fn replace(&mut self, files: Vec<PathBuf>) {
        let known = |file: &PathBuf| self.files.iter().position(|one| one == file);
        let read: Vec<Stamp> = files
            .iter()
            .map(|file| match known(file).and_then(|at| self.read.get(at)) {
                Some(stamp) => *stamp,
                None => stamp(file),
            })
            .collect();
        (self.seen, self.files, self.read) = (read.clone(), files, read);
    }

    /// Whether they are others than those that were read, and the same as at the last look.
    pub(crate) fn has_settled(&mut self) -> bool {
        let now = stamps(&self.files);
        let settled = now != self.read && now == self.seen;
        self.seen = now;
        settled
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    files.iter().map(|file| stamp(file)).collect()
}

fn stamp(file: &Path) -> Stamp {
    let of = fs::metadata(file).ok()?;
    Some((of.ino(), of.size(), of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn a_change_counts_once_it_rests_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("policy.yaml");
        fs::write(&file, "one").unwrap();
        let mut watch = Watch::new(vec![file.clone()]);
        assert!(!watch.has_settled());
        fs::write(&file, "two and").unwrap();
        assert!(!watch.has_settled(), "it may still be written");
        fs::write(&file, "two and more").unwrap();
        assert!(!watch.has_settled(), "it is still written");
        assert!(watch.has_settled());
        watch.look();
        assert!(!watch.has_settled() && !watch.has_settled(), "what was read is no change");
        fs::remove_file(&file).unwrap();
        assert!(!watch.has_settled());
        assert!(watch.has_settled(), "it is gone");
    }
}
