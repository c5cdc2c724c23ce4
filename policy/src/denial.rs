//! Why a statement is refused.
//!
//! A denial is not an error (design: errors by blame): it is an answer, with a stable code, a
//! place in the text and the smallest change that would pass (policy 5).

use std::fmt;

/// A denial's stable code (policy 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The text is not SQL; PostgreSQL's own message and 42601.
    SyntaxError,
    /// `statement_not_allowed`.
    StatementNotAllowed,
    /// `relation_not_allowed`.
    RelationNotAllowed,
    /// `relation_unknown`.
    RelationUnknown,
    /// `column_not_allowed`.
    ColumnNotAllowed,
    /// `column_unknown`.
    ColumnUnknown,
    /// `masked_column_use`.
    MaskedColumnUse,
    /// `function_not_allowed`.
    FunctionNotAllowed,
    /// `function_unknown`.
    FunctionUnknown,
    /// `operator_not_allowed`.
    OperatorNotAllowed,
    /// `type_not_allowed`.
    TypeNotAllowed,
    /// `type_unknown`.
    TypeUnknown,
    /// `setting_not_allowed`.
    SettingNotAllowed,
    /// `parameter_unbound`.
    ParameterUnbound,
    /// `name_unknown`: a prepared statement or cursor that this client does not have.
    NameUnknown,
    /// `catalog_not_allowed`.
    CatalogNotAllowed,
    /// `tenant_unproven`.
    TenantUnproven,
    /// `tenant_mismatch`.
    TenantMismatch,
    /// `tenant_column_write`.
    TenantColumnWrite,
    /// `limit_<name>`.
    Limit(LimitName),
    /// `unsupported`.
    Unsupported,
    /// `text_rule`.
    TextRule,
    /// `signature`.
    Signature,
    /// `budget_<name>`.
    Budget(&'static str),
    /// `ambiguous`.
    Ambiguous,
}

/// The limits of policy 2, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is a key of the policy's `limits:`")]
pub enum LimitName {
    StatementBytes,
    Statements,
    Depth,
    Relations,
    InList,
    InsertRows,
    SetOperations,
    Conditions,
    Parameters,
    ConflictRows,
}

impl LimitName {
    /// The limit's key in a policy file.
    pub const fn name(self) -> &'static str {
        match self {
            LimitName::StatementBytes => "statement_bytes",
            LimitName::Statements => "statements",
            LimitName::Depth => "depth",
            LimitName::Relations => "relations",
            LimitName::InList => "in_list",
            LimitName::InsertRows => "insert_rows",
            LimitName::SetOperations => "set_operations",
            LimitName::Conditions => "conditions",
            LimitName::Parameters => "parameters",
            LimitName::ConflictRows => "conflict_rows",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Code::SyntaxError => "syntax_error",
            Code::StatementNotAllowed => "statement_not_allowed",
            Code::RelationNotAllowed => "relation_not_allowed",
            Code::RelationUnknown => "relation_unknown",
            Code::ColumnNotAllowed => "column_not_allowed",
            Code::ColumnUnknown => "column_unknown",
            Code::MaskedColumnUse => "masked_column_use",
            Code::FunctionNotAllowed => "function_not_allowed",
            Code::FunctionUnknown => "function_unknown",
            Code::OperatorNotAllowed => "operator_not_allowed",
            Code::TypeNotAllowed => "type_not_allowed",
            Code::TypeUnknown => "type_unknown",
            Code::SettingNotAllowed => "setting_not_allowed",
            Code::ParameterUnbound => "parameter_unbound",
            Code::NameUnknown => "name_unknown",
            Code::CatalogNotAllowed => "catalog_not_allowed",
            Code::TenantUnproven => "tenant_unproven",
            Code::TenantMismatch => "tenant_mismatch",
            Code::TenantColumnWrite => "tenant_column_write",
            Code::Limit(limit) => return write!(f, "limit_{}", limit.name()),
            Code::Unsupported => "unsupported",
            Code::TextRule => "text_rule",
            Code::Signature => "signature",
            Code::Budget(name) => return write!(f, "budget_{name}"),
            Code::Ambiguous => "ambiguous",
        })
    }
}

