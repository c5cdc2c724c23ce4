//! A proxy whose audit log is on a disk that fails as a test says: the calls of the C library are interposed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use pgmoat_lab::ProxyConfig;
use pgmoat_tests::{Proxied, Stack};

/// The faults of one proxy's disk.
pub(crate) struct Faults {
    folder: tempfile::TempDir,
}

impl Faults {
    pub(crate) fn none() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A proxy on that disk.
    pub(crate) fn proxy(&self, change: impl FnOnce(&mut ProxyConfig)) -> Proxied {
        Stack::get()
            .proxy_with(|config| {
                let library = LIBRARY.path.to_str().unwrap().to_owned();
                config.env.push(("LD_PRELOAD".to_owned(), library));
                let file = self.file().to_str().unwrap().to_owned();
                config.env.push(("PGMOAT_TEST_FAULTS".to_owned(), file));
                change(config);
            })
            .unwrap()
    }

    /// From now on; one line a call, as faults.c reads them.
    pub(crate) fn are(&self, lines: &str) {
        // In one step, so that no call sees half of it.
        let next = self.folder.path().join("next");
        fs::write(&next, lines).unwrap();
        fs::rename(next, self.file()).unwrap();
    }

    pub(crate) fn are_over(&self) {
        self.are("");
    }

    /// How often fdatasync was called.
    pub(crate) fn syncs(&self) -> u64 {
        fs::metadata(self.folder.path().join("faults.syncs")).map_or(0, |file| file.len())
    }

    /// How many calls were or are blocked.
    pub(crate) fn blocked(&self) -> u64 {
        fs::metadata(self.folder.path().join("faults.blocked")).map_or(0, |file| file.len())
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("faults")
    }
}

struct Library {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

/// faults.c, compiled by the compiler that Rust links with.
static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("faults.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit/faults.c");
    let arguments = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"];
    let status = Command::new("cc").args(arguments).arg(&path).arg(source).status().unwrap();
    assert!(status.success(), "faults.c does not compile");
    Library { path, _folder: folder }
});
