//! From accept to ReadyForQuery: one client's first packets, under one timer.
//!
//! Everything here happens before anybody is known, so everything is small: the first packet has
//! PostgreSQL's own cap, a SASL message 1 KiB, and nothing is read ahead of what is expected. Bytes
//! that stand behind an encryption request end the connection (CVE-2021-23214's kind).

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Buf as _, BytesMut};
use pgmoat_audit::CancelOutcome;
use pgmoat_policy::{Mode, NoNames, Rule, Verdict};
use pgmoat_upstream::frame::{self, Phase};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::front::{Front, User};
use super::greeting;
use super::scram::{Exchange, LoginError, MECHANISM};
use super::sessions::Registration;
use super::startup::{self, Opening, Refused, Startup};
use crate::session::error::ErrorFields;
use crate::shared::{Control, Database, SessionInfo};

/// Read ahead before anybody is known: the longest thing that may come.
const READ_BYTES: usize = 1024;

/// What a connection's first packets came to.
pub(crate) enum Outcome {
    /// A session may begin.
    Session(Box<Admission>),
    /// Nothing more is owed: a cancel was done, the client left, or it was told why not.
    Over,
}

/// An authenticated client, which has already been told ReadyForQuery.
pub(crate) struct Admission {
    pub(crate) info: SessionInfo,
    pub(crate) database: Arc<Database>,
    pub(crate) control: Arc<Control>,
    pub(crate) registration: Registration,
    pub(crate) leftover: BytesMut,
}

/// Why a login ends: the client gets the SQLSTATE and the message, the audit gets the reason.
struct Failure {
    sqlstate: &'static str,
    message: String,
    reason: &'static str,
}

/// The end of a login.
enum End {
    /// The client is told why.
    Fatal(Failure),
    /// Nothing is said: the client is gone, or PostgreSQL would say nothing either.
    Silent,
    /// A CancelRequest was handled.
    Cancelled,
}

impl From<std::io::Error> for End {
    fn from(_: std::io::Error) -> End {
        End::Silent
    }
}

/// Answers a client's first packets and, if it proves who it is, makes a session of it.
pub(crate) async fn log_in(stream: &mut TcpStream, peer: SocketAddr, front: &Front) -> Outcome {
    let mut greeter = Greeter { stream, received: BytesMut::new() };
    let mut claim = Claim { user: String::new(), database: String::new() };
    let timed = tokio::time::timeout(front.login_timeout, greeter.run(peer, front, &mut claim)).await;
    let end = match timed {
        Ok(Ok(admission)) => return Outcome::Session(admission),
        Ok(Err(end)) => end,
        Err(_) => End::Fatal(failure("57014", "canceling authentication due to timeout", "timeout")),
    };
    if let End::Fatal(failure) = end {
        front.audit_failure(peer, &claim.user, &claim.database, failure.sqlstate, failure.reason);
        say_no(stream, front, &failure).await;
    }
    Outcome::Over
}

/// Tells a client that there is no room, where it can read it: behind its encryption requests. A
/// cancel is carried out all the same: it makes room.
pub(crate) async fn turn_away(stream: &mut TcpStream, peer: SocketAddr, front: &Front) {
    let mut greeter = Greeter { stream, received: BytesMut::new() };
    let asked = tokio::time::timeout(front.login_timeout, greeter.startup(peer, front)).await;
    if let Ok(Ok(_)) = asked {
        say_no(stream, front, &failure("53300", "sorry, too many clients already", "too many clients")).await;
    }
}

/// Writes the last words of a login and closes.
async fn say_no(stream: &mut TcpStream, front: &Front, failure: &Failure) {
    let mut out = BytesMut::new();
    ErrorFields::fatal(failure.sqlstate, &failure.message).encode(&mut out);
    // The client may be gone already, and a client that does not read gets no second chance.
    let _ = tokio::time::timeout(front.login_timeout, stream.write_all(&out)).await;
    let _ = stream.shutdown().await;
}

/// What a client says it is, for the audit, whatever becomes of it.
struct Claim {
    user: String,
    database: String,
}

struct Greeter<'a> {
    stream: &'a mut TcpStream,
    received: BytesMut,
}

