//! What `audit verify` finds, with its line, and what it says that it cannot.

use std::fs;

use pgmoat_audit::{
    Break, Broken, Durability, Expect, Head, HeadSeen, Key, Log, Options, Outcome, Unreadable, verify_file,
};
use serde_json::Value;

use crate::fixture::{Folder, decision, now, options};

#[test]
fn an_edited_line_is_found_with_its_number() {
    let broken = after_edit(|lines| lines[4] = lines[4].replace("SELECT 1", "SELECT 2"));
    assert_eq!((broken.line, broken.what), (5, Break::Edited));
    // With its own hash made anew, the edit shows where the next line follows another one.
    let broken = after_edit(|lines| lines[4] = rehashed(&lines[4].replace("SELECT 1", "SELECT 2")));
    assert_eq!((broken.line, broken.what), (6, Break::Link));
}

#[test]
fn a_dropped_line_is_found_with_its_number() {
    let broken = after_edit(|lines| drop(lines.remove(4)));
    assert_eq!((broken.line, broken.what), (5, Break::Sequence { expected: 5, found: 6 }));
    let broken = after_edit(|lines| drop(lines.remove(0)));
    assert_eq!((broken.line, broken.what), (1, Break::NoOpen));
}

#[test]
fn an_inserted_line_is_found_with_its_number() {
    let broken = after_edit(|lines| lines.insert(4, lines[3].clone()));
    assert_eq!((broken.line, broken.what), (5, Break::Sequence { expected: 5, found: 4 }));
    let broken = after_edit(|lines| {
        let forged = lines[3].replace("\"seq\":4", "\"seq\":5").replace("SELECT 1", "SELECT 2");
        lines.insert(4, rehashed(&forged));
    });
    assert_eq!((broken.line, broken.what), (5, Break::Link));
    let broken = after_edit(|lines| lines.insert(4, String::new()));
    assert!(matches!(broken, Broken { line: 5, what: Break::Malformed(_), .. }), "{broken}");
}

#[test]
fn swapped_lines_are_found_with_their_number() {
    let broken = after_edit(|lines| lines.swap(4, 5));
    assert_eq!((broken.line, broken.what), (5, Break::Sequence { expected: 5, found: 6 }));
    let broken = after_edit(|lines| lines.swap(2, 6));
    assert_eq!(broken.line, 3);
}

#[test]
fn a_file_whose_first_lines_were_dropped_up_to_an_open_line_is_not_whole() {
    let folder = Folder::filled(2);
    drop(folder.open(Durability::Os).unwrap());
    let text = fs::read_to_string(folder.path()).unwrap();
    fs::write(folder.path(), text.split_inclusive('\n').skip(4).collect::<String>()).unwrap();
    assert_eq!(folder.kinds(), ["open"]);
    let Outcome::Broken(broken) = folder.verify() else { panic!("not broken") };
    assert_eq!((broken.line, broken.what), (1, Break::NoOpen));
}

#[test]
fn a_cut_tail_is_found_by_a_head_that_was_kept() {
    let folder = Folder::filled(5);
    let head = folder.whole().last;
    let text = fs::read_to_string(folder.path()).unwrap();
    fs::write(folder.path(), text.split_inclusive('\n').take(4).collect::<String>()).unwrap();

    // By FILE.head, as long as it is there.
    let Outcome::Broken(broken) = folder.verify() else { panic!("not broken") };
    assert!(matches!(broken, Broken { line: 5, what: Break::CutTail { beside: true, .. }, .. }), "{broken}");
    // Who cuts the log can remove FILE.head: then the last line says that nothing excludes it.
    fs::remove_file(folder.head_path()).unwrap();
    let outcome = folder.verify();
    assert_eq!(outcome.exit_code(), 0);
    let text = outcome.to_string();
    assert!(
        text.lines().last().unwrap().starts_with("not excluded: that lines after 4 were cut off"),
        "{text}"
    );
    // By a head kept elsewhere.
    let outcome = verify_file(&folder.path(), &Expect { head: Some(head), key: None });
    assert_eq!(outcome.exit_code(), 1);
    let Outcome::Broken(broken) = outcome else { panic!("not broken") };
    assert!(matches!(broken, Broken { line: 5, what: Break::CutTail { beside: false, .. }, .. }), "{broken}");
    // Nothing but the torn beginning of a first line, or nothing at all, is not whole either.
    for content in ["", "{\"v\":1,\"seq\":1"] {
        fs::write(folder.path(), content).unwrap();
        let Outcome::Broken(broken) = folder.verify() else { panic!("not broken") };
        assert_eq!((broken.line, broken.what), (1, Break::Empty));
    }
}

#[test]
fn a_recomputed_chain_is_found_by_a_head_that_was_kept() {
    let (folder, other) = (Folder::filled(5), Folder::filled(5));
    let (ours, theirs) = (folder.whole().last, other.whole().last);
    assert_ne!(ours, theirs);
    let given = |head| verify_file(&folder.path(), &Expect { head: Some(head), key: None });
    let Outcome::Broken(broken) = given(theirs) else { panic!("not broken") };
    assert!(
        matches!(broken, Broken { line: 7, what: Break::HeadDiffers { beside: false, .. }, .. }),
        "{broken}"
    );
    let Outcome::Whole(whole) = given(ours) else { panic!("not whole") };
    assert_eq!(whole.given, HeadSeen::At(ours));
    let open = whole.not_excluded();
    assert_eq!(open.len(), 1, "{open:?}");

    // An older head covers the lines up to it, and the text says which.
    let line: Value = folder.lines()[3].clone();
    let older: Head = format!("4:{}", line["hash"].as_str().unwrap()).parse().unwrap();
    let Outcome::Whole(whole) = given(older) else { panic!("not whole") };
    assert!(whole.not_excluded().iter().any(|open| open.contains("lines 5 to 7 were recomputed")), "{whole}");
}

