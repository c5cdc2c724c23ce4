//! Transaction mode: what ties the client to its connection, and what moves with the client from one to the next.
//!
//! INVARIANT (no trace): a connection is handed on as it is only if all that its client has left on it is known: its
//! settings and its prepared statements, by name. Anything else ties the client to it.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use pgmoat_upstream::{Carried, Plans, Prepared, Sequences};

use super::Session;
use super::held::Held;
use super::lasting::{Assignment, Lasting, Leaving, Pin, SettingText, TransactionStep};
use super::pass::Pass;
use super::replay::Namer;
use super::retry::Retry;
use super::terms::{Statement, Terms};
use super::variables::{Change, Lost, gives_meaning};

/// The client's part of a shared connection.
#[derive(Debug)]
pub(super) struct Sharing {
    pub(super) held: Held,
    pub(super) namer: Namer,
    /// The catalog that texts are looked up in, as a number.
    pub(super) catalog: u64,
    /// What goes upstream before the next message.
    pub(super) prelude: Vec<Pass<'static>>,
    pub(super) retry: Retry,
    /// The batch that was begun has done nothing so far.
    pub(super) opening: bool,
    sequences: Sequences,
    plans: Plans,
    /// The session among all.
    id: u64,
    /// The connection has to forget its plans and its statements.
    forgets: bool,
    /// What the client's texts name may be what it has made itself: no text is shared.
    pub(super) shadowed: bool,
}

/// What has happened since the last ReadyForQuery, which says whether an implicit transaction stays.
#[derive(Debug, Default)]
pub(super) struct Implicit {
    fault: Fault,
    /// A statement may have committed what came before it in its batch.
    halfway: Halfway,
}

/// Whether the implicit transaction of a batch may have been committed before its end.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Halfway {
    #[default]
    No,
    Perhaps,
}

/// Whether anything has failed since the last ReadyForQuery: an implicit transaction was rolled back then.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Fault {
    #[default]
    None,
    Failed,
}

/// Why a client stays on its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tie {
    /// Something that it has left there.
    Pin(Pin),
    /// A cursor WITH HOLD.
    HeldCursor,
    /// A prepared statement that cannot be made again alike elsewhere.
    Statement,
}

/// Says that a session's connection may be given to the next client, and in what way. Made by [`Session::loose`]
/// alone.
#[derive(Debug)]
pub struct Loose {
    leaving: Leaving,
}

impl Loose {
    /// What becomes of the connection.
    pub fn leaving(&self) -> Leaving {
        self.leaving
    }
}

impl Session {
    /// The session's connections are shared: it has one for a transaction only. Among all sessions it has this number.
    pub fn share(&mut self, id: u64) {
        self.variables.follow_every();
        self.sharing = Some(Box::new(Sharing {
            held: Held::default(),
            namer: Namer::default(),
            catalog: 0,
            prelude: Vec::new(),
            sequences: Sequences::Untouched,
            plans: Plans::Alike,
            id,
            forgets: false,
            shadowed: false,
            retry: Retry::No,
            opening: false,
        }));
    }

    /// Whether its connections are shared.
    pub fn shares(&self) -> bool {
        self.sharing.is_some()
    }

    /// The custom settings that the upstream connections start with. Any other leaves its name behind.
    pub fn declare(&mut self, custom: Arc<BTreeSet<Box<str>>>) {
        self.declared = custom;
    }

    /// The session has got a connection; what it has to be given before anything of the client's runs.
    pub fn attach(&mut self, carried: Carried, settings: &[(Box<str>, Box<str>)]) -> Vec<Change> {
        for (name, _) in settings {
            self.note_setting(name);
        }
        let Carried { settings, statements, sequences, plans } = carried;
        self.variables.attach(settings);
        let changes = self.variables.give_missing();
        if let Some(sharing) = &mut self.sharing {
            let moved = changes.iter().any(|(name, _)| gives_meaning(name));
            sharing.forgets = moved || ![Plans::Alike, Plans::MovedBy(sharing.id)].contains(&plans);
            (sharing.sequences, sharing.shadowed) = (sequences, false);
            (sharing.held, sharing.plans) = match sharing.forgets {
                // Looked up again, they would mean what they mean when that happens.
                true => (Held::default(), Plans::Alike),
                false => (Held::new(statements), plans),
            };
        }
        changes
    }

    /// Whether the connection keeps plans, those of functions and of prepared statements, that may have been made under
    /// other settings than this session's: it has to forget all of them.
    pub fn forgets_plans(&mut self) -> bool {
        self.sharing.as_mut().is_some_and(|sharing| std::mem::take(&mut sharing.forgets))
    }

