//! Denied, masked and system columns (policy 4.5).

use crate::lab::{Lab, on_large_stack, only};
use pgmoat_policy::{Mask, Mode, Verdict};

#[test]
fn a_denied_column_is_denied_wherever_it_appears() {
    on_large_stack(|| {
        Lab::new().expect(
            "analyst:acme",
            &[
                ("ok", "SELECT id, full_name FROM app.customers WHERE tenant_id = 'acme'"),
                ("ok", "SELECT count(*) FROM app.customers WHERE tenant_id = 'acme'"),
                ("ok", "SELECT (c).id FROM app.customers c WHERE tenant_id = 'acme'"),
                ("column_not_allowed", "SELECT * FROM app.customers WHERE tenant_id = 'acme'"),
                ("column_not_allowed", "SELECT c FROM app.customers c WHERE tenant_id = 'acme'"),
                ("column_not_allowed", "SELECT (c).ssn FROM app.customers c WHERE tenant_id = 'acme'"),
                ("column_not_allowed", "SELECT ssn(c) FROM app.customers c WHERE tenant_id = 'acme'"),
                ("column_not_allowed", "SELECT c.to_jsonb FROM app.customers c WHERE tenant_id = 'acme'"),
                ("column_not_allowed", "SELECT id FROM app.customers WHERE tenant_id = 'acme' AND ssn = '1'"),
                ("column_not_allowed", "SELECT id FROM app.customers WHERE tenant_id = 'acme' ORDER BY ssn"),
                ("column_not_allowed", "SELECT x FROM app.customers AS c(a, b, c, d, x) WHERE b = 'acme'"),
                (
                    "column_not_allowed",
                    "SELECT 1 FROM (SELECT * FROM app.customers WHERE tenant_id = 'acme') c",
                ),
                (
                    "column_not_allowed",
                    "SELECT 1 FROM app.customers NATURAL JOIN (SELECT 'acme' AS tenant_id, '1' AS ssn) x",
                ),
            ],
        );
    });
}

#[test]
fn a_masked_column_behind_the_star_of_exists_is_not_used() {
    on_large_stack(|| {
        let text = include_str!("../../../lab/policy.yaml");
        let masks_only = text.replace("    columns: { deny: [\"app.customers.ssn\"] }\n", "");
        assert_ne!(masks_only, text);
        Lab::with_policy(&masks_only).expect(
            "analyst:acme",
            &[
                ("ok", "SELECT 1 WHERE EXISTS (SELECT * FROM app.customers WHERE tenant_id = 'acme')"),
                ("ok", "SELECT 1 WHERE EXISTS (SELECT c.* FROM (SELECT * FROM app.customers) c WHERE c.tenant_id = 'acme')"),
                ("ok", "SELECT id FROM app.orders o WHERE tenant_id = 'acme' AND NOT EXISTS (SELECT * FROM app.customers c WHERE c.tenant_id = o.tenant_id AND c.id = o.customer_id)"),
                ("masked_column_use", "SELECT 1 WHERE EXISTS (SELECT c FROM app.customers c WHERE c.tenant_id = 'acme')"),
                ("masked_column_use", "SELECT 1 WHERE EXISTS (SELECT * FROM app.customers WHERE tenant_id = 'acme' AND email = 'x')"),
            ],
        );
    });
}

#[test]
fn a_masked_column_is_plain_output_only() {
    on_large_stack(|| {
        Lab::new().expect(
            "analyst:acme",
            &[
                ("ok", "SELECT email FROM app.customers WHERE tenant_id = 'acme'"),
                ("ok", "SELECT e FROM (SELECT email AS e FROM app.customers WHERE tenant_id = 'acme') x"),
                ("ok", "WITH c AS (SELECT email FROM app.customers WHERE tenant_id = 'acme') SELECT email FROM c"),
                ("ok", "SELECT (SELECT email FROM app.customers WHERE tenant_id = 'acme' LIMIT 1)"),
                ("ok", "SELECT 1 WHERE EXISTS (SELECT email FROM app.customers WHERE tenant_id = 'acme')"),
                ("masked_column_use", "SELECT 1 WHERE EXISTS (SELECT upper(email) FROM app.customers WHERE tenant_id = 'acme')"),
                ("masked_column_use", "SELECT 1 WHERE EXISTS (SELECT DISTINCT email FROM app.customers WHERE tenant_id = 'acme')"),
                ("column_not_allowed", "SELECT 1 WHERE EXISTS (SELECT * FROM app.customers WHERE tenant_id = 'acme')"),
                ("ok", "SELECT email FROM app.customers WHERE tenant_id = 'acme' UNION ALL SELECT 'none'"),
                ("masked_column_use", "SELECT email || '' FROM app.customers WHERE tenant_id = 'acme'"),
                ("masked_column_use", "SELECT email::text FROM app.customers WHERE tenant_id = 'acme'"),
                ("masked_column_use", "SELECT DISTINCT email FROM app.customers WHERE tenant_id = 'acme'"),
                ("masked_column_use", "SELECT email FROM app.customers WHERE tenant_id = 'acme' GROUP BY 1"),
                ("masked_column_use", "SELECT email FROM app.customers WHERE tenant_id = 'acme' ORDER BY email"),
                ("masked_column_use", "SELECT email FROM app.customers WHERE tenant_id = 'acme' UNION SELECT 'none'"),
                ("masked_column_use", "SELECT email FROM app.customers WHERE tenant_id = 'acme' UNION ALL SELECT phone FROM app.customers WHERE tenant_id = 'acme'"),
                ("masked_column_use", "SELECT upper(e) FROM (SELECT email AS e FROM app.customers WHERE tenant_id = 'acme') x"),
                ("masked_column_use", "SELECT x FROM (SELECT email AS e FROM app.customers WHERE tenant_id = 'acme') x"),
                ("masked_column_use", "SELECT 1 FROM app.customers c JOIN (SELECT 'x' AS email) x USING (email) WHERE c.tenant_id = 'acme'"),
                ("masked_column_use", "SELECT 'x' IN (SELECT email FROM app.customers WHERE tenant_id = 'acme')"),
                ("masked_column_use", "WITH RECURSIVE r(e, n) AS (SELECT email::text, 1 FROM app.customers WHERE tenant_id = 'acme' UNION ALL SELECT e, n + 1 FROM r WHERE n < 2) SELECT e FROM r"),
            ],
        );
    });
}

