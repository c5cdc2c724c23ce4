//! The line format against its golden files and its schema: every kind, byte for byte.
//!
//! `PGMOAT_BLESS=1 cargo test -p pgmoat-audit` writes the files anew; the difference is then for
//! people to read.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::chain::Chain;
use crate::digest::Digest;
use crate::head::Head;
use crate::render::{Close, Line, Open, Recovered, Rotate};
use crate::{
    Cancel, CancelOutcome, Catalog, Completion, Decision, Durability, Entry, Executed, Expect, Hash, Key,
    Kind, Login, LoginFailed, Logout, Micros, Outcome, Parameter, Parameters, Phase, Protocol, Reload,
    Verdict, Verify, envelope, fuzzing, verify_file,
};

#[test]
fn every_kind_is_as_its_golden_file() {
    for kind in Kind::ALL {
        golden(&format!("{}.jsonl", kind.name()), &lines_of(kind));
    }
}

#[test]
fn every_golden_line_fits_the_schema_and_has_its_keys_in_the_schemas_order() {
    let schema: Value =
        serde_json::from_slice(&fs::read(folder().join("../schema/line.json")).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for kind in Kind::ALL {
        let lines = lines_of(kind);
        let mut count = 0;
        for line in str::from_utf8(&lines).unwrap().lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            if let Err(error) = validator.validate(&value) {
                panic!("{line}\n{error}");
            }
            let expected: Vec<&String> =
                schema["$defs"][kind.name()]["properties"].as_object().unwrap().keys().collect();
            assert_eq!(value.as_object().unwrap().keys().collect::<Vec<_>>(), expected, "{line}");
            // No insignificant white space, and no second spelling of anything but control characters.
            assert_eq!(serde_json::to_string(&value).unwrap().len(), plain_length(line), "{line}");
            count += 1;
        }
        assert!(count > 0);
    }
}

