//! kill -9 of a process that appends: whatever it was told was taken is there, and the chain is whole.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use pgmoat_audit::{Durability, Log, Outcome};

use crate::fixture::{Folder, child, completion, decision, log_of_child, now, options};

#[test]
fn what_was_taken_survives_a_kill_and_the_log_goes_on() {
    let folder = Folder::new();
    for round in 0..8_u64 {
        let mut process = child("killed::appends_until_it_is_killed", "", &folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test binary starts");
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        // The full stop tells a whole line from one that the kill cut off.
        let told = |line: String| line.strip_prefix("taken ")?.strip_suffix('.')?.parse::<u64>().ok();
        // Some rounds are short, some are not: the kill comes at different moments of a write.
        let enough = usize::try_from(1 + round * 700).unwrap();
        let last = output.by_ref().filter_map(told).nth(enough).expect("the child appends");
        process.kill().unwrap();
        // What it could still say before it died counts as well.
        let last = output.filter_map(told).last().unwrap_or(last);
        process.wait().unwrap();

        let (log, opened) = folder.open(Durability::Os).unwrap();
        assert!(
            opened.after.unwrap().seq >= last,
            "line {last} was taken, and the log ends at {:?}",
            opened.after
        );
        log.close(now()).unwrap();
        let lines = folder.lines();
        assert_eq!(lines[usize::try_from(last).unwrap() - 1]["kind"], "decision");
        let outcome = folder.verify();
        assert!(matches!(&outcome, Outcome::Whole(whole) if whole.unfinished_bytes == 0), "{outcome}");
    }
}

#[test]
#[ignore = "the child of the test above, which kills it"]
fn appends_until_it_is_killed() {
    let Some(path) = log_of_child() else {
        return;
    };
    let (log, _) = Log::open(options(&path, Durability::Os), now()).unwrap();
    let long = "x".repeat(20_000);
    for session in 0.. {
        let text = if session % 10 == 0 { long.as_str() } else { "SELECT 1" };
        let receipt = log.append(now(), &decision(session, text)).unwrap();
        writeln!(std::io::stdout().lock(), "taken {}.", receipt.seq()).unwrap();
        log.append_unawaited(now(), &completion(receipt.seq())).unwrap();
    }
}
