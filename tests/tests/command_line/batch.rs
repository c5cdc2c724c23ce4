//! `pgmoat verify --batch`: a line in, a line out, in order, streaming.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use pgmoat_tests::length;
use serde_json::{Value, json};

use crate::{Folder, VERIFY};

const BATCH: [&str; 4] = ["--as", "app:acme", "--batch", "--jobs"];

#[test]
fn answers_come_in_the_order_of_the_lines() {
    let folder = Folder::new();
    let mut lines = String::new();
    for id in 0..2000 {
        let sql = if id % 3 == 0 { "SELECT id FROM app.orders" } else { "SELECT 1" };
        writeln!(lines, "{}", json!({ "id": id, "sql": sql })).unwrap();
    }
    for jobs in ["1", "3"] {
        let arguments = [&VERIFY[..], &BATCH, &[jobs]].concat();
        let ended = folder.pgmoat_with(&arguments, &lines, &[]);
        // A denial is an answer: the batch did what it was asked.
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        let mut count = 0;
        for (id, line) in ended.stdout.lines().enumerate() {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert_eq!(answer["id"], id);
            assert_eq!(answer["allowed"], id % 3 != 0, "{line}");
            count += 1;
        }
        assert_eq!(count, 2000);
    }
}

#[test]
fn a_line_that_cannot_be_judged_is_answered_in_its_place() {
    let folder = Folder::new();
    let lines = concat!(
        "{\"id\":1,\"sql\":\"SELECT 1\"}\n",
        "no json\n",
        "\n",
        "{\"id\":4,\"sql\":\"SELECT 1\",\"sqll\":1}\n",
        "{\"id\":5,\"sql\":\"SELECT 1\",\"sql\":\"SELECT 2\"}\n",
        "{\"id\":6,\"sql\":\"SELECT 1\",\"as\":\"nobody\"}\n",
        "{\"id\":7,\"sql\":\"SELECT 1\",\"params\":[1]}\n",
        "{\"id\":8,\"sql\":\"SELECT 1\",\"params\":[{\"hex\":\"0\"}]}\n",
        "{\"id\":9,\"sql\":\"SELECT 1\",\"user\":\"acme_app\"}\n",
        "{\"id\":10,\"sql\":\"SELECT 1\",\"types\":[25]}\n",
        "{\"id\":\"last\",\"sql\":\"SELECT 1\",\"as\":\"ops\"}",
    );
    let ended = folder.pgmoat_with(&[&VERIFY[..], &BATCH, &["2"]].concat(), lines, &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
    let answers: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 11, "{}", ended.stdout);
    assert_eq!(
        (&answers[0], &answers[10]),
        (&json!({"id": 1, "allowed": true}), &json!({"id": "last", "allowed": true}))
    );
    for (number, answer) in (1..).zip(&answers).skip(1).take(9) {
        assert_eq!(answer["line"], number, "{answer}");
        assert!(answer["error"].is_string() && answer.get("allowed").is_none(), "{answer}");
    }
}

#[test]
fn parameters_are_bound_as_text_null_and_binary() {
    let folder = Folder::new();
    let one = "SELECT id FROM app.orders WHERE tenant_id = $1";
    let many = "SELECT id FROM app.orders WHERE tenant_id = ANY ($1)";
    let number = "SELECT id FROM billing.invoices WHERE account_no = $1";
    let cases = [
        (json!({"sql": one, "params": ["acme"]}), Ok(())),
        (json!({"sql": one, "params": [{"hex": "61636d65"}]}), Ok(())),
        (json!({"sql": one, "params": ["globex"]}), Err("tenant_mismatch")),
        (json!({"sql": one, "params": [null]}), Err("tenant_mismatch")),
        (json!({"sql": one, "params": []}), Err("tenant_mismatch")),
        (json!({"sql": one, "params": ["acme"], "types": [25]}), Ok(())),
        (json!({"sql": one, "params": ["acme"], "types": [19]}), Err("type_not_allowed")),
        (json!({"sql": many, "params": ["{acme,acme}"]}), Ok(())),
        (json!({"sql": many, "params": ["{acme,globex}"]}), Err("tenant_mismatch")),
        (json!({"sql": many, "params": ["{acme,NULL}"]}), Err("tenant_mismatch")),
        (json!({"sql": number, "params": ["42"]}), Ok(())),
        (json!({"sql": number, "params": [{"hex": "0000002a"}]}), Ok(())),
        (json!({"sql": number, "params": [{"hex": "0000004d"}]}), Err("tenant_mismatch")),
        (json!({"sql": "SELECT 1; SELECT 2", "params": []}), Err("syntax_error")),
        (json!({"sql": one}), Err("parameter_unbound")),
        (json!({"sql": one, "protocol": "parse"}), Ok(())),
    ];
    let lines: String = cases.iter().map(|(line, _)| format!("{line}\n")).collect();
    let ended = folder.pgmoat_with(&[&VERIFY[..], &BATCH, &["1"]].concat(), &lines, &[]);
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, cases.len()), "{}", ended.stdout);
    for (line, (asked, expected)) in ended.stdout.lines().zip(&cases) {
        let answer: Value = serde_json::from_str(line).unwrap();
        match expected {
            Ok(()) => assert_eq!(answer["allowed"], true, "{asked}: {line}"),
            Err(code) => assert_eq!(answer["code"], *code, "{asked}: {line}"),
        }
    }
}

