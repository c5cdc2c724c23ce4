//! Who may ask.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use pgmoat_lab::ProxyConfig;
use pgmoat_tests::{Http, Stack, TOKEN, pgmoat_binary};
use serde_json::{Value, json};

use crate::log_file::of_kind;
use crate::patience::eventually;
use crate::{OWN, http, object, proxied, ready};

const PRIVATE: [&str; 3] = ["GET /metrics", "POST /v1/verify", "POST /v1/verify/batch"];

#[test]
fn verdicts_and_figures_are_for_those_with_a_token() {
    let proxied = proxied("");
    let asked = json!({ "sql": OWN, "as": "app:acme" }).to_string();
    for request in PRIVATE {
        for token in [None, Some(""), Some("x"), Some("pgmoat_a-token-of-the-test"), Some(&TOKEN.repeat(9))] {
            // Whoever is refused is not read any further: a connection each.
            let reply = http(&proxied).ask(request, token, asked.as_bytes()).unwrap();
            assert_eq!(reply.status, 401, "{request} {token:?}");
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
            let told = reply.text();
            assert!(object(&reply.body)["error"].as_str().unwrap().contains("token"), "{told}");
            assert!(!told.contains("lab") && !told.contains("tests"), "{told}");
        }
        let body = if request.starts_with("GET") { "" } else { &asked };
        let reply = http(&proxied).ask(request, Some(TOKEN), body.as_bytes()).unwrap();
        assert_eq!(reply.status, 200, "{request}: {}", reply.text());
    }
    let mut lower = http(&proxied);
    lower
        .write(
            format!("GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: bEARER {TOKEN}\r\n\r\n").as_bytes(),
        )
        .unwrap();
    assert_eq!(lower.reply().unwrap().status, 200);
    let mut other = http(&proxied);
    other
        .write(format!("GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: Basic {TOKEN}\r\n\r\n").as_bytes())
        .unwrap();
    assert_eq!(other.reply().unwrap().status, 401);

    let log = proxied.proxy.audit_path();
    eventually("wrong tokens are entered", || {
        let failed = of_kind(&log, "login_failed");
        failed.iter().filter_map(|line| line["count"].as_u64()).sum::<u64>() == 13
    });
    assert!(of_kind(&log, "login_failed").iter().all(|line| line["reason"] == "wrong token"));
    assert_eq!(of_kind(&log, "verify").len(), 2, "a line a request that was answered, and for no other");
    let everything = fs::read_to_string(&log).unwrap() + &proxied.proxy.log();
    assert!(!everything.contains("pgmoat_a-token"), "no token in any log");
}

/// Anybody may show wrong tokens, as many as there is time for: the log is not filled with them, and misses none.
#[test]
fn wrong_tokens_share_a_line_a_second() {
    const SHOWN: u64 = 400;
    let begun = Instant::now();
    let configured = Stack::get().proxy_with(|config| {
        Http::configure(config, "");
        config
            .extra
            .push_str("limits: { failed_logins_per_second: 1, failed_logins_per_second_per_address: 1 }\n");
    });
    let proxied = ready(configured.unwrap());
    let mut http = http(&proxied);
    for _ in 0..SHOWN {
        // On one connection.
        assert_eq!(http.ask("GET /metrics", Some("x"), b"").unwrap().status, 401);
    }
    let log = proxied.proxy.audit_path();
    let count = |lines: &[Value]| lines.iter().filter_map(|line| line["count"].as_u64()).sum::<u64>();
    eventually("all of them are entered", || count(&of_kind(&log, "login_failed")) == SHOWN);
    let lines = u64::try_from(of_kind(&log, "login_failed").len()).unwrap();
    // A line of its own and one for the others, for each second that has begun.
    assert!(lines <= 2 * (begun.elapsed().as_secs() + 1), "{lines} lines");
    let shared = of_kind(&log, "login_failed").into_iter().max_by_key(|line| line["count"].as_u64()).unwrap();
    assert_eq!(
        (&shared["reason"], &shared["client"], shared["session"].is_null()),
        (&json!("wrong token"), &json!("127.0.0.1"), true)
    );
}

