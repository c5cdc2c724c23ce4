//! One statement: what it is, what it does, and whether it may.

use super::effect;
use super::named::no_cursor;
use super::prepared::Session;
use super::trace;
use crate::ir::{self, At, Body, Discard, NameToken, Utility};
use crate::resolve::{Declared, World, resolve};
use crate::rules::{self, Argument, Context, Found, check_kind, check_limits, settings};
use crate::{
    Code, Denial, Denials, Effect, ErrorPosture, Judged, Kind, Mode, NameSpace, NameUse, Obligations,
    Prepared, Reached, Rule, Trace, Verdict,
};

/// Judges the statements of one text, in order.
pub(super) struct Judge<'t, 'c, 'n> {
    pub(super) text: &'t str,
    pub(super) mode: Mode<'t>,
    pub(super) world: World<'c>,
    pub(super) tenant: Option<&'t str>,
    pub(super) session: Session<'n>,
    /// Where it is wanted: the relations of each statement.
    pub(super) explained: Option<Explained>,
}

/// What the proofs of a text rest on, and what they cost.
#[derive(Default)]
pub(super) struct Explained {
    pub(super) statements: Vec<Vec<Reached>>,
    pub(super) steps: usize,
}

/// What is found out about a statement.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) kind: Option<Kind>,
    pub(super) effect: Option<Effect>,
    pub(super) names: Vec<NameUse>,
    pub(super) found: Found,
}

impl Findings {
    pub(super) fn of(kind: Kind) -> Findings {
        Findings { kind: Some(kind), ..Findings::default() }
    }

    pub(super) fn deny(&mut self, denial: Denial) {
        self.found.denials.push(denial);
    }

    pub(super) fn name(&mut self, name: &NameToken, space: NameSpace) {
        match effect::name_use(name, space) {
            Some(used) => self.names.push(used),
            // The wire layer could not replace it.
            None => self.deny(Denial::new(
                Rule::Kind,
                Code::Unsupported,
                None,
                format!("the name \"{}\" was not found in the text", name.name),
            )),
        }
    }
}

impl<'c> Judge<'_, 'c, '_> {
    pub(super) fn statement(&mut self, statement: &ir::Statement) -> Judged {
        let at = u32::try_from(statement.span.start).unwrap_or(u32::MAX);
        let mut over = Vec::new();
        check_limits(&statement.size, &self.world.role.limits, at, &mut over);
        // What is over a limit is not looked into: the limits bound the work that a text can cause.
        let mut findings = match over.is_empty() {
            true => self.body(&statement.body, &statement.span),
            false => Findings::default(),
        };
        if let Some(explained) = &mut self.explained {
            explained.statements.push(std::mem::take(&mut findings.found.reached));
            explained.steps += findings.found.steps;
        }
        let denials = &mut findings.found.denials;
        denials.extend(over);
        for unsupported in &statement.unsupported {
            let message = format!("{} is not supported", unsupported.what);
            denials.push(Denial::new(Rule::Kind, Code::Unsupported, unsupported.at, message));
        }
        let effect = findings.effect.unwrap_or(Effect::None);
        let text = self.text.get(statement.span.clone()).unwrap_or_default();
        let traces = trace::of_words(findings.kind, &effect, text);
        let denials = std::mem::take(denials);
        // Whoever may do anything may do what was not understood.
        let unknown = (!denials.is_empty()).then_some(Trace::Unknown);
        findings.found.traces.extend(traces.into_iter().chain(unknown));
        let verdict = match Denials::new(denials) {
            Some(denials) if !self.world.role.unrestricted => Verdict::Deny(denials),
            Some(_) | None => Verdict::Allow(self.obligations(findings.found)),
        };
        // A refused statement's names too: the whole text is refused then, and for that statement,
        // not because a later one's name is missing.
        self.remember(&effect);
        Judged { span: statement.span.clone(), kind: findings.kind, effect, names: findings.names, verdict }
    }

    pub(super) fn obligations(&self, found: Found) -> Obligations {
        let role = self.world.role;
        let rebuilt = self.tenant.is_some() || role.has_any_column_rules();
        let errors = if rebuilt { self.world.policy.errors() } else { ErrorPosture::Pass };
        let Found { binds, masks, outputs, scoped, by_unique_keys, traces, .. } = found;
        Obligations { binds, masks, outputs, rows: role.rows, errors, scoped, by_unique_keys, traces }
    }