/// Whoever waits for an answer before asking again gets it.
#[test]
fn each_answer_comes_before_the_next_question() {
    let folder = Folder::new();
    let mut command = folder.command(&[&VERIFY[..], &BATCH, &["3"]].concat());
    let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for id in 0..7 {
        writeln!(input, "{}", json!({"id": id, "sql": "SELECT 1"})).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, format!("{{\"id\":{id},\"allowed\":true}}\n"));
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// `pgmoat verify --batch | head -1`.
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = Folder::new();
    let mut child = folder.command(&[&VERIFY[..], &BATCH, &["2"]].concat()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    writeln!(input, "{}", json!({"id": 1, "sql": "SELECT 1"})).unwrap();
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    let more = format!("{}\n", json!({"id": 2, "sql": "SELECT 1"})).repeat(1000);
    // The proxy may be gone already.
    let _ = input.write_all(more.as_bytes());
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// Lines of each kind, more of them than several reads give.
fn mixed(count: usize) -> String {
    let mut lines = String::new();
    for id in 0..count {
        match id % 25 {
            0 => writeln!(lines, "{}", json!({ "id": id, "sql": "SELECT id FROM app.orders" })),
            1 => writeln!(lines, "{{\"id\":{id},"),
            2 => writeln!(lines),
            n => writeln!(
                lines,
                "{}",
                json!({ "id": id, "sql": format!("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = {}", id * n) })
            ),
        }
        .unwrap();
    }
    lines
}

#[test]
fn any_number_of_jobs_answers_alike_with_and_without_the_cache() {
    let folder = Folder::new();
    let lines = mixed(4000);
    let answers = |more: &[&str]| {
        let ended = folder.pgmoat_with(&[&VERIFY[..], &BATCH, more].concat(), &lines, &[]);
        assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
        ended.stdout
    };
    let one = answers(&["1"]);
    assert_eq!(one.lines().count(), 4000);
    for (number, line) in one.lines().enumerate() {
        let answer: Value = serde_json::from_str(line).unwrap();
        match number % 25 {
            0 => assert_eq!((&answer["id"], &answer["allowed"]), (&json!(number), &json!(false)), "{line}"),
            1 | 2 => assert_eq!(answer["line"], number + 1, "{line}"),
            _ => assert_eq!(line, format!("{{\"id\":{number},\"allowed\":true}}")),
        }
    }
    for jobs in 2..=8 {
        assert!(answers(&[&jobs.to_string()]) == one, "{jobs} jobs");
    }
    assert!(answers(&["2", "--no-cache"]) == one);
}

/// Who reads no answers is written no more than queues hold; who reads on gets them all.
#[test]
fn a_reader_who_pauses_holds_the_batch() {
    let folder = Folder::new();
    let mut child = folder.command(&[&VERIFY[..], &BATCH, &["2"]].concat()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let count = 60_000;
    let text: String = (0..count).fold(String::new(), |mut text, id| {
        writeln!(text, "{}", json!({"id": id, "sql": "SELECT 1", "as": "app:acme"})).unwrap();
        text
    });
    assert!(text.len() > 2 << 20);
    let writer = thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    thread::sleep(Duration::from_millis(500));
    assert!(!writer.is_finished(), "all of the input was taken, and nobody read an answer");
    let mut answers = 0;
    for (id, line) in BufReader::new(output).lines().enumerate() {
        assert_eq!(line.unwrap(), format!("{{\"id\":{id},\"allowed\":true}}"));
        answers += 1;
    }
    writer.join().unwrap();
    assert_eq!((answers, child.wait().unwrap().code()), (count, Some(0)));
}

/// A line over the bound is an answer in its place, and the next one is judged. (What is kept of it: unit tests.)
#[test]
fn a_line_that_is_too_long_is_answered_in_its_place() {
    if length(0, 1) == 0 {
        return;
    }
    let folder = Folder::new();
    let long = format!("{{\"id\":2,\"sql\":\"{}\"}}", "x".repeat(260 << 20));
    let lines = format!("{{\"id\":1,\"sql\":\"SELECT 1\"}}\n{long}\n{{\"id\":3,\"sql\":\"SELECT 1\"}}\n");
    let ended = folder.pgmoat_with(&[&VERIFY[..], &BATCH, &["2"]].concat(), &lines, &[]);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(ended.code, 1);
    assert_eq!((lines[0], lines[2]), ("{\"id\":1,\"allowed\":true}", "{\"id\":3,\"allowed\":true}"));
    assert!(lines[1].starts_with("{\"line\":2,\"error\":\"longer than"), "{}", lines[1]);
}
