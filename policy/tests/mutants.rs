//! Every weakening of the judge lets an attack of the corpus pass, or one that stands here: what no
//! test would notice might be broken tomorrow.
//!
//! `cargo test -p pgmoat-policy --features mutants --test mutants`

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking and say what they saw"
)]

use pgmoat_policy::mutants::{Mutant, activate};
use pgmoat_policy::policy::Format;
use pgmoat_policy::{Catalog, Mode, NoNames, Policy, Principal, STACK_BYTES, Verdict, judge};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
struct Case {
    principal: String,
    sql: String,
    expect: String,
    params: Option<Vec<Option<String>>>,
}

struct Lab {
    policy: Policy,
    catalog: Catalog,
}

impl Lab {
    fn new() -> Lab {
        // An operator that is allowed, and is no equality.
        let text = include_str!("../../lab/policy.yaml").replace("app.net_price", "app.*");
        let policy = Policy::load(&text, "lab/policy.yaml").unwrap();
        let catalog = Catalog::parse(include_str!("../golden/lab-catalog.json")).unwrap();
        Lab { policy: policy.policy, catalog }
    }

    /// Only the foreign key's pair of columns is unique in warehouses, not the id alone.
    fn without_unique() -> Lab {
        let mut catalog: Value = serde_json::from_str(include_str!("../golden/lab-catalog.json")).unwrap();
        for key in catalog["unique_keys"].as_array_mut().unwrap() {
            if key["relation"]["name"] == "warehouses" && key["columns"].as_array().unwrap().len() == 1 {
                key["deferrable"] = Value::Bool(true);
            }
        }
        Lab { catalog: Catalog::parse(&catalog.to_string()).unwrap(), ..Lab::new() }
    }

    fn allows(&self, principal: &Principal, sql: &str, params: Option<&[Option<String>]>) -> bool {
        let mode = if params.is_some() { Mode::Extended { declared: &[] } } else { Mode::Simple };
        let judgement = judge(sql, mode, principal, &self.policy, &self.catalog, &NoNames);
        let values: Vec<_> = params
            .unwrap_or_default()
            .iter()
            .map(|text| (text.as_deref().map(str::as_bytes), Format::Text))
            .collect();
        judgement.denial().is_none()
            && judgement.statements.iter().all(|judged| match &judged.verdict {
                Verdict::Deny(_) => false,
                Verdict::Allow(obligations) => obligations
                    .binds
                    .iter()
                    .all(|check| check.holds(&self.policy, principal, &values).is_ok()),
            })
    }
}

fn principal(user: &str) -> Principal {
    let name = match user {
        "acme_app" => "app:acme",
        "globex_app" => "app:globex",
        "acme_analyst" => "analyst:acme",
        other => other,
    };
    Principal::parse(name).unwrap()
}

