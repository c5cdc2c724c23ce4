//! The machine, and what runs on it.

use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

use serde::Serialize;

use crate::command_output::command_output;
use crate::site::Site;

/// What the figures were measured on.
#[derive(Debug, Serialize)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) kernel: String,
    pub(crate) cpu: String,
    pub(crate) cpus: usize,
    pub(crate) memory_mib: u64,
}

/// The programs, as they name themselves.
#[derive(Debug, Serialize)]
pub(crate) struct Versions {
    pub(crate) pgmoat: Option<String>,
    pub(crate) postgresql: Option<String>,
    pub(crate) pgbouncer: Option<String>,
    pub(crate) rustc: Option<String>,
}

/// The commit that the working folder is at.
#[derive(Debug, Serialize)]
pub(crate) struct Commit {
    pub(crate) id: String,
    /// Whether files of it differ from it.
    pub(crate) modified: bool,
}

impl Host {
    pub(crate) fn read() -> Self {
        let line = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let memory_kib = field("/proc/meminfo", "MemTotal")
            .and_then(|value| value.strip_suffix(" kB")?.trim().parse::<u64>().ok());
        Self {
            name: line("/proc/sys/kernel/hostname"),
            kernel: line("/proc/sys/kernel/osrelease"),
            cpu: field("/proc/cpuinfo", "model name").unwrap_or_default(),
            cpus: available_parallelism().map_or(0, usize::from),
            memory_mib: memory_kib.unwrap_or_default() / 1024,
        }
    }
}

impl Versions {
    pub(crate) fn read(site: Option<&Site>, pgmoat: Option<&Path>) -> Self {
        let version = |program: &Path| {
            let text = command_output(program, &["--version"])?;
            text.lines().next().map(str::to_owned)
        };
        Self {
            pgmoat: pgmoat.and_then(version),
            postgresql: site.and_then(|site| site.server().version()),
            pgbouncer: site.and_then(Site::pgbouncer).and_then(version),
            rustc: version(Path::new("rustc")),
        }
    }
}

impl Commit {
    /// None outside of a checkout.
    pub(crate) fn read() -> Option<Self> {
        let id = command_output("git", &["rev-parse", "HEAD"])?;
        let modified = command_output("git", &["status", "--porcelain", "--untracked-files=no"])
            .is_none_or(|text| !text.is_empty());
        Some(Self { id, modified })
    }
}

/// The load averages of 1, 5 and 15 minutes.
pub(crate) fn load_average() -> [f64; 3] {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut numbers = text.split_whitespace().map(|word| word.parse().unwrap_or_default());
    [(); 3].map(|()| numbers.next().unwrap_or_default())
}

/// The first value of a `name: value` line.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let value = |line: &str| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    };
    text.lines().find_map(value)
}
