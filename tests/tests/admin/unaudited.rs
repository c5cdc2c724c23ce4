//! What cannot be entered is not said.
//!
//! The fault is the system's own, as in the tests of a full disk: a limit on the size of files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use pgmoat_lab::{Proxy, ProxyConfig};
use pgmoat_tests::{Http, Stack, pgmoat_binary};
use serde_json::json;

use crate::log_file::of_kind;
use crate::patience::eventually;
use crate::{OWN, UNHURRIED, object, until_ready};

#[test]
fn a_full_disk_answers_nothing_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("pgmoat");
    let binary = pgmoat_binary().unwrap();
    fs::write(&script, format!("#!/bin/sh\ntrap '' XFSZ\nexec '{}' \"$@\"\n", binary.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let database = Stack::get().database().unwrap();
    let mut config = ProxyConfig::lab(Stack::get().cluster(), &database);
    Http::configure(&mut config, UNHURRIED);
    let proxy = Proxy::start(&script, &config).unwrap();
    until_ready(&proxy);
    let mut http = Http::connect(&proxy).unwrap();
    let asked = json!({ "sql": OWN, "as": "app:acme" }).to_string();
    assert_eq!(http.verify(&asked).unwrap().status, 200);
    let mut batch = Http::connect(&proxy).unwrap();
    batch.begin_batch().unwrap();
    batch.chunk(format!("{asked}\n").as_bytes()).unwrap();
    assert_eq!(batch.reply_head().unwrap().status, 200);
    assert!(batch.reply_chunk().unwrap().is_some());

    limit_files(&proxy, &fs::metadata(proxy.audit_path()).unwrap().len().to_string());
    let refused = http.verify(&asked).unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    let told = refused.text();
    assert!(
        object(&refused.body)["error"].as_str().unwrap().contains("audit log") && !told.contains("allowed"),
        "{told}"
    );
    assert_eq!(http.batch(&asked).unwrap().status, 503);
    // A batch that was begun has no end.
    batch.chunk(b"").unwrap();
    assert!(batch.reply_chunk().is_err(), "its line is not in the log");
    let ready = http.get("/readyz").unwrap();
    assert_eq!(
        (ready.status, &object(&ready.body)["reasons"]),
        (503, &json!(["the audit log takes no entry"]))
    );
    assert!(http.get("/metrics").unwrap().text().contains("pgmoat_audit_up 0\n"));

    limit_files(&proxy, "unlimited");
    eventually("it answers again", || http.verify(&asked).unwrap().status == 200);
    assert_eq!(http.get("/readyz").unwrap().status, 200);
    assert_eq!(of_kind(&proxy.audit_path(), "verify").len(), 2, "what was answered, and nothing else");
}

fn limit_files(proxy: &Proxy, soft: &str) {
    let limit = format!("--fsize={soft}:unlimited");
    let status =
        Command::new("prlimit").args(["--pid", &proxy.pid().unwrap().to_string(), &limit]).status().unwrap();
    assert!(status.success());
}
