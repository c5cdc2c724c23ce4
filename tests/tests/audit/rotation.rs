//! Finished files and the one in use, under load and under kills: one chain, and all that ran is in it.

use std::collections::HashSet;
use std::fs;
use std::thread::{self, sleep};
use std::time::Duration;

use pgmoat_lab::ProxyConfig;
use pgmoat_tests::{Login, Raw, Stack, length};

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
