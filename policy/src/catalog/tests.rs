#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests fail by panicking")]

use crate::Family;

use super::format::RawCatalog;
use super::*;

const LAB: &str = include_str!("../../golden/lab-catalog.json");
const SCHEMA: &str = include_str!("../../schema/catalog.json");

fn lab() -> Catalog {
    Catalog::parse(LAB).unwrap()
}

#[test]
fn lab_catalog_has_what_its_schema_creates() {
    let lab = lab();
    assert_eq!(lab.database(), "lab");
    assert_eq!(lab.server_major(), Major::V15);
    assert_eq!(lab.version(), CatalogVersion::of(LAB));
    for schema in ["app", "billing", "public", "pg_catalog", "information_schema"] {
        assert!(lab.has_schema(schema), "{schema}");
    }
    assert!(!lab.has_schema("App"));

    let orders = lab.relation("app", "orders").unwrap();
    assert_eq!(orders.kind, RelationKind::Table);
    assert_eq!(orders.listing, Listing::User);
    let tenant = orders.column("tenant_id").unwrap();
    assert_eq!((tenant.ty, &tenant.family), (TypeId::TEXT, &Family::Text));
    assert!(tenant.not_null);
    assert_eq!(tenant.collation_deterministic, Some(true));
    assert_eq!(orders.column("Tenant_id").map(|column| &column.name), None);
    assert!(orders.primary_key().unwrap().is_plain());

    let account = lab.relation("billing", "invoices").unwrap().column("account_no").unwrap();
    assert_eq!(account.family, Family::Integer);
    let status = orders.column("status").unwrap();
    assert_eq!(status.family, Family::Enum("app".into(), "order_status".into()));
    assert!(lab.relation("app", "Audit Trail").unwrap().column("When").is_some());
    assert!(lab.relation("app", "nothing").is_none());
}

#[test]
fn keys_hang_on_their_relations() {
    let lab = lab();
    let shipments = lab.relation("app", "shipments").unwrap();
    let composite = shipments.foreign_keys.iter().find(|key| key.pairs.len() == 2).unwrap();
    assert!(composite.references.is("app", "warehouses"));
    assert!(composite.holds());
    assert_eq!(&*composite.pairs[0].column, "tenant_id");
    assert_eq!(&*composite.pairs[1].referenced, "id");
    assert!(composite.pairs.iter().all(|pair| pair.operator.is("pg_catalog", "=")));
    let count: usize = lab.relations().map(|relation| relation.foreign_keys.len()).sum();
    assert_eq!(lab.foreign_keys().count(), count);
}

#[test]
fn partitions_know_their_parents() {
    let lab = lab();
    let partition = lab.relation("app", "events_2026").unwrap();
    assert!(partition.is_partition);
    assert!(partition.parents[0].is("app", "events"));
    let parent = lab.relation("app", "events").unwrap();
    assert_eq!((parent.kind, parent.has_children), (RelationKind::PartitionedTable, true));
}

#[test]
fn candidates_are_built_in_ones_and_users() {
    let lab = lab();
    assert_eq!(lab.functions("app", "net_price").len(), 1);
    assert_eq!(lab.functions("app", "net_price")[0].args.len(), 2);
    assert!(lab.function_candidates("app", "net_price").all(|f| f.listing == Listing::User));
    assert!(lab.function_candidates("pg_catalog", "lower").count() > 1);
    assert_eq!(lab.function_candidates("app", "lower").count(), 0);
    assert_eq!(lab.functions("app", "purge_orders")[0].kind, FunctionKind::Procedure);
    assert!(lab.functions("app", "every_order")[0].security_definer);

    assert_eq!(lab.operator_candidates("app", "=").count(), 1);
    assert!(lab.operator_candidates("pg_catalog", "=").count() > 50);
}

#[test]
fn built_in_relations_and_types_are_seen_through_the_catalog() {
    let lab = lab();
    let class = lab.relation("pg_catalog", "pg_class").unwrap();
    assert_eq!(class.listing, Listing::Introspection);
    assert_eq!(class.column("relname").unwrap().ty, TypeId::NAME);
    assert!(lab.relation("information_schema", "columns").is_some());
    assert!(lab.relation("app", "pg_class").is_none());
    assert_eq!(lab.type_named("pg_catalog", "int4").unwrap().id, TypeId::INT4);
    assert_eq!(lab.type_of(TypeId::UUID).unwrap().family, Family::Uuid);
    let status = lab.type_named("app", "order_status").unwrap();
    assert_eq!(lab.type_of(status.id).unwrap().name, status.name);
    assert_eq!(*lab.family_of(TypeId(4_000_000)), Family::Unknown);
}

