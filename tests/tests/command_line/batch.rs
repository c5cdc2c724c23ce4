//! `pgmoat verify --batch`: a line in, a line out, in order, streaming.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

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