impl Greeter<'_> {
    async fn run(
        &mut self,
        peer: SocketAddr,
        front: &Front,
        claim: &mut Claim,
    ) -> Result<Box<Admission>, End> {
        let startup = self.startup(peer, front).await?;
        claim.user.clone_from(&startup.user);
        claim.database.clone_from(&startup.database);
        if startup.needs_negotiation() {
            let mut out = BytesMut::new();
            greeting::negotiate(&mut out, &startup);
            self.stream.write_all(&out).await?;
        }
        let user = self.authenticate(front, &startup.user).await?;
        let database = front.database(&startup.database).ok_or_else(|| {
            let message = format!("database \"{}\" does not exist", startup.database);
            End::Fatal(failure("3D000", &message, "unknown database"))
        })?;
        self.admit(peer, front, user, startup, database).await
    }

    /// Reads packets until a StartupMessage; each kind of encryption may be asked for once.
    async fn startup(&mut self, peer: SocketAddr, front: &Front) -> Result<Startup, End> {
        let (mut tls_asked, mut gss_asked) = (false, false);
        loop {
            let packet = self.packet().await?;
            let opening = startup::decode(packet.get(4..).unwrap_or_default()).map_err(refused)?;
            match opening {
                Opening::Ssl if !tls_asked => tls_asked = true,
                Opening::Gss if !gss_asked => gss_asked = true,
                Opening::Ssl | Opening::Gss => {
                    let message = "encryption was asked for twice";
                    return Err(End::Fatal(failure("08P01", message, "protocol violation")));
                }
                Opening::Cancel { pid, key } => {
                    let (session, outcome) = match front.sessions.find(pid, &key) {
                        Some((id, control)) => (Some(id), control.cancel().await),
                        None => (None, CancelOutcome::UnknownKey),
                    };
                    front.audit_cancel(peer, session, outcome);
                    return Err(End::Cancelled);
                }
                Opening::Startup(startup) => return Ok(startup),
            }
            if !self.received.is_empty() {
                let message = "received unencrypted data after an encryption request";
                return Err(End::Fatal(failure("08P01", message, "protocol violation")));
            }
            self.stream.write_all(b"N").await?;
        }
    }

    async fn authenticate<'f>(&mut self, front: &'f Front, name: &str) -> Result<&'f User, End> {
        let user = front.user(name);
        let exchange = Exchange::new(name, user.map(|user| &user.verifier), &front.mock);
        let mut out = BytesMut::new();
        greeting::sasl(&mut out, MECHANISM);
        self.stream.write_all(&out).await?;

        let first = self.sasl_message().await?;
        let (reply, challenged) = exchange.first(&first).map_err(|error| rejected(&error, name))?;
        out.clear();
        greeting::sasl_continue(&mut out, &reply);
        self.stream.write_all(&out).await?;

        let last = self.sasl_message().await?;
        let reply = challenged.last(&last).map_err(|error| rejected(&error, name))?;
        // Only a known user's proof passes; the `else` is for the reader and the compiler.
        let Some(user) = user else { return Err(rejected(&LoginError::Rejected, name)) };
        out.clear();
        greeting::authenticated(&mut out, &reply);
        self.stream.write_all(&out).await?;
        Ok(user)
    }

    async fn admit(
        &mut self,
        peer: SocketAddr,
        front: &Front,
        user: &User,
        startup: Startup,
        database: Arc<Database>,
    ) -> Result<Box<Admission>, End> {
        let settings = allowed_settings(user, startup.settings, &database)?;
        let application_name = settings
            .iter()
            .rev()
            .find(|(name, _)| name.eq_ignore_ascii_case("application_name"))
            .map(|(_, value)| value.clone())
            .unwrap_or_default();
        let control = Control::new();
        let id = front.sessions.next_id();
        let registration = front.sessions.register(id, Arc::clone(&control)).map_err(|_| {
            End::Fatal(failure("53000", "the system has no randomness for a cancel key", "no randomness"))
        })?;
        let info = SessionInfo {
            id,
            user: Arc::clone(&user.name),
            principal: Arc::clone(&user.principal),
            application_name,
            peer,
            settings,
        };
        front.audit_login(&info, &database).map_err(|_| {
            End::Fatal(failure("58030", "the audit log cannot be written: nobody can log in", "audit"))
        })?;
        let mut out = BytesMut::new();
        for (name, value) in front.greeting_parameters(&info, &database) {
            greeting::parameter_status(&mut out, &name, &value);
        }
        greeting::ready(&mut out, registration.pid(), registration.key());
        self.stream.write_all(&out).await?;
        let leftover = std::mem::take(&mut self.received);
        Ok(Box::new(Admission { info, database, control, registration, leftover }))
    }

    /// One packet without a tag, its length word included.
    async fn packet(&mut self) -> Result<bytes::Bytes, End> {
        loop {
            match frame::startup::take(&mut self.received) {
                Ok(Some(packet)) => return Ok(packet),
                Ok(None) => self.read().await?,
                Err(_) => return Err(End::Silent),
            }
        }
    }

    /// The body of one PasswordMessage-family message.
    async fn sasl_message(&mut self) -> Result<bytes::Bytes, End> {
        loop {
            match frame::take(&mut self.received, Phase::ClientLogin) {
                Ok(Some(mut message)) if message.first() == Some(&b'p') => {
                    message.advance(5);
                    return Ok(message);
                }
                Ok(None) => self.read().await?,
                Ok(Some(_)) | Err(_) => {
                    let message = "expected SASL response";
                    return Err(End::Fatal(failure("08P01", message, "protocol violation")));
                }
            }
        }
    }

    async fn read(&mut self) -> Result<(), End> {
        self.received.reserve(READ_BYTES);
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(End::Silent),
            _ => Ok(()),
        }
    }
}

