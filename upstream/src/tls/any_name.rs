//! What is trusted where the host's name is not looked at (`require`, `verify-ca`).
//!
//! Signatures of the handshake are checked all the same, so the peer does hold the key of the certificate it shows
//! (SCRAM's channel binding relies on that).

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// A certificate for whatever name.
#[derive(Debug)]
pub(super) struct AnyName {
    issuer: Issuer,
    provider: Arc<CryptoProvider>,
}

/// Who may have issued it.
#[derive(Debug)]
pub(super) enum Issuer {
    /// Whoever it was.
    Anybody,
    /// An authority among these.
    Authority(RootCertStore),
}

impl AnyName {
    pub(super) fn new(issuer: Issuer, provider: Arc<CryptoProvider>) -> Self {
        AnyName { issuer, provider }
    }
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.issuer {
            Issuer::Anybody => {}
            Issuer::Authority(roots) => {
                let certificate = ParsedCertificate::try_from(end_entity)?;
                let algorithms = self.provider.signature_verification_algorithms.all;
                verify_server_cert_signed_by_trust_anchor(
                    &certificate,
                    roots,
                    intermediates,
                    now,
                    algorithms,
                )?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
