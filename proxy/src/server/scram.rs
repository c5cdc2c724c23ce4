//! SCRAM-SHA-256 from stored verifiers, without I/O.
//!
//! The exchange itself is pgwire's; what it never sees is decided here: the mechanism's name
//! against the channel-binding flag, the message's frame, and what happens to a user that does not
//! exist. Such a user runs the same exchange against a mock secret that is derived from the name
//! and a key of this process, so that neither the messages nor the work tell it apart from a wrong
//! password (PostgreSQL's `mock_scram_secret`).

mod rotation;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pgwire::api::auth::sasl::scram::{ScramSecret, ScramServerAuth, ScramServerAuthWaitingForClientFinal};
use pgwire::error::PgWireError;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use rotation::Second;

/// The mechanism that is always offered.
pub(crate) const MECHANISM: &str = "SCRAM-SHA-256";

/// The mechanism that is offered besides over TLS: with channel binding (RFC 7677).
pub(crate) const MECHANISM_PLUS: &str = "SCRAM-SHA-256-PLUS";

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
    /// The client could bind to the channel and believes that it was not offered, which it was: somebody
    /// is in between. 28000.
    Downgrade,
    /// The client has bound to another channel than this one: 28000.
    Unbound,
    /// Wrong password, unknown user: 28P01, the same for both.
    Rejected,
}

/// An exchange that waits for the client's first message.
pub(crate) struct Exchange {
    verifier: Verifier,
    second: Verifier,
    known: bool,
}

/// An exchange that waits for the client's last message.
pub(crate) struct Challenged {
    waiting: ScramServerAuthWaitingForClientFinal,
    second: Second,
    known: bool,
    bound: bool,
}

impl Exchange {
    /// Starts an exchange with a user's verifiers, or with a mock one where there are none. Who is not `welcome` goes
    /// through all of it, and no proof is right in the end.
    pub(crate) fn new(user: &str, verifiers: &[Verifier], welcome: bool, mock: &Mock) -> Exchange {
        // The mock is computed for known users too, and is their second verifier where they have one only: the same
        // work for all.
        let mocked = mock.verifier(user);
        Exchange {
            known: welcome && !verifiers.is_empty(),
            second: verifiers.get(1).unwrap_or(&mocked).clone(),
            verifier: verifiers.first().cloned().unwrap_or(mocked),
        }
    }

    /// Takes the body of SASLInitialResponse and gives the body of AuthenticationSASLContinue. `plus` binds
    /// to the channel; where there is one, [`MECHANISM_PLUS`] was offered.
    ///
    /// # Errors
    /// [`LoginError::Malformed`] for a wrong mechanism, flag, length or syntax;
    /// [`LoginError::Downgrade`].
    pub(crate) fn first(
        self,
        body: &[u8],
        plus: Option<ScramServerAuth>,
    ) -> Result<(String, Challenged), LoginError> {
        let (mechanism, message) = initial_response(body)?;
        let offered = plus.is_some();
        let (server, bound) = match (mechanism, plus) {
            (Mechanism::Plus, Some(plus)) => (plus, true),
            (Mechanism::Plus, None) => return Err(LoginError::Malformed(INVALID_MECHANISM)),
            (Mechanism::Plain, _) => (ScramServerAuth::new(), false),
        };
        // The library never sees the mechanism's name: name and flag must say the same (RFC 5802 6).
        match message.get(..2) {
            Some(b"p=") if bound => {}
            Some(b"n,") if !bound => {}
            Some(b"y,") if !bound && !offered => {}
            Some(b"y,") if !bound => return Err(LoginError::Downgrade),
            Some(b"p=") => return Err(LoginError::Malformed("channel binding data in SCRAM-SHA-256")),
            Some(b"n," | b"y,") => {
                return Err(LoginError::Malformed("no channel binding data in SCRAM-SHA-256-PLUS"));
            }
            _ => return Err(LoginError::Malformed("malformed SCRAM message")),
        }
        let (reply, waiting) = server
            .on_client_first_message_with_secret(message, self.verifier.secret())
            .map_err(|_| LoginError::Malformed("malformed SCRAM message"))?;
        let second = Second::new(self.second, message, &reply);
        Ok((reply, Challenged { waiting, second, known: self.known, bound }))
    }
}

