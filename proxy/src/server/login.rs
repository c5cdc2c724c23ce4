//! From accept to ReadyForQuery: one client's login, under one timer.
//!
//! Everything here happens before anybody is known, so everything is small: the first packet has
//! PostgreSQL's own cap, a SASL message 1 KiB, and nothing is read ahead of what is expected.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use bytes::BytesMut;
use pgmoat_audit::CancelOutcome;

use super::channel::{Asked, Channel};
use super::failures::Failed;
use super::front::Front;
use super::greeting;
use super::refusal::{End, Failure, failure, rejected, too_many};
use super::scram::{Exchange, LoginError, MECHANISM, MECHANISM_PLUS};
use super::sessions::{KeyLength, Registration};
use super::startup::{self, Startup};
use super::startup_settings;
use super::tls::ClientCertificate;
use super::users::{User, Who};
use crate::config::ClientTlsMode;
use crate::link::ClientStream;
use crate::shared::{Control, Database, Peer, SessionInfo};

/// What a connection's first packets came to.
pub(crate) enum Outcome {
    /// A session may begin.
    Session(Box<Admission>),
    /// Nothing more is owed: a cancel was done, the client left, or it was told why not.
    Over,
}

/// An authenticated client, which has already been told ReadyForQuery.
pub(crate) struct Admission {
    pub(crate) stream: ClientStream,
    pub(crate) info: SessionInfo,
    pub(crate) database: Arc<Database>,
    pub(crate) control: Arc<Control>,
    pub(crate) registration: Registration,
    pub(crate) leftover: BytesMut,
}

/// An [`Admission`] whose socket is still the login's.
struct Admitted {
    info: SessionInfo,
    database: Arc<Database>,
    control: Arc<Control>,
    registration: Registration,
}

/// Answers a client's first packets and, if it proves who it is, makes a session of it.
pub(crate) async fn log_in(stream: ClientStream, peer: Peer, front: &Front) -> Outcome {
    let mut greeter = Greeter { channel: Channel::new(stream), peer, front };
    let mut claim = Claim { user: String::new(), database: String::new() };
    let timed = tokio::time::timeout(front.login_timeout, greeter.run(&mut claim)).await;
    let end = match timed {
        Ok(Ok(admitted)) => return greeter.outcome(admitted),
        Ok(Err(end)) => end,
        Err(_) => End::Fatal(failure("57014", "canceling authentication due to timeout", "timeout")),
    };
    match end {
        End::Silent | End::Cancelled => greeter.close().await,
        End::Fatal(failure) => {
            front.audit_failure(claim.failed(peer, &failure));
            greeter.say_no(&failure).await;
        }
    }
    Outcome::Over
}

/// Tells a client that there is no room, where it can read it: behind its encryption requests. A
/// cancel is carried out all the same: it makes room.
pub(crate) async fn turn_away(stream: ClientStream, peer: Peer, front: &Front) {
    let mut greeter = Greeter { channel: Channel::new(stream), peer, front };
    let asked = tokio::time::timeout(front.login_timeout, greeter.startup()).await;
    if let Ok(Ok(Startup { user, database, .. })) = asked {
        let full = failure("53300", "sorry, too many clients already", "too many clients");
        front.audit_failure(Claim { user, database }.failed(peer, &full));
        greeter.say_no(&full).await;
    }
}

/// What a client says it is, for the audit, whatever becomes of it.
struct Claim {
    user: String,
    database: String,
}

impl Claim {
    fn failed<'a>(&'a self, peer: Peer, failure: &'a Failure) -> Failed<'a> {
        let Claim { user, database } = self;
        Failed { peer, user, database, code: &failure.sqlstate, reason: failure.reason }
    }
}

struct Greeter<'a> {
    channel: Channel,
    peer: Peer,
    front: &'a Front,
}

