//! The configuration: every problem of every file at once, with line, column and path.
//!
//! `golden/configuration/NAME.yaml` is a file, `NAME.txt` what is said about it. With
//! `PGMOAT_BLESS=1` the texts, the JSON Schema and the reference page are written anew.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, fs};

use pgmoat::command::policy::suite;
use pgmoat::config::{self, Admin, AdminLimits, ClientTlsMode, Config, Listen, SecretSource, Tls};
use pgmoat::shared::{AuditedParameters, Patience};
use pgmoat_audit::Durability;
use pgmoat_policy::policy::document::{Key, Section, Shape};
use pgmoat_upstream::{Address, SessionAttributes};

#[test]
fn every_problem_of_every_file_is_reported_with_its_place() {
    let files = yaml_files();
    assert!(files.len() >= 9, "only {} golden files found", files.len());
    for file in files {
        let (verdict, problems) = match config::load(&file) {
            Ok(loaded) => ("accepted", loaded.warnings),
            Err(problems) => ("refused", problems),
        };
        let mut report = format!("{verdict}\n");
        for problem in problems {
            writeln!(report, "{problem}").unwrap();
        }
        assert!(!report.contains("hunter2"), "a secret is shown: {report}");
        compare(&file.with_extension("txt"), &report);
    }
}

#[test]
fn the_schema_and_the_reference_page_are_made_from_the_table() {
    compare(Path::new("schema/configuration.json"), &format!("{:#}\n", config::schema()));
    compare(Path::new("docs/configuration.md"), &config::reference());
    compare(Path::new("schema/policy-suite.json"), &format!("{:#}\n", suite::schema()));
    compare(Path::new("docs/policy-suite.md"), &suite::reference());
}

#[test]
fn every_key_stands_in_the_schema_and_on_the_page() {
    let schema = config::schema().to_string();
    let page = config::reference();
    let mut keys = 0;
    each_key(&config::CONFIGURATION_FILE, &mut |key| {
        keys += 1;
        assert!(schema.contains(&format!("\"{}\":{{", key.name)), "{} is not in the schema", key.name);
        assert!(page.contains(&format!("| `{}` |", key.name)), "{} is not on the page", key.name);
    });
    assert!(keys > 40);
    let (schema, page) = (suite::schema().to_string(), suite::reference());
    each_key(&suite::SUITE_FILE, &mut |key| {
        assert!(schema.contains(&format!("\"{}\":{{", key.name)), "{} is not in the schema", key.name);
        assert!(page.contains(&format!("| `{}` |", key.name)), "{} is not on the page", key.name);
    });
}

