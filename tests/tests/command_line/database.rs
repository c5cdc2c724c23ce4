//! Commands that ask a running PostgreSQL.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pgmoat_lab::{ProxyConfig, SERVICE_PASSWORD, SERVICE_USER};
use pgmoat_policy::Catalog;
use pgmoat_tests::Stack;

use crate::Folder;

/// A folder whose configuration leads to a database of its own.
pub(crate) fn folder() -> (Folder, String) {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    let folder = Folder::new();
    folder.write("pgmoat.yaml", &ProxyConfig::lab(stack.cluster(), &database).yaml("policy.yaml"));
    (folder, database)
}

pub(crate) const PASSWORD: (&str, &str) = ("PGMOAT_UPSTREAM_PASSWORD", SERVICE_PASSWORD);

#[test]
fn a_catalog_is_dumped_and_serves_offline() {
    let (folder, database) = folder();
    let dsn = Stack::get().cluster().dsn(SERVICE_USER, &database);
    let by_dsn = folder.pgmoat(&["catalog", "dump", "--dsn", &dsn]);
    assert_eq!((by_dsn.code, by_dsn.stderr.as_str()), (0, ""));
    assert!(Catalog::parse(&by_dsn.stdout).is_ok());
    let dump = ["catalog", "dump", "-c", "pgmoat.yaml", "-o", "dumped.json"];
    let by_config = folder.pgmoat_with(&dump, "", &[PASSWORD]);
    assert_eq!((by_config.code, by_config.stdout.as_str()), (0, ""), "{}", by_config.stderr);
    assert_eq!(fs::read_to_string(folder.path("dumped.json")).unwrap(), by_dsn.stdout);
    let sql = "SELECT id FROM app.orders WHERE tenant_id = 'acme'";
    let verify =
        ["verify", "-p", "policy.yaml", "--catalog", "dumped.json", "--as", "app:acme", "--sql", sql];
    assert_eq!(folder.pgmoat(&verify).code, 0);
    let wrong = folder.pgmoat(&["catalog", "dump", "--dsn", &dsn.replace(SERVICE_PASSWORD, "hunter2")]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (1, ""));
    assert!(wrong.stderr.contains("password") && !wrong.stderr.contains("hunter2"), "{}", wrong.stderr);
}

#[test]
fn users_of_the_configuration_are_verified_against_the_database() {
    let (folder, _) = folder();
    let verify = |user: &str, sql: &str| {
        let arguments = ["verify", "-c", "pgmoat.yaml", "--user", user, "--sql", sql];
        folder.pgmoat_with(&arguments, "", &[PASSWORD])
    };
    let sql = "SELECT id FROM app.orders WHERE tenant_id = 'acme'";
    assert_eq!(verify("acme_app", sql).code, 0);
    assert_eq!(verify("globex_app", sql).code, 1);
    assert_eq!(verify("nobody", sql).code, 2);
}

#[test]
fn the_labs_configuration_is_good() {
    let (folder, database) = folder();
    let check = || folder.pgmoat_with(&["check", "-c", "pgmoat.yaml"], "", &[PASSWORD]);
    let ended = check();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.ends_with("\npgmoat.yaml is good\n"), "{}", ended.stdout);
    assert!(ended.stderr.contains("has no index that leads with \"tenant_id\""), "{}", ended.stderr);
    Stack::get().cluster().psql(&database, "ALTER TABLE app.customers DROP COLUMN ssn CASCADE").unwrap();
    let ended = check();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("policy.yaml:28:23: roles.analyst.columns.deny[0]: denies nothing"),
        "{}",
        ended.stderr
    );
}

#[test]
fn check_lists_what_views_reach() {
    let (folder, database) = folder();
    let psql = |sql: &str| Stack::get().cluster().psql(&database, sql).unwrap();
    psql("CREATE VIEW app.over AS SELECT o.id FROM app.order_lines l, app.open_orders o");
    psql("CREATE VIEW app.keys AS SELECT * FROM internal.api_keys");
    let ended = folder.pgmoat_with(&["check", "-c", "pgmoat.yaml"], "", &[PASSWORD]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for line in [
        "lab: view app.order_lines reaches app.order_items, app.orders\n",
        "lab: view app.over reaches app.open_orders, app.order_items, app.order_lines, app.orders\n",
        "lab: view app.keys reaches internal.api_keys; out of reach of tenants for internal.api_keys\n",
    ] {
        assert!(ended.stdout.contains(line), "{line}not in\n{}", ended.stdout);
    }
    let json =
        folder.pgmoat_with(&["check", "-c", "pgmoat.yaml", "--format", "json"], "", &[PASSWORD]).stdout;
    let line = "{\"database\":\"lab\",\"view\":\"app.keys\",\"reaches\":[\"internal.api_keys\"],\"uncovered\":[\"internal.api_keys\"]}\n";
    assert!(json.contains(line), "{json}");
}

/// A table that was made, or a tenant column that vanished, after the policy was written.
#[test]
fn drift_is_a_warning() {
    let (folder, database) = folder();
    let policy = pgmoat_lab::POLICY_YAML
        .replace("\"app.*\", \"billing.*\"] }", "\"app.*\", \"billing.*\", \"new.*\"] }");
    folder.write("policy.yaml", &policy);
    let psql = |sql: &str| Stack::get().cluster().psql(&database, sql).unwrap();
    let warnings = || {
        let ended = folder.pgmoat_with(&["check", "-c", "pgmoat.yaml"], "", &[PASSWORD]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        ended.stderr
    };
    let uncovered = "no line of tenancy.tables is about new.a, new.b: out of reach of tenants";
    let vanished = "app.customers has no column \"tenant_id\": it is out of reach";
    let before = warnings();
    assert!(!before.contains(uncovered) && !before.contains(vanished), "{before}");
    psql("CREATE SCHEMA new; CREATE TABLE new.b (id int); CREATE TABLE new.a (id int)");
    psql("ALTER TABLE app.customers RENAME COLUMN tenant_id TO owner");
    let after = warnings();
    assert!(after.contains(uncovered) && after.contains(vanished), "{after}");
}

/// The running proxy tells of drift when it reads the catalog again, and tells it once.
#[test]
fn the_proxys_log_tells_drift_once() {
    let proxied = Stack::get().proxy().unwrap();
    let psql = |sql: &str| Stack::get().cluster().psql(&proxied.database, sql).unwrap();
    let vanished = "app.customers has no column";
    let many = "more there: pgmoat check shows them";
    let reads = || proxied.proxy.log().matches("catalog read").count();
    let change_and_wait = |sql: &str| {
        let before = reads();
        psql(sql);
        let started = Instant::now();
        while reads() == before && started.elapsed() < PATIENCE {
            sleep(Duration::from_millis(50));
        }
        assert!(reads() > before, "{}", proxied.proxy.log());
    };
    assert!(!proxied.proxy.log().contains(vanished));
    change_and_wait("ALTER TABLE app.customers RENAME COLUMN tenant_id TO owner");
    change_and_wait("CREATE TABLE app.later (id int)");
    let log = proxied.proxy.log();
    assert_eq!(log.matches(vanished).count(), 1, "{log}");
    // Those of one line of the policy are told in one line, with their number, and not again.
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains("tenancy.tables[3].match")).collect();
    assert_eq!(warnings.iter().filter(|line| line.contains(many)).count(), 1, "{log}");
    assert_eq!(warnings.len(), 3, "at the start, and one of each change: {log}");
}

/// Far above the time between two looks at the catalog.
const PATIENCE: Duration = Duration::from_secs(30);
