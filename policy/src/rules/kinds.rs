//! Statement kinds against the role's list (policy 4.3).

use super::Context;
use crate::ir::At;
use crate::policy::Role;
use crate::{Code, Denial, Kind, Rule};

/// Judges the statement's own kind and those of what stands in it.
pub(super) fn judge(cx: &Context<'_, '_>, root: Option<(Kind, At)>, denials: &mut Vec<Denial>) {
    for (kind, at) in root.iter().chain(&cx.bound.uses.kinds) {
        check(cx.role, *kind, *at, denials);
    }
}

/// Judges one kind.
pub(crate) fn check(role: &Role, kind: Kind, at: At, denials: &mut Vec<Denial>) {
    if role.kinds.contains(kind) {
        return;
    }
    let said = |denial: &Denial| {
        denial.rule == Rule::Kind && denial.code == Code::StatementNotAllowed && denial.at == at
    };
    if denials.iter().any(said) {
        return;
    }
    denials.push(
        Denial::new(
            Rule::Kind,
            Code::StatementNotAllowed,
            at,
            format!("statements of kind {kind} are not allowed to role \"{}\"", role.name),
        )
        .hint(format!("the role's statements: would have to list {kind}")),
    );
}
