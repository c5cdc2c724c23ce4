//! The lines of `verify --batch` as a contract: golden requests give golden answers, and both are
//! what their JSON Schemas say. With `PGMOAT_BLESS=1` the answers are written anew.

use std::path::PathBuf;
use std::{env, fs};

use serde_json::Value;

use crate::{Folder, VERIFY};

#[test]
fn golden_requests_get_golden_answers() {
    let proxy = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../proxy");
    let requests = fs::read_to_string(proxy.join("golden/verify/requests.jsonl")).unwrap();
    let arguments = [&VERIFY[..], &["--as", "app:acme", "--batch"]].concat();
    let ended = Folder::new().pgmoat_with(&arguments, &requests, &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
    let golden = proxy.join("golden/verify/answers.jsonl");
    if env::var_os("PGMOAT_BLESS").is_some() {
        fs::write(&golden, &ended.stdout).unwrap();
    }
    assert_eq!(ended.stdout, fs::read_to_string(golden).unwrap_or_default());

    let schema = |name: &str| {
        let text = fs::read_to_string(proxy.join("schema").join(name)).unwrap();
        jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
    };
    let (asked, answered) = (schema("verify-request.json"), schema("verify-answer.json"));
    for (request, answer) in requests.lines().zip(ended.stdout.lines()) {
        let answer: Value = serde_json::from_str(answer).unwrap();
        assert!(answered.is_valid(&answer), "{answer}");
        match serde_json::from_str::<Value>(request) {
            Ok(request) => assert!(asked.is_valid(&request), "{request}"),
            Err(_) => assert!(answer["error"].is_string(), "{answer}"),
        }
    }
}
