//! `$n` as the tenant's value (policy 3, Bound): declared types, other uses, values.

use crate::lab::{Lab, on_large_stack, only};
use pgmoat_policy::{BindCheck, Mode, Must, Verdict};

const TEXT: u32 = 25;
const VARCHAR: u32 = 1043;
const INT8: u32 = 20;
const CHAR: u32 = 18;
const NAME: u32 = 19;
const TEXT_ARRAY: u32 = 1009;

#[test]
fn a_value_is_checked_at_bind() {
    on_large_stack(|| {
        let lab = Lab::new();
        let point = "SELECT * FROM app.orders WHERE tenant_id = $1 AND id = $2";
        let bound = |values: &[Option<&str>]| lab.bound("app:acme", &[], point, values);
        assert_eq!(bound(&[Some("acme"), Some("1")]), "ok");
        assert_eq!(bound(&[Some("globex"), Some("1")]), "at bind");
        assert_eq!(bound(&[None, Some("1")]), "at bind");
        assert_eq!(bound(&[]), "at bind");
        let many = "SELECT * FROM app.orders WHERE tenant_id = ANY ($1)";
        assert_eq!(lab.bound("app:acme", &[], many, &[Some("{acme,acme}")]), "ok");
        assert_eq!(lab.bound("app:acme", &[], many, &[Some("{acme,globex}")]), "at bind");
        let int = "SELECT * FROM billing.invoices WHERE account_no = $1";
        assert_eq!(lab.bound("app:acme", &[], int, &[Some("42")]), "ok");
        assert_eq!(lab.bound("app:acme", &[], int, &[Some("acme")]), "at bind");
        let insert = "INSERT INTO app.notes (tenant_id, body) VALUES ($1, $2)";
        assert_eq!(lab.bound("app:acme", &[], insert, &[Some("acme"), Some("x")]), "ok");
        assert_eq!(lab.bound("app:acme", &[], insert, &[Some("x"), Some("acme")]), "at bind");
    });
}

#[test]
fn another_type_compares_otherwise() {
    on_large_stack(|| {
        let lab = Lab::new();
        let sql = "SELECT * FROM app.orders WHERE tenant_id = $1";
        for declared in [0, TEXT, VARCHAR] {
            assert_eq!(lab.bound("app:acme", &[declared], sql, &[Some("acme")]), "ok");
        }
        for declared in [CHAR, NAME, INT8, 1042, 17] {
            let got = lab.bound("app:acme", &[declared], sql, &[Some("acme")]);
            assert_eq!(got, "type_not_allowed", "{declared}");
        }
        let many = "SELECT * FROM app.orders WHERE tenant_id = ANY ($1)";
        assert_eq!(lab.bound("app:acme", &[TEXT_ARRAY], many, &[Some("{acme}")]), "ok");
        assert_eq!(lab.bound("app:acme", &[TEXT], many, &[Some("{acme}")]), "type_not_allowed");
    });
}

#[test]
fn another_use_may_fix_another_type() {
    on_large_stack(|| {
        let lab = Lab::new();
        let ask =
            |declared: &[u32], sql: &str| lab.bound("app:acme", declared, sql, &[Some("acme"), Some("1")]);
        let char_first = "SELECT $1::\"char\" FROM app.orders WHERE tenant_id = $1";
        assert_eq!(ask(&[], char_first), "type_not_allowed");
        assert_eq!(ask(&[TEXT], char_first), "ok");
        assert_eq!(ask(&[], "SELECT length($1) FROM app.orders WHERE tenant_id = $1"), "type_not_allowed");
        assert_eq!(ask(&[], "SELECT $1::text FROM app.orders WHERE tenant_id = $1"), "ok");
        assert_eq!(
            ask(
                &[],
                "SELECT 1 FROM app.orders o JOIN app.customers c ON c.tenant_id = $1 WHERE o.tenant_id = $1"
            ),
            "ok"
        );
        assert_eq!(ask(&[], "UPDATE app.orders SET tenant_id = $1 WHERE tenant_id = $1"), "ok");
        assert_eq!(ask(&[], "SELECT 1 FROM app.orders WHERE tenant_id = $1::varchar(3)"), "tenant_unproven");
        assert_eq!(
            ask(&[], "SELECT 1 FROM app.orders WHERE tenant_id = COALESCE($1, tenant_id)"),
            "tenant_unproven"
        );
        assert_eq!(ask(&[], "SELECT 1 FROM app.orders WHERE tenant_id = $1 OR id = $2"), "tenant_unproven");
    });
}

