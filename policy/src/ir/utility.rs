//! Statements that are neither queries nor changes of rows.

use std::ops::Range;

use super::{Body, Const, Expr, Name, Path, Query, RelationRef, TypeRef};
use crate::Kind;

/// A utility statement.
#[derive(Debug, Clone)]
pub enum Utility {
    /// No statement at all: an empty text, `;`, a comment.
    Empty,
    /// BEGIN, COMMIT and kin.
    Transaction(Transaction),
    /// SET, RESET, SET LOCAL.
    Set(Set),
    /// SHOW name; `all` is SHOW ALL.
    Show {
        /// The setting.
        name: Name,
    },
    /// SET CONSTRAINTS …
    SetConstraints,
    /// DISCARD ALL, PLANS, SEQUENCES, TEMP.
    Discard(Discard),
    /// PREPARE name (types) AS statement.
    Prepare {
        /// The name and where its token stands.
        name: NameToken,
        /// The declared parameter types.
        types: Vec<TypeRef>,
        /// What is prepared.
        body: Box<Body>,
    },
    /// EXECUTE name (arguments).
    Execute {
        /// The name and where its token stands.
        name: NameToken,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// DEALLOCATE name; none: ALL.
    Deallocate {
        /// The name and where its token stands.
        name: Option<NameToken>,
    },
    /// DECLARE name CURSOR FOR query.
    Declare {
        /// The name and where its token stands.
        name: NameToken,
        /// WITH HOLD.
        hold: bool,
        /// BINARY: rows come in binary format.
        binary: bool,
        /// The query.
        query: Box<Query>,
    },
    /// FETCH, MOVE.
    Fetch {
        /// The cursor's name and where its token stands.
        name: NameToken,
        /// MOVE: no rows come back.
        is_move: bool,
    },
    /// CLOSE name; none: ALL.
    Close {
        /// The cursor's name and where its token stands.
        name: Option<NameToken>,
    },
    /// COPY.
    Copy(Copy),
    /// EXPLAIN.
    Explain {
        /// ANALYZE, in any spelling that turns it on.
        analyze: bool,
        /// What is explained.
        body: Box<Body>,
    },
    /// UNLISTEN name; none: `*`.
    Unlisten {
        /// The channel.
        channel: Option<Name>,
    },
    /// Any other statement: judged by its kind alone, and denied to every role that does not
    /// list the kind (or, with none, to every role that is not `unrestricted`).
    Other {
        /// The kind it belongs to, if a role may list it.
        kind: Option<Kind>,
        /// In SQL's words, as PostgreSQL's command tag says it ("CREATE TABLE").
        what: &'static str,
        /// Relations that it names (LOCK TABLE, TRUNCATE, VACUUM …).
        relations: Vec<RelationRef>,
        /// A procedure that it calls.
        call: Option<Box<Expr>>,
        /// It holds a query or expressions that are not kept here (CREATE VIEW, CREATE TABLE …
        /// AS, DEFAULT, USING, a function's body): nobody can say what it reads or calls, so a
        /// role that is bound by more than its kinds must not run it.
        opaque: bool,
    },
}

/// A name in the text that the wire layer may have to replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameToken {
    /// The name as PostgreSQL sees it.
    pub name: Name,
    /// The token's bytes in the client's text, quotes included; none where it was not found
    /// (then the statement is denied).
    pub span: Option<Range<usize>>,
}

/// Transaction control.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum Transaction {
    Begin,
    Commit {
        chain: bool,
    },
    Rollback {
        chain: bool,
    },
    Savepoint(Name),
    Release(Name),
    RollbackTo(Name),
    /// PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED: never below `unrestricted`.
    TwoPhase,
}

/// SET and RESET of one setting.
#[derive(Debug, Clone)]
pub struct Set {
    /// SESSION or LOCAL.
    pub local: bool,
    /// What is set to what.
    pub action: SetAction,
}

/// What SET or RESET does.
#[derive(Debug, Clone)]
pub enum SetAction {
    /// SET name = values. TIME ZONE, NAMES, ROLE, SESSION AUTHORIZATION, XML OPTION, SEED come
    /// as the settings that they are (`timezone`, `client_encoding`, `role`, …); TRANSACTION and
    /// SESSION CHARACTERISTICS as `Transaction`.
    To {
        /// The setting's name, as written (settings' names fold case when compared).
        name: Name,
        /// The values as a list, each decoded; `SET TIME ZONE INTERVAL '…'` as the text that
        /// PostgreSQL keeps (`INTERVAL '+02:00'`).
        values: Vec<Const>,
    },
    /// SET name TO DEFAULT, RESET name.
    Default(Name),
    /// RESET ALL.
    ResetAll,
    /// SET TRANSACTION …, SET SESSION CHARACTERISTICS AS TRANSACTION …
    TransactionCharacteristics,
    /// SET TRANSACTION SNAPSHOT.
    Snapshot,
    /// SET name FROM CURRENT.
    FromCurrent(Name),
}

/// DISCARD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum Discard {
    All,
    Plans,
    Sequences,
    Temp,
}

/// COPY.
#[derive(Debug, Clone)]
pub struct Copy {
    /// What is copied.
    pub what: CopyWhat,
    /// FROM: into the database.
    pub from: bool,
    /// Where to or from.
    pub channel: CopyChannel,
    /// FORMAT binary.
    pub binary: bool,
    /// COPY … FROM … WHERE.
    pub filter: Option<Expr>,
}

/// What COPY copies.
#[derive(Debug, Clone)]
pub enum CopyWhat {
    /// A table and its columns.
    Table(RelationRef, Vec<Name>),
    /// A statement (query or DML with RETURNING).
    Statement(Box<Body>),
}

/// COPY's other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyChannel {
    /// STDIN, STDOUT: the wire.
    Wire,
    /// A file of the server's.
    File,
    /// A program on the server.
    Program,
}

/// A path and where it stands: used by rules that name objects of utility statements.
pub type Object = Path;
