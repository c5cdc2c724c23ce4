//! Finished files and the one in use, under load and under kills: one chain, and all that ran is in it.

use std::collections::HashSet;
use std::fs;
use std::thread::{self, sleep};
use std::time::Duration;

use pgmoat_lab::ProxyConfig;
use pgmoat_tests::front::q;
use pgmoat_tests::{Login, Raw, Stack, length};

use crate::faults::Faults;
use crate::log_file::{lines, verdict};
use crate::patience::eventually;
use crate::proxy::{READ, bodies, end, files, insert, verify_all};

#[test]
fn a_log_in_many_files_is_one_chain_whenever_the_proxy_is_killed() {
    let mut proxied = Stack::get()
        .proxy_with(|config| {
            config.audit =
                "path: audit.jsonl, durability: os, rotate_bytes: 65536, sync_interval_ms: 2".to_owned();
        })
        .unwrap();
    for round in 0..length(5, 40) {
        thread::scope(|scope| {
            for client in 0..4 {
                let login = proxied.login("acme_app");
                scope.spawn(move || load(&login, round, client));
            }
            sleep(Duration::from_millis(300 + 41 * (round % 7)));
            proxied.proxy.kill9();
        });
        // Before the start: a file that is due is finished by it, between a look at the folder and the next.
        let (status, said) = verify_all(&files(proxied.proxy.folder()));
        assert_eq!(status, Some(0), "{said}");
        proxied.proxy.start_again().unwrap();
    }
    let files_then = files(proxied.proxy.folder()).len();
    assert!(files_then > 3, "{files_then} files");
    end(&mut proxied);
    let files = files(proxied.proxy.folder());
    let entered: HashSet<String> = files
        .iter()
        .flat_map(|file| lines(file))
        .filter_map(|line| Some(line["statement"].as_str()?.to_owned()))
        .collect();
    let ran = bodies(&proxied, "rotated %");
    println!("{} files, {} rows", files.len(), ran.len());
    assert!(ran.len() > 100);
    for body in ran {
        assert!(entered.contains(&insert(&body)), "{body} ran and was not entered");
    }

    // What is missing is told with file, line and numbers.
    let (_, whole) = verify_all(&files);
    assert!(whole.contains(&format!("in {} files", files.len())), "{whole}");
    let gap = [&files[..1], &files[2..]].concat();
    let (status, said) = verify_all(&gap);
    assert_eq!(status, Some(1), "{said}");
    let begins = lines(&files[2])[0]["seq"].as_u64().unwrap();
    let ends = lines(&files[0]).last().unwrap()["seq"].as_u64().unwrap();
    let expected =
        format!("broken at {}:1: gap: it goes on after sequence number {}", files[2].display(), begins - 1);
    assert!(said.starts_with(&expected), "{said}");
    assert!(said.contains(&format!("lines {} to {} are missing", ends + 1, begins - 1)), "{said}");
    assert!(said.contains("what to do: "), "{said}");
    let text = fs::read_to_string(&files[1]).unwrap();
    fs::write(&files[1], text.replacen("rotated", "ROTATED", 1)).unwrap();
    let line = text.lines().position(|line| line.contains("rotated")).unwrap() + 1;
    let (status, said) = verify_all(&files);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.starts_with(&format!("broken at {}:{line}: edited", files[1].display())), "{said}");
}

/// No entry waits for the disk while a file is finished: with every sync of the rotation held back, the statements of
/// others go on, first into the file that is to be finished, then into the one that follows. Nor is one of them lost
/// where that moment is the proxy's last.
#[test]
fn statements_go_on_while_a_rotation_waits_for_its_disk() {
    for durability in ["none", "os"] {
        for held in ["fsync_new block", "fdatasync_new block"] {
            let faults = Faults::none();
            let mut proxied = faults.proxy(|config| {
                config.audit = format!(
                    "path: audit.jsonl, durability: {durability}, rotate_bytes: 65536, sync_interval_ms: 2"
                );
            });
            faults.are(held);
            let next = proxied.proxy.folder().join("audit.jsonl.new");
            let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
            let mut statements = 0;
            let mut run = |count: u32| {
                for _ in 0..count {
                    raw.send(&[q(&insert(&format!("turn {statements}")))]).unwrap();
                    raw.expect("C Z(I)").unwrap();
                    statements += 1;
                }
            };
            eventually("the rotation waits", || {
                run(20);
                faults.blocked() > 0
            });
            // Many more than a queue may hold, and other sessions as well.
            run(400);
            Raw::connect(&proxied.login("globex_app")).unwrap().query("SELECT 1").unwrap();
            if held.starts_with("fdatasync") && durability != "none" {
                let behind = fs::read_to_string(&next).unwrap();
                assert!(behind.lines().count() > 400, "they are in the next file");
                proxied.proxy.kill9();
                faults.are_over();
                let left = [files(proxied.proxy.folder()), vec![next]].concat();
                let (status, said) = verify_all(&left);
                assert_eq!(status, Some(0), "{said}");
                proxied.proxy.start_again().unwrap();
            } else {
                faults.are_over();
                eventually("the file is finished", || {
                    files(proxied.proxy.folder()).len() >= 2 && !next.exists()
                });
            }
            end(&mut proxied);
            let files = files(proxied.proxy.folder());
            let (status, said) = verify_all(&files);
            assert_eq!(status, Some(0), "{durability}, {held}: {said}");
            let entered: HashSet<String> = files
                .iter()
                .flat_map(|file| lines(file))
                .filter_map(|line| Some(line["statement"].as_str()?.to_owned()))
                .collect();
            let ran = bodies(&proxied, "turn %");
            assert_eq!(ran.len(), statements, "{durability}, {held}");
            assert!(ran.iter().all(|body| entered.contains(&insert(body))), "{durability}, {held}");
        }
    }
}

#[test]
fn a_file_of_an_age_is_finished_with_the_next_entry() {
    let mut proxied = Stack::get()
        .proxy_with(|config: &mut ProxyConfig| {
            config.audit = "path: audit.jsonl, rotate_age_ms: 1000".to_owned();
        })
        .unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    eventually("two files are finished", || {
        raw.query(READ).unwrap();
        files(proxied.proxy.folder()).len() >= 3
    });
    drop(raw);
    end(&mut proxied);
    let files = files(proxied.proxy.folder());
    let (status, said) = verify_all(&files);
    assert_eq!(status, Some(0), "{said}");
    // One by one each is whole in itself, and says what it follows.
    for (at, file) in files.iter().enumerate() {
        let (status, said) = verdict(file, &[]);
        assert_eq!(status, Some(0), "{said}");
        assert_eq!(said.contains("the last line of an earlier file"), at > 0, "{said}");
        assert_eq!(said.contains("another file goes on after it"), at + 1 < files.len(), "{said}");
    }
}

fn load(login: &Login<'_>, round: u64, client: u64) {
    let Ok(mut raw) = Raw::connect(login) else { return };
    for number in 0.. {
        match raw.query(&insert(&format!("rotated {round} {client} {number}"))) {
            Ok(heard) if !heard.closed => {}
            _ => return,
        }
    }
}
