//! Files that are wrong: the error names file and line, the exit status is 2, and nothing was started.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};

use pgmoat_lab::{POLICY_YAML, Proxy, ProxyConfig};
use pgmoat_tests::{Stack, pgmoat_binary};

/// One way to break a file.
struct Broken {
    file: &'static str,
    /// A part of the right file, each found once.
    right: &'static str,
    wrong: &'static str,
    /// The text whose line is named: a part of the broken file.
    at: &'static str,
    /// What the error says besides.
    says: &'static str,
}

const BROKEN: &[Broken] = &[
    Broken { file: "pgmoat.yaml", right: "policy: policy.yaml", wrong: "policy: [", at: "", says: "" },
    Broken {
        file: "pgmoat.yaml",
        right: "policy: policy.yaml",
        wrong: "policy: policy.yaml\npolice: yes",
        at: "police",
        says: "police",
    },
    Broken {
        file: "pgmoat.yaml",
        right: "policy: policy.yaml",
        wrong: "policy: policy.yaml\npolicy: other.yaml",
        at: "policy: other.yaml",
        says: "policy",
    },
    Broken {
        file: "pgmoat.yaml",
        right: "policy: policy.yaml",
        wrong: "policy: policy.yaml\nadmin: { listen: \"0.0.0.0:0\" }",
        at: "admin",
        says: "no loopback address",
    },
    Broken {
        file: "pgmoat.yaml",
        right: "mode: session",
        wrong: "mode: statement",
        at: "mode: statement",
        says: "mode",
    },
    Broken { file: "pgmoat.yaml", right: "size: 64", wrong: "size: 0", at: "size: 0", says: "size" },
    Broken {
        file: "pgmoat.yaml",
        right: "role: ops }",
        wrong: "role: nobody }",
        at: "role: nobody }",
        says: "nobody",
    },
    Broken {
        file: "pgmoat.yaml",
        right: "role: ops }",
        wrong: "role: app }",
        at: "name: ops",
        says: "tenant",
    },
    Broken {
        file: "pgmoat.yaml",
        right: "name: ops, verifier: \"SCRAM-SHA-256$4096:",
        wrong: "name: ops, verifier: \"SCRAM-SHA-256$1:",
        at: "name: ops",
        says: "4096",
    },
    Broken {
        file: "policy.yaml",
        right: "version: 1",
        wrong: "version: one",
        at: "version",
        says: "version",
    },
    Broken {
        file: "policy.yaml",
        right: "tenant: exempt",
        wrong: "tenant: exempt\n    tenants: none",
        at: "tenants: none",
        says: "tenants",
    },
    Broken { file: "policy.yaml", right: "explain: deny", wrong: "explain: {", at: "", says: "" },
    Broken {
        file: "policy.yaml",
        right: "explain: deny",
        wrong: "explain: deny\nexplain: plain",
        at: "explain: plain",
        says: "explain",
    },
];

#[test]
fn a_wrong_file_is_told_with_its_line_and_nothing_starts() {
    for broken in BROKEN {
        let scene = Scene::new();
        let path = scene.path(broken.file);
        let right = fs::read_to_string(&path).unwrap();
        assert_eq!(right.matches(broken.right).count(), 1, "{}: {}", broken.file, broken.right);
        let wrong = right.replace(broken.right, broken.wrong);
        fs::write(&path, &wrong).unwrap();
        let said = scene.fails();
        assert!(said.contains(broken.says), "{}: {said}", broken.wrong);
        if broken.at.is_empty() {
            assert!(said.contains(&format!("{}:", broken.file)), "{}: {said}", broken.wrong);
            continue;
        }
        let before = wrong.split(broken.at).next().unwrap();
        let place = format!("{}:{}", broken.file, before.matches('\n').count() + 1);
        assert!(said.contains(&place), "{}: {place} is not in\n{said}", broken.wrong);
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let scene = Scene::new();
    for (file, right, wrong) in [
        ("pgmoat.yaml", "size: 64", "sizes: 64"),
        ("pgmoat.yaml", "role: ops }", "role: nobody }"),
        ("policy.yaml", "explain: deny", "explains: deny"),
    ] {
        let path = scene.path(file);
        let text = fs::read_to_string(&path).unwrap().replacen(right, wrong, 1);
        fs::write(&path, text).unwrap();
    }
    let said = scene.fails();
    for word in ["sizes", "explains"] {
        assert!(said.contains(word), "{word} is not in\n{said}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let scene = Scene::new();
    fs::remove_file(scene.path("policy.yaml")).unwrap();
    let said = scene.fails();
    assert!(said.contains("policy.yaml"), "{said}");
    fs::remove_file(scene.path("pgmoat.yaml")).unwrap();
    assert!(scene.fails().contains("pgmoat.yaml"));
}

#[test]
fn a_secret_that_is_not_there_is_told_and_nothing_starts() {
    let Scene { folder, holder } = Scene::new();
    drop(holder);
    let said = Proxy::start_in(&pgmoat_binary().unwrap(), folder.path(), &[]).unwrap_err().to_string();
    assert!(said.contains("exit status: 2") && said.contains("PGMOAT_UPSTREAM_PASSWORD"), "{said}");
    assert!(!folder.path().join("audit.jsonl").exists(), "{said}");
}

/// A folder with right files, and a port that somebody else holds: who tries to listen fails in another way.
struct Scene {
    folder: tempfile::TempDir,
    holder: TcpListener,
}

impl Scene {
    fn new() -> Self {
        let holder = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut config = ProxyConfig::lab(Stack::get().cluster(), "lab");
        config.listen = holder.local_addr().unwrap().to_string();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("pgmoat.yaml"), config.yaml("policy.yaml")).unwrap();
        fs::write(folder.path().join("policy.yaml"), POLICY_YAML).unwrap();
        Self { folder, holder }
    }

    fn path(&self, file: &str) -> std::path::PathBuf {
        self.folder.path().join(file)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(pgmoat_binary().unwrap());
        command.args(["run", "-c", "pgmoat.yaml"]).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("PGMOAT_UPSTREAM_PASSWORD", "service-secret");
        command
    }

    /// What it says when it does not start.
    fn fails(&self) -> String {
        let output = self.command().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "nothing listens");
        assert!(!self.path("audit.jsonl").exists(), "the audit log was not opened: {said}");
        assert!(!said.contains("service-secret") && !said.contains("panicked"), "{said}");
        said
    }
}
