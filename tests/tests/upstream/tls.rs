//! TLS and channel binding with a real server's certificates.

use std::path::{Path, PathBuf};

use pgmoat_lab::{Cluster, Options, SUPERUSER};
use pgmoat_upstream::{ConnectError, Stage, connect};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SignatureAlgorithm};

use super::*;

/// An authority of our own, and a server with a certificate from it for `localhost`.
struct Secured {
    cluster: Cluster,
    folder: tempfile::TempDir,
}

impl Secured {
    /// `algorithm` is the authority's: with it the server's certificate is signed.
    fn start(algorithm: &'static SignatureAlgorithm) -> Self {
        let cluster = Cluster::start(Options::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let authority_key = KeyPair::generate_for(algorithm).unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_pem = authority.self_signed(&authority_key).unwrap().pem();
        std::fs::write(folder.path().join("ca.pem"), authority_pem).unwrap();

        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::new(authority, authority_key);
        let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = certificate.signed_by(&key, &issuer).unwrap().pem();
        for (file, pem) in [("server.crt", certificate), ("server.key", key.serialize_pem())] {
            // Written by the server itself, which insists on owning its key.
            let sql = format!(
                "COPY (SELECT unnest(string_to_array('{pem}', E'\\n')))
                 TO PROGRAM $$ sh -c 'umask 077; tr -d \"\\r\" > {file}' $$"
            );
            cluster.psql("postgres", &sql).unwrap();
        }
        cluster.psql("postgres", "ALTER SYSTEM SET ssl = on").unwrap();
        cluster.psql("postgres", "SELECT pg_reload_conf()").unwrap();
        Secured { cluster, folder }
    }

    fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    fn target(&self, host: &str, tls: TlsPolicy) -> Target {
        let mut target = target_at(&self.cluster, SUPERUSER, "postgres");
        target.endpoint.address = Address::new(host, self.cluster.port());
        target.endpoint.tls = tls;
        target
    }

    /// Connects once the server has taken its new configuration.
    async fn connects(&self, host: &str, tls: TlsPolicy) -> Connection {
        let target = self.target(host, tls);
        let deadline = soon();
        loop {
            match connect(&target).await {
                Ok(connection) => return connection,
                Err(ConnectError::TlsRefused) if Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

const IS_ENCRYPTED: &str = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

#[tokio::test]
async fn verify_full_takes_the_right_name_from_the_right_authority_only() {
    let server = Secured::start(&rcgen::PKCS_ECDSA_P256_SHA256);
    let verify = |ca: &Path| TlsPolicy::verify_full(Some(ca)).unwrap();
    let mut connection = server.connects("localhost", verify(&server.ca())).await;
    assert_eq!(cell(&mut connection, IS_ENCRYPTED).await, "t");
    // More than one TLS record each way.
    let long = format!("SELECT length('{}'), repeat('y', 100000)", "x".repeat(100_000));
    assert_eq!(cell(&mut connection, &long).await, "100000");

    let wrong_name = connect(&server.target("127.0.0.1", verify(&server.ca()))).await.unwrap_err();
    assert!(matches!(wrong_name, ConnectError::Io { stage: Stage::Tls, .. }), "{wrong_name}");
    let other = Secured::start(&rcgen::PKCS_ECDSA_P256_SHA256);
    let wrong_authority = connect(&server.target("localhost", verify(&other.ca()))).await.unwrap_err();
    assert!(matches!(wrong_authority, ConnectError::Io { stage: Stage::Tls, .. }), "{wrong_authority}");

    let mut connection = server.connects("127.0.0.1", TlsPolicy::require().unwrap()).await;
    assert_eq!(cell(&mut connection, IS_ENCRYPTED).await, "t");
}

/// Over TLS the server offers SCRAM-SHA-256-PLUS, which is chosen where the certificate has a hash
/// of its own; the server compares the binding, so a wrong one does not log in. Without one (signed with
/// Ed25519) plain SCRAM is chosen, and the server must not take that for a downgrade.
#[tokio::test]
async fn channel_binding_with_each_kind_of_certificate() {
    for algorithm in [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ECDSA_P384_SHA384, &rcgen::PKCS_ED25519] {
        let server = Secured::start(algorithm);
        let mut connection = server.connects("127.0.0.1", TlsPolicy::require().unwrap()).await;
        assert_eq!(cell(&mut connection, IS_ENCRYPTED).await, "t", "{algorithm:?}");
    }
}

#[tokio::test]
async fn no_tls_is_an_error_where_tls_is_demanded() {
    let mut target = target("postgres");
    target.endpoint.tls = TlsPolicy::require().unwrap();
    assert!(matches!(connect(&target).await, Err(ConnectError::TlsRefused)));
}

/// Any name will do, any authority will not.
#[tokio::test]
async fn verify_ca_takes_any_name_from_the_right_authority_only() {
    let server = Secured::start(&rcgen::PKCS_ECDSA_P256_SHA256);
    let verify = |ca: &Path| TlsPolicy::verify_ca(Some(ca)).unwrap();
    let mut connection = server.connects("127.0.0.1", verify(&server.ca())).await;
    assert_eq!(cell(&mut connection, IS_ENCRYPTED).await, "t");
    let other = Secured::start(&rcgen::PKCS_ECDSA_P256_SHA256);
    let wrong = connect(&server.target("127.0.0.1", verify(&other.ca()))).await.unwrap_err();
    assert!(matches!(wrong, ConnectError::Io { stage: Stage::Tls, .. }), "{wrong}");
}

/// A server that a socket leads to has no TLS: where it is demanded, nothing connects.
#[tokio::test]
async fn no_tls_over_a_socket_where_tls_is_demanded() {
    let mut target = target("postgres");
    target.endpoint.address = Address::new("/nonexistent", 5432);
    target.endpoint.tls = TlsPolicy::require().unwrap();
    assert!(matches!(connect(&target).await, Err(ConnectError::TlsRefused)));
    target.endpoint.tls = TlsPolicy::disable();
    assert!(matches!(connect(&target).await, Err(ConnectError::Io { stage: Stage::Tcp, .. })));
}

/// Known faults E6: the cancel request goes the same encrypted way as the connection.
#[tokio::test]
async fn pool_and_cancel_over_tls() {
    let server = Secured::start(&rcgen::PKCS_ECDSA_P256_SHA256);
    drop(server.connects("127.0.0.1", TlsPolicy::require().unwrap()).await);
    let pool = Pool::new(server.target("127.0.0.1", TlsPolicy::require().unwrap()), PoolConfig::default());
    let mut lease = pool.checkout(soon()).await.unwrap();
    let pid = lease.backend_pid();
    send(&mut lease, "SELECT pg_sleep(600)").await;
    let canceller = lease.canceller();
    let (answer, cancelled) = tokio::join!(receive(&mut lease), async {
        eventually("the query runs", async || {
            let sql =
                format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {pid} AND wait_event = 'PgSleep'");
            server.cluster.psql("postgres", &sql).unwrap().trim() == "1"
        })
        .await;
        canceller.cancel(PATIENCE).await
    });
    cancelled.unwrap();
    assert_eq!(answer.sqlstate(), "57014");
    give_back(lease).await;
    let again = pool.checkout(soon()).await.unwrap();
    assert_eq!(again.backend_pid(), pid, "the same connection, found quiet under TLS");
}