#[test]
fn a_token_may_be_for_some_roles_and_a_reload_takes_it_away() {
    let made = made(&["narrow", "--role", "analyst"]);
    let (token, entry) = made.split_once('\n').unwrap();
    assert!(token.starts_with("pgmoat_") && token.len() == 50, "{token}");
    let configured = Stack::get().proxy_with(|config| {
        config.extra.push_str(&format!("admin:\n  listen: 127.0.0.1:0\n  tokens:\n    {entry}\n"));
    });
    let mut proxied = ready(configured.unwrap());
    let mut http = http(&proxied);
    let mut ask = |principal: &str| {
        let asked = json!({ "sql": "SELECT 1", "as": principal }).to_string();
        http.ask("POST /v1/verify", Some(token), asked.as_bytes()).unwrap()
    };
    assert_eq!(object(&ask("analyst:acme").body), json!({ "id": null, "allowed": true }));
    let other = ask("app:acme");
    assert_eq!(
        (other.status, object(&other.body)["error"].as_str()),
        (403, Some("this token is not for role \"app\""))
    );
    let lines = of_kind(&proxied.proxy.audit_path(), "verify");
    let told: Vec<_> = lines.iter().map(|line| (&line["token"], &line["count"], &line["allowed"])).collect();
    assert_eq!(told, [(&json!("narrow"), &json!(1), &json!(1)), (&json!("narrow"), &json!(1), &json!(0))]);

    let file = proxied.proxy.config_path();
    let yaml = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        yaml.replace(entry.trim(), "- { name: other, hash: \"sha256:".to_owned().as_str())
            .replace("sha256:\n", &format!("sha256:{}\" }}\n", "0".repeat(64))),
    )
    .unwrap();
    proxied.proxy.hang_up().unwrap();
    eventually("the token is not known any more", || ask("analyst:acme").status == 401);
}

#[test]
fn on_loopback_it_may_be_asked_for_without_one() {
    let proxied = proxied("require_token: false");
    let mut http = http(&proxied);
    let asked = json!({ "sql": OWN, "user": "acme_app" }).to_string();
    assert_eq!(http.ask("POST /v1/verify", None, asked.as_bytes()).unwrap().status, 200);
    assert_eq!(http.ask("GET /metrics", None, b"").unwrap().status, 200);
    // Whoever shows one wants it to be looked at.
    assert_eq!(http.ask("GET /metrics", Some("x"), b"").unwrap().status, 401);
    assert!(of_kind(&proxied.proxy.audit_path(), "verify")[0]["token"].is_null());
}

/// A page in a browser can let a name of its own stand for 127.0.0.1; it cannot change the name that the browser says.
#[test]
fn without_one_nobody_asks_by_a_name_that_could_be_anothers() {
    let proxied = proxied("require_token: false");
    let status = |host: &str| {
        let mut http = http(&proxied);
        http.write(format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
        http.reply().unwrap().status
    };
    for own in ["localhost", "LocalHost:9432", "127.0.0.1", "127.0.0.1:9432", "[::1]:9432"] {
        assert_eq!(status(own), 200, "{own}");
    }
    for other in ["pages.example", "localhost.pages.example", "127.0.0.1.pages.example:9432", "10.0.0.1", ""]
    {
        assert_eq!(status(other), 403, "{other}");
    }
}

#[test]
fn elsewhere_nothing_starts_without_one() {
    for (keys, said) in [
        ("listen: \"0.0.0.0:0\"", "there is no token"),
        ("listen: \"[::]:0\"", "there is no token"),
        ("listen: \"0.0.0.0:0\", require_token: false", "for loopback alone"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut config = ProxyConfig::lab(Stack::get().cluster(), "postgres");
        config.extra = format!("admin: {{ {keys} }}\n");
        fs::write(folder.path().join("policy.yaml"), &config.policy).unwrap();
        fs::write(folder.path().join("pgmoat.yaml"), config.yaml("policy.yaml")).unwrap();
        for command in [&["run"][..], &["check", "--offline"]] {
            let output = Command::new(pgmoat_binary().unwrap())
                .args(command)
                .args(["-c", "pgmoat.yaml"])
                .current_dir(folder.path())
                .envs(config.env.iter().cloned())
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{command:?}: {told}");
            assert!(told.contains("no loopback address") && told.contains(said), "{told}");
        }
    }
}

#[test]
fn every_token_is_another_one() {
    let all: Vec<String> = (0..3).map(|_| made(&["ci"])).collect();
    assert!(all.iter().enumerate().all(|(at, one)| all.iter().skip(at + 1).all(|other| one != other)));
    assert_eq!(run(&["a\nb"]).status.code(), Some(2));
    let lines: Vec<&str> = all[0].lines().collect();
    assert_eq!(
        (lines.len(), lines[1].starts_with("- { name: \"ci\", hash: \"sha256:")),
        (2, true),
        "{}",
        all[0]
    );
}

fn made(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(pgmoat_binary().unwrap());
    command.args(["admin", "token"]).args(arguments).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn nobody_is_asked_by_a_listener_that_is_not_there() {
    let proxied = Stack::get().proxy().unwrap();
    assert!(Http::connect(&proxied.proxy).is_err());
}
