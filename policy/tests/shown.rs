//! What a described column is to a role, and what a verdict says about scope and outputs.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::thread;

use pgmoat_policy::{
    Catalog, Mask, Mode, NoNames, Obligations, Policy, Principal, STACK_BYTES, Shown, Verdict, judge, shown,
};

const CATALOG: &str = include_str!("../golden/lab-catalog.json");
const POLICY: &str = include_str!("../golden/policy-file/lab.yaml");

fn lab() -> (Policy, Catalog) {
    (Policy::load(POLICY, "policy.yaml").unwrap().policy, Catalog::parse(CATALOG).unwrap())
}

#[test]
fn a_column_is_what_the_role_may_see_of_it() {
    let (policy, catalog) = lab();
    let what = |role: &str, schema: &str, table: &str, column: &str| {
        let relation = catalog.relation(schema, table).unwrap();
        let number = relation.column(column).unwrap().number;
        shown(policy.role(role).unwrap(), &catalog, relation.id.0, number)
    };
    assert_eq!(what("analyst", "app", "customers", "phone"), Shown::Masked);
    assert_eq!(what("analyst", "app", "customers", "email"), Shown::Masked);
    assert_eq!(what("analyst", "app", "customers", "ssn"), Shown::Denied);
    assert_eq!(what("analyst", "app", "customers", "full_name"), Shown::Plain);
    assert_eq!(what("app", "app", "customers", "phone"), Shown::Plain);
    assert_eq!(what("app", "app", "open_orders", "id"), Shown::Unknown, "a view counts by what it reads");
    assert_eq!(what("app", "pg_catalog", "pg_class", "relname"), Shown::Plain);
    assert_eq!(what("app", "pg_catalog", "pg_class", "reltuples"), Shown::Masked);
    let analyst = policy.role("analyst").unwrap();
    for (table, number) in [(0, 0), (4_000_000, 1), (1_259, 999)] {
        assert_eq!(shown(analyst, &catalog, table, number), Shown::Unknown, "{table}.{number}");
    }
}

#[test]
fn what_a_childs_column_is_its_parents_is_too() {
    let masked = POLICY.replace("app.customers.phone", "app.pinned_notes.body");
    let policy = Policy::load(&masked, "policy.yaml").unwrap().policy;
    let catalog = Catalog::parse(CATALOG).unwrap();
    let notes = catalog.relation("app", "notes").unwrap();
    let body = notes.column("body").unwrap().number;
    assert_eq!(shown(policy.role("analyst").unwrap(), &catalog, notes.id.0, body), Shown::Masked);
}

fn obligations(principal: &str, sql: &str) -> Obligations {
    let (policy, catalog) = lab();
    let principal = Principal::parse(principal).unwrap();
    let judge = || {
        let judgement = judge(sql, Mode::Simple, &principal, &policy, &catalog, &NoNames);
        match judgement.statements.into_iter().next().unwrap().verdict {
            Verdict::Allow(obligations) => Some(obligations),
            Verdict::Deny(_) => None,
        }
    };
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        builder.spawn_scoped(scope, judge).unwrap().join().unwrap().unwrap()
    })
}

#[test]
fn outputs_are_counted_where_one_is_masked() {
    let masked = obligations(
        "analyst:acme",
        "SELECT id, phone, full_name FROM app.customers WHERE tenant_id = 'acme'",
    );
    assert_eq!(masked.outputs, 3);
    assert_eq!(
        masked.masks.iter().map(|mask| (mask.output, &mask.mask)).collect::<Vec<_>>(),
        [(1, &Mask::Null)]
    );
    assert_eq!(
        obligations("analyst:acme", "SELECT id FROM app.customers WHERE tenant_id = 'acme'").outputs,
        0
    );
    let catalog = obligations("app:acme", "SELECT * FROM pg_catalog.pg_class");
    assert!(catalog.outputs > 30 && catalog.masks.len() > 1 && !catalog.scoped);
}

#[test]
fn a_statement_is_scoped_where_it_reaches_rows_of_tenants() {
    for (scoped, principal, sql) in [
        (true, "app:acme", "SELECT 1 FROM app.orders WHERE tenant_id = 'acme'"),
        (
            true,
            "app:acme",
            "SELECT 1 FROM app.plans WHERE EXISTS (SELECT 1 FROM app.orders WHERE tenant_id = 'acme')",
        ),
        (true, "app:acme", "SELECT 1 FROM app.open_orders WHERE tenant_id = 'acme'"),
        (true, "app:acme", "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'x')"),
        (true, "app:acme", "PREPARE p AS SELECT 1 FROM app.orders WHERE tenant_id = 'acme'"),
        (true, "app:acme", "COPY (SELECT id FROM app.orders WHERE tenant_id = 'acme') TO STDOUT"),
        (true, "ops", "SELECT 1 FROM app.orders"),
        (false, "app:acme", "SELECT 1 FROM app.plans"),
        (false, "app:acme", "SELECT 1 / 0"),
        (false, "app:acme", "SHOW TimeZone"),
    ] {
        assert_eq!(obligations(principal, sql).scoped, scoped, "{sql}");
    }
}
