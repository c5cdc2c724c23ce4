//! `pgmoat audit verify`.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use pgmoat_audit::{Catalog, Durability, Entry, Head, Key, Log, Options};

use crate::Folder;

/// A log with four lines between its first and its last.
fn log(path: &Path, key: Option<&[u8]>) -> Head {
    let now = SystemTime::now().into();
    let options =
        Options { key: key.map(|key| Key::new(key).unwrap()), ..Options::new(path, Durability::Os) };
    let (log, _) = Log::open(options, now).unwrap();
    for catalog in ["a", "b", "c", "d"] {
        let entry = Catalog { database: "lab", catalog, previous: None, server_version_num: 150_000 };
        let _receipt = log.append(now, &Entry::Catalog(entry)).unwrap();
    }
    log.close(now).unwrap()
}

#[test]
fn a_whole_log_exits_0_and_says_what_is_not_excluded() {
    let folder = Folder::new();
    let head = log(&folder.path("audit.jsonl"), None);
    let ended = folder.pgmoat(&["audit", "verify", "audit.jsonl"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.starts_with("whole: 6 lines"), "{}", ended.stdout);
    assert!(ended.stdout.lines().last().unwrap().starts_with("not excluded: "), "{}", ended.stdout);
    let ended = folder.pgmoat(&["audit", "verify", "audit.jsonl", "--head", &head.to_string()]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(ended.stdout.contains("the given head agrees"), "{}", ended.stdout);
}

#[test]
fn a_broken_log_exits_1_with_the_line() {
    let folder = Folder::new();
    let path = folder.path("audit.jsonl");
    let head = log(&path, None).to_string();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let edited = text.replace("\"catalog\":\"c\"", "\"catalog\":\"x\"");
    let dropped = [&lines[..2], &lines[3..]].concat().join("\n") + "\n";
    let cut = lines[..4].join("\n") + "\n";
    for (text, arguments, expected) in [
        (&edited, &[][..], "broken at line 4: "),
        (&dropped, &[], "broken at line 3: "),
        (&cut, &["--head", &head], "broken at line 5: "),
    ] {
        fs::write(&path, text).unwrap();
        if !arguments.is_empty() {
            fs::remove_file(folder.path("audit.jsonl.head")).unwrap();
        }
        let ended = folder.pgmoat(&[&["audit", "verify", "audit.jsonl"], arguments].concat());
        assert_eq!(ended.code, 1, "{}", ended.stdout);
        assert!(ended.stdout.starts_with(expected), "{}", ended.stdout);
    }
}

#[test]
fn what_cannot_be_read_exits_2() {
    let folder = Folder::new();
    let key = [7; 32];
    log(&folder.path("audit.jsonl"), Some(&key));
    fs::write(folder.path("key"), key).unwrap();
    fs::write(folder.path("other"), [8; 32]).unwrap();
    fs::write(folder.path("short"), [7; 3]).unwrap();
    for (arguments, code) in [
        (&["none.jsonl"][..], 2),
        (&["audit.jsonl"], 2),
        (&["audit.jsonl", "--key-file", "key"], 0),
        (&["audit.jsonl", "--key-file", "other"], 2),
        (&["audit.jsonl", "--key-file", "short"], 2),
        (&["audit.jsonl", "--key-file", "none"], 2),
        (&["audit.jsonl", "--key-file", "key", "--head", "17"], 2),
    ] {
        let ended = folder.pgmoat(&[&["audit", "verify"], arguments].concat());
        assert_eq!(ended.code, code, "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    }
}
