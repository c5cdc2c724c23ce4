//! What the TLS library says, in words for people: its own texts name the variants of its types.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};

/// An error of a connection, which may be the TLS library's.
pub fn in_words(error: &io::Error) -> String {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    tls.map_or_else(|| error.to_string(), tls_in_words)
}

/// The TLS library's error.
pub fn tls_in_words(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(why) => certificate(why),
        Error::AlertReceived(alert) => alert_received(*alert),
        Error::InvalidMessage(_)
        | Error::InappropriateMessage { .. }
        | Error::InappropriateHandshakeMessage { .. } => {
            "the other side does not speak TLS, or not as it must".to_owned()
        }
        Error::PeerIncompatible(_) => {
            "no TLS version or cipher in common (1.2 and 1.3 are spoken here)".to_owned()
        }
        Error::NoCertificatesPresented => "the other side has shown no certificate".to_owned(),
        Error::NoApplicationProtocol => {
            "the other side does not name the protocol \"postgresql\" (ALPN)".to_owned()
        }
        Error::InconsistentKeys(_) => "the key is not the certificate's".to_owned(),
        other => other.to_string(),
    }
}

fn certificate(why: &CertificateError) -> String {
    let what = match why {
        CertificateError::UnknownIssuer => "no authority that is trusted here has signed it",
        CertificateError::BadSignature => "its signature is wrong",
        CertificateError::BadEncoding => "it cannot be read",
        CertificateError::NotValidForName => "it is for another host name",
        CertificateError::Expired => "it has expired",
        CertificateError::NotValidYet => "it is not valid yet",
        CertificateError::Revoked => "it was revoked",
        CertificateError::InvalidPurpose => "it is for another purpose",
        // These say it in words, with names and times.
        other => return format!("the certificate is refused: {other}"),
    };
    format!("the certificate is refused: {what}")
}

fn alert_received(alert: AlertDescription) -> String {
    let why = match alert {
        AlertDescription::UnknownCA => "it does not trust the certificate's authority",
        AlertDescription::BadCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnsupportedCertificate => "it does not accept the certificate",
        AlertDescription::CertificateExpired => "it finds the certificate expired",
        AlertDescription::CertificateRequired => "it asks for a certificate",
        AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion => {
            "it finds no TLS version or cipher in common"
        }
        AlertDescription::NoApplicationProtocol => "it does not know the protocol \"postgresql\" (ALPN)",
        other => return format!("the other side has ended the handshake (TLS alert {})", u8::from(other)),
    };
    format!("the other side has ended the handshake: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variant_of_the_library_is_shown() {
        for error in [
            Error::InvalidCertificate(CertificateError::UnknownIssuer),
            Error::AlertReceived(AlertDescription::UnknownCA),
            Error::AlertReceived(AlertDescription::AccessDenied),
            Error::NoApplicationProtocol,
        ] {
            let words = in_words(&io::Error::other(error.clone()));
            assert_eq!(words, tls_in_words(&error));
            for variant in ["UnknownIssuer", "UnknownCA", "AccessDenied", "invalid peer"] {
                assert!(!words.contains(variant), "{words}");
            }
        }
        assert_eq!(in_words(&io::Error::other("a plain one")), "a plain one");
    }
}
