//! `pgmoat check` and what `pgmoat run` refuses to start with.

use serde_json::Value;

use crate::{Folder, exists};

const VERIFIER: &str = "SCRAM-SHA-256$4096:WQ7Yd3CGV1yq/EIRtQ3WOA==$veHbj70cHqXX1hSOYnRHc/uWFZDM9n/rujKVIA8gPuI=:Ozs6hSrVZaCKNBu6btUVKFV/DZC48jZDomWlq4b7wr4=";

/// A configuration whose upstream nobody answers for.
fn configuration() -> String {
    format!(
        "listen: 127.0.0.1:0
policy: policy.yaml
audit: {{ path: audit.jsonl }}
users:
  - {{ name: acme_app, verifier: \"{VERIFIER}\", role: app, tenant: acme }}
  - {{ name: acme_analyst, verifier: \"{VERIFIER}\", role: analyst, tenant: acme }}
  - {{ name: ops, verifier: \"{VERIFIER}\", role: ops }}
databases:
  lab:
    upstream: {{ host: 127.0.0.1, port: 1, user: u, password: {{ env: UPSTREAM }}, tls: disable }}
"
    )
}

#[test]
fn every_error_of_both_files_is_told_and_nothing_is_started() {
    let folder = Folder::new();
    let broken = configuration().replace("listen:", "listn:").replace("tls: disable", "tls: off");
    folder.write("pgmoat.yaml", &broken);
    let policy =
        pgmoat_lab::POLICY_YAML.replace("analyst:", "analist:").replace("explain: deny", "explan: deny");
    folder.write("policy.yaml", &policy);
    for command in ["check", "run"] {
        let ended = folder.pgmoat_with(&[command, "-c", "pgmoat.yaml"], "", &[("UPSTREAM", "hunter2")]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{command}");
        for expected in [
            "pgmoat.yaml:1:1: listn: unknown key, did you mean \"listen\"?\n",
            "pgmoat.yaml:1:1: the key \"listen\" is missing\n",
            "pgmoat.yaml:10:86: databases.lab.upstream.tls: unknown word \"off\", expected verify-full, verify-ca, require or disable\n",
            "policy.yaml:42:1: explan: unknown key, did you mean \"explain\"?\n",
        ] {
            assert!(ended.stderr.contains(expected), "{command}: {expected}not in\n{}", ended.stderr);
        }
        assert!(!ended.stderr.contains("hunter2"));
    }
    assert!(!exists(&folder.path("audit.jsonl")));
}

#[test]
fn users_are_compared_with_roles() {
    let folder = Folder::new();
    folder.write("pgmoat.yaml", &configuration().replace("role: analyst", "role: analist"));
    let ended = folder.pgmoat(&["check", "-c", "pgmoat.yaml"]);
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("pgmoat.yaml:6:5: users[1]: the policy has no role \"analist\"\n"),
        "{}",
        ended.stderr
    );
}

/// What was not looked at is not good: a script that goes by the exit status must not take it for that.
#[test]
fn an_upstream_that_is_down_is_told_and_not_good() {
    let folder = Folder::new();
    folder.write("pgmoat.yaml", &configuration());
    let check = |more: &[&str]| {
        folder.pgmoat_with(&[&["check", "-c", "pgmoat.yaml"], more].concat(), "", &[("UPSTREAM", "x")])
    };
    let ended = check(&[]);
    let said = "pgmoat.yaml is good as far as it was looked at; not reached: lab\n";
    assert_eq!((ended.code, ended.stdout.as_str()), (1, said), "{}", ended.stderr);
    let told =
        "databases.lab.upstream: the policy was not compared with the database: 127.0.0.1:1 is not reached: ";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert!(ended.stderr.contains("check --offline looks at the files alone"), "{}", ended.stderr);
    let ended = check(&["--offline"]);
    let said = "pgmoat.yaml is good; no database was looked at\n";
    assert_eq!((ended.code, ended.stdout.as_str()), (0, said), "{}", ended.stderr);
    assert!(!ended.stderr.contains("not reached"), "{}", ended.stderr);
    assert!(!exists(&folder.path("audit.jsonl")));
}

/// Who mends a configuration sees all there is to mend: of the files, of what they name, and of the databases, as far
/// as each can be looked at without the others.
#[test]
fn problems_of_all_stages_are_told_at_once() {
    let folder = Folder::new();
    let broken = configuration()
        .replace("role: analyst", "role: analist")
        .replace("audit: {", "tls: { cert: none.crt, key: none.key }\naudit: {")
        .replace("audit.jsonl", "none/audit.jsonl");
    folder.write("pgmoat.yaml", &broken);
    let ended = folder.pgmoat_with(&["check", "-c", "pgmoat.yaml"], "", &[("UPSTREAM", "x")]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    for told in [
        "users[1]: the policy has no role \"analist\"",
        "tls.cert: cannot read ",
        "audit.path: the folder ",
        "databases.lab.upstream: the policy was not compared with the database",
    ] {
        assert!(ended.stderr.contains(told), "{told} not in\n{}", ended.stderr);
    }
    // With a broken policy, what does not need it.
    folder.write("policy.yaml", "version: one");
    let ended = folder.pgmoat_with(&["check", "-c", "pgmoat.yaml"], "", &[("UPSTREAM", "x")]);
    for told in ["policy.yaml:1:", "tls.cert: cannot read ", "audit.path: the folder "] {
        assert!(ended.stderr.contains(told), "{told} not in\n{}", ended.stderr);
    }
}

#[test]
fn a_secret_that_is_not_there_is_an_error_before_anything_is_started() {
    let folder = Folder::new();
    folder.write("pgmoat.yaml", &configuration());
    for command in ["check", "run"] {
        let ended = folder.pgmoat(&[command, "-c", "pgmoat.yaml"]);
        assert_eq!(ended.code, 2, "{command}: {}", ended.stderr);
        let expected = "databases.lab.upstream.password: the environment variable UPSTREAM: it is not set";
        assert!(ended.stderr.contains(expected), "{command}: {}", ended.stderr);
    }
    assert!(!exists(&folder.path("audit.jsonl")));
}

#[test]
fn a_program_asks_for_json() {
    let folder = Folder::new();
    folder.write("pgmoat.yaml", &configuration().replace("port: 1", "port: 0"));
    let command = ["check", "-c", "pgmoat.yaml", "--format", "json"];
    let ended = folder.pgmoat_with(&command, "", &[("UPSTREAM", "x")]);
    assert_eq!((ended.code, ended.stderr.as_str()), (2, ""));
    let problems: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors: Vec<&Value> = problems.iter().filter(|problem| problem["severity"] == "error").collect();
    assert_eq!(errors.len(), 1, "{}", ended.stdout);
    assert_eq!(
        (&errors[0]["line"], &errors[0]["path"]),
        (&Value::from(10), &Value::from("databases.lab.upstream.port"))
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = Folder::new();
    for command in ["check", "run"] {
        let ended = folder.pgmoat(&[command, "-c", "none.yaml"]);
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.starts_with("none.yaml: cannot be read: "), "{}", ended.stderr);
    }
}
