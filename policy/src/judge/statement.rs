//! One statement: what it is, what it does, and whether it may.

use super::effect;
use super::prepared::Session;
use crate::catalog::TypeId;
use crate::ir::{
    self, At, Body, Const, CopyChannel, CopyWhat, Discard, Expr, NameToken, SetAction, Transaction, Utility,
};
use crate::policy::ExplainRule;
use crate::resolve::{Constants, Declared, World, resolve, resolve_types};
use crate::rules::{self, Argument, Context, Found, check_kind, check_limits, settings};
use crate::{
    Code, Denial, Denials, Effect, ErrorPosture, Judged, Kind, Mode, NameSpace, NameUse, Obligations,
    Prepared, Rule, SqlState, Verdict, parse,
};

/// Judges the statements of one text, in order.
pub(super) struct Judge<'t, 'c, 'n> {
    pub(super) text: &'t str,
    pub(super) mode: Mode<'t>,
    pub(super) world: World<'c>,
    pub(super) tenant: Option<&'t str>,
    pub(super) constants: Constants,
    pub(super) session: Session<'n>,
}

/// What is found out about a statement.
#[derive(Default)]
struct Findings {
    kind: Option<Kind>,
    effect: Option<Effect>,
    names: Vec<NameUse>,
    found: Found,
}

impl Findings {
    fn of(kind: Kind) -> Findings {
        Findings { kind: Some(kind), ..Findings::default() }
    }

    fn deny(&mut self, denial: Denial) {
        self.found.denials.push(denial);
    }

    fn name(&mut self, name: &NameToken, space: NameSpace) {
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
        let mut findings = self.body(&statement.body, &statement.span);
        let denials = &mut findings.found.denials;
        for unsupported in &statement.unsupported {
            let message = format!("{} is not supported", unsupported.what);
            denials.push(Denial::new(Rule::Kind, Code::Unsupported, unsupported.at, message));
        }
        check_limits(&statement.size, &self.world.role.limits, at, denials);
        let verdict = match Denials::new(std::mem::take(denials)) {
            Some(denials) if !self.world.role.unrestricted => Verdict::Deny(denials),
            Some(_) | None => Verdict::Allow(self.obligations(findings.found)),
        };
        let effect = findings.effect.unwrap_or(Effect::None);
        // A refused statement's names too: the whole text is refused then, for the first reason.
        self.remember(&effect);
        Judged { span: statement.span.clone(), kind: findings.kind, effect, names: findings.names, verdict }
    }

    fn obligations(&self, found: Found) -> Obligations {
        let role = self.world.role;
        let rebuilt = self.tenant.is_some() || role.has_any_column_rules();
        let errors = if rebuilt { self.world.policy.errors() } else { ErrorPosture::Pass };
        Obligations { binds: found.binds, masks: found.masks, rows: role.rows, errors }
    }

