//! COPY, EXPLAIN, and statements that are judged by their kind alone.

use super::statement::{Findings, Judge, merge, never, select_of};
use crate::ir::{self, At, Body, CopyChannel, CopyWhat, Expr};
use crate::policy::ExplainRule;
use crate::resolve::Declared;
use crate::{Code, Denial, Effect, Kind, Rule};

impl Judge<'_, '_, '_> {
    pub(super) fn copy(&mut self, copy: &ir::Copy, at: At) -> Findings {
        let kind = if copy.from { Kind::CopyFrom } else { Kind::CopyTo };
        let mut findings = self.kind(kind, at);
        match copy.channel {
            CopyChannel::Wire => {}
            CopyChannel::File => findings.deny(never(at, "COPY from or to a file")),
            CopyChannel::Program => findings.deny(never(at, "COPY from or to a program")),
        }
        let unsupported =
            |what: &str| Denial::new(Rule::Kind, Code::Unsupported, at, format!("{what} is not supported"));
        if copy.binary && self.world.role.rows.is_some() {
            findings.deny(unsupported("binary COPY for a role with a row cap"));
        }
        if copy.from {
            findings.deny(unsupported("COPY FROM").hint("write the rows with INSERT INTO … VALUES"));
            findings.effect = Some(Effect::CopyIn);
            return findings;
        }
        let declared = Declared::of(self.mode);
        let inner = match &copy.what {
            CopyWhat::Statement(body) => self.inner_rows(body, &declared, None),
            // COPY table TO is a query over the table's own rows.
            CopyWhat::Table(relation, columns) => {
                let targets = copied(columns, relation.path.at);
                let relation =
                    ir::RelationRef { only: true, alias: None, path: relation.path.clone(), sample: None };
                let from = vec![ir::From::Relation(relation)];
                let query = select_of(targets, from, at);
                let mut inner = self.inner_rows(&Body::Query(Box::new(query)), &declared, None);
                hint_instead(&mut inner.denials, Some("copy a query: COPY (SELECT … WHERE …) TO STDOUT"));
                inner
            }
        };
        if !inner.masks.is_empty() {
            findings.deny(unsupported("COPY of a masked column"));
        }
        merge(&mut findings.found, inner);
        findings.effect = Some(Effect::CopyOut { binary: copy.binary });
        findings
    }

    pub(super) fn explain(&mut self, analyze: bool, body: &Body, span: &std::ops::Range<usize>) -> Findings {
        let at = u32::try_from(span.start).ok();
        let mut findings = self.body(body, span);
        // Its own rows come back, not the statement's.
        findings.found.masks.clear();
        if findings.effect.take().is_some_and(|effect| effect != Effect::None) {
            findings.deny(Denial::new(
                Rule::Kind,
                Code::Unsupported,
                at,
                "EXPLAIN of a statement that changes the session is not supported",
            ));
        }
        let allowed = match self.world.role.explain {
            ExplainRule::Deny => false,
            ExplainRule::Plain => !analyze,
            ExplainRule::Analyze => true,
        };
        if !allowed {
            let what = if analyze { "EXPLAIN ANALYZE" } else { "EXPLAIN" };
            findings.deny(Denial::new(
                Rule::Kind,
                Code::StatementNotAllowed,
                at,
                format!("{what} is not allowed to role \"{}\"", self.world.role.name),
            ));
        }
        findings
    }

    pub(super) fn other(
        &mut self,
        kind: Option<Kind>,
        what: &str,
        relations: &[ir::RelationRef],
        call: Option<&Expr>,
        opaque: bool,
        at: At,
    ) -> Findings {
        let Some(kind) = kind else {
            let mut findings = Findings::default();
            findings.deny(never(at, what));
            return findings;
        };
        let mut findings = self.kind(kind, at);
        findings.effect = Some(match kind {
            Kind::Temp => Effect::TempTable,
            Kind::Listen => Effect::Listen,
            Kind::Ddl | Kind::Grant => Effect::Ddl,
            Kind::Select
            | Kind::Insert
            | Kind::Update
            | Kind::Delete
            | Kind::Merge
            | Kind::Transaction
            | Kind::Set
            | Kind::Show
            | Kind::Prepare
            | Kind::Cursor
            | Kind::CopyTo
            | Kind::CopyFrom
            | Kind::Call
            | Kind::Lock
            | Kind::Maintenance => Effect::None,
        });
        // What it would read or call is not known here.
        let reaches = opaque || (self.tenant.is_some() && !relations.is_empty());
        if reaches {
            findings.deny(Denial::new(
                Rule::Kind,
                Code::Unsupported,
                at,
                format!("{what} is not supported below an unrestricted role"),
            ));
        }
        let from: Vec<ir::From> = relations.iter().cloned().map(ir::From::Relation).collect();
        let targets = call.cloned().map(|expr| ir::Target { expr, alias: None, at });
        if !from.is_empty() || targets.is_some() {
            let query = select_of(targets.into_iter().collect(), from, at);
            let declared = Declared::of(self.mode);
            let mut inner = self.rows(&Body::Query(Box::new(query)), &declared, None);
            inner
                .found
                .denials
                .retain(|denial| denial.rule != Rule::Kind && denial.code != Code::RelationUnknown);
            hint_instead(&mut inner.found.denials, None);
            merge(&mut findings.found, inner.found);
        }
        findings
    }
}

/// The hints of the proof speak of clauses that the client's statement does not have.
pub(super) fn hint_instead(denials: &mut [Denial], hint: Option<&str>) {
    for denial in denials.iter_mut().filter(|denial| denial.rule == Rule::Tenancy) {
        denial.hint = hint.map(str::to_owned);
    }
}

/// The columns that COPY names, or all.
fn copied(columns: &[ir::Name], at: At) -> Vec<ir::Target> {
    let target = |parts: Vec<ir::Name>, star: bool| ir::Target {
        expr: Expr::Column(ir::ColumnRef { parts, star, at }),
        alias: None,
        at,
    };
    match columns {
        [] => vec![target(Vec::new(), true)],
        _ => columns.iter().map(|column| target(vec![column.clone()], false)).collect(),
    }
}