/// Attacks beside the corpus's, of acme's application.
const ATTACKS: &[&str] = &[
    // Logic.
    "SELECT 1 FROM app.orders WHERE NOT (tenant_id <> 'acme' AND id = 1)",
    "SELECT 1 FROM app.orders WHERE NOT (tenant_id IN (SELECT 'acme'))",
    "SELECT 1 FROM app.orders WHERE 1 = 1",
    "SELECT 1 FROM app.orders WHERE tenant_id = 'Acme'",
    "SELECT 1 FROM app.orders WHERE tenant_id::varchar(4) = 'acme'",
    "SELECT 1 FROM app.orders WHERE tenant_id COLLATE \"und-x-icu\" = 'acme'",
    "SELECT 1 FROM app.orders WHERE tenant_id IS NOT DISTINCT FROM (SELECT 'acme' WHERE false)",
    "SELECT 1 FROM app.orders o JOIN json_to_recordset('[]') AS r(t name) ON o.tenant_id = r.t WHERE r.t = 'acme'",
    // Joins.
    "SELECT 1 FROM app.plans p RIGHT JOIN app.orders o ON o.tenant_id = 'acme'",
    "SELECT 1 FROM app.plans p FULL JOIN app.orders o ON o.tenant_id = 'acme'",
    "SELECT 1 FROM app.orders o FULL JOIN app.notes n ON o.tenant_id = 'acme' AND n.tenant_id = 'acme' WHERE o.id = o.customer_id",
    "SELECT (SELECT count(*) FROM app.notes n WHERE n.tenant_id IS NOT DISTINCT FROM o.tenant_id) FROM app.plans p LEFT JOIN app.orders o ON o.tenant_id = 'acme'",
    // Keys.
    "SELECT w.name FROM app.shipments s, app.warehouses w WHERE s.tenant_id = 'acme'",
    "SELECT s.id FROM app.warehouses w JOIN app.shipments s ON s.warehouse_id = w.id WHERE w.tenant_id = 'acme'",
    // Derived tables and CTEs.
    "SELECT * FROM (SELECT DISTINCT ON (id) id, tenant_id FROM app.orders) x WHERE tenant_id = 'acme'",
    "SELECT * FROM (SELECT tenant_id, count(*) FROM app.orders GROUP BY status) x WHERE tenant_id = 'acme'",
    "SELECT * FROM (SELECT tenant_id, generate_series(1, 2) FROM app.orders) x WHERE tenant_id = 'acme'",
    "SELECT tenant_id IN (SELECT tenant_id FROM app.notes) FROM app.orders WHERE tenant_id = 'acme'",
    "SELECT status, count(*) FROM app.orders GROUP BY status HAVING tenant_id = 'acme'",
    "WITH RECURSIVE r(t) AS (SELECT 'acme'::text UNION ALL SELECT 'globex' FROM r) SELECT 1 FROM app.orders o JOIN r ON o.tenant_id = r.t",
    "WITH RECURSIVE r AS (SELECT id, tenant_id FROM app.orders UNION ALL SELECT r.id + 1, r.tenant_id FROM r) SELECT * FROM r WHERE tenant_id = 'acme'",
    // Writes.
    "INSERT INTO app.notes (tenant_id, body) SELECT 'acme', 'x' UNION ALL SELECT 'globex', 'y'",
    "INSERT INTO app.notes (tenant_id, body) SELECT c.tenant_id, 'x' FROM app.plans p LEFT JOIN app.customers c ON c.tenant_id = 'acme'",
    "INSERT INTO app.notes (id, body, tenant_id) VALUES (1, 'acme', 'globex')",
    "INSERT INTO app.notes (id, tenant_id, body) VALUES (1, 'acme', 'x') ON CONFLICT (id) DO UPDATE SET body = 'y' WHERE EXCLUDED.tenant_id = 'acme'",
    "MERGE INTO app.orders o USING (SELECT 1 AS k) s ON o.tenant_id = 'acme' AND o.id = s.k WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "UPDATE app.orders o SET note = 'globex' WHERE tenant_id = 'acme' AND note = 'acme' RETURNING (SELECT count(*) FROM app.notes n WHERE n.tenant_id = o.note)",
    "MERGE INTO app.notes t USING (SELECT 1 AS k) s ON t.tenant_id = 'acme' AND t.id = s.k WHEN NOT MATCHED THEN INSERT (id, tenant_id, body) VALUES (1, 'globex', 'x')",
    "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'x'), ('globex', 'y')",
    "INSERT INTO app.customers (tenant_id, email, full_name, profile[(SELECT max(full_name) FROM app.customers)]) VALUES ('acme', 'a@b', 'x', '1')",
    "DELETE FROM app.notes WHERE tenant_id = 'acme' RETURNING (SELECT count(*) FROM app.orders)",
    // Names.
    "SELECT n.id FROM app.notes n, (VALUES ('acme'::text)) AS notes(tenant_id) WHERE notes.tenant_id = 'acme'",
    "SELECT o.id FROM app.orders o, (SELECT p AS o FROM (SELECT 'acme'::text AS tenant_id) p) d WHERE (o).tenant_id = 'acme'",
    "WITH shipments(tenant_id, warehouse_id) AS (SELECT 'acme'::text, 1) SELECT w.name FROM shipments s JOIN app.warehouses w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
    "WITH orders AS (SELECT id FROM app.orders WHERE tenant_id = 'acme') SELECT id FROM app.orders",
    "WITH notes AS (SELECT x.id FROM notes x) SELECT y.id FROM notes y",
    "SELECT l.id FROM app.notes AS l(id, body, tenant_id) WHERE l.tenant_id = 'acme'",
    "SELECT b.id FROM (app.orders a JOIN app.plans p ON a.tenant_id = 'acme') FULL JOIN app.orders b USING (tenant_id, id), (VALUES (1)) q(n) WHERE id = q.n",
    // Relations and operators.
    "SELECT 1 FROM app.events_2026",
    "SELECT 1 FROM app.pinned_notes",
    "SELECT 1 FROM app.daily_revenue",
    "SELECT 1 FROM app.orders WHERE tenant_id OPERATOR(app.=) 'acme'::text",
    "SELECT 1 FROM app.orders WHERE tenant_id::char(10) = 'acme'",
    // Locks, and aggregates over no rows.
    "SELECT c.id FROM app.customers c JOIN (VALUES ('acme')) x(t) ON x.t = c.tenant_id WHERE (SELECT o.id FROM app.orders o WHERE o.tenant_id = c.tenant_id LIMIT 1 FOR UPDATE) > 0",
    "SELECT count(*), (SELECT count(*) FROM app.orders) FROM app.notes WHERE FALSE",
    "SELECT d.id FROM (SELECT v.tenant_id AS t, o.id FROM app.orders o LEFT JOIN app.notes v ON o.id = v.id AND o.tenant_id = 'acme' AND v.tenant_id = 'acme') d",
];

