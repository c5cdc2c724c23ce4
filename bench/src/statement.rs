//! The statements that verdicts are measured on, each with the verdict that it must get.

use std::fmt::Write as _;

use pgmoat_lab::User;
use pgmoat_policy::Principal;
use serde::Deserialize;

use crate::error::BenchError;

/// A text, who sends it, and what must be said of it.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) principal: Principal,
    /// Bound values in text format; none in the simple query protocol.
    pub(crate) params: Option<Vec<Option<String>>>,
    pub(crate) expected: Expected,
}

/// The verdict that must be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expected {
    Allowed,
    /// With one of these codes or SQLSTATEs.
    Denied(Vec<String>),
}

/// Four queries of the kind that an analytics agent writes on the lab's schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tier {
    pub(crate) name: &'static str,
    text: &'static str,
}

/// From the shortest to the longest.
pub(crate) const TIERS: [Tier; 5] = [
    Tier { name: "t1_point", text: include_str!("../queries/t1_point.sql") },
    Tier { name: "t2_filter_aggregate", text: include_str!("../queries/t2_filter_aggregate.sql") },
    Tier { name: "t3_joins", text: include_str!("../queries/t3_joins.sql") },
    Tier { name: "t4_cte_window", text: include_str!("../queries/t4_cte_window.sql") },
    Tier { name: "t5_report", text: include_str!("../queries/t5_report.sql") },
];

impl Tier {
    /// Its queries with this number among their literals.
    pub(crate) fn statements(self, number: u64) -> Vec<Statement> {
        let number = number.to_string();
        let texts = self.text.split(";\n").map(str::trim).filter(|text| !text.is_empty());
        texts.map(|text| Statement::allowed(ANALYST, text.replace("{n}", &number))).collect()
    }
}

impl Statement {
    pub(crate) fn allowed(principal: &str, sql: String) -> Self {
        Self { sql, principal: read(principal), params: None, expected: Expected::Allowed }
    }

    pub(crate) fn denied(principal: &str, sql: String, code: &str) -> Self {
        let expected = Expected::Denied(vec![code.to_owned()]);
        Self { expected, ..Self::allowed(principal, sql) }
    }

    /// The same of another tenant's rows: refused.
    pub(crate) fn across(&self) -> Self {
        let expected = Expected::Denied(vec![INSUFFICIENT_PRIVILEGE.to_owned()]);
        Self { sql: self.sql.replace("'acme'", "'globex'"), expected, ..self.clone() }
    }

    /// A line of `pgmoat verify --batch`, and the body of a request over HTTP.
    pub(crate) fn json(&self, id: usize, database: Option<&str>) -> String {
        let Principal { role, tenant } = &self.principal;
        let principal = tenant.as_ref().map_or_else(|| role.to_string(), |tenant| format!("{role}:{tenant}"));
        let mut object = serde_json::json!({ "id": id, "sql": self.sql, "as": principal });
        if let Some(fields) = object.as_object_mut() {
            fields.extend(self.params.iter().map(|params| ("params".to_owned(), serde_json::json!(params))));
            fields.extend(database.map(|name| ("database".to_owned(), name.into())));
        }
        object.to_string()
    }
}

impl Expected {
    /// What is wrong with a verdict: none where nothing is. `codes` are a denial's, its policy code and its SQLSTATE.
    pub(crate) fn fault(&self, codes: Option<[&str; 2]>) -> Option<String> {
        match (self, codes) {
            (Self::Allowed, None) => None,
            (Self::Allowed, Some([code, sqlstate])) => {
                Some(format!("refused, and should not be: {code} ({sqlstate})"))
            }
            (Self::Denied(wanted), None) => Some(format!("allowed, and should be refused: {wanted:?}")),
            (Self::Denied(wanted), Some(codes)) => {
                let told = wanted.iter().any(|wanted| codes.contains(&wanted.as_str()));
                (!told).then(|| format!("refused with {codes:?} instead of {wanted:?}"))
            }
        }
    }
}

/// Harmless statements of applications.
pub(crate) fn corpus_benign() -> Result<Vec<Statement>, BenchError> {
    corpus(include_str!("../../tests/corpus/benign.jsonl"))
}

/// What attackers try, with a few harmless neighbours.
pub(crate) fn corpus_attack() -> Result<Vec<Statement>, BenchError> {
    corpus(include_str!("../../tests/corpus/attack.jsonl"))
}