#[test]
fn types_may_be_written_where_policy_says() {
    let lab = lab();
    let allowance = |name| lab.type_named("app", name).unwrap().allowance;
    assert_eq!(allowance("order_status"), Allowance::Allowed);
    assert_eq!(allowance("_order_status"), Allowance::Allowed);
    assert_eq!(allowance("orders"), Allowance::Denied);
    assert_eq!(allowance("_orders"), Allowance::Denied);
}

/// The lab's text with one change, refused with the given path and a word of the message.
fn refused(from: &str, to: &str, path: &str, word: &str) {
    let text = LAB.replacen(from, to, 1);
    assert_ne!(text, LAB, "{from}");
    let error = Catalog::parse(&text).unwrap_err();
    let shown = error.to_string();
    assert!(shown.contains(path) && shown.contains(word), "{from} → {to}: {shown}");
}

#[test]
fn anything_but_the_form_is_refused_with_its_place() {
    refused("\"checks\" : []", "\"chequers\" : []", "relations[0]", "chequers");
    refused("\"checks\" : [], \"columns\"", "\"columns\"", "relations[0]", "checks");
    refused("\"owned_by\" : null, ", "", "relations[0]", "owned_by");
    refused("\"database\":\"lab\",\n", "", ".", "database");
    refused("\"format\":1", "\"format\":1,\n\"format\":1", ".", "duplicate");
    refused("\"typmod\" : -1", "\"typmod\" : \"x\"", "relations[0].columns[0].typmod", "i32");
    refused("\"kind\" : \"r\"", "\"kind\" : \"x\"", "relations[0].kind", "x");
    refused("\"on_delete\" : \"a\"", "\"on_delete\" : \"z\"", "foreign_keys[0].on_delete", "z");
    let error = Catalog::parse(&format!("{LAB}x")).unwrap_err();
    assert!(matches!(error, CatalogError::Form { .. }), "{error}");
    assert!(matches!(Catalog::parse("").unwrap_err(), CatalogError::Form { .. }));
}

#[test]
fn other_formats_servers_and_encodings_are_refused() {
    let parse = |from, to| Catalog::parse(&LAB.replacen(from, to, 1)).unwrap_err();
    assert_eq!(parse("\"format\":1", "\"format\":2"), CatalogError::Format { format: 2 });
    assert_eq!(
        parse("\"server_version_num\":15", "\"server_version_num\":14"),
        CatalogError::Server { version_num: lab().server_version_num() - 10_000 }
    );
    let encoding = "SQL_ASCII".to_owned();
    assert_eq!(
        parse("\"server_encoding\":\"UTF8\"", "\"server_encoding\":\"SQL_ASCII\""),
        CatalogError::Encoding { encoding }
    );
}

#[test]
fn what_hangs_together_must() {
    refused("\"name\" : \"id\"", "\"name\" : \"tenant_id\"", "relations[", "one name");
    refused(
        "\"references\" : {\"name\" : \"countries\"",
        "\"references\" : {\"name\" : \"cantons\"",
        "foreign_keys[0]",
        "app.cantons",
    );
    refused(
        "\"referenced_columns\" : [\"iso2\"]",
        "\"referenced_columns\" : [\"iso3\"]",
        "foreign_keys[0]",
        "not there",
    );
    refused(
        "\"columns\" : [\"country\"]",
        "\"columns\" : [\"country\", \"id\"]",
        "foreign_keys[0]",
        "not paired",
    );
    let types = LAB.find("\"types\":").unwrap();
    let (before, types) = LAB.split_at(types);
    let twice = types.replacen("\"_Audit Trail\"", "\"Audit Trail\"", 1);
    let error = Catalog::parse(&format!("{before}{twice}")).unwrap_err();
    assert!(error.to_string().contains("twice"), "{error}");
}

