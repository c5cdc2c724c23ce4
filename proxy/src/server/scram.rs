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

    /// What a client sees of it before it has proven anything: made-up users show that of real ones.
    pub(crate) fn form(&self) -> Form {
        Form { iterations: self.iterations, salt_bytes: self.salt.len() }
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

/// What challenges look like that come from one maker of verifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    iterations: u32,
    salt_bytes: usize,
}

impl Default for Form {
    /// PostgreSQL's own.
    fn default() -> Form {
        Form { iterations: 4096, salt_bytes: 16 }
    }
}

/// Makes secrets for users that do not exist.
pub(crate) struct Mock {
    key: Zeroizing<[u8; KEY_BYTES]>,
    form: Form,
}

impl Mock {
    /// A mock with a key of its own; `form` is that of real users.
    pub(crate) fn new(key: [u8; KEY_BYTES], form: Form) -> Mock {
        Mock { key: Zeroizing::new(key), form }
    }

    /// A key for mocks that is the same after a restart with the same users (else a salt that changes would tell who does
    /// not exist), and that no user can compute: each knows one ServerKey at most.
    pub(crate) fn key<'a>(verifiers: impl Iterator<Item = &'a Verifier>) -> Zeroizing<[u8; KEY_BYTES]> {
        let hash = verifiers.fold(Sha256::new().chain_update("pgmoat mock users"), |hash, one| {
            hash.chain_update(*one.server_key)
        });
        Zeroizing::new(hash.finalize().into())
    }

    /// The same salt for the same name each time, and keys that no password has.
    fn verifier(&self, user: &str) -> Verifier {
        let derive = |label: &[u8]| -> [u8; KEY_BYTES] {
            Sha256::new().chain_update(*self.key).chain_update(label).chain_update(user).finalize().into()
        };
        let Form { iterations, salt_bytes } = self.form;
        let blocks = (0_u64..).map(|block| match block {
            0 => derive(b"salt"),
            more => derive(&[&b"salt"[..], &more.to_be_bytes()].concat()),
        });
        Verifier {
            iterations,
            salt: blocks.flatten().take(salt_bytes).collect(),
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
    mechanism: Mechanism,
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
        let server = match (mechanism, plus) {
            (Mechanism::Plus, Some(plus)) => plus,
            (Mechanism::Plus, None) => return Err(LoginError::Malformed(INVALID_MECHANISM)),
            (Mechanism::Plain, _) => ScramServerAuth::new(),
        };
        // The library never sees the mechanism's name: name and flag must say the same (RFC 5802 6).
        match (mechanism, message.get(..2)) {
            (Mechanism::Plus, Some(b"p=")) | (Mechanism::Plain, Some(b"n,")) => {}
            (Mechanism::Plain, Some(b"y,")) if offered => return Err(LoginError::Downgrade),
            (Mechanism::Plain, Some(b"y,")) => {}
            (Mechanism::Plain, Some(b"p=")) => {
                return Err(LoginError::Malformed("channel binding data in SCRAM-SHA-256"));
            }
            (Mechanism::Plus, Some(b"n," | b"y,")) => {
                return Err(LoginError::Malformed("no channel binding data in SCRAM-SHA-256-PLUS"));
            }
            (Mechanism::Plain | Mechanism::Plus, _) => {
                return Err(LoginError::Malformed("malformed SCRAM message"));
            }
        }
        let (reply, waiting) = server
            .on_client_first_message_with_secret(message, self.verifier.secret())
            .map_err(|_| LoginError::Malformed("malformed SCRAM message"))?;
        let second = Second::new(self.second, message, &reply);
        Ok((reply, Challenged { waiting, second, known: self.known, mechanism }))
    }
}

impl Challenged {
    /// What the audit calls it.
    pub(crate) fn method(&self) -> &'static str {
        match self.mechanism {
            Mechanism::Plain => "scram-sha-256",
            Mechanism::Plus => "scram-sha-256-plus",
        }
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

/// For fuzzers: plays a login with any bytes as the client's two messages, and checks that nobody gets in by them.
pub(super) fn any_messages(first: &[u8], last: &[u8]) {
    let mock = Mock::new([7; KEY_BYTES], Form::default());
    let verifier = mock.verifier("somebody");
    for known in [&[][..], &[verifier]] {
        if let Ok((reply, challenged)) = Exchange::new("ann", known, true, &mock).first(first, None) {
            assert!(reply.starts_with("r="), "a challenge");
            assert!(challenged.last(last).is_err(), "no proof is right where nobody knows the nonce");
        }
    }
}

#[cfg(test)]
#[path = "scram/tests.rs"]
mod tests;
