//! Two passwords at once, while one is changed for the other.
//!
//! A login shows one salt and one iteration count before it is known which password the client has, so both verifiers
//! share them. The first is the library's business; the second is asked here, when the first has said no: frame,
//! channel binding and nonce were right then (the library looks at the proof last).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use pgwire::api::auth::sasl::scram::gen_salted_password;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::{KEY_BYTES, Verifier};

impl Verifier {
    /// Whether a client that was shown this one's challenge can prove the other's password.
    pub(crate) fn has_challenge_of(&self, other: &Verifier) -> bool {
        self.iterations == other.iterations && self.salt == other.salt
    }

    /// The verifier of another password with the challenge of this one, in PostgreSQL's form.
    pub(crate) fn beside(&self, password: &str) -> String {
        let salted = Zeroizing::new(gen_salted_password(password, &self.salt, self.iterations as usize));
        let stored_key = Sha256::digest(keyed(&salted, b"Client Key"));
        format!(
            "SCRAM-SHA-256${}:{}${}:{}",
            self.iterations,
            STANDARD.encode(&self.salt),
            STANDARD.encode(stored_key),
            STANDARD.encode(keyed(&salted, b"Server Key"))
        )
    }
}

/// What the second verifier needs to judge the client's last message.
pub(super) struct Second {
    verifier: Verifier,
    /// AuthMessage up to the client's last message (RFC 5802 3).
    said: String,
}

impl Second {
    /// `client` is the client's first message with its GS2 header, `server` the answer.
    pub(super) fn new(verifier: Verifier, client: &[u8], server: &str) -> Second {
        let bare = client.splitn(3, |byte| *byte == b',').nth(2).unwrap_or_default();
        Second { verifier, said: format!("{},{server},", String::from_utf8_lossy(bare)) }
    }

    /// The server's last message, if the proof is this verifier's.
    pub(super) fn last(&self, message: &[u8]) -> Option<String> {
        let message = str::from_utf8(message).ok()?;
        let (without_proof, proof) = message.rsplit_once(",p=")?;
        let proof: [u8; KEY_BYTES] = STANDARD.decode(proof).ok()?.try_into().ok()?;
        let all = format!("{}{without_proof}", self.said);
        let mut client_key = Zeroizing::new(proof);
        let signature = keyed(self.verifier.stored_key.as_slice(), all.as_bytes());
        client_key.iter_mut().zip(signature).for_each(|(byte, signed)| *byte ^= signed);
        let stored_key = Sha256::digest(client_key.as_slice());
        bool::from(stored_key.ct_eq(self.verifier.stored_key.as_slice())).then(|| {
            let signature = keyed(self.verifier.server_key.as_slice(), all.as_bytes());
            format!("v={}", STANDARD.encode(signature))
        })
    }
}

/// HMAC-SHA-256.
fn keyed(key: &[u8], text: &[u8]) -> [u8; KEY_BYTES] {
    // A key of any length is one; the `else` is for the compiler.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; KEY_BYTES] };
    mac.update(text);
    mac.finalize().into_bytes().into()
}
