//! Start-up packet to ReadyForQuery: authentication, and what the server says of itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use tokio::io::AsyncWriteExt;
use zeroize::Zeroizing;

use crate::address::{Target, WeakPasswords};
use crate::cancel::CancelKey;
use crate::carried::Carried;
use crate::connect_error::{ConnectError, Stage};
use crate::connection::{Connection, MAX_PARAMETERS};
use crate::exchange::{ReadError, read_message};
use crate::frame::backend::{self, Authentication, TransactionStatus};
use crate::frame::startup::PROTOCOL_3_2;
use crate::frame::{Fields, Phase, frontend};
use crate::io::Stream;
use crate::open::Route;
use crate::secret::Secret;
use crate::settings::{self, PinnedSettings};
use crate::tls::tls_server_end_point;

/// Logs in over an open stream. No time limit.
pub(crate) async fn login(
    stream: Stream,
    target: &Target,
    route: Arc<Route>,
) -> Result<Connection, ConnectError> {
    let mut dialogue = Dialogue { stream, incoming: BytesMut::new(), messages: 0 };
    let identity = [("user", target.user.as_str()), ("database", target.database.as_str())];
    let mut packet = BytesMut::new();
    frontend::startup(PROTOCOL_3_2, identity.into_iter().chain(target.settings.iter()), &mut packet)?;
    dialogue.send(&packet).await?;
    dialogue.authenticate(target).await?;
    let introduction = dialogue.introduction().await?;
    let server_version_num = introduction.check(&target.settings)?;
    Ok(Connection {
        fingerprint: None,
        stream: dialogue.stream,
        // A copy, so that what is idle for long does not hold the room that the login was read into.
        incoming: BytesMut::from(&*dialogue.incoming),
        cancel_key: introduction.cancel_key.unwrap_or_default(),
        parameters: introduction.parameters,
        pins: target.settings.clone(),
        server_version_num,
        carried: Carried::default(),
        route,
    })
}

struct Dialogue {
    stream: Stream,
    incoming: BytesMut,
    messages: usize,
}

impl Dialogue {
    async fn authenticate(&mut self, target: &Target) -> Result<(), ConnectError> {
        let request = self.first_request().await?;
        let refused = |method: &str| ConnectError::AuthenticationRefused { method: method.to_owned() };
        let answer = match backend::authentication(body(&request))? {
            Authentication::Ok => return Ok(()),
            Authentication::Sasl(mechanisms) => {
                return self.scram(&backend::sasl_mechanisms(mechanisms)?, password(target)?).await;
            }
            Authentication::CleartextPassword | Authentication::Md5Password(_)
                if target.weak_passwords == WeakPasswords::Refuse =>
            {
                return Err(refused("a password weaker than SCRAM"));
            }
            Authentication::CleartextPassword => Zeroizing::new(password(target)?.expose().to_vec()),
            Authentication::Md5Password(salt) => {
                let hash = md5_hash(target.user.as_bytes(), password(target)?.expose(), salt);
                Zeroizing::new(hash.into_bytes())
            }
            Authentication::Other(code) => return Err(refused(&format!("authentication method {code}"))),
            Authentication::SaslContinue(_) | Authentication::SaslFinal(_) => {
                return Err(ConnectError::Unexpected { tag: b'R', after: "the start-up packet" });
            }
        };
        let mut message = BytesMut::new();
        frontend::password(&answer, &mut message)?;
        self.send(&message).await?;
        self.authenticated("the password").await
    }

