//! Real clients over encrypted connections: each way that its users ask for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use pgmoat_lab::Postgres;
use pgmoat_tests::{Stack, drivers, other_servers};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use tokio_postgres::config::{ChannelBinding, SslMode, SslNegotiation};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::secured::{ONE, Secured, audited};

#[test]
fn psql_by_each_sslmode() {
    let secured = Secured::with_mode("allow");
    let ca = secured.authority.certificate();
    for (options, tls, method) in [
        ("sslmode=disable", None, "scram-sha-256"),
        ("sslmode=allow", None, "scram-sha-256"),
        ("sslmode=prefer", Some("TLSv1.3"), "scram-sha-256-plus"),
        ("sslmode=require", Some("TLSv1.3"), "scram-sha-256-plus"),
        ("sslmode=require&ssl_max_protocol_version=TLSv1.2", Some("TLSv1.2"), "scram-sha-256-plus"),
        ("sslmode=require&channel_binding=disable", Some("TLSv1.3"), "scram-sha-256"),
        ("sslmode=require&channel_binding=require", Some("TLSv1.3"), "scram-sha-256-plus"),
        ("sslmode=verify-ca&sslrootcert=CA", Some("TLSv1.3"), "scram-sha-256-plus"),
        ("sslmode=verify-full&sslrootcert=CA", Some("TLSv1.3"), "scram-sha-256-plus"),
        ("sslmode=disable&gssencmode=prefer", None, "scram-sha-256"),
    ] {
        let options = options.replace("CA", &ca.display().to_string());
        let before = audited(&secured.proxied, "login").len();
        let output = psql(&secured, "localhost", &options);
        assert_eq!(said(&output), "2\n", "{options}");
        let login = &audited(&secured.proxied, "login")[before];
        assert_eq!((login["tls"].as_str(), login["method"].as_str()), (tls, Some(method)), "{options}");
    }
    // By its address the server is not the one that the certificate names.
    let wrong = psql(&secured, "127.0.0.1", &format!("sslmode=verify-full&sslrootcert={}", ca.display()));
    assert!(complaint(&wrong).contains("does not match host name"), "{}", complaint(&wrong));
    let stranger = pgmoat_tests::Authority::new().unwrap();
    let options = format!("sslmode=verify-ca&sslrootcert={}", stranger.certificate().display());
    let wrong = psql(&secured, "localhost", &options);
    assert!(complaint(&wrong).contains("certificate verify failed"), "{}", complaint(&wrong));
}

#[test]
fn psql_where_encryption_is_required() {
    let secured = Secured::with_mode("require");
    let refused = psql(&secured, "localhost", "sslmode=disable");
    assert!(complaint(&refused).contains("FATAL:  pgmoat requires TLS"), "{}", complaint(&refused));
    // It tries in the clear first, and then as it is told.
    assert_eq!(said(&psql(&secured, "localhost", "sslmode=allow")), "2\n");
    // Without TLS nothing can be bound to.
    let refused = psql(&secured, "localhost", "sslmode=disable&channel_binding=require");
    assert!(!refused.status.success());
}

#[test]
fn psql_with_a_certificate() {
    let secured = Secured::with_mode("verify");
    let shown = |user: &str| {
        let identity = secured.authority.client(user, user).unwrap();
        format!("sslmode=require&sslcert={}&sslkey={}", identity.cert.display(), identity.key.display())
    };
    assert_eq!(said(&psql(&secured, "localhost", &shown("acme_app"))), "2\n");
    let other = psql(&secured, "localhost", &shown("globex_app"));
    let words = "FATAL:  certificate authentication failed for user \"acme_app\"";
    assert!(complaint(&other).contains(words), "{}", complaint(&other));
    let none = psql(&secured, "localhost", "sslmode=require&sslcert=/nonexistent");
    let words = "FATAL:  connection requires a valid client certificate";
    assert!(complaint(&none).contains(words), "{}", complaint(&none));
}

#[test]
fn psql_over_a_unix_socket() {
    let folder = tempfile::Builder::new().prefix("pgmoat-socket-").tempdir().unwrap();
    let path = folder.path().join(".s.PGSQL.6432");
    let proxied = Stack::get()
        .proxy_with(|config| config.listen = format!("[\"unix://{}\", \"127.0.0.1:0\"]", path.display()))
        .unwrap();
    let dsn = format!(
        "host={} port=6432 dbname=lab user=acme_app password=acme_app-secret",
        folder.path().display()
    );
    assert_eq!(said(&run_psql(&Stack::get().cluster().postgres().tool("psql"), None, &dsn)), "2\n");
    assert!(audited(&proxied, "login")[0]["client"].as_str().unwrap().starts_with("unix"));
}

/// libpq 18: protocol 3.2, direct TLS, and the grease that it sends on request. psql 15 over that library.
#[test]
fn libpq_18_speaks_3_2_and_direct_tls() {
    let Some(eighteen) = other_servers().into_iter().find(|postgres| postgres.major() == 18) else {
        println!("no PostgreSQL 18 here: tests/run brings it");
        return;
    };
    let secured = Secured::with_mode("require");
    let library = library_folder(&eighteen);
    let psql = Stack::get().cluster().postgres().tool("psql");
    let ca = secured.authority.certificate();
    for options in [
        "min_protocol_version=3.2&max_protocol_version=3.2&sslmode=require".to_owned(),
        "max_protocol_version=latest&sslmode=require&channel_binding=require".to_owned(),
        format!("sslnegotiation=direct&sslmode=verify-full&sslrootcert={}", ca.display()),
        "sslnegotiation=direct&sslmode=require&min_protocol_version=3.2".to_owned(),
        "min_protocol_version=3.0&max_protocol_version=3.0&sslmode=require".to_owned(),
    ] {
        let output = run_psql(&psql, Some(&library), &dsn(&secured, "localhost", &options));
        assert_eq!(said(&output), "2\n", "{options}");
    }
    let proxied = Stack::get().proxy().unwrap();
    let refused =
        run_psql(&psql, Some(&library), &format!("{}?sslnegotiation=direct", proxied.dsn("acme_app")));
    assert!(!refused.status.success(), "weak with direct");
}

