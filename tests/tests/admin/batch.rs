//! `POST /v1/verify/batch`: in order, streaming, one audit line.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use pgmoat_tests::Http;
use serde_json::json;

use crate::log_file::of_kind;
use crate::patience::{PATIENCE, eventually};
use crate::{ALL, OWN, http, objects, proxied};

#[test]
fn answers_come_in_the_order_of_the_lines() {
    let proxied = proxied("");
    let mut http = http(&proxied);
    let mut lines = String::new();
    for id in 0..3000 {
        // Some cost much more than others.
        let sql = match id % 3 {
            0 => ALL.to_owned(),
            1 => format!("{OWN} AND id IN ({})", vec!["1"; id % 400 + 1].join(",")),
            _ => OWN.to_owned(),
        };
        writeln!(lines, "{}", json!({ "id": id, "sql": sql, "as": "app:acme" })).unwrap();
    }
    let reply = http.batch(&lines).unwrap();
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/x-ndjson")));
    let answers = objects(&reply.body);
    assert_eq!(answers.len(), 3000);
    for (id, answer) in answers.iter().enumerate() {
        assert_eq!((&answer["id"], &answer["allowed"]), (&json!(id), &json!(id % 3 != 0)));
    }
    let lines = of_kind(&proxied.proxy.audit_path(), "verify");
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!(
        (&line["count"], &line["allowed"], &line["denied"]),
        (&json!(3000), &json!(2000), &json!(1000))
    );
    assert_eq!(line["database"], "lab");
    assert_eq!(http.batch("").unwrap().body, b"", "the connection goes on; an empty batch is one");
}

#[test]
fn a_line_that_cannot_be_judged_is_answered_in_its_place() {
    let proxied = proxied("");
    let good = json!({ "id": 1, "sql": OWN, "as": "app:acme" }).to_string();
    let bad = json!({ "id": 4, "sql": OWN, "as": "app:acme", "database": "labor" });
    let lines = format!("{good}\nno json\n\n{bad}\n{{\"sql\":\"\\ud800\"}}\n{good}");
    let answers = objects(&http(&proxied).batch(&lines).unwrap().body);
    assert_eq!(answers.len(), 6, "{answers:?}");
    for (number, answer) in (1..).zip(&answers) {
        let judged = number == 1 || number == 6;
        assert_eq!(answer["allowed"] == true, judged, "{answer}");
        assert_eq!(answer["line"] == number && answer["error"].is_string(), !judged, "{answer}");
    }
    let line = &of_kind(&proxied.proxy.audit_path(), "verify")[0];
    assert_eq!((&line["count"], &line["allowed"], &line["denied"]), (&json!(6), &json!(2), &json!(0)));
}

/// The answer comes before the next line is sent.
#[test]
fn whoever_waits_for_an_answer_gets_it() {
    let proxied = proxied("");
    let mut http = http(&proxied);
    http.begin_batch().unwrap();
    let line = |id: usize| format!("{}\n", json!({ "id": id, "sql": OWN, "as": "app:acme" }));
    http.chunk(line(0).as_bytes()).unwrap();
    assert_eq!(http.reply_head().unwrap().status, 200);
    for id in 0..20 {
        let answer = http.reply_chunk().unwrap().unwrap();
        assert_eq!(objects(&answer), [json!({ "id": id, "allowed": true })]);
        // In two pieces, cut anywhere.
        let next = line(id + 1);
        let (one, other) = next.split_at((id * 7) % (next.len() - 1) + 1);
        http.chunk(one.as_bytes()).unwrap();
        http.chunk(other.as_bytes()).unwrap();
    }
    http.chunk(b"").unwrap();
    assert!(of_kind(&proxied.proxy.audit_path(), "verify").len() <= 1);
    assert_eq!(objects(&http.reply_chunk().unwrap().unwrap()), [json!({ "id": 20, "allowed": true })]);
    assert_eq!(http.reply_chunk().unwrap(), None);
    assert_eq!(of_kind(&proxied.proxy.audit_path(), "verify")[0]["count"], 21);
}