    /// RFC 5802 and RFC 7677. INVARIANT (scram): AuthenticationOk counts only after the server's
    /// signature has been verified.
    async fn scram(&mut self, offered: &[&str], password: &Secret) -> Result<(), ConnectError> {
        let (mechanism, binding) = self.choose(offered)?;
        let failed = |error: std::io::Error| ConnectError::Scram { reason: printable(&error.to_string()) };
        let mut scram = ScramSha256::new(password.expose(), binding);
        let mut message = BytesMut::new();
        frontend::sasl_initial(mechanism, scram.message(), &mut message)?;
        self.send(&message).await?;

        let request = self.request("SASLInitialResponse").await?;
        let Authentication::SaslContinue(server_first) = backend::authentication(body(&request))? else {
            return Err(ConnectError::Unexpected { tag: b'R', after: "SASLInitialResponse" });
        };
        bounded_work(server_first)?;
        scram.update(server_first).map_err(failed)?;
        message.clear();
        frontend::sasl_response(scram.message(), &mut message)?;
        self.send(&message).await?;

        let request = self.request("SASLResponse").await?;
        let Authentication::SaslFinal(server_final) = backend::authentication(body(&request))? else {
            return Err(ConnectError::Unexpected { tag: b'R', after: "SASLResponse" });
        };
        scram.finish(server_final).map_err(failed)?;
        self.authenticated("SCRAM").await
    }

    /// Channel binding wherever both sides can; `y` ("I could") where only we can, so that a server
    /// that does offer it notices that somebody took the offer away.
    fn choose(&self, offered: &[&str]) -> Result<(&'static str, ChannelBinding), ConnectError> {
        let end_point = self.end_point();
        match end_point {
            Some(hash) if offered.contains(&SCRAM_SHA_256_PLUS) => {
                Ok((SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash)))
            }
            Some(_) if offered.contains(&SCRAM_SHA_256) => Ok((SCRAM_SHA_256, ChannelBinding::unrequested())),
            None if offered.contains(&SCRAM_SHA_256) => Ok((SCRAM_SHA_256, ChannelBinding::unsupported())),
            Some(_) | None => {
                let method = format!("one of {}", printable(&offered.join(", ")));
                Err(ConnectError::AuthenticationRefused { method })
            }
        }
    }

    fn end_point(&self) -> Option<Vec<u8>> {
        match &self.stream {
            Stream::Tcp(_) | Stream::Unix(_) => None,
            Stream::Tls(tls) => tls_server_end_point(tls.get_ref().1.peer_certificates()?.first()?),
        }
    }

    async fn authenticated(&mut self, after: &'static str) -> Result<(), ConnectError> {
        let request = self.request(after).await?;
        if backend::authentication(body(&request))? == Authentication::Ok {
            return Ok(());
        }
        Err(ConnectError::Unexpected { tag: b'R', after })
    }

    /// Before it, a server that does not speak 3.2 says so, once; with it, cancel keys are longer.
    async fn first_request(&mut self) -> Result<Bytes, ConnectError> {
        let message = self.receive().await?;
        match message.first() {
            Some(b'v') => {
                backend::negotiated_version(body(&message), PROTOCOL_3_2)?;
                self.request("NegotiateProtocolVersion").await
            }
            Some(b'R') => Ok(message),
            tag => {
                Err(ConnectError::Unexpected { tag: tag.copied().unwrap_or(0), after: "the start-up packet" })
            }
        }
    }

    async fn request(&mut self, after: &'static str) -> Result<Bytes, ConnectError> {
        let message = self.receive().await?;
        match message.first() {
            Some(b'R') => Ok(message),
            tag => Err(ConnectError::Unexpected { tag: tag.copied().unwrap_or(0), after }),
        }
    }

    async fn introduction(&mut self) -> Result<Introduction, ConnectError> {
        let mut introduction = Introduction::default();
        loop {
            let message = self.receive().await?;
            match message.first() {
                Some(b'S') => {
                    let (name, value) = backend::parameter_status(body(&message))?;
                    introduction.parameters.insert(name.to_owned(), value.to_owned());
                    if introduction.parameters.len() > MAX_PARAMETERS {
                        return Err(ConnectError::TooMuch);
                    }
                }
                Some(b'K') => {
                    let (pid, key) = backend::backend_key_data(body(&message))?;
                    introduction.cancel_key = Some(CancelKey::new(pid, key));
                }
                Some(b'Z') if backend::ready_for_query(body(&message))? == TransactionStatus::Idle => {
                    return Ok(introduction);
                }
                tag => {
                    let tag = tag.copied().unwrap_or(0);
                    return Err(ConnectError::Unexpected { tag, after: "authentication" });
                }
            }
        }
    }

    /// The next message that is neither a notice nor an error.
    async fn receive(&mut self) -> Result<Bytes, ConnectError> {
        loop {
            self.messages += 1;
            if self.messages > MAX_MESSAGES {
                return Err(ConnectError::TooMuch);
            }
            let read =
                read_message(&mut self.stream, &mut self.incoming, Phase::ServerLogin, usize::MAX).await;
            let message = read.map_err(|error| match error {
                ReadError::Io(error) => ConnectError::Io { stage: Stage::Login, error },
                ReadError::Frame(error) => ConnectError::Frame(error),
                ReadError::TooLong { .. } => ConnectError::TooMuch,
            })?;
            match message.first() {
                Some(b'N') => {}
                Some(b'E') => return Err(ConnectError::Server(Box::new(Fields::decode(body(&message))?))),
                _ => return Ok(message),
            }
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), ConnectError> {
        let written = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        written.await.map_err(|error| ConnectError::Io { stage: Stage::Login, error })
    }
}

