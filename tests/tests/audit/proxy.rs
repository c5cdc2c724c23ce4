//! What the tests of the audit log ask of a proxy.

use std::fs;
use std::path::{Path, PathBuf};

use pgmoat_tests::{Proxied, Stack};

use crate::log_file::{assert_whole, lines, verify};
use crate::patience::PATIENCE;

/// Reads one row of the session's own.
pub(crate) const READ: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";

pub(crate) fn insert(body: &str) -> String {
    format!("INSERT INTO app.notes (tenant_id, body) VALUES ('acme', '{body}')")
}

/// How many notes have that text.
pub(crate) fn notes(proxied: &Proxied, body: &str) -> u64 {
    let sql = format!("SELECT count(*) FROM app.notes WHERE body LIKE '{body}'");
    Stack::get().cluster().psql(&proxied.database, &sql).unwrap().trim().parse().unwrap()
}

/// Every note's text.
pub(crate) fn bodies(proxied: &Proxied, like: &str) -> Vec<String> {
    let sql = format!("SELECT body FROM app.notes WHERE body LIKE '{like}'");
    let said = Stack::get().cluster().psql(&proxied.database, &sql).unwrap();
    said.lines().map(ToOwned::to_owned).filter(|line| !line.is_empty()).collect()
}

/// SIGTERM; the log is whole afterwards.
pub(crate) fn end(proxied: &mut Proxied) {
    proxied.proxy.terminate().unwrap();
    assert!(proxied.proxy.wait(PATIENCE).expect("SIGTERM ends it").success(), "{}", proxied.proxy.log());
    assert_whole(&proxied.proxy.audit_path());
}

/// All files of a log in a folder, in the order of their lines.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_log = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("audit.") && name.ends_with(".jsonl")
    };
    let mut files: Vec<PathBuf> = names.filter(is_log).collect();
    files.sort_by_key(|file| lines(file)[0]["seq"].as_u64().unwrap());
    files
}

/// `pgmoat audit verify FILE…`: the exit status, and all that was said.
pub(crate) fn verify_all(files: &[PathBuf]) -> (Option<i32>, String) {
    let more: Vec<&str> = files[1..].iter().map(|file| file.to_str().unwrap()).collect();
    let output = verify(&files[0], &more);
    let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

/// How often pgmoat's own log says something.
pub(crate) fn told(proxied: &Proxied, what: &str) -> usize {
    proxied.proxy.log().matches(what).count()
}