#[test]
fn the_schema_refuses_other_keys_and_missing_ones() {
    let schema: Value =
        serde_json::from_slice(&fs::read(folder().join("../schema/line.json")).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for kind in Kind::ALL {
        let lines = lines_of(kind);
        let line = str::from_utf8(&lines).unwrap().lines().next().unwrap();
        let value: Value = serde_json::from_str(line).unwrap();
        let mut more = value.clone();
        more["extra"] = Value::Null;
        assert!(!validator.is_valid(&more), "{line}");
        for key in value.as_object().unwrap().keys() {
            let mut less = value.clone();
            less.as_object_mut().unwrap().remove(key);
            assert!(!validator.is_valid(&less), "{line} without {key}");
        }
    }
}

#[test]
fn the_hash_mark_occurs_once_in_a_line() {
    for kind in Kind::ALL {
        let lines = lines_of(kind);
        for line in str::from_utf8(&lines).unwrap().lines() {
            assert_eq!(line.matches(",\"hash\"").count(), 1, "{line}");
        }
    }
}

#[test]
fn each_hash_is_over_the_bytes_before_it() {
    use sha2::Digest as _;
    for kind in Kind::ALL {
        let lines = lines_of(kind);
        for line in str::from_utf8(&lines).unwrap().lines() {
            let (hashed, _) = line.split_once(",\"hash\"").unwrap();
            let hash: String =
                sha2::Sha256::digest(hashed.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(line.ends_with(&format!(",\"hash\":\"{hash}\"}}")), "{line}");
            let Ok(parsed) = envelope::parse(line.as_bytes()) else { panic!("{line}") };
            assert_eq!(parsed.kind, kind);
        }
    }
}

#[test]
fn golden_chains_verify() {
    let key = Key::read(&folder().join("chain_keyed.key")).unwrap();
    for (name, key) in [("chain.jsonl", None), ("chain_keyed.jsonl", Some(&key))] {
        golden(name, &fuzzing::sample(key));
        let outcome = verify_file(&folder().join(name), &Expect { key, head: None });
        assert!(matches!(&outcome, Outcome::Whole(whole) if whole.lines == 13), "{outcome}");
    }
}

fn lines_of(kind: Kind) -> Vec<u8> {
    let mut chain = Chain::after(Head { seq: 41, hash: Hash([0xab; 32]) }, Digest::Plain);
    let mut out = Vec::new();
    let mut add = |line: &Line<'_>| {
        assert_eq!(line.kind(), kind);
        let mut body = Vec::new();
        line.render(&mut body);
        chain.seal(&mut out, Micros(1_760_000_000_000_000 + chain.head().seq), kind, &body);
    };
    match kind {
        Kind::Open => {
            let first = Open {
                resumed: false,
                after: None,
                key: None,
                durability: Durability::Batched,
                version: "0.1.0",
            };
            add(&Line::Open(first));
            let after = Some(Head { seq: 42, hash: Hash([0x0f; 32]) });
            add(&Line::Open(Open { resumed: true, after, key: Some("0123456789abcdef"), ..first }));
        }
        Kind::Recovered => add(&Line::Recovered(Recovered { bytes: 53 })),
        Kind::Rotate => add(&Line::Rotate(Rotate { file: "audit.2025-10-09T08-53-20.42.jsonl" })),
        Kind::Close => add(&Line::Close(Close { opened: 1 })),
        Kind::Login
        | Kind::LoginFailed
        | Kind::Logout
        | Kind::Decision
        | Kind::Completion
        | Kind::Cancel
        | Kind::Reload
        | Kind::Catalog
        | Kind::Verify => {
            for entry in entries(kind) {
                add(&Line::Entry(&entry));
            }
        }
    }
    out
}

fn entries(kind: Kind) -> Vec<Entry<'static>> {
    let all = [
        Entry::Login(Login {
            session: 7,
            user: "acme_app",
            role: "app",
            tenant: Some("acme"),
            database: "lab",
            client: "127.0.0.1:50412",
            application: Some("psql"),
            tls: Some("TLSv1.3"),
            method: "scram-sha-256-plus",
        }),
        Entry::Login(Login {
            session: 8,
            user: "ops",
            role: "ops",
            tenant: None,
            database: "lab",
            client: "[::1]:50413",
            application: None,
            tls: None,
            method: "scram-sha-256",
        }),
        Entry::LoginFailed(LoginFailed {
            session: Some(9),
            user: Some("nobody\u{7}\""),
            database: Some("lab"),
            client: Some("127.0.0.1:50414"),
            code: Some("28P01"),
            reason: Some("unknown user"),
            count: 1,
        }),
        Entry::LoginFailed(LoginFailed {
            session: None,
            user: None,
            database: Some("lab"),
            client: Some("127.0.0.1"),
            code: Some("28P01"),
            reason: None,
            count: 4_711,
        }),
        Entry::Logout(Logout {
            session: 7,
            user: "acme_app",
            reason: "terminate",
            statements: 12,
            denied: 1,
            duration_us: 1_000_250,
        }),
        Entry::Decision(ALLOWED),
        Entry::Decision(Decision {
            tenant: None,
            backend: None,
            statement: Some("SELECT 'é\u{1}\t\"\\'\r\nFROM \u{1f}/* \u{7f} */"),
            verdict: Verdict::Deny,
            code: Some("relation"),
            position: Some(17),
            message: Some("relation \"t\" does not exist or is not allowed"),
            ..ALLOWED
        }),
        Entry::Decision(Decision {
            protocol: Protocol::Extended,
            phase: Phase::Bind,
            statement: None,
            shape: None,
            verdict: Verdict::WouldDeny,
            code: Some("tenant"),
            parameters: Parameters::Full(&[
                Parameter::Null,
                Parameter::Text("acme"),
                Parameter::Text("hash"),
                Parameter::Binary(&[0, 255, 16]),
            ]),
            catalog: None,
            ..ALLOWED
        }),
        Entry::Decision(Decision {
            phase: Phase::Parse,
            parameters: Parameters::Hash("sha256:00ff"),
            backend: Some(i32::MAX),
            ..ALLOWED
        }),
        Entry::Decision(Decision { phase: Phase::Execute, parameters: Parameters::Full(&[]), ..ALLOWED }),
        Entry::Completion(DONE),
        Entry::Completion(Completion {
            executed: Executed::No,
            tag: None,
            sqlstate: Some("25P02"),
            rows: 0,
            ..DONE
        }),
        Entry::Completion(Completion { executed: Executed::Unknown, tag: None, rows: u64::MAX, ..DONE }),
        Entry::Cancel(Cancel {
            session: Some(7),
            client: "127.0.0.1:50415",
            outcome: CancelOutcome::Forwarded,
        }),
        Entry::Cancel(Cancel { session: Some(7), client: "127.0.0.1:50416", outcome: CancelOutcome::Idle }),
        Entry::Cancel(Cancel {
            session: None,
            client: "127.0.0.1:50417",
            outcome: CancelOutcome::UnknownKey,
        }),
        Entry::Reload(Reload { file: "policy.yaml", policy: 2, refused: None }),
        Entry::Reload(Reload {
            file: "policy.yaml",
            policy: 2,
            refused: Some("policy.yaml:3: unknown key \"tabels\""),
        }),
        Entry::Catalog(Catalog {
            database: "lab",
            catalog: "00112233445566ff",
            previous: None,
            server_version_num: 150_014,
        }),
        Entry::Catalog(Catalog {
            database: "lab",
            catalog: "8899aabbccddeeff",
            previous: Some("00112233445566ff"),
            server_version_num: 150_014,
        }),
        Entry::Verify(Verify {
            token: Some("ci"),
            client: "127.0.0.1:50418",
            database: Some("lab"),
            count: 3,
            allowed: 1,
            denied: 1,
            policy: Some(1),
            catalog: Some("00112233445566ff"),
        }),
        Entry::Verify(Verify {
            token: None,
            client: "127.0.0.1:50419",
            database: None,
            count: 1,
            allowed: 0,
            denied: 0,
            policy: None,
            catalog: None,
        }),
    ];
    all.into_iter().filter(|entry| Line::Entry(entry).kind() == kind).collect()
}

