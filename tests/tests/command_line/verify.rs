//! `pgmoat verify`, one statement.

use serde_json::Value;

use crate::Folder;

#[test]
fn an_allowed_statement_exits_0() {
    let ended = Folder::new().verify(&["--as", "app:acme", "--sql", "SELECT 1"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
    assert_eq!(ended.stdout, "allowed: 1 statement\n(as app:acme, policy version 1)\n");
}

#[test]
fn a_denied_statement_is_drawn_and_exits_1() {
    let folder = Folder::new();
    folder.write("query.sql", "-- all of them\nSELECT id\n  FROM app.orders o;\n");
    let ended = folder.verify(&["--as", "app:acme", "query.sql"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""), "{}", ended.stdout);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("denied[tenant_unproven]: "), "{}", ended.stdout);
    assert_eq!(lines[1], " --> query.sql:3:8");
    assert_eq!(lines[3], "3 |   FROM app.orders o;");
    assert_eq!(lines[4], "  |        ^^^^^^^^^^");
    assert!(lines.iter().any(|line| line.contains("help") && line.contains("tenant_id")), "{}", ended.stdout);
    assert_eq!(lines.last(), Some(&"(as app:acme, policy version 1)"));
    assert!(!ended.stdout.contains('\u{1b}'), "no colour outside a terminal");
}

#[test]
fn a_program_asks_for_json() {
    let folder = Folder::new();
    let ended =
        folder.verify(&["--as", "app:acme", "--format", "json", "--sql", "SELECT 'ß', id FROM app.orders"]);
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(ended.code, 1);
    assert_eq!((&answer["allowed"], &answer["code"]), (&Value::from(false), &Value::from("tenant_unproven")));
    assert_eq!((&answer["position"], &answer["statement"]), (&Value::from(21), &Value::from(1)));
    assert_eq!((&answer["policy_version"], &answer["sqlstate"]), (&Value::from(1), &Value::from("42501")));
    assert!(answer["message"].is_string() && answer["hint"].is_string());
    let ended = folder.verify(&["--as", "ops", "--format", "json", "--sql", "SELECT 1"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "{\"id\":null,\"allowed\":true}\n"));
}

#[test]
fn a_parse_lists_what_is_checked_at_bind() {
    let sql = "SELECT id FROM app.orders WHERE tenant_id = $1";
    let folder = Folder::new();
    let ended = folder.verify(&["--as", "app:acme", "--parse", "--format", "json", "--sql", sql]);
    let expected =
        "{\"id\":null,\"allowed\":true,\"binds\":[{\"param\":1,\"column\":\"tenant_id\",\"many\":false}]}\n";
    assert_eq!((ended.code, ended.stdout.as_str()), (0, expected));
    let ended = folder.verify(&["--as", "app:acme", "--format", "json", "--sql", sql]);
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&answer["code"], &answer["sqlstate"]),
        (&Value::from("parameter_unbound"), &Value::from("42P02"))
    );
}

#[test]
fn explain_tells_every_reason() {
    let folder = Folder::new();
    let sql = "SELECT id FROM app.orders; DROP TABLE app.orders; SELECT id FROM app.customers";
    let one = folder.verify(&["--as", "app:acme", "--sql", sql]).stdout;
    let all = folder.verify(&["--as", "app:acme", "--explain", "--sql", sql]).stdout;
    assert_eq!(one.matches("denied[").count(), 1, "{one}");
    // By rule first: the kind is judged before tenancy.
    assert!(one.starts_with("denied[statement_not_allowed]"), "{one}");
    assert!(all.matches("denied[").count() >= 3, "{all}");
    assert!(all.matches("denied[tenant_unproven]").count() >= 2, "{all}");
}

#[test]
fn the_statement_may_come_from_standard_input() {
    let folder = Folder::new();
    let arguments = [&crate::VERIFY[..], &["--as", "app:acme", "-"]].concat();
    let ended = folder.pgmoat_with(&arguments, "SELECT 1; SELECT 2", &[]);
    assert_eq!(ended.code, 0);
    assert!(ended.stdout.starts_with("allowed: 2 statements\n"), "{}", ended.stdout);
}

#[test]
fn whoever_cannot_be_asked_for_is_a_wrong_command_line() {
    let folder = Folder::new();
    for (arguments, said) in [
        (&["--sql", "SELECT 1"][..], "--as role:tenant"),
        (&["--as", "app", "--sql", "SELECT 1"], "requires a tenant"),
        (&["--as", "ops:acme", "--sql", "SELECT 1"], "exempt from tenancy"),
        (&["--as", "nobody:acme", "--sql", "SELECT 1"], "no role \"nobody\""),
        (&["--as", ":", "--sql", "SELECT 1"], "role:tenant"),
        (&["--as", "ops", "none.sql"], "none.sql"),
        (&["--as", "ops", "--user", "ops", "--sql", "SELECT 1"], "cannot be used with"),
        (&["--as", "ops", "--batch", "--sql", "SELECT 1"], "cannot be used with"),
        (&["--as", "ops"], "required"),
        (&["--as", "ops", "--jobs", "0", "--batch"], "0 is not in 1..=256"),
    ] {
        let ended = folder.verify(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ended.stderr.contains(said), "{arguments:?}: {}", ended.stderr);
    }
    folder.write("broken.json", "{}");
    let ended = folder.pgmoat(&[
        "verify",
        "-p",
        "policy.yaml",
        "--catalog",
        "broken.json",
        "--as",
        "ops",
        "--sql",
        "SELECT 1",
    ]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("broken.json"), "{}", ended.stderr);
}

#[test]
fn nothing_in_a_text_crashes_it() {
    let folder = Folder::new();
    let deep = format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000));
    let calls = format!("SELECT {}1{}", "abs(".repeat(5_000), ")".repeat(5_000));
    let sum = format!("SELECT 1{}", " + 1".repeat(10_000));
    for (name, sql) in [
        ("deep", deep),
        ("calls", calls),
        ("sum", sum),
        ("nots", format!("SELECT {} true", "NOT ".repeat(1000))),
    ] {
        folder.write("text.sql", &sql);
        let ended = folder.verify(&["--as", "app:acme", "--format", "json", "text.sql"]);
        assert!(matches!(ended.code, 0 | 1), "{name}: {} {}", ended.code, ended.stderr);
        assert!(serde_json::from_str::<Value>(&ended.stdout).is_ok(), "{name}: {}", ended.stdout);
    }
    folder.write("text.sql", "SELECT '\u{0}'");
    let ended = folder.verify(&["--as", "app:acme", "text.sql"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
}