#[test]
fn more_than_the_limits_is_refused() {
    let schemas = format!("\"schemas\":[{}\"x\"", "\"x\",".repeat(CATALOG_OBJECTS_MAX));
    let text = LAB.replacen("\"schemas\":[", &format!("{schemas},"), 1);
    let error = Catalog::parse(&text).unwrap_err();
    assert!(matches!(&error, CatalogError::TooMany { path, .. } if path == "schemas"), "{error}");

    let column = LAB.find("{\"collation\"").unwrap();
    let end = LAB[column..].find("},").unwrap() + column;
    let end = LAB[end..].find("\"typmod\" : -1}").unwrap() + end + "\"typmod\" : -1}".len();
    let column = &LAB[column..end];
    let wide = format!("{},", column).repeat(RELATION_COLUMNS_MAX);
    let text = LAB.replacen(column, &format!("{wide}{column}"), 1);
    let error = Catalog::parse(&text).unwrap_err();
    assert!(
        matches!(&error, CatalogError::TooMany { path, .. } if path == "relations[0].columns"),
        "{error}"
    );
}

/// Domains are looked through: over what is allowed, with checks of their own.
#[test]
fn domains_are_allowed_unless_a_check_calls_out() {
    let domain = |base: &str, functions: &str| {
        format!(
            r#"{{"base": {base}, "checks": [{{"expression": "CHECK (f(VALUE))", "functions": [{functions}],
            "name": "c"}}], "element": null, "kind": "d", "name": "d", "not_null": false, "oid": 77001,
            "relation": null, "schema": "app", "subtype": null, "typmod": -1}},"#
        )
    };
    let allowance = |base, functions| {
        let text = LAB.replacen("\"types\":[", &format!("\"types\":[{}", domain(base, functions)), 1);
        Catalog::parse(&text).unwrap().type_named("app", "d").unwrap().allowance
    };
    let text = r#"{"name": "text", "schema": "pg_catalog"}"#;
    let regclass = r#"{"name": "regclass", "schema": "pg_catalog"}"#;
    let call = r#"{"name": "net_price", "schema": "app"}"#;
    assert_eq!(allowance(text, ""), Allowance::Allowed);
    assert_eq!(allowance(text, call), Allowance::Denied);
    assert_eq!(allowance(regclass, ""), Allowance::Denied);
    let itself = r#"{"name": "d", "schema": "app"}"#;
    assert_eq!(allowance(itself, ""), Allowance::Denied);
}

#[test]
fn calls_match_by_count_as_postgresql_counts() {
    let function = |args: usize, defaults, variadic| Function {
        args: vec![Argument { name: None, ty: TypeId::TEXT }; args].into(),
        defaults,
        variadic,
        ..lab().functions("app", "net_price")[0].clone()
    };
    let plain = function(2, 1, false);
    assert_eq!([0, 1, 2, 3].map(|count| plain.takes(count)), [false, true, true, false]);
    let variadic = function(2, 0, true);
    assert_eq!([0, 1, 2, 9].map(|count| variadic.takes(count)), [false, false, true, true]);
}

/// The schema file is generated from the form; every key of every object is required.
#[test]
fn schema_file_is_the_forms() {
    let schema = schemars::SchemaGenerator::default().into_root_schema_for::<RawCatalog>();
    let mut schema = schema.to_value();
    require_every_key(&mut schema);
    let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    if SCHEMA != text {
        let path = std::env::temp_dir().join("pgmoat-catalog-schema.json");
        std::fs::write(&path, &text).unwrap();
        panic!("the form changed; its schema is in {}", path.display());
    }
}

#[test]
fn lab_catalog_fits_the_schema() {
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut lab: serde_json::Value = serde_json::from_str(LAB).unwrap();
    let errors: Vec<String> = validator.iter_errors(&lab).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    lab["relations"][0].as_object_mut().unwrap().remove("owned_by");
    assert!(!validator.is_valid(&lab));
}

/// schemars takes an `Option` for a key that may be missing; the form has every key.
fn require_every_key(schema: &mut serde_json::Value) {
    if let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) {
        schema["required"] = properties.keys().cloned().collect();
    }
    if let Some(object) = schema.as_object_mut() {
        object.values_mut().for_each(require_every_key);
    } else if let Some(array) = schema.as_array_mut() {
        array.iter_mut().for_each(require_every_key);
    }
}
