//! What a statement may leave in its session (wire 5): what does not say of itself that it leaves nothing is named.

use pgmoat_policy::{Effect, Mode, Trace, Verdict};
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

#[test]
fn what_sets_one_setting_twice_is_not_known() {
    on_large_stack(|| {
        let lab = lab(None);
        let set = |sql: &str| traces(&lab, sql).contains(&Trace::Characteristics);
        let (tokyo, utc) =
            ("set_config('TimeZone', 'Asia/Tokyo', false)", "set_config('timezone', 'UTC', false)");
        assert!(set(&format!("SELECT {tokyo} a, {utc} b ORDER BY b")));
        assert!(set(&format!("SELECT {tokyo}, {utc}")));
        assert!(!set(&format!("SELECT {tokyo}")));
        assert!(!set(&format!("SELECT {tokyo}, set_config('DateStyle', 'ISO', true)")));
    });
}

/// As PostgreSQL reads a boolean: what is taken for the session's that is the transaction's, or the other way round, goes on
/// to the next client.
#[test]
fn for_how_long_a_setting_is_set_is_read_as_the_server_reads_it() {
    on_large_stack(|| {
        let lab = lab(None);
        let local = |word: &str| {
            let judged =
                lab.judge("ops", Mode::Simple, &format!("SELECT set_config('TimeZone', 'UTC', {word})"));
            let Effect::Settings(settings) = &only(&judged).effect else { panic!("{word}: {judged:?}") };
            (
                settings[0].local,
                matches!(&only(&judged).verdict, Verdict::Allow(it) if it.traces.contains(&Trace::Characteristics)),
            )
        };
        for word in [
            "true",
            "'TRUE'",
            "'T'",
            "'y'",
            "'tr'",
            "'YES'",
            "' on '",
            "'1'",
            "'T'::bool",
            "CAST('y' AS bool)",
        ] {
            assert_eq!(local(word), (Some(true), false), "{word}");
        }
        for word in ["false", "'F'", "'n'", "'fal'", "'NO'", "' off '", "'of'", "'0'", "NULL"] {
            assert_eq!(local(word), (Some(false), false), "{word}");
        }
        for word in ["'o'", "''", "'2'", "'maybe'"] {
            assert_eq!(local(word), (None, true), "{word}");
        }
    });
}

/// A range is made of values of a domain whose check may do anything; so is a multirange.
#[test]
fn a_type_is_followed_into_what_it_is_made_of() {
    on_large_stack(|| {
        for (kind, runs) in [("domain", true), ("range", true), ("multirange", true), ("base", false)] {
            let lab = lab(None).changed(|catalog| made_of_a_domain(catalog, kind));
            let sql = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'x')";
            assert_eq!(traces(&lab, sql).contains(&Trace::Inner), runs, "{kind}");
        }
    });
}

/// ON DELETE SET DEFAULT with a default from a sequence.
#[test]
fn a_foreign_key_may_draw_for_another_relation() {
    on_large_stack(|| {
        let delete = "DELETE FROM app.orders WHERE tenant_id = 'acme'";
        for (action, draws) in [("d", true), ("c", false)] {
            let lab = lab(None).changed(|catalog| {
                let keys = catalog["foreign_keys"].as_array_mut().unwrap();
                let key = keys.iter_mut().find(|key| key["name"] == "order_items_order_id_fkey").unwrap();
                key["on_delete"] = json!(action);
                let relations = catalog["relations"].as_array_mut().unwrap();
                let items = relations.iter_mut().find(|relation| relation["name"] == "order_items").unwrap();
                let columns = items["columns"].as_array_mut().unwrap();
                let column = columns.iter_mut().find(|column| column["name"] == "order_id").unwrap();
                column["default"] = json!("nextval('app.orders_id_seq'::regclass)");
            });
            assert_eq!(traces(&lab, delete).contains(&Trace::Drawn), draws, "{action}");
        }
    });
}

/// The notes' bodies are of a domain whose check calls a function, or of ranges of it.
fn made_of_a_domain(catalog: &mut Value, kind: &str) {
    let types = catalog["types"].as_array_mut().unwrap();
    let domain = types.iter_mut().find(|ty| ty["name"] == "email").unwrap();
    domain["checks"][0]["functions"] = json!([{ "name": "anything", "schema": "app" }]);
    let email = json!({ "name": "email", "schema": "app" });
    let (name, oid) = match kind {
        "domain" => (email["name"].as_str().unwrap().to_owned(), domain["oid"].as_u64().unwrap()),
        "base" => return,
        kind => {
            let name = format!("emails_{kind}");
            types.push(json!({
                "base": null, "checks": [], "element": null, "kind": kind[..1], "name": name, "not_null": false,
                "oid": 99200, "relation": null, "schema": "app", "subtype": email, "typmod": -1
            }));
            (name, 99200)
        }
    };
    let relations = catalog["relations"].as_array_mut().unwrap();
    let notes = relations.iter_mut().find(|relation| relation["name"] == "notes").unwrap();
    let body = notes["columns"].as_array_mut().unwrap().iter_mut().find(|column| column["name"] == "body");
    let body = body.unwrap();
    body["type"] = json!({ "name": name, "schema": "app" });
    body["type_oid"] = json!(oid);
}
