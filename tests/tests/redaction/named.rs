//! Integrity errors: built of names in reach, with PostgreSQL's own text where all of them are.

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::{Message, Raw, Stack};

use crate::{direct, error, run, superuser};

/// Statements of acme's whose error names nothing but what acme may reach.
const IN_REACH: &[(&str, &str)] = &[
    ("23505", "INSERT INTO app.products (tenant_id, sku, name, price) VALUES ('acme', 'SKU-3', 'x', 1)"),
    ("23503", "INSERT INTO app.orders (tenant_id, customer_id) VALUES ('acme', 424242)"),
    ("23503", "DELETE FROM app.orders WHERE tenant_id = 'acme' AND id = 8"),
    ("23502", "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', NULL)"),
    ("23514", "INSERT INTO app.checked (tenant_id, n) VALUES ('acme', -1)"),
    ("23514", "UPDATE app.customers SET email = 'nobody' WHERE tenant_id = 'acme' AND id = 3"),
    ("23P01", "INSERT INTO app.checked (tenant_id, n) VALUES ('acme', 7)"),
];

#[test]
fn integrity_errors_are_postgresqls_with_the_names_and_without_the_values() {
    let database = Stack::get().database().unwrap();
    run(
        &mut superuser(&database),
        "CREATE TABLE app.checked (tenant_id text, n int CHECK (n > 0), EXCLUDE USING btree (n WITH =));
         INSERT INTO app.checked VALUES ('globex', 7);
         GRANT ALL ON app.checked TO pgmoat_service;
         ALTER ROLE pgmoat_service SET search_path = app, public",
    );
    let proxied = Stack::get().proxy_before(&database, |_| {}).unwrap();
    let (mut direct, mut raw) = (direct(&database), Raw::connect(&proxied.login("acme_app")).unwrap());
    for (sqlstate, sql) in IN_REACH {
        let (said, read) = (direct.query(sql).unwrap(), raw.query(sql).unwrap());
        let (said, read) = (error(&said, sql), error(&read, sql));
        assert_eq!(said.field(b'C').as_deref(), Some(*sqlstate), "{sql}: {:?}", said.field(b'M'));
        for field in *b"SVCMstcdn" {
            assert_eq!(read.field(field), said.field(field), "{sql}: field {}", char::from(field));
        }
        for field in *b"DHWpqFLR" {
            assert_eq!(read.field(field), None, "{sql}: field {}", char::from(field));
        }
    }
}

#[test]
fn what_is_out_of_reach_is_not_named() {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    run(
        &mut superuser(&database),
        "CREATE TABLE internal.flags_of_orders (order_id bigint CONSTRAINT hidden_constraint REFERENCES app.orders (id));
         INSERT INTO internal.flags_of_orders VALUES (20998);
         DELETE FROM app.order_items WHERE order_id = 20998;
         DELETE FROM app.shipments WHERE order_id = 20998;
         UPDATE app.orders SET tenant_id = 'acme' WHERE id = 20998",
    );
    let policy = POLICY_YAML.replace(
        "relations: { allow: [\"app.*\", \"billing.*\"] }\n    functions: { preset: standard, allow",
        "relations: { allow: [\"app.*\", \"billing.*\"], deny: [app.countries] }\n    functions: { preset: standard, allow",
    );
    assert_ne!(policy, POLICY_YAML);
    let proxied = stack.proxy_before(&database, |config| config.policy = policy).unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let delete = "DELETE FROM app.orders WHERE tenant_id = 'acme' AND id = 20998";
    let said = direct(&database).query(delete).unwrap();
    assert_eq!(error(&said, delete).field(b't').as_deref(), Some("flags_of_orders"));
    let read = raw.query(delete).unwrap();
    let read = error(&read, delete);
    assert_eq!(read.field(b'C').as_deref(), Some("23503"));
    assert_eq!(read.field(b'M').as_deref(), Some("insert, update or delete violates foreign key constraint"));
    nothing_named(read);
    // The referencing table is in reach, and the constraint with it; the referenced one is not named here anyway.
    let insert = "UPDATE app.customers SET country = 'XX' WHERE tenant_id = 'acme' AND id = 3";
    let read = raw.query(insert).unwrap();
    assert_eq!(error(&read, insert).field(b'n').as_deref(), Some("customers_country_fkey"));
}

fn nothing_named(read: &Message) {
    for field in *b"stcdn" {
        assert_eq!(read.field(field), None, "field {}", char::from(field));
    }
}