    /// What later statements of the text may name.
    pub(super) fn remember(&mut self, effect: &Effect) {
        match effect {
            Effect::Prepare { name, body, declared } => {
                if let Some(text) = self.text.get(body.clone()) {
                    let prepared = Prepared { text: text.into(), declared: declared.as_slice().into() };
                    self.session.prepare(name, prepared);
                }
            }
            Effect::Deallocate { name } => self.session.deallocate(name),
            Effect::DeallocateAll => self.session.deallocate_all(),
            Effect::Declare { name, .. } => self.session.declare(name),
            Effect::CloseCursor { name: Some(name) } => self.session.close(name),
            Effect::CloseCursor { name: None } => self.session.close_all(),
            Effect::DiscardAll => {
                self.session.deallocate_all();
                self.session.close_all();
            }
            Effect::None
            | Effect::Settings(_)
            | Effect::ResetAll
            | Effect::Execute { .. }
            | Effect::Fetch { .. }
            | Effect::TempTable
            | Effect::Listen
            | Effect::AdvisoryLock
            | Effect::Transaction(_)
            | Effect::CopyIn
            | Effect::CopyOut { .. }
            | Effect::Discard
            | Effect::Ddl => {}
        }
    }

    pub(super) fn body(&mut self, body: &Body, span: &std::ops::Range<usize>) -> Findings {
        match body {
            Body::Utility(utility) => self.utility(utility, span),
            Body::Query(_) | Body::Insert(_) | Body::Update(_) | Body::Delete(_) | Body::Merge(_) => {
                let declared = Declared::of(self.mode);
                self.rows(body, &declared, None)
            }
        }
    }

    /// A statement with rows.
    pub(super) fn rows(
        &mut self,
        body: &Body,
        declared: &Declared,
        arguments: Option<&[Argument]>,
    ) -> Findings {
        let bound = resolve(body, self.world, declared);
        let cx = Context {
            world: self.world,
            role: self.world.role,
            tenant: self.tenant,
            bound: &bound,
            declared,
            arguments,
            explain: self.explained.is_some(),
        };
        let (kind, root) = match body {
            Body::Query(query) => (Kind::Select, Some((Kind::Select, query.at))),
            Body::Insert(_) => (Kind::Insert, None),
            Body::Update(_) => (Kind::Update, None),
            Body::Delete(_) => (Kind::Delete, None),
            Body::Merge(_) => (Kind::Merge, None),
            Body::Utility(_) => return Findings::default(),
        };
        let mut found = rules::judge(&cx, root);
        found.denials.extend(bound.denials.iter().cloned());
        let effect = effect::of_rows(&bound, self.world.constants);
        found.traces = trace::of_rows(&bound, &effect, self.world.catalog);
        let mut findings = Findings { kind: Some(kind), effect: Some(effect), found, ..Findings::default() };
        for cursor in effect::current_of(body) {
            findings.name(cursor, NameSpace::Cursor);
            if !self.session.cursor(&cursor.name) {
                findings.deny(no_cursor(cursor));
            }
        }
        findings
    }

    /// A statement with rows inside another: what it would do to the session by itself is not
    /// said by the outer one's effect.
    pub(super) fn inner_rows(
        &mut self,
        body: &Body,
        declared: &Declared,
        arguments: Option<&[Argument]>,
    ) -> Found {
        let inner = self.rows(body, declared, arguments);
        let mut found = inner.found;
        if let Some(cursor) = inner.names.first() {
            // Nobody would tell the wire layer to replace it.
            found.denials.push(Denial::new(
                Rule::Kind,
                Code::Unsupported,
                u32::try_from(cursor.span.start).ok(),
                "WHERE CURRENT OF is not supported here",
            ));
        }
        if inner.effect.is_some_and(|effect| effect != Effect::None) {
            found.denials.push(Denial::new(
                Rule::Kind,
                Code::Unsupported,
                None,
                "a statement that changes the session is not supported here",
            ));
        }
        found
    }

