//! Notices: over tenants' rows their number alone would tell something, so none is shown.

use pgmoat_tests::{Login, Raw, Stack};

use crate::{direct, run, superuser};

/// A notice for each row that is looked at: with a text of the positive list, so that only the rule about tenants' rows
/// keeps it back.
const TALKING: &str = "
    CREATE FUNCTION app.talk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE WARNING USING ERRCODE = '25P01', MESSAGE = 'there is no transaction in progress'; RETURN NEW; END $$;
    CREATE TRIGGER talk BEFORE INSERT ON app.notes FOR EACH ROW EXECUTE FUNCTION app.talk();";

#[test]
fn a_statement_over_tenants_rows_shows_no_notice_and_another_shows_those_of_the_list() {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    run(&mut superuser(&database), TALKING);
    let proxied = stack.proxy_before(&database, |_| {}).unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let insert = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'x'), ('acme', 'y')";
    assert_eq!(direct(&database).query(insert).unwrap().to_string(), "N N C Z(I)");
    assert_eq!(raw.query(insert).unwrap().to_string(), "C Z(I)");
    assert_eq!(raw.query("COMMIT").unwrap().to_string(), "N C Z(I)");
}

#[test]
fn what_the_server_says_to_itself_cannot_be_asked_for() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for value in ["debug1", "debug5", "log", "'DEBUG2'"] {
        assert_eq!(
            raw.query(&format!("SET client_min_messages = {value}")).unwrap().codes(),
            ["42501"],
            "{value}"
        );
    }
    run(&mut raw, "SET client_min_messages = warning");
    for more in [("client_min_messages", "debug1"), ("options", "-c client_min_messages=debug1")] {
        assert!(Raw::connect(&Login { more: &[more], ..proxied.login("acme_app") }).is_err(), "{more:?}");
    }
}