#[test]
fn a_simple_query_has_no_parameters() {
    on_large_stack(|| {
        let lab = Lab::new();
        let denial = lab.denial("app:acme", "SELECT * FROM app.orders WHERE tenant_id = $1").unwrap();
        assert_eq!((denial.code.to_string().as_str(), denial.sqlstate.0), ("parameter_unbound", "42P02"));
        assert_eq!(denial.message, "there is no parameter $1");
        assert_eq!(denial.at, Some(43));
    });
}

#[test]
fn a_check_names_the_column_and_never_the_value() {
    on_large_stack(|| {
        let lab = Lab::new();
        let sql =
            "SELECT 1 FROM app.orders o JOIN billing.invoices i ON i.account_no = $2 WHERE o.tenant_id = $1";
        let judgement = lab.judge("app:acme", Mode::Extended { declared: &[] }, sql);
        let Verdict::Allow(obligations) = &only(&judgement).verdict else { unreachable!() };
        let names: Vec<(u32, &str, Option<u32>, bool)> = obligations
            .binds
            .iter()
            .map(|BindCheck { param, must }| match must {
                Must::Own { class, ty, many } => (*param, &*class.column, *ty, *many),
                Must::Setting { name, .. } => unreachable!("{name:?}"),
            })
            .collect();
        assert_eq!(names, [(1, "tenant_id", Some(25), false), (2, "account_no", Some(23), false)]);
        // A constant is preferred to a value that would have to be checked.
        let sql = "SELECT 1 FROM app.orders WHERE tenant_id = 'acme' AND tenant_id = $1";
        let judgement = lab.judge("app:acme", Mode::Extended { declared: &[] }, sql);
        let Verdict::Allow(obligations) = &only(&judgement).verdict else { unreachable!() };
        assert!(obligations.binds.is_empty());
    });
}

#[test]
fn execute_is_the_prepared_text_with_its_arguments() {
    on_large_stack(|| {
        Lab::new().expect(
            "app:acme",
            &[
                ("ok", "PREPARE p AS SELECT * FROM app.orders WHERE tenant_id = $1; EXECUTE p('acme')"),
                ("ok", "PREPARE p (text, int) AS SELECT * FROM app.orders WHERE tenant_id = $1 AND id = $2; EXECUTE p('acme', 1 + 2)"),
                ("tenant_mismatch", "PREPARE p AS SELECT * FROM app.orders WHERE tenant_id = $1; EXECUTE p('globex')"),
                ("tenant_unproven", "PREPARE p AS SELECT * FROM app.orders WHERE tenant_id = $1; EXECUTE p('ac' || 'me')"),
                ("tenant_unproven", "PREPARE p AS SELECT * FROM app.orders WHERE tenant_id = $1; EXECUTE p"),
                ("tenant_unproven", "PREPARE p AS SELECT * FROM app.orders WHERE tenant_id = $1; EXECUTE p(NULL)"),
                ("type_not_allowed", "PREPARE p (\"char\") AS SELECT * FROM app.orders WHERE tenant_id = $1; EXECUTE p('acme')"),
                ("name_unknown", "EXECUTE p('acme')"),
                ("name_unknown", "PREPARE p AS SELECT 1; DEALLOCATE p; EXECUTE p"),
                ("name_unknown", "PREPARE p AS SELECT 1; DISCARD ALL; EXECUTE p"),
                ("function_not_allowed", "PREPARE p AS SELECT pg_sleep($1); EXECUTE p(1)"),
                ("function_not_allowed", "PREPARE p AS SELECT 1; EXECUTE p(pg_sleep(1))"),
            ],
        );
    });
}

