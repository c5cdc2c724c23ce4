//! What a loaded policy answers.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;
use std::time::Duration;

use pgmoat_policy::policy::{CatalogRule, ColumnRule, Entry, ExplainRule, FunctionRule, TenantRule};
use pgmoat_policy::{ErrorPosture, Kind, LimitName, Mask, Over, Policy, RowCap};

const POLICY: &str = r#"
version: 7
search_path: [app, public]
tenancy:
  proof: [bound]
  tables:
    - { match: "billing.*", column: account_no }
    - { match: "app.plans", shared: true }
    - { match: "app.*", column: tenant_id }
    - { match: "arch*.x*", column: old_tenant }
    - { match: "archive.xy", column: never_first }
    - { match: '"odd.schema"."a*b"', shared: true }
roles:
  app:
    tenant: required
    statements: [select, set]
    relations: { allow: ["app.*", "billing.inv*"], deny: ["app.secret*"], write_shared: ["app.plans"] }
    columns: { deny: ["app.*.ssn", "app.cards.*", "app.customers.pin_*"], system: [xmin] }
    masks:
      - { column: app.customers.email, kind: partial, keep: 2 }
      - { column: "app.*.email", kind: "null" }
      - { column: app.customers.ssn, kind: hash }
    functions: { preset: standard, allow: ["app.net_*", pg_catalog.pg_sleep], deny: ["app.net_loss", pg_catalog.random] }
    settings: { allow: [Work_Mem, "app.*"] }
    limits: { rows: { max: 1000, over: cut }, timeout_ms: 250, depth: 7 }
    explain: plain
  ops: { tenant: exempt }
limits: { statements: 3, depth: 9, rows: 50 }
system_catalogs: introspection
"#;

fn policy() -> Policy {
    Policy::load(POLICY, "policy.yaml").unwrap().policy
}

#[test]
fn the_first_matching_line_wins() {
    let policy = policy();
    let scoped = |schema: &str, table: &str| match policy.entry(schema, table) {
        Some(Entry::Scoped { column }) => Some(Arc::clone(column)),
        Some(Entry::Shared) | None => None,
    };
    assert_eq!(scoped("billing", "invoices").as_deref(), Some("account_no"));
    assert_eq!(scoped("app", "orders").as_deref(), Some("tenant_id"));
    assert_eq!(scoped("archive", "xy").as_deref(), Some("old_tenant"));
    assert_eq!(scoped("arch", "x").as_deref(), Some("old_tenant"));
    assert_eq!(policy.entry("app", "plans"), Some(Entry::Shared));
    assert_eq!(policy.entry("odd.schema", "a*b"), Some(Entry::Shared));
    for (schema, table) in
        [("archive", "y"), ("ap", "orders"), ("App", "orders"), ("odd.schema", "acb"), ("", "")]
    {
        assert_eq!(policy.entry(schema, table), None, "{schema}.{table}");
    }
}

#[test]
fn what_a_role_does_not_say_the_top_says() {
    let policy = policy();
    let (app, ops) = (policy.role("app").unwrap(), policy.role("ops").unwrap());
    assert_eq!((app.tenant, ops.tenant), (TenantRule::Required, TenantRule::Exempt));
    assert_eq!((app.explain, ops.explain), (ExplainRule::Plain, ExplainRule::Deny));
    assert_eq!(ops.system_catalogs, CatalogRule::Introspection);
    assert_eq!(app.rows, Some(RowCap { max: 1000, over: Over::Cut }));
    assert_eq!(ops.rows, Some(RowCap { max: 50, over: Over::Error }));
    assert_eq!((app.timeout, ops.timeout), (Some(Duration::from_millis(250)), None));
    let limit = |role: &pgmoat_policy::policy::Role, name| role.limits.get(name);
    assert_eq!((limit(app, LimitName::Depth), limit(ops, LimitName::Depth)), (7, 9));
    assert_eq!((limit(app, LimitName::Statements), limit(ops, LimitName::InList)), (3, 8192));
    assert_eq!(app.kinds.iter().collect::<Vec<_>>(), [Kind::Select, Kind::Set]);
    assert!(!ops.kinds.contains(Kind::Select) && !ops.unrestricted);
    assert!(policy.proof_bound() && !policy.proof_literal());
    assert_eq!((policy.version(), policy.errors(), policy.error_budget()), (7, ErrorPosture::Redact, 100));
}

#[test]
fn deny_wins() {
    let policy = policy();
    let app = policy.role("app").unwrap();
    assert!(app.allows_relation("app", "orders") && app.allows_relation("billing", "invoices"));
    for (schema, name) in
        [("app", "secrets"), ("billing", "payments"), ("internal", "x"), ("pg_catalog", "pg_class")]
    {
        assert!(!app.allows_relation(schema, name), "{schema}.{name}");
    }
    assert!(app.relation_denied("app", "secrets") && !app.relation_denied("internal", "x"));
    assert!(app.writes_shared("app", "plans") && !app.writes_shared("app", "countries"));
    for (schema, name, rule) in [
        ("app", "net_price", FunctionRule::Allowed),
        ("app", "net_loss", FunctionRule::Denied),
        ("app", "other", FunctionRule::Preset),
        ("pg_catalog", "pg_sleep", FunctionRule::Allowed),
        ("pg_catalog", "random", FunctionRule::Denied),
        ("pg_catalog", "lower", FunctionRule::Preset),
    ] {
        assert_eq!(app.allows_function(schema, name), rule, "{schema}.{name}");
    }
    let ops = policy.role("ops").unwrap();
    assert_eq!(ops.allows_function("pg_catalog", "lower"), FunctionRule::Denied);
    assert!(!ops.allows_relation("app", "orders"));
}

#[test]
fn columns_are_denied_masked_or_plain() {
    let policy = policy();
    let app = policy.role("app").unwrap();
    for (table, column, rule) in [
        ("customers", "ssn", ColumnRule::Denied),
        ("people", "ssn", ColumnRule::Denied),
        ("cards", "number", ColumnRule::Denied),
        ("customers", "pin_code", ColumnRule::Denied),
        ("customers", "pin", ColumnRule::Plain),
        ("customers", "email", ColumnRule::Masked(&Mask::Partial { keep: 2 })),
        ("people", "email", ColumnRule::Masked(&Mask::Null)),
        ("customers", "id", ColumnRule::Plain),
    ] {
        assert_eq!(app.column("app", table, column), rule, "{table}.{column}");
    }
    assert!(app.has_column_rules("app", "anything") && !app.has_column_rules("billing", "invoices"));
    assert!(app.has_any_column_rules() && !policy.role("ops").unwrap().has_any_column_rules());
    assert!(app.system_column("xmin") && !app.system_column("ctid"));
}

#[test]
fn settings_are_named_without_regard_to_case() {
    let policy = policy();
    let app = policy.role("app").unwrap();
    for name in ["work_mem", "WORK_MEM", "app.tenant", "APP.x.y"] {
        assert!(app.allows_setting(name), "{name}");
    }
    for name in ["work_mem2", "app", "app.", "apps.x", "role", "search_path", "ä", ""] {
        assert!(!app.allows_setting(name), "{name}");
    }
}
