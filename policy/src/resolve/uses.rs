//! What a statement uses, as flat lists: most rules read these, and a rule that reads a list
//! cannot forget a clause. Everything that the resolver binds is entered here, wherever it stands.

use std::rc::Rc;

use crate::Kind;
use crate::catalog::{Function, Operator, Relation, Type, TypeId};
use crate::ir::{At, Const, Path};

/// The lists.
#[derive(Debug, Default)]
pub(crate) struct Uses<'c> {
    pub(crate) kinds: Vec<(Kind, At)>,
    pub(crate) relations: Vec<RelationUse<'c>>,
    pub(crate) columns: Vec<ColumnUse<'c>>,
    pub(crate) functions: Vec<FunctionUse<'c>>,
    pub(crate) operators: Vec<OperatorUse<'c>>,
    pub(crate) types: Vec<TypeUse<'c>>,
    pub(crate) params: Vec<ParamUse>,
}

/// A relation, by its own name or inside a view.
#[derive(Debug)]
pub(crate) struct RelationUse<'c> {
    pub(crate) relation: &'c Relation,
    pub(crate) access: Access,
    /// A view's definition names it, not the statement.
    pub(crate) in_view: bool,
    /// Under TABLESAMPLE: which rows are seen depends on where all rows lie.
    pub(crate) sampled: bool,
    pub(crate) at: At,
}

/// What is done to a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write(Kind),
    /// FOR UPDATE, FOR SHARE and kin.
    Lock,
}

/// A column of a relation that is read or written, anywhere.
#[derive(Debug)]
pub(crate) struct ColumnUse<'c> {
    pub(crate) relation: &'c Relation,
    pub(crate) column: UsedColumn,
    pub(crate) at: At,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsedColumn {
    /// By its place.
    At(u32),
    System(&'static str),
    /// Every column at once.
    WholeRow,
}

/// A function by name, with every signature that the call can mean.
#[derive(Debug)]
pub(crate) struct FunctionUse<'c> {
    pub(crate) path: Path,
    pub(crate) candidates: Vec<&'c Function>,
    /// What the arguments are.
    pub(crate) args: Vec<Arg>,
    pub(crate) place: Place,
    pub(crate) in_view: bool,
    /// Attribute notation, or a single whole row: where no function matches, it reads a field.
    pub(crate) field: bool,
}

/// An argument, as far as rules about calls look at it.
#[derive(Debug, Clone)]
pub(crate) struct Arg {
    pub(crate) ty: TypeId,
    pub(crate) value: ArgValue,
}

#[derive(Debug, Clone)]
pub(crate) enum ArgValue {
    /// A constant, possibly cast to text or a name's identity without a length: its text is the
    /// argument's.
    Const(Const),
    Param(u32),
    /// An oid-like column of a catalog.
    CatalogColumn,
    Tableoid,
    Other,
}

/// Where a call stands, for those that count rows (policy 3.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) clause: Clause,
    /// No query level encloses the one that it stands in.
    pub(crate) outermost: bool,
    /// The call is the whole output column.
    pub(crate) whole: bool,
}

/// The clauses that policy 3.10 tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    Target,
    OrderBy,
    /// VALUES and DEFAULTs of an INSERT.
    InsertValues,
    /// SET of an UPDATE or upsert.
    Set,
    Elsewhere,
}

/// An operator by name, with every signature that it can mean.
#[derive(Debug)]
pub(crate) struct OperatorUse<'c> {
    pub(crate) path: Path,
    pub(crate) candidates: Rc<[&'c Operator]>,
    pub(crate) left: Option<TypeId>,
    pub(crate) right: TypeId,
    pub(crate) at: At,
}

/// A type that the statement writes.
#[derive(Debug)]
pub(crate) struct TypeUse<'c> {
    pub(crate) path: Path,
    /// None: there is no such type.
    pub(crate) ty: Option<&'c Type>,
    /// It is the row type of a built-in catalog.
    pub(crate) catalog_row: bool,
    /// What is cast; none in a column definition list.
    pub(crate) arg: Option<ArgValue>,
    /// Its type; NONE where it is not known, and in a column definition list.
    pub(crate) from: TypeId,
}

/// A `$n`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParamUse {
    pub(crate) number: u32,
    pub(crate) at: At,
    /// The type that it is directly cast to, without a length.
    pub(crate) cast: Option<TypeId>,
    /// Else the type of what it is compared with or assigned to (an array's elements with), which
    /// PostgreSQL gives it.
    pub(crate) meets: Option<TypeId>,
}