#[test]
fn a_setting_may_be_bound_and_is_checked_at_bind() {
    on_large_stack(|| {
        let lab = Lab::new();
        let of = |sql: &str, declared: &[u32], values: &[Option<&str>]| {
            lab.bound("analyst:acme", declared, sql, values)
        };
        let name = "SELECT set_config('application_name', $1, false)";
        assert_eq!(of(name, &[], &[Some("x")]), "ok");
        assert_eq!(of(name, &[25], &[Some("x")]), "ok");
        assert_eq!(of(name, &[], &[None]), "at bind");
        assert_eq!(of(name, &[19], &[Some("x")]), "type_not_allowed");
        let timeout = "SELECT set_config('statement_timeout', $1, $2)";
        assert_eq!(of(timeout, &[], &[Some("4000"), Some("t")]), "ok");
        for value in ["0", "100us", "5001", "x"] {
            assert_eq!(of(timeout, &[], &[Some(value), Some("t")]), "at bind", "{value}");
        }
        let path = "SELECT set_config('search_path', $1, true), set_config('TimeZone', 'UTC', true)";
        assert_eq!(of(path, &[], &[Some("app, public")]), "ok");
        assert_eq!(of(path, &[], &[Some("public, app")]), "at bind");
        for (code, sql) in [
            ("setting_not_allowed", "SELECT set_config('work_mem', $1, false)"),
            ("function_not_allowed", "SELECT set_config($1, NULL, false)"),
            ("type_not_allowed", "SELECT set_config($1, 'x', false), $1"),
            ("type_not_allowed", "SELECT set_config($1, $1, false)"),
            ("function_not_allowed", "SELECT set_config($1::name, 'x', false)"),
            ("function_not_allowed", "SELECT set_config('statement_timeout', $1::varchar(7), false)"),
            ("function_not_allowed", "SELECT set_config('statement_timeout', $1::text::varchar(7), false)"),
            ("function_not_allowed", "SELECT set_config('search_path', $1::text::\"char\"::text, false)"),
            ("function_not_allowed", "SELECT set_config($1::varchar(3), 'x', false)"),
            ("type_not_allowed", "SELECT set_config('TimeZone', $1, false), $1::\"char\""),
            ("function_not_allowed", "SELECT set_config('statement_timeout', 48::\"char\"::text, false)"),
            ("function_not_allowed", "SELECT set_config('search_path', 'app, public'::varchar(3), false)"),
        ] {
            assert_eq!(of(sql, &[], &[Some("UTC")]), code, "{sql}");
        }
    });
}

#[test]
fn the_name_of_a_setting_may_be_bound_and_is_checked_with_its_value() {
    on_large_stack(|| {
        let lab = Lab::new();
        let of = |sql: &str, values: &[Option<&str>]| lab.bound("analyst:acme", &[], sql, values);
        let both = "SELECT set_config($1, $2, false)";
        let swapped = "SELECT set_config($2, $1, $3), set_config('TimeZone', 'UTC', false)";
        for (held, name, value) in [
            (true, Some("application_name"), Some("x")),
            (true, Some("STATEMENT_timeout"), Some("5s")),
            (true, Some("search_path"), Some("app, public")),
            (false, Some("statement_timeout"), Some("0")),
            (false, Some("search_path"), Some("internal")),
            (false, Some("standard_conforming_strings"), Some("off")),
            (false, Some("role"), Some("postgres")),
            (false, Some("work_mem"), Some("1GB")),
            (false, Some("app.tenant"), Some("globex")),
            (false, Some(" timezone"), Some("UTC")),
            (false, Some(""), Some("x")),
            (false, None, Some("x")),
            (false, Some("application_name"), None),
        ] {
            let expected = if held { "ok" } else { "at bind" };
            assert_eq!(of(both, &[name, value]), expected, "{name:?} {value:?}");
            assert_eq!(of(swapped, &[value, name, Some("t")]), expected, "{name:?} {value:?}");
        }
        assert_eq!(of(both, &[Some("application_name")]), "at bind", "a value is missing");
        let zero = "SELECT set_config($1, '0', true)";
        assert_eq!(of(zero, &[Some("lock_timeout")]), "ok");
        assert_eq!(of(zero, &[Some("statement_timeout")]), "at bind");
        // What is prepared by name is not bound by a Bind.
        lab.expect(
            "app:acme",
            &[
                ("unsupported", "PREPARE p AS SELECT set_config($1, $2, false)"),
                (
                    "unsupported",
                    "PREPARE p AS SELECT set_config($1, $2, false); EXECUTE p('role', 'postgres')",
                ),
            ],
        );
    });
}

