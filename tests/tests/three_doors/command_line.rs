//! The second door: `pgmoat verify --batch`, all cases in one stream.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

use pgmoat_lab::User;
use pgmoat_tests::corpus::{Case, Protocol};
use pgmoat_tests::pgmoat_binary;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::folder_with;

pub(crate) struct CommandLine<'a> {
    catalog: &'a str,
}

impl<'a> CommandLine<'a> {
    pub(crate) fn new(catalog: &'a str) -> Self {
        Self { catalog }
    }

    pub(crate) fn judge_all(&self, cases: &[&Case]) -> Vec<Answer> {
        let folder = folder_with(self.catalog);
        let mut child = Command::new(pgmoat_binary().unwrap())
            .args(["verify", "-p", "policy.yaml", "--catalog", "catalog.json", "--batch"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines: String = cases.iter().map(|case| format!("{}\n", line(case))).collect();
        let mut input = child.stdin.take().unwrap();
        let writer = thread::spawn(move || input.write_all(lines.as_bytes()));
        let output = child.wait_with_output().unwrap();
        writer.join().expect("nothing panics").unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), cases.len(), "{}", String::from_utf8_lossy(&output.stderr));
        cases.iter().zip(&answers).map(|(case, value)| answer(case, value)).collect()
    }
}

fn line(case: &Case) -> Value {
    let principal = User::named(&case.principal).expect("a user of the lab").principal();
    let mut line = json!({ "id": case.id, "sql": case.sql, "as": principal });
    if case.protocol == Protocol::Extended {
        line.as_object_mut().unwrap().insert("params".to_owned(), json!(case.params));
    }
    line
}

fn answer(case: &Case, value: &Value) -> Answer {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    assert_eq!(text("id").as_deref(), Some(case.id.as_str()), "answers come in the order of the lines");
    if value.get("allowed").and_then(Value::as_bool).expect("a verdict") {
        return Answer::Allowed;
    }
    Answer::Denied {
        code: text("code").expect("a denial has a code"),
        sqlstate: text("sqlstate").unwrap_or_default(),
        position: value.get("position").and_then(Value::as_u64),
        message: text("message").expect("a denial has a message"),
    }
}
