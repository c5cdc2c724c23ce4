//! Commands that ask a running PostgreSQL.

use std::fs;

use pgmoat_lab::{ProxyConfig, SERVICE_PASSWORD, SERVICE_USER};
use pgmoat_policy::Catalog;
use pgmoat_tests::Stack;

use crate::Folder;

/// A folder whose configuration leads to a database of its own.
fn folder() -> (Folder, String) {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    let folder = Folder::new();
    folder.write("pgmoat.yaml", &ProxyConfig::lab(stack.cluster(), &database).yaml("policy.yaml"));
    (folder, database)
}

const PASSWORD: (&str, &str) = ("PGMOAT_UPSTREAM_PASSWORD", SERVICE_PASSWORD);

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
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "pgmoat.yaml is good\n"), "{}", ended.stderr);
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