/// Texts that are large in one way each. What is past a limit must be refused by that limit.
pub(crate) fn pathological() -> Vec<(&'static str, Statement)> {
    let own = "SELECT id FROM app.orders WHERE tenant_id = 'acme'";
    let numbers = joined(10_000, ", ", |n, text| write!(text, "{n}"));
    let joins = joined(49, " ", |n, text| {
        write!(text, "JOIN app.orders o{n} ON o{n}.tenant_id = o.tenant_id AND o{n}.id = o.id")
    });
    let conditions =
        joined(500, " OR ", |n, text| write!(text, "(status = 'paid' AND total > {})", n + 1000));
    let unions = joined(100, " UNION ALL ", |n, text| write!(text, "SELECT {n}"));
    let (open, close) = ("(SELECT * FROM ".repeat(500), ") x".repeat(500));
    let nested = format!("SELECT id FROM {open}app.orders{close} WHERE tenant_id = 'acme'");
    let joined = format!("SELECT o.id FROM app.orders o {joins} WHERE o.tenant_id = 'acme'");
    vec![
        ("in_list_10000", Statement::denied(APP, format!("{own} AND id IN ({numbers})"), "limit_in_list")),
        ("nesting_500", Statement::denied(APP, nested, "limit_depth")),
        ("joins_50", Statement::allowed(APP, joined)),
        ("text_15k", Statement::allowed(APP, format!("{own} AND ({conditions})"))),
        ("union_100", Statement::denied(APP, unions, "limit_set_operations")),
    ]
}

/// `role` or `role:tenant`; what is neither is nobody, whom every policy refuses.
fn read(principal: &str) -> Principal {
    Principal::parse(principal).unwrap_or_else(|_| Principal { role: "".into(), tenant: None })
}

/// `count` pieces of a text, with something between.
fn joined(
    count: usize,
    between: &str,
    mut piece: impl FnMut(usize, &mut String) -> std::fmt::Result,
) -> String {
    let mut text = String::new();
    for number in 0..count {
        text.push_str(if number == 0 { "" } else { between });
        // Writing to a String does not fail.
        let _ = piece(number, &mut text);
    }
    text
}

fn corpus(lines: &str) -> Result<Vec<Statement>, BenchError> {
    #[derive(Deserialize)]
    struct Case {
        id: String,
        principal: String,
        sql: String,
        protocol: String,
        #[serde(default)]
        params: Vec<Option<String>>,
        expect: String,
        codes: Vec<String>,
    }
    let statement = |line: &str| {
        let case: Case = serde_json::from_str(line)
            .map_err(|error| BenchError::Wrong(format!("the corpus has a line that is no case: {error}")))?;
        let unknown = || BenchError::Wrong(format!("{}: no user {}", case.id, case.principal));
        Ok(Statement {
            principal: read(&User::named(&case.principal).ok_or_else(unknown)?.principal()),
            params: (case.protocol == "extended").then_some(case.params),
            expected: if case.expect == "allow" { Expected::Allowed } else { Expected::Denied(case.codes) },
            sql: case.sql,
        })
    };
    lines.lines().map(statement).collect()
}

/// Who sends the tiers' queries.
const ANALYST: &str = "analyst:acme";
const APP: &str = "app:acme";
const INSUFFICIENT_PRIVILEGE: &str = "42501";

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_tier_has_four_queries_and_they_grow() {
        let sizes = TIERS.map(|tier| {
            let statements = tier.statements(4711);
            assert_eq!(statements.len(), 4, "{}", tier.name);
            assert!(statements.iter().all(|one| one.sql.contains("4711") && !one.sql.contains("{n}")));
            statements.iter().map(|one| one.sql.len()).sum::<usize>()
        });
        assert!(sizes.is_sorted(), "{sizes:?}");
    }

    #[test]
    fn a_wrong_verdict_is_a_fault() {
        let denied = Expected::Denied(vec!["tenant_mismatch".to_owned(), "42601".to_owned()]);
        assert_eq!(denied.fault(Some(["tenant_mismatch", "42501"])), None);
        assert_eq!(denied.fault(Some(["syntax_error", "42601"])), None);
        assert!(denied.fault(Some(["limit_depth", "54000"])).is_some() && denied.fault(None).is_some());
        assert_eq!(Expected::Allowed.fault(None), None);
        assert!(Expected::Allowed.fault(Some(["tenant_mismatch", "42501"])).is_some());
    }

    #[test]
    fn the_corpus_is_read_whole() {
        assert!(corpus_benign().unwrap().len() > 200 && corpus_attack().unwrap().len() > 400);
    }

    #[test]
    fn a_line_is_one_line() {
        let line = TIERS[4].statements(1).remove(0).json(7, Some("lab"));
        assert!(!line.contains('\n'), "{line}");
        let back: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&back["id"], &back["database"]), (&7.into(), &"lab".into()));
    }
}
