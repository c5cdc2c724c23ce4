//! Unix sockets, to clients and upstream.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgmoat_lab::{Cluster, LabError, Options, ProxyConfig};
use pgmoat_tests::front::{q, ssl_request};
use pgmoat_tests::{Proxied, Raw, Stack};

use crate::secured::{ONE, Secured, audited, tls_section};

fn proxied(path: &Path, more: &str) -> Result<Proxied, LabError> {
    Stack::get().proxy_with(|config: &mut ProxyConfig| {
        config.listen = format!("[\"unix://{}\", \"127.0.0.1:0\"]", path.display());
        config.extra = more.to_owned();
    })
}

fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("pgmoat-socket-").tempdir().unwrap()
}

fn log_in(path: &Path, proxied: &Proxied) -> Raw {
    let mut raw = Raw::open_unix(path).unwrap();
    raw.log_in(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(ONE)]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    raw
}

#[test]
fn a_socket_serves_beside_tcp() {
    let folder = folder();
    let path = folder.path().join(".s.PGSQL.6432");
    let mut proxied = proxied(&path, "socket_mode: \"0750\"\n").unwrap();
    log_in(&path, &proxied);
    Raw::connect(&proxied.login("acme_app")).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
    let clients: Vec<_> = audited(&proxied, "login").iter().map(|line| line["client"].clone()).collect();
    assert!(clients[0].as_str().unwrap().starts_with("unix:uid="), "{clients:?}");
    assert!(clients[1].as_str().unwrap().starts_with("127.0.0.1:"), "{clients:?}");
    proxied.proxy.terminate().unwrap();
    assert!(proxied.proxy.wait(Duration::from_secs(20)).unwrap().success());
    assert!(!path.exists(), "it goes with the process");
}

/// A killed process leaves its file; the next one takes the name over. One that lives does not lose it.
#[test]
fn a_stale_socket_is_replaced_and_a_living_one_is_not() {
    let folder = folder();
    let path = folder.path().join("pgmoat.sock");
    let mut first = proxied(&path, "").unwrap();
    let refused = proxied(&path, "").unwrap_err().to_string();
    assert!(
        refused.contains("cannot listen on unix://") && refused.contains("somebody listens on it"),
        "{refused}"
    );
    log_in(&path, &first);
    first.proxy.kill9();
    assert!(path.exists());
    let second = proxied(&path, "").unwrap();
    log_in(&path, &second);
}

#[test]
fn there_is_no_tls_over_a_socket_and_none_is_demanded() {
    let folder = folder();
    let path = folder.path().join("pgmoat.sock");
    let secured = Secured::with_mode("allow");
    let ca = secured.authority.certificate();
    let proxied = proxied(&path, &tls_section(&secured.server, "verify", Some(&ca))).unwrap();
    let mut raw = Raw::open_unix(&path).unwrap();
    raw.send(&[ssl_request()]).unwrap();
    assert_eq!(raw.next_byte().unwrap(), Some(b'N'));
    raw.log_in(&proxied.login("acme_app")).unwrap();
    assert!(Raw::connect(&proxied.login("acme_app")).unwrap_err().to_string().contains("requires TLS"));
    // A handshake that nobody asked for is no start-up packet.
    let mut raw = Raw::open_unix(&path).unwrap();
    raw.send_bytes(&[0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]).unwrap();
    assert!(raw.read(1).unwrap().closed);
}

#[test]
fn a_bad_listen_or_mode_is_told_with_its_line() {
    for (listen, mode, words) in [
        ("unix://relative/path", "0777", "expected unix:// and an absolute path"),
        ("unix:///tmp/", "0777", "expected a file, not a folder"),
        ("nowhere", "0777", "expected an IP address and a port, or unix:// and a path"),
        ("127.0.0.1:0", "rwx", "expected permissions in octal digits"),
        ("127.0.0.1:0", "7777", "expected permissions in octal digits"),
        ("[\"127.0.0.1:7001\", \"127.0.0.1:7001\"]", "0777", "127.0.0.1:7001 stands twice"),
        ("[]", "0777", "there is no address to listen on"),
    ] {
        let refused = Stack::get().proxy_with(|config| {
            config.listen = listen.to_owned();
            config.extra = format!("socket_mode: \"{mode}\"\n");
        });
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(words), "{listen} {mode}: {refused}");
    }
}

/// Statements, cancels and the catalog, all over a socket upstream.
#[test]
fn upstream_over_a_socket() {
    let folder = folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let hba = folder.path().join("pg_hba.conf");
    fs::write(&hba, "local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n").unwrap();
    fs::set_permissions(&hba, fs::Permissions::from_mode(0o644)).unwrap();
    let setting = |name: &str, value: &Path| (name.to_owned(), value.display().to_string());
    let settings = vec![setting("unix_socket_directories", folder.path()), setting("hba_file", &hba)];
    let cluster = Cluster::start(Options { settings, ..Options::default() }).unwrap();
    let database = cluster.fresh_lab_database().unwrap();
    let mut config = ProxyConfig::lab(&cluster, &database);
    config.extra = "limits: { login_timeout_ms: 10000 }\n".to_owned();
    let yaml = config.yaml("policy.yaml");
    let host = format!("host: {}", folder.path().display());
    let yaml = yaml.replace("host: 127.0.0.1", &host).replace(", tls: disable", "");
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("pgmoat.yaml"), yaml).unwrap();
    fs::write(home.path().join("policy.yaml"), &config.policy).unwrap();
    let binary: PathBuf = pgmoat_tests::pgmoat_binary().unwrap();
    let proxy = pgmoat_lab::Proxy::start_in(&binary, home.path(), &config.env).unwrap();
    let login = pgmoat_tests::Login {
        port: proxy.port(),
        user: "ops",
        password: "ops-secret".to_owned(),
        database: "lab",
        more: &[],
    };
    let mut raw = Raw::connect(&login).unwrap();
    raw.query("SELECT 1").unwrap();
    let here =
        "SELECT count(*) FROM pg_stat_activity WHERE usename = 'pgmoat_service' AND client_addr IS NULL";
    assert_ne!(cluster.psql("postgres", here).unwrap().trim(), "0");
    let key = raw.cancel_key();
    raw.send(&[q("SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 1000000) b")])
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%1000000%' \
                   AND pid <> pg_backend_pid()";
    while cluster.psql("postgres", running).unwrap().trim() == "0" {
        assert!(Instant::now() < deadline, "it never runs");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut cancel = Raw::open(proxy.port()).unwrap();
    cancel.send(&[pgmoat_tests::front::cancel_request(&key)]).unwrap();
    cancel.expect("closed").unwrap();
    raw.expect("T E(57014) Z(I)").unwrap();
}
