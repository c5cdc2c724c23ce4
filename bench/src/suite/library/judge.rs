//! The judge as a library: a policy, a catalog, with and without a cache.

use std::hint::black_box;
use std::sync::Arc;

use pgmoat_lab::POLICY_YAML;
use pgmoat_policy::policy::Format;
use pgmoat_policy::{
    CacheStats, Catalog, Judgement, Mode, NoNames, Policy, Principal, Verdict, Verdicts, judge,
};

use crate::error::BenchError;
use crate::statement::Statement;

/// A policy and a catalog that verdicts are asked of. The thread needs the judge's stack.
#[derive(Debug)]
pub(crate) struct Judge {
    policy: Arc<Policy>,
    catalog: Arc<Catalog>,
    verdicts: Verdicts,
}

impl Judge {
    /// The lab's policy and catalog.
    pub(crate) fn lab() -> Result<Self, BenchError> {
        Self::new(POLICY_YAML, CATALOG_JSON)
    }

    pub(crate) fn new(policy: &str, catalog: &str) -> Result<Self, BenchError> {
        let policy = Policy::load(policy, "policy.yaml").map_err(|problems| {
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            BenchError::Wrong(format!("the policy cannot be read: {first}"))
        })?;
        let catalog = Catalog::parse(catalog)
            .map_err(|error| BenchError::Wrong(format!("the catalog cannot be read: {error}")))?;
        let (policy, catalog) = (Arc::new(policy.policy), Arc::new(catalog));
        let verdicts = Verdicts::new(Arc::clone(&policy), Arc::clone(&catalog), CACHE_BYTES);
        Ok(Self { policy, catalog, verdicts })
    }

    /// Without a cache.
    pub(crate) fn cold(&self, statement: &Statement) {
        let principal = &statement.principal;
        let text = &statement.sql;
        let judgement = judge(text, mode(statement), principal, &self.policy, &self.catalog, &NoNames);
        black_box(self.refusal(&judgement, principal, statement));
    }

    /// Through the cache.
    pub(crate) fn warm(&self, statement: &Statement) {
        let principal = &statement.principal;
        let judgement = self.verdicts.judge(&statement.sql, mode(statement), principal, &NoNames);
        black_box(self.refusal(&judgement, principal, statement));
    }

    /// The peer: nothing but the parser.
    #[expect(clippy::unused_self, reason = "it takes its turn among the others")]
    pub(crate) fn parse(&self, statement: &Statement) {
        black_box(pg_query::parse(&statement.sql, 0).is_ok());
    }

    /// Whether the verdict is the one that it must be, without a cache and twice through it.
    pub(crate) fn check(&self, statement: &Statement) -> Result<(), String> {
        let principal = &statement.principal;
        let (text, mode) = (&statement.sql, mode(statement));
        let cold = judge(text, mode, principal, &self.policy, &self.catalog, &NoNames);
        let first = self.verdicts.judge(text, mode, principal, &NoNames);
        let again = self.verdicts.judge(text, mode, principal, &NoNames);
        for judgement in [cold, first, again] {
            let refusal = self.refusal(&judgement, principal, statement);
            let codes = refusal.as_ref().map(|[code, sqlstate]| [code.as_str(), sqlstate.as_str()]);
            if let Some(fault) = statement.expected.fault(codes) {
                return Err(fault);
            }
        }
        Ok(())
    }

    pub(crate) fn stats(&self) -> CacheStats {
        self.verdicts.stats()
    }

    /// Policy code and SQLSTATE of the first denial, of the text or of a bound value.
    fn refusal(
        &self,
        judgement: &Judgement,
        principal: &Principal,
        statement: &Statement,
    ) -> Option<[String; 2]> {
        if let Some((_, denial)) = judgement.denial() {
            return Some([denial.code.to_string(), denial.sqlstate.0.to_owned()]);
        }
        let params = statement.params.as_ref()?;
        let values: Vec<_> =
            params.iter().map(|value| (value.as_deref().map(str::as_bytes), Format::Text)).collect();
        let checks = judgement.statements.iter().flat_map(|judged| match &judged.verdict {
            Verdict::Allow(obligations) => obligations.binds.as_slice(),
            Verdict::Deny(_) => &[],
        });
        let mut refused = checks.filter_map(|check| check.holds(&self.policy, principal, &values).err());
        refused.next().map(|refused| {
            let denial = refused.denial();
            [denial.code.to_string(), denial.sqlstate.0.to_owned()]
        })
    }
}

fn mode(statement: &Statement) -> Mode<'static> {
    match statement.params {
        Some(_) => Mode::Extended { declared: &[] },
        None => Mode::Simple,
    }
}

/// The lab's catalog, as `pgmoat catalog dump` gives it.
pub(crate) const CATALOG_JSON: &str = include_str!("../../../../policy/golden/lab-catalog.json");
/// As the proxy has it.
const CACHE_BYTES: u64 = 64 << 20;