    /// Whether the connection's sequence functions may tell what others have drawn; not any more, once this was asked.
    pub fn forgets_sequences(&mut self) -> bool {
        let sharing = self.sharing.as_mut();
        let before = sharing.map(|sharing| std::mem::take(&mut sharing.sequences));
        before == Some(Sequences::Drawn)
    }

    /// Whether the connection may be handed on.
    ///
    /// # Errors
    /// Why it may not.
    pub fn loose(&self) -> Result<Loose, Tie> {
        if let Some(pin) = self.pins.reason() {
            return Err(Tie::Pin(pin));
        }
        if self.portals.count() > 0 {
            return Err(Tie::HeldCursor);
        }
        if self.fixed.held() > 0 {
            return Err(Tie::Statement);
        }
        if !self.sharing.as_ref().is_some_and(|sharing| sharing.held.is_settled()) {
            return Err(Tie::Statement);
        }
        // What was parsed under other settings would mean something else elsewhere.
        let settings = LazyCell::new(|| self.variables.meaning());
        let is_alike = |statement: &Statement| {
            let alike =
                |prepared: &Arc<Prepared>| statement.is_plain() || Some(prepared.settings) == *settings;
            statement.prepared.as_ref().is_some_and(alike)
        };
        if !self.statements.all(is_alike) {
            return Err(Tie::Statement);
        }
        Ok(Loose { leaving: self.pins.leaving().max(self.variables.leaving()) })
    }

    /// The connection leaves the session; what it carries.
    pub fn detach(&mut self, _loose: &Loose) -> Carried {
        self.pins.left();
        let settings = self.variables.detach();
        let Some(sharing) = &mut self.sharing else { return Carried::default() };
        Carried {
            settings,
            statements: std::mem::take(&mut sharing.held).into_confirmed(),
            sequences: std::mem::take(&mut sharing.sequences),
            plans: match sharing.shadowed {
                true => Plans::Shadowed,
                false => std::mem::take(&mut sharing.plans),
            },
        }
    }

    /// Whether nobody may have the connection after this client, whatever is done to it.
    pub fn has_spoilt(&self) -> bool {
        self.pins.leaving() == Leaving::Destroy
    }

    /// Whether a statement may move settings that the meaning of texts depends on.
    pub(super) fn moves_meaning(&self, lasting: &Lasting) -> bool {
        self.shares() && lasting.settings.iter().any(|each| self.variables.meaning_moves_by(each))
    }

    /// A statement is being sent.
    pub(super) fn leaves(&mut self, lasting: &Lasting) {
        let moves_meaning = self.moves_meaning(lasting);
        for assignment in &lasting.settings {
            match assignment {
                Assignment::Set { name: SettingText::Is(name), .. } => self.note_setting(name),
                // Bound values stand in their portals' terms.
                Assignment::Set { name: SettingText::Bound(_), .. } => self.pins.pin(Pin::Unknown),
                Assignment::ResetAll | Assignment::DiscardAll => {}
            }
        }
        self.pins.sent(lasting);
        if lasting.moves_settings() {
            self.variables.begin(lasting);
        }
        let Some(sharing) = &mut self.sharing else { return };
        if lasting.draws {
            sharing.sequences = Sequences::Drawn;
        }
        sharing.shadowed |= lasting.shadows;
        if moves_meaning {
            sharing.plans = Plans::MovedBy(sharing.id);
        }
    }

    /// It has ended, one way or another.
    pub(super) fn has_left(&mut self, lasting: &Lasting) {
        self.pins.ended(lasting);
        if lasting.moves_settings() {
            self.variables.end(lasting);
        }
    }

    /// It has run; none: up to a limit of rows.
    pub(super) fn lasts(&mut self, terms: &Terms, tag: Option<&str>) {
        let lasting = &terms.lasting;
        self.pins.ran(lasting, tag);
        for assignment in &lasting.settings {
            // A SELECT whose rows were not all asked for, or were none, may have set it or not.
            let certain = tag.is_some_and(|tag| tag == "SELECT 1" || !tag.starts_with("SELECT"));
            let known = match assignment {
                Assignment::Set { name: SettingText::Is(name), value, local } if certain => match value {
                    _ if is_of_transaction(name) => Ok(()),
                    None => self.variables.set(name, None, *local),
                    Some(SettingText::Is(value)) if value.len() > VALUE_BYTES_MAX => Err(Lost),
                    Some(SettingText::Is(value)) => self.variables.set(name, Some(value), *local),
                    Some(SettingText::Bound(_)) => {
                        self.pins.pin(Pin::Unknown);
                        Ok(())
                    }
                },
                Assignment::Set { .. } => Err(Lost),
                Assignment::ResetAll | Assignment::DiscardAll => {
                    self.variables.reset_all();
                    Ok(())
                }
            };
            if known.is_err() {
                self.pins.pin(Pin::Setting);
            }
        }
        let known = match &lasting.transaction {
            TransactionStep::None => Ok(()),
            TransactionStep::MayCommit => {
                self.implicit.halfway = Halfway::Perhaps;
                Ok(())
            }
            TransactionStep::CommitsAtOnce => {
                self.transaction_ended(true);
                Ok(())
            }
            TransactionStep::Commit if tag == Some("COMMIT") => {
                self.transaction_ended(true);
                Ok(())
            }
            TransactionStep::Commit | TransactionStep::Rollback => {
                self.transaction_ended(false);
                Ok(())
            }
            TransactionStep::Savepoint(name) => {
                self.pins.nest();
                self.variables.savepoint(name)
            }
            TransactionStep::Release(name) => self.variables.release(name.as_deref()),
            TransactionStep::RollbackTo(name) => self.variables.roll_back_to(name.as_deref()),
        };
        if known.is_err() {
            self.pins.pin(Pin::Setting);
        }
    }

