//! Whether the audit log can be written, without writing to it: a proxy may hold it.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process;

use super::report::Report;
use crate::config::Audit;

/// Looks at the file and at its folder.
pub(super) fn look(audit: &Audit, report: &mut Report) {
    if let Err(problem) = audit.options() {
        report.problems("audit", vec![problem]);
    }
    let path = &audit.path;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let probe = folder.join(format!(".pgmoat-doctor-{}", process::id()));
    let made = OpenOptions::new().write(true).create_new(true).open(&probe);
    // FILE.head is made anew beside the file, so the folder must take files in any case.
    if let Err(error) = made.and_then(|_| fs::remove_file(&probe)) {
        return report.error("audit", format!("{} takes no file: {error}", folder.display()));
    }
    match OpenOptions::new().append(true).open(path) {
        Ok(_) => report.good("audit", format!("{} can be written", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            report.good("audit", format!("{} can be made", path.display()));
        }
        Err(error) => report.error("audit", format!("{} cannot be written: {error}", path.display())),
    }
}
