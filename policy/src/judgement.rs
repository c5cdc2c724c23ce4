//! What a judgement says (contracts 1).

use std::ops::Range;
use std::sync::Arc;

use crate::{CatalogVersion, Denials, Fingerprint, Kind, TenantColumnClass};

/// An object identifier of PostgreSQL's.
pub type Oid = u32;

/// The protocol by which a text came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode<'a> {
    /// Simple query: several statements, no parameters.
    Simple,
    /// Extended protocol: one statement.
    Extended {
        /// The parameter types that Parse declares; 0 or absent: not declared.
        declared: &'a [Oid],
    },
}

/// What the names in a text stand for: prepared statements and cursors of the client's, as the
/// server would see them. Empty for `verify`.
pub trait Names {
    /// The prepared statement of that name.
    fn prepared(&self, name: &str) -> Option<Prepared>;
    /// Whether the client has a cursor or portal of that name.
    fn cursor(&self, name: &str) -> bool;
}

/// What a prepared statement's name stands for.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Its text.
    pub text: Arc<str>,
    /// Its declared parameter types.
    pub declared: Arc<[Oid]>,
}

/// No names at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoNames;

impl Names for NoNames {
    fn prepared(&self, _: &str) -> Option<Prepared> {
        None
    }

    fn cursor(&self, _: &str) -> bool {
        false
    }
}

/// The judgement of a text.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// One a statement, in order; never empty (an empty text is one statement of no kind).
    pub statements: Vec<Judged>,
    /// The text's shape.
    pub shape: Fingerprint,
    /// The policy's version.
    pub policy_version: u64,
    /// The catalog's version.
    pub catalog_version: CatalogVersion,
}

impl Judgement {
    /// The first denial by rule, then by position, with the statement's number from 1.
    pub fn denial(&self) -> Option<(usize, &crate::Denial)> {
        let mut first: Option<(usize, &crate::Denial)> = None;
        for (number, judged) in (1..).zip(&self.statements) {
            if let Verdict::Deny(denials) = &judged.verdict {
                let denial = denials.first();
                let place = |denial: &crate::Denial| (denial.rule, denial.at.unwrap_or(u32::MAX));
                if first.is_none_or(|(_, earlier)| place(denial) < place(earlier)) {
                    first = Some((number, denial));
                }
            }
        }
        first
    }
}

/// One statement's judgement.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The statement's bytes in the text.
    pub span: Range<usize>,
    /// Its kind; none where it belongs to none (an empty statement, a syntax error).
    pub kind: Option<Kind>,
    /// What it does to the session's state.
    pub effect: Effect,
    /// The name tokens in it that the wire layer replaces.
    pub names: Vec<NameUse>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Allow with obligations, or deny with reasons.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// It may run, if these are kept.
    Allow(Obligations),
    /// It may not.
    Deny(Denials),
}

/// What must be kept for an allowed statement. The gate matches these exhaustively; one that it
/// cannot execute is a denial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Obligations {
    /// Values to check at Bind.
    pub binds: Vec<BindCheck>,
    /// Output columns to mask.
    pub masks: Vec<MaskAt>,
    /// How many output columns there are, where any is masked; else 0.
    pub outputs: usize,
    /// The row cap.
    pub rows: Option<RowCap>,
    /// What becomes of errors and notices.
    pub errors: ErrorPosture,
    /// It reads or changes a relation whose rows belong to tenants: its errors count against the error budget
    /// and its notices are not shown (policy 3.9).
    pub scoped: bool,
    /// That its rows are the tenant's rests on unique keys, which are not unique to a transaction that keeps its snapshot
    /// and has changed rows itself: there it may not run (policy 3.1, 3.3).
    pub by_unique_keys: bool,
    /// What it leaves in the session beside its effect.
    pub traces: Vec<Trace>,
}

/// What a statement leaves in the session, or lets go there, that its effect does not tell (wire 5).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trace {
    /// It was not looked into as a whole: anything.
    Unknown,
    /// A VOLATILE function of the database's own is called that is not PARALLEL SAFE: anything.
    Function,
    /// Such code runs without being called as such: by triggers, rules, defaults, checks, casts, operators, and
    /// functions that are declared STABLE or IMMUTABLE.
    Inner,
    /// It reads which prepared statements the connection has.
    Statements,
    /// The session's own sequence values are drawn or told by name.
    Sequence,
    /// A column's default may draw from a sequence.
    Drawn,
    /// The seed of random().
    Seed,
    /// Session-level advisory locks are taken.
    Locks,
    /// The transaction keeps its first snapshot (REPEATABLE READ, SERIALIZABLE), or may.
    KeepsSnapshot,
    /// All later transactions may.
    KeepSnapshots,
    /// SET SESSION CHARACTERISTICS, and settings of which it is not known for how long they are set, or which last.
    Characteristics,
    /// The savepoint that is made, released or gone back to.
    Savepoint(Box<str>),
    /// The temporary table goes with its transaction.
    UntilCommit,
    /// UNLISTEN of one channel.
    UnlistensOne,
    /// UNLISTEN of all.
    UnlistensAll,
    /// All advisory locks of the session are let go.
    UnlocksAll,
    /// DISCARD PLANS.
    DiscardsPlans,
    /// DISCARD SEQUENCES.
    DiscardsSequences,
    /// DISCARD TEMPORARY.
    DiscardsTemporary,
}

