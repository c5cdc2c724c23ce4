//! SCRAM-SHA-256 from stored verifiers, without I/O.
//!
//! The exchange itself is pgwire's; what it never sees is decided here: the mechanism's name
//! against the channel-binding flag, the message's frame, and what happens to a user that does not
//! exist. Such a user runs the same exchange against a mock secret that is derived from the name
//! and a key of this process, so that neither the messages nor the work tell it apart from a wrong
//! password (PostgreSQL's `mock_scram_secret`).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pgwire::api::auth::sasl::scram::{ScramSecret, ScramServerAuth, ScramServerAuthWaitingForClientFinal};
use pgwire::error::PgWireError;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// The one mechanism that is offered without TLS.
pub(crate) const MECHANISM: &str = "SCRAM-SHA-256";

/// What PostgreSQL itself makes: shown for made-up users where there is no real one.
pub(crate) const MOCK_ITERATIONS: u32 = 4096;

const SALT_BYTES: usize = 16;
const KEY_BYTES: usize = 32;

/// A stored verifier: `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`.
///
/// No password equivalent is in it, but an offline guess could start from it: `Debug` hides it.
#[derive(Clone)]
pub struct Verifier {
    iterations: u32,
    salt: Vec<u8>,
    stored_key: Zeroizing<[u8; KEY_BYTES]>,
    server_key: Zeroizing<[u8; KEY_BYTES]>,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("iterations", &self.iterations).finish_non_exhaustive()
    }
}

impl Verifier {
    /// Reads PostgreSQL's own form. None for anything else.
    pub(crate) fn parse(text: &str) -> Option<Verifier> {
        let (iterations_salt, keys) = text.strip_prefix("SCRAM-SHA-256$")?.split_once('$')?;
        let (iterations, salt) = iterations_salt.split_once(':')?;
        let (stored_key, server_key) = keys.split_once(':')?;
        let key = |text: &str| -> Option<Zeroizing<[u8; KEY_BYTES]>> {
            Some(Zeroizing::new(STANDARD.decode(text).ok()?.try_into().ok()?))
        };
        Some(Verifier {
            iterations: iterations.parse().ok()?,
            salt: STANDARD.decode(salt).ok()?,
            stored_key: key(stored_key)?,
            server_key: key(server_key)?,
        })
    }

    /// The iteration count: mock exchanges show that of real users.
    pub(crate) fn iterations(&self) -> u32 {
        self.iterations
    }

    fn secret(&self) -> ScramSecret {
        ScramSecret::Verifier {
            salt: self.salt.clone(),
            iterations: self.iterations as usize,
            stored_key: self.stored_key.to_vec(),
            server_key: self.server_key.to_vec(),
        }
    }
}

/// Makes secrets for users that do not exist.
pub(crate) struct Mock {
    key: Zeroizing<[u8; KEY_BYTES]>,
    iterations: u32,
}

impl Mock {
    /// A mock with a key of its own; `iterations` is what real users have.
    pub(crate) fn new(key: [u8; KEY_BYTES], iterations: u32) -> Mock {
        Mock { key: Zeroizing::new(key), iterations }
    }

    /// The same salt for the same name each time, and keys that no password has.
    fn verifier(&self, user: &str) -> Verifier {
        let derive = |label: &[u8]| -> [u8; KEY_BYTES] {
            Sha256::new().chain_update(*self.key).chain_update(label).chain_update(user).finalize().into()
        };
        let salt = derive(b"salt").into_iter().take(SALT_BYTES).collect();
        Verifier {
            iterations: self.iterations,
            salt,
            stored_key: Zeroizing::new(derive(b"stored")),
            server_key: Zeroizing::new(derive(b"server")),
        }
    }
}

/// Why a login fails: the client's fault, always.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LoginError {
    /// The message is not one that SCRAM knows: 08P01.
    Malformed(&'static str),
    /// Wrong password, unknown user: 28P01, the same for both.
    Rejected,
}

/// An exchange that waits for the client's first message.
pub(crate) struct Exchange {
    verifier: Verifier,
    known: bool,
}

/// An exchange that waits for the client's last message.
pub(crate) struct Challenged {
    waiting: ScramServerAuthWaitingForClientFinal,
    known: bool,
}

impl Exchange {
    /// Starts an exchange with a user's verifier, or with a mock one where there is none.
    pub(crate) fn new(user: &str, verifier: Option<&Verifier>, mock: &Mock) -> Exchange {
        // The mock is computed for known users too: the same work for both.
        let mocked = mock.verifier(user);
        Exchange { known: verifier.is_some(), verifier: verifier.cloned().unwrap_or(mocked) }
    }

    /// Takes the body of SASLInitialResponse and gives the body of AuthenticationSASLContinue.
    ///
    /// # Errors
    /// [`LoginError::Malformed`] for a wrong mechanism, flag, length or syntax.
    pub(crate) fn first(self, body: &[u8]) -> Result<(String, Challenged), LoginError> {
        let message = initial_response(body)?;
        if !message.starts_with(b"n,") && !message.starts_with(b"y,") {
            // SCRAM-SHA-256 with `p=` asks for channel binding that it does not have.
            return Err(LoginError::Malformed("the client selected SCRAM-SHA-256 with channel binding"));
        }
        let (reply, waiting) = ScramServerAuth::new()
            .on_client_first_message_with_secret(message, self.verifier.secret())
            .map_err(|_| LoginError::Malformed("malformed SCRAM message"))?;
        Ok((reply, Challenged { waiting, known: self.known }))
    }
}

