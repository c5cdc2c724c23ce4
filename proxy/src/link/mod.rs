//! The I/O of one session: the client's socket, the session, the upstream connection, in one task.
//!
//! Both sides are always polled. What comes is handled in place and written on at once; only what the other side
//! does not take is kept. When a client does not read, its own messages are not read either, while the server is
//! still drained into a bounded spill. An idle session holds no buffer and no upstream connection it never used.
//!
//! INVARIANT (one writer): what goes upstream goes through the [`Outbox`], which takes a judged message by its permit
//! alone.

mod attach;
mod audience;
mod budget;
mod clientward;
mod control;
mod end;
mod greeted;
mod named;
mod outbox;
mod relay;
mod rest;
mod scratch;
mod serverward;
mod spin;
mod stream;
mod take;
mod timer;
mod told;
mod waits;

use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use pgmoat_policy::{ErrorPosture, Recent};
use pgmoat_upstream::Lease;
use pgmoat_upstream::frame::Scanner;
use tokio::time::Instant;

pub use control::Control;
pub use stream::ClientStream;
pub(crate) use stream::TLS_RECORD_BYTES_MAX;

use crate::budget::Budget;
use crate::config::PoolMode;
use crate::gate::Made;
use crate::session::error::ErrorFields;
use crate::session::{Refusal, Session, Sight};
use crate::shared::{Database, Rules, SessionInfo, Shared};
use audience::{Audience, Backlog};
use end::End;
use named::{Named, with_own_name};
use outbox::Outbox;
use rest::Stays;
use spin::Spin;
use take::Opaque;
use timer::Timer;
use told::Told;
use waits::Waits;

/// How a session ended, for the audit log.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    /// `terminate`, `eof`, …
    pub reason: &'static str,
    /// Messages that were judged.
    pub statements: u64,
    /// How many of them were refused.
    pub denied: u64,
}

/// Serves one client that has logged in, until its socket is closed. `leftover` is what was read behind its last
/// login message.
pub async fn serve(
    client: ClientStream,
    leftover: BytesMut,
    info: SessionInfo,
    database: Arc<Database>,
    control: Arc<Control>,
    shared: Arc<Shared>,
) -> Ending {
    let rules = database.rules();
    let mut link = Box::new(Link::new(client, leftover, info, database, control, shared, rules.clone()));
    let end = match rules {
        Some(_) => link.run().await,
        None => End::NoRules,
    };
    link.finish(end).await
}

/// One session and its two sockets.
pub(super) struct Link {
    client: ClientStream,
    upstream: Option<Box<Upstream>>,
    session: Session,
    shared: Arc<Shared>,
    database: Arc<Database>,
    info: SessionInfo,
    control: Arc<Control>,
    rules: Option<Arc<Rules>>,
    /// The longest text that the role may send, in bytes.
    text_bytes_max: usize,
    /// The verdicts that it was given last.
    recent: Recent<Made>,
    /// The client's address, as the audit log writes it.
    client_name: Box<str>,
    /// Bytes of the client's that are not handled yet.
    from_client: BytesMut,
    /// Bytes that the client has not taken yet.
    to_client: BytesMut,
    /// What upstream has not taken yet.
    outbox: Outbox,
    /// A long message of the client's that goes through, or away, without being collected.
    opaque: Opaque,
    /// What is in `from_client`.
    backlog: Backlog,
    /// What a statement is refused with instead of waiting for an upstream connection again.
    no_backend: Option<Refusal>,
    audience: Audience,
    /// TLS may hold back what was written to the client.
    flush_client: bool,
    timer: Timer,
    waits: Waits,
    spin: Spin,
    named: Named,
    /// What it was told of settings, where its connections change.
    told: Told,
    stays: Stays,
    setup: Setup,
    /// The principal's errors, where it is tenant-bound.
    budget: Option<Arc<Budget>>,
    begun: Instant,
    /// Microseconds since `begun`, taken once a burst.
    now_us: u64,
    statements: u64,
    denied: u64,
    /// Of `statements`, those whose admission was timed.
    timed: u64,
}

/// The upstream connection while the session has it.
struct Upstream {
    lease: Lease,
    scanner: Scanner,
    service: Service,
}

/// Whether the client's messages wait while its settings are being given to upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setup {
    /// They do: one of the settings may be refused.
    Waits,
    /// They follow at once.
    Flows,
}

/// Whether a connection has been of use to the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Service {
    /// What it was got for is still to be taken.
    Due,
    /// A message of the client's was taken while it was there.
    Done,
}

/// Why the relay stops.
enum Turn {
    /// A statement needs an upstream connection.
    Attach,
    /// The session is over.
    End(End),
}

