//! The corpus through HTTP: each case alone and in a batch, answered letter by letter as by the command line, also when the
//! verdict was there.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

use pgmoat_lab::{POLICY_YAML, SERVICE_USER, User};
use pgmoat_tests::corpus::{Case, Protocol, attack, benign};
use pgmoat_tests::{Stack, pgmoat_binary};
use serde_json::json;

use crate::{http, proxied};

#[test]
fn http_answers_as_the_command_line_does() {
    let proxied = proxied("");
    let lines: Vec<String> = attack().unwrap().iter().chain(&benign().unwrap()).map(line).collect();
    assert!(lines.len() > 700, "{}", lines.len());
    let expected = command_line(&proxied.database, &lines);
    let all = lines.join("\n");
    let mut http = http(&proxied);
    for round in ["fresh", "kept"] {
        let answers = http.batch(&all).unwrap().text();
        for ((line, expected), answer) in lines.iter().zip(expected.lines()).zip(answers.lines()) {
            assert_eq!(answer, expected, "{round}: {line}");
        }
        assert_eq!(answers, expected, "{round}");
    }
    for (line, expected) in lines.iter().zip(expected.lines()) {
        let reply = http.verify(line).unwrap();
        assert_eq!((reply.status, reply.text().trim_end()), (200, expected), "{line}");
    }
}

fn line(case: &Case) -> String {
    let principal = User::named(&case.principal).unwrap().principal();
    let mut line = json!({ "id": case.id, "sql": case.sql, "as": principal });
    if case.protocol == Protocol::Extended {
        line["params"] = json!(case.params);
    }
    line.to_string()
}

fn command_line(database: &str, lines: &[String]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let dsn = format!("{}?sslmode=disable", Stack::get().cluster().dsn(SERVICE_USER, database));
    let dumped =
        Command::new(pgmoat_binary().unwrap()).args(["catalog", "dump", "--dsn", &dsn]).output().unwrap();
    assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
    fs::write(folder.path().join("catalog.json"), dumped.stdout).unwrap();
    fs::write(folder.path().join("policy.yaml"), POLICY_YAML).unwrap();
    let mut child = Command::new(pgmoat_binary().unwrap())
        .args(["verify", "-p", "policy.yaml", "--catalog", "catalog.json", "--batch"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = format!("{}\n", lines.join("\n"));
    let writer = thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap()
}
