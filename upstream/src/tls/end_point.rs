//! Channel binding `tls-server-end-point` (RFC 5929, section 4): a hash of the server's certificate,
//! by the hash function of its signature, MD5 and SHA-1 replaced by SHA-256.

use rustls_pki_types::CertificateDer;
use sha2::{Digest, Sha256, Sha384, Sha512};

/// The binding; `None` where the certificate's signature has no one hash function (Ed25519, RSA-PSS),
/// for which the RFC defines none.
pub fn tls_server_end_point(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let der = certificate.as_ref();
    Some(match hash_of(signature_oid(der)?)? {
        Hash::Sha256 => Sha256::digest(der).to_vec(),
        Hash::Sha384 => Sha384::digest(der).to_vec(),
        Hash::Sha512 => Sha512::digest(der).to_vec(),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

fn hash_of(oid: &[u8]) -> Option<Hash> {
    SIGNATURES.iter().find(|(known, _)| *known == oid).map(|(_, hash)| *hash)
}

/// Certificate ::= SEQUENCE { tbsCertificate SEQUENCE, signatureAlgorithm SEQUENCE { OID, … }, … }
fn signature_oid(der: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (_tbs, rest) = element(certificate, SEQUENCE)?;
    let (algorithm, _) = element(rest, SEQUENCE)?;
    element(algorithm, OBJECT_IDENTIFIER).map(|(oid, _)| oid)
}

/// The contents of the element at the start of `der`, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // Long form: so many bytes of length. Four are enough for any certificate.
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length).filter(|_| found == tag)
}

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;

/// RFC 8017 and RFC 5758, as DER contents.
const SIGNATURES: [(&[u8], Hash); 8] = [
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x04", Hash::Sha256), // md5WithRSAEncryption
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05", Hash::Sha256), // sha1WithRSAEncryption
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b", Hash::Sha256), // sha256WithRSAEncryption
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0c", Hash::Sha384), // sha384WithRSAEncryption
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d", Hash::Sha512), // sha512WithRSAEncryption
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x02", Hash::Sha256),     // ecdsa-with-SHA256
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x03", Hash::Sha384),     // ecdsa-with-SHA384
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x04", Hash::Sha512),     // ecdsa-with-SHA512
];

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

    use super::*;

    /// A certificate's skeleton: empty tbsCertificate of the given size, algorithm, no signature.
    fn skeleton(oid: &[u8], tbs_bytes: u16) -> Vec<u8> {
        let mut tbs = vec![SEQUENCE, 0x82];
        tbs.extend_from_slice(&tbs_bytes.to_be_bytes());
        tbs.resize(tbs.len() + usize::from(tbs_bytes), 0);
        let mut algorithm =
            vec![SEQUENCE, u8::try_from(oid.len() + 2).unwrap(), 6, u8::try_from(oid.len()).unwrap()];
        algorithm.extend_from_slice(oid);
        let body = [tbs, algorithm].concat();
        let mut der = vec![SEQUENCE, 0x82];
        der.extend_from_slice(&u16::try_from(body.len()).unwrap().to_be_bytes());
        der.extend_from_slice(&body);
        der
    }

    #[test]
    fn the_hash_is_that_of_the_signature() {
        for (oid, hash) in SIGNATURES {
            let der = skeleton(oid, 300);
            assert_eq!(signature_oid(&der), Some(oid));
            let length = match hash {
                Hash::Sha256 => 32,
                Hash::Sha384 => 48,
                Hash::Sha512 => 64,
            };
            assert_eq!(tls_server_end_point(&CertificateDer::from(der)).unwrap().len(), length);
        }
    }

    #[test]
    fn ed25519_and_garbage_have_none() {
        let ed25519 = skeleton(b"\x2b\x65\x70", 10);
        assert_eq!(tls_server_end_point(&CertificateDer::from(ed25519.clone())), None);
        for end in 0..ed25519.len() {
            assert_eq!(signature_oid(&ed25519[..end]), None);
        }
    }
}
