//! Opening again, and everything that stands in the way.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pgmoat_audit::{
    AppendError, Durability, Expect, Head, HeadSeen, Key, Log, OpenError, Options, Outcome, verify_file,
};

use crate::fixture::{Folder, completion, decision, now, options};

#[test]
fn a_log_goes_on_where_it_ended() {
    for durability in [Durability::None, Durability::Os, Durability::Batched, Durability::Fsync] {
        let folder = Folder::new();
        let (log, opened) = folder.open(durability).unwrap();
        assert_eq!((opened.head.seq, opened.after, opened.resumed, opened.torn_bytes), (1, None, false, 0));
        let receipt = log.append(now(), &decision(1, "SELECT 1")).unwrap();
        assert_eq!(receipt.seq(), 2);
        log.append_unawaited(now(), &completion(receipt.seq())).unwrap();
        let closed = log.close(now()).unwrap();
        assert_eq!(log.append(now(), &decision(1, "SELECT 1")), Err(AppendError::Closed));
        assert_eq!(log.append_unawaited(now(), &completion(2)), Err(AppendError::Closed));
        drop(log);
        assert_eq!(fs::read_to_string(folder.head_path()).unwrap(), format!("{closed}\n"));

        let (log, opened) = folder.open(durability).unwrap();
        assert_eq!((opened.head.seq, opened.after, opened.resumed), (5, Some(closed), true));
        let receipt = log.append(now(), &decision(2, "SELECT 2")).unwrap();
        assert_eq!(receipt.seq(), 6);
        // Dropped, not closed: nothing queued is lost, and the head is written.
        drop(log);
        assert_eq!(folder.kinds(), ["open", "decision", "completion", "close", "open", "decision"]);
        let whole = folder.whole();
        assert_eq!((whole.lines, whole.last.seq), (6, 6));
        assert_eq!(whole.beside, HeadSeen::At(whole.last));
        assert!(!folder.torn_path().exists());
    }
}

#[test]
fn entries_that_nobody_waits_for_are_written_within_the_interval() {
    for durability in [Durability::None, Durability::Os, Durability::Batched, Durability::Fsync] {
        let folder = Folder::new();
        let (log, _) = folder.open(durability).unwrap();
        log.append_unawaited(now(), &completion(1)).unwrap();
        let mut waits = 0;
        while log.head().seq < 2 {
            std::thread::sleep(std::time::Duration::from_millis(5));
            waits += 1;
            assert!(waits < 2_000, "not written after 10 s ({durability})");
        }
        assert_eq!(folder.kinds(), ["open", "completion"]);
    }
}

#[test]
fn a_second_writer_is_refused_by_name_until_the_first_is_gone() {
    let folder = Folder::new();
    let (log, _) = folder.open(Durability::Os).unwrap();
    let error = folder.open(Durability::Os).unwrap_err();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    assert!(error.to_string().contains(folder.path().to_str().unwrap()), "{error}");
    drop(log);
    assert!(folder.open(Durability::Os).is_ok());
    assert_eq!(folder.whole().lines, 2);
}

#[test]
fn a_new_file_continues_the_chain_of_one_that_was_moved_away() {
    let folder = Folder::filled(3);
    let old = folder.whole().last;
    let moved = folder.path().with_file_name("old.jsonl");
    fs::rename(folder.path(), &moved).unwrap();
    let (log, opened) = folder.open(Durability::Os).unwrap();
    assert_eq!((opened.after, opened.resumed, opened.head.seq), (Some(old), false, old.seq + 1));
    log.close(now()).unwrap();
    let whole = folder.whole();
    assert_eq!(whole.before, old);
    assert!(Outcome::Whole(whole).to_string().contains("earlier files"));
    // The new file's first line is the old file's head, kept elsewhere.
    let after = folder.lines()[0]["after"].as_str().unwrap().parse::<Head>().unwrap();
    let outcome = verify_file(&moved, &Expect { head: Some(after), key: None });
    assert!(matches!(outcome, Outcome::Whole(_)), "{outcome}");
    // And the old file's head is compared with what the new file says came before.
    let wrong = Head { hash: folder.whole().last.hash, ..old };
    assert!(matches!(
        verify_file(&folder.path(), &Expect { head: Some(wrong), key: None }),
        Outcome::Broken(_)
    ));
}

