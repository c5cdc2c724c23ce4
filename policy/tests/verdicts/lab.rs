//! The lab's policy and catalog, and one-line questions to the judge.

use pgmoat_policy::policy::Format;
use pgmoat_policy::{
    Catalog, Denial, Judged, Judgement, Mode, NoNames, Oid, Policy, Principal, STACK_BYTES, Verdict, judge,
};

pub(crate) struct Lab {
    pub(crate) policy: Policy,
    pub(crate) catalog: Catalog,
    /// The catalog's JSON.
    text: String,
}

impl Lab {
    pub(crate) fn new() -> Lab {
        Lab::with_policy(include_str!("../../../lab/policy.yaml"))
    }

    pub(crate) fn with_policy(text: &str) -> Lab {
        let policy = Policy::load(text, "policy.yaml").unwrap_or_else(|problems| panic!("{problems:?}"));
        let text = include_str!("../../golden/lab-catalog.json").to_owned();
        Lab { policy: policy.policy, catalog: Catalog::parse(&text).unwrap(), text }
    }

    /// The same on another server.
    pub(crate) fn on(self, server_version_num: u32) -> Lab {
        let here = format!("\"server_version_num\":{}", self.catalog.server_version_num());
        let there = format!("\"server_version_num\":{server_version_num}");
        let text = self.text.replacen(&here, &there, 1);
        self.with_catalog(text)
    }

    /// The same with a relation of `app` that is another one.
    pub(crate) fn with_relation(self, name: &str, change: impl Fn(&mut serde_json::Value)) -> Lab {
        self.changed(|catalog| {
            let relations = catalog["relations"].as_array_mut().unwrap();
            let relation =
                relations.iter_mut().find(|known| known["name"] == name && known["schema"] == "app").unwrap();
            change(relation);
        })
    }

    /// The same with another catalog.
    pub(crate) fn changed(self, change: impl Fn(&mut serde_json::Value)) -> Lab {
        let mut catalog: serde_json::Value = serde_json::from_str(&self.text).unwrap();
        change(&mut catalog);
        self.with_catalog(catalog.to_string())
    }

    fn with_catalog(self, text: String) -> Lab {
        Lab { catalog: Catalog::parse(&text).unwrap(), text, ..self }
    }

    pub(crate) fn judge(&self, who: &str, mode: Mode<'_>, sql: &str) -> Judgement {
        judge(sql, mode, &Principal::parse(who).unwrap(), &self.policy, &self.catalog, &NoNames)
    }

    /// The first denial of a simple query.
    pub(crate) fn denial(&self, who: &str, sql: &str) -> Option<Denial> {
        self.judge(who, Mode::Simple, sql).denial().map(|(_, denial)| denial.clone())
    }

    /// Holds each statement to its expectation: `ok` or a code. All differences are shown at once.
    pub(crate) fn expect(&self, who: &str, cases: &[(&str, &str)]) {
        let mut wrong = Vec::new();
        for (expected, sql) in cases {
            let denial = self.denial(who, sql);
            let got = denial.as_ref().map_or("ok".to_owned(), |denial| denial.code.to_string());
            if got != *expected {
                let message = denial.map(|denial| denial.message).unwrap_or_default();
                wrong.push(format!("{sql}\n  expected {expected}, got {got} {message}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// The code of a Parse with these declared types and a Bind with these text values; `ok` if
    /// both pass.
    pub(crate) fn bound(&self, who: &str, declared: &[Oid], sql: &str, values: &[Option<&str>]) -> String {
        let principal = Principal::parse(who).unwrap();
        let judgement = self.judge(who, Mode::Extended { declared }, sql);
        if let Some((_, denial)) = judgement.denial() {
            return denial.code.to_string();
        }
        let values: Vec<_> = values.iter().map(|value| (value.map(str::as_bytes), Format::Text)).collect();
        for judged in &judgement.statements {
            let Verdict::Allow(obligations) = &judged.verdict else { continue };
            for check in &obligations.binds {
                if check.holds(&self.policy, &principal, &values).is_err() {
                    return "at bind".to_owned();
                }
            }
        }
        "ok".to_owned()
    }
}

/// The only statement of a judgement.
pub(crate) fn only(judgement: &Judgement) -> &Judged {
    match judgement.statements.as_slice() {
        [judged] => judged,
        other => panic!("{} statements", other.len()),
    }
}

/// Judging needs a large stack.
pub(crate) fn on_large_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}