impl<'a> Greeter<'a> {
    async fn run(&mut self, claim: &mut Claim) -> Result<Admitted, End> {
        let startup = self.startup().await?;
        claim.user.clone_from(&startup.user);
        claim.database.clone_from(&startup.database);
        if startup.needs_negotiation() {
            let mut out = BytesMut::new();
            greeting::negotiate(&mut out, &startup);
            self.channel.send(&out).await?;
        }
        let demanded = self.encrypted_enough()?;
        let (user, method) = self.authenticate(&startup.user).await?;
        self.certified(&user, demanded)?;
        let database = self.front.database(&startup.database).ok_or_else(|| {
            let message = format!("database \"{}\" does not exist", startup.database);
            End::Fatal(failure("3D000", &message, "unknown database"))
        })?;
        if !user.may_name(&startup.database) {
            let message = format!("permission denied for database \"{}\"", startup.database);
            return Err(End::Fatal(failure("42501", &message, "database is not allowed")));
        }
        self.admit(&user, method, startup, database).await
    }

    /// Reads packets until a StartupMessage.
    async fn startup(&mut self) -> Result<Startup, End> {
        let (pid, key) = match self.channel.asked(&self.peer, self.front).await? {
            Asked::Session(startup) => return Ok(startup),
            Asked::Cancel(pid, key) => (pid, key),
        };
        if !self.front.cancels.admit(self.peer.ip(), Instant::now()) {
            return Err(End::Cancelled);
        }
        let (session, outcome) = match self.front.sessions.find(pid, &key) {
            Some((id, control)) => (Some(id), control.cancel().await),
            None => (None, CancelOutcome::UnknownKey),
        };
        self.front.audit_cancel(self.peer, session, outcome);
        Err(End::Cancelled)
    }

    /// Whether the connection is what `tls.mode` demands, before anything secret is said. A Unix socket
    /// is guarded by its permissions. Gives what was demanded.
    fn encrypted_enough(&self) -> Result<ClientTlsMode, End> {
        let tls = self.front.tls.current().filter(|_| matches!(self.peer, Peer::Tcp(_)));
        let mode = tls.map_or(ClientTlsMode::Allow, |tls| tls.mode());
        let refused = |message: &str, reason| Err(End::Fatal(failure("28000", message, reason)));
        match (mode, self.channel.encryption()) {
            (ClientTlsMode::Allow, _) | (ClientTlsMode::Require, Some(_)) => Ok(mode),
            (ClientTlsMode::Require | ClientTlsMode::Verify, None) => {
                refused("pgmoat requires TLS; connect with sslmode=require or stronger", "no TLS")
            }
            (ClientTlsMode::Verify, Some(encryption)) => match encryption.certificate {
                ClientCertificate::None => {
                    refused("connection requires a valid client certificate", "no certificate")
                }
                ClientCertificate::Named(_) => Ok(mode),
            },
        }
    }

    /// Whether the certificate is the user's, where one is demanded. Asked after the password, so that it
    /// tells nobody which users there are.
    fn certified(&self, user: &User, demanded: ClientTlsMode) -> Result<(), End> {
        let shown = self.channel.encryption().map(|encryption| &encryption.certificate);
        match demanded {
            ClientTlsMode::Allow | ClientTlsMode::Require => Ok(()),
            ClientTlsMode::Verify if shown.is_some_and(|shown| shown.is_for(&user.certificate)) => Ok(()),
            ClientTlsMode::Verify => {
                let message = format!("certificate authentication failed for user \"{}\"", user.name);
                Err(End::Fatal(failure("28000", &message, "another user's certificate")))
            }
        }
    }

    /// The user who has proven to be one, and how.
    async fn authenticate(&mut self, name: &str) -> Result<(Arc<User>, &'static str), End> {
        let users = self.front.users();
        let user = users.named(name);
        let unwelcome = user.and_then(|user| user.unwelcome(self.peer.ip(), SystemTime::now()));
        let verifiers = user.map_or(&[][..], |user| &user.verifiers);
        let exchange = Exchange::new(name, verifiers, unwelcome.is_none(), &users.mock);
        // For the audit log; the client is told the same of both.
        let reason = unwelcome.unwrap_or(if user.is_some() { "wrong password" } else { "unknown user" });
        let rejected = |error: LoginError| rejected(&error, name, reason);
        let plus = self.channel.encryption().and_then(|encryption| encryption.plus.clone());
        let mut out = BytesMut::new();
        match plus {
            Some(_) => greeting::sasl(&mut out, &[MECHANISM_PLUS, MECHANISM]),
            None => greeting::sasl(&mut out, &[MECHANISM]),
        }
        self.channel.send(&out).await?;

        let first = self.channel.sasl_message().await?;
        let (reply, challenged) = exchange.first(&first, plus).map_err(rejected)?;
        out.clear();
        greeting::sasl_continue(&mut out, &reply);
        self.channel.send(&out).await?;

        let last = self.channel.sasl_message().await?;
        let method = challenged.method();
        let reply = challenged.last(&last).map_err(rejected)?;
        // Only a known user's proof passes; the `else` is for the reader and the compiler.
        let Some(user) = user else { return Err(rejected(LoginError::Rejected)) };
        out.clear();
        greeting::authenticated(&mut out, &reply);
        self.channel.send(&out).await?;
        Ok((Arc::clone(user), method))
    }

