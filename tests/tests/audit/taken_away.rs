//! The log is taken away from a running proxy: removed, moved, cut, replaced. Whatever runs afterwards is in a file that
//! has a name, or nothing runs.

use std::fs;
use std::path::Path;

use pgmoat_tests::front::q;
use pgmoat_tests::{Proxied, Raw, Stack};

use crate::log_file::{lines, of_kind, verdict};
use crate::patience::eventually;
use crate::proxy::{READ, bodies, end, files, insert, told, verify_all};

#[test]
fn after_the_log_was_removed_a_new_one_goes_on_with_the_chain() {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.query(&insert("gone 1")).unwrap();
    let log = proxied.proxy.audit_path();
    fs::remove_file(&log).unwrap();
    let mut refused = 0;
    for at in 2..20 {
        refused += raw.query(&insert(&format!("gone {at}"))).unwrap().codes().len();
    }
    assert!(refused <= 1, "{refused} refusals");
    assert!(told(&proxied, "a new file goes on with its chain") == 1, "{}", proxied.proxy.log());
    end(&mut proxied);
    // Whatever ran after the removal is in the new file; what it follows is told.
    for body in bodies(&proxied, "gone %").iter().filter(|body| *body != "gone 1") {
        assert!(
            of_kind(&log, "decision").iter().any(|line| line["statement"] == insert(body).as_str()),
            "{body}"
        );
    }
    assert!(verdict(&log, &[]).1.contains("the last line of an earlier file"));
}

/// As logrotate does it, with `create` and without.
#[test]
fn after_the_log_was_moved_both_files_are_one_chain_without_a_gap() {
    for create in [false, true] {
        let mut proxied = Stack::get().proxy().unwrap();
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        let log = proxied.proxy.audit_path();
        let moved = log.with_file_name("audit.moved.jsonl");
        raw.query(&insert("moved 0")).unwrap();
        fs::rename(&log, &moved).unwrap();
        if create {
            fs::write(&log, "").unwrap();
        }
        let mut at = 0;
        eventually("a new file is begun", || {
            at += 1;
            assert!(
                raw.query(&insert(&format!("moved {at}"))).unwrap().codes().is_empty(),
                "nothing is refused"
            );
            fs::metadata(&log).is_ok_and(|log| log.len() > 0)
        });
        end(&mut proxied);
        let (status, said) = verify_all(&files(proxied.proxy.folder()));
        assert_eq!(status, Some(0), "{said}");
        assert!(said.contains("in 2 files"), "{said}");
        let entered = [lines(&moved), lines(&log)].concat();
        for body in bodies(&proxied, "moved %") {
            assert!(entered.iter().any(|line| line["statement"] == insert(&body).as_str()), "{body}");
        }
    }
}

#[test]
fn while_the_log_is_cut_or_forged_or_replaced_nothing_runs() {
    let changes: [Change; 4] = [
        ("cut", |log| {
            let file = fs::OpenOptions::new().write(true).open(log).unwrap();
            file.set_len(fs::metadata(log).unwrap().len() / 2).unwrap();
        }),
        ("emptied", |log| fs::write(log, "").unwrap()),
        ("forged", |log| {
            let line = fs::read_to_string(log).unwrap().lines().last().unwrap().to_owned();
            fs::write(log, fs::read_to_string(log).unwrap() + &line + "\n").unwrap();
        }),
        ("replaced", |log| {
            let other = log.with_file_name("other");
            fs::write(&other, "another file\n").unwrap();
            fs::rename(other, log).unwrap();
        }),
    ];
    for (what, change) in changes {
        let mut proxied = Stack::get().proxy().unwrap();
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        raw.query(&insert("before")).unwrap();
        let log = proxied.proxy.audit_path();
        change(&log);
        for _ in 0..3 {
            let heard = raw.query(&insert("tampered")).unwrap();
            assert_eq!(heard.to_string(), "E(58030) Z(I)", "{what}");
        }
        assert_eq!(bodies(&proxied, "tampered"), Vec::<String>::new(), "{what}");
        assert_eq!(
            told(&proxied, "every statement and login is refused"),
            1,
            "{what}: {}",
            proxied.proxy.log()
        );
        // The operator keeps what is there, and that is all there is to do.
        fs::rename(&log, log.with_file_name("evidence")).unwrap();
        eventually("statements are let through again", || raw.query(READ).unwrap().codes().is_empty());
        raw.send(&[q(&insert("after"))]).unwrap();
        raw.expect("C Z(I)").unwrap();
        end(&mut proxied);
        assert_eq!(bodies(&proxied, "after"), ["after"]);
    }
}

#[test]
fn a_head_file_that_was_removed_is_there_again() {
    let mut proxied: Proxied = Stack::get().proxy().unwrap();
    let head = proxied.proxy.folder().join("audit.jsonl.head");
    fs::remove_file(&head).unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.query(READ).unwrap();
    eventually("the head is written", || head.exists());
    end(&mut proxied);
}

/// What somebody does to the file.
type Change = (&'static str, fn(&Path));
