//! Types.

use std::sync::Arc;

use crate::Family;

use super::QualifiedName;

/// A type's identity within one catalog: its oid. Types of `pg_catalog` have the same one in every
/// database; `information_schema`'s domains, whose oids initdb deals out, have ones of ours from
/// [`TypeId::OWN`] up, where PostgreSQL gives out none in practice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

#[expect(missing_docs, reason = "each is pg_catalog's type of that name")]
impl TypeId {
    /// Not known: proves nothing, and excludes nothing.
    pub const NONE: TypeId = TypeId(0);
    /// The first id of those that are dealt out here.
    pub const OWN: u32 = 0xffff_ff00;

    pub const BOOL: TypeId = TypeId(16);
    pub const BYTEA: TypeId = TypeId(17);
    pub const CHAR: TypeId = TypeId(18);
    pub const NAME: TypeId = TypeId(19);
    pub const INT8: TypeId = TypeId(20);
    pub const INT2: TypeId = TypeId(21);
    pub const INT4: TypeId = TypeId(23);
    pub const TEXT: TypeId = TypeId(25);
    pub const OID: TypeId = TypeId(26);
    pub const JSON: TypeId = TypeId(114);
    pub const XML: TypeId = TypeId(142);
    pub const FLOAT4: TypeId = TypeId(700);
    pub const FLOAT8: TypeId = TypeId(701);
    pub const UNKNOWN: TypeId = TypeId(705);
    pub const TEXT_ARRAY: TypeId = TypeId(1009);
    pub const BPCHAR: TypeId = TypeId(1042);
    pub const VARCHAR: TypeId = TypeId(1043);
    pub const DATE: TypeId = TypeId(1082);
    pub const TIME: TypeId = TypeId(1083);
    pub const TIMESTAMP: TypeId = TypeId(1114);
    pub const TIMESTAMPTZ: TypeId = TypeId(1184);
    pub const INTERVAL: TypeId = TypeId(1186);
    pub const TIMETZ: TypeId = TypeId(1266);
    pub const BIT: TypeId = TypeId(1560);
    pub const VARBIT: TypeId = TypeId(1562);
    pub const NUMERIC: TypeId = TypeId(1700);
    pub const REGCLASS: TypeId = TypeId(2205);
    pub const RECORD: TypeId = TypeId(2249);
    pub const ANY: TypeId = TypeId(2276);
    pub const ANYARRAY: TypeId = TypeId(2277);
    pub const VOID: TypeId = TypeId(2278);
    pub const ANYELEMENT: TypeId = TypeId(2283);
    pub const ANYNONARRAY: TypeId = TypeId(2776);
    pub const RECORD_ARRAY: TypeId = TypeId(2287);
    pub const UUID: TypeId = TypeId(2950);
    pub const ANYENUM: TypeId = TypeId(3500);
    pub const JSONB: TypeId = TypeId(3802);
    pub const ANYRANGE: TypeId = TypeId(3831);
    pub const ANYMULTIRANGE: TypeId = TypeId(4537);
    pub const ANYCOMPATIBLEMULTIRANGE: TypeId = TypeId(4538);
    pub const ANYCOMPATIBLE: TypeId = TypeId(5077);
    pub const ANYCOMPATIBLEARRAY: TypeId = TypeId(5078);
    pub const ANYCOMPATIBLENONARRAY: TypeId = TypeId(5079);
    pub const ANYCOMPATIBLERANGE: TypeId = TypeId(5080);

    /// Whether a parameter declared so takes an argument of more than one type.
    pub const fn is_polymorphic(self) -> bool {
        matches!(
            self,
            TypeId::ANY
                | TypeId::ANYARRAY
                | TypeId::ANYELEMENT
                | TypeId::ANYNONARRAY
                | TypeId::ANYENUM
                | TypeId::ANYRANGE
                | TypeId::ANYMULTIRANGE
                | TypeId::ANYCOMPATIBLE
                | TypeId::ANYCOMPATIBLEARRAY
                | TypeId::ANYCOMPATIBLENONARRAY
                | TypeId::ANYCOMPATIBLERANGE
                | TypeId::ANYCOMPATIBLEMULTIRANGE
        )
    }
}

/// A type, built in or not.
#[derive(Debug, Clone)]
pub struct Type {
    /// Its identity.
    pub id: TypeId,
    /// Its name.
    pub name: QualifiedName,
    /// What it is made of.
    pub kind: TypeKind,
    /// Which types it compares with as one value space.
    pub family: Family,
    /// Where a statement may write it (policy 4.6).
    pub allowance: Allowance,
    /// PostgreSQL's category letter (`pg_type.typcategory`) of a built-in type; none for others.
    pub category: Option<char>,
    /// The array type over it, where it is known.
    pub array: Option<TypeId>,
}

/// What a type is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeKind {
    /// By input and output functions alone.
    Base,
    /// An array (the fixed-length vectors of the catalogs are base types).
    Array {
        /// Of what.
        element: TypeId,
    },
    /// A domain.
    Domain {
        /// Over what; may be a domain itself.
        base: TypeId,
        /// The length and the like that it adds; -1: none.
        typmod: i32,
        /// NOT NULL.
        not_null: bool,
        /// Its own checks (the base domain's are the base's).
        checks: Box<[super::Check]>,
    },
    /// An enum.
    Enum,
    /// A row type.
    Composite {
        /// The relation whose rows these are; none for CREATE TYPE … AS.
        relation: Option<QualifiedName>,
    },
    /// A range.
    Range {
        /// Of what.
        subtype: TypeId,
    },
    /// A multirange.
    Multirange {
        /// Of what (the range's subtype).
        subtype: TypeId,
    },
    /// A pseudo-type (`record`, `anyelement`, `internal`, …).
    Pseudo,
}

impl TypeKind {
    /// What an array holds.
    pub fn element(&self) -> Option<TypeId> {
        match self {
            TypeKind::Array { element } => Some(*element),
            TypeKind::Base
            | TypeKind::Domain { .. }
            | TypeKind::Enum
            | TypeKind::Composite { .. }
            | TypeKind::Range { .. }
            | TypeKind::Multirange { .. }
            | TypeKind::Pseudo => None,
        }
    }

    /// What a domain is over.
    pub fn base(&self) -> Option<TypeId> {
        match self {
            TypeKind::Domain { base, .. } => Some(*base),
            TypeKind::Base
            | TypeKind::Array { .. }
            | TypeKind::Enum
            | TypeKind::Composite { .. }
            | TypeKind::Range { .. }
            | TypeKind::Multirange { .. }
            | TypeKind::Pseudo => None,
        }
    }
}

/// Where a statement may write a type's name: as a cast's target, in a column definition list.
/// Columns of an allowed relation may have any type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Allowance {
    /// Anywhere.
    Allowed,
    /// A name in disguise (regclass and kin): where policy 4.6's rule on `reg*` says.
    Reg,
    /// Nowhere: it reaches an object, another session or the server's internals.
    Denied,
    /// A type with functions of its own outside `pg_catalog`: only if the role is allowed a
    /// function of the type's own name.
    ByFunction,
}

/// A CHECK of a relation or domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: Arc<str>,
    /// Its text, `CHECK (…)`.
    pub expression: Box<str>,
    /// What it calls outside built-in `pg_catalog`.
    pub functions: Box<[QualifiedName]>,
}
