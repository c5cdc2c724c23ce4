//! TLS to clients: certificates, the handshake, and what a login learns from it.
//!
//! The files are read as a whole by [`ServerTls::load`]; [`Slot::replace`] puts another one in force
//! for connections that come, and touches none that are there. Sessions are never resumed: each
//! connection proves everything itself, as with PostgreSQL.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::RwLock;
use pgmoat_policy::policy::Problem;
use pgmoat_upstream::{tls_in_words, tls_server_end_point};
use pgwire::api::auth::sasl::scram::ScramServerAuth;
use rustls::crypto::{CryptoProvider, ring};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::{self, PemObject as _};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use x509_certificate::CapturedX509Certificate;

use crate::config::{ClientTls, ClientTlsMode};
use crate::link::TLS_RECORD_BYTES_MAX;

/// The protocol's name in TLS (ALPN); direct TLS must name it.
const ALPN: &[u8] = b"postgresql";

/// rustls counts a record's header of five bytes.
const FRAGMENT_BYTES: usize = TLS_RECORD_BYTES_MAX + 5;

/// The encryption in force for connections that come: none, or one that a reload replaces.
#[derive(Default)]
pub(crate) struct Slot {
    current: RwLock<Option<Arc<ServerTls>>>,
}

impl Slot {
    /// What a new connection gets.
    pub(crate) fn current(&self) -> Option<Arc<ServerTls>> {
        self.current.read().clone()
    }

    /// Puts another in force.
    pub(crate) fn replace(&self, tls: Option<Arc<ServerTls>>) {
        *self.current.write() = tls;
    }
}

/// Certificate, key and authorities, and what clients must do.
pub(crate) struct ServerTls {
    mode: ClientTlsMode,
    acceptor: TlsAcceptor,
    plus: Option<ScramServerAuth>,
}

impl ServerTls {
    /// Reads the files that the configuration names, if it names any.
    ///
    /// # Errors
    /// One cannot be read, is not what it should be, or the key is another certificate's.
    pub(crate) fn load(config: Option<&ClientTls>) -> Result<Option<Arc<ServerTls>>, Problem> {
        let Some(config) = config else { return Ok(None) };
        let (tls, warnings) = ServerTls::read(config)?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        Ok(Some(Arc::new(tls)))
    }

    /// The same for `check`: everything that is wrong or weak.
    pub(crate) fn problems(config: &ClientTls) -> Vec<Problem> {
        match ServerTls::read(config) {
            Ok((_, warnings)) => warnings,
            Err(problem) => vec![problem],
        }
    }

    fn read(config: &ClientTls) -> Result<(ServerTls, Vec<Problem>), Problem> {
        let at = |key: &str| {
            let mut place = config.place.clone();
            place.path.push_str(key);
            place
        };
        let fault = |key: &str, message: String| Problem::error(at(key), message);
        let chain = certificates(&config.cert).map_err(|error| fault(".cert", error))?;
        let key = PrivateKeyDer::from_pem_file(&config.key)
            .map_err(|error| fault(".key", unreadable(&config.key, &not_pem(error, "private key"))))?;
        let mut warnings = Vec::new();
        if readable_by_others(&config.key) {
            let message = format!("{} can be read by others than its owner", config.key.display());
            warnings.push(Problem::warning(at(".key"), message));
        }
        let plus = chain.first().and_then(channel_binding);
        if plus.is_none() {
            let message = "the certificate's signature (Ed25519, RSA-PSS and the like) has no channel binding: \
                           SCRAM-SHA-256-PLUS is not offered";
            warnings.push(Problem::warning(at(".cert"), message));
        }
        let provider = Arc::new(ring::default_provider());
        let verifier = match &config.client_ca {
            Some(file) => client_verifier(file, &provider).map_err(|error| fault(".client_ca", error))?,
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let server = server_config(provider, verifier, chain, key).map_err(|error| {
            let (cert, key) = (config.cert.display(), config.key.display());
            fault("", format!("{cert} and {key}: {}", tls_in_words(&error)))
        })?;
        Ok((ServerTls { mode: config.mode, acceptor: TlsAcceptor::from(Arc::new(server)), plus }, warnings))
    }

    /// What clients must do.
    pub(crate) fn mode(&self) -> ClientTlsMode {
        self.mode
    }

    /// The handshake of a client that asked for it, or that began with it (`direct`).
    ///
    /// # Errors
    /// It failed, or a direct one did not name the protocol.
    pub(crate) async fn handshake(
        &self,
        stream: TcpStream,
        direct: bool,
    ) -> io::Result<(TlsStream<TcpStream>, Encryption)> {
        let stream = self.acceptor.accept(stream).await?;
        let (_, connection) = stream.get_ref();
        if direct && connection.alpn_protocol() != Some(ALPN) {
            return Err(io::Error::other("direct TLS without the protocol's name (ALPN postgresql)"));
        }
        let version = match connection.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "TLSv1.3",
        };
        let certificate = match connection.peer_certificates().and_then(|chain| chain.first()) {
            Some(certificate) => ClientCertificate::Named(common_name(certificate)),
            None => ClientCertificate::None,
        };
        Ok((stream, Encryption { version, plus: self.plus.clone(), certificate }))
    }
}