#[test]
fn a_log_that_was_cut_while_nobody_had_it_open_is_refused_and_left_alone() {
    let folder = Folder::filled(5);
    let text = fs::read_to_string(folder.path()).unwrap();
    let cut: String = text.split_inclusive('\n').take(4).collect();
    fs::write(folder.path(), &cut).unwrap();
    let error = folder.open(Durability::Os).unwrap_err();
    assert!(
        matches!(&error, OpenError::HeadDiffers { head, last, .. } if head.seq == 7 && last.seq == 4),
        "{error}"
    );
    assert_eq!(fs::read_to_string(folder.path()).unwrap(), cut);
}

#[test]
fn what_is_no_log_is_refused_and_left_alone() {
    let folder = Folder::new();
    for content in ["root:x:0:0\n", "binary", "{\"v\":2", "{}\n", "\n"] {
        fs::write(folder.path(), content).unwrap();
        let error = folder.open(Durability::Os).unwrap_err();
        assert!(matches!(error, OpenError::Broken { .. }), "{content:?}: {error}");
        assert_eq!(fs::read_to_string(folder.path()).unwrap(), content);
        assert!(!folder.torn_path().exists());
    }
    let error = Log::open(options(folder.path().parent().unwrap(), Durability::Os), now()).unwrap_err();
    assert!(matches!(error, OpenError::NotAFile { .. }), "{error}");
    let missing = folder.path().join("no/such/folder");
    let error = Log::open(options(&missing, Durability::Os), now()).unwrap_err();
    assert!(matches!(&error, OpenError::Io { path, .. } if *path == missing), "{error}");
}

#[test]
fn an_edited_last_line_and_an_unreadable_head_are_refused() {
    let folder = Folder::filled(2);
    let text = fs::read_to_string(folder.path()).unwrap();
    fs::write(folder.path(), text.replace("\"opened\":1", "\"opened\":2")).unwrap();
    assert!(matches!(folder.open(Durability::Os), Err(OpenError::Broken { .. })));
    fs::write(folder.path(), &text).unwrap();
    fs::write(folder.head_path(), "garbage").unwrap();
    assert!(matches!(folder.open(Durability::Os), Err(OpenError::HeadUnreadable { .. })));
    assert_eq!(folder.verify().exit_code(), 2);
    // A head file that was made but not written says nothing, and nothing is wrong with that.
    fs::write(folder.head_path(), "").unwrap();
    assert!(folder.open(Durability::Os).is_ok());
}

#[test]
fn another_key_does_not_continue_a_log() {
    let folder = Folder::new();
    let key = |byte: u8| Some(Key::new(&[byte; 32]).unwrap());
    let open = |key| Log::open(Options { key, ..options(&folder.path(), Durability::Os) }, now());
    drop(open(key(1)).unwrap());
    assert!(matches!(open(key(2)), Err(OpenError::Broken { .. })));
    assert!(matches!(open(None), Err(OpenError::Broken { .. })));
    drop(open(key(1)).unwrap());
    let text = fs::read_to_string(folder.path()).unwrap();
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn only_the_owner_can_read_the_files() {
    let folder = Folder::filled(1);
    for path in [folder.path(), folder.head_path()] {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
}

#[test]
fn an_entry_longer_than_a_line_is_refused_and_the_next_one_is_taken() {
    let folder = Folder::new();
    let (log, _) = folder.open(Durability::Os).unwrap();
    let long = "\u{1}".repeat(pgmoat_audit::MAX_LINE_BYTES / 6);
    assert!(matches!(log.append(now(), &decision(1, &long)), Err(AppendError::TooLong { .. })));
    let longest = "\u{1}".repeat(pgmoat_audit::MAX_LINE_BYTES / 6 - 200);
    assert_eq!(log.append(now(), &decision(1, &longest)).unwrap().seq(), 2);
    assert_eq!(log.append(now(), &decision(1, "SELECT 1")).unwrap().seq(), 3);
    assert_eq!(folder.whole().lines, 3);
    drop(log);
    // And such a line can be the last one of a log that is opened again.
    let (log, _) = folder.open(Durability::Os).unwrap();
    let _receipt = log.append(now(), &decision(1, &longest)).unwrap();
    drop(log);
    assert!(folder.open(Durability::Os).is_ok());
}