#[test]
fn a_key_finds_a_recomputed_chain() {
    let folder = Folder::new();
    let key = Key::new(&[7; 32]).unwrap();
    let keyed = Options { key: Some(key.clone()), ..options(&folder.path(), Durability::Os) };
    let (log, _) = Log::open(keyed, now()).unwrap();
    for session in 1..=3 {
        let _receipt = log.append(now(), &decision(session, "SELECT 1")).unwrap();
    }
    log.close(now()).unwrap();
    let with = |key: Option<&Key>| verify_file(&folder.path(), &Expect { key, head: None });
    let Outcome::Whole(whole) = with(Some(&key)) else { panic!("not whole") };
    assert!(whole.keyed);
    assert!(whole.not_excluded().iter().all(|open| !open.contains("recomputed")));
    assert!(matches!(with(None), Outcome::Unreadable(Unreadable::NeedsKey)));
    let other = Key::new(&[8; 32]).unwrap();
    assert!(matches!(with(Some(&other)), Outcome::Unreadable(Unreadable::OtherKey { .. })));

    // Recomputed by somebody without the key: from some line on, or from the start as a log that never had
    // one.
    let original = fs::read_to_string(folder.path()).unwrap();
    fs::remove_file(folder.head_path()).unwrap();
    let edited = recomputed(&original.replace("SELECT 1", "SELECT 2"), 3);
    fs::write(folder.path(), edited).unwrap();
    let Outcome::Broken(broken) = with(Some(&key)) else { panic!("not broken") };
    assert_eq!((broken.line, broken.what), (2, Break::Edited));
    let id = folder.lines()[0]["key"].to_string();
    let from_start = recomputed(&original.replace(&id, "null"), 1);
    fs::write(folder.path(), from_start).unwrap();
    assert!(matches!(with(None), Outcome::Whole(_)));
    let Outcome::Broken(broken) = with(Some(&key)) else { panic!("not broken") };
    assert_eq!((broken.line, broken.what), (1, Break::NoKey));
}

#[test]
fn a_log_without_a_key_can_be_recomputed_and_verify_says_so() {
    let folder = Folder::filled(3);
    fs::remove_file(folder.head_path()).unwrap();
    let text = fs::read_to_string(folder.path()).unwrap();
    fs::write(folder.path(), recomputed(&text.replace("SELECT 1", "SELECT 2"), 2)).unwrap();
    let outcome = folder.verify();
    assert_eq!(outcome.exit_code(), 0);
    assert!(
        outcome.to_string().lines().last().unwrap().contains("the whole chain was recomputed"),
        "{outcome}"
    );
}

#[test]
fn what_cannot_be_read_is_neither_whole_nor_broken() {
    let folder = Folder::new();
    let outcome = folder.verify();
    assert!(matches!(outcome, Outcome::Unreadable(Unreadable::Io { .. })), "{outcome}");
    assert_eq!(outcome.exit_code(), 2);
    fs::create_dir(folder.path()).unwrap();
    assert_eq!(folder.verify().exit_code(), 2);
}

#[test]
fn a_line_without_end_is_broken_in_bounded_memory() {
    let folder = Folder::filled(1);
    let file = fs::OpenOptions::new().append(true).open(folder.path()).unwrap();
    // A sparse gigabyte of zeros.
    file.set_len(1 << 30).unwrap();
    let Outcome::Broken(broken) = folder.verify() else { panic!("not broken") };
    assert_eq!((broken.line, broken.what), (4, Break::TooLong));
}

/// The break in a log of seven lines (open, five decisions, close) after an edit.
fn after_edit(edit: impl FnOnce(&mut Vec<String>)) -> Broken {
    let folder = Folder::filled(5);
    let text = fs::read_to_string(folder.path()).unwrap();
    let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    edit(&mut lines);
    fs::write(folder.path(), lines.join("\n") + "\n").unwrap();
    match folder.verify() {
        Outcome::Broken(broken) => broken,
        other => panic!("not broken: {other}"),
    }
}

/// A line with its hash made anew, as anybody can who has no key.
fn rehashed(line: &str) -> String {
    use sha2::Digest as _;
    let (hashed, _) = line.split_once(",\"hash\"").unwrap();
    let hash: String = sha2::Sha256::digest(hashed).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{hashed},\"hash\":\"{hash}\"}}")
}

/// A log whose lines from `from` (1-based) on are linked and hashed anew.
fn recomputed(text: &str, from: usize) -> String {
    let mut out = String::new();
    let mut prev = None;
    for (at, line) in text.lines().enumerate() {
        let line = if at + 1 < from {
            line.to_owned()
        } else {
            let old: Value = serde_json::from_str(line).unwrap();
            let old = old["prev"].as_str().unwrap();
            rehashed(&line.replacen(old, prev.as_deref().unwrap_or(old), 1))
        };
        let value: Value = serde_json::from_str(&line).unwrap();
        prev = Some(value["hash"].as_str().unwrap().to_owned());
        out = out + &line + "\n";
    }
    out
}
