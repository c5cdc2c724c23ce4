//! The statements, and where they are played.

use std::fs;
use std::path::PathBuf;

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::{Proxied, Stack, is_long, other_servers};

/// The files, in their order.
pub(crate) fn files() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("regression");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The statements of all files: a text, and the data that a COPY reads behind it.
pub(crate) fn statements() -> Vec<(String, Option<String>)> {
    let texts = files().into_iter().map(|path| fs::read_to_string(path).unwrap());
    let paragraphs = texts.flat_map(|text| text.split("\n\n").map(str::to_owned).collect::<Vec<_>>());
    paragraphs.map(|paragraph| statement(paragraph.trim())).collect()
}

fn statement(paragraph: &str) -> (String, Option<String>) {
    match paragraph.strip_suffix("\n\\.").and_then(|copy| copy.split_once(";\n")) {
        Some((sql, data)) => (sql.to_owned(), Some(format!("{data}\n"))),
        None => (paragraph.trim_end_matches(';').to_owned(), None),
    }
}

/// On this server, and in full lengths on those of the other majors.
pub(crate) fn everywhere(play: fn(&Stack)) {
    play(Stack::get());
    if is_long() {
        for postgres in other_servers() {
            println!("PostgreSQL {}", postgres.major());
            play(&Stack::of(postgres).unwrap());
        }
    }
}

/// A database for the direct door, and a proxy before its twin.
pub(crate) fn doors(stack: &Stack) -> (String, Proxied) {
    let [direct, database] = [stack.database().unwrap(), stack.database().unwrap()];
    for name in [&direct, &database] {
        let grants = format!(
            "GRANT CREATE ON SCHEMA public TO pgmoat_service; GRANT CREATE ON DATABASE {name} TO pgmoat_service"
        );
        stack.cluster().psql(name, &grants).unwrap();
    }
    let unrestricted = "    explain: analyze\n    unrestricted: true\n";
    let policy = POLICY_YAML.replacen("    explain: analyze\n", unrestricted, 1);
    assert_ne!(policy, POLICY_YAML);
    (direct, stack.proxy_before(&database, |config| config.policy = policy).unwrap())
}

#[test]
fn there_are_three_hundred() {
    assert!(statements().len() >= 300, "{}", statements().len());
}
