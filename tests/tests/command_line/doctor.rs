//! `pgmoat doctor`.

use std::os::unix::fs::PermissionsExt as _;

use pgmoat_lab::SUPERUSER;
use pgmoat_tests::Stack;
use serde_json::Value;

use crate::database::{PASSWORD, folder};
use crate::{Ended, Folder};

fn doctor(folder: &Folder, arguments: &[&str]) -> Ended {
    folder.pgmoat_with(&[&["doctor", "-c", "pgmoat.yaml"], arguments].concat(), "", &[PASSWORD])
}

#[test]
fn a_lab_is_sound_and_its_weaknesses_are_told() {
    let (folder, _) = folder();
    let ended = doctor(&folder, &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
    for said in [
        "good     database lab: 127.0.0.1:",
        "is reached: PostgreSQL 1",
        "good     audit: audit.jsonl can be made\n",
        "warning  database lab: role pgmoat_service may INSERT where no role of the policy may: app.countries, app.plans\n",
        "warning  role analyst: it sees masked columns, and 1000 rows a statement\n",
        "app.events has no index that leads with \"tenant_id\"",
        "foreign key orders_customer_id_fkey to app.customers lacks the tenant columns",
        "\n0 errors, ",
    ] {
        assert!(ended.stdout.contains(said), "{said} not in\n{}", ended.stdout);
    }
    // Looking changes nothing.
    assert!(!crate::exists(&folder.path("audit.jsonl")));
    let json = doctor(&folder, &["--format", "json"]);
    let lines: Vec<Value> = json.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["grade"] != "error" && line["message"].is_string()));
}

#[test]
fn a_strong_role_is_told() {
    let (folder, database) = folder();
    let psql = |sql: &str| Stack::get().cluster().psql(&database, sql).unwrap();
    // Roles are the cluster's, which other tests share: this one has its own.
    psql("DROP ROLE IF EXISTS strong; CREATE ROLE strong LOGIN BYPASSRLS CREATEDB PASSWORD 'service-secret'");
    psql("GRANT pg_read_all_data TO strong; GRANT USAGE, CREATE ON SCHEMA app, internal TO strong");
    psql("ALTER TABLE app.notes OWNER TO strong; ALTER TABLE app.notes ENABLE ROW LEVEL SECURITY");
    psql("GRANT DELETE, TRUNCATE ON app.daily_revenue, app.orders, internal.feature_flags TO strong");
    let yaml = std::fs::read_to_string(folder.path("pgmoat.yaml")).unwrap();
    folder.write("pgmoat.yaml", &yaml.replace("user: pgmoat_service", "user: strong"));
    let ended = doctor(&folder, &[]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    for said in [
        "role strong has BYPASSRLS",
        "role strong has CREATEDB",
        "role strong is a member of pg_read_all_data",
        "role strong can create objects in app, internal",
        "row-level security does not hold for their owner strong: app.notes",
        "role strong owns, or can become the owner of, app.notes",
        "role strong may TRUNCATE app.daily_revenue, app.orders, internal.feature_flags",
        "role strong may read what no role of the policy may: internal.api_keys, internal.feature_flags",
        "role strong may DELETE where no role of the policy may: internal.feature_flags",
        "a way around the proxy: pgmoat_service",
    ] {
        assert!(ended.stdout.contains(said), "{said} not in\n{}", ended.stdout);
    }
    psql("ALTER ROLE strong SUPERUSER");
    let ended = doctor(&folder, &[]);
    psql(&format!("REASSIGN OWNED BY strong TO {SUPERUSER}; DROP OWNED BY strong; DROP ROLE strong"));
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.contains("error    database lab: role strong is a superuser"), "{}", ended.stdout);
}

/// A pool that the server has no room for fails only under load, when nobody has time to look.
#[test]
fn pools_that_are_too_large_for_the_server_are_told() {
    let (folder, database) = folder();
    let yaml = std::fs::read_to_string(folder.path("pgmoat.yaml")).unwrap();
    assert!(!doctor(&folder, &[]).stdout.contains("has room for"), "a pool that fits");
    // Six users of three tenants, and one without any.
    let session = "    session: { app.current_tenant: \"{tenant}\" }\n";
    let tenants = yaml.replace("    session: {  }\n", session);
    assert_ne!(tenants, yaml);
    folder.write("pgmoat.yaml", &tenants);
    let ended = doctor(&folder, &[]);
    let said =
        "may want 257 connections (4 pools of 64, and one for the catalog), and the server has room for 247";
    assert!(ended.stdout.contains(said), "{}", ended.stdout);
    folder.write("pgmoat.yaml", &yaml);
    let limit = format!("ALTER DATABASE {database} CONNECTION LIMIT 20");
    Stack::get().cluster().psql(&database, &limit).unwrap();
    let ended = doctor(&folder, &[]);
    let said = "may want 65 connections (64, and one for the catalog), and the server has room for 20";
    assert!(ended.stdout.contains(said) && ended.code == 0, "{}", ended.stdout);
}