impl Link {
    fn new(
        client: ClientStream,
        leftover: BytesMut,
        info: SessionInfo,
        database: Arc<Database>,
        control: Arc<Control>,
        shared: Arc<Shared>,
        rules: Option<Arc<Rules>>,
    ) -> Self {
        let number = u32::try_from(info.id & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        let backlog = if leftover.is_empty() { Backlog::Incomplete } else { Backlog::Ready };
        let named = Named::new(&info);
        let info = with_own_name(info);
        let begun = Instant::now();
        let counted = info.principal.tenant.is_some();
        let budget = counted.then(|| shared.budgets.of(&info.principal, begun.into_std()));
        let mut link = Link {
            client,
            upstream: None,
            session: Session::new(number, ErrorPosture::Redact, shared.limits),
            database,
            client_name: info.peer.to_string().into(),
            info,
            control,
            rules: None,
            text_bytes_max: 0,
            recent: Recent::default(),
            // Where it is empty, the room that the login was read into goes.
            from_client: if leftover.is_empty() { BytesMut::new() } else { leftover },
            to_client: BytesMut::new(),
            outbox: Outbox::default(),
            opaque: Opaque::Nothing,
            backlog,
            no_backend: None,
            audience: Audience::default(),
            flush_client: false,
            timer: Timer::default(),
            waits: Waits::default(),
            spin: Spin::new(shared.spin, Arc::clone(&shared.under_way)),
            shared,
            named,
            told: Told::default(),
            stays: Stays::default(),
            setup: Setup::Waits,
            budget,
            begun,
            now_us: 0,
            statements: 0,
            denied: 0,
            timed: 0,
        };
        link.session.declare(Arc::clone(&link.database.custom));
        link.session.starts_with(&link.info.settings);
        if link.database.mode == PoolMode::Transaction {
            link.session.share(link.info.id);
            let parameters = link.database.parameters();
            let server = parameters.iter().map(|(name, value)| (&**name, &**value));
            link.told = Told::by_greeting(server, &link.info.reported);
        }
        if let Some(rules) = rules {
            link.judge_by(rules);
        }
        link
    }

    async fn run(&mut self) -> End {
        loop {
            match poll_fn(|cx| self.poll(cx)).await {
                Turn::End(end) => return end,
                Turn::Attach => {
                    if let Err(end) = self.attach().await {
                        return end;
                    }
                }
            }
        }
    }

    /// Judges by the rules in force from now on; where there are none any more, by none: nothing passes.
    fn refresh_rules(&mut self) {
        if self.database.keeps_snapshots() {
            self.session.keep_snapshots();
        }
        if self.rules.as_ref().is_none_or(|rules| rules.generation != self.database.generation()) {
            match self.database.rules() {
                Some(rules) => self.judge_by(rules),
                None => (self.rules, self.text_bytes_max) = (None, 0),
            }
        }
    }

    fn judge_by(&mut self, rules: Arc<Rules>) {
        let role = rules.policy.role(&self.info.principal.role);
        let exempt = role.is_some_and(|role| !role.tenant_bound() && !role.has_any_column_rules());
        let errors = if exempt { ErrorPosture::Pass } else { rules.policy.errors() };
        self.text_bytes_max = role.map_or(0, |role| role.limits.statement_bytes);
        self.session.judged_by(rules.generation, errors);
        let (policy, catalog) = (Arc::clone(&rules.policy), Arc::clone(&rules.catalog));
        self.session.sees(Arc::new(Sight::new(policy, catalog, Arc::clone(&self.info.principal))));
        let mut catalog = DefaultHasher::new();
        rules.catalog_version.hash(&mut catalog);
        self.session.names_by(self.database.namer.clone(), catalog.finish());
        let limits = [role.and_then(|role| role.timeout), self.shared.patience.statement];
        self.timer.limit(limits.into_iter().flatten().min());
        self.rules = Some(rules);
    }

    fn tick(&mut self) {
        self.now_us = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    }

    /// Times the way in of what was judged since the last tick, if anything was.
    fn note_admission(&mut self) {
        if self.statements != self.timed {
            self.timed = self.statements;
            let begun_us = self.now_us;
            let now_us = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.shared.counts.admission.add_us(now_us.saturating_sub(begun_us));
        }
    }

    /// Puts an error that ends the session behind what the client gets.
    fn say_fatal(&mut self, sqlstate: &str, message: &str) {
        // In the middle of a message there is no place for another.
        let open = self.upstream.as_ref().is_some_and(|upstream| upstream.scanner.is_open());
        if !open && self.audience.hears() {
            ErrorFields::fatal(sqlstate, message).encode(&mut self.to_client);
        }
    }
}

/// ReadyForQuery (`I`).
const READY: &[u8] = b"Z\0\0\0\x05I";
/// What may wait for the server to take it before the client is not read any more, in bytes.
const TO_SERVER_BYTES_MAX: usize = 256 << 10;
/// What may wait for the client to take it before its messages are not read any more, in bytes.
const TO_CLIENT_BYTES_MAX: usize = 256 << 10;
/// What may wait for the client to take it before the server is not read any more, in bytes.
const SPILL_BYTES_MAX: usize = 1 << 20;
/// What is kept of a client whose messages cannot be taken, in bytes.
const WAITING_BYTES_MAX: usize = 64 << 10;
/// Messages that owe a reply before the client is not read any more.
const OWED_MAX: usize = 4_096;
/// Buffers of an idle session up to this size are kept, in bytes.
const IDLE_BUFFER_BYTES_MAX: usize = 1 << 10;
/// How long a session's last bytes may take to reach the client.
const FAREWELL_LIMIT: Duration = Duration::from_secs(5);
