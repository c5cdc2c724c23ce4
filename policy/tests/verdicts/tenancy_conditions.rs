//! Which conditions restrict a relation (policy 3, 3.1), each with neighbours that do not.

use crate::lab::{Lab, on_large_stack};

fn expect(cases: &'static [(&'static str, &'static str)]) {
    on_large_stack(move || Lab::new().expect("app:acme", cases));
}

#[test]
fn equalities() {
    expect(&[
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id = 'acme'"),
        ("ok", "SELECT 1 FROM app.orders WHERE 'acme' = tenant_id"),
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id IN ('acme', E'acm\\145')"),
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id = ANY (ARRAY['acme', 'acme'::text])"),
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id = ANY ('{acme,\"acme\"}')"),
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id = ANY (ARRAY['acme']::varchar[])"),
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id IS NOT DISTINCT FROM 'acme'"),
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id OPERATOR(pg_catalog.=) 'acme'"),
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id::varchar = 'acme'::text"),
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id COLLATE \"C\" = 'acme'"),
        ("ok", "SELECT 1 FROM app.orders WHERE (tenant_id, id) = ('acme', 1)"),
        ("ok", "SELECT 1 FROM app.orders WHERE (id, tenant_id) IN ((1, 'acme'), (2, 'acme'))"),
        ("ok", "SELECT 1 FROM billing.invoices WHERE account_no = 42"),
        ("ok", "SELECT 1 FROM billing.invoices WHERE account_no = ' 42 '"),
        ("ok", "SELECT 1 FROM billing.invoices WHERE account_no::bigint = 42::bigint"),
        ("tenant_mismatch", "SELECT 1 FROM app.orders WHERE tenant_id = 'globex'"),
        ("tenant_mismatch", "SELECT 1 FROM app.orders WHERE tenant_id = ' acme'"),
        ("tenant_mismatch", "SELECT 1 FROM app.orders WHERE tenant_id IN ('acme', 'globex')"),
        ("tenant_mismatch", "SELECT 1 FROM app.orders WHERE tenant_id = ANY ('{acme,globex}')"),
        ("tenant_mismatch", "SELECT 1 FROM app.orders WHERE tenant_id = 'acme'::varchar(3)"),
        ("tenant_mismatch", "SELECT 1 FROM app.orders WHERE tenant_id = 'acme'::\"char\""),
        ("tenant_mismatch", "SELECT 1 FROM app.orders WHERE tenant_id = 'acme'::name"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE tenant_id = NULL"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE tenant_id = 'ac' || 'me'"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE tenant_id <> 'globex'"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE tenant_id = ALL ('{acme}')"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE tenant_id LIKE 'acme'"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE NULLIF(tenant_id, 'acme') IS NULL"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE lower(tenant_id) = 'acme'"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE tenant_id::char(4) = 'acme'"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE (tenant_id, id) >= ('acme', 1)"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE tenant_id BETWEEN 'acme' AND 'acme'"),
        ("operator_not_allowed", "SELECT 1 FROM app.orders WHERE tenant_id OPERATOR(app.=) 'acme'"),
        ("tenant_unproven", "SELECT 1 FROM billing.invoices WHERE account_no = 41 + 1"),
        ("tenant_mismatch", "SELECT 1 FROM billing.invoices WHERE account_no = 42.0"),
        ("tenant_unproven", "SELECT 1 FROM billing.invoices WHERE account_no::numeric = 42"),
    ]);
}

