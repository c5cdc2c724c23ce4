//! A log in several files: one chain, whatever moment of a rotation was the last.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pgmoat_audit::{
    Break, Broken, Durability, Expect, Log, Micros, OpenError, Options, Outcome, Rotation, verify_files,
};

use crate::fixture::{Folder, Told, decision, eventually, lines_of, now, options};

#[test]
fn a_file_that_is_long_enough_is_finished_and_the_chain_goes_on_in_the_next() {
    for durability in [Durability::None, Durability::Os, Durability::Batched, Durability::Fsync] {
        let folder = Folder::new();
        let told = Told::default();
        let rotation = Rotation { bytes: Some(20_000), age: None };
        let watched = Options { rotation, watch: told.watch(), ..options(&folder.path(), durability) };
        let (log, _) = Log::open(watched, now()).unwrap();
        let mut taken = Vec::new();
        while folder.files().len() < 4 {
            taken.push(log.append(now(), &decision(1, "SELECT 'rotated'")).unwrap().seq());
        }
        log.close(now()).unwrap();

        let files = folder.files();
        assert_eq!(files.last().unwrap(), &folder.path());
        let mut expected = 1;
        for (at, file) in files.iter().enumerate() {
            let lines = lines_of(file);
            assert_eq!(lines[0]["kind"], "open");
            assert_eq!(lines[0]["resumed"], false);
            for line in &lines {
                assert_eq!(line["seq"], expected, "{}", file.display());
                expected += 1;
            }
            if at + 1 < files.len() {
                let last = lines.last().unwrap();
                assert_eq!(last["kind"], "rotate");
                assert_eq!(last["file"], file.file_name().unwrap().to_str().unwrap());
                assert!(fs::metadata(file).unwrap().len() >= 20_000);
            }
        }
        let all: Vec<u64> = files
            .iter()
            .flat_map(|file| lines_of(file))
            .filter_map(|line| (line["kind"] == "decision").then(|| line["seq"].as_u64().unwrap()))
            .collect();
        assert_eq!(all, taken, "each entry that was taken stands in one file, and no other does");
        let whole = whole(&files);
        assert_eq!((whole.files, whole.before.seq), (files.len(), 0));
        assert!(told.words().iter().filter(|word| *word == "Rotated").count() >= 3, "{}", told.all());
        assert!(!folder.path().with_file_name("audit.jsonl.new").exists());
        // The file in use by itself.
        let outcome = folder.verify();
        assert!(matches!(&outcome, Outcome::Whole(whole) if whole.before.seq > 0), "{outcome}");
        assert!(outcome.to_string().contains("give all files"), "{outcome}");
    }
}

#[test]
fn a_file_that_is_old_enough_is_finished_and_one_without_entries_is_not() {
    let folder = Folder::new();
    let rotation = Rotation { bytes: None, age: Some(Duration::from_secs(86_400)) };
    let open =
        |at| Log::open(Options { rotation, ..options(&folder.path(), Durability::Os) }, Micros(at)).unwrap();
    let (log, _) = open(DAY);
    let _receipt = log.append(Micros(DAY + 1), &decision(1, "SELECT 1")).unwrap();
    drop(log);
    // The file's age is that of its first line, not of the process.
    let (log, opened) = open(DAY + DAY / 2);
    assert!(opened.resumed);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(folder.files().len(), 1);
    let _receipt = log.append(Micros(2 * DAY), &decision(1, "SELECT 1")).unwrap();
    eventually("the file is finished", || folder.files().len() == 2);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(folder.files().len(), 2);
    assert!(
        folder.files()[0].file_name().unwrap().to_str().unwrap().starts_with("audit.1970-01-03T00-00-00.")
    );
    log.close(now()).unwrap();
    whole(&folder.files());
}

