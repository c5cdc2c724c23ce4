//! Bind and Execute: values against what Parse promised, and names in a prepared text, which are looked up anew.
//!
//! PostgreSQL looks a name up when its statement runs, and a driver may keep a prepared `FETCH c` over many cursors of
//! that name. A text that was sent says one upstream name for ever: so where a name stands for something else by now,
//! the text goes up once more, under a name of the proxy's own, and the portal is bound to that.

use std::sync::Arc;

use pgmoat_policy::Mode;

use super::anew::Renewed;
use super::entry::Entered;
use super::names::{self, Unresolved};
use super::permit::TermsOf;
use super::{Gate, LookedUp, Outcome, denied, lasting, obligations};
use crate::session::{Bind, JudgedBytes, Place, Portal, Session, Snapshot, Statement, Terms, UpstreamName};

impl Gate<'_> {
    pub(super) fn bind<'f>(
        &self,
        bind: &Bind<'f>,
        statement: &Statement,
        portal: UpstreamName,
        session: &mut Session,
    ) -> Outcome<'f> {
        if !statement.terms.names.is_empty() {
            return self.bind_names(bind, statement, portal, session);
        }
        let Renewed { terms, shape } = self.renewed(statement, session);
        let entered = Entered::bind(&statement.text, shape, bind);
        match terms {
            Ok(terms) => {
                let bytes = JudgedBytes::Bind(portal, statement.upstream, bind.rest);
                self.bind_under(bind, &entered, terms, session.snapshot(), bytes)
            }
            Err(denied) => self.refuse(&entered, &denied.denial, Place::Execute),
        }
    }

    /// Binds a text with names in it.
    fn bind_names<'f>(
        &self,
        bind: &Bind<'f>,
        statement: &Statement,
        portal: UpstreamName,
        session: &mut Session,
    ) -> Outcome<'f> {
        let mode = Mode::Extended { declared: &statement.declared };
        let judgement = self.judge(&statement.text, mode, session);
        if names::are_open(&judgement, session) {
            return Outcome::NeedsReply;
        }
        let entered = Entered::bind(&statement.text, Some(judgement.shape.number()), bind);
        let before = &statement.terms.names;
        let looked_up = self.look_up(&judgement, &statement.text, mode, session, before);
        let (terms, edited) = match looked_up {
            Ok(LookedUp { terms, edited }) => (terms.into_iter().next(), edited),
            Err(Unresolved::Denied(denied)) => return self.refuse(&entered, &denied.denial, Place::Execute),
            Err(unresolved @ Unresolved::Full(_)) => {
                return self.refuse_unresolved(&entered, unresolved, &statement.text);
            }
        };
        let (Some(terms), Some(text)) = (terms, edited) else {
            let denied = denied(1, obligations::unsupported("a text without its names"));
            return self.refuse(&entered, &denied.denial, Place::Execute);
        };
        let bytes = if terms.names == *before {
            JudgedBytes::Bind(portal, statement.upstream, bind.rest)
        } else {
            let (own, types) = (session.own_name(), Arc::clone(&statement.declared));
            JudgedBytes::Rebind { own, text, types, portal, rest: bind.rest }
        };
        self.bind_under(bind, &entered, Arc::new(terms), session.snapshot(), bytes)
    }

    /// Lets a Bind pass whose values fulfil these terms.
    fn bind_under<'f>(
        &self,
        bind: &Bind<'f>,
        entered: &Entered<'_>,
        terms: Arc<Terms>,
        snapshot: Snapshot,
        bytes: JudgedBytes<'f>,
    ) -> Outcome<'f> {
        if let Some(denial) = self.not_now(&terms, snapshot) {
            return self.refuse(entered, &denial, Place::Execute);
        }
        if !terms.binds.is_empty() {
            let values: Vec<_> = bind.values().collect();
            for check in &terms.binds {
                // A parameter that is not there is NULL to nobody: the server refuses the Bind, and so does this.
                if let Err(denial) = check.holds(&self.rules.policy, &self.info.principal, &values) {
                    return self.refuse(entered, &denial.denial(), Place::Parameter(check.param));
                }
            }
        }
        let terms = match lasting::bound(&terms.lasting, bind) {
            Some(lasting) => Arc::new(Terms { lasting, ..Terms::clone(&terms) }),
            None => terms,
        };
        self.permit(entered, TermsOf::One(terms), || bytes)
    }

    pub(super) fn execute<'f>(&self, portal: &Portal, max_rows: i32, session: &Session) -> Outcome<'f> {
        let (holds, shape) = self.still_holds(portal, session);
        let entered = Entered::execute(&portal.statement.text, shape);
        let snapshot =
            if portal.sees_double(session.snapshot()) { session.snapshot() } else { Snapshot::default() };
        if let Some(denial) = self.not_now(&portal.terms, snapshot) {
            return self.refuse(&entered, &denial, Place::Execute);
        }
        match holds {
            Err(denied) => self.refuse(&entered, &denied.denial, Place::Execute),
            Ok(()) => {
                let terms = TermsOf::One(Arc::clone(&portal.terms));
                self.permit(&entered, terms, || JudgedBytes::Execute(portal.upstream, max_rows))
            }
        }
    }
}
