//! SCRAM-SHA-256 verifiers as PostgreSQL stores them (RFC 5802 section 3, RFC 7677; PostgreSQL's `rolpassword`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use sha2::{Digest as _, Sha256};

/// `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey` of an ASCII password (longer alphabets need SASLprep, which the
/// lab's passwords do not).
#[must_use]
pub fn scram_verifier(password: &str, salt: &[u8], iterations: u32) -> String {
    let salted = salted_password(password.as_bytes(), salt, iterations);
    let stored_key = Sha256::digest(hmac(&salted, b"Client Key"));
    let server_key = hmac(&salted, b"Server Key");
    format!(
        "SCRAM-SHA-256${iterations}:{}${}:{}",
        STANDARD.encode(salt),
        STANDARD.encode(stored_key),
        STANDARD.encode(server_key)
    )
}

/// Hi() of RFC 5802: PBKDF2 with HMAC-SHA-256 and one block of output.
fn salted_password(password: &[u8], salt: &[u8], iterations: u32) -> [u8; 32] {
    let mut last = hmac(password, &[salt, &1u32.to_be_bytes()].concat());
    let mut sum = last;
    for _ in 1..iterations {
        last = hmac(password, &last);
        for (sum, byte) in sum.iter_mut().zip(last) {
            *sum ^= byte;
        }
    }
    sum
}

fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    // HMAC takes a key of any length; an error cannot happen and would give a verifier that nobody's password meets.
    Hmac::<Sha256>::new_from_slice(key)
        .map(|mac| mac.chain_update(message).finalize().into_bytes().into())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exchange of RFC 7677 section 3 (user "user", password "pencil"): its ServerSignature is HMAC of ServerKey.
    #[test]
    fn the_exchange_of_rfc_7677_verifies() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap_or_default();
        let verifier = scram_verifier("pencil", &salt, 4096);
        let server_key =
            verifier.rsplit(':').next().and_then(|key| STANDARD.decode(key).ok()).unwrap_or_default();
        let auth_message = "n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                            s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let signature = STANDARD.encode(hmac(&server_key, auth_message.as_bytes()));
        assert_eq!(signature, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        assert!(verifier.starts_with("SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$"));
    }
}