#[test]
fn a_missing_or_foreign_or_cut_file_is_found_with_its_line() {
    let folder = rotated();
    let files = folder.files();
    let broken = |files: &[PathBuf]| match verify_files(files, &Expect::default()) {
        Outcome::Broken(broken) => broken,
        other => panic!("not broken: {other}"),
    };
    // Given in any order, and one of them twice.
    let mut shuffled = files.clone();
    shuffled.reverse();
    shuffled.push(files[0].clone());
    whole(&shuffled);

    let gap = broken(&[files[0].clone(), files[2].clone(), files[3].clone()]);
    assert_eq!((gap.file.as_ref(), gap.line), (Some(&files[2]), 1));
    assert!(matches!(gap.what, Break::NotNext { last, before } if before.seq > last.seq), "{gap}");
    let said = gap.to_string();
    assert!(
        said.contains("gap: ") && said.contains("give all files") && said.contains("one more file"),
        "{said}"
    );

    // The first one is not missed, but told.
    let rest = whole(&files[1..]);
    assert_eq!(rest.before.seq, lines_of(&files[0]).last().unwrap()["seq"].as_u64().unwrap());

    // A finished file that lost its last lines.
    let text = fs::read_to_string(&files[1]).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&files[1], lines[..lines.len() - 2].concat()).unwrap();
    let cut = broken(&files);
    assert_eq!((cut.file.as_ref(), cut.line), (Some(&files[2]), 1));
    // An edit in a finished file.
    fs::write(&files[1], text.replacen("SELECT", "select", 1)).unwrap();
    let Broken { file, line, what, .. } = broken(&files);
    assert_eq!((file.as_ref(), line, what), (Some(&files[1]), 2, Break::Edited));
    // A line behind the one that finished it.
    fs::write(&files[1], format!("{text}{}", lines[1])).unwrap();
    let behind = broken(&files);
    assert_eq!(
        (behind.what.clone(), behind.file.as_ref()),
        (Break::AfterRotation, Some(&files[1])),
        "{behind}"
    );
    fs::write(&files[1], format!("{text}torn")).unwrap();
    assert_eq!(broken(&files).what, Break::AfterRotation);
    // A copy of a file with another name is not the same file.
    fs::write(&files[1], &text).unwrap();
    let copy = folder.path().with_file_name("copy");
    fs::copy(&files[1], &copy).unwrap();
    let twice = broken(&[files.clone(), vec![copy]].concat());
    assert!(matches!(twice.what, Break::NotNext { last, before } if before.seq < last.seq), "{twice}");
    whole(&files);
}

#[test]
fn whatever_a_crash_leaves_of_a_rotation_the_log_goes_on_as_one_chain() {
    // Before the `rotate` line: the next file is there, and the log has its second name.
    let folder = Folder::filled(3);
    fs::write(folder.path().with_file_name("audit.jsonl.new"), "{\"v\":1,\"seq\":").unwrap();
    fs::hard_link(folder.path(), folder.path().with_file_name("audit.2025-10-09T08-53-20.6.jsonl")).unwrap();
    go_on(&folder);
    assert_eq!(folder.lines().len(), 8);
    whole(&folder.files());

    // Behind it: with the second name and without, with the next file and without.
    for (named, next) in [(true, true), (true, false), (false, true), (false, false)] {
        let folder = rotated();
        let files = folder.files();
        let finished = &files[2];
        let name = finished.file_name().unwrap().to_owned();
        // As if the last step of that rotation had not been taken.
        fs::remove_file(&files[3]).unwrap();
        let head = lines_of(finished)
            .iter()
            .rev()
            .nth(1)
            .map(|line| format!("{}:{}\n", line["seq"], line["hash"].as_str().unwrap()));
        fs::write(folder.head_path(), head.unwrap()).unwrap();
        fs::rename(finished, folder.path()).unwrap();
        if named {
            fs::hard_link(folder.path(), folder.path().with_file_name(&name)).unwrap();
        }
        if next {
            fs::write(folder.path().with_file_name("audit.jsonl.new"), "{\"v\":1").unwrap();
        }
        go_on(&folder);
        let files = folder.files();
        assert_eq!(files.len(), 4);
        assert_eq!(files[2].file_name().unwrap(), name);
        assert_eq!(lines_of(&files[3])[0]["resumed"], false);
        whole(&files);
    }

    // Another file has the name: nothing is overwritten.
    let folder = rotated();
    let files = folder.files();
    fs::rename(&files[2], folder.path()).unwrap();
    fs::write(&files[2], "something else").unwrap();
    fs::remove_file(folder.head_path()).unwrap();
    let error = folder.open(Durability::Os).unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
    assert_eq!(fs::read_to_string(&files[2]).unwrap(), "something else");
}