    /// Something has failed: what is not inside a transaction block is rolled back.
    pub(super) fn note_fault(&mut self) {
        self.implicit.fault = Fault::Failed;
        self.variables.fail();
    }

    /// ReadyForQuery; outside a transaction block, or in one.
    pub(super) fn note_ready(&mut self, idle: bool) {
        let Implicit { fault, halfway } = std::mem::take(&mut self.implicit);
        if (fault, halfway) == (Fault::Failed, Halfway::Perhaps) {
            self.pins.pin(Pin::Setting);
        }
        if idle {
            self.transaction_ended(fault == Fault::None);
        }
    }

    fn transaction_ended(&mut self, committed: bool) {
        match committed {
            true => {
                self.pins.commit();
                self.variables.commit();
            }
            false => {
                self.pins.roll_back();
                self.variables.roll_back();
            }
        }
    }

    /// A setting is set: some cannot be taken back, some cannot be given again alike.
    fn note_setting(&mut self, name: &str) {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        let (pin, leaving) = if is("seed") {
            (Pin::Unknown, Leaving::Destroy)
        } else if name.contains('.') && !self.declared.contains(name.to_ascii_lowercase().as_str()) {
            // RESET ALL keeps the names of custom settings: the next client would find them.
            (Pin::Setting, Leaving::Destroy)
        } else if UNTRACKED.into_iter().any(is) {
            (Pin::Setting, Leaving::Reset)
        } else {
            return;
        };
        self.pins.pin(pin);
        self.pins.sent(&Lasting { leaving, ..Lasting::default() });
    }
}

/// Settings of the transaction that is open.
fn is_of_transaction(name: &str) -> bool {
    ["transaction_isolation", "transaction_read_only", "transaction_deferrable"]
        .iter()
        .any(|own| name.eq_ignore_ascii_case(own))
}

/// The longest value of a setting that is given again, in bytes: each savepoint keeps one.
const VALUE_BYTES_MAX: usize = 4 << 10;

/// Who acts; lists of names whose quotes are lost on the way; what ends a connection that is at rest, whose it is by then.
const UNTRACKED: [&str; 6] = [
    "idle_session_timeout",
    "role",
    "session_authorization",
    "temp_tablespaces",
    "local_preload_libraries",
    "session_preload_libraries",
];

impl Tie {
    /// All of them.
    pub const ALL: [Tie; Pin::ALL.len() + 2] = [
        Tie::Pin(Pin::Temporary),
        Tie::Pin(Pin::Listens),
        Tie::Pin(Pin::Locks),
        Tie::Pin(Pin::Sequences),
        Tie::Pin(Pin::Setting),
        Tie::Pin(Pin::Ddl),
        Tie::Pin(Pin::Function),
        Tie::Pin(Pin::Unknown),
        Tie::HeldCursor,
        Tie::Statement,
    ];

    /// Its name among numbers; [`Display`](fmt::Display) has its words.
    pub fn label(self) -> &'static str {
        match self {
            Tie::Pin(Pin::Temporary) => "temporary_objects",
            Tie::Pin(Pin::Listens) => "listen",
            Tie::Pin(Pin::Locks) => "advisory_locks",
            Tie::Pin(Pin::Sequences) => "sequences",
            Tie::Pin(Pin::Setting) => "setting",
            Tie::Pin(Pin::Ddl) => "ddl",
            Tie::Pin(Pin::Function) => "function",
            Tie::Pin(Pin::Unknown) => "unknown",
            Tie::HeldCursor => "held_cursor",
            Tie::Statement => "statement",
        }
    }
}

impl fmt::Display for Tie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tie::Pin(pin) => pin.fmt(f),
            Tie::HeldCursor => f.write_str("a cursor WITH HOLD"),
            Tie::Statement => f.write_str("a prepared statement that cannot be made elsewhere"),
        }
    }
}
