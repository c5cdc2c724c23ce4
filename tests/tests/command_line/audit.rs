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

/// Each way to break a log: what is wrong, in which file and line, and what to do.
#[test]
fn a_broken_log_exits_1_with_file_and_line_and_what_to_do() {
    let folder = Folder::new();
    let path = folder.path("audit.jsonl");
    let head = log(&path, None).to_string();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat().concat();
    let swapped = [lines[0], lines[2], lines[1], lines[3]].concat();
    let other_head = format!("3:{}", "0".repeat(64));
    let cases = [
        (String::new(), None, 1, "there is no whole line", "look for a copy"),
        ("hello\n".to_owned(), None, 1, "not a line of the log", "compare this line with a copy"),
        (without(0), None, 1, "lines before this one were dropped", "find the file's beginning"),
        (
            text.replace("\"catalog\":\"c\"", "\"catalog\":\"x\""),
            None,
            4,
            "edited",
            "compare this line with a copy",
        ),
        (without(2), None, 3, "a line was dropped here", "compare the lines around this one"),
        (swapped, None, 2, "a line was dropped here, or this one moved up", "compare the lines around"),
        ([&*text, lines[0]].concat(), None, 7, "a line was inserted", "find who can write to the file"),
        (lines[..4].concat(), Some(&head), 5, "its tail was cut off", "only a copy has them"),
        (text.clone(), Some(&other_head), 3, "the log was recomputed", "the one to believe"),
    ];
    for (text, head, line, what, advice) in cases {
        fs::write(&path, text).unwrap();
        let _ = fs::remove_file(folder.path("audit.jsonl.head"));
        let head: Vec<&str> = head.iter().flat_map(|head| ["--head", head.as_str()]).collect();
        let ended = folder.pgmoat(&[&["audit", "verify", "audit.jsonl"], &*head].concat());
        assert_eq!(ended.code, 1, "{}", ended.stdout);
        let said: Vec<&str> = ended.stdout.lines().collect();
        assert!(said[0].starts_with(&format!("broken at audit.jsonl:{line}: ")), "{}", ended.stdout);
        assert!(said[0].contains(what), "{}", ended.stdout);
        let to_do = said.iter().find_map(|line| line.strip_prefix("what to do: "));
        assert!(to_do.is_some_and(|to_do| to_do.contains(advice)), "{}", ended.stdout);
        assert!(said.last().unwrap().starts_with("not checked: "), "{}", ended.stdout);
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
        (&["."], 2),
        (&["audit.jsonl", "none.jsonl", "--key-file", "key"], 2),
        (&[], 2),
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
