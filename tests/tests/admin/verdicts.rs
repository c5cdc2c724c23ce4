//! `POST /v1/verify`: what the command line answers, by the rules in force.

use std::fs;
use std::sync::Arc;
use std::thread;

use pgmoat_tests::{Http, Stack};
use serde_json::{Value, json};

use crate::log_file::{assert_whole, of_kind};
use crate::patience::eventually;
use crate::{ALL, OWN, http, object, proxied};

#[test]
fn an_object_in_and_an_object_out() {
    let proxied = proxied("");
    let mut http = http(&proxied);
    let mut ask = |asked: Value| {
        let reply = http.verify(&asked.to_string()).unwrap();
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (200, Some("application/json")),
            "{}",
            reply.text()
        );
        assert!(reply.text().ends_with("}\n"));
        object(&reply.body)
    };
    assert_eq!(ask(json!({ "id": 7, "sql": OWN, "as": "app:acme" })), json!({ "id": 7, "allowed": true }));
    assert_eq!(ask(json!({ "id": "x", "sql": OWN, "user": "acme_app", "database": "lab" }))["allowed"], true);
    let denied = ask(json!({ "id": [1], "sql": ALL, "as": "app:acme" }));
    assert_eq!((&denied["id"], &denied["allowed"]), (&json!([1]), &json!(false)));
    assert_eq!((&denied["code"], &denied["sqlstate"]), (&json!("tenant_unproven"), &json!("42501")));
    assert!(
        denied["position"].is_u64() && denied["hint"].is_string() && denied["policy_version"] == 1,
        "{denied}"
    );
    let bound = "SELECT id FROM app.orders WHERE tenant_id = $1";
    assert_eq!(ask(json!({ "sql": bound, "as": "app:acme", "params": ["acme"] }))["allowed"], true);
    let other = ask(json!({ "sql": bound, "as": "app:acme", "params": ["globex"] }));
    assert_eq!((&other["code"], &other["parameter"]), (&json!("tenant_mismatch"), &json!(1)));
    let parsed = ask(json!({ "sql": bound, "as": "app:acme", "protocol": "parse" }));
    assert_eq!(parsed["binds"][0]["column"], "tenant_id");

    let lines = of_kind(&proxied.proxy.audit_path(), "verify");
    let told: Vec<_> = lines.iter().map(|line| (line["allowed"].as_u64(), line["denied"].as_u64())).collect();
    let (yes, no) = ((Some(1), Some(0)), (Some(0), Some(1)));
    assert_eq!(told, [yes, yes, no, yes, no, yes]);
    let own = http.tcp().local_addr().unwrap().to_string();
    for line in &lines {
        assert_eq!(
            (&line["token"], &line["database"], &line["count"]),
            (&json!("tests"), &json!("lab"), &json!(1))
        );
        assert_eq!((line["client"].as_str(), line["policy"].as_u64()), (Some(&*own), Some(1)));
        assert!(line["catalog"].is_string());
    }
    assert_whole(&proxied.proxy.audit_path());
}

#[test]
fn what_is_no_question_is_told_so_and_entered() {
    let proxied = proxied("");
    let sql = "SELECT secret_word_of_the_test";
    for (asked, status, told) in [
        ("no json".to_owned(), 400, "expected"),
        (String::new(), 400, "EOF"),
        ("{}".to_owned(), 400, "sql"),
        (json!({ "sql": sql }).to_string(), 400, "neither"),
        (json!({ "sql": sql, "as": "app:acme", "user": "acme_app" }).to_string(), 400, "both"),
        (json!({ "sql": sql, "as": "nobody:acme" }).to_string(), 400, "no role"),
        (json!({ "sql": sql, "user": "nobody" }).to_string(), 400, "no user"),
        (json!({ "sql": sql, "as": "app:acme", "database": "labor" }).to_string(), 400, "no database"),
        (json!({ "sql": sql, "as": "app:acme", "params": [1] }).to_string(), 400, "value"),
        (json!({ "sql": sql, "as": "app:acme", "sqll": 1 }).to_string(), 400, "unknown field"),
    ] {
        let mut http = http(&proxied);
        let reply = http.verify(&asked).unwrap();
        assert_eq!(reply.status, status, "{asked}");
        let error = object(&reply.body)["error"].as_str().unwrap().to_owned();
        assert!(error.contains(told) && !error.contains("secret_word"), "{error}");
        assert_eq!(
            http.verify(&json!({ "sql": OWN, "as": "app:acme" }).to_string()).unwrap().status,
            200,
            "goes on"
        );
    }
    let lines = of_kind(&proxied.proxy.audit_path(), "verify");
    assert_eq!(lines.len(), 20);
    let unreadable =
        lines.iter().filter(|line| line["count"] == 1 && line["allowed"] == 0 && line["denied"] == 0);
    assert_eq!(unreadable.count(), 10);

    let mut http = http(&proxied);
    for (request, status) in
        [("GET /v1/verify", 405), ("POST /healthz", 405), ("GET /", 404), ("GET /v1/verify/", 404)]
    {
        let reply = http.ask(request, None, b"").unwrap();
        assert_eq!(reply.status, status, "{request}");
        assert!(object(&reply.body)["error"].is_string());
    }
}

#[test]
fn verdicts_are_by_the_rules_in_force() {
    let mut proxied = proxied("");
    let mut http = http(&proxied);
    let mut ask = |sql: &str| {
        let reply = http.verify(&json!({ "sql": sql, "as": "app:acme" }).to_string()).unwrap();
        object(&reply.body)
    };
    let later = "SELECT id FROM app.later WHERE tenant_id = 'acme'";
    assert_eq!((&ask(OWN)["allowed"], &ask(OWN)["allowed"]), (&json!(true), &json!(true)));
    assert_eq!(ask(later)["code"], "relation_unknown");
    let ddl = "CREATE TABLE app.later (tenant_id text NOT NULL, id int)";
    Stack::get().cluster().psql(&proxied.database, ddl).unwrap();
    eventually("the new catalog is in force", || ask(later)["code"] != "relation_unknown");
    assert_eq!(ask(ALL)["policy_version"], 1);
    let policy = fs::read_to_string(proxied.proxy.policy_path()).unwrap();
    fs::write(proxied.proxy.policy_path(), policy.replacen("version: 1", "version: 2", 1)).unwrap();
    proxied.proxy.hang_up().unwrap();
    eventually("the new policy is in force", || ask(ALL)["policy_version"] == 2);
    assert_eq!(of_kind(&proxied.proxy.audit_path(), "verify").pop().unwrap()["policy"], 2);
}

#[test]
fn many_connections_are_kept_and_none_fails() {
    let proxied = Arc::new(proxied(""));
    let clients: Vec<_> = (0..32)
        .map(|client| {
            let proxied = Arc::clone(&proxied);
            thread::spawn(move || {
                let mut http = Http::connect(&proxied.proxy).unwrap();
                for number in 0..50 {
                    let mine = number % 2 == 0;
                    let tenant = if mine { "acme" } else { "globex" };
                    let sql =
                        format!("SELECT id FROM app.orders WHERE tenant_id = '{tenant}' AND id = {number}");
                    let id = client * 1000 + number;
                    let reply =
                        http.verify(&json!({ "id": id, "sql": sql, "as": "app:acme" }).to_string()).unwrap();
                    let answer = object(&reply.body);
                    assert_eq!((&answer["id"], &answer["allowed"]), (&json!(id), &json!(mine)));
                }
            })
        })
        .collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
    assert_eq!(of_kind(&proxied.proxy.audit_path(), "verify").len(), 32 * 50);
    assert_whole(&proxied.proxy.audit_path());
}
