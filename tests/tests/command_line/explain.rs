//! `pgmoat verify --explain`: what a verdict rests on.

use serde_json::Value;

use crate::Folder;

/// The relations of an answer: name, standing, and the text that the condition begins with.
fn relations(sql: &str, arguments: &[&str]) -> Vec<(String, String, String)> {
    let arguments =
        [&["--as", "app:acme", "--explain", "--format", "json", "--sql", sql], arguments].concat();
    let ended = Folder::new().verify(&arguments);
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    let all = answer["relations"].as_array().unwrap().iter().map(|line| {
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let condition = line["condition"].as_u64().map(|at| {
            let from: String = sql.chars().skip(usize::try_from(at).unwrap() - 1).collect();
            from.split(' ').next().unwrap().to_owned()
        });
        (text("relation"), text("standing"), condition.unwrap_or_default())
    });
    all.collect()
}

fn expect(sql: &str, expected: &[(&str, &str, &str)]) {
    let found = relations(sql, &[]);
    let found: Vec<(&str, &str, &str)> =
        found.iter().map(|(relation, standing, at)| (&**relation, &**standing, &**at)).collect();
    assert_eq!(found, expected, "{sql}");
}

#[test]
fn each_relation_names_the_condition_that_restricts_it() {
    let orders = "app.orders";
    expect(
        "SELECT 'ß' FROM app.orders o WHERE o.tenant_id = 'acme'",
        &[(orders, "restricted", "o.tenant_id")],
    );
    expect(
        "SELECT FROM app.orders a JOIN app.orders b ON b.tenant_id = a.tenant_id WHERE 'acme' = a.tenant_id",
        &[(orders, "restricted", "a.tenant_id"), (orders, "restricted", "a.tenant_id")],
    );
    expect(
        "SELECT FROM app.orders o LEFT JOIN app.customers c ON c.id = o.id AND c.tenant_id IN ('acme') WHERE o.tenant_id = 'acme'",
        &[(orders, "restricted", "o.tenant_id"), ("app.customers", "restricted", "c.tenant_id")],
    );
    expect(
        "SELECT FROM (SELECT tenant_id AS t FROM app.orders) s WHERE s.t = 'acme'",
        &[(orders, "restricted", "s.t")],
    );
    expect("SELECT FROM app.orders WHERE 1 = 0", &[(orders, "unused", "")]);
    expect(
        "SELECT FROM app.plans, pg_catalog.pg_class",
        &[("app.plans", "shared", ""), ("pg_catalog.pg_class", "system", "")],
    );
    expect(
        "SELECT FROM app.open_orders o WHERE o.tenant_id = 'acme'",
        &[("app.open_orders", "view", ""), (orders, "restricted", "o.tenant_id")],
    );
    expect(
        "UPDATE app.orders SET note = n.body FROM app.notes n WHERE n.tenant_id = orders.tenant_id AND orders.tenant_id = 'acme'",
        &[(orders, "restricted", "orders.tenant_id"), ("app.notes", "restricted", "orders.tenant_id")],
    );
    expect("INSERT INTO app.notes (tenant_id, body) VALUES ('acme', '')", &[("app.notes", "written", "")]);
}

#[test]
fn what_is_missing_is_said_where_it_is_missing() {
    let sql = "SELECT FROM app.orders o, app.customers c WHERE c.tenant_id = 'acme' AND o.customer_id = c.id";
    expect(sql, &[("app.orders", "unrestricted", ""), ("app.customers", "restricted", "c.tenant_id")]);
    let ended = Folder::new().verify(&["--as", "app:acme", "--explain", "--sql", sql]);
    assert_eq!(ended.code, 1);
    let drawn = "\
app.orders as o at 1:13: not restricted
  = missing: add \"o.tenant_id = 'acme'\" to the WHERE clause
app.customers as c at 1:27: restricted, by
 --> --sql:1:49
  |
1 | SELECT FROM app.orders o, app.customers c WHERE c.tenant_id = 'acme' AND o.customer_id = c.id
  |                                                 ^^^^^^^^^^^
  |
(as app:acme, policy version 1)
";
    assert!(ended.stdout.ends_with(drawn), "{}", ended.stdout);
    expect("INSERT INTO app.notes (body) VALUES ('')", &[("app.notes", "unrestricted", "")]);
    expect("SELECT FROM internal.api_keys", &[("internal.api_keys", "no_rule", "")]);
    expect(
        "SELECT pg_sleep(9) FROM (SELECT FROM app.orders) o WHERE false",
        &[("app.orders", "not_judged", "")],
    );
}

#[test]
fn all_violations_are_told_in_one_pass() {
    let folder = Folder::new();
    let sql = "SELECT pg_sleep(9), x FROM app.orders, app.customers, internal.api_keys";
    let ended = folder.verify(&["--as", "app:acme", "--explain", "--format", "json", "--sql", sql]);
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    let first = std::iter::once(&answer);
    let codes: Vec<&str> = first
        .chain(answer["others"].as_array().unwrap())
        .map(|refusal| refusal["code"].as_str().unwrap())
        .collect();
    for code in ["relation_not_allowed", "column_unknown", "function_not_allowed", "tenant_unproven"] {
        assert!(codes.contains(&code), "{code} not in {codes:?}");
    }
    assert_eq!(codes.iter().filter(|code| **code == "tenant_unproven").count(), 2, "{codes:?}");
}

#[test]
fn parameters_that_a_proof_needs_are_named() {
    let sql = "SELECT FROM app.orders o WHERE o.tenant_id = $2 AND id = $1";
    let arguments = ["--as", "app:acme", "--explain", "--parse"];
    let json = Folder::new().verify(&[&arguments[..], &["--format", "json", "--sql", sql]].concat());
    let answer: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(answer["relations"][0]["parameters"], serde_json::json!([2]), "{answer}");
    let human = Folder::new().verify(&[&arguments[..], &["--sql", sql]].concat()).stdout;
    assert!(human.contains("app.orders as o at 1:13: restricted, $2 checked at Bind, by\n"), "{human}");
}

#[test]
fn a_role_without_a_tenant_reaches_everyones_rows() {
    let sql = "SELECT FROM app.orders";
    let ended = Folder::new().verify(&["--as", "ops", "--explain", "--sql", sql]);
    assert_eq!(ended.code, 0);
    assert!(
        ended.stdout.contains("app.orders at 1:13: the role is exempt from tenancy\n"),
        "{}",
        ended.stdout
    );
}
