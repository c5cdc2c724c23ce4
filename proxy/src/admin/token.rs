//! Bearer tokens (RFC 6750): 32 random bytes, kept as their SHA-256 alone.
//!
//! So much randomness needs no slow hash: nobody tries it out. All hashes are compared, each in constant time.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::config::{Config, Token, TokenHash};

/// The tokens in force: replaced as a whole by a reload.
#[derive(Debug, Default)]
pub(crate) struct Tokens(Vec<Token>);

impl Tokens {
    /// Of a configuration.
    pub(crate) fn new(config: &Config) -> Tokens {
        Tokens(config.admin.as_ref().map(|admin| admin.tokens.clone()).unwrap_or_default())
    }

    /// The token that was shown, if it is one of them.
    pub(super) fn known(&self, shown: &str) -> Option<&Token> {
        if shown.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let hash: [u8; 32] = Sha256::digest(shown.as_bytes()).into();
        let mut found = None;
        for token in &self.0 {
            if bool::from(token.hash.0.ct_eq(&hash)) {
                found = Some(token);
            }
        }
        found
    }
}

/// A new token and its hash for the file.
///
/// # Errors
/// The system has no randomness to give.
pub(crate) fn make_token() -> Result<(Zeroizing<String>, TokenHash), getrandom::Error> {
    let mut random = Zeroizing::new([0_u8; 32]);
    getrandom::fill(&mut *random)?;
    let mut token = Zeroizing::new(String::with_capacity(TOKEN_BYTES_MAX));
    // Writing to a String does not fail.
    let _ = write!(token, "{PREFIX}{}", &*Zeroizing::new(URL_SAFE_NO_PAD.encode(*random)));
    let hash = TokenHash(Sha256::digest(token.as_bytes()).into());
    Ok((token, hash))
}

/// So that a token that got somewhere is known for what it is.
const PREFIX: &str = "pgmoat_";
/// The longest token that is looked at, in bytes.
const TOKEN_BYTES_MAX: usize = 256;
