//! What a statement may leave in its session (wire 5): what does not say of itself that it leaves nothing is named.

use pgmoat_policy::{Mode, Trace, Verdict};
use serde_json::{Value, json};

use crate::lab::{Lab, on_large_stack, only};

/// A function of the database's own.
fn function(name: &str, volatility: &str, parallel: &str) -> Value {
    let text = json!({ "name": "text", "schema": "pg_catalog" });
    json!({
        "arguments": [{ "mode": "i", "name": null, "type": text }], "defaults": 0, "kind": "f", "name": name,
        "oid": 99100, "parallel": parallel, "returns": text, "returns_set": false, "schema": "app",
        "security_definer": false, "strict": false, "variadic": false, "volatility": volatility
    })
}

fn trigger(relation: &str, function: &str, enabled: bool) -> Value {
    json!({
        "enabled": enabled, "events": ["insert"], "function": { "name": function, "schema": "app" },
        "level": "row", "name": "runs", "relation": { "name": relation, "schema": "app" }, "timing": "after"
    })
}

/// The lab with a role to which nothing is refused, functions, one trigger, and a key that deletes with its target.
fn lab(trigger: Option<Value>) -> Lab {
    let explain = "    explain: analyze\n";
    let unrestricted = format!("{explain}    unrestricted: true\n");
    let policy = include_str!("../../../lab/policy.yaml").replacen(explain, &unrestricted, 1);
    Lab::with_policy(&policy).changed(|catalog| {
        let functions = catalog["functions"].as_array_mut().unwrap();
        functions.push(function("anything", "v", "u"));
        functions.push(function("looks", "s", "u"));
        functions.push(function("safe", "v", "s"));
        catalog["triggers"] = trigger.iter().cloned().collect();
        let keys = catalog["foreign_keys"].as_array_mut().unwrap();
        let key = keys.iter_mut().find(|key| key["name"] == "order_items_order_id_fkey").unwrap();
        key["on_delete"] = json!("c");
    })
}

fn traces(lab: &Lab, sql: &str) -> Vec<Trace> {
    match &only(&lab.judge("ops", Mode::Simple, sql)).verdict {
        Verdict::Allow(obligations) => obligations.traces.clone(),
        Verdict::Deny(denials) => panic!("{sql}: {denials:?}"),
    }
}

#[test]
fn a_function_leaves_nothing_by_its_own_word_alone() {
    on_large_stack(|| {
        let lab = lab(None);
        let of = |sql: &str| traces(&lab, sql);
        assert!(of("SELECT app.anything('x')").contains(&Trace::Function));
        assert!(of("SELECT app.looks('x')").contains(&Trace::Inner));
        for safe in ["SELECT app.safe('x')", "SELECT count(*) FROM app.orders WHERE tenant_id = 'acme'"] {
            let seen = of(safe);
            assert!(!seen.contains(&Trace::Function) && !seen.contains(&Trace::Inner), "{safe}: {seen:?}");
        }
        // Of the server's own, on no list, and nobody has looked at them.
        assert!(of("SELECT pg_replication_origin_session_setup('x')").contains(&Trace::Unknown));
        assert!(of("TABLE pg_prepared_statements").contains(&Trace::Statements));
        assert_eq!(of("SELECT tenant_id, id FROM app.orders WHERE tenant_id = 'acme'"), []);
    });
}

#[test]
fn a_trigger_is_found_wherever_a_write_reaches_it() {
    on_large_stack(|| {
        let insert = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'x')";
        let delete = "DELETE FROM app.orders WHERE tenant_id = 'acme'";
        let reaches = |on: &str, function: &str, enabled: bool, sql: &str| {
            traces(&lab(Some(trigger(on, function, enabled))), sql).contains(&Trace::Inner)
        };
        assert!(reaches("notes", "anything", true, insert));
        // Of a child of the table, and of a table whose rows go with the deleted ones.
        assert!(reaches("pinned_notes", "anything", true, insert));
        assert!(reaches("order_items", "anything", true, delete));
        assert!(!reaches("shipments", "anything", true, delete));
        assert!(!reaches("order_items", "anything", true, insert));
        assert!(!reaches("notes", "safe", true, insert));
        assert!(!reaches("notes", "anything", false, insert));
    });
}