/// What a login learns from a handshake.
pub(crate) struct Encryption {
    /// `TLSv1.3`, for the audit.
    pub(crate) version: &'static str,
    /// The SCRAM server that binds to this connection's certificate, where that is possible.
    pub(crate) plus: Option<ScramServerAuth>,
    /// What the client has shown.
    pub(crate) certificate: ClientCertificate,
}

/// A client's certificate, verified in the handshake.
pub(crate) enum ClientCertificate {
    /// None was shown.
    None,
    /// One was; its common name, if it has exactly one.
    Named(Option<String>),
}

impl ClientCertificate {
    /// Whether it is that of the user with this common name.
    pub(crate) fn is_for(&self, name: &str) -> bool {
        match self {
            ClientCertificate::None => false,
            ClientCertificate::Named(common_name) => common_name.as_deref() == Some(name),
        }
    }
}

fn server_config(
    provider: Arc<CryptoProvider>,
    verifier: Arc<dyn ClientCertVerifier>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.max_fragment_size = Some(FRAGMENT_BYTES);
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// A certificate that is shown must be good; whether one must be shown is the login's business, which
/// can say so in words.
fn client_verifier(
    file: &Path,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| unreadable(file, &tls_in_words(&error)))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .allow_unauthenticated()
        .build()
        .map_err(|error| unreadable(file, &error.to_string()))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => Err(unreadable(file, "it holds no certificate")),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(unreadable(file, &not_pem(error, "certificate"))),
    }
}

/// Why a file does not hold what it should, as PEM.
fn not_pem(error: pem::Error, what: &str) -> String {
    match error {
        pem::Error::Io(error) => error.to_string(),
        pem::Error::NoItemsFound => format!("it holds no {what}"),
        _ => format!("it holds no whole {what} in PEM"),
    }
}

fn unreadable(file: &Path, error: &str) -> String {
    format!("cannot read {}: {error}", file.display())
}

fn readable_by_others(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// A SCRAM server that binds to this certificate; none where the RFC defines no hash for it.
fn channel_binding(certificate: &CertificateDer<'static>) -> Option<ScramServerAuth> {
    tls_server_end_point(certificate)?;
    let pem = format!(
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
        STANDARD.encode(certificate.as_ref())
    );
    let mut scram = ScramServerAuth::new();
    scram.configure_certificate(pem.as_bytes()).ok()?;
    Some(scram)
}

/// The one common name of a verified certificate's subject.
fn common_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let certificate = CapturedX509Certificate::from_der(certificate.as_ref().to_vec()).ok()?;
    let mut names = certificate.subject_name().iter_common_name();
    let name = names.next()?.to_string().ok()?;
    names.next().is_none().then_some(name)
}
