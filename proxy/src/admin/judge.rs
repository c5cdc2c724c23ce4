//! One object of a request, judged by the rules in force.

use std::sync::Arc;

use axum::http::StatusCode;

use super::caller::Caller;
use super::refused::Refused;
use super::tally::Tally;
use crate::server::{Front, Users};
use crate::shared::Database;
use crate::verify::{Basis, Draft, answer};

/// What a request's objects are judged with.
pub(super) struct Judge<'a> {
    pub(super) front: &'a Front,
    pub(super) caller: &'a Caller,
    pub(super) users: Arc<Users>,
}

impl Judge<'_> {
    /// Puts the answer behind `out`, without the end of a line, and counts it.
    ///
    /// The thread needs a stack of [`pgmoat_policy::STACK_BYTES`]: the runtime's have it.
    ///
    /// # Errors
    /// There is no verdict, which is counted, too; nothing is behind `out`.
    pub(super) fn judge(&self, object: &[u8], out: &mut Vec<u8>, tally: &mut Tally) -> Result<(), Refused> {
        let judged = self.try_judge(object, out, tally);
        if judged.is_err() {
            tally.unreadable();
        }
        judged
    }

    fn try_judge(&self, object: &[u8], out: &mut Vec<u8>, tally: &mut Tally) -> Result<(), Refused> {
        let draft = Draft::read(object).map_err(Refused::bad)?;
        let database = self.database(draft.database())?;
        let Some(rules) = database.rules() else {
            let error =
                format!("there is no catalog of database \"{}\" to judge by: try again", database.name);
            return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, error));
        };
        let basis = Basis {
            policy: &rules.policy,
            catalog: &rules.catalog,
            verdicts: Some(&rules.verdicts),
            users: &*self.users,
        };
        let request = draft.request(&basis, None).map_err(Refused::bad)?;
        if !self.caller.may_ask_for(&request.principal.role) {
            let error = format!("this token is not for role \"{}\"", request.principal.role);
            return Err(Refused::new(StatusCode::FORBIDDEN, error));
        }
        let answer = answer(&basis, &request, false);
        answer.write_json(out);
        tally.judged(database, &rules, answer.allowed());
        Ok(())
    }

    /// The database of that name, or the only one.
    fn database(&self, name: Option<&str>) -> Result<&Arc<Database>, Refused> {
        let databases = &self.front.shared.databases;
        let mut all = databases.values();
        match (name, all.next(), all.next()) {
            (Some(name), _, _) => databases
                .get(name)
                .ok_or_else(|| Refused::bad(format!("the configuration has no database \"{name}\""))),
            (None, Some(only), None) => Ok(only),
            (None, _, _) => Err(Refused::bad("which \"database\"? There are several")),
        }
    }
}