const ALLOWED: Decision<'_> = Decision {
    session: 7,
    user: "acme_app",
    role: "app",
    tenant: Some("acme"),
    database: "lab",
    client: "127.0.0.1:50412",
    backend: Some(4711),
    protocol: Protocol::Simple,
    phase: Phase::Query,
    statement: Some("SELECT id FROM invoices WHERE tenant_id = 'acme'"),
    shape: Some(0x0123_4567_89ab_cdef),
    verdict: Verdict::Allow,
    code: None,
    position: None,
    message: None,
    parameters: Parameters::None,
    policy: 1,
    catalog: Some("00112233445566ff"),
};

const DONE: Completion<'_> = Completion {
    of: 42,
    executed: Executed::Yes,
    tag: Some("SELECT 3"),
    sqlstate: None,
    rows: 3,
    duration_us: 250,
};

/// The length that the line has where every control character and every escaped letter has serde's spelling.
fn plain_length(line: &str) -> usize {
    let shorter =
        ["\\u0009", "\\u000a", "\\u000d"].iter().map(|long| line.matches(long).count() * 4).sum::<usize>();
    line.len() - shorter - line.matches("\\u0068").count() * 5
}

fn golden(name: &str, actual: &[u8]) {
    let path = folder().join(name);
    if std::env::var_os("PGMOAT_BLESS").is_some() {
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read(&path).unwrap();
    assert_eq!(String::from_utf8_lossy(actual), String::from_utf8_lossy(&expected), "{}", path.display());
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}
