//! Why a statement passes or not, relation by relation: the judgement, and what its proof of
//! tenancy rests on. For people; nothing is decided from it.

use crate::catalog::{QualifiedName, RelationKind, is_builtin_schema};
use crate::judge::judge_explained;
use crate::policy::Entry;
use crate::rules::Context;
use crate::{Catalog, Judgement, Mode, Names, Policy, Principal};

/// A judgement and what it rests on.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The judgement, as [`crate::judge`] gives it.
    pub judgement: Judgement,
    /// For each of its statements, the relations that it reaches, in the order of the text.
    pub statements: Vec<Vec<Reached>>,
    /// How many steps the proofs of tenancy took: conditions that were read and facts that were carried.
    /// The same on every machine, so that a test can hold how they grow with the text.
    pub steps: usize,
}

/// A relation that a statement reaches, by name or inside a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The relation.
    pub relation: QualifiedName,
    /// How the statement, or the view, refers to it.
    pub called: Option<Box<str>>,
    /// Where in the client's text, in bytes; inside a view, where the view is named.
    pub at: Option<u32>,
    /// A view's definition names it, not the statement.
    pub in_view: bool,
    /// What tenancy says of it.
    pub standing: Standing,
}

/// What tenancy says of a relation at one place of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Every row that counts is the tenant's.
    Restricted {
        /// Where the condition stands, in bytes: the first, where several are needed.
        condition: Option<u32>,
        /// `$n` whose values it needs.
        params: Vec<u32>,
    },
    /// The rows that are written are the tenant's.
    Written,
    /// Nothing says whose rows count, or the rows that are written are not the tenant's.
    Unrestricted {
        /// The smallest change that would pass.
        missing: Option<String>,
    },
    /// The tenant has no rows there: the policy maps no value for it.
    NoValue,
    /// No row of it is used (`WHERE false`).
    Unused,
    /// It was not looked at: the statement is refused for another reason.
    NotJudged,
    /// The same for every tenant.
    Shared,
    /// A view: what it reaches counts.
    View,
    /// Of the system catalogs.
    System,
    /// No line of `tenancy.tables` is about it: out of reach of tenants.
    NoRule,
    /// The role is exempt from tenancy.
    Exempt,
}

/// Judges a text as [`crate::judge`] does, and says what the verdict rests on.
///
/// The thread needs a stack of [`crate::STACK_BYTES`].
pub fn explain(
    text: &str,
    mode: Mode<'_>,
    principal: &Principal,
    policy: &Policy,
    catalog: &Catalog,
    names: &dyn Names,
) -> Explanation {
    judge_explained(text, mode, principal, policy, catalog, names)
}

/// The relations of a judged statement: what the proof said of some, and all others. `denied`: it
/// is refused.
pub(crate) fn reached(cx: &Context<'_, '_>, proven: Vec<Reached>, denied: bool) -> Vec<Reached> {
    let mut all = proven;
    for used in &cx.bound.uses.relations {
        let name = &used.relation.name;
        let said = |reached: &Reached| reached.relation == *name && reached.at == used.at;
        if all.iter().any(said) {
            continue;
        }
        let standing = match cx.policy().entry(&name.schema, &name.name) {
            _ if is_builtin_schema(&name.schema) => Standing::System,
            _ if cx.tenant.is_none() => Standing::Exempt,
            _ if used.relation.kind == RelationKind::View => Standing::View,
            Some(Entry::Shared) => Standing::Shared,
            Some(Entry::Scoped { .. }) if denied => Standing::NotJudged,
            Some(Entry::Scoped { .. }) => Standing::Unused,
            None => Standing::NoRule,
        };
        let (relation, at, in_view) = (name.clone(), used.at, used.in_view);
        all.push(Reached { relation, called: None, at, in_view, standing });
    }
    for reached in &mut all {
        let in_view = |used: &crate::resolve::RelationUse<'_>| {
            used.in_view && used.at == reached.at && used.relation.name == reached.relation
        };
        reached.in_view |= cx.bound.uses.relations.iter().any(in_view);
    }
    // A place that is looked at more than once, from each of a CTE's references, stands once: with
    // the worst that was said of it.
    let bad = |reached: &Reached| !matches!(reached.standing, Standing::Unrestricted { .. });
    all.sort_by(|a, b| (a.at, &a.relation, &a.called, bad(a)).cmp(&(b.at, &b.relation, &b.called, bad(b))));
    all.dedup_by(|a, b| (a.at, &a.relation, &a.called) == (b.at, &b.relation, &b.called));
    all
}
