//! The cheap version: it moves with every change that the catalog text could show, and it rests
//! while nothing changes.

use pgmoat_upstream::{catalog, connect};

use super::*;

/// Each changes something in the text.
const CHANGES: &[&str] = &[
    "CREATE SCHEMA v",
    "CREATE TABLE v.t (a int, b text)",
    "ALTER TABLE v.t RENAME COLUMN a TO c",
    "ALTER TABLE v.t ALTER COLUMN c SET NOT NULL",
    "ALTER TABLE v.t ALTER COLUMN c SET DEFAULT 1",
    "ALTER TABLE v.t ALTER COLUMN c SET DEFAULT 2",
    "ALTER TABLE v.t ALTER COLUMN b TYPE varchar(9)",
    "ALTER TABLE v.t DROP COLUMN b",
    "ALTER TABLE v.t ADD CHECK (c > 0) NOT VALID",
    "ALTER TABLE v.t VALIDATE CONSTRAINT t_c_check",
    "ALTER TABLE v.t ADD PRIMARY KEY (c)",
    "CREATE TABLE v.u (c int REFERENCES v.t DEFERRABLE)",
    "ALTER TABLE v.u ALTER CONSTRAINT u_c_fkey NOT DEFERRABLE",
    "ALTER TABLE v.u DISABLE TRIGGER ALL",
    "CREATE TABLE v.h () INHERITS (v.t)",
    "ALTER TABLE v.h NO INHERIT v.t",
    "CREATE VIEW v.w AS SELECT c FROM v.t",
    "CREATE OR REPLACE VIEW v.w AS SELECT c FROM v.h",
    "CREATE RULE r AS ON DELETE TO v.t DO INSTEAD NOTHING",
    "ALTER TABLE v.t DISABLE RULE r",
    "CREATE FUNCTION v.f(int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE OR REPLACE FUNCTION v.f(int) RETURNS int STRICT LANGUAGE sql AS 'SELECT 1'",
    "ALTER FUNCTION v.f(int) RENAME TO g",
    "CREATE OPERATOR v.@@ (RIGHTARG = int, FUNCTION = v.g)",
    "CREATE TYPE v.e AS ENUM ('a')",
    "CREATE FUNCTION v.cast(v.e) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE CAST (v.e AS int) WITH FUNCTION v.cast(v.e)",
    "CREATE DOMAIN v.d AS int",
    "ALTER DOMAIN v.d ADD CHECK (VALUE > 0)",
    "ALTER DOMAIN v.d SET NOT NULL",
    "CREATE SEQUENCE v.s",
    "ALTER SEQUENCE v.s OWNED BY v.t.c",
    "ALTER SEQUENCE v.s OWNED BY NONE",
    "ALTER TABLE v.t ENABLE ROW LEVEL SECURITY",
    "CREATE UNIQUE INDEX i ON v.u (c)",
    "ALTER INDEX v.i RENAME TO j",
    "DROP INDEX v.j",
    "CREATE COLLATION v.k FROM \"C\"; ALTER TABLE v.u ADD COLUMN k text COLLATE v.k",
    "ALTER COLLATION v.k RENAME TO l",
    "CREATE EXTENSION pg_trgm",
    "DROP EXTENSION pg_trgm",
    "ALTER SCHEMA v RENAME TO x",
    "DROP SCHEMA x CASCADE",
];

#[tokio::test]
async fn every_change_moves_it() {
    let database = lab_database();
    let mut reader = connect(&target(&database)).await.unwrap();
    let mut text = catalog::read(&mut reader, PATIENCE).await.unwrap();
    let mut version = catalog::version(&mut reader, PATIENCE).await.unwrap();
    for change in CHANGES {
        psql(&database, change);
        let now = catalog::read(&mut reader, PATIENCE).await.unwrap();
        assert!(now != text, "the text does not show: {change}");
        text = now;
        let before = std::mem::replace(&mut version, catalog::version(&mut reader, PATIENCE).await.unwrap());
        assert_ne!(version, before, "{change}");
    }
}

#[tokio::test]
async fn it_rests_while_the_schema_does() {
    let database = lab_database();
    let mut reader = connect(&target(&database)).await.unwrap();
    let before = catalog::version(&mut reader, PATIENCE).await.unwrap();
    for sql in [
        "SELECT count(*) FROM app.orders",
        "UPDATE app.plans SET name = name",
        "BEGIN; CREATE TABLE public.never (a int); ROLLBACK",
        "CREATE TEMP TABLE t (a serial PRIMARY KEY, b text DEFAULT 'x' CHECK (b <> 'y'), c int REFERENCES t);
         CREATE TEMP VIEW w AS SELECT * FROM t",
        "SELECT nextval('app.customers_id_seq')",
        "ANALYZE",
        "VACUUM FREEZE",
        "CHECKPOINT",
    ] {
        psql(&database, sql);
        assert_eq!(catalog::version(&mut reader, PATIENCE).await.unwrap(), before, "{sql}");
    }
}
