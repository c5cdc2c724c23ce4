//! The disk of the audit log is full: nothing is let through, and everything again once there is room.
//!
//! The fault is the system's own: a limit on the size of files (RLIMIT_FSIZE with SIGXFSZ ignored), which fails writes
//! as a full disk does, in the middle of a line too.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use pgmoat_lab::{Proxy, ProxyConfig};
use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Proxied, Raw, Stack, pgmoat_binary};

use crate::log_file::{assert_whole, of_kind};
use crate::patience::{PATIENCE, eventually};

#[test]
fn a_full_disk_refuses_everything_and_lets_through_again_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut proxied = proxy_that_survives_full_disks(folder.path());
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let mut open = Raw::connect(&proxied.login("acme_app")).unwrap();
    for _ in 0..40 {
        raw.send(&[q(READ)]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }
    open.send(&[q("BEGIN"), q(&insert("early"))]).unwrap();
    open.expect("C Z(T) C Z(T)").unwrap();

    // Room for a part of a line.
    limit_files(&proxied, Some(fs::metadata(proxied.proxy.audit_path()).unwrap().len() + 100));
    for _ in 0..3 {
        let heard = raw.query(READ).unwrap();
        assert_eq!(heard.to_string(), "E(58030) Z(I)", "{}", proxied.proxy.log());
        assert!(heard.error_field(b'M').unwrap().contains("audit"), "{:?}", heard.error_field(b'M'));
    }
    raw.send(&[q(&insert("full"))]).unwrap();
    raw.expect("E(58030) Z(I)").unwrap();
    raw.send(&[p("", &insert("full")), b("", "", &[]), e("", 0), s()]).unwrap();
    raw.expect("E(58030) Z(I)").unwrap();
    raw.send(&[q("SELECT id FROM app.orders")]).unwrap();
    raw.expect("E(58030) Z(I)").unwrap();
    open.send(&[q(&insert("full"))]).unwrap();
    open.expect("E(58030) Z(E)").unwrap();
    let refused = Raw::connect(&proxied.login("acme_app")).unwrap_err().to_string();
    assert!(refused.contains("FATAL") && refused.contains("audit"), "{refused}");
    assert_eq!(notes(&proxied, "full"), "0");

    limit_files(&proxied, None);
    eventually("statements are let through again", || raw.query(READ).unwrap().codes().is_empty());
    open.send(&[q("ROLLBACK"), q(&insert("late"))]).unwrap();
    open.expect("C Z(I) C Z(I)").unwrap();
    assert_eq!((notes(&proxied, "early"), notes(&proxied, "late")), ("0".to_owned(), "1".to_owned()));
    Raw::connect(&proxied.login("globex_app")).unwrap();

    proxied.proxy.terminate().unwrap();
    assert!(proxied.proxy.wait(PATIENCE).expect("SIGTERM ends it").success(), "{}", proxied.proxy.log());
    assert_whole(&proxied.proxy.audit_path());
    let written = of_kind(&proxied.proxy.audit_path(), "decision");
    let full = written.iter().filter(|line| line["statement"] == insert("full").as_str());
    assert_eq!(full.count(), 0, "what was refused for want of room was not entered");
}

/// A proxy whose writes fail where others' would end the process.
fn proxy_that_survives_full_disks(folder: &Path) -> Proxied {
    let script = folder.join("pgmoat");
    let binary = pgmoat_binary().unwrap();
    fs::write(&script, format!("#!/bin/sh\ntrap '' XFSZ\nexec '{}' \"$@\"\n", binary.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let database = Stack::get().database().unwrap();
    let config = ProxyConfig::lab(Stack::get().cluster(), &database);
    Proxied { proxy: Proxy::start(&script, &config).unwrap(), database }
}

/// Bounds the size of every file that the proxy writes, or lifts the bound.
fn limit_files(proxied: &Proxied, bytes: Option<u64>) {
    let soft = bytes.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
    let status = Command::new("prlimit")
        .args(["--pid", &proxied.proxy.pid().unwrap().to_string(), &format!("--fsize={soft}:unlimited")])
        .status()
        .unwrap();
    assert!(status.success());
}

fn notes(proxied: &Proxied, body: &str) -> String {
    let sql = format!("SELECT count(*) FROM app.notes WHERE body = '{body}'");
    Stack::get().cluster().psql(&proxied.database, &sql).unwrap().trim().to_owned()
}

fn insert(body: &str) -> String {
    format!("INSERT INTO app.notes (tenant_id, body) VALUES ('acme', '{body}')")
}

const READ: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