#[test]
fn every_key_reaches_the_configuration() {
    let Config { listen, socket_mode, tls, policy, audit, users, databases, limits, admin } = load("whole");
    let socket = Listen::Unix(PathBuf::from("/run/pgmoat/.s.PGSQL.6432"));
    assert_eq!(listen, [Listen::Tcp("[::1]:6432".parse().unwrap()), socket]);
    assert_eq!(socket_mode, 0o770);
    let tls = tls.unwrap();
    assert_eq!((tls.mode, tls.cert.as_path()), (ClientTlsMode::Verify, input("server.crt").as_path()));
    assert_eq!(
        (tls.key, tls.client_ca),
        (PathBuf::from("/etc/pgmoat/server.key"), Some(input("clients.crt")))
    );
    let certificates: Vec<_> = users.iter().map(|user| &*user.certificate).collect();
    assert_eq!(certificates, ["acme_app", "ops.example.org"]);
    assert_eq!(policy, Path::new("golden/configuration/inputs/policy.yaml"));
    assert_eq!(audit.path, Path::new("/var/log/pgmoat/audit.jsonl"));
    assert_eq!((audit.durability, audit.sync_interval), (Durability::Fsync, milliseconds(20)));
    assert_eq!((audit.audited.text, audit.audited.parameters), (false, AuditedParameters::Hash));
    let key = PathBuf::from("golden/configuration/inputs/audit.key");
    assert_eq!(audit.key, Some(SecretSource::File(key)));
    let names: Vec<_> = users.iter().map(|user| (&*user.name, &*user.role, user.tenant.as_deref())).collect();
    assert_eq!(names, [("acme_app", "app", Some("acme")), ("ops", "ops", None)]);
    let [database] = databases.as_slice() else { panic!("one database") };
    let upstream = &database.upstream;
    assert_eq!((&*database.name, upstream.dbname.as_str()), ("lab", "lab_production"));
    let hosts = [Address::new("db.example.org", 5433), Address::new("::1", 5434)];
    assert_eq!((upstream.hosts.as_slice(), upstream.user.as_str()), (hosts.as_slice(), "pgmoat_service"));
    assert_eq!(upstream.attributes, SessionAttributes::ReadWrite);
    assert_eq!(upstream.password, Some(SecretSource::Command("pass show pgmoat".to_owned())));
    let root_ca = Some(PathBuf::from("golden/configuration/inputs/ca.crt"));
    assert_eq!((&upstream.tls, upstream.weak_passwords), (&Tls::VerifyFull { root_ca }, false));
    let pool = &database.pool;
    assert_eq!((pool.size, pool.wait_timeout, pool.connect_timeout), (64, milliseconds(8), milliseconds(2)));
    assert_eq!((pool.idle_timeout, pool.lifetime), (milliseconds(3), milliseconds(4)));
    assert_eq!((pool.minimum, pool.reserve, pool.reserve_wait), (5, 6, milliseconds(7)));
    assert_eq!(database.session, [("app.region".into(), "eu".into()), ("lock_timeout".into(), "2s".into())]);
    assert_eq!((limits.max_clients, limits.login_timeout), (10, milliseconds(1)));
    assert_eq!((limits.statements_per_client, limits.message_bytes), (2, 65_536));
    assert_eq!((limits.drain_rows, limits.drain_timeout), (0, milliseconds(3)));
    assert_eq!(limits.verdict_cache_bytes, 8 << 20);
    assert_eq!(limits.catalog_refresh, milliseconds(4));
    let counts = (limits.connections_per_user, limits.connections_per_tenant);
    assert_eq!(counts, (11, 12));
    assert_eq!((limits.unauthenticated, limits.unauthenticated_per_address), (13, 14));
    assert_eq!((limits.cancels_per_second, limits.cancels_per_second_per_address), (15, 16));
    let failed = (limits.failed_logins_per_second, limits.failed_logins_per_second_per_address);
    assert_eq!(failed, (17, 18));
    let patience = Patience {
        statement: Some(milliseconds(5)),
        in_transaction: Some(milliseconds(6)),
        idle: Some(milliseconds(7)),
        client_write: milliseconds(8),
    };
    assert_eq!(limits.patience, patience);
    assert_eq!((limits.tcp_keepalive, limits.reload_watch), (milliseconds(9000), None));
    let [acme, ops] = users.as_slice() else { panic!("two users") };
    assert_eq!((acme.verifiers.len(), ops.verifiers.len()), (2, 1));
    let until = SystemTime::UNIX_EPOCH + Duration::from_secs(1_906_545_600);
    assert_eq!((acme.valid_until, ops.valid_until), (Some(until), None));
    let inside = |address: &str| {
        let networks = acme.networks.as_ref().unwrap();
        networks.iter().any(|network| network.has(Some(address.parse().unwrap())))
    };
    assert!(inside("10.9.9.9") && inside("2001:db8::1") && !inside("192.0.2.1"));
    assert!(acme.networks.as_ref().unwrap().iter().any(|network| network.has(None)));
    assert!(ops.networks.is_none() && ops.databases.is_none());
    assert_eq!(acme.databases.as_deref(), Some(["lab".into()].as_slice()));
    assert_eq!((acme.max_connections, ops.max_connections), (Some(7), None));
    let Admin { listen, tokens, require_token, limits, .. } = admin.unwrap();
    assert_eq!((listen, require_token), ("127.0.0.1:9432".parse().unwrap(), false));
    let [ci, ops] = tokens.as_slice() else { panic!("two tokens") };
    assert_eq!((&*ci.name, ci.hash.0[0], ci.hash.0[31]), ("ci", 0x01, 0xef));
    assert_eq!(ci.roles.as_deref(), Some(["app".into()].as_slice()));
    assert_eq!((&*ops.name, ops.roles.is_none()), ("ops", true));
    let expected = AdminLimits {
        connections: 2,
        requests: 3,
        request_bytes: 4096,
        batch_bytes: 5000,
        batch_lines: 6,
        patience: milliseconds(70),
        unauthenticated: milliseconds(80),
    };
    assert_eq!(limits, expected);
}

