//! Stored verifiers, checked when the file is loaded: a weak one would be found by nobody later.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::server::Verifier;

/// What PostgreSQL itself makes (SCRAM_SHA_256_DEFAULT_ITERATIONS).
pub(crate) const MIN_ITERATIONS: u32 = 4096;
/// More than this takes a client seconds.
pub(crate) const MAX_ITERATIONS: u32 = 10_000_000;
/// PostgreSQL's salts have 16; RFC 5802 gives no minimum.
const MIN_SALT_BYTES: usize = 12;
const MAX_SALT_BYTES: usize = 256;

/// Reads a verifier. What is said about a wrong one never quotes it.
pub(crate) fn parse(text: &str) -> Result<Verifier, String> {
    let Some(rest) = text.strip_prefix("SCRAM-SHA-256$") else {
        return Err(match text.strip_prefix("md5") {
            Some(_) => "MD5 verifiers are not supported; make one with pgmoat user add".to_owned(),
            None => "expected SCRAM-SHA-256$…; make one with pgmoat user add".to_owned(),
        });
    };
    let malformed = || "expected SCRAM-SHA-256$ITERATIONS:SALT$STOREDKEY:SERVERKEY".to_owned();
    let (count_and_salt, _) = rest.split_once('$').ok_or_else(malformed)?;
    let (count, salt) = count_and_salt.split_once(':').ok_or_else(malformed)?;
    let iterations: u32 = count.parse().map_err(|_| malformed())?;
    if !(MIN_ITERATIONS..=MAX_ITERATIONS).contains(&iterations) {
        return Err(format!("{iterations} iterations, expected from {MIN_ITERATIONS} to {MAX_ITERATIONS}"));
    }
    let salt = STANDARD.decode(salt).map_err(|_| malformed())?;
    if !(MIN_SALT_BYTES..=MAX_SALT_BYTES).contains(&salt.len()) {
        return Err(format!(
            "a salt of {} bytes, expected from {MIN_SALT_BYTES} to {MAX_SALT_BYTES}",
            salt.len()
        ));
    }
    Verifier::parse(text).ok_or_else(|| "the stored keys are not 32 bytes in base64".to_owned())
}