/// A parameter whose value is checked at Bind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindCheck {
    /// `$n`, from 1.
    pub param: u32,
    /// What its value must be.
    pub must: Must,
}

/// What a bound value must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Must {
    /// The session's own T.
    Own {
        /// Whose T.
        class: TenantColumnClass,
        /// The parameter's type as PostgreSQL resolves it, where that is certain; of an array, the
        /// element's.
        ty: Option<Oid>,
        /// The value is an array; every element must be T.
        many: bool,
    },
    /// A value that the role may write into a setting, or the setting into which it may write it.
    Setting {
        /// The setting; a constant is folded.
        name: TextArgument,
        /// Its value.
        value: TextArgument,
    },
}

/// A text that a call takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextArgument {
    /// A constant.
    Constant(Box<str>),
    /// What is bound to this parameter.
    Bound(u32),
}

/// An output position to mask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskAt {
    /// The output column, from 0.
    pub output: usize,
    /// The mask.
    pub mask: Mask,
}

/// A mask's kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the policy language's own words")]
pub enum Mask {
    Null,
    Fixed(String),
    Partial { keep: u32 },
    Hash,
    Token,
}

/// A row cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCap {
    /// How many rows may leave.
    pub max: u64,
    /// What happens over it.
    pub over: Over,
}

/// What happens to rows over the cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Surplus rows are dropped and a notice says so.
    Cut,
    /// The statement fails with 53400.
    Error,
}

/// What becomes of upstream's errors and notices (policy 3.9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ErrorPosture {
    /// Rebuilt without values: the default where nothing else is said.
    #[default]
    Redact,
    /// As `Redact`; fallible expressions were refused already.
    Deny,
    /// Handed through.
    Pass,
}

/// What a statement does to the session's state; pooling and the wire layer need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Settings are set, in this order: one by SET, as many as it calls by a SELECT of set_config.
    Settings(Vec<SettingEffect>),
    /// RESET ALL.
    ResetAll,
    /// PREPARE.
    Prepare {
        /// The client's name.
        name: Box<str>,
        /// The bytes of the prepared statement in the client's text.
        body: Range<usize>,
        /// The declared parameter types; `None` entries were not resolved.
        declared: Vec<Oid>,
    },
    /// EXECUTE.
    Execute {
        /// The client's name.
        name: Box<str>,
    },
    /// DEALLOCATE name.
    Deallocate {
        /// The client's name.
        name: Box<str>,
    },
    /// DEALLOCATE ALL.
    DeallocateAll,
    /// DECLARE; `hold` outlives the transaction.
    Declare {
        /// The client's name.
        name: Box<str>,
        /// WITH HOLD.
        hold: bool,
    },
    /// FETCH or MOVE.
    Fetch {
        /// The client's name.
        name: Box<str>,
    },
    /// CLOSE; none: ALL.
    CloseCursor {
        /// The client's name.
        name: Option<Box<str>>,
    },
    /// A temporary table is made.
    TempTable,
    /// LISTEN, UNLISTEN.
    Listen,
    /// A session-level advisory lock is taken.
    AdvisoryLock,
    /// Transaction control.
    Transaction(TransactionEffect),
    /// COPY FROM STDIN.
    CopyIn,
    /// COPY TO STDOUT.
    CopyOut {
        /// FORMAT binary.
        binary: bool,
    },
    /// DISCARD ALL.
    DiscardAll,
    /// DISCARD PLANS, SEQUENCES, TEMP.
    Discard,
    /// The catalog may change.
    Ddl,
}

/// A setting that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingEffect {
    /// Its name; a constant is folded.
    pub name: TextArgument,
    /// Until the transaction's end; none: not known.
    pub local: Option<bool>,
    /// To what.
    pub value: SettingValue,
}

/// What a setting is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingValue {
    /// Its default.
    Default,
    /// This, as SHOW would print a list of one.
    Text(Box<str>),
    /// What is bound to this parameter.
    Bound(u32),
}

/// Which transaction control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum TransactionEffect {
    Begin,
    /// COMMIT, and what a failed transaction still accepts.
    Commit,
    Rollback,
    Savepoint,
    Release,
    RollbackTo,
    Characteristics,
}

/// A token in the text that names a prepared statement or a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameUse {
    /// The token's bytes in the client's text.
    pub span: Range<usize>,
    /// Which name space.
    pub space: NameSpace,
    /// The name as PostgreSQL sees it.
    pub name: Box<str>,
}

/// The two name spaces that wire and SQL share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameSpace {
    /// Prepared statements.
    Statement,
    /// Cursors and portals.
    Cursor,
}
