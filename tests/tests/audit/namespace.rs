//! Real file systems, each in a mount namespace of the proxy's own: full, read-only, and one that is another user's.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pgmoat_lab::{LabError, Proxy, ProxyConfig};
use pgmoat_tests::front::q;
use pgmoat_tests::{Proxied, Raw, Stack, pgmoat_binary};

use crate::log_file::{assert_whole, of_kind};
use crate::patience::{PATIENCE, eventually};
use crate::proxy::{bodies, insert, told};

/// A tmpfs of 256 KiB that the log itself fills up, statement by statement.
#[test]
fn a_file_system_that_the_log_has_filled_refuses_everything_until_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let mount = folder.path().join("small");
    fs::create_dir(&mount).unwrap();
    let setup = format!("mount -t tmpfs -o size=256k,mode=700 none '{}'", mount.display());
    let script = in_namespace(folder.path(), &setup, "");
    let mut proxied = start(&script, &mount.join("audit.jsonl")).unwrap();
    let seen = |name: &str| in_its_eyes(&proxied.proxy, &mount.join(name));
    // What somebody else has left there, to be removed when it is full.
    let ballast = seen("ballast");
    fs::write(&ballast, vec![b'x'; 64 << 10]).unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let mut ran = 0;
    let refused = loop {
        let heard = raw.query(&insert(&format!("full {ran}"))).unwrap();
        match heard.codes().as_slice() {
            [] => ran += 1,
            [code] => break code.clone(),
            _ => panic!("{heard}"),
        }
    };
    assert_eq!(refused, "58030");
    assert!(ran > 50, "{ran}");
    let log = seen("audit.jsonl");
    assert_whole(&log);
    assert_eq!(bodies(&proxied, "full %").len(), ran);
    assert_eq!(told(&proxied, "No space left on device"), 1, "{}", proxied.proxy.log());

    fs::remove_file(&ballast).unwrap();
    raw.send(&[q(&insert("room"))]).unwrap();
    raw.expect("C Z(I)").unwrap();
    eventually("it is told", || told(&proxied, "takes entries again") == 1);
    drop(raw);
    eventually("the logout is written", || of_kind(&log, "logout").len() == 1);
    assert_whole(&log);
    assert_eq!(bodies(&proxied, "room"), ["room"]);
    for body in bodies(&proxied, "full %") {
        assert!(of_kind(&log, "decision").iter().any(|line| line["statement"] == insert(&body).as_str()));
    }
    proxied.proxy.terminate().unwrap();
    assert!(proxied.proxy.wait(PATIENCE).expect("SIGTERM ends it").success());
}

#[test]
fn on_a_read_only_file_system_the_proxy_does_not_start_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let mount = folder.path().join("fixed");
    fs::create_dir(&mount).unwrap();
    let mount = mount.display();
    let setup = format!("mount -t tmpfs none '{mount}' && mount -o remount,ro '{mount}'");
    let script = in_namespace(folder.path(), &setup, "");
    let said = start(&script, &folder.path().join("fixed/audit.jsonl")).unwrap_err().to_string();
    assert!(said.contains("Read-only file system") && said.contains("fixed/audit.jsonl"), "{said}");
}

#[test]
fn a_folder_or_file_of_another_user_is_told_by_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    // The binary may be where nobody else can reach it.
    let binary = folder.path().join("binary");
    fs::copy(pgmoat_binary().unwrap(), &binary).unwrap();
    for (mode, file) in [(0o755, None), (0o777, Some(0o600))] {
        fs::set_permissions(&own, fs::Permissions::from_mode(mode)).unwrap();
        let log = own.join("audit.jsonl");
        if let Some(mode) = file {
            fs::write(&log, "").unwrap();
            fs::set_permissions(&log, fs::Permissions::from_mode(mode)).unwrap();
        }
        let config = ProxyConfig {
            audit: format!("path: {}", log.display()),
            ..ProxyConfig::lab(Stack::get().cluster(), "none")
        };
        fs::write(folder.path().join("pgmoat.yaml"), config.yaml("policy.yaml")).unwrap();
        fs::write(folder.path().join("policy.yaml"), &config.policy).unwrap();
        let Output { status, stderr, .. } = Command::new("setpriv")
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(&binary)
            .args(["run", "-c"])
            .arg(folder.path().join("pgmoat.yaml"))
            .env("PGMOAT_UPSTREAM_PASSWORD", "x")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&stderr);
        assert!(!status.success());
        assert!(said.contains("Permission denied") && said.contains(log.to_str().unwrap()), "{said}");
    }
}

/// A program that runs pgmoat in a mount namespace of its own. That namespaces are not to be had is a failure, not a
/// reason to skip.
fn in_namespace(folder: &Path, setup: &str, before: &str) -> PathBuf {
    let script = folder.join("pgmoat");
    let binary = pgmoat_binary().unwrap();
    let inner = format!("{setup} && {before} exec '{}' \"$@\"", binary.display());
    fs::write(
        &script,
        format!("#!/bin/sh\nexec unshare -m sh -ec '{}' sh \"$@\"\n", inner.replace('\'', "'\\''")),
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}

fn start(script: &Path, log: &Path) -> Result<Proxied, LabError> {
    let database = Stack::get().database()?;
    let config = ProxyConfig {
        audit: format!("path: {}, durability: batched", log.display()),
        ..ProxyConfig::lab(Stack::get().cluster(), &database)
    };
    Ok(Proxied { proxy: Proxy::start(script, &config)?, database })
}

/// A path as the proxy's process sees it.
fn in_its_eyes(proxy: &Proxy, path: &Path) -> PathBuf {
    Path::new("/proc")
        .join(proxy.pid().unwrap().to_string())
        .join("root")
        .join(path.strip_prefix("/").unwrap())
}
