//! `session: { app.current_tenant: "{tenant}" }`: each tenant has connections of its own that start with its name, so
//! row-level security is the first wall; nobody can change it, and nobody gets another's.

use pgmoat_lab::{POLICY_YAML, SUPERUSER};
use pgmoat_tests::front::q;
use pgmoat_tests::{Mode, Proxied, Raw, Stack};

use crate::patience::eventually;

#[test]
fn each_tenant_has_its_own_in_session_mode() {
    each_tenant_has_its_own(Mode::Session);
}

#[test]
fn each_tenant_has_its_own_in_transaction_mode() {
    each_tenant_has_its_own(Mode::Transaction);
}

fn each_tenant_has_its_own(mode: Mode) {
    let proxied = behind_row_level_security(mode);
    for round in 0..3 {
        for (user, tenant, other) in [("acme_app", "acme", "globex"), ("globex_app", "globex", "acme")] {
            let mut raw = Raw::connect(&proxied.login(user)).unwrap();
            // The database itself shows no other tenant's rows now, and all of one's own.
            let seen =
                raw.query(&format!("SELECT count(*) FROM app.notes WHERE tenant_id = '{tenant}'")).unwrap();
            assert_eq!(seen.rows()[0][0].as_deref(), Some("1"), "{user}, round {round}");
            for attempt in [
                format!("SET app.current_tenant = '{other}'"),
                format!("SELECT set_config('app.current_tenant', '{other}', false)"),
            ] {
                assert_eq!(raw.query(&attempt).unwrap().codes(), ["42501"], "{attempt}");
            }
            // Letting go leads back to it.
            for reset in ["RESET ALL", "DISCARD ALL"] {
                raw.query(reset).unwrap();
                let seen = raw
                    .query(&format!("SELECT tenant_id FROM app.notes WHERE tenant_id = '{tenant}'"))
                    .unwrap();
                assert_eq!(seen.rows(), [[Some(tenant.to_owned())]], "after {reset}");
            }
        }
        // No tenant: none of the settings, and so none of the rows.
        let mut ops = Raw::connect(&proxied.login("ops")).unwrap();
        assert_eq!(ops.query("SELECT count(*) FROM app.notes").unwrap().rows()[0][0].as_deref(), Some("0"));
    }
}

/// The cap is each tenant's own: one that uses all of its connections takes none of another's.
#[test]
fn one_tenant_does_not_use_up_another_s() {
    let proxied = behind_row_level_security(Mode::Session);
    let mut busy = Raw::connect(&proxied.login("acme_app")).unwrap();
    busy.send(&[q("BEGIN"), q("SELECT 1")]).unwrap();
    busy.expect("C Z(T) T D C Z(T)").unwrap();
    let mut second = Raw::connect(&proxied.login("acme_app")).unwrap();
    second.send(&[q("SELECT 1")]).unwrap();
    let mut other = Raw::connect(&proxied.login("globex_app")).unwrap();
    other.send(&[q("SELECT 1")]).unwrap();
    other.expect("T D C Z(I)").unwrap();
    let upstream = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'pgmoat_service' AND datname = current_database() \
                    AND application_name LIKE 'pgmoat/%_app'";
    eventually("one connection for each tenant", || {
        Stack::get().cluster().psql(&proxied.database, upstream).unwrap().trim() == "2"
    });
    busy.send(&[q("COMMIT")]).unwrap();
    busy.expect("C Z(I)").unwrap();
    drop(busy);
    second.expect("T D C Z(I)").unwrap();
}

/// One note of each tenant, which a policy of the database shows to whoever has the tenant's name in a setting.
fn behind_row_level_security(mode: Mode) -> Proxied {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    let sql = "DELETE FROM app.notes;
        INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'a'), ('globex', 'g'), ('initech', 'i');
        ALTER TABLE app.notes ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON app.notes USING (tenant_id = current_setting('app.current_tenant', true));";
    stack.cluster().psql(&database, sql).unwrap();
    assert!(
        stack.cluster().psql(&database, "SELECT count(*) FROM app.notes").unwrap().trim() == "3",
        "{SUPERUSER}"
    );
    stack
        .proxy_before(&database, |config| {
            config.databases[0].pool = format!("mode: {mode}, size: 1, wait_timeout_ms: 20000");
            config.databases[0].session = "app.current_tenant: \"{tenant}\"".to_owned();
            config.policy = POLICY_YAML.to_owned();
        })
        .unwrap()
}
