//! The corpus through the library: every attack is refused, how many harmless statements pass, and
//! whether hints help.
//!
//! `floors` are figures that only rise: a change that lowers one makes something worse.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking and say what they saw"
)]

mod edit;
mod hints;
mod precision;

use std::collections::BTreeMap;

use pgmoat_policy::{
    Catalog, Judgement, Mode, NoNames, Policy, Principal, STACK_BYTES, Verdict, judge, policy::Format,
};
use serde::Deserialize;

mod floors {
    /// Harmless statements that are allowed, of all.
    pub(super) const BENIGN_ALLOWED: usize = 254;
    /// Attacks whose code is one that the case names.
    pub(super) const ATTACK_CODES: usize = 486;
    /// Denials whose hint, followed, helps.
    pub(super) const HINTS: usize = 230;
}

#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    family: String,
    principal: String,
    sql: String,
    expect: String,
    codes: Vec<String>,
    why: String,
    params: Option<Vec<Option<String>>>,
}

struct Lab {
    policy: Policy,
    catalog: Catalog,
}

impl Lab {
    fn new() -> Lab {
        let policy = Policy::load(include_str!("../../../lab/policy.yaml"), "lab/policy.yaml").unwrap();
        let catalog = Catalog::parse(include_str!("../../golden/lab-catalog.json")).unwrap();
        Lab { policy: policy.policy, catalog }
    }

    /// The codes and SQLSTATEs of the first denial, or none: the statement may run with these
    /// values.
    fn refusal(&self, case: &Case) -> Option<(String, String, String)> {
        let judgement = self.judgement(case, &case.sql);
        if let Some((_, denial)) = judgement.denial() {
            return Some((denial.code.to_string(), denial.sqlstate.0.to_owned(), denial.message.clone()));
        }
        self.bind(&judgement, &principal(&case.principal), case)
    }

    /// Of a text in the place of the case's own.
    fn judgement(&self, case: &Case, sql: &str) -> Judgement {
        let mode = match case.params {
            Some(_) => Mode::Extended { declared: &[] },
            None => Mode::Simple,
        };
        judge(sql, mode, &principal(&case.principal), &self.policy, &self.catalog, &NoNames)
    }

    fn bind(
        &self,
        judgement: &Judgement,
        principal: &Principal,
        case: &Case,
    ) -> Option<(String, String, String)> {
        let params = case.params.iter().flatten();
        let values: Vec<_> = params.map(|text| (text.as_deref().map(str::as_bytes), Format::Text)).collect();
        for judged in &judgement.statements {
            let Verdict::Allow(obligations) = &judged.verdict else { continue };
            for check in &obligations.binds {
                if check.holds(&self.policy, principal, &values).is_err() {
                    return Some(("tenant_mismatch".into(), "42501".into(), "at Bind".into()));
                }
            }
        }
        None
    }
}

fn principal(user: &str) -> Principal {
    let name = match user {
        "acme_app" => "app:acme",
        "globex_app" => "app:globex",
        "acme_analyst" => "analyst:acme",
        "ops" => "ops",
        other => panic!("unknown user {other}"),
    };
    Principal::parse(name).unwrap()
}

fn cases(text: &str) -> Vec<Case> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Judging needs a large stack.
fn on_large_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test).unwrap().join().unwrap();
}

#[test]
fn every_attack_is_refused() {
    on_large_stack(|| {
        let lab = Lab::new();
        let mut right = 0;
        let mut total = 0;
        let mut passed = Vec::new();
        for case in cases(include_str!("../../../tests/corpus/attack.jsonl")) {
            if case.expect != "deny" {
                continue;
            }
            total += 1;
            match lab.refusal(&case) {
                None => passed.push(format!("{} {}: {}", case.id, case.family, case.sql)),
                Some((code, state, message)) => {
                    if case.codes.contains(&code) || case.codes.contains(&state) {
                        right += 1;
                    } else {
                        println!(
                            "other code {code} ({message}): {} {} wants {:?}",
                            case.id,
                            case.sql.chars().take(160).collect::<String>(),
                            case.codes
                        );
                    }
                }
            }
        }
        println!("attacks with a code of theirs: {right} of {total}");
        assert!(passed.is_empty(), "attacks that passed:\n{}", passed.join("\n"));
        assert!(right >= floors::ATTACK_CODES);
    });
}

#[test]
fn harmless_statements_pass() {
    on_large_stack(|| {
        let lab = Lab::new();
        let mut allowed = 0;
        let mut total = 0;
        let mut reasons: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        let attacks = cases(include_str!("../../../tests/corpus/attack.jsonl"));
        let harmless = cases(include_str!("../../../tests/corpus/benign.jsonl"));
        for case in attacks.into_iter().chain(harmless).filter(|case| case.expect == "allow") {
            total += 1;
            match lab.refusal(&case) {
                None => allowed += 1,
                Some((code, _, message)) => reasons
                    .entry((code, case.family.clone()))
                    .or_default()
                    .push(format!("{}: {message}", case.id)),
            }
        }
        println!("harmless statements allowed: {allowed} of {total}");
        for ((code, family), cases) in reasons {
            println!("  {code} in {family}:");
            for case in cases {
                println!("    {case}");
            }
        }
        assert!(allowed >= floors::BENIGN_ALLOWED);
    });
}