/// An attack where a warehouse's id is not unique.
const BY_ID: &str = "SELECT w.name FROM app.shipments s JOIN app.warehouses w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'";

/// Attacks with a parameter, each with a value.
const BOUND: &[(&str, &str)] = &[("SELECT $1::\"char\" FROM app.orders WHERE tenant_id = $1", "acme")];

#[test]
fn every_mutant_lets_an_attack_pass() {
    let test = || {
        let lab = Lab::new();
        let corpus: Vec<Case> = include_str!("../../tests/corpus/attack.jsonl")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .filter(|case: &Case| case.expect == "deny")
            .collect();
        let app = principal("acme_app");
        activate(None);
        for sql in ATTACKS {
            assert!(!lab.allows(&app, sql, None), "{sql}");
        }
        let other = Lab::without_unique();
        assert!(lab.allows(&app, BY_ID, None) && !other.allows(&app, BY_ID, None));
        let bound = || {
            let allowed =
                |(sql, value): &&(&str, &str)| lab.allows(&app, sql, Some(&[Some((*value).to_owned())]));
            BOUND.iter().filter(allowed).count()
        };
        assert_eq!(bound(), 0);
        let mut alive = Vec::new();
        for mutant in Mutant::ALL {
            activate(Some(*mutant));
            let passed = corpus
                .iter()
                .filter(|case| lab.allows(&principal(&case.principal), &case.sql, case.params.as_deref()))
                .count();
            let more = ATTACKS.iter().filter(|sql| lab.allows(&app, sql, None)).count()
                + bound()
                + usize::from(other.allows(&app, BY_ID, None));
            println!("{:32} {passed:3} of the corpus, {more:3} here", mutant.name());
            if passed + more == 0 {
                alive.push(mutant.name());
            }
        }
        activate(None);
        assert!(alive.is_empty(), "nothing notices {alive:?}");
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test).unwrap().join().unwrap();
}