    async fn admit(
        &mut self,
        user: &User,
        method: &'static str,
        startup: Startup,
        database: Arc<Database>,
    ) -> Result<Admitted, End> {
        let front = self.front;
        let key_length = KeyLength::of(startup.version);
        let settings = startup_settings::allowed(user, startup.settings, &database)?;
        let application_name = settings
            .iter()
            .rev()
            .find(|(name, _)| name.eq_ignore_ascii_case("application_name"))
            // PostgreSQL takes it for a name (GUC_IS_NAME), and so tells no more of it.
            .map(|(_, value)| Box::from(startup::name(value)))
            .unwrap_or_default();
        let control = Control::new();
        let id = front.sessions.next_id();
        let place = front.connections.take(user).map_err(|full| too_many(full, user))?;
        let who = Who {
            user: Arc::clone(&user.name),
            principal: Arc::clone(&user.principal),
            database: database.name.clone(),
            address: self.peer.ip(),
        };
        let registered = front.sessions.register(id, key_length, Arc::clone(&control), who.clone(), place);
        let registration = registered.map_err(|_| {
            End::Fatal(failure("53000", "the system has no randomness for a cancel key", "no randomness"))
        })?;
        let reported = front.reported(&settings, &database).await.map_err(|(code, message)| {
            End::Fatal(Failure { sqlstate: code.into(), message, reason: "setting refused by the server" })
        })?;
        // A reload since the password was asked for has not seen this session.
        if !front.users().keep(&who) {
            let message = "terminating connection due to administrator command";
            return Err(End::Fatal(failure("57P01", message, "user has changed")));
        }
        let info = SessionInfo {
            id,
            user: Arc::clone(&user.name),
            principal: Arc::clone(&user.principal),
            application_name,
            peer: self.peer,
            settings,
            counts: front.shared.counts.statements.of(&user.principal.role),
            reported,
        };
        let tls = self.channel.encryption().map(|encryption| encryption.version);
        front.audit_login(&info, &database, tls, method).map_err(|_| {
            End::Fatal(failure("58030", "the audit log cannot be written: nobody can log in", "audit"))
        })?;
        front.shared.counts.logins.add_one();
        let mut out = BytesMut::new();
        for (name, value) in Front::greeting_parameters(&info, &database) {
            greeting::parameter_status(&mut out, &name, &value);
        }
        greeting::ready(&mut out, registration.pid(), registration.key());
        self.channel.send(&out).await?;
        Ok(Admitted { info, database, control, registration })
    }

    fn outcome(self, admitted: Admitted) -> Outcome {
        let Admitted { info, database, control, registration } = admitted;
        match self.channel.into_parts() {
            Some((stream, leftover)) => Outcome::Session(Box::new(Admission {
                stream,
                info,
                database,
                control,
                registration,
                leftover,
            })),
            None => Outcome::Over,
        }
    }

    /// Closes without a word; under TLS the end is said.
    async fn close(self) {
        let _ = tokio::time::timeout(self.front.login_timeout, self.channel.close()).await;
    }

    /// Says the last words of a login and closes.
    async fn say_no(self, failure: &Failure) {
        let limit = self.front.login_timeout;
        // A client that does not read gets no second chance.
        let _ = tokio::time::timeout(limit, self.channel.end(&failure.sqlstate, &failure.message)).await;
    }
}
