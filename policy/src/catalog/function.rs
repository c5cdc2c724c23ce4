//! Functions, operators and casts.

use std::sync::Arc;

use super::{Listing, QualifiedName, TypeId};

/// One signature of a function, built in or not.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name.
    pub name: QualifiedName,
    /// The input arguments in order. A variadic one is last and has the array type.
    pub args: Box<[Argument]>,
    /// How many trailing arguments have a default.
    pub defaults: usize,
    /// Whether the last argument is VARIADIC; `"any"` then stands for any number of any type.
    pub variadic: bool,
    /// The output columns where there is more than one, or a named one (OUT, INOUT, TABLE).
    pub columns: Box<[Argument]>,
    /// What it returns (of a set: of each row).
    pub returns: TypeId,
    /// SETOF.
    pub returns_set: bool,
    /// What it is.
    pub kind: FunctionKind,
    /// How its result depends on more than its arguments.
    pub volatility: Volatility,
    /// PARALLEL SAFE: by its own word it changes no state of the session, and asks for none that others have not. Not
    /// told of what is built in.
    pub parallel_safe: bool,
    /// NULL in, NULL out.
    pub strict: bool,
    /// Runs with its owner's rights.
    pub security_definer: bool,
    /// Which compiled list has it.
    pub listing: Listing,
    /// What else must hold for a call of it.
    pub rule: CallRule,
}

impl Function {
    /// Whether a call with that many arguments, VARIADIC not written, can mean it (PostgreSQL's
    /// `FuncnameGetCandidates`): defaults fill up, a variadic array takes one argument or more.
    pub fn takes(&self, count: usize) -> bool {
        let most = self.args.len();
        count.saturating_add(self.defaults) >= most && (count <= most || self.variadic)
    }
}

/// An argument or an output column of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name, where it has one.
    pub name: Option<Arc<str>>,
    /// Its type.
    pub ty: TypeId,
}

/// What a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum FunctionKind {
    Plain,
    Aggregate,
    Window,
    Procedure,
}

/// How a function's result depends on more than its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum Volatility {
    Immutable,
    Stable,
    Volatile,
}

/// What must hold for a call beside the function's being allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallRule {
    /// Nothing.
    Plain,
    /// nextval: its places and its sequence (policy 3.10, 4.6).
    Nextval,
    /// random and random_normal: their places (policy 3.10).
    Random,
    /// set_config: its place and the settings rule (policy 3.10, 4.7).
    SetConfig,
    /// current_setting: the settings rule (policy 4.7).
    CurrentSetting,
    /// pg_advisory_unlock_all: letting go, allowed to every role (policy 4.7).
    LettingGo,
}

/// One signature of an operator, built in or not.
#[derive(Debug, Clone)]
pub struct Operator {
    /// Its name.
    pub name: QualifiedName,
    /// The left operand's type; none for a prefix operator.
    pub left: Option<TypeId>,
    /// The right operand's type.
    pub right: TypeId,
    /// The result's.
    pub result: TypeId,
    /// The function that it calls.
    pub function: QualifiedName,
    /// Which compiled list has it.
    pub listing: Listing,
}

/// A cast that somebody created.
#[derive(Debug, Clone)]
pub struct Cast {
    /// From.
    pub source: TypeId,
    /// To.
    pub target: TypeId,
    /// When PostgreSQL applies it unasked.
    pub context: CastContext,
    /// How.
    pub method: CastMethod,
}

/// When PostgreSQL applies a cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum CastContext {
    Explicit,
    Assignment,
    Implicit,
}

/// How a cast is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CastMethod {
    /// By this function.
    Function(QualifiedName),
    /// By output and input functions.
    InOut,
    /// The bytes are the same.
    Binary,
}
