//! A log that somebody has changed afterwards, shown to `pgmoat audit verify`.

use std::fs;
use std::path::{Path, PathBuf};

use pgmoat_tests::{Raw, Stack};

use crate::log_file::{assert_whole, lines, verdict};
use crate::patience::PATIENCE;

#[test]
fn a_changed_log_is_found_with_the_number_of_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let log = a_finished_log(folder.path());
    let text = fs::read_to_string(&log).unwrap();
    let whole: Vec<&str> = text.lines().collect();
    let at =
        whole.iter().position(|line| line.contains("\"verdict\":\"deny\"")).expect("a denial in the log");
    assert!(at > 2 && at + 2 < whole.len(), "line {} of {}", at + 1, whole.len());

    let allowed = whole[at].replace("\"verdict\":\"deny\"", "\"verdict\":\"allow\"");
    let mut edited = whole.clone();
    edited[at] = &allowed;
    let mut dropped = whole.clone();
    dropped.remove(at);
    let mut inserted = whole.clone();
    inserted.insert(at, whole[at - 1]);
    let mut swapped = whole.clone();
    swapped.swap(at, at + 1);
    for (what, changed) in
        [("edited", edited), ("dropped", dropped), ("inserted", inserted), ("swapped", swapped)]
    {
        let copy = folder.path().join(what);
        write(&copy, &changed);
        let (status, said) = verdict(&copy, &[]);
        assert_eq!(status, Some(1), "{what}: {said}");
        assert!(said.contains(&format!("line {}", at + 1)), "{what} at line {}: {said}", at + 1);
    }
}

#[test]
fn a_cut_tail_is_found_with_a_head_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let log = a_finished_log(folder.path());
    let last = lines(&log).pop().unwrap();
    let head = format!("{}:{}", last["seq"], last["hash"].as_str().unwrap());
    let text = fs::read_to_string(&log).unwrap();
    let whole: Vec<&str> = text.lines().collect();
    let cut = folder.path().join("cut");
    write(&cut, &whole[..whole.len() - 2]);

    let (status, said) = verdict(&cut, &[]);
    assert_eq!(status, Some(0), "nothing in the file itself shows it: {said}");
    assert!(said.lines().last().unwrap().contains("not excluded"), "{said}");
    let (status, said) = verdict(&cut, &["--head", &head]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("cut off"), "{said}");
    let (status, said) = verdict(&log, &["--head", &head]);
    assert_eq!(status, Some(0), "{said}");
}

#[test]
fn the_head_beside_the_log_is_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let log = a_finished_log(folder.path());
    let last = lines(&log).pop().unwrap();
    let head = fs::read_to_string(folder.path().join("audit.jsonl.head")).unwrap();
    assert_eq!(head.trim(), format!("{}:{}", last["seq"], last["hash"].as_str().unwrap()));
    assert_eq!(last["kind"], "close");
}

/// The log of a proxy that has let statements through, refused some, and was asked to end.
fn a_finished_log(folder: &Path) -> PathBuf {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for id in [2, 4, 6] {
        raw.query(&format!("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = {id}")).unwrap();
        raw.query(&format!("SELECT id FROM app.orders WHERE id = {id}")).unwrap();
    }
    drop(raw);
    proxied.proxy.terminate().unwrap();
    assert!(proxied.proxy.wait(PATIENCE).expect("SIGTERM ends it").success(), "{}", proxied.proxy.log());
    assert_whole(&proxied.proxy.audit_path());
    let log = folder.join("audit.jsonl");
    fs::copy(proxied.proxy.audit_path(), &log).unwrap();
    fs::copy(proxied.proxy.folder().join("audit.jsonl.head"), folder.join("audit.jsonl.head")).unwrap();
    log
}

fn write(path: &Path, lines: &[&str]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(path, text).unwrap();
}
