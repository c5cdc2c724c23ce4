//! What a statement leaves on its connection once it has run: who shares connections between clients keeps them apart
//! by it (wire 5). Made by the gate from the judgement; what the judge cannot bound pins.

use std::fmt;
use std::sync::Arc;

use super::variables::gives_meaning;

/// What one statement leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lasting {
    /// What keeps the client on its connection from then on.
    pub pins: PinSet,
    /// What does not any more.
    pub unpins: PinSet,
    /// What becomes of the connection when the client leaves it.
    pub leaving: Leaving,
    /// What it does to the transaction.
    pub transaction: TransactionStep,
    /// What it does to settings, in this order.
    pub settings: Vec<Assignment>,
    /// It may have drawn from sequences, which currval and lastval would tell the next client.
    pub draws: bool,
    /// It may make temporary objects: a name may stand for one of them from then on, and not for what it does to others.
    pub shadows: bool,
    /// It may change rows.
    pub changes: bool,
    /// Whether transactions keep their snapshots from then on.
    pub snapshots: Snapshots,
}

/// Whether transactions keep their first snapshot (REPEATABLE READ, SERIALIZABLE).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Snapshots {
    /// As before.
    #[default]
    Unmoved,
    /// This one may.
    Kept,
    /// All may.
    AlwaysKept,
}

/// A reason to stay on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin {
    /// Temporary objects.
    Temporary,
    /// LISTEN.
    Listens,
    /// Session-level advisory locks.
    Locks,
    /// nextval, currval, lastval, setval by name.
    Sequences,
    /// A setting whose value cannot be given again alike.
    Setting,
    /// The catalog is changed: temporary objects may be among it.
    Ddl,
    /// A VOLATILE function of the database's own.
    Function,
    /// What was not looked into, or cannot be let go.
    Unknown,
}

/// Some of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PinSet(u16);

/// What becomes of a connection when its client leaves it: the later, the more thorough.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leaving {
    /// The next client gets it as it is.
    #[default]
    AsItIs,
    /// After DISCARD ALL.
    Reset,
    /// Nobody gets it: DISCARD ALL does not take back what was done.
    Destroy,
}

/// What a statement does to the transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TransactionStep {
    /// Nothing.
    #[default]
    None,
    /// COMMIT, END; a failed transaction is rolled back by it.
    Commit,
    /// DISCARD ALL: what came before it in its batch is committed by it.
    CommitsAtOnce,
    /// The same may be so.
    MayCommit,
    /// ROLLBACK, ABORT.
    Rollback,
    /// SAVEPOINT.
    Savepoint(Box<str>),
    /// RELEASE; none where the name is not known.
    Release(Option<Box<str>>),
    /// ROLLBACK TO; none where the name is not known.
    RollbackTo(Option<Box<str>>),
}

/// What a statement does to settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assignment {
    /// A setting is set; to its default where there is no value.
    Set {
        /// Its name.
        name: SettingText,
        /// Its value.
        value: Option<SettingText>,
        /// Until the transaction's end.
        local: bool,
    },
    /// RESET ALL.
    ResetAll,
    /// DISCARD ALL.
    DiscardAll,
}

/// A name or a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingText {
    /// This.
    Is(Arc<str>),
    /// What is bound to this parameter, from 1.
    Bound(u32),
}

impl Pin {
    pub(super) const ALL: [Pin; 8] = [
        Pin::Temporary,
        Pin::Listens,
        Pin::Locks,
        Pin::Sequences,
        Pin::Setting,
        Pin::Ddl,
        Pin::Function,
        Pin::Unknown,
    ];

    /// Whether its cause goes when the transaction that it came with is rolled back.
    fn is_transactional(self) -> bool {
        match self {
            Pin::Temporary | Pin::Listens | Pin::Ddl => true,
            Pin::Locks | Pin::Sequences | Pin::Setting | Pin::Function | Pin::Unknown => false,
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pin::Temporary => "temporary objects",
            Pin::Listens => "LISTEN",
            Pin::Locks => "session-level advisory locks",
            Pin::Sequences => "values of sequences by name",
            Pin::Setting => "a setting that is not given again",
            Pin::Ddl => "a change of the catalog",
            Pin::Function => "a VOLATILE function of the database's own",
            Pin::Unknown => "a statement that was not looked into",
        })
    }
}

impl PinSet {
    /// None.
    pub const NONE: PinSet = PinSet(0);
    /// All of them.
    pub const EVERY: PinSet = PinSet(u16::MAX);

    /// Those of both.
    #[must_use]
    pub fn and(self, other: PinSet) -> PinSet {
        PinSet(self.0 | other.0)
    }

    /// Those that are not among the others.
    #[must_use]
    pub fn without(self, other: PinSet) -> PinSet {
        PinSet(self.0 & !other.0)
    }

    /// Those that go with their transaction.
    #[must_use]
    pub fn transactional(self) -> PinSet {
        let all = Pin::ALL.into_iter().filter(|pin| pin.is_transactional());
        PinSet(self.0 & all.map(PinSet::from).fold(0, |all, pin| all | pin.0))
    }

    /// Whether it is among them.
    pub fn contains(self, pin: Pin) -> bool {
        self.0 & PinSet::from(pin).0 != 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The first of them.
    pub fn first(self) -> Option<Pin> {
        Pin::ALL.into_iter().find(|pin| self.contains(*pin))
    }
}

impl From<Pin> for PinSet {
    fn from(pin: Pin) -> Self {
        PinSet(match pin {
            Pin::Temporary => 1,
            Pin::Listens => 1 << 1,
            Pin::Locks => 1 << 2,
            Pin::Sequences => 1 << 3,
            Pin::Setting => 1 << 4,
            Pin::Ddl => 1 << 5,
            Pin::Function => 1 << 6,
            Pin::Unknown => 1 << 7,
        })
    }
}

impl Lasting {
    /// Whether what is in force of settings, and so what a text means, may be another when it has run.
    pub(super) fn moves_settings(&self) -> bool {
        !self.settings.is_empty()
            || matches!(self.transaction, TransactionStep::Rollback | TransactionStep::RollbackTo(_))
    }

    /// Whether it sets what a text means, in whatever session.
    pub(super) fn sets_meaning(&self) -> bool {
        self.settings.iter().any(|assignment| match assignment {
            Assignment::Set { name: SettingText::Is(name), .. } => gives_meaning(name),
            Assignment::Set { name: SettingText::Bound(_), .. }
            | Assignment::ResetAll
            | Assignment::DiscardAll => true,
        })
    }

    /// Whether what a text means may be another when it has run: the same at its beginning and at its end.
    pub(super) fn may_move_meaning(&self) -> bool {
        self.sets_meaning()
            || matches!(self.transaction, TransactionStep::Rollback | TransactionStep::RollbackTo(_))
    }

    /// Whether start-up settings may have gone when it has run.
    pub(super) fn lets_settings_go(&self) -> bool {
        self.settings.iter().any(|assignment| match assignment {
            Assignment::Set { value, local, .. } => value.is_none() && !local,
            Assignment::ResetAll | Assignment::DiscardAll => true,
        })
    }
}
