//! Statement kinds: what a role's `statements:` lists (contracts 9, the whole list).

use std::fmt;

/// A kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum Kind {
    Select,
    Insert,
    Update,
    Delete,
    Merge,
    Transaction,
    Set,
    Show,
    Prepare,
    Cursor,
    CopyTo,
    CopyFrom,
    Call,
    Ddl,
    Temp,
    Listen,
    Lock,
    Maintenance,
    Grant,
}

impl Kind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Kind; 19] = [
        Kind::Select,
        Kind::Insert,
        Kind::Update,
        Kind::Delete,
        Kind::Merge,
        Kind::Transaction,
        Kind::Set,
        Kind::Show,
        Kind::Prepare,
        Kind::Cursor,
        Kind::CopyTo,
        Kind::CopyFrom,
        Kind::Call,
        Kind::Ddl,
        Kind::Temp,
        Kind::Listen,
        Kind::Lock,
        Kind::Maintenance,
        Kind::Grant,
    ];

    /// The kind's name in a policy file.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Select => "select",
            Kind::Insert => "insert",
            Kind::Update => "update",
            Kind::Delete => "delete",
            Kind::Merge => "merge",
            Kind::Transaction => "transaction",
            Kind::Set => "set",
            Kind::Show => "show",
            Kind::Prepare => "prepare",
            Kind::Cursor => "cursor",
            Kind::CopyTo => "copy_to",
            Kind::CopyFrom => "copy_from",
            Kind::Call => "call",
            Kind::Ddl => "ddl",
            Kind::Temp => "temp",
            Kind::Listen => "listen",
            Kind::Lock => "lock",
            Kind::Maintenance => "maintenance",
            Kind::Grant => "grant",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
