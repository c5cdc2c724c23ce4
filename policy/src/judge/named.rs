//! Prepared statements and cursors by name.

use super::effect;
use super::statement::{Findings, Judge, merge, select_of};
use super::utility::hint_instead;
use crate::catalog::TypeId;
use crate::ir::{self, At, Body, Expr, NameToken, Utility};
use crate::resolve::{Declared, resolve_types};
use crate::rules::{self, Argument, Context, Found};
use crate::{Code, Denial, Effect, Kind, NameSpace, Rule, SqlState, parse};

impl Judge<'_, '_, '_> {
    pub(super) fn prepare(
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
            arguments: None,
            explain: false,
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
    pub(super) fn execute(&mut self, name: &NameToken, args: &[Expr], at: At) -> Findings {
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
        let computed =
            self.inner_rows(&Body::Query(Box::new(select_of(targets, Vec::new(), at))), &declared, None);
        findings.found.denials.extend(computed.denials);
        let parsed = match parse::parse(&prepared.text, &self.world.role.limits) {
            Ok(parsed) => parsed,
            Err(denial) => {
                findings.deny(Denial { at: here, ..denial });
                return findings;
            }
        };
        match parsed.as_slice() {
            // Nothing, which PostgreSQL runs as well.
            [] => {}
            [ir::Statement { body: Body::Utility(Utility::Empty), unsupported, .. }]
                if unsupported.is_empty() => {}
            [ir::Statement { body, unsupported, .. }]
                if unsupported.is_empty() && !matches!(body, Body::Utility(_)) =>
            {
                let types = prepared.declared.iter().map(|oid| TypeId(*oid)).collect();
                let declared = Declared::of_types(types);
                let mut found = self.inner_rows(body, &declared, Some(&arguments));
                for denial in &mut found.denials {
                    denial.at = here;
                }
                hint_instead(
                    &mut found.denials,
                    Some("restrict it to the tenant where it is prepared, and give arguments as constants"),
                );
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

    pub(super) fn deallocate(&self, name: Option<&NameToken>, at: At) -> Findings {
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

    pub(super) fn close(&self, name: Option<&NameToken>, at: At) -> Findings {
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

pub(super) fn no_cursor(name: &NameToken) -> Denial {
    Denial::new(
        Rule::Kind,
        Code::NameUnknown,
        place(name),
        format!("cursor \"{}\" does not exist", name.name),
    )
    .sqlstate(SqlState::INVALID_CURSOR_NAME)
}