/// What holds without a key is what the page says.
#[test]
fn the_defaults_are_those_of_the_page() {
    let Config { socket_mode, tls, audit, databases, limits, admin, .. } = load("least");
    assert!(admin.is_none(), "no listener that nobody asked for");
    let http = load("admin_on_loopback").admin.unwrap();
    assert!(http.require_token);
    assert_eq!((socket_mode, tls.is_none()), (0o777, true));
    let schema = config::schema();
    let default = |path: &str| {
        let mut node = &schema;
        for key in path.split('.') {
            let inner = &node["properties"][key];
            node = if inner["additionalProperties"].is_object() {
                &inner["additionalProperties"]
            } else {
                inner
            };
        }
        node["default"].as_u64().unwrap_or_else(|| panic!("{path} has no default"))
    };
    let [database] = databases.as_slice() else { panic!("one database") };
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap();
    let count = |number: usize| u64::try_from(number).unwrap();
    for (path, value) in [
        ("audit.sync_interval_ms", millis(audit.sync_interval)),
        ("databases.pool.size", count(database.pool.size)),
        ("databases.pool.minimum", count(database.pool.minimum)),
        ("databases.pool.reserve", count(database.pool.reserve)),
        ("databases.pool.reserve_wait_ms", millis(database.pool.reserve_wait)),
        ("databases.pool.wait_timeout_ms", millis(database.pool.wait_timeout)),
        ("databases.pool.connect_timeout_ms", millis(database.pool.connect_timeout)),
        ("databases.pool.idle_timeout_ms", millis(database.pool.idle_timeout)),
        ("databases.pool.lifetime_ms", millis(database.pool.lifetime)),
        ("limits.max_clients", count(limits.max_clients)),
        ("limits.login_timeout_ms", millis(limits.login_timeout)),
        ("limits.statements_per_client", count(limits.statements_per_client)),
        ("limits.message_bytes", count(limits.message_bytes)),
        ("limits.drain_rows", limits.drain_rows),
        ("limits.verdict_cache_bytes", limits.verdict_cache_bytes),
        ("limits.drain_timeout_ms", millis(limits.drain_timeout)),
        ("limits.catalog_refresh_ms", millis(limits.catalog_refresh)),
        ("limits.connections_per_user", count(limits.connections_per_user)),
        ("limits.connections_per_tenant", count(limits.connections_per_tenant)),
        ("limits.unauthenticated", count(limits.unauthenticated)),
        ("limits.unauthenticated_per_address", count(limits.unauthenticated_per_address)),
        ("limits.cancels_per_second", u64::from(limits.cancels_per_second)),
        ("limits.cancels_per_second_per_address", u64::from(limits.cancels_per_second_per_address)),
        ("limits.failed_logins_per_second", u64::from(limits.failed_logins_per_second)),
        (
            "limits.failed_logins_per_second_per_address",
            u64::from(limits.failed_logins_per_second_per_address),
        ),
        ("limits.statement_timeout_ms", limits.patience.statement.map_or(0, millis)),
        ("limits.idle_in_transaction_timeout_ms", limits.patience.in_transaction.map_or(0, millis)),
        ("limits.idle_session_timeout_ms", limits.patience.idle.map_or(0, millis)),
        ("limits.client_write_timeout_ms", millis(limits.patience.client_write)),
        ("limits.tcp_keepalive_ms", millis(limits.tcp_keepalive)),
        ("admin.connections", count(http.limits.connections)),
        ("admin.requests", count(http.limits.requests)),
        ("admin.request_bytes", count(http.limits.request_bytes)),
        ("admin.batch_bytes", count(http.limits.batch_bytes)),
        ("admin.batch_lines", count(http.limits.batch_lines)),
        ("admin.timeout_ms", millis(http.limits.patience)),
        ("admin.unauthenticated_ms", millis(http.limits.unauthenticated)),
        ("limits.reload_watch_ms", limits.reload_watch.map_or(0, millis)),
    ] {
        assert_eq!(value, default(path), "{path}");
    }
    assert_eq!((audit.durability, audit.audited.text), (Durability::Batched, true));
    assert_eq!(database.upstream.dbname, "lab");
    assert_eq!(database.upstream.hosts, [Address::new("127.0.0.1", 5432)]);
    assert_eq!(database.upstream.attributes, SessionAttributes::Any);
    assert_eq!(database.upstream.tls, Tls::VerifyFull { root_ca: None });
}

