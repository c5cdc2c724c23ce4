//! Functions of CREATE CAST run for whoever casts, and unasked: they must be allowed (policy 4.6).

use serde_json::json;

use crate::lab::{Lab, on_large_stack};

/// A lab with an enum, `app.mood`, in the notes' body, and a cast.
fn with_cast(lab: Lab, source: (&str, &str), target: (&str, &str), context: &str) -> Lab {
    let name = |(schema, name): (&str, &str)| json!({ "schema": schema, "name": name });
    let mood = |notes: &mut serde_json::Value| {
        let columns = notes["columns"].as_array_mut().unwrap();
        let body = columns.iter_mut().find(|column| column["name"] == "body").unwrap();
        body["type"] = name(MOOD);
        body["collation"] = json!(null);
        body["collation_deterministic"] = json!(null);
    };
    let cast = |catalog: &mut serde_json::Value| {
        catalog["types"].as_array_mut().unwrap().push(json!({
            "base": null, "checks": [], "element": null, "kind": "e", "name": "mood", "not_null": false,
            "oid": 99001, "relation": null, "schema": "app", "subtype": null, "typmod": -1
        }));
        catalog["casts"] = json!([{
            "context": context, "function": name(("app", "leak")), "method": "f",
            "source": name(source), "target": name(target)
        }]);
    };
    // The column's type must be there when the catalog is read.
    lab.changed(cast).with_relation("notes", mood)
}

const MOOD: (&str, &str) = ("app", "mood");
const TEXT: (&str, &str) = ("pg_catalog", "text");
const BIGINT: (&str, &str) = ("pg_catalog", "int8");
const INTEGER: (&str, &str) = ("pg_catalog", "int4");

#[test]
fn an_explicit_cast_calls_its_function() {
    on_large_stack(|| {
        let cases = [
            ("ok", "SELECT 'x'::mood, $$x$$::app.mood, CAST('x' AS mood)"),
            ("ok", "SELECT body, body::text FROM notes WHERE tenant_id = 'acme' AND body = 'x'"),
            ("type_not_allowed", "SELECT 'x'::text::mood"),
            ("type_not_allowed", "SELECT note::mood FROM orders WHERE tenant_id = 'acme'"),
            ("type_not_allowed", "SELECT (note || 'x')::mood FROM orders WHERE tenant_id = 'acme'"),
            ("type_not_allowed", "SELECT ARRAY['x'::text]::mood[]"),
            ("ok", "UPDATE notes SET body = 'x' WHERE tenant_id = 'acme'"),
        ];
        with_cast(Lab::new(), TEXT, MOOD, "e").expect("app:acme", &cases);
        for text in ["SELECT mood('x'::text)", "SELECT ('x'::text).mood"] {
            assert!(with_cast(Lab::new(), TEXT, MOOD, "e").denial("app:acme", text).is_some(), "{text}");
        }
    });
}

#[test]
fn an_implicit_cast_puts_its_type_out_of_reach() {
    on_large_stack(|| {
        with_cast(Lab::new(), MOOD, INTEGER, "i").expect(
            "app:acme",
            &[
                ("type_not_allowed", "SELECT body FROM notes WHERE tenant_id = 'acme'"),
                ("type_not_allowed", "SELECT id FROM notes WHERE tenant_id = 'acme' AND body = 1"),
                ("type_not_allowed", "SELECT 'x'::mood"),
                ("ok", "SELECT id FROM notes WHERE tenant_id = 'acme'"),
            ],
        );
    });
}

#[test]
fn a_cast_on_assignment_is_called_by_writes() {
    on_large_stack(|| {
        with_cast(Lab::new(), BIGINT, MOOD, "a").expect(
            "app:acme",
            &[
                ("ok", "UPDATE notes SET body = 'x' WHERE tenant_id = 'acme'"),
                ("ok", "UPDATE notes SET body = body WHERE tenant_id = 'acme'"),
                ("ok", "UPDATE notes SET body = DEFAULT WHERE tenant_id = 'acme'"),
                ("ok", "INSERT INTO notes (tenant_id, body) SELECT tenant_id, body FROM notes WHERE tenant_id = 'acme'"),
                ("type_not_allowed", "UPDATE notes SET body = id WHERE tenant_id = 'acme'"),
                ("type_not_allowed", "UPDATE notes SET (body) = ROW(id) WHERE tenant_id = 'acme'"),
                ("type_not_allowed", "INSERT INTO notes (tenant_id, body) VALUES ('acme', 1::bigint)"),
                (
                    "type_not_allowed",
                    "INSERT INTO notes (tenant_id, body) SELECT tenant_id, id FROM orders WHERE tenant_id = 'acme'",
                ),
                (
                    "type_not_allowed",
                    "WITH w AS (UPDATE notes SET body = id WHERE tenant_id = 'acme' RETURNING 1) SELECT * FROM w",
                ),
                (
                    "type_not_allowed",
                    "MERGE INTO notes n USING (VALUES (1::bigint)) v (i) ON n.tenant_id = 'acme' AND n.id = v.i WHEN MATCHED THEN UPDATE SET body = v.i",
                ),
                (
                    "type_not_allowed",
                    "INSERT INTO notes (tenant_id, id, body) VALUES ('acme', 1, 'x') ON CONFLICT (tenant_id, id) DO UPDATE SET body = EXCLUDED.id",
                ),
            ],
        );
    });
}

#[test]
fn an_allowed_function_may_be_called() {
    on_large_stack(|| {
        let policy = include_str!("../../../lab/policy.yaml");
        let allowing = policy.replacen("\"app.net_price\"", "\"app.net_price\", \"app.leak\"", 1);
        assert_ne!(policy, allowing);
        for (source, target, context) in [(TEXT, MOOD, "e"), (MOOD, INTEGER, "i"), (BIGINT, MOOD, "a")] {
            let lab = with_cast(Lab::with_policy(&allowing), source, target, context);
            lab.expect(
                "app:acme",
                &[
                    ("ok", "SELECT 'x'::text::mood"),
                    ("ok", "SELECT body FROM notes WHERE tenant_id = 'acme'"),
                    ("ok", "UPDATE notes SET body = id WHERE tenant_id = 'acme'"),
                ],
            );
        }
    });
}