#[test]
fn a_log_that_cannot_be_rotated_goes_on_in_its_file_and_says_so_once() {
    let folder = Folder::new();
    let told = Told::default();
    let rotation = Rotation { bytes: Some(1_000), age: None };
    let watched = Options { rotation, watch: told.watch(), ..options(&folder.path(), Durability::Os) };
    let (log, _) = Log::open(watched, now()).unwrap();
    // The next file cannot be made: a folder has its name.
    let obstacle = folder.path().with_file_name("audit.jsonl.new");
    fs::create_dir(&obstacle).unwrap();
    fs::write(obstacle.join("x"), "").unwrap();
    for _ in 0..200 {
        let _receipt = log.append(now(), &decision(1, "SELECT 1")).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(told.words(), ["NotRotating"], "{}", told.all());
    assert!(told.all().contains("audit.jsonl"), "{}", told.all());
    log.close(now()).unwrap();
    assert_eq!(folder.whole().lines, 202);
}

/// Behind the next file's first line: entries that were taken stand there already.
#[test]
fn what_was_entered_in_the_next_file_before_a_crash_stays_in_the_log() {
    let folder = rotated();
    let files = folder.files();
    let (finished, next) = (&files[2], folder.path().with_file_name("audit.jsonl.new"));
    let name = finished.file_name().unwrap().to_owned();
    fs::rename(&files[3], &next).unwrap();
    fs::hard_link(finished, folder.path()).unwrap();
    let taken = lines_of(&next).len();
    go_on(&folder);
    let files = folder.files();
    assert_eq!((files.len(), files[2].file_name()), (4, Some(name.as_os_str())));
    assert_eq!(lines_of(&files[3]).len(), taken + 3, "opened, an entry, closed");
    assert!(!next.exists());
    whole(&files);

    // What does not follow on the log's last line is no part of it.
    for damage in [1, 30, 60] {
        let folder = rotated();
        let files = folder.files();
        let mut text = fs::read(&files[3]).unwrap();
        text[damage] ^= 1;
        fs::write(folder.path().with_file_name("audit.jsonl.new"), text).unwrap();
        fs::remove_file(&files[3]).unwrap();
        fs::hard_link(&files[2], folder.path()).unwrap();
        fs::remove_file(folder.head_path()).unwrap();
        go_on(&folder);
        assert_eq!(lines_of(&folder.path()).len(), 3, "a new file: opened, an entry, closed");
        whole(&folder.files());
    }
}

/// Three finished files and the one in use, closed.
fn rotated() -> Folder {
    let folder = Folder::new();
    let rotation = Rotation { bytes: Some(4_000), age: None };
    let (log, _) = Log::open(Options { rotation, ..options(&folder.path(), Durability::Os) }, now()).unwrap();
    while folder.files().len() < 4 {
        let _receipt = log.append(now(), &decision(1, "SELECT 1")).unwrap();
    }
    log.close(now()).unwrap();
    folder
}

fn go_on(folder: &Folder) {
    let (log, _) = folder.open(Durability::Os).unwrap();
    let _receipt = log.append(now(), &decision(1, "SELECT 'on'")).unwrap();
    log.close(now()).unwrap();
    assert!(!folder.path().with_file_name("audit.jsonl.new").exists() || folder.files().len() == 2);
}

fn whole(files: &[PathBuf]) -> pgmoat_audit::Whole {
    match verify_files(files, &Expect::default()) {
        Outcome::Whole(whole) => whole,
        other => panic!("not whole: {other}"),
    }
}

/// Microseconds.
const DAY: u64 = 86_400_000_000;