    pub(super) fn utility(&mut self, utility: &Utility, span: &std::ops::Range<usize>) -> Findings {
        let at = u32::try_from(span.start).ok();
        match utility {
            Utility::Empty => Findings::default(),
            Utility::Transaction(transaction) => self.transaction(transaction, at),
            Utility::Set(set) => self.set(set, at),
            Utility::Show { name } => {
                let mut findings = self.kind(Kind::Show, at);
                let denial = settings::may_read(self.world.role, name, at);
                findings.found.denials.extend(denial);
                findings
            }
            Utility::SetConstraints => self.kind(Kind::Transaction, at),
            Utility::Discard(discard) => Findings {
                kind: Some(Kind::Set),
                effect: Some(match discard {
                    Discard::All => Effect::DiscardAll,
                    Discard::Plans | Discard::Sequences | Discard::Temp => Effect::Discard,
                }),
                ..Findings::default()
            },
            Utility::Prepare { name, types, body } => self.prepare(name, types, body, span),
            Utility::Execute { name, args } => self.execute(name, args, at),
            Utility::Deallocate { name } => self.deallocate(name.as_ref(), at),
            Utility::Declare { name, hold, binary: _, query } => {
                let mut findings = self.kind(Kind::Cursor, at);
                let declared = Declared::of(self.mode);
                let inner = self.inner_rows(&Body::Query(query.clone()), &declared, None);
                merge(&mut findings.found, inner);
                findings.name(name, NameSpace::Cursor);
                findings.effect = Some(Effect::Declare { name: name.name.clone(), hold: *hold });
                findings
            }
            Utility::Fetch { name, .. } => {
                let mut findings = self.kind(Kind::Cursor, at);
                findings.name(name, NameSpace::Cursor);
                if !self.session.cursor(&name.name) {
                    findings.deny(no_cursor(name));
                }
                findings.effect = Some(Effect::Fetch { name: name.name.clone() });
                findings
            }
            Utility::Close { name } => self.close(name.as_ref(), at),
            Utility::Copy(copy) => self.copy(copy, at),
            Utility::Explain { analyze, body } => self.explain(*analyze, body, span),
            Utility::Unlisten { channel } => {
                let mut findings = match channel {
                    // Letting go.
                    None => Findings::of(Kind::Listen),
                    Some(_) => self.kind(Kind::Listen, at),
                };
                findings.effect = Some(Effect::Listen);
                findings
            }
            Utility::Other { kind, what, relations, call, opaque } => {
                self.other(*kind, what, relations, call.as_deref(), *opaque, at)
            }
        }
    }

    /// Findings of a kind that the role must list.
    pub(super) fn kind(&self, kind: Kind, at: At) -> Findings {
        let mut findings = Findings::of(kind);
        check_kind(self.world.role, kind, at, &mut findings.found.denials);
        findings
    }

    // ---- transactions and settings ----

    // ---- prepared statements and cursors ----

    // ---- COPY, EXPLAIN, the rest ----
}

pub(super) fn merge(found: &mut Found, other: Found) {
    found.denials.extend(other.denials);
    found.binds.extend(other.binds);
    found.masks.extend(other.masks);
    found.outputs = found.outputs.max(other.outputs);
    found.scoped |= other.scoped;
    found.by_unique_keys |= other.by_unique_keys;
    found.reached.extend(other.reached);
    found.traces.extend(other.traces);
    found.steps += other.steps;
}

/// SELECT targets FROM items.
pub(super) fn select_of(targets: Vec<ir::Target>, from: Vec<ir::From>, at: At) -> ir::Query {
    ir::Query {
        with: None,
        body: ir::QueryBody::Select(Box::new(ir::Select {
            distinct: ir::Distinct::No,
            targets,
            into: None,
            from,
            filter: None,
            group_by: Vec::new(),
            group_distinct: false,
            having: None,
            windows: Vec::new(),
        })),
        order_by: Vec::new(),
        limit: None,
        offset: None,
        with_ties: false,
        locking: Vec::new(),
        at,
    }
}

pub(super) fn never(at: At, what: &str) -> Denial {
    Denial::new(
        Rule::Kind,
        Code::StatementNotAllowed,
        at,
        format!("{what} is not allowed below an unrestricted role"),
    )
}