impl Challenged {
    /// Takes the body of SASLResponse and gives the body of AuthenticationSASLFinal.
    ///
    /// # Errors
    /// [`LoginError::Rejected`] for a wrong proof, and for every proof of an unknown user.
    pub(crate) fn last(self, body: &[u8]) -> Result<String, LoginError> {
        let reply = self.waiting.on_client_final_message(body).map_err(|error| match error {
            PgWireError::InvalidPassword(_) => LoginError::Rejected,
            _ => LoginError::Malformed("malformed SCRAM message"),
        })?;
        if self.known { Ok(reply) } else { Err(LoginError::Rejected) }
    }
}

/// Mechanism NUL, length, message: nothing left over.
fn initial_response(body: &[u8]) -> Result<&[u8], LoginError> {
    let name_end = body
        .iter()
        .position(|&byte| byte == 0)
        .ok_or(LoginError::Malformed("malformed SASLInitialResponse message"))?;
    let (name, rest) = body.split_at(name_end);
    if name != MECHANISM.as_bytes() {
        return Err(LoginError::Malformed("client selected an invalid SASL authentication mechanism"));
    }
    let (length, message) = rest
        .get(1..)
        .and_then(|rest| rest.split_first_chunk::<4>())
        .ok_or(LoginError::Malformed("malformed SASLInitialResponse message"))?;
    if usize::try_from(i32::from_be_bytes(*length)) != Ok(message.len()) {
        return Err(LoginError::Malformed("malformed SASLInitialResponse message"));
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};

    use super::*;

    /// `postgres_protocol`'s own verifier of the password "secret".
    fn verifier() -> Verifier {
        Verifier::parse(&postgres_protocol::password::scram_sha_256(b"secret")).unwrap()
    }

    fn initial(mechanism: &str, message: &[u8]) -> Vec<u8> {
        let mut body = mechanism.as_bytes().to_vec();
        body.push(0);
        body.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
        body.extend_from_slice(message);
        body
    }

    fn log_in(known: Option<&Verifier>, password: &[u8]) -> Result<(), LoginError> {
        let mut client = ScramSha256::new(password, ChannelBinding::unsupported());
        let exchange = Exchange::new("ann", known, &Mock::new([7; 32], 4096));
        let (challenge, challenged) = exchange.first(&initial(MECHANISM, client.message()))?;
        client.update(challenge.as_bytes()).unwrap();
        let last = challenged.last(client.message())?;
        client.finish(last.as_bytes()).unwrap();
        Ok(())
    }

    #[test]
    fn the_right_password_logs_in_and_proves_the_server_too() {
        assert_eq!(log_in(Some(&verifier()), b"secret"), Ok(()));
    }

    #[test]
    fn a_wrong_password_and_an_unknown_user_fail_alike() {
        assert_eq!(log_in(Some(&verifier()), b"wrong"), Err(LoginError::Rejected));
        assert_eq!(log_in(None, b"secret"), Err(LoginError::Rejected));
    }

    #[test]
    fn an_unknown_user_sees_the_same_salt_each_time_and_another_than_its_neighbour() {
        let mock = Mock::new([7; 32], 4096);
        assert_eq!(mock.verifier("ann").salt, mock.verifier("ann").salt);
        assert_ne!(mock.verifier("ann").salt, mock.verifier("bob").salt);
        assert_ne!(mock.verifier("ann").salt, Mock::new([8; 32], 4096).verifier("ann").salt);
        assert_eq!(mock.verifier("ann").salt.len(), SALT_BYTES);
    }

    #[test]
    fn other_mechanisms_and_channel_binding_are_refused() {
        let first =
            |body: &[u8]| Exchange::new("ann", None, &Mock::new([7; 32], 4096)).first(body).map(|_| ());
        assert!(first(&initial(MECHANISM, b"n,,n=,r=abc")).is_ok());
        assert!(first(&initial("SCRAM-SHA-256-PLUS", b"p=tls-server-end-point,,n=,r=abc")).is_err());
        assert!(first(&initial("SCRAM-SHA-256-PLUS", b"n,,n=,r=abc")).is_err());
        assert!(first(&initial(MECHANISM, b"p=tls-server-end-point,,n=,r=abc")).is_err());
        assert!(first(&initial("SCRAM-SHA-1", b"n,,n=,r=abc")).is_err());
    }

    #[test]
    fn every_cut_of_the_first_message_is_refused() {
        let whole = initial(MECHANISM, b"n,,n=,r=abc");
        for end in 0..whole.len() {
            let exchange = Exchange::new("ann", None, &Mock::new([7; 32], 4096));
            assert!(exchange.first(whole.get(..end).unwrap()).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn verifiers_are_read_strictly_and_debug_hides_them() {
        let text = postgres_protocol::password::scram_sha_256(b"secret");
        let debug = format!("{:?}", Verifier::parse(&text).unwrap());
        assert_eq!(debug, "Verifier { iterations: 4096, .. }");
        for bad in ["", "md5abc", "SCRAM-SHA-256$4096:salt", "SCRAM-SHA-256$x:AAAA$AAAA:AAAA"] {
            assert!(Verifier::parse(bad).is_none(), "{bad}");
        }
    }
}