/// The client's start-up settings, if the policy's settings rule lets every one of them pass: the
/// same rule, by the same judge, as for `SET name TO 'value'`. The kind `set` is not asked for:
/// drivers send settings at start-up for users who may never send SET.
fn allowed_settings(
    user: &User,
    settings: Vec<(String, String)>,
    database: &Database,
) -> Result<Settings, End> {
    let Some(rules) = database.rules() else {
        let message = "the database cannot be reached yet; pgmoat tries again by itself";
        return Err(End::Fatal(failure("57P03", message, "upstream down")));
    };
    for (name, value) in &settings {
        let text = as_set(name, value);
        let judgement = pgmoat_policy::judge(
            &text,
            Mode::Simple,
            &user.principal,
            &rules.policy,
            &rules.catalog,
            &NoNames,
        );
        for judged in &judgement.statements {
            let denied = match &judged.verdict {
                Verdict::Allow(_) => None,
                Verdict::Deny(denials) => denials.all().iter().find(|denial| denial.rule != Rule::Kind),
            };
            if let Some(denial) = denied {
                let message = format!("startup parameter \"{name}\": {}", denial.message);
                return Err(End::Fatal(failure("42501", &message, "setting not allowed")));
            }
        }
    }
    Ok(settings.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
}

/// What the parameter would be as a statement. The elements of a plain list stand apart, as
/// PostgreSQL takes them apart at start-up; any other value is one string, and so is a list with
/// quotes in it, which is then refused: a comma inside quotes parts nothing.
fn as_set(name: &str, value: &str) -> String {
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let values = if name.eq_ignore_ascii_case("search_path") && !value.contains('"') {
        let element = |text: &str| literal(text.trim_matches(|c: char| c.is_ascii_whitespace()));
        value.split(',').map(element).collect::<Vec<_>>().join(", ")
    } else {
        literal(value)
    };
    format!("SET \"{}\" TO {values}", name.replace('"', "\"\""))
}

/// Settings by name, in the order in which the client gave them.
type Settings = Vec<(Box<str>, Box<str>)>;

fn failure(sqlstate: &'static str, message: &str, reason: &'static str) -> Failure {
    Failure { sqlstate, message: message.to_owned(), reason }
}

fn refused(refused: Refused) -> End {
    match refused {
        Refused::Close => End::Silent,
        Refused::Fatal(sqlstate, message) => {
            End::Fatal(Failure { sqlstate, message, reason: "startup packet refused" })
        }
    }
}

fn rejected(error: &LoginError, user: &str) -> End {
    End::Fatal(match error {
        LoginError::Malformed(message) => failure("08P01", message, "malformed SCRAM message"),
        LoginError::Rejected => {
            let message = format!("password authentication failed for user \"{user}\"");
            failure("28P01", &message, "wrong password or unknown user")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_judged_as_the_statement_that_it_is() {
        for (name, value, text) in [
            ("TimeZone", "UTC", "SET \"TimeZone\" TO 'UTC'"),
            ("DateStyle", "ISO, MDY", "SET \"DateStyle\" TO 'ISO, MDY'"),
            ("a\"; DROP x", "it's", "SET \"a\"\"; DROP x\" TO 'it''s'"),
            ("search_path", "app, public", "SET \"search_path\" TO 'app', 'public'"),
            ("search_path", "\"app, public\"", "SET \"search_path\" TO '\"app, public\"'"),
            ("Search_Path", "app\u{a0},x'y", "SET \"Search_Path\" TO 'app\u{a0}', 'x''y'"),
        ] {
            assert_eq!(as_set(name, value), text);
        }
    }
}
