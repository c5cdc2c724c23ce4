//! The file is taken away, or changed, while the log is written: what was taken stands in a file that has a name, and
//! nothing is taken that does not.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use pgmoat_audit::{AppendError, Durability, Expect, Fault, Log, Options, Outcome, verify_files};

use crate::fixture::{Folder, Told, completion, decision, eventually, lines_of, now, options};

#[test]
fn nothing_is_taken_into_a_file_that_was_removed_and_a_new_one_goes_on_with_the_chain() {
    with_each_durability(|folder, log, told| {
        let before = log.append(now(), &decision(1, "SELECT 'before'")).unwrap().seq();
        fs::remove_file(folder.path()).unwrap();
        // At once, or in the second try: what was written into the removed file was not taken.
        let after = match log.append(now(), &decision(1, "SELECT 'after'")) {
            Ok(receipt) => receipt.seq(),
            Err(AppendError::Write { fault: Fault::Removed, .. }) => {
                log.append(now(), &decision(1, "SELECT 'after'")).unwrap().seq()
            }
            Err(error) => panic!("{error}"),
        };
        assert_eq!(after, before + 2);
        log.close(now()).unwrap();
        assert_eq!(folder.kinds(), ["open", "decision", "close"]);
        assert_eq!(folder.whole().before.seq, before);
        assert!(told.words().contains(&"BegunAnew".to_owned()), "{}", told.all());
    });
}

#[test]
fn a_file_that_was_moved_away_is_followed_by_a_new_one_and_no_entry_is_lost() {
    with_each_durability(|folder, log, told| {
        let mut taken = vec![log.append(now(), &decision(1, "SELECT 1")).unwrap().seq()];
        let moved = folder.path().with_file_name("moved.jsonl");
        fs::rename(folder.path(), &moved).unwrap();
        log.append_unawaited(now(), &completion(2)).unwrap();
        eventually("a new file is begun", || {
            taken.push(log.append(now(), &decision(1, "SELECT 1")).unwrap().seq());
            folder.path().exists()
        });
        log.close(now()).unwrap();
        let found: Vec<u64> = [moved.as_path(), &folder.path()]
            .iter()
            .flat_map(|file| lines_of(file))
            .filter_map(|line| (line["kind"] == "decision").then(|| line["seq"].as_u64().unwrap()))
            .collect();
        assert_eq!(found, taken);
        assert_whole(&[&moved, &folder.path()]);
        assert_eq!(told.words(), ["BegunAnew"], "{}", told.all());
    });
}

#[test]
fn an_empty_file_in_its_place_is_taken_and_another_one_never() {
    with_each_durability(|folder, log, told| {
        let moved = folder.path().with_file_name("moved.jsonl");
        fs::rename(folder.path(), &moved).unwrap();
        fs::write(folder.path(), "something else\n").unwrap();
        let mut refused = None;
        eventually("entries are refused", || {
            refused = log.append(now(), &decision(1, "SELECT 1")).err();
            refused.is_some()
        });
        let refused = refused.unwrap();
        assert!(matches!(refused, AppendError::Write { fault: Fault::Replaced, .. }), "{refused}");
        assert!(refused.to_string().contains("another file has its name"), "{refused}");
        assert_eq!(fs::read_to_string(folder.path()).unwrap(), "something else\n");
        // As a rotation by other tools leaves it.
        fs::write(folder.path(), "").unwrap();
        let _receipt = log.append(now(), &decision(1, "SELECT 2")).unwrap();
        log.close(now()).unwrap();
        assert_whole(&[&moved, &folder.path()]);
        assert_eq!(told.words(), ["Failing", "BegunAnew", "Taking"], "{}", told.all());
    });
}

#[test]
fn nothing_is_taken_into_a_file_that_somebody_else_has_changed_until_it_is_moved_away() {
    let changes: [fn(&Path); 3] = [
        |path| fs::write(path, "").unwrap(),
        |path| {
            let file = OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(fs::metadata(path).unwrap().len() - 10).unwrap();
        },
        |path| OpenOptions::new().append(true).open(path).unwrap().write_all(b"forged\n").unwrap(),
    ];
    for change in changes {
        with_each_durability(|folder, log, told| {
            let before = log.append(now(), &decision(1, "SELECT 'before'")).unwrap().seq();
            change(&folder.path());
            for _ in 0..3 {
                let error = log.append(now(), &decision(1, "SELECT 'refused'")).unwrap_err();
                assert!(matches!(error, AppendError::Write { fault: Fault::Changed, .. }), "{error}");
            }
            let kept = folder.path().with_file_name("evidence");
            fs::rename(folder.path(), &kept).unwrap();
            assert_eq!(log.append(now(), &decision(1, "SELECT 'after'")).unwrap().seq(), before + 2);
            log.close(now()).unwrap();
            let text = fs::read_to_string(folder.path()).unwrap();
            assert_eq!(text.matches("SELECT 'refused'").count(), 0);
            assert_eq!(folder.whole().before.seq, before);
            assert_eq!(told.words(), ["Failing", "BegunAnew", "Taking"], "{}", told.all());
        });
    }
}

#[test]
fn a_head_file_that_was_removed_is_made_anew() {
    let folder = Folder::new();
    let (log, _) = folder.open(Durability::Batched).unwrap();
    fs::remove_file(folder.head_path()).unwrap();
    let _receipt = log.append(now(), &decision(1, "SELECT 1")).unwrap();
    eventually("the head is written", || {
        fs::read_to_string(folder.head_path()).is_ok_and(|text| text == format!("{}\n", log.head()))
    });
}

#[test]
fn a_head_that_cannot_be_written_is_told_once_and_written_again_by_itself() {
    let folder = Folder::new();
    let told = Told::default();
    let watched = Options { watch: told.watch(), ..options(&folder.path(), Durability::Batched) };
    let (log, _) = Log::open(watched, now()).unwrap();
    fs::remove_file(folder.head_path()).unwrap();
    fs::create_dir(folder.head_path()).unwrap();
    for _ in 0..3 {
        let _receipt = log.append(now(), &decision(1, "SELECT 1")).unwrap();
        eventually("it is told", || told.words() == ["HeadLags"]);
    }
    fs::remove_dir(folder.head_path()).unwrap();
    eventually("it is told", || told.words() == ["HeadLags", "HeadFollows"]);
    assert_eq!(fs::read_to_string(folder.head_path()).unwrap(), format!("{}\n", log.head()));
}

fn with_each_durability(test: impl Fn(&Folder, &Log, &Told)) {
    for durability in [Durability::Os, Durability::Batched, Durability::Fsync] {
        let folder = Folder::new();
        let told = Told::default();
        let watched = Options { watch: told.watch(), ..options(&folder.path(), durability) };
        let (log, _) = Log::open(watched, now()).unwrap();
        test(&folder, &log, &told);
    }
}

fn assert_whole(files: &[&Path]) {
    let files: Vec<_> = files.iter().map(|file| file.to_path_buf()).collect();
    let outcome = verify_files(&files, &Expect::default());
    assert!(matches!(outcome, Outcome::Whole(_)), "{outcome}");
}