/// What a server says between AuthenticationOk and ReadyForQuery.
#[derive(Default)]
struct Introduction {
    parameters: BTreeMap<String, String>,
    cancel_key: Option<CancelKey>,
}

impl Introduction {
    /// The version's number, if this is a server and a database that we can work with.
    fn check(&self, pins: &PinnedSettings) -> Result<u32, ConnectError> {
        let reported =
            |name: &'static str| self.parameters.get(name).ok_or(ConnectError::NotReported { name });
        let server_version = reported("server_version")?;
        let version = version_num(server_version)
            .filter(|number| SUPPORTED.contains(number))
            .ok_or_else(|| ConnectError::Version { server_version: printable(server_version) })?;
        let server_encoding = reported("server_encoding")?;
        if server_encoding != "UTF8" {
            return Err(ConnectError::Encoding { server_encoding: printable(server_encoding) });
        }
        for name in settings::REPORTED {
            reported(name)?;
        }
        for (name, value) in &self.parameters {
            pins.watch(name, value)?;
        }
        Ok(version)
    }
}

/// `15.4 (Debian …)` is 150004, `18beta1` is 180000: PostgreSQL's server_version_num, which is not
/// among the reported settings.
fn version_num(text: &str) -> Option<u32> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (major, rest) = text.split_at_checked(digits(text))?;
    let minor = match rest.strip_prefix('.') {
        Some(rest) => rest.get(..digits(rest))?.parse().ok()?,
        None => 0,
    };
    major.parse::<u32>().ok()?.checked_mul(10_000)?.checked_add(minor)
}

/// The rounds of a hash that the server asks for (RFC 5802, `i=`). They are done here, on a thread that others need:
/// a server must not ask for 2^32 of them. What is no number is the library's to refuse.
fn bounded_work(server_first: &[u8]) -> Result<(), ConnectError> {
    let text = std::str::from_utf8(server_first).unwrap_or_default();
    let count = text.split(',').find_map(|part| part.strip_prefix("i="));
    match count.and_then(|count| count.parse::<u64>().ok()) {
        Some(count) if count > MAX_ITERATIONS => Err(ConnectError::Scram {
            reason: format!("the server asks for {count} iterations, at most {MAX_ITERATIONS} are done"),
        }),
        _ => Ok(()),
    }
}

fn password(target: &Target) -> Result<&Secret, ConnectError> {
    target.password.as_ref().ok_or(ConnectError::NoPassword)
}

fn body(message: &Bytes) -> &[u8] {
    message.get(crate::frame::Header::BYTES..).unwrap_or_default()
}

/// A server's words, fit for a log line.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_QUOTED_CHARS).collect()
}

/// Server versions with which the catalog query and the compiled tables were tested.
const SUPPORTED: std::ops::Range<u32> = 150_000..190_000;
/// PostgreSQL's own default is 4,096; so many take less than a second.
const MAX_ITERATIONS: u64 = 1_000_000;
/// Messages of a whole login; a server sends about thirty.
const MAX_MESSAGES: usize = 1_000;
const MAX_QUOTED_CHARS: usize = 200;

#[cfg(test)]
#[path = "login_tests.rs"]
mod tests;
