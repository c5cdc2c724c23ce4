//! TLS to the server: what is demanded of it, and the handshake.
//!
//! The provider (ring) is given explicitly everywhere: rustls panics when it has to choose between
//! two that were compiled in.

mod any_name;
mod end_point;

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use any_name::{AnyName, Issuer};
pub use end_point::tls_server_end_point;

/// What is demanded of the way to a server.
#[derive(Clone)]
pub struct TlsPolicy {
    mode: Mode,
}

#[derive(Clone)]
enum Mode {
    Disable,
    Require(Arc<ClientConfig>),
    VerifyCa(Arc<ClientConfig>),
    VerifyFull(Arc<ClientConfig>),
}

impl TlsPolicy {
    /// Plain TCP. For loopback and the like.
    pub fn disable() -> Self {
        TlsPolicy { mode: Mode::Disable }
    }

    /// TLS with whoever answers: against listeners, not against impostors. The caller warns.
    ///
    /// # Errors
    ///
    /// The cryptography does not support TLS 1.2 and 1.3.
    pub fn require() -> Result<Self, TlsError> {
        let provider = provider();
        let verifier = Arc::new(AnyName::new(Issuer::Anybody, provider.clone()));
        let config =
            builder(provider)?.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        Ok(TlsPolicy { mode: Mode::Require(with_alpn(config)) })
    }

    /// TLS with a certificate for the host's name (or address), issued by an authority in `root_ca`
    /// (a PEM file), or by one that this system trusts.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or holds no certificate.
    pub fn verify_full(root_ca: Option<&Path>) -> Result<Self, TlsError> {
        let roots = roots(root_ca)?;
        let config = builder(provider())?.with_root_certificates(roots).with_no_client_auth();
        Ok(TlsPolicy { mode: Mode::VerifyFull(with_alpn(config)) })
    }

    /// The same, whatever name the certificate is for.
    ///
    /// # Errors
    ///
    /// As [`TlsPolicy::verify_full`].
    pub fn verify_ca(root_ca: Option<&Path>) -> Result<Self, TlsError> {
        let (roots, provider) = (roots(root_ca)?, provider());
        let verifier = Arc::new(AnyName::new(Issuer::Authority(roots), provider.clone()));
        let config =
            builder(provider)?.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        Ok(TlsPolicy { mode: Mode::VerifyCa(with_alpn(config)) })
    }

    /// The configuration key's value for it.
    pub fn name(&self) -> &'static str {
        match self.mode {
            Mode::Disable => "disable",
            Mode::Require(_) => "require",
            Mode::VerifyCa(_) => "verify-ca",
            Mode::VerifyFull(_) => "verify-full",
        }
    }

    pub(crate) fn config(&self) -> Option<&Arc<ClientConfig>> {
        match &self.mode {
            Mode::Disable => None,
            Mode::Require(config) | Mode::VerifyCa(config) | Mode::VerifyFull(config) => Some(config),
        }
    }
}

impl fmt::Debug for TlsPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TlsPolicy({})", self.name())
    }
}

/// The handshake, after the server said `S` to SSLRequest.
pub(crate) async fn handshake(
    config: &Arc<ClientConfig>,
    host: &str,
    tcp: TcpStream,
) -> io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(host.to_owned()).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, "the host is neither a DNS name nor an address")
    })?;
    TlsConnector::from(Arc::clone(config)).connect(name, tcp).await
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn builder(
    provider: Arc<CryptoProvider>,
) -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, TlsError> {
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::Provider { error: error.to_string() })
}

/// PostgreSQL 17 and later check it where it is sent, earlier ones ignore it.
fn with_alpn(mut config: ClientConfig) -> Arc<ClientConfig> {
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Arc::new(config)
}

fn roots(file: Option<&Path>) -> Result<RootCertStore, TlsError> {
    match file {
        Some(path) => roots_of(path),
        None => system_roots(),
    }
}

fn system_roots() -> Result<RootCertStore, TlsError> {
    let bundle = SYSTEM_BUNDLES.iter().map(Path::new).find(|path| path.exists());
    roots_of(bundle.ok_or(TlsError::NoSystemRoots)?)
}

fn roots_of(path: &Path) -> Result<RootCertStore, TlsError> {
    let unreadable = |error: String| TlsError::RootCa { path: path.to_owned(), error };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        // System bundles hold certificates that webpki does not take; those are not used.
        let _ = roots.add_parsable_certificates([certificate]);
    }
    if roots.is_empty() { Err(unreadable("it holds no usable certificate".to_owned())) } else { Ok(roots) }
}

/// Where Debian and Alpine, Red Hat, and SUSE keep the authorities they trust.
const SYSTEM_BUNDLES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
];

/// A TLS configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsError {
    /// The authorities' file.
    RootCa {
        /// Where it was looked for.
        path: PathBuf,
        /// What is wrong with it.
        error: String,
    },
    /// None was given, and this system has none in the usual places.
    NoSystemRoots,
    /// The cryptography refused.
    Provider {
        /// What it said.
        error: String,
    },
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::RootCa { path, error } => {
                write!(f, "cannot read certificates from {}: {error}", path.display())
            }
            TlsError::NoSystemRoots => {
                f.write_str("no certificate authorities found on this system; name a PEM file (root_ca)")
            }
            TlsError::Provider { error } => write!(f, "TLS cannot be set up: {error}"),
        }
    }
}

impl Error for TlsError {}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn a_missing_root_file_is_named() {
        let error = TlsPolicy::verify_full(Some(Path::new("/nonexistent/ca.pem"))).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/ca.pem"), "{error}");
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        let path = std::env::temp_dir().join(format!("pgmoat-empty-{}.pem", std::process::id()));
        std::fs::write(&path, "no certificate\n").unwrap();
        let refused = TlsPolicy::verify_full(Some(&path));
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(refused, Err(TlsError::RootCa { .. })));
    }

    #[test]
    fn require_needs_no_roots() {
        assert_eq!(TlsPolicy::require().unwrap().name(), "require");
    }
}
