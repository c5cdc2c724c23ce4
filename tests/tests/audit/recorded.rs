//! What of a statement and its values is written: never a value that was not asked for.

use std::fs;

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Proxied, Raw, Stack};
use serde_json::{Value, json};

use crate::log_file::of_kind;
use crate::proxy::end;

/// Values in a Bind are nowhere unless they were asked for, whether the statement runs, is denied or fails; and the
/// proxy's own log has neither values nor texts.
#[test]
fn bound_values_are_in_no_file_unless_asked_for() {
    for (settings, expected) in [
        ("", Expected { text: true, literal: true, value: false }),
        (", parameters: none", Expected { text: true, literal: true, value: false }),
        (", parameters: hash", Expected { text: true, literal: true, value: false }),
        (", parameters: full", Expected { text: true, literal: true, value: true }),
        (", statement: text", Expected { text: true, literal: true, value: false }),
        (", statement: shape", Expected { text: false, literal: false, value: false }),
        (", statement: shape, parameters: full", Expected { text: false, literal: false, value: true }),
    ] {
        let mut proxied = with(settings);
        play(&proxied);
        end(&mut proxied);
        let mut files = String::new();
        for entry in fs::read_dir(proxied.proxy.folder()).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_str().unwrap().starts_with("audit") {
                files.push_str(&fs::read_to_string(path).unwrap());
            }
        }
        let own = proxied.proxy.log();
        assert_eq!(files.contains(VALUE), expected.value, "{settings}: a bound value");
        assert_eq!(files.contains(LITERAL), expected.literal, "{settings}: a literal");
        assert_eq!(files.contains("INSERT INTO app.notes"), expected.text, "{settings}: a text");
        for secret in [VALUE, LITERAL, "INSERT INTO"] {
            assert!(!own.contains(secret), "{settings}: {secret} in pgmoat's own log");
        }
        for line in of_kind(&proxied.proxy.audit_path(), "decision") {
            assert_eq!(line["statement"].is_string(), expected.text, "{settings}: {line}");
            assert!(line["shape"].is_string(), "{settings}: a shape is always there: {line}");
        }
    }
}

struct Expected {
    text: bool,
    literal: bool,
    value: bool,
}

#[test]
fn what_a_bind_was_given_is_written_as_asked() {
    let mut proxied = with(", parameters: full");
    play(&proxied);
    end(&mut proxied);
    let binds: Vec<Value> = parameters(&proxied);
    assert_eq!(binds, [json!(["acme", VALUE]), json!(["globex", VALUE]), json!(["acme", "0"])]);

    let mut proxied = with(", parameters: hash");
    play(&proxied);
    play(&proxied);
    end(&mut proxied);
    let binds = parameters(&proxied);
    assert_eq!(binds[..3], binds[3..], "the same values have the same hash");
    assert!(binds[..3].iter().all(|hash| hash.as_str().unwrap().len() == 64), "{binds:?}");
    assert!(binds[0] != binds[1] && binds[1] != binds[2] && binds[0] != binds[2]);

    // With a key nobody can try values against the hash.
    let key = "k".repeat(40);
    let mut keyed = Stack::get()
        .proxy_with(|config| {
            config.audit = "path: audit.jsonl, parameters: hash, key: { env: PGMOAT_AUDIT_KEY }".to_owned();
            config.env.push(("PGMOAT_AUDIT_KEY".to_owned(), key.clone()));
        })
        .unwrap();
    play(&keyed);
    keyed.proxy.terminate().unwrap();
    keyed.proxy.wait(crate::patience::PATIENCE).unwrap();
    assert!(parameters(&keyed).iter().all(|hash| !binds.contains(hash)));
    let log = keyed.proxy.audit_path();
    let key_file = keyed.proxy.folder().join("key");
    fs::write(&key_file, &key).unwrap();
    let verdict = |more: &[&str]| crate::log_file::verdict(&log, more);
    assert_eq!(verdict(&["--key-file", key_file.to_str().unwrap()]).0, Some(0));
    let (status, said) = verdict(&[]);
    assert_eq!(status, Some(2), "{said}");
    assert!(!fs::read_to_string(&log).unwrap().contains(&key) && !keyed.proxy.log().contains(&key));
}

/// Each Bind's values as its line has them.
fn parameters(proxied: &Proxied) -> Vec<Value> {
    let decisions = of_kind(&proxied.proxy.audit_path(), "decision");
    decisions.iter().filter(|line| line["phase"] == "bind").map(|line| line["parameters"].clone()).collect()
}

/// One that runs, one that is denied by its value, one that fails, and a literal.
fn play(proxied: &Proxied) {
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let insert = "INSERT INTO app.notes (tenant_id, body) VALUES ($1, $2)";
    for (values, expected) in [(["acme", VALUE], "1 2 C Z(I)"), (["globex", VALUE], "1 E(42501) Z(I)")] {
        raw.send(&[p("", insert), b("", "", &values), e("", 0), s()]).unwrap();
        raw.expect(expected).unwrap();
    }
    let fails = "SELECT id / $2::int8 FROM app.orders WHERE tenant_id = $1 AND id = 2";
    raw.send(&[p("", fails), b("", "", &["acme", "0"]), e("", 0), s()]).unwrap();
    raw.expect("1 2 E(22012) Z(I)").unwrap();
    raw.send(&[q(&format!("INSERT INTO app.notes (tenant_id, body) VALUES ('acme', '{LITERAL}')"))]).unwrap();
    raw.expect("C Z(I)").unwrap();
    raw.send(&[q(&format!("SELECT id FROM app.orders WHERE note = '{LITERAL}'"))]).unwrap();
    raw.read(1).unwrap();
}

fn with(settings: &str) -> Proxied {
    Stack::get().proxy_with(|config| config.audit = format!("path: audit.jsonl{settings}")).unwrap()
}

const VALUE: &str = "canary-7f3a-bound";
const LITERAL: &str = "canary-91cc-literal";