#[test]
fn logic() {
    expect(&[
        ("ok", "SELECT 1 FROM app.orders WHERE id > 3 AND tenant_id = 'acme'"),
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id = 'acme' AND id = 1 OR tenant_id = 'acme'"),
        ("ok", "SELECT 1 FROM app.orders WHERE FALSE OR tenant_id = 'acme'"),
        ("ok", "SELECT 1 FROM app.orders WHERE 1 > 2 OR tenant_id = 'acme'"),
        ("ok", "SELECT 1 FROM app.orders WHERE NOT (tenant_id <> 'acme' OR id = 1)"),
        ("ok", "SELECT 1 FROM app.orders WHERE NOT NOT (tenant_id = 'acme')"),
        ("ok", "SELECT 1 FROM app.orders WHERE NOT (tenant_id IS DISTINCT FROM 'acme')"),
        ("ok", "SELECT 1 FROM app.orders WHERE NOT (tenant_id NOT IN ('acme'))"),
        ("ok", "SELECT 1 FROM app.orders WHERE (tenant_id = 'acme') IS TRUE"),
        ("ok", "SELECT 1 FROM app.orders WHERE (tenant_id = 'acme' AND id = 1) = TRUE"),
        ("ok", "SELECT count(*) FROM app.orders WHERE 1 = 0"),
        ("ok", "SELECT * FROM (SELECT * FROM app.orders) o WHERE FALSE"),
        ("ok", "SELECT tenant_id, sum(total) FROM app.orders GROUP BY tenant_id HAVING tenant_id = 'acme'"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE tenant_id = 'acme' OR id = 1"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE 1 < 2 OR tenant_id = 'acme'"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE 'a' = 'b'"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE NOT (tenant_id = 'acme')"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE NOT (tenant_id <> 'acme' AND id = 1)"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE (tenant_id = 'acme') IS NOT FALSE"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE NOT ((tenant_id <> 'acme') IS TRUE)"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE NOT ((tenant_id <> 'acme') = TRUE)"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE COALESCE(tenant_id = 'acme', true)"),
        ("tenant_unproven", "SELECT 1 FROM app.orders WHERE CASE WHEN id > 0 THEN tenant_id = 'acme' END"),
        ("tenant_unproven", "SELECT count(*) FILTER (WHERE tenant_id = 'acme') FROM app.orders"),
        ("tenant_unproven", "SELECT max(id) FROM app.orders HAVING max(tenant_id) = 'acme'"),
        ("tenant_unproven", "SELECT id FROM app.orders ORDER BY tenant_id = 'acme'"),
        ("tenant_unproven", "WITH d AS (SELECT count(*) FROM app.orders) SELECT 1 WHERE FALSE"),
    ]);
}

#[test]
fn chains_and_columns_that_are_the_tenant() {
    expect(&[
        (
            "ok",
            "SELECT 1 FROM app.orders o, app.customers c WHERE o.tenant_id = c.tenant_id AND c.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o, app.customers c WHERE (o.tenant_id, o.id) = (c.tenant_id, c.id) AND c.tenant_id = 'acme'",
        ),
        (
            "ok",
            "WITH me AS (SELECT 'acme'::text AS t) SELECT 1 FROM app.orders o JOIN me ON me.t = o.tenant_id",
        ),
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id = (SELECT 'acme')"),
        (
            "ok",
            "SELECT 1 FROM app.orders WHERE tenant_id IN (SELECT tenant_id FROM app.customers WHERE tenant_id = 'acme')",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o JOIN (VALUES ('acme', 1), ('acme', 2)) v(t, i) ON o.tenant_id = v.t",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o, json_to_recordset('[]') AS r(tenant_id text, id int) WHERE r.tenant_id = 'acme' AND o.tenant_id = r.tenant_id",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o WHERE o.tenant_id = 'acme' AND o.tenant_id IN (SELECT tenant_id FROM app.customers)",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, app.customers c WHERE o.tenant_id = c.full_name AND c.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, app.customers c WHERE o.tenant_id <= c.tenant_id AND c.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o JOIN (VALUES ('acme', 1), ('globex', 2)) v(t, i) ON o.tenant_id = v.t",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, json_to_recordset('[]') AS r(tenant_id \"char\", id int) WHERE r.tenant_id = 'acme' AND o.tenant_id = r.tenant_id",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, json_to_recordset('[]') AS r(tenant_id text COLLATE app.ci, id int) WHERE r.tenant_id = 'acme' AND o.tenant_id = r.tenant_id",
        ),
        // A function in FROM hands on the collation of what it is called with, a domain its own.
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, unnest(ARRAY['acme' COLLATE app.ci]) d(t) WHERE d.t = 'acme' AND o.tenant_id = d.t",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, concat('acme' COLLATE app.ci) d(t) WHERE d.t = 'acme' AND o.tenant_id = d.t",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, ROWS FROM (unnest(ARRAY['acme' COLLATE app.ci]), generate_series(1, 1)) d(t, n) WHERE d.t = 'acme' AND o.tenant_id = d.t",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, unnest(ARRAY['acme' COLLATE app.ci], ARRAY[1]) d(t, n) WHERE d.t = 'acme' AND o.tenant_id = d.t",
        ),
        (
            "tenant_unproven",
            "INSERT INTO app.notes (tenant_id, body) SELECT d.t, 'x' FROM unnest(ARRAY['ACME' COLLATE app.ci]) d(t) WHERE d.t = 'acme'",
        ),
        ("ok", "SELECT 1 FROM app.orders o, unnest(ARRAY['acme', 'acme']) d(t) WHERE o.tenant_id = d.t"),
        ("ok", "SELECT 1 FROM app.orders o, concat('acme') d(t) WHERE d.t = 'acme' AND o.tenant_id = d.t"),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, (SELECT 'acme'::app.email::text t) d WHERE d.t = 'acme' AND o.tenant_id = d.t",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, (VALUES ((ARRAY['acme'::app.email])[1]::text)) d(t) WHERE d.t = 'acme' AND o.tenant_id = d.t",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, (SELECT t::text t FROM jsonb_to_recordset('[]') x(t app.email)) d WHERE d.t = 'acme' AND o.tenant_id = d.t",
        ),
        // NULLIF takes the type that its operator needs.
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o, (SELECT nullif('acme', o.note) t FROM app.orders o WHERE o.tenant_id = 'acme') d WHERE d.t = 'acme' AND o.tenant_id = d.t",
        ),
        // What array_in skips is ASCII.
        ("tenant_mismatch", "SELECT 1 FROM app.orders WHERE tenant_id = ANY ('{ }')"),
        ("ok", "SELECT 1 FROM app.orders WHERE tenant_id = ANY ('{ }')"),
        (
            "tenant_unproven",
            "INSERT INTO app.notes (tenant_id, body) SELECT t, 'x' FROM unnest('{ }'::text[]) u(t)",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders WHERE tenant_id IS NOT DISTINCT FROM (SELECT 'acme' WHERE false)",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o WHERE o.tenant_id = 'acme' AND o.tenant_id IN (SELECT tenant_id FROM app.customers LIMIT 1)",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o JOIN billing.invoices i ON o.tenant_id = i.account_no::text WHERE i.account_no = 42",
        ),
    ]);
}
