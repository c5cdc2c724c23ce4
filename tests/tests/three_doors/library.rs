//! The first door: `pgmoat_policy::judge`, and the checks of bound values.

use std::thread;

use pgmoat_lab::{POLICY_YAML, User};
use pgmoat_policy::policy::Format;
use pgmoat_policy::{
    Catalog, Denial, Effect, Judgement, Mask, MaskAt, Mode, NoNames, Policy, Principal, STACK_BYTES, Verdict,
    judge,
};
use pgmoat_tests::corpus::{Case, Protocol};

use crate::answer::Answer;

pub(crate) struct Library {
    policy: Policy,
    catalog: Catalog,
}

/// An answer, and what a live session has to know about the statement.
pub(crate) struct Judged {
    pub(crate) answer: Answer,
    /// It is let through, and something that it returns has a mask that is not built yet.
    pub(crate) masked: bool,
    /// It begins or ends transactions by itself.
    pub(crate) transactional: bool,
}

impl Library {
    pub(crate) fn new(catalog: &str) -> Self {
        let policy = Policy::load(POLICY_YAML, "policy.yaml").expect("the lab's policy loads").policy;
        Self { policy, catalog: Catalog::parse(catalog).expect("the dumped catalog parses") }
    }

    /// On a stack as the parser needs it.
    pub(crate) fn judge_all(&self, cases: &[&Case]) -> Vec<Judged> {
        let judge = || cases.iter().map(|case| self.judge(case)).collect();
        thread::scope(|scope| {
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, judge).unwrap().join().expect("nothing panics")
        })
    }

    fn judge(&self, case: &Case) -> Judged {
        let user = User::named(&case.principal).expect("a user of the lab");
        let principal = Principal { role: user.role.into(), tenant: user.tenant.map(Into::into) };
        let mode = match case.protocol {
            Protocol::Simple => Mode::Simple,
            Protocol::Extended => Mode::Extended { declared: &[] },
        };
        let judgement = judge(&case.sql, mode, &principal, &self.policy, &self.catalog, &NoNames);
        let denial = match judgement.denial() {
            Some((_, denial)) => Some(denial.clone()),
            None => self.unbound(case, &principal, &judgement),
        };
        let masked = judgement.statements.iter().any(
            |judged| matches!(&judged.verdict, Verdict::Allow(obligations) if obligations.masks.iter().any(unbuilt)),
        );
        let transactional =
            judgement.statements.iter().any(|judged| matches!(judged.effect, Effect::Transaction(_)));
        Judged {
            answer: denial.map_or(Answer::Allowed, |denial| denied(&case.sql, &denial)),
            masked,
            transactional,
        }
    }

    /// The first bound value that is not the session's own.
    fn unbound(&self, case: &Case, principal: &Principal, judgement: &Judgement) -> Option<Denial> {
        let obligations = judgement.statements.iter().filter_map(|judged| match &judged.verdict {
            Verdict::Allow(obligations) => Some(obligations),
            Verdict::Deny(_) => None,
        });
        let texts = case.params.iter().map(Option::as_deref);
        let values: Vec<_> = texts.map(|text| (text.map(str::as_bytes), Format::Text)).collect();
        for check in obligations.flat_map(|obligations| &obligations.binds) {
            if let Err(denial) = check.holds(&self.policy, principal, &values) {
                return Some(denial.denial());
            }
        }
        None
    }
}

/// All kinds but one.
fn unbuilt(mask: &MaskAt) -> bool {
    mask.mask != Mask::Null
}

fn denied(text: &str, denial: &Denial) -> Answer {
    let characters = |at: u32| {
        let before = text.get(..usize::try_from(at).unwrap()).expect("a position between characters");
        u64::try_from(before.chars().count()).unwrap() + 1
    };
    Answer::Denied {
        code: denial.code.to_string(),
        sqlstate: denial.sqlstate.0.to_owned(),
        position: denial.at.map(characters),
        message: denial.message.clone(),
    }
}