/// The DDL that it prints is the key that proves it: a join by the key alone passes then.
#[test]
fn keys_are_counted_and_the_printed_ddl_proves_them() {
    let (folder, database) = folder();
    let psql = |sql: &str| Stack::get().cluster().psql(&database, sql).unwrap();
    let join = "SELECT o.id, c.full_name FROM app.orders o JOIN app.customers c ON c.id = o.customer_id \
                WHERE o.tenant_id = 'acme'";
    let verify = || {
        let arguments = ["verify", "-c", "pgmoat.yaml", "--user", "acme_app", "--sql", join];
        folder.pgmoat_with(&arguments, "", &[PASSWORD]).code
    };
    assert_eq!(verify(), 1);
    psql(
        "UPDATE app.orders SET customer_id = (SELECT min(id) FROM app.customers WHERE tenant_id = 'globex') WHERE id IN (2, 4)",
    );
    let ended = doctor(&folder, &["--verify-keys"]);
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    let crossing = "error    database lab: app.orders (customer_id) to app.customers: 2 rows point at another tenant's row\n";
    assert!(ended.stdout.contains(crossing), "{}", ended.stdout);
    psql(
        "UPDATE app.orders SET customer_id = (SELECT min(id) FROM app.customers WHERE tenant_id = 'acme') WHERE id IN (2, 4)",
    );

    let ended = doctor(&folder, &["--verify-keys"]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    for key in [
        "app.order_items (order_id) to app.orders",
        "app.order_items (product_id) to app.products",
        "app.orders (customer_id) to app.customers",
        "app.shipments (order_id) to app.orders",
        "billing.payments (invoice_id) to billing.invoices",
    ] {
        assert!(
            ended.stdout.contains(&format!("{key}: no row crosses tenants today\n")),
            "{key}: {}",
            ended.stdout
        );
    }
    let ddl: Vec<&str> =
        ended.stdout.lines().map(str::trim).filter(|line| line.starts_with("ALTER TABLE")).collect();
    assert_eq!(ddl.len(), 9, "five keys, four unique keys below them: {ddl:?}");
    ddl.iter().for_each(|statement| drop(psql(statement)));
    assert_eq!(verify(), 0);
    let ended = doctor(&folder, &["--verify-keys"]);
    assert!(!ended.stdout.contains("no row crosses tenants today"), "{}", ended.stdout);
}

/// What `check` says of the certificate and its key, doctor says as well.
#[test]
fn a_key_that_others_can_read_is_told_by_doctor_as_by_check() {
    let (folder, _) = folder();
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate =
        rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    folder.write("server.crt", &certificate.pem());
    folder.write("server.key", &key.serialize_pem());
    std::fs::set_permissions(folder.path("server.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let yaml = std::fs::read_to_string(folder.path("pgmoat.yaml")).unwrap();
    folder.write("pgmoat.yaml", &format!("{yaml}tls: {{ cert: server.crt, key: server.key }}\n"));
    let told = "server.key can be read by others than its owner";
    let ended = doctor(&folder, &[]);
    assert!(ended.code == 0 && ended.stdout.contains(told), "{}", ended.stdout);
    let ended = folder.pgmoat_with(&["check", "-c", "pgmoat.yaml"], "", &[PASSWORD]);
    assert!(ended.code == 0 && ended.stderr.contains(told), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_reached_or_written_is_an_error() {
    let (folder, _) = folder();
    let yaml = std::fs::read_to_string(folder.path("pgmoat.yaml")).unwrap();
    folder.write("pgmoat.yaml", &yaml.replace("path: audit.jsonl", "path: none/audit.jsonl"));
    let ended = doctor(&folder, &[]);
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.contains("error    audit: none takes no file: "), "{}", ended.stdout);
    let (before, after) = yaml.split_once("port: ").unwrap();
    let (_, after) = after.split_once(',').unwrap();
    folder.write("pgmoat.yaml", &format!("{before}port: 1,{after}"));
    let ended = doctor(&folder, &[]);
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.contains("error    database lab: 127.0.0.1:1 is not reached: "), "{}", ended.stdout);
    folder.write("pgmoat.yaml", "listen: 1");
    assert_eq!(doctor(&folder, &[]).code, 2);
}