/// The order in which the rules are judged (policy 4): the wire answers with the first denial by
/// rule, then by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the headings of policy 4")]
pub enum Rule {
    LimitsBeforeParse,
    Syntax,
    LimitsAfterParse,
    Kind,
    Relations,
    Columns,
    Functions,
    Settings,
    Tenancy,
    Text,
}

/// PostgreSQL's five-character error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SqlState(pub &'static str);

impl SqlState {
    /// 42501: every policy denial.
    pub const INSUFFICIENT_PRIVILEGE: SqlState = SqlState("42501");
    /// 42601.
    pub const SYNTAX_ERROR: SqlState = SqlState("42601");
    /// 42P01.
    pub const UNDEFINED_TABLE: SqlState = SqlState("42P01");
    /// 42703.
    pub const UNDEFINED_COLUMN: SqlState = SqlState("42703");
    /// 42883: a function or an operator.
    pub const UNDEFINED_FUNCTION: SqlState = SqlState("42883");
    /// 42704: a type, a setting.
    pub const UNDEFINED_OBJECT: SqlState = SqlState("42704");
    /// 42P02.
    pub const UNDEFINED_PARAMETER: SqlState = SqlState("42P02");
    /// 26000.
    pub const INVALID_STATEMENT_NAME: SqlState = SqlState("26000");
    /// 34000.
    pub const INVALID_CURSOR_NAME: SqlState = SqlState("34000");
    /// 53400.
    pub const CONFIGURATION_LIMIT_EXCEEDED: SqlState = SqlState("53400");
}

/// The object that a denial is about, for the error's `schema`, `table` and `column` fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields' own names")]
pub struct Object {
    pub schema: Option<String>,
    pub table: Option<String>,
    pub column: Option<String>,
}

/// One reason to refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The rule that says no.
    pub rule: Rule,
    /// The stable code.
    pub code: Code,
    /// What PostgreSQL's error carries.
    pub sqlstate: SqlState,
    /// Where in the client's text, in bytes from its start.
    pub at: Option<u32>,
    /// One sentence, lower case, no full stop, names what is refused.
    pub message: String,
    /// The smallest change that would pass; never names an object out of reach.
    pub hint: Option<String>,
    /// What it is about.
    pub object: Object,
}

impl Denial {
    /// A policy denial: 42501 without a hint or an object.
    pub fn new(rule: Rule, code: Code, at: Option<u32>, message: impl Into<String>) -> Denial {
        Denial {
            rule,
            code,
            sqlstate: SqlState::INSUFFICIENT_PRIVILEGE,
            at,
            message: message.into(),
            hint: None,
            object: Object::default(),
        }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Denial {
        self.hint = Some(hint.into());
        self
    }

    /// The same with another SQLSTATE.
    #[must_use]
    pub fn sqlstate(mut self, sqlstate: SqlState) -> Denial {
        self.sqlstate = sqlstate;
        self
    }

    /// The same with the object's names.
    #[must_use]
    pub fn object(mut self, object: Object) -> Denial {
        self.object = object;
        self
    }
}

/// All reasons to refuse one statement: at least one, sorted by rule, then by position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denials(Vec<Denial>);

impl Denials {
    /// The denials in their order; none where there is nothing to refuse.
    pub fn new(mut denials: Vec<Denial>) -> Option<Denials> {
        denials.sort_by_key(|denial| (denial.rule, denial.at.unwrap_or(u32::MAX)));
        (!denials.is_empty()).then_some(Denials(denials))
    }

    /// Exactly one reason.
    pub fn one(denial: Denial) -> Denials {
        Denials(vec![denial])
    }

    /// The one that the wire answers with.
    pub fn first(&self) -> &Denial {
        #[expect(clippy::indexing_slicing, reason = "both makers put at least one in")]
        &self.0[0]
    }

    /// Every one, for `verify --explain`.
    pub fn all(&self) -> &[Denial] {
        &self.0
    }
}
