//! `pgmoat policy test` and `pgmoat policy init`.

use std::fs;
use std::path::PathBuf;

use pgmoat_lab::SERVICE_USER;
use pgmoat_tests::Stack;
use serde_json::Value;

use crate::{Folder, database};

const HEAD: &str = "policy: policy.yaml\ncatalog: catalog.json\ncases:\n";

/// The suite that `lab/up` speaks of.
#[test]
fn the_labs_suite_is_as_expected() {
    let suite = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../lab/suite.yaml");
    let ended = Folder::new().pgmoat(&["policy", "test", suite.to_str().unwrap()]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
    let (count, rest) = ended.stdout.split_once(' ').unwrap();
    assert!(count.parse::<usize>().unwrap() >= 40, "{count}");
    assert_eq!(rest, format!("cases: {count} as expected, 0 not\n"));
}

#[test]
fn what_is_not_as_expected_is_a_table_and_drawn() {
    let folder = Folder::new();
    let cases = "  - { name: good, as: ops, sql: SELECT 1, expect: allow }
  - { name: open, as: \"app:acme\", sql: SELECT id FROM app.orders, expect: allow }
  - { as: \"app:acme\", sql: \"SELECT 1\", expect: deny, code: tenant_unproven }
  - { name: code, as: \"app:acme\", sql: SELECT id FROM app.orders, expect: deny, code: tenant_mismatch }
  - { name: any code, as: \"app:acme\", sql: SELECT id FROM app.orders, expect: deny }
";
    folder.write("suite.yaml", &format!("{HEAD}{cases}"));
    let ended = folder.pgmoat(&["policy", "test", "suite.yaml"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
    let table = "\
line  case      expected              answer
5     open      allow                 deny tenant_unproven
6     SELECT 1  deny tenant_unproven  allow
7     code      deny tenant_mismatch  deny tenant_unproven
";
    assert!(ended.stdout.starts_with(table), "{}", ended.stdout);
    assert!(ended.stdout.contains("\nsuite.yaml:5:5: open\ndenied[tenant_unproven]: "), "{}", ended.stdout);
    assert!(ended.stdout.contains("1 | SELECT id FROM app.orders\n"), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("\n5 cases: 2 as expected, 3 not\n"), "{}", ended.stdout);
    let json = folder.pgmoat(&["policy", "test", "suite.yaml", "--format", "json"]);
    let lines: Vec<Value> = json.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let met: Vec<bool> = lines.iter().map(|line| line["as_expected"].as_bool().unwrap()).collect();
    assert_eq!((json.code, met), (1, vec![true, false, false, false, true]));
}

#[test]
fn values_are_bound_as_a_client_binds_them() {
    let folder = Folder::new();
    let sql = "SELECT id FROM app.orders WHERE tenant_id = $1";
    let case = |rest: &str| format!("  - {{ as: \"app:acme\", sql: \"{sql}\", {rest} }}\n");
    let cases = [
        "params: [acme], expect: allow",
        "params: [globex], expect: deny, code: tenant_mismatch",
        "params: [null], expect: deny, code: tenant_mismatch",
        "params: [{ hex: \"61636d65\" }], expect: allow",
        "params: [acme], types: [25], expect: allow",
        "params: [acme], types: [19], expect: deny, code: type_not_allowed",
        "protocol: parse, expect: allow",
        "protocol: simple, expect: deny, code: parameter_unbound",
    ];
    folder.write("suite.yaml", &format!("{HEAD}{}", cases.map(case).concat()));
    let ended = folder.pgmoat(&["policy", "test", "suite.yaml"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
}

#[test]
fn a_suite_that_says_nonsense_is_unusable_with_every_place() {
    let folder = Folder::new();
    for (suite, said) in [
        ("cases: []\n", "pgmoat: the suite names no policy"),
        ("policy: policy.yaml\ncases: []\n", "pgmoat: --catalog is needed"),
        ("policy: none.yaml\ncatalog: catalog.json\ncases: []\n", "none.yaml: cannot be read"),
        ("policy: policy.yaml\n", "suite.yaml:1:1: the key \"cases\" is missing"),
        (&format!("{HEAD}  - {{ as: ops, sql: SELECT 1, expect: alow }}\n"), "did you mean \"allow\"?"),
        (
            &format!("{HEAD}  - {{ as: ops, sql: SELECT 1, expect: allow, code: x }}\n"),
            "suite.yaml:4:5: cases[0]: \"code\" is",
        ),
        (
            &format!("{HEAD}  - {{ as: opps, sql: SELECT 1, expect: allow }}\n"),
            "the policy has no role \"opps\"",
        ),
        (
            &format!("{HEAD}  - {{ user: ops, sql: SELECT 1, expect: allow }}\n"),
            "the configuration has no user",
        ),
        (&format!("{HEAD}  - {{ sql: SELECT 1, expect: allow }}\n"), "neither \"as\" nor \"user\""),
        (
            &format!("{HEAD}  - {{ as: ops, sql: SELECT 1, params: [1], expect: allow }}\n"),
            "expected text or null or",
        ),
    ] {
        folder.write("suite.yaml", suite);
        let ended = folder.pgmoat(&["policy", "test", "suite.yaml"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{suite}");
        assert!(ended.stderr.contains(said), "{suite}: {}", ended.stderr);
    }
    assert_eq!(folder.pgmoat(&["policy", "test", "none.yaml"]).code, 2);
}

#[test]
fn users_of_a_configuration_are_tested_against_its_database() {
    let (folder, _) = database::folder();
    let sql = "SELECT id FROM app.orders WHERE tenant_id = 'acme'";
    let suite = format!(
        "cases:\n  - {{ user: acme_app, sql: \"{sql}\", expect: allow }}\n  - {{ user: globex_app, sql: \"{sql}\", expect: deny }}\n"
    );
    folder.write("suite.yaml", &suite);
    let arguments = ["policy", "test", "suite.yaml", "-c", "pgmoat.yaml"];
    let ended = folder.pgmoat_with(&arguments, "", &[database::PASSWORD]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
}

/// What a draft of the lab says, and that it is a policy.
#[test]
fn a_draft_loads_and_finds_what_the_labs_policy_says() {
    let (folder, database) = database::folder();
    let psql = |sql: &str| Stack::get().cluster().psql(&database, sql).unwrap();
    psql("CREATE TABLE app.\"o'dd \"\"n\n*ame\" (tenant_id text, \"pass\nword\" text)");
    let dsn = Stack::get().cluster().dsn(SERVICE_USER, &database);
    psql("GRANT SELECT ON ALL TABLES IN SCHEMA app TO pgmoat_service");
    let ended = folder.pgmoat(&["policy", "init", "--dsn", &dsn]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let draft = &ended.stdout;
    for line in [
        "- { match: \"app.*\", column: \"tenant_id\" }\n",
        "- { match: \"billing.*\", column: \"account_no\" }\n",
        "# - { match: \"app.plans\", shared: true }\n",
        "# - { match: \"app.countries\", shared: true }\n",
        "# carries tenants: app.shipments (tenant_id, warehouse_id) to app.warehouses\n",
        "# - \"app.orders.customer_id\"\n",
        "# - \"app.every_order\"   stable, runs with its owner's rights\n",
        "\"app.customers.ssn\"",
        "schema internal has no tenant column",
        "DECIDE: the tenant columns have 2 names",
    ] {
        assert!(draft.contains(line), "{line} not in\n{draft}");
    }
    assert!(draft.matches("DECIDE").count() >= 10, "{draft}");

    folder.write("policy.yaml", draft);
    let users = "users:\n  - { name: acme_app, role: app, tenant: acme,";
    let config = fs::read_to_string(folder.path("pgmoat.yaml")).unwrap();
    let (head, rest) = config.split_once("users:\n").unwrap();
    let verifier = rest.split("verifier: ").nth(1).unwrap().split(',').next().unwrap();
    let databases = rest.split_once("databases:").unwrap().1;
    folder.write("pgmoat.yaml", &format!("{head}{users} verifier: {verifier} }}\ndatabases:{databases}"));
    let checked = folder.pgmoat_with(&["check", "-c", "pgmoat.yaml"], "", &[database::PASSWORD]);
    assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    let verify = |sql: &str| {
        let arguments = ["verify", "-c", "pgmoat.yaml", "--user", "acme_app", "--sql", sql];
        folder.pgmoat_with(&arguments, "", &[database::PASSWORD]).code
    };
    assert_eq!(verify("SELECT id FROM app.orders WHERE tenant_id = 'acme'"), 0);
    assert_eq!(verify("SELECT id FROM app.orders"), 1);
    // Nothing that a person was not asked about is open.
    for sql in ["SELECT * FROM app.plans", "SELECT * FROM app.every_order()", "SELECT FROM internal.api_keys"]
    {
        assert_eq!(verify(sql), 1, "{sql}");
    }
}

#[test]
fn a_draft_of_an_empty_database_loads_and_no_file_is_overwritten() {
    let (folder, database) = database::folder();
    let psql = |sql: &str| Stack::get().cluster().psql(&database, sql).unwrap();
    psql("DROP SCHEMA app, billing, internal CASCADE");
    let dsn = Stack::get().cluster().dsn(SERVICE_USER, &database);
    let written = folder.pgmoat(&["policy", "init", "--dsn", &dsn, "-o", "draft.yaml"]);
    assert_eq!((written.code, written.stdout.as_str()), (0, ""), "{}", written.stderr);
    folder.write("suite.yaml", "policy: draft.yaml\ncatalog: catalog.json\ncases: [{ as: \"app:acme\", sql: SELECT 1, expect: allow }]\n");
    let ended = folder.pgmoat(&["policy", "test", "suite.yaml"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let again = folder.pgmoat(&["policy", "init", "--dsn", &dsn, "-o", "policy.yaml"]);
    assert_eq!(again.code, 1);
    assert_eq!(fs::read_to_string(folder.path("policy.yaml")).unwrap(), pgmoat_lab::POLICY_YAML);
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let folder = Folder::new();
    let dsn = "postgresql://somebody:hunter2@127.0.0.1:1/lab?sslmode=disable";
    for command in [&["policy", "init", "--dsn", dsn][..], &["catalog", "dump", "--dsn", dsn]] {
        let ended = folder.pgmoat(command);
        assert_eq!(ended.code, 1, "{}", ended.stderr);
        assert!(ended.stderr.starts_with("pgmoat: 127.0.0.1:1 is not reached: "), "{}", ended.stderr);
        assert!(!ended.stderr.contains("hunter2"));
    }
}