    /// What later statements of the text may name.
    fn remember(&mut self, effect: &Effect) {
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
            | Effect::Setting { .. }
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

    fn body(&mut self, body: &Body, span: &std::ops::Range<usize>) -> Findings {
        match body {
            Body::Utility(utility) => self.utility(utility, span),
            Body::Query(_) | Body::Insert(_) | Body::Update(_) | Body::Delete(_) | Body::Merge(_) => {
                let declared = Declared::of(self.mode);
                self.rows(body, &declared, None)
            }
        }
    }

    /// A statement with rows.
    fn rows(&mut self, body: &Body, declared: &Declared, arguments: Option<&[Argument]>) -> Findings {
        let bound = resolve(body, self.world, declared);
        let cx = Context {
            world: self.world,
            role: self.world.role,
            tenant: self.tenant,
            bound: &bound,
            declared,
            constants: &self.constants,
            arguments,
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
        let effect = Some(effect::of_rows(&bound, &self.constants));
        let mut findings = Findings { kind: Some(kind), effect, found, ..Findings::default() };
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
    fn inner_rows(&mut self, body: &Body, declared: &Declared, arguments: Option<&[Argument]>) -> Found {
        let inner = self.rows(body, declared, arguments);
        let mut found = inner.found;
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

    fn utility(&mut self, utility: &Utility, span: &std::ops::Range<usize>) -> Findings {
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
    fn kind(&self, kind: Kind, at: At) -> Findings {
        let mut findings = Findings::of(kind);
        check_kind(self.world.role, kind, at, &mut findings.found.denials);
        findings
    }

    // ---- transactions and settings ----

    fn transaction(&self, transaction: &Transaction, at: At) -> Findings {
        let mut findings = self.kind(Kind::Transaction, at);
        match transaction {
            Transaction::TwoPhase => findings.deny(never(at, "two-phase commit")),
            Transaction::Begin
            | Transaction::Commit { .. }
            | Transaction::Rollback { .. }
            | Transaction::Savepoint(_)
            | Transaction::Release(_)
            | Transaction::RollbackTo(_) => {}
        }
        findings.effect = Some(effect::of_transaction(transaction));
        findings
    }

    fn set(&self, set: &ir::Set, at: At) -> Findings {
        let role = self.world.role;
        match &set.action {
            SetAction::To { name, values } => {
                if name.eq_ignore_ascii_case("role") && self.is_none(values) {
                    // SET ROLE NONE lets go.
                    let effect = effect::of_setting(name, set.local, None);
                    return Findings { effect: Some(effect), ..Findings::of(Kind::Set) };
                }
                let mut findings = self.kind(Kind::Set, at);
                let texts: Vec<String> =
                    values.iter().map(|value| settings::text(&self.constants, value)).collect();
                let denial = settings::may_write(self.world.policy, role, name, &texts, at);
                findings.found.denials.extend(denial);
                findings.effect = Some(effect::of_setting(name, set.local, Some(&texts)));
                findings
            }
            SetAction::Default(name) => {
                let mut findings = Findings::of(Kind::Set);
                findings.found.denials.extend(settings::may_reset(role, name, at));
                findings.effect = Some(effect::of_setting(name, set.local, None));
                findings
            }
            SetAction::ResetAll => Findings { effect: Some(Effect::ResetAll), ..Findings::of(Kind::Set) },
            SetAction::TransactionCharacteristics => {
                let mut findings = self.kind(Kind::Transaction, at);
                findings.effect = Some(Effect::Transaction(crate::TransactionEffect::Characteristics));
                findings
            }
            SetAction::Snapshot => {
                let mut findings = self.kind(Kind::Transaction, at);
                findings.deny(Denial::new(
                    Rule::Settings,
                    Code::SettingNotAllowed,
                    at,
                    "SET TRANSACTION SNAPSHOT is not allowed",
                ));
                findings
            }
            SetAction::FromCurrent(name) => {
                let mut findings = self.kind(Kind::Set, at);
                findings.deny(Denial::new(
                    Rule::Settings,
                    Code::SettingNotAllowed,
                    at,
                    format!("setting \"{name}\" may not be set from current"),
                ));
                findings
            }
        }
    }

    fn is_none(&self, values: &[Const]) -> bool {
        matches!(values, [value] if settings::text(&self.constants, value) == "none")
    }

    // ---- prepared statements and cursors ----

    fn prepare(
        &mut self,
        name: &NameToken,
        types: &[ir::TypeRef],
        body: &Body,
        span: &std::ops::Range<usize>,
    ) -> Findings {
        let at = u32::try_from(span.start).ok();
        let mut findings = self.kind(Kind::Prepare, at);
        let (types, bound) = resolve_types(types, self.world);
        let declared = Declared::of_types(types.clone());
        let cx = Context {
            world: self.world,
            role: self.world.role,
            tenant: self.tenant,
            bound: &bound,
            declared: &declared,
            constants: &self.constants,
            arguments: None,
        };
        findings.found.denials.extend(rules::judge(&cx, None).denials);
        let mut inner = match body {
            Body::Utility(_) => Found::default(),
            Body::Query(_) | Body::Insert(_) | Body::Update(_) | Body::Delete(_) | Body::Merge(_) => {
                self.inner_rows(body, &declared, None)
            }
        };
        // EXECUTE is judged with its values in place; what PREPARE promises is not checked at Bind.
        inner.binds.clear();
        inner.masks.clear();
        merge(&mut findings.found, inner);
        findings.name(name, NameSpace::Statement);
        let oids = types.iter().map(|ty| ty.0).collect();
        match effect::of_prepare(self.text, span, name, oids) {
            Some(effect) => findings.effect = Some(effect),
            None => findings.deny(Denial::new(
                Rule::Kind,
                Code::Unsupported,
                at,
                "the prepared statement was not found in the text",
            )),
        }
        findings
    }

    /// EXECUTE is judged as the prepared text with its arguments in place.
    fn execute(&mut self, name: &NameToken, args: &[Expr], at: At) -> Findings {
        let mut findings = self.kind(Kind::Prepare, at);
        findings.name(name, NameSpace::Statement);
        findings.effect = Some(Effect::Execute { name: name.name.clone() });
        let Some(prepared) = self.session.prepared(&name.name) else {
            findings.deny(no_statement(name));
            return findings;
        };
        let here = name.span.as_ref().and_then(|span| u32::try_from(span.start).ok()).or(at);
        let arguments: Vec<Argument> = args
            .iter()
            .map(|arg| {
                if let Expr::Const(constant) = arg {
                    Argument::Const(constant.clone())
                } else {
                    Argument::Other
                }
            })
            .collect();
        let declared = Declared::of(self.mode);
        let targets = args.iter().map(|arg| ir::Target { expr: arg.clone(), alias: None, at }).collect();
        let computed = self.inner_rows(&Body::Query(Box::new(select_of(targets, Vec::new(), at))), &declared, None);
        findings.found.denials.extend(computed.denials);
        let parsed = match parse::parse(&prepared.text, &self.world.role.limits) {
            Ok(parsed) => parsed,
            Err(denial) => {
                findings.deny(Denial { at: here, ..denial });
                return findings;
            }
        };
        match parsed.as_slice() {
            [ir::Statement { body, unsupported, .. }]
                if unsupported.is_empty() && !matches!(body, Body::Utility(_)) =>
            {
                let types = prepared.declared.iter().map(|oid| TypeId(*oid)).collect();
                let declared = Declared::of_types(types);
                let mut found = self.inner_rows(body, &declared, Some(&arguments));
                for denial in &mut found.denials {
                    denial.at = here;
                }
                merge(&mut findings.found, found);
            }
            _ => findings.deny(Denial::new(
                Rule::Kind,
                Code::Unsupported,
                here,
                "EXECUTE of this statement is not supported",
            )),
        }
        findings
    }

    fn deallocate(&self, name: Option<&NameToken>, at: At) -> Findings {
        let Some(name) = name else {
            return Findings { effect: Some(Effect::DeallocateAll), ..Findings::of(Kind::Prepare) };
        };
        let mut findings = self.kind(Kind::Prepare, at);
        findings.name(name, NameSpace::Statement);
        if self.session.prepared(&name.name).is_none() {
            findings.deny(no_statement(name));
        }
        findings.effect = Some(Effect::Deallocate { name: name.name.clone() });
        findings
    }

    fn close(&self, name: Option<&NameToken>, at: At) -> Findings {
        let Some(name) = name else {
            let effect = Effect::CloseCursor { name: None };
            return Findings { effect: Some(effect), ..Findings::of(Kind::Cursor) };
        };
        let mut findings = self.kind(Kind::Cursor, at);
        findings.name(name, NameSpace::Cursor);
        if !self.session.cursor(&name.name) {
            findings.deny(no_cursor(name));
        }
        findings.effect = Some(Effect::CloseCursor { name: Some(name.name.clone()) });
        findings
    }

    // ---- COPY, EXPLAIN, the rest ----

    fn copy(&mut self, copy: &ir::Copy, at: At) -> Findings {
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
            findings.deny(unsupported("COPY FROM"));
            findings.effect = Some(Effect::CopyIn);
            return findings;
        }
        let declared = Declared::of(self.mode);
        let inner = match &copy.what {
            CopyWhat::Statement(body) => self.inner_rows(body, &declared, None),
            // COPY table TO is a query over the table's own rows.
            CopyWhat::Table(relation, columns) => {
                let targets = copied(columns, relation.path.at);
                let relation = ir::RelationRef { only: true, alias: None, path: relation.path.clone() };
                let from = vec![ir::From::Relation(relation)];
                let query = select_of(targets, from, at);
                self.inner_rows(&Body::Query(Box::new(query)), &declared, None)
            }
        };
        if !inner.masks.is_empty() {
            findings.deny(unsupported("COPY of a masked column"));
        }
        merge(&mut findings.found, inner);
        findings.effect = Some(Effect::CopyOut { binary: copy.binary });
        findings
    }

    fn explain(&mut self, analyze: bool, body: &Body, span: &std::ops::Range<usize>) -> Findings {
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

    fn other(
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
            merge(&mut findings.found, inner.found);
        }
        findings
    }
}

fn merge(found: &mut Found, other: Found) {
    found.denials.extend(other.denials);
    found.binds.extend(other.binds);
    found.masks.extend(other.masks);
}

/// SELECT targets FROM items.
fn select_of(targets: Vec<ir::Target>, from: Vec<ir::From>, at: At) -> ir::Query {
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

fn never(at: At, what: &str) -> Denial {
    Denial::new(
        Rule::Kind,
        Code::StatementNotAllowed,
        at,
        format!("{what} is not allowed below an unrestricted role"),
    )
}

fn place(name: &NameToken) -> At {
    name.span.as_ref().and_then(|span| u32::try_from(span.start).ok())
}

fn no_statement(name: &NameToken) -> Denial {
    Denial::new(
        Rule::Kind,
        Code::NameUnknown,
        place(name),
        format!("prepared statement \"{}\" does not exist", name.name),
    )
    .sqlstate(SqlState::INVALID_STATEMENT_NAME)
}

fn no_cursor(name: &NameToken) -> Denial {
    Denial::new(
        Rule::Kind,
        Code::NameUnknown,
        place(name),
        format!("cursor \"{}\" does not exist", name.name),
    )
    .sqlstate(SqlState::INVALID_CURSOR_NAME)
}