impl Challenged {
    /// What the audit calls it.
    pub(crate) fn method(&self) -> &'static str {
        if self.bound { "scram-sha-256-plus" } else { "scram-sha-256" }
    }

    /// Takes the body of SASLResponse and gives the body of AuthenticationSASLFinal.
    ///
    /// # Errors
    /// [`LoginError::Rejected`] for a wrong proof, and for every proof of an unknown user;
    /// [`LoginError::Unbound`].
    pub(crate) fn last(self, body: &[u8]) -> Result<String, LoginError> {
        let reply = match self.waiting.on_client_final_message(body) {
            Ok(reply) => Some(reply),
            Err(PgWireError::InvalidPassword(_)) => self.second.last(body),
            Err(PgWireError::InvalidScramMessage(what)) if what == BINDING_MISMATCH => {
                return Err(LoginError::Unbound);
            }
            Err(_) => return Err(LoginError::Malformed("malformed SCRAM message")),
        };
        reply.filter(|_| self.known).ok_or(LoginError::Rejected)
    }
}

#[derive(Clone, Copy)]
enum Mechanism {
    Plain,
    Plus,
}

/// PostgreSQL's words.
const INVALID_MECHANISM: &str = "client selected an invalid SASL authentication mechanism";

/// The library's words (it is pinned; a test holds them).
const BINDING_MISMATCH: &str = "Channel binding mismatch";

/// Mechanism NUL, length, message: nothing left over.
fn initial_response(body: &[u8]) -> Result<(Mechanism, &[u8]), LoginError> {
    let name_end = body
        .iter()
        .position(|&byte| byte == 0)
        .ok_or(LoginError::Malformed("malformed SASLInitialResponse message"))?;
    let (name, rest) = body.split_at(name_end);
    let mechanism = match name {
        name if name == MECHANISM.as_bytes() => Mechanism::Plain,
        name if name == MECHANISM_PLUS.as_bytes() => Mechanism::Plus,
        _ => return Err(LoginError::Malformed(INVALID_MECHANISM)),
    };
    let (length, message) = rest
        .get(1..)
        .and_then(|rest| rest.split_first_chunk::<4>())
        .ok_or(LoginError::Malformed("malformed SASLInitialResponse message"))?;
    if usize::try_from(i32::from_be_bytes(*length)) != Ok(message.len()) {
        return Err(LoginError::Malformed("malformed SASLInitialResponse message"));
    }
    Ok((mechanism, message))
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

    fn log_in(known: &[Verifier], password: &[u8]) -> Result<(), LoginError> {
        log_in_if(known, true, password)
    }

    fn log_in_if(known: &[Verifier], welcome: bool, password: &[u8]) -> Result<(), LoginError> {
        let mut client = ScramSha256::new(password, ChannelBinding::unsupported());
        let exchange = Exchange::new("ann", known, welcome, &Mock::new([7; 32], 4096));
        let (challenge, challenged) = exchange.first(&initial(MECHANISM, client.message()), None)?;
        client.update(challenge.as_bytes()).unwrap();
        let last = challenged.last(client.message())?;
        client.finish(last.as_bytes()).unwrap();
        Ok(())
    }

    #[test]
    fn the_right_password_logs_in_and_proves_the_server_too() {
        assert_eq!(log_in(&[verifier()], b"secret"), Ok(()));
    }

    #[test]
    fn a_wrong_password_and_an_unknown_user_fail_alike() {
        assert_eq!(log_in(&[verifier()], b"wrong"), Err(LoginError::Rejected));
        assert_eq!(log_in(&[], b"secret"), Err(LoginError::Rejected));
    }

    #[test]
    fn each_of_two_passwords_is_right_and_no_third() {
        let old = verifier();
        let new = Verifier::parse(&old.beside("renewed")).unwrap();
        assert!(old.has_challenge_of(&new));
        for both in [[new.clone(), old.clone()], [old.clone(), new]] {
            assert_eq!(log_in(&both, b"secret"), Ok(()));
            assert_eq!(log_in(&both, b"renewed"), Ok(()));
            assert_eq!(log_in(&both, b"third"), Err(LoginError::Rejected));
            assert_eq!(log_in(&both, b""), Err(LoginError::Rejected));
        }
        assert!(!old.has_challenge_of(&verifier()), "another salt");
    }

    #[test]
    fn no_password_is_right_for_who_is_not_welcome() {
        assert_eq!(log_in_if(&[verifier()], false, b"secret"), Err(LoginError::Rejected));
        assert_eq!(log_in_if(&[verifier()], false, b"wrong"), Err(LoginError::Rejected));
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
        let first = |body: &[u8]| {
            Exchange::new("ann", &[], true, &Mock::new([7; 32], 4096)).first(body, None).map(|_| ())
        };
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
            let exchange = Exchange::new("ann", &[], true, &Mock::new([7; 32], 4096));
            assert!(exchange.first(whole.get(..end).unwrap(), None).is_err(), "cut at {end}");
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
