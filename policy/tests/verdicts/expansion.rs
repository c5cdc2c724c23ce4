//! `t.*` and `(row).*` in lists stand for as many elements as the row has columns (policy 3.8): what
//! stands behind them stands elsewhere.

use crate::lab::{Lab, on_large_stack, only};
use pgmoat_policy::{Mode, Verdict};

#[test]
fn the_columns_of_a_row_in_a_list_have_their_places() {
    const OWN: &str = "(SELECT 1 AS a, 'acme'::text AS b) x";
    const FOREIGN: &str = "(SELECT 1 AS a, 'globex'::text AS b) x";
    const UNKNOWN: &str = "(SELECT (jsonb_each('{}')).*) x";
    // Whether it passes with the own tenant in the second place; what stands there in LATERAL is not followed.
    const FORMS: [(bool, &str); 6] = [
        (
            false,
            "SELECT o.id FROM app.orders o, {x}, LATERAL (VALUES ({*}, 'acme')) v(i, t, z) WHERE o.tenant_id = v.t",
        ),
        (true, "SELECT o.id FROM app.orders o, {x} WHERE (1, o.tenant_id, 'acme') = ({*}, 'acme')"),
        (false, "SELECT o.id FROM app.orders o, {x} WHERE (1, o.tenant_id, 'acme') IN (({*}, 'acme'))"),
        (
            false,
            "INSERT INTO app.notes (id, tenant_id, body) SELECT v.* FROM {x}, LATERAL (VALUES ({*}, 'acme')) v",
        ),
        (
            true,
            "UPDATE app.notes n SET (id, tenant_id, body) = ROW({*}, 'acme') FROM {x} WHERE n.tenant_id = 'acme'",
        ),
        (
            true,
            "MERGE INTO app.notes n USING {x} ON n.tenant_id = 'acme' AND n.id = -1 WHEN NOT MATCHED THEN INSERT (id, tenant_id, body) VALUES ({*}, 'acme')",
        ),
    ];
    on_large_stack(|| {
        let lab = Lab::new();
        for star in ["x.*", "(x).*"] {
            for (passes, form) in FORMS {
                let with =
                    |from: &str| lab.denial("app:acme", &form.replace("{x}", from).replace("{*}", star));
                assert_eq!(with(OWN).is_none(), passes, "{form} {star}");
                assert!(with(FOREIGN).is_some(), "{form} {star}");
                assert!(with(UNKNOWN).is_some(), "{form} {star}");
            }
        }
    });
}

#[test]
fn a_row_of_unknown_width_stands_in_no_list() {
    let row = "((SELECT n FROM app.notes n WHERE n.tenant_id = 'acme' LIMIT 1)).*";
    on_large_stack(move || {
        Lab::new().expect(
            "app:acme",
            &[
                ("unsupported", &format!("INSERT INTO app.notes (id, tenant_id, body) VALUES ({row}, 'acme')")),
                ("unsupported", &format!("SELECT ROW({row})")),
                ("unsupported", &format!("SELECT o.id FROM app.orders o WHERE ({row}, o.tenant_id) = (1, 'acme')")),
                ("unsupported", &format!("SELECT count({row})")),
                ("ok", &format!("SELECT {row}")),
                ("ok", &format!("SELECT x.id FROM (SELECT {row}, 1 AS n) x")),
                ("tenant_unproven", &format!("SELECT o.id FROM app.orders o, (SELECT {row}, 'acme' AS t) x WHERE o.tenant_id = x.t")),
                ("tenant_mismatch", &format!("INSERT INTO app.notes (id, tenant_id, body) SELECT {row}, 'acme'")),
                // Its place is not the second: it may be any.
                ("tenant_unproven", &format!("SELECT {row}, o.tenant_id, count(*) FROM app.orders o GROUP BY 2 HAVING o.tenant_id = 'acme'")),
            ],
        );
    });
}