#[test]
fn a_declared_type_is_judged_whatever_is_done_with_it() {
    on_large_stack(|| {
        let lab = Lab::new();
        for sql in ["SELECT $1", "SELECT $1::text", "SELECT 1"] {
            let of = |oid: u32| lab.bound("app:acme", &[oid], sql, &[Some("x")]);
            for fine in [0, 705, TEXT, INT8, 1082, 3802, TEXT_ARRAY, 2950] {
                assert_eq!(of(fine), "ok", "{sql} {fine}");
            }
            // regclass, regclass[], regproc, regprocedure, regnamespace, regrole, regconfig; aclitem,
            // tid, pg_lsn, refcursor, record.
            for refused in [2205, 2210, 24, 2202, 4089, 4096, 3734, 1033, 27, 3220, 1790, 2249] {
                assert_eq!(of(refused), "type_not_allowed", "{sql} {refused}");
            }
            assert_eq!(of(2_950_000), "type_unknown", "{sql}");
        }
    });
}

#[test]
fn arrays_may_be_unnested_into_rows() {
    on_large_stack(|| {
        let lab = Lab::new();
        let of = |sql: &str, values: &[Option<&str>]| lab.bound("app:acme", &[], sql, values);
        let (own, bodies) = (Some("{acme,acme}"), Some("{x,y}"));
        for sql in [
            "INSERT INTO app.notes (tenant_id, body) SELECT * FROM unnest($1::text[], $2::text[])",
            "INSERT INTO app.notes (tenant_id, body) SELECT unnest($1::text[]), unnest($2::text[])",
            "INSERT INTO app.notes (tenant_id, body) SELECT unnest($1::text[]), $2",
            "SELECT 1 FROM app.orders o JOIN unnest($1::text[], $2::text[]) AS u(t, x) ON o.tenant_id = u.t",
        ] {
            assert_eq!(of(sql, &[own, bodies]), "ok", "{sql}");
            assert_eq!(of(sql, &[Some("{acme,globex}"), bodies]), "at bind", "{sql}");
            assert_eq!(of(sql, &[Some("{acme,NULL}"), bodies]), "at bind", "{sql}");
        }
        for sql in [
            "SELECT 1 FROM app.orders o JOIN unnest($1::text[], $2::text[]) AS u(t, x) ON o.tenant_id IS NOT DISTINCT FROM u.t",
            "INSERT INTO app.notes (tenant_id, body) SELECT u.t, '' FROM app.plans p LEFT JOIN unnest($1::text[], $2::text[]) AS u(t, x) ON true",
            "UPDATE app.notes SET tenant_id = (SELECT t FROM unnest($1::text[], $2::text[]) AS u(t, x) LIMIT 1) WHERE tenant_id = 'acme'",
        ] {
            assert_ne!(of(sql, &[own, bodies]), "ok", "{sql}");
        }
    });
}

/// What a recursive branch passes on brings its terms with it, however many columns it goes through
/// before one of them is compared with a tenant column.
#[test]
fn a_value_that_recursion_passes_on_is_checked() {
    on_large_stack(|| {
        let lab = Lab::new();
        let two = "WITH RECURSIVE r(t, u, n) AS (SELECT 'acme'::text, 'acme'::text, 1 UNION ALL \
                   SELECT u, $1::text, n + 1 FROM r WHERE n < 3) SELECT o.id FROM app.orders o JOIN r ON o.tenant_id = r.t";
        let three = "WITH RECURSIVE r(t, u, v, n) AS (SELECT 'acme'::text, 'acme'::text, 'acme'::text, 1 UNION ALL \
             SELECT u, v, $1::text, n + 1 FROM r WHERE n < 4) SELECT o.id FROM app.orders o JOIN r ON o.tenant_id = r.t";
        let inside = "WITH RECURSIVE r(t, u, n) AS (SELECT 'acme'::text, 'acme'::text, 1 UNION ALL \
                      (WITH q AS (SELECT * FROM r) SELECT q.u, $1::text, q.n + 1 FROM q WHERE n < 3)) \
                      SELECT o.id FROM app.orders o JOIN r ON o.tenant_id = r.t";
        for sql in [two, three, inside] {
            assert_eq!(lab.bound("app:acme", &[], sql, &[Some("acme")]), "ok", "{sql}");
            assert_eq!(lab.bound("app:acme", &[], sql, &[Some("globex")]), "at bind", "{sql}");
            assert_eq!(lab.bound("app:acme", &[], sql, &[None]), "at bind", "{sql}");
        }
    });
}
