//! The objects of a request, judged by the rules that were in force when it was taken up.
//!
//! INVARIANT (one basis): whatever is reloaded in the middle of a request, all of it is answered by the same users, and
//! for each database by the same policy and catalog, which its line in the audit log names.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::StatusCode;

use super::caller::Caller;
use super::refused::Refused;
use super::tally::Tally;
use crate::server::{Front, Users};
use crate::shared::{Database, Rules};
use crate::verify::{Basis, Draft, answer};

/// What a request's objects are judged with.
pub(super) struct Judge {
    pub(super) caller: Caller,
    users: Arc<Users>,
    /// By name.
    databases: Vec<Ruled>,
}

/// A database with its rules; none while there is no catalog.
struct Ruled(Arc<Database>, Option<Arc<Rules>>);

impl Judge {
    /// By what is in force now.
    pub(super) fn new(front: &Front, caller: Caller) -> Judge {
        let all = front.shared.databases.values();
        let mut databases: Vec<Ruled> =
            all.map(|database| Ruled(Arc::clone(database), database.rules())).collect();
        databases.sort_by(|Ruled(one, _), Ruled(other, _)| one.name.cmp(&other.name));
        Judge { caller, users: front.users(), databases }
    }

    /// The answer to the only object of a request.
    ///
    /// The thread needs a stack of [`pgmoat_policy::STACK_BYTES`]: the runtime's have it.
    pub(super) fn only(&self, object: &[u8]) -> (Result<Bytes, Refused>, Tally) {
        let (mut line, mut tally) = (Vec::with_capacity(ANSWER_BYTES_USUAL), Tally::default());
        let judged = self.judge(object, &mut line, &mut tally);
        line.push(b'\n');
        (judged.map(|()| line.into()), tally)
    }

    /// Puts the answer behind `out`, without the end of a line, and counts it. As [`Judge::only`] for the stack.
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
        let Ruled(database, rules) = self.database(draft.database())?;
        let Some(rules) = rules else {
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
        tally.judged(database, rules, answer.allowed());
        Ok(())
    }

    /// The database of that name, or the only one.
    fn database(&self, name: Option<&str>) -> Result<&Ruled, Refused> {
        match (name, self.databases.as_slice()) {
            (None, [only]) => Ok(only),
            (None, _) => Err(Refused::bad("which \"database\"? There are several")),
            (Some(name), all) => {
                let found = all.binary_search_by(|Ruled(database, _)| (*database.name).cmp(name));
                found
                    .ok()
                    .and_then(|at| all.get(at))
                    .ok_or_else(|| Refused::bad(format!("the configuration has no database \"{name}\"")))
            }
        }
    }
}

const ANSWER_BYTES_USUAL: usize = 256;