#[test]
fn debug_shows_no_verifier() {
    let shown = format!("{:?}", load("whole"));
    assert!(!shown.contains("veHbj70c") && !shown.contains("Ozs6hSrV"), "{shown}");
}

#[test]
fn secrets_come_from_env_file_and_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    let fetch = |source: SecretSource| source.fetch().map(|secret| secret.to_string());
    fs::write(&file, "from file\r\n").unwrap();
    assert_eq!(fetch(SecretSource::File(file.clone())).unwrap(), "from file");
    fs::write(&file, "two\n\n").unwrap();
    assert_eq!(fetch(SecretSource::File(file.clone())).unwrap(), "two\n");
    assert_eq!(fetch(SecretSource::Command("printf 'from command\\n'".to_owned())).unwrap(), "from command");
    assert!(!fetch(SecretSource::Env("PATH".to_owned())).unwrap().is_empty());
    for (source, fault) in [
        (SecretSource::Command("echo hunter2; exit 3".to_owned()), "exit status: 3"),
        (SecretSource::Command("true".to_owned()), "it is empty"),
        (SecretSource::Command("yes".to_owned()), "longer than 65536 bytes"),
        (SecretSource::Env("PGMOAT_NO_SUCH_VARIABLE".to_owned()), "it is not set"),
        (SecretSource::File(folder.path().join("none")), "No such file"),
    ] {
        let error = fetch(source).unwrap_err().to_string();
        assert!(error.contains(fault), "{error}");
    }
}

fn load(name: &str) -> Config {
    match config::load(&Path::new("golden/configuration").join(name).with_extension("yaml")) {
        Ok(loaded) => loaded.config,
        Err(problems) => panic!("{problems:?}"),
    }
}

fn input(name: &str) -> PathBuf {
    Path::new("golden/configuration/inputs").join(name)
}

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// Relative, as the problems show them: tests run in the package's folder.
fn yaml_files() -> Vec<PathBuf> {
    let folder = fs::read_dir("golden/configuration").unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    files
}

fn compare(file: &Path, now: &str) {
    if env::var_os("PGMOAT_BLESS").is_some() {
        fs::write(file, now).unwrap();
    }
    let golden = fs::read_to_string(file).unwrap_or_default();
    assert!(golden == now, "{} is\n{golden}\nand should be\n{now}", file.display());
}

fn each_key(section: &Section, visit: &mut impl FnMut(&Key)) {
    for key in section.keys {
        visit(key);
        each_section(&key.shape, visit);
    }
}

fn each_section(shape: &Shape, visit: &mut impl FnMut(&Key)) {
    match shape {
        Shape::Section(section) => each_key(section, visit),
        Shape::List(shape) | Shape::Map { value: shape, .. } => each_section(shape, visit),
        Shape::Either(shapes) => shapes.iter().for_each(|shape| each_section(shape, visit)),
        Shape::Text | Shape::Integer { .. } | Shape::Boolean | Shape::Null | Shape::Word(_) => {}
    }
}
