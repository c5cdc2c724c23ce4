//! A Parse or a Bind that was let through: what its name will stand for, if the server makes it so.

use std::sync::Arc;

use super::ask::Ask;
use super::held;
use super::message::Bind;
use super::name::UpstreamName;
use super::names::End;
use super::own::{own_close, own_parse};
use super::queue::{Change, Fate, What};
use super::refusal::Refusal;
use super::refuse::Refused;
use super::settle::Settled;
use super::step::parse_change;
use super::terms::{Counter, Portal, Statement, Terms};
use super::{Input, Session};

/// What the gate has said of it, beside its terms.
#[derive(Debug, Clone, Copy)]
pub(super) struct AsAdmitted {
    pub(super) decision: u64,
    pub(super) generation: u64,
    pub(super) shape: Option<u64>,
    pub(super) parsed_anew: bool,
}

impl Session {
    pub(super) fn parse_admitted(
        &mut self,
        ask: &Ask<'_>,
        first: &Arc<Terms>,
        admitted: &AsAdmitted,
        now_us: u64,
    ) -> Settled {
        let Ask::Parse { parse, upstream, edited, prepared, taken } = ask else {
            let refusal = Refusal::plain("XX000", "a Parse is expected here", "internal");
            return self.refuse(Refused::UnknownParse, refusal, now_us).into();
        };
        let AsAdmitted { decision, generation, shape, .. } = *admitted;
        let as_it_came = first.names.is_empty();
        let upstream = if as_it_came { *upstream } else { *edited };
        let prepared = prepared.as_ref().filter(|_| as_it_came).map(Arc::clone);
        let text = prepared.as_ref().map_or_else(|| parse.text.into(), |same| Arc::clone(&same.text));
        let statement = Statement {
            text,
            declared: Arc::from(&*parse.declared),
            upstream,
            terms: Arc::clone(first),
            generation,
            shape,
            share: self.keep_text(parse.text.len()),
            fixed: prepared.is_none().then(|| self.keep_fixed()),
            prepared: prepared.clone(),
        };
        let (key, stamp) = (self.statements.key(parse.name), self.stamp());
        // A live name's Parse must fail. What comes behind it in the batch finds no name at all, so that it
        // cannot meet the wrong text even if the server should let that Parse pass.
        let to = taken.is_none().then(|| Arc::new(statement));
        let change = match taken {
            Some(_) => Change { on_error: End::Dropped },
            None => parse_change(parse.name),
        };
        let given = prepared.as_ref().is_some_and(|prepared| self.would_parse(upstream, prepared));
        match (taken, &prepared) {
            (Some(live), _) => self.make_sure(live, decision, now_us),
            (None, Some(prepared)) if !given => self.make_way(upstream, prepared, now_us),
            (None, Some(_) | None) => {}
        }
        self.statements.change(&key, stamp, to);
        let what = What::Parse { name: Arc::clone(&key), change: Some(change), decision };
        if given {
            return self.give(what, &key, upstream, first, now_us);
        }
        self.owe_batch(what, first, now_us);
        if let Some(prepared) = prepared {
            self.will_hold(held::Change::Made(upstream, prepared));
        }
        Settled::Forward
    }

    pub(super) fn bind_admitted(
        &mut self,
        (bind, statement, portal): (&Bind<'_>, &Arc<Statement>, UpstreamName),
        first: &Arc<Terms>,
        admitted: &AsAdmitted,
        now_us: u64,
    ) {
        let AsAdmitted { decision, generation, parsed_anew, .. } = *admitted;
        self.note_use(statement);
        self.make_sure(statement, decision, now_us);
        first.needs.iter().for_each(|named| self.make_sure(named, decision, now_us));
        let made = Portal {
            statement: Arc::clone(statement),
            upstream: portal,
            terms: Arc::clone(first),
            generation,
            decision,
            hold: false,
            rows: Counter::default(),
        };
        let (key, stamp) = (self.portals.key(bind.portal), self.stamp());
        // An open portal's Bind goes up under the same name. The server knows better whether it is still there
        // (ROLLBACK TO and COMMIT drop portals): either it refuses, or this is what the name stands for.
        self.portals.change(&key, stamp, Some(Arc::new(made)));
        let change = Some(Change { on_error: End::Dropped });
        let statement = self.statements.key(bind.statement);
        if parsed_anew {
            self.owe(own_parse(), Fate::Quiet, first, now_us);
        }
        self.owe_batch(What::Bind { portal: key, statement, change, decision }, first, now_us);
        if parsed_anew {
            self.owe(own_close(), Fate::Quiet, first, now_us);
        }
    }

    fn owe_batch(&mut self, what: What, terms: &Arc<Terms>, now_us: u64) {
        self.owe(what, Fate::Forward, terms, now_us);
        self.input = Input::Unsynced;
    }
}
