//! Statements that are judged by their kind alone (policy 4.3).

use crate::lab::{Lab, on_large_stack};

/// A role that lists every such kind, and may reach one relation.
fn lab() -> Lab {
    let role = "
roles:
  dba:
    tenant: exempt
    statements: [select, insert, ddl, grant, lock, maintenance, listen, call, prepare, cursor]
    relations: { allow: [app.countries] }
    functions: { preset: standard }
";
    Lab::with_policy(&include_str!("../../../lab/policy.yaml").replacen("\nroles:\n", role, 1))
}

#[test]
fn what_names_no_relation_reaches_what_nobody_knows() {
    on_large_stack(|| {
        let mut cases: Vec<(&str, &str)> = Vec::new();
        cases.extend(
            [
                "GRANT SELECT ON ALL TABLES IN SCHEMA app TO PUBLIC",
                "GRANT ALL ON SCHEMA app TO PUBLIC",
                "GRANT EXECUTE ON FUNCTION app.net_price(numeric) TO PUBLIC",
                "GRANT pg_read_all_data TO PUBLIC",
                "GRANT pg_execute_server_program TO CURRENT_USER",
                "REVOKE ALL ON DATABASE shop FROM PUBLIC",
                "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC",
                "ALTER ROLE ops SUPERUSER",
                "DROP OWNED BY ops",
                "REASSIGN OWNED BY ops TO CURRENT_USER",
                "DROP SCHEMA app CASCADE",
                "DROP DATABASE shop",
                "DROP TYPE app.mood",
                "DROP INDEX app.orders_pkey",
                "DROP TABLE app.countries CASCADE",
                "TRUNCATE app.countries CASCADE",
                "ALTER SCHEMA app RENAME TO b",
                "ALTER INDEX app.orders_pkey RENAME TO b",
                "ALTER DATABASE shop SET search_path = evil",
                "COMMENT ON ROLE ops IS 'x'",
                "VACUUM",
                "ANALYZE",
                "SELECT * INTO app.copy FROM app.countries",
                "CREATE TABLE app.copy AS SELECT * FROM app.countries",
            ]
            .map(|sql| ("unsupported", sql)),
        );
        cases.extend(
            [
                "GRANT SELECT ON app.countries, app.orders TO PUBLIC",
                "TRUNCATE app.orders",
                "DROP TABLE app.orders",
                "VACUUM app.orders",
                "LOCK TABLE app.orders",
                "COMMENT ON TABLE app.orders IS 'x'",
                "COMMENT ON COLUMN app.orders.id IS 'x'",
                "CREATE TABLE app.probe (id int REFERENCES app.orders (id))",
                "CREATE TABLE app.probe (id int, FOREIGN KEY (id) REFERENCES app.orders (id))",
            ]
            .map(|sql| ("relation_not_allowed", sql)),
        );
        cases.extend(
            [
                "GRANT SELECT ON app.countries TO PUBLIC",
                "COMMENT ON TABLE app.countries IS 'x'",
                "COMMENT ON COLUMN app.countries.code IS 'x'",
                "VACUUM app.countries",
                "TRUNCATE app.countries",
                "LISTEN a",
                "NOTIFY a, 'b'",
                "CREATE SCHEMA b",
                "CREATE TYPE app.mood AS ENUM ('a')",
                "CREATE TABLE app.probe (id int PRIMARY KEY, c text REFERENCES app.countries (code))",
            ]
            .map(|sql| ("ok", sql)),
        );
        lab().expect("dba", &cases);
    });
}

#[test]
fn a_text_is_refused_for_the_statement_that_made_the_name() {
    on_large_stack(|| {
        lab().expect(
            "dba",
            &[
                ("ok", "PREPARE p AS SELECT 1; EXECUTE p"),
                ("relation_not_allowed", "PREPARE p AS SELECT * FROM app.orders; EXECUTE p; DEALLOCATE p"),
                ("relation_not_allowed", "DECLARE c CURSOR FOR SELECT * FROM app.orders; FETCH c"),
                ("name_unknown", "EXECUTE p; PREPARE p AS SELECT 1"),
            ],
        );
    });
}