#[test]
fn psycopg_encrypted() {
    let secured = Secured::with_mode("require");
    script(&secured, "psycopg_session.py", "sslmode=verify-full&sslrootcert=CA&channel_binding=require");
    let logins = audited(&secured.proxied, "login");
    assert!(logins.iter().all(|login| login["method"] == "scram-sha-256-plus"), "{logins:?}");
}

/// Its libpq is 17's, the first that can.
#[test]
fn psycopg_with_direct_tls() {
    let secured = Secured::with_mode("require");
    script(&secured, "psycopg_session.py", "sslmode=require&sslnegotiation=direct");
}

#[test]
fn asyncpg_encrypted() {
    script(&Secured::with_mode("require"), "asyncpg_session.py", "sslmode=verify-full&sslrootcert=CA");
}

#[test]
fn node_pg_encrypted() {
    script(&Secured::with_mode("require"), "pg_session.mjs", "sslmode=verify-full&sslrootcert=CA");
}

#[test]
fn jdbc_encrypted() {
    script(&Secured::with_mode("require"), "PgjdbcSession.java", "sslmode=verify-full&sslrootcert=CA");
}

#[tokio::test]
async fn tokio_postgres_encrypted() {
    let secured = Secured::with_mode("require");
    for (negotiation, binding) in [
        (SslNegotiation::Postgres, ChannelBinding::Require),
        (SslNegotiation::Direct, ChannelBinding::Prefer),
    ] {
        let mut config: tokio_postgres::Config = dsn(&secured, "localhost", "").parse().unwrap();
        config.ssl_mode(SslMode::Require).ssl_negotiation(negotiation).channel_binding(binding);
        let tls = MakeRustlsConnect::new(rustls_client(&secured.authority.certificate()));
        let (client, connection) = config.connect(tls).await.unwrap();
        let running = tokio::spawn(connection);
        for _ in 0..20 {
            assert_eq!(client.query_one(ONE, &[]).await.unwrap().get::<_, i64>(0), 2);
        }
        let cancel = client.cancel_token();
        let tls = MakeRustlsConnect::new(rustls_client(&secured.authority.certificate()));
        cancel.cancel_query(tls).await.unwrap();
        assert_eq!(client.query_one(ONE, &[]).await.unwrap().get::<_, i64>(0), 2);
        drop(client);
        running.await.unwrap().unwrap();
    }
}

fn rustls_client(authority: &Path) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(authority).unwrap() {
        roots.add(certificate.unwrap()).unwrap();
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    config
}

/// One of the sessions of `tests/drivers`, all of it encrypted. What comes of it is compared elsewhere; a copy-in, which
/// the lab's policy has none of, is a surprise to it.
fn script(secured: &Secured, name: &str, options: &str) {
    let options = options.replace("CA", &secured.authority.certificate().display().to_string());
    let dsn = dsn(secured, "localhost", &options);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("drivers").join(name);
    let mut command = match path.extension().and_then(|extension| extension.to_str()) {
        Some("py") => Command::new(drivers().unwrap().join("python/bin/python")),
        Some("java") => Command::new("java"),
        _ => Command::new("node"),
    };
    if name.ends_with(".java") {
        command.args(["-cp", JDBC]);
    }
    command.arg(path).env("PGMOAT_DSN", &dsn).env("PGMOAT_TLS_DSN", &dsn).env("PGMOAT_OPS_DSN", &dsn);
    command.env("PGMOAT_DRIVERS", drivers().unwrap()).env("TZ", "UTC");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let surprises = said.lines().filter(|line| line.contains("\tsurprise") && !line.starts_with("copy in"));
    let surprised = surprises.count() > 0 || !said.contains("connect\t1\n") || !output.status.success();
    assert!(!surprised, "{name}: {said}{}", complaint(&output));
    let logins = audited(&secured.proxied, "login");
    assert!(!logins.is_empty() && logins.iter().all(|login| login["tls"] == "TLSv1.3"), "{logins:?}");
}

fn dsn(secured: &Secured, host: &str, options: &str) -> String {
    let dsn = secured.proxied.dsn("acme_app").replace("127.0.0.1", host);
    if options.is_empty() { dsn } else { format!("{dsn}?{options}") }
}

fn psql(secured: &Secured, host: &str, options: &str) -> Output {
    run_psql(&Stack::get().cluster().postgres().tool("psql"), None, &dsn(secured, host, options))
}

fn run_psql(psql: &Path, library: Option<&Path>, dsn: &str) -> Output {
    let mut command = Command::new(psql);
    command.args(["-XAt", "-d", dsn, "-c", ONE]).env_remove("PGOPTIONS").stdin(Stdio::null());
    if let Some(library) = library {
        command.env("LD_LIBRARY_PATH", library);
    }
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", complaint(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn library_folder(postgres: &Postgres) -> PathBuf {
    postgres.tool("postgres").ancestors().nth(2).unwrap().join("lib")
}

/// Where Debian's libpostgresql-jdbc-java puts it.
const JDBC: &str = "/usr/share/java/postgresql.jar";
