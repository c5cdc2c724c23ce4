//! Certificates of a test's own.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SignatureAlgorithm};
use tempfile::TempDir;

/// A certificate authority, and a folder with what it has signed.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: TempDir,
}

/// A certificate and its key, as PEM files.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificate.
    pub cert: PathBuf,
    /// The private key, for its owner's eyes.
    pub key: PathBuf,
}

impl Authority {
    /// A new one with ECDSA over P-256.
    ///
    /// # Errors
    ///
    /// The files cannot be written.
    pub fn new() -> io::Result<Self> {
        Self::with(&rcgen::PKCS_ECDSA_P256_SHA256)
    }

    /// A new one that signs with this algorithm.
    ///
    /// # Errors
    ///
    /// As [`Authority::new`].
    pub fn with(algorithm: &'static SignatureAlgorithm) -> io::Result<Self> {
        Self::of(KeyPair::generate_for(algorithm).map_err(io::Error::other)?)
    }

    /// A new one with a key that was made elsewhere, in PEM.
    ///
    /// # Errors
    ///
    /// As [`Authority::new`]; the key is none.
    pub fn with_key(pem: &str, algorithm: &'static SignatureAlgorithm) -> io::Result<Self> {
        Self::of(KeyPair::from_pem_and_sign_algo(pem, algorithm).map_err(io::Error::other)?)
    }

    fn of(key: KeyPair) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("pgmoat-ca-").tempdir()?;
        let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
        // No two have one name: a client would try the wrong key and say something else than "not trusted".
        let name = folder.path().display().to_string();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).map_err(io::Error::other)?.pem();
        fs::write(folder.path().join("ca.crt"), pem)?;
        Ok(Self { issuer: Issuer::new(params, key), folder })
    }

    /// Its own certificate.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// Where its files are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A server's certificate for these names.
    ///
    /// # Errors
    ///
    /// As [`Authority::new`].
    pub fn server(&self, file: &str, names: &[&str]) -> io::Result<Identity> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.sign(file, CertificateParams::new(names).map_err(io::Error::other)?)
    }

    /// A client's certificate with these common names.
    ///
    /// # Errors
    ///
    /// As [`Authority::new`].
    pub fn client(&self, file: &str, common_name: &str) -> io::Result<Identity> {
        let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, common_name);
        self.sign(file, params)
    }

    fn sign(&self, file: &str, params: CertificateParams) -> io::Result<Identity> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(io::Error::other)?;
        let path = |extension: &str| self.folder.path().join(format!("{file}.{extension}"));
        let identity = Identity { cert: path("crt"), key: path("key") };
        fs::write(&identity.cert, certificate.pem())?;
        let mut options = fs::OpenOptions::new();
        let mut written = options.write(true).create(true).truncate(true).mode(0o600).open(&identity.key)?;
        io::Write::write_all(&mut written, key.serialize_pem().as_bytes())?;
        Ok(identity)
    }
}
