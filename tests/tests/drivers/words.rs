//! psql: PostgreSQL's own client draws the caret from our position.

use std::process::{Command, Output, Stdio};

use pgmoat_tests::{Proxied, Stack};

#[test]
fn a_refusal_is_drawn_with_a_caret_and_a_hint() {
    let proxied = Stack::get().proxy().unwrap();
    let output = psql(&proxied, &["-c", "SELECT o.id FROM app.orders o WHERE o.id = 4242"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    let lines: Vec<&str> = error.lines().collect();
    let [message, source, caret, detail, hint] = lines.as_slice() else { panic!("{error}") };
    assert!(message.starts_with("ERROR:  "), "{error}");
    assert!(source.starts_with("LINE 1: SELECT o.id FROM app.orders o"), "{error}");
    assert_eq!(caret.trim_start(), "^", "{error}");
    let under = source.get(caret.len() - 1..).unwrap();
    assert!(
        under.starts_with("app.orders o") || under.starts_with("orders o") || under.starts_with("o WHERE"),
        "{error}"
    );
    assert!(detail.starts_with("DETAIL:  code: tenant_unproven, policy: 1"), "{error}");
    assert!(hint.starts_with("HINT:  ") && hint.contains("tenant_id = 'acme'"), "{error}");
}

#[test]
fn a_script_goes_on_after_a_refusal() {
    let proxied = Stack::get().proxy().unwrap();
    let output = psql(
        &proxied,
        &[
            "-At",
            "-c",
            "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2",
            "-c",
            "SELECT id FROM app.orders",
            "-c",
            "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 4",
        ],
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n4\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("ERROR:").count(), 1);
}

#[test]
fn a_wrong_password_and_an_unknown_user_get_postgresqls_words() {
    let proxied = Stack::get().proxy().unwrap();
    for user in ["acme_app", "nobody_here"] {
        let dsn = format!("postgresql://{user}:wrong@127.0.0.1:{}/lab", proxied.proxy.port());
        let output = client(&["-d", &dsn, "-c", "SELECT 1"]);
        let error = String::from_utf8_lossy(&output.stderr);
        let words = format!("FATAL:  password authentication failed for user \"{user}\"");
        assert!(error.contains(&words), "{error}");
    }
}

fn psql(proxied: &Proxied, arguments: &[&str]) -> Output {
    client(&[&["-d", proxied.dsn("acme_app").as_str()], arguments].concat())
}

fn client(arguments: &[&str]) -> Output {
    let psql = Stack::get().cluster().postgres().tool("psql");
    Command::new(psql)
        .arg("-X")
        .args(arguments)
        .env_remove("PGOPTIONS")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}