/// Whoever does not read is not read from, and misses nothing when it does.
#[test]
fn a_slow_reader_is_waited_for_in_bounded_memory() {
    let proxied = proxied("batch_bytes: 1000000000, batch_lines: 10000000");
    let mut http = http(&proxied);
    http.begin_batch().unwrap();
    let padding = "x".repeat(4000);
    let chunk: String = (0..100)
        .map(|id| format!("{}\n", json!({ "id": format!("{id}{padding}"), "sql": OWN, "as": "app:acme" })))
        .collect();
    let mut writer = http.tcp().try_clone().unwrap();
    writer.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let framed = [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk.as_bytes(), b"\r\n"].concat();
    let (mut sent, mut rest) = (0_usize, Vec::new());
    // 400 MB, were all of it taken.
    for _ in 0..1000 {
        match write_some(&mut writer, &framed) {
            written if written == framed.len() => sent += 1,
            written => {
                rest = framed[written..].to_vec();
                break;
            }
        }
    }
    assert!(!rest.is_empty(), "all of it was taken, and nobody reads the answers");
    let (done, told) = mpsc::channel();
    thread::spawn(move || {
        writer.set_write_timeout(Some(PATIENCE)).unwrap();
        writer.write_all(&rest).unwrap();
        writer.write_all(b"0\r\n\r\n").unwrap();
        done.send(()).unwrap();
    });
    let reply = http.reply().unwrap();
    told.recv().unwrap();
    let answers = objects(&reply.body);
    assert_eq!(answers.len(), (sent + 1) * 100);
    assert!(answers.iter().all(|answer| answer["allowed"] == true));
}

/// How much was taken before the write timed out.
fn write_some(writer: &mut impl io::Write, bytes: &[u8]) -> usize {
    let mut written = 0;
    while written < bytes.len() {
        match writer.write(&bytes[written..]) {
            Ok(count) => written += count,
            Err(_) => break,
        }
    }
    written
}

#[test]
fn a_client_that_leaves_in_the_middle_is_entered_and_frees_its_place() {
    let proxied = proxied("requests: 1");
    let mut http = http(&proxied);
    http.begin_batch().unwrap();
    http.chunk(format!("{}\n", json!({ "sql": OWN, "as": "app:acme" })).as_bytes()).unwrap();
    assert_eq!(http.reply_head().unwrap().status, 200);
    assert!(http.reply_chunk().unwrap().is_some());
    drop(http);
    let log = proxied.proxy.audit_path();
    eventually("it is entered", || of_kind(&log, "verify").first().is_some_and(|line| line["count"] == 1));
    let begun = Instant::now();
    eventually("its place is free", || {
        crate::http(&proxied).verify(&json!({ "sql": OWN, "as": "app:acme" }).to_string()).unwrap().status
            == 200
    });
    assert!(begun.elapsed() < PATIENCE);
}

/// What is judged is entered, and what is not entered is not judged: each verdict is a look into the verdicts by shape.
#[test]
fn nothing_is_judged_for_a_client_that_has_left() {
    let proxied = proxied("");
    let mut watch = http(&proxied);
    for round in 0..5 {
        let before = lookups(&mut watch);
        let entered = of_kind(&proxied.proxy.audit_path(), "verify").len();
        let mut http = http(&proxied);
        http.begin_batch().unwrap();
        let mut lines = String::new();
        for line in 0..2000 {
            // Each is another shape, and costs some hundred microseconds.
            let columns = vec!["id"; line % 100 + 1].join(&format!(" AS c{round}_{line}, "));
            let sql = format!("SELECT {columns} FROM app.orders WHERE tenant_id = 'acme'");
            writeln!(lines, "{}", json!({ "sql": sql, "as": "app:acme" })).unwrap();
        }
        http.chunk(lines.as_bytes()).unwrap();
        assert_eq!(http.reply_head().unwrap().status, 200);
        drop(http);
        let log = proxied.proxy.audit_path();
        eventually("it is entered", || of_kind(&log, "verify").len() > entered);
        let judged = lookups(&mut watch) - before;
        let line = of_kind(&log, "verify").pop().unwrap();
        assert_eq!(line["count"].as_u64(), Some(judged), "nothing is judged after that");
    }
}

