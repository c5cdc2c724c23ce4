//! What PostgreSQL calls an output that has no alias (FigureColname): an unqualified name means it, and not
//! a column further out, wherever it is called so.

use crate::lab::{Lab, on_large_stack};

/// The name stands for the inner column, which is anybody's, though one further out is the tenant's.
fn means_the_inner_column(title: &str, source: &str) -> (&'static str, String) {
    (
        "tenant_unproven",
        format!(
            "SELECT o.a, (SELECT count(*) FROM app.orders z(a, b), {source} WHERE z.b = \"{title}\"::text) \
             FROM app.orders o(a, \"{title}\") WHERE o.\"{title}\" = 'acme'"
        ),
    )
}

#[test]
fn an_output_without_an_alias_has_postgresqls_name() {
    let outputs = [
        ("t", "(SELECT q.* FROM (SELECT 'globex'::text AS t) q)"),
        ("t", "(SELECT * FROM (SELECT 'globex'::text AS t) q)"),
        ("t", "(TABLE q)"),
        ("t", "(SELECT (x).* FROM (SELECT 'globex'::text AS t) x)"),
        ("t", "(SELECT 'globex' AS t)::varchar"),
        ("t", "CASE WHEN true THEN '' ELSE (SELECT 'globex' AS t) END"),
        ("t", "(SELECT 'globex' AS t) COLLATE \"C\""),
        ("t", "(SELECT ARRAY['globex'] AS t)[1]"),
        ("column1", "(VALUES ('globex'))"),
        ("?column?", "(SELECT 'globex')::text"),
        ("text", "'globex'::text"),
        ("case", "CASE WHEN true THEN 'globex' END"),
        ("?column?", "true"),
        ("coalesce", "COALESCE('globex', '')"),
        ("nullif", "NULLIF('globex', '')"),
        ("array", "ARRAY['globex']"),
        ("array", "ARRAY(SELECT 'globex')"),
        ("row", "ROW('globex')"),
        ("exists", "EXISTS (SELECT 1)"),
        ("current_date", "current_date"),
        ("current_date", "current_date::text"),
        ("localtimestamp", "localtimestamp(0)"),
        ("current_user", "current_user"),
        ("session_user", "session_user::text"),
        ("xmlserialize", "xmlserialize(CONTENT '' AS text)"),
        ("lower", "lower('GLOBEX')"),
    ];
    let functions = [
        ("coalesce", "coalesce('globex', 'x')"),
        ("greatest", "greatest('globex', 'x')"),
        ("text", "CAST('globex' AS text)"),
        ("current_user", "current_user"),
        ("lower", "lower('GLOBEX')"),
        ("k", "lower('GLOBEX') k"),
        ("value", "jsonb_array_elements_text('[\"globex\"]')"),
        ("value", "jsonb_array_elements_text('[\"globex\"]') k"),
        ("lower", "ROWS FROM (lower('GLOBEX'), upper('x')) k"),
        ("upper", "ROWS FROM (lower('x'), upper('GLOBEX')) k"),
        ("value", "ROWS FROM (jsonb_array_elements_text('[\"globex\"]')) k"),
        ("k", "unnest(ARRAY['globex']) k"),
        ("v", "jsonb_array_elements_text('[\"globex\"]') k(v)"),
    ];
    on_large_stack(move || {
        let lab = Lab::new();
        let named = outputs.iter().map(|(title, output)| {
            let with =
                if output.contains("TABLE q") { "WITH q AS (SELECT 'globex'::text AS t) " } else { "" };
            means_the_inner_column(title, &format!("({with}SELECT {output}) d"))
        });
        let named =
            named.chain(functions.iter().map(|(title, source)| means_the_inner_column(title, source)));
        let named: Vec<_> = named.collect();
        let cases: Vec<_> = named.iter().map(|(code, sql)| (*code, sql.as_str())).collect();
        lab.expect("app:acme", &cases);
    });
}

/// A name that is not known may be any.
#[test]
fn an_output_whose_name_is_not_known_may_be_any() {
    on_large_stack(|| {
        let wide = "(SELECT (x).* FROM (SELECT (jsonb_each('{\"a\": 1}')).*) y)";
        let (code, sql) = means_the_inner_column("key", &format!("(SELECT {wide}) d"));
        Lab::new().expect("app:acme", &[(code, &sql)]);
        let returned = "WITH u AS (UPDATE app.notes SET body = '' WHERE tenant_id = 'acme' RETURNING (jsonb_each('{\"a\": 1}')).*) \
                        SELECT o.a, (SELECT count(*) FROM app.orders z(a, b), u WHERE z.b = key) FROM app.orders o(a, key) WHERE o.key = 'acme'";
        Lab::new().expect(
            "app:acme",
            &[
                ("tenant_unproven", returned),
                ("ok", "SELECT value FROM jsonb_array_elements_text('[1]') AS a"),
                ("column_unknown", "SELECT a FROM jsonb_array_elements_text('[1]') AS a WHERE b = a"),
            ],
        );
    });
}