#[test]
fn what_a_recursive_query_adds_or_brings_later_carries_no_masked_value() {
    on_large_stack(|| {
        let sql = |rest: &str| {
            format!(
                "WITH RECURSIVE x AS (SELECT email, 1 n FROM app.customers WHERE tenant_id = 'acme' \
                 UNION ALL SELECT email, n + 1 FROM x WHERE n < 2) {rest}"
            )
        };
        let later = "WITH RECURSIVE x(a, b, n) AS (SELECT email, 'k', 1 FROM app.customers WHERE tenant_id = 'acme' \
                     UNION ALL SELECT 'y', a, n + 1 FROM x WHERE n < 3 AND b LIKE '%a%') SELECT n FROM x";
        Lab::new().expect(
            "analyst:acme",
            &[
                ("ok", &sql("SELECT n, email FROM x")),
                ("ok", &sql("SEARCH DEPTH FIRST BY n SET o SELECT n, o FROM x")),
                ("masked_column_use", &sql("SEARCH DEPTH FIRST BY email SET o SELECT n, o FROM x")),
                ("masked_column_use", &sql("SEARCH BREADTH FIRST BY email, n SET o SELECT n, o FROM x")),
                ("masked_column_use", &sql("CYCLE email SET c USING p SELECT n, p FROM x")),
                ("column_unknown", &sql("CYCLE nope SET c USING p SELECT n, p FROM x")),
                ("masked_column_use", later),
            ],
        );
        Lab::new().expect(
            "app:acme",
            &[
                (
                    "column_not_allowed",
                    "WITH RECURSIVE x AS (SELECT c.reltuples r, 1 n FROM pg_class c UNION ALL SELECT r, n+1 FROM x WHERE n<1) SEARCH DEPTH FIRST BY r SET o SELECT o FROM x",
                ),
                (
                    "column_not_allowed",
                    "WITH RECURSIVE x AS (SELECT c.last_value r, 1 n FROM pg_sequences c UNION ALL SELECT r, n+1 FROM x WHERE n<1) CYCLE r SET c USING p SELECT p FROM x",
                ),
            ],
        );
    });
}

#[test]
fn masks_are_told_by_output_position() {
    on_large_stack(|| {
        let lab = Lab::new();
        let sql = "SELECT id, x.p, e FROM (SELECT id, email AS e, phone AS p FROM app.customers WHERE tenant_id = 'acme') x";
        let judgement = lab.judge("analyst:acme", Mode::Simple, sql);
        let Verdict::Allow(obligations) = &only(&judgement).verdict else { unreachable!() };
        let masks: Vec<(usize, Mask)> =
            obligations.masks.iter().map(|at| (at.output, at.mask.clone())).collect();
        assert_eq!(masks, [(1, Mask::Null), (2, Mask::Partial { keep: 2 })]);
        assert_eq!(obligations.rows.map(|cap| cap.max), Some(1000));
    });
}

#[test]
fn system_columns_tell_of_other_tenants_writes() {
    on_large_stack(|| {
        let lab = Lab::new();
        lab.expect(
            "app:acme",
            &[
                ("ok", "SELECT tableoid FROM app.orders WHERE tenant_id = 'acme'"),
                ("column_not_allowed", "SELECT xmin FROM app.orders WHERE tenant_id = 'acme'"),
                ("column_not_allowed", "SELECT o.ctid FROM app.orders o WHERE tenant_id = 'acme'"),
                ("column_unknown", "SELECT oid FROM app.orders WHERE tenant_id = 'acme'"),
                ("ok", "SELECT tableoid(o) FROM app.orders o WHERE tenant_id = 'acme'"),
                ("column_not_allowed", "SELECT ctid(o) FROM app.orders o WHERE tenant_id = 'acme'"),
                (
                    "column_not_allowed",
                    "SELECT xmax(o), cmin(o), cmax(o) FROM app.orders o WHERE tenant_id = 'acme'",
                ),
                (
                    "column_not_allowed",
                    "SELECT count(*) FROM app.orders o WHERE tenant_id = 'acme' AND xmin(o)::text = '768'",
                ),
                ("column_not_allowed", "SELECT xmin(o.*) FROM app.orders o WHERE tenant_id = 'acme'"),
                (
                    "column_not_allowed",
                    "SELECT (o).xmin, (o.*).xmax FROM app.orders o WHERE tenant_id = 'acme'",
                ),
                (
                    "column_not_allowed",
                    "INSERT INTO app.orders AS o (tenant_id) VALUES ('acme') RETURNING xmax(o)",
                ),
            ],
        );
        lab.expect("ops", &[("ok", "SELECT xmin FROM app.orders")]);
    });
}