/// What is masked is counted from the left: a place that is not certain is nobody's.
#[test]
fn a_masked_column_stands_beside_nothing_of_unknown_width() {
    on_large_stack(|| {
        let lab = Lab::new();
        let masks = |targets: &str| {
            // Any name may be a column of d.
            let unknown = if targets.contains("d.*") { ", (SELECT (jsonb_each('{}')).*) d" } else { "" };
            let sql = format!(
                "SELECT {targets} FROM app.customers c, (SELECT 1 AS a, 2 AS b) x, (SELECT) z{unknown} \
                 WHERE c.tenant_id = 'acme'"
            );
            match &only(&lab.judge("analyst:acme", Mode::Simple, &sql)).verdict {
                Verdict::Allow(kept) => {
                    Ok((kept.masks.iter().map(|mask| mask.output).collect::<Vec<_>>(), kept.outputs))
                }
                Verdict::Deny(denials) => Err(denials.first().code.to_string()),
            }
        };
        assert_eq!(masks("(x).*, c.email, (z).*"), Ok((vec![2], 3)));
        assert_eq!(masks("x.*, c.email, z.*"), Ok((vec![2], 3)));
        assert_eq!(masks("current_date, c.email"), Ok((vec![1], 2)));
        assert_eq!(masks("jsonb_each(c.profile), c.email"), Ok((vec![1], 2)));
        for wide in ["d.*, c.email", "(jsonb_each(c.profile)).*, c.email, z.*"] {
            assert_eq!(masks(wide), Err("masked_column_use".to_owned()), "{wide}");
            assert_eq!(
                masks(&format!("{wide}, (SELECT (z).*, c.email)")),
                Err("masked_column_use".to_owned())
            );
        }
        assert_eq!(
            masks("(SELECT c.email FROM (SELECT (jsonb_each('{}')).*) y)"),
            Err("masked_column_use".to_owned())
        );
    });
}

/// A name that we get wrong means a column of an outer level to us, and an inner one to the server.
#[test]
fn no_name_slips_to_an_outer_level() {
    const INNER: [&str; 8] = [
        "(SELECT (SELECT q.* FROM (SELECT 'globex'::text AS tenant_id) q)) d",
        "(SELECT (SELECT * FROM (SELECT 'globex'::text AS tenant_id) q)::text) d",
        "(SELECT CASE WHEN true THEN '' ELSE (SELECT * FROM (SELECT 'globex'::text AS tenant_id) q) END) d",
        "(SELECT (WITH q AS (SELECT 'globex'::text AS tenant_id) TABLE q)) d",
        "coalesce('globex', 'x') d(tenant_id)",
        "coalesce('globex', 'x') AS tenant_id",
        "CAST('globex' AS text) AS tenant_id",
        "jsonb_array_elements_text('[\"globex\"]') d(tenant_id)",
    ];
    on_large_stack(|| {
        for inner in INNER {
            let sql = format!(
                "SELECT o.id, (SELECT count(*) FROM app.orders z(a, b, c, e, f), {inner} WHERE z.b = tenant_id) FROM app.orders o WHERE o.tenant_id = 'acme'"
            );
            assert!(Lab::new().denial("app:acme", &sql).is_some(), "{sql}");
        }
        for (name, inner) in
            [("coalesce", "coalesce('globex', 'x')"), ("value", "jsonb_array_elements_text('[]') k")]
        {
            let sql = format!(
                "SELECT (SELECT count(*) FROM app.orders z(a, b), {inner} WHERE z.b = \"{name}\") FROM app.orders o(a, \"{name}\") WHERE o.\"{name}\" = 'acme'"
            );
            assert!(Lab::new().denial("app:acme", &sql).is_some(), "{sql}");
        }
        Lab::new().expect(
            "app:acme",
            &[
                ("ok", "SELECT value FROM jsonb_array_elements_text('[1]') AS a"),
                ("ok", "SELECT a FROM jsonb_array_elements_text('[1]') AS x(a)"),
                ("ok", "SELECT key, value FROM jsonb_each('{}') AS e"),
                ("ok", "SELECT \"coalesce\" FROM coalesce('a', 'b')"),
                ("ok", "SELECT 1 FROM CURRENT_DATE"),
                ("ok", "SELECT d FROM CURRENT_DATE AS d"),
            ],
        );
    });
}
