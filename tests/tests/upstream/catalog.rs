//! The catalog text: the same bytes for the same database, and every fact that verdicts rest on.

use pgmoat_upstream::{catalog, connect};
use serde_json::Value;

use super::*;

async fn read(target: &Target) -> String {
    catalog::read(&mut connect(target).await.unwrap(), PATIENCE).await.unwrap()
}

/// A database with one of everything, as text and as a value.
async fn zoo() -> Value {
    let database = lab_database();
    psql(&database, ZOO);
    serde_json::from_str(&read(&target(&database)).await).unwrap()
}

/// The object with this name in a top-level array.
fn named<'a>(catalog: &'a Value, array: &str, name: &str) -> &'a Value {
    let found: Vec<_> =
        catalog[array].as_array().unwrap().iter().filter(|object| object["name"] == name).collect();
    assert_eq!(found.len(), 1, "{name} in {array}: {found:?}");
    found[0]
}

fn column<'a>(relation: &'a Value, name: &str) -> &'a Value {
    relation["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap()
}

const ZOO: &str = r"
CREATE SCHEMA zoo; SET search_path = zoo;
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE TYPE pair AS (a int, b text);
CREATE FUNCTION is_even(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 2 = 0';
CREATE FUNCTION below(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 < $2';
CREATE OPERATOR <<< (LEFTARG = int, RIGHTARG = int, FUNCTION = below);
CREATE OPERATOR @@@ (RIGHTARG = int, FUNCTION = is_even);
CREATE DOMAIN even AS int NOT NULL CHECK (is_even(VALUE)) CHECK (VALUE <<< 1000) CHECK (VALUE <> 6);
CREATE DOMAIN evener AS even;
CREATE TYPE span AS RANGE (subtype = int4);
CREATE FUNCTION mood_int(mood) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE CAST (mood AS int) WITH FUNCTION mood_int(mood) AS ASSIGNMENT;
CREATE FUNCTION many(a int, OUT b text, INOUT c int DEFAULT 1, VARIADIC d int[] DEFAULT '{}')
    RETURNS SETOF record LANGUAGE sql STABLE STRICT SECURITY DEFINER AS 'SELECT ''x'', 1';
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int);
CREATE TABLE parent (
    tenant text NOT NULL, id int NOT NULL, dropped int, ci text COLLATE ci, short varchar(16),
    d even DEFAULT 2, m mood, g int GENERATED ALWAYS AS (id + 1) STORED, i int GENERATED ALWAYS AS IDENTITY,
    called int DEFAULT mood_int('low'), CHECK (id <<< 5), PRIMARY KEY (tenant, id), UNIQUE (ci),
    UNIQUE (id) DEFERRABLE, UNIQUE NULLS NOT DISTINCT (short) INCLUDE (m));
ALTER TABLE parent DROP COLUMN dropped;
CREATE UNIQUE INDEX partial ON parent (id) WHERE id > 0;
CREATE UNIQUE INDEX expressed ON parent (tenant, lower(short));
CREATE UNIQUE INDEX other_collation ON parent (tenant COLLATE ci, id);
CREATE UNIQUE INDEX other_opclass ON parent (short varchar_pattern_ops);
CREATE TABLE child (
    tenant text, parent int, a int, b int, c int, d int,
    CONSTRAINT whole FOREIGN KEY (tenant, parent) REFERENCES parent (tenant, id) ON DELETE CASCADE,
    CONSTRAINT deferred FOREIGN KEY (tenant, a) REFERENCES parent (tenant, id) DEFERRABLE,
    CONSTRAINT switched_off FOREIGN KEY (tenant, b) REFERENCES parent (tenant, id));
ALTER TABLE child ADD CONSTRAINT unproven FOREIGN KEY (tenant, c) REFERENCES parent (tenant, id) NOT VALID;
DO $$ BEGIN
    EXECUTE (SELECT format('ALTER TABLE child DISABLE TRIGGER %I', t.tgname) FROM pg_trigger t
             JOIN pg_constraint c ON c.oid = t.tgconstraint
             WHERE c.conname = 'switched_off' AND t.tgrelid = 'child'::regclass LIMIT 1);
END $$;
CREATE TABLE parted (id int, k int, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);
CREATE TABLE parted_2_1 PARTITION OF parted_2 FOR VALUES FROM (10) TO (20);
CREATE TABLE points_there (p int CONSTRAINT to_parted REFERENCES parted);
CREATE TABLE from_parted (id int, p int CONSTRAINT from_parted REFERENCES parted) PARTITION BY RANGE (id);
CREATE TABLE from_parted_1 PARTITION OF from_parted FOR VALUES FROM (0) TO (10);
CREATE TABLE heir (extra int) INHERITS (parent);
CREATE VIEW look AS SELECT tenant, id FROM parent;
CREATE SEQUENCE loose; CREATE TABLE owner (s serial);
CREATE RULE redirect AS ON INSERT TO child DO INSTEAD NOTHING;
CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER watch BEFORE UPDATE OR DELETE ON child FOR EACH ROW EXECUTE FUNCTION fire();
CREATE TRIGGER off AFTER TRUNCATE ON child EXECUTE FUNCTION fire(); ALTER TABLE child DISABLE TRIGGER off;
CREATE TABLE booked (r int4range, EXCLUDE USING gist (r WITH &&));
";

#[tokio::test]
async fn the_same_bytes_whoever_reads_and_whatever_is_set() {
    let database = lab_database();
    let first = read(&target(&database)).await;
    assert!(read(&target(&database)).await == first);
    let mut superuser = target_at(Stack::get().cluster(), pgmoat_lab::SUPERUSER, &database);
    assert!(read(&superuser).await == first);
    superuser.settings = settings(&[
        ("quote_all_identifiers", "on"),
        ("DateStyle", "German, DMY"),
        ("TimeZone", "Asia/Tokyo"),
        ("extra_float_digits", "-15"),
        ("IntervalStyle", "iso_8601"),
        ("bytea_output", "escape"),
        ("enable_hashjoin", "off"),
    ]);
    assert!(read(&superuser).await == first);
}

#[tokio::test]
async fn keys_are_sorted_and_the_text_is_for_people() {
    fn sorted(value: &Value) {
        match value {
            Value::Object(object) => {
                assert!(object.keys().is_sorted(), "{:?}", object.keys().collect::<Vec<_>>());
                object.values().for_each(sorted);
            }
            Value::Array(array) => array.iter().for_each(sorted),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let database = lab_database();
    psql(&database, ZOO);
    let text = read(&target(&database)).await;
    sorted(&serde_json::from_str(&text).unwrap());
    assert!(text.ends_with("}\n"));
    assert!(
        text.lines().any(|line| line.starts_with('{') && line.contains("\"points_there\"")),
        "an object a line"
    );
    assert!(text.contains("\n\"format\":1,\n"));
}

#[tokio::test]
async fn reading_leaves_no_trace_and_no_transaction() {
    let database = lab_database();
    let pool = pool_of(1, &database);
    let mut lease = pool.checkout(soon()).await.unwrap();
    let before = catalog::version(&mut lease, PATIENCE).await.unwrap();
    catalog::read(&mut lease, PATIENCE).await.unwrap();
    assert_eq!(cell(&mut lease, "SHOW search_path").await, "\"app\", \"public\"");
    assert_eq!(catalog::version(&mut lease, PATIENCE).await.unwrap(), before);
    assert!(lease.incoming.is_empty());
    give_back(lease).await;
    assert_eq!(pool.stats().idle, 1);
}

#[tokio::test]
async fn a_reader_that_may_not_is_told_why() {
    let database = lab_database();
    let mut connection = connect(&target(&database)).await.unwrap();
    run(&mut connection, "BEGIN; SELECT 1/0").await;
    let error = catalog::read(&mut connection, PATIENCE).await.unwrap_err();
    assert!(error.to_string().contains("25P02"), "{error}");
}

#[tokio::test]
async fn the_policy_crate_reads_what_this_one_writes() {
    let database = lab_database();
    psql(&database, ZOO);
    let text = read(&target(&database)).await;
    if let Err(error) = pgmoat_policy::catalog::Catalog::parse(&text) {
        panic!("{error}");
    }
}

#[tokio::test]
async fn columns() {
    let catalog = zoo().await;
    let parent = named(&catalog, "relations", "parent");
    let names: Vec<_> =
        parent["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["tenant", "id", "ci", "short", "d", "m", "g", "i", "called"],
        "dropped ones are not there"
    );
    assert_eq!(column(parent, "ci")["number"], 4, "numbers have a gap");
    assert_eq!(column(parent, "ci")["collation_deterministic"], false);
    assert_eq!(column(parent, "tenant")["collation_deterministic"], true);
    assert_eq!(column(parent, "id")["collation_deterministic"], Value::Null);
    assert_eq!(column(parent, "short")["typmod"], 20);
    assert_eq!(column(parent, "d")["type"]["name"], "even");
    assert_eq!(column(parent, "g")["generated"], "s");
    assert_eq!(column(parent, "g")["default"], "(id + 1)");
    assert_eq!(column(parent, "i")["identity"], "a");
    assert_eq!(column(parent, "called")["default_functions"][0]["name"], "mood_int");
    assert_eq!(parent["checks"][0]["functions"][0]["name"], "below", "found through the operator");
    assert_eq!(parent["has_children"], true);
    assert_eq!(named(&catalog, "relations", "heir")["inherits"][0]["name"], "parent");
    assert_eq!(named(&catalog, "relations", "parted_2_1")["is_partition"], true);
    let view = named(&catalog, "relations", "look");
    assert!(view["view_definition"].as_str().unwrap().contains("FROM zoo.parent"), "{view}");
    assert_eq!(named(&catalog, "relations", "owner_s_seq")["owned_by"]["column"], "s");
    assert_eq!(named(&catalog, "relations", "parent_i_seq")["owned_by"]["relation"]["name"], "parent");
    assert_eq!(named(&catalog, "relations", "loose")["owned_by"], Value::Null);
}

#[tokio::test]
async fn unique_keys() {
    let catalog = zoo().await;
    let key = |name| named(&catalog, "unique_keys", name);
    assert_eq!(key("parent_pkey")["primary"], true);
    assert_eq!(key("parent_pkey")["columns"][1]["name"], "id");
    assert_eq!(key("parent_ci_key")["columns"][0]["collation_deterministic"], false);
    assert_eq!(key("parent_ci_key")["columns"][0]["collation_own"], true);
    assert_eq!(key("parent_id_key")["deferrable"], true);
    assert_eq!(key("parent_short_m_key")["nulls_not_distinct"], true);
    assert_eq!(key("parent_short_m_key")["columns"].as_array().unwrap().len(), 1, "INCLUDE is no key column");
    assert_eq!(key("partial")["partial"], true);
    assert_eq!(key("partial")["constraint"], false);
    assert_eq!(key("expressed")["expressions"], true);
    assert_eq!(key("expressed")["columns"][1]["name"], Value::Null);
    assert_eq!(key("other_collation")["columns"][0]["collation_own"], false);
    assert_eq!(key("other_opclass")["columns"][0]["opclass_default"], false);
    let exclusion =
        catalog["unique_keys"].as_array().unwrap().iter().any(|key| key["relation"]["name"] == "booked");
    assert!(!exclusion, "an exclusion constraint is no key");
}

#[tokio::test]
async fn foreign_keys_say_what_holds_of_all_rows_and_no_more() {
    let catalog = zoo().await;
    let key = |name| named(&catalog, "foreign_keys", name);
    assert_eq!(key("whole")["columns"], serde_json::json!(["tenant", "parent"]));
    assert_eq!(key("whole")["referenced_columns"], serde_json::json!(["tenant", "id"]));
    assert_eq!(key("whole")["on_delete"], "c");
    assert_eq!(key("whole")["operators"][0], serde_json::json!({"name": "=", "schema": "pg_catalog"}));
    for (name, facts) in [
        ("whole", [true, true, false]),
        ("deferred", [true, true, true]),
        ("unproven", [false, true, false]),
        ("switched_off", [true, false, false]),
    ] {
        let key = key(name);
        assert_eq!([&key["validated"], &key["enforced"], &key["deferrable"]], facts, "{name}");
    }
    // Rows of points_there are somewhere in parted, not all of them in each partition.
    let of = |relation: &str| -> Vec<&str> {
        let keys = catalog["foreign_keys"].as_array().unwrap().iter();
        keys.filter(|key| key["relation"]["name"] == relation)
            .map(|key| key["references"]["name"].as_str().unwrap())
            .collect()
    };
    assert_eq!(of("points_there"), ["parted"]);
    assert_eq!(of("from_parted"), ["parted"]);
    assert_eq!(of("from_parted_1"), ["parted"]);
}

#[tokio::test]
async fn functions_operators_casts_and_types() {
    let catalog = zoo().await;
    let many = named(&catalog, "functions", "many");
    let modes: Vec<_> =
        many["arguments"].as_array().unwrap().iter().map(|a| a["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["i", "o", "b", "v"]);
    assert_eq!(many["arguments"][0]["name"], "a");
    assert_eq!(
        (&many["defaults"], &many["variadic"], &many["returns_set"]),
        (&2.into(), &true.into(), &true.into())
    );
    assert_eq!(
        (&many["strict"], &many["security_definer"], &many["volatility"]),
        (&true.into(), &true.into(), &"s".into())
    );
    assert_eq!(
        (&many["parallel"], &named(&catalog, "functions", "total")["kind"]),
        (&"u".into(), &"a".into())
    );
    assert_eq!(named(&catalog, "functions", "purge_orders")["kind"], "p");
    assert_eq!(named(&catalog, "functions", "is_even")["arguments"][0]["name"], Value::Null);

    assert_eq!(named(&catalog, "operators", "@@@")["left"], Value::Null);
    assert_eq!(named(&catalog, "operators", "<<<")["function"]["name"], "below");
    assert_eq!(named(&catalog, "operators", "=")["schema"], "app");
    let cast = &catalog["casts"][0];
    assert_eq!(
        (&cast["source"]["name"], &cast["context"], &cast["method"]),
        (&"mood".into(), &"a".into(), &"f".into())
    );

    let even = named(&catalog, "types", "even");
    assert_eq!(
        (&even["kind"], &even["base"]["name"], &even["not_null"]),
        (&"d".into(), &"int4".into(), &true.into())
    );
    let called: Vec<_> = even["checks"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|check| check["functions"].as_array().unwrap())
        .collect();
    let called: Vec<_> = called.iter().map(|function| function["name"].as_str().unwrap()).collect();
    assert_eq!(even["checks"].as_array().unwrap().len(), 3);
    assert!(called.contains(&"is_even") && called.contains(&"below") && called.len() == 2, "{called:?}");
    assert_eq!(named(&catalog, "types", "evener")["base"]["name"], "even");
    assert_eq!(named(&catalog, "types", "_mood")["element"]["name"], "mood");
    assert_eq!(named(&catalog, "types", "span")["subtype"]["name"], "int4");
    assert_eq!(named(&catalog, "types", "pair")["relation"], Value::Null);
    assert_eq!(named(&catalog, "types", "parent")["relation"]["name"], "parent");
}

#[tokio::test]
async fn rules_triggers_and_the_rest() {
    let catalog = zoo().await;
    assert_eq!(catalog["format"], 1);
    assert_eq!(catalog["server_encoding"], "UTF8");
    assert!((150_000..190_000).contains(&catalog["server_version_num"].as_u64().unwrap()));
    assert_eq!(catalog["schemas"], serde_json::json!(["app", "billing", "internal", "public", "zoo"]));
    let rule = named(&catalog, "rules", "redirect");
    assert_eq!(
        (&rule["event"], &rule["instead"], &rule["enabled"]),
        (&"insert".into(), &true.into(), &true.into())
    );
    let watch = named(&catalog, "triggers", "watch");
    assert_eq!(watch["events"], serde_json::json!(["delete", "update"]));
    assert_eq!(
        (&watch["timing"], &watch["level"], &watch["enabled"]),
        (&"before".into(), &"row".into(), &true.into())
    );
    assert_eq!(named(&catalog, "triggers", "off")["enabled"], false);
    assert_eq!(catalog["triggers"].as_array().unwrap().len(), 2, "a key's own triggers are not listed");
    assert_eq!(named(&catalog, "extensions", "plpgsql")["schema"], "pg_catalog");
}

#[tokio::test]
async fn built_in_things_are_left_out_but_what_hides_among_them_is_not() {
    let database = lab_database();
    psql(
        &database,
        "SET allow_system_table_mods = on;
         CREATE FUNCTION pg_catalog.smuggled(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
         CREATE TEMP TABLE passing (a int)",
    );
    let catalog: Value = serde_json::from_str(&read(&target(&database)).await).unwrap();
    assert_eq!(named(&catalog, "functions", "smuggled")["schema"], "pg_catalog");
    for array in ["functions", "relations", "types", "operators"] {
        let system = |object: &&Value| object["schema"].as_str().unwrap().starts_with("pg_");
        let system = catalog[array].as_array().unwrap().iter().filter(system).count();
        assert_eq!(system, usize::from(array == "functions"), "{array}");
    }
}

/// What only PostgreSQL 18 has, and what an older reader of its catalog would take for a proof.
const ZOO_18: &str = r"
CREATE SCHEMA zoo; SET search_path = zoo;
CREATE TABLE referred (id int PRIMARY KEY, v int GENERATED ALWAYS AS (id + 1) VIRTUAL, n int, nn int NOT NULL);
ALTER TABLE referred ADD CONSTRAINT filled NOT NULL n NOT VALID;
CREATE TABLE child (id int CONSTRAINT lax REFERENCES referred NOT ENFORCED, k int CONSTRAINT strict REFERENCES referred);
CREATE TABLE lived (id int4range, during daterange, CONSTRAINT lives PRIMARY KEY (id, during WITHOUT OVERLAPS));
CREATE TABLE worked (id int4range, during daterange,
    CONSTRAINT while_alive FOREIGN KEY (id, PERIOD during) REFERENCES lived (id, PERIOD during));
";

#[tokio::test]
async fn facts_of_18_that_prove_less_than_they_seem_to() {
    if connect(&target("postgres")).await.unwrap().server_version_num() < 180_000 {
        return;
    }
    let database = lab_database();
    psql(&database, ZOO_18);
    let catalog: Value = serde_json::from_str(&read(&target(&database)).await).unwrap();
    let referred = named(&catalog, "relations", "referred");
    assert_eq!(column(referred, "v")["generated"], "v");
    assert_eq!(column(referred, "nn")["not_null"], true);
    assert_eq!(column(referred, "n")["not_null"], false, "old rows may be NULL");
    assert_eq!(named(&catalog, "foreign_keys", "lax")["enforced"], false);
    assert_eq!(named(&catalog, "foreign_keys", "strict")["enforced"], true);
    assert_eq!(named(&catalog, "foreign_keys", "strict")["period"], false);
    assert_eq!(named(&catalog, "foreign_keys", "while_alive")["period"], true);
    let temporal = catalog["unique_keys"].as_array().unwrap().iter().any(|key| key["name"] == "lives");
    assert!(!temporal, "a temporal key is not unique in its columns");
}
