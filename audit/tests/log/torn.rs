//! A last line that a crash tore.

use std::fs;
use std::io::Write;

use pgmoat_audit::{Durability, Outcome};

use crate::fixture::{Folder, decision, now};

#[test]
fn a_torn_last_line_is_moved_away_and_named_wherever_it_was_torn() {
    let original = Folder::filled(2);
    let text = fs::read(original.path()).unwrap();
    let last_start = text[..text.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    // Without the newline, after one byte, and at some places in between.
    for end in (last_start + 1..text.len()).step_by(37).chain([text.len() - 1]) {
        let folder = Folder::new();
        fs::write(folder.path(), &text[..end]).unwrap();
        let torn = u64::try_from(end - last_start).unwrap();
        assert_eq!(folder.whole().unfinished_bytes, torn);

        let (log, opened) = folder.open(Durability::Os).unwrap();
        assert_eq!(opened.torn_bytes, torn);
        let _receipt = log.append(now(), &decision(9, "SELECT 9")).unwrap();
        log.close(now()).unwrap();
        assert_eq!(
            folder.kinds(),
            ["open", "decision", "decision", "open", "recovered", "decision", "close"]
        );
        assert_eq!(folder.lines()[4]["bytes"], torn);
        assert_eq!(fs::read(folder.torn_path()).unwrap(), [&text[last_start..end], b"\n"].concat());

        let whole = folder.whole();
        assert_eq!(
            (whole.recoveries.count, whole.recoveries.last_line, whole.recoveries.last_bytes),
            (1, 5, torn)
        );
        let outcome = Outcome::Whole(whole);
        assert_eq!(outcome.exit_code(), 0);
        assert!(outcome.to_string().contains("last at line 5"), "{outcome}");
    }
}

#[test]
fn a_torn_first_line_begins_the_file_anew() {
    let folder = Folder::new();
    for torn in ["{", "{\"v\":1,\"seq\":1,\"prev\":\"00"] {
        fs::write(folder.path(), torn).unwrap();
        let (log, opened) = folder.open(Durability::Os).unwrap();
        assert!(!opened.resumed);
        log.close(now()).unwrap();
        assert_eq!(folder.kinds(), ["open", "recovered", "close"]);
        assert_eq!(folder.whole().before.seq, 0);
        fs::remove_file(folder.path()).unwrap();
        fs::remove_file(folder.head_path()).unwrap();
    }
    assert_eq!(fs::read_to_string(folder.torn_path()).unwrap(), "{\n{\"v\":1,\"seq\":1,\"prev\":\"00\n");
}

#[test]
fn zeros_after_a_power_cut_are_a_torn_line() {
    let folder = Folder::filled(1);
    let mut file = fs::OpenOptions::new().append(true).open(folder.path()).unwrap();
    file.write_all(&[0; 4096]).unwrap();
    let (log, opened) = folder.open(Durability::Os).unwrap();
    assert_eq!(opened.torn_bytes, 4096);
    log.close(now()).unwrap();
    assert_eq!(folder.whole().lines, 6);
}