/// Verdicts that were asked for, kept or not.
fn lookups(http: &mut Http) -> u64 {
    let figures = http.get("/metrics").unwrap().text();
    let lines = figures.lines().filter(|line| line.starts_with("pgmoat_verdict_cache_lookups_total"));
    lines.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
}

/// A reload in the middle is for the next request.
#[test]
fn a_batch_is_answered_by_one_policy() {
    let mut proxied = proxied("");
    let ask = json!({ "sql": ALL, "as": "app:acme" }).to_string();
    let mut watch = http(&proxied);
    let version = |reply: &[u8]| objects(reply)[0]["policy_version"].as_u64().unwrap();
    assert_eq!(version(&watch.verify(&ask).unwrap().body), 1);
    let mut http = http(&proxied);
    http.begin_batch().unwrap();
    http.chunk(format!("{ask}\n").as_bytes()).unwrap();
    assert_eq!(http.reply_head().unwrap().status, 200);
    assert_eq!(version(&http.reply_chunk().unwrap().unwrap()), 1);

    let file = proxied.proxy.config_path().with_file_name("policy.yaml");
    let policy = fs::read_to_string(&file).unwrap();
    fs::write(&file, policy.replacen("version: 1", "version: 2", 1)).unwrap();
    proxied.proxy.hang_up().unwrap();
    eventually("the next one is in force", || version(&watch.verify(&ask).unwrap().body) == 2);

    http.chunk(format!("{ask}\n").as_bytes()).unwrap();
    assert_eq!(version(&http.reply_chunk().unwrap().unwrap()), 1, "by the one that it was begun with");
    http.chunk(b"").unwrap();
    assert_eq!(http.reply_chunk().unwrap(), None);
    let log = proxied.proxy.audit_path();
    let line = of_kind(&log, "verify").into_iter().find(|line| line["count"] == 2).unwrap();
    assert_eq!(line["policy"], 1, "{line}");
}

/// Sessions have threads of their own: what a batch costs is not taken from theirs.
#[test]
fn a_batch_is_judged_by_other_threads_than_those_of_sessions() {
    let proxied = proxied("");
    let pid = proxied.proxy.pid().unwrap();
    let mut lines = String::new();
    for line in 0..2000 {
        let sql = format!("SELECT id AS c{line} FROM app.orders WHERE tenant_id = 'acme'");
        writeln!(lines, "{}", json!({ "sql": sql, "as": "app:acme" })).unwrap();
    }
    let (sessions, http_before) = (run_ns(pid, "pgmoat"), run_ns(pid, "pgmoat-http"));
    let answers = objects(&http(&proxied).batch(&lines).unwrap().body);
    assert_eq!(answers.len(), 2000);
    let sessions = run_ns(pid, "pgmoat") - sessions;
    let http = run_ns(pid, "pgmoat-http") - http_before;
    assert!(http > 4 * sessions, "{http} ns by HTTP's, {sessions} ns by theirs");
}

/// For how long threads of a name have run (proc(5): the first figure of schedstat), those that have ended left out.
fn run_ns(pid: u32, name: &str) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let threads = threads.map(|thread| thread.unwrap().path());
    let named = threads
        .filter(|thread| fs::read_to_string(thread.join("comm")).is_ok_and(|comm| comm.trim_end() == name));
    let figures = named.filter_map(|thread| fs::read_to_string(thread.join("schedstat")).ok());
    figures.map(|figures| figures.split(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}
