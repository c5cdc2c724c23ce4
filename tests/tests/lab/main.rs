//! The lab's own command, as `lab/up`, `lab/psql` and `lab/down` call it: twice up is once up, and down is down.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::pgmoat_binary;

#[test]
fn up_shows_both_verdicts_and_down_ends_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("policy.yaml"), POLICY_YAML).unwrap();
    let lab = Lab { folder: folder.path(), port: free_port() };

    let up = lab.run("up", &[pgmoat_binary().unwrap().to_str().unwrap(), "--detach"]);
    let said = text(&up);
    assert!(up.status.success(), "{said}");
    assert!(said.contains("4242 | shipped"), "{said}");
    assert!(said.contains("ERROR:  ") && said.contains("tenant_unproven"), "{said}");
    assert!(said.contains(&format!("postgresql://ops:ops-secret@127.0.0.1:{}/lab", lab.port)), "{said}");

    let binary = pgmoat_binary().unwrap();
    assert!(said.contains(&format!("{} policy test", binary.display())), "the binary that runs: {said}");

    let again = lab.run("up", &[pgmoat_binary().unwrap().to_str().unwrap()]);
    assert!(again.status.success() && text(&again).contains("up already"), "{}", text(&again));

    let count = "SELECT count(*) FROM app.orders WHERE tenant_id = 'acme'";
    assert_eq!(text(&lab.run("psql", &["acme_app", "-Atc", count])), "10000\n");
    let refused = lab.run("psql", &["globex_app", "-Atc", count]);
    assert!(!refused.status.success() && text(&refused).contains("tenant_mismatch"), "{}", text(&refused));
    assert_eq!(
        text(&lab.run("psql", &["ops", "-Atc", "SELECT count(*) FROM public.pgbench_accounts"])),
        "100000\n"
    );
    assert!(folder.path().join("run/audit.jsonl").exists());

    let down = lab.run("down", &[]);
    assert!(down.status.success(), "{}", text(&down));
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, lab.port)).is_err());
    assert!(text(&lab.run("down", &[])).contains("not up"));
    assert!(!lab.run("psql", &["acme_app"]).status.success());
}

/// They need no cargo and no CARGO_TARGET_DIR, and say what to do where there is nothing to run.
#[test]
fn psql_and_down_run_what_up_has_built() {
    let folder = tempfile::tempdir().unwrap();
    let lab = folder.path();
    for file in ["psql", "down", "command.sh"] {
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab").join(file), lab.join(file)).unwrap();
    }
    fs::create_dir(lab.join("run")).unwrap();
    let binary = pgmoat_binary().unwrap().with_file_name("pgmoat-lab");
    for (left, psql, down) in [
        (None, "lab/up", "lab/up"),
        (Some(Path::new("/gone/pgmoat-lab")), "/gone/pgmoat-lab is gone; lab/up", "is gone; lab/up"),
        (Some(binary.as_path()), "it is not up; start it with lab/up", "it is not up"),
    ] {
        if let Some(command) = left {
            fs::write(lab.join("run/command"), format!("{}\n", command.display())).unwrap();
        }
        for (script, said) in [("psql", psql), ("down", down)] {
            let output = Command::new(lab.join(script)).arg("acme_app").env("HOME", lab).output().unwrap();
            assert!(text(&output).contains(said), "{script}: {}", text(&output));
            let ended = script == "down" && left == Some(binary.as_path());
            assert_eq!(output.status.success(), ended, "{script}: {}", text(&output));
        }
    }
}

/// A lab in a folder of its own.
struct Lab<'a> {
    folder: &'a Path,
    port: u16,
}

impl Lab<'_> {
    fn run(&self, verb: &str, arguments: &[&str]) -> Output {
        let binary = pgmoat_binary().unwrap().with_file_name("pgmoat-lab");
        Command::new(binary)
            .arg(verb)
            .arg(self.folder)
            .args(arguments)
            .env("PGMOAT_LAB_PORT", self.port.to_string())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        // Where the test has failed it is still up.
        let _ = self.run("down", &[]);
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}
