//! What a verdict rests on, in JSON: each relation, and which condition restricts it or what is missing.

use pgmoat_policy::{Reached, Standing};
use serde::Serialize;

use super::answer::characters;

/// A relation of a statement as JSON.
#[derive(Serialize)]
pub(super) struct RelationLine<'a> {
    statement: usize,
    relation: String,
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    called: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    in_view: bool,
    standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<usize>,
    #[serde(skip_serializing_if = "<[u32]>::is_empty")]
    parameters: &'a [u32],
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'a str>,
}

/// The relations of every statement.
pub(super) fn lines<'a>(
    reached: &'a [Vec<Reached>],
    text: &'a str,
) -> impl Iterator<Item = RelationLine<'a>> + use<'a> {
    let numbered =
        (1..).zip(reached).flat_map(|(statement, all)| all.iter().map(move |one| (statement, one)));
    numbered.map(|(statement, reached)| {
        let mut line = RelationLine {
            statement,
            relation: reached.relation.to_string(),
            called: reached.called.as_deref(),
            position: reached.at.and_then(|at| characters(text, at)),
            in_view: reached.in_view,
            standing: word(&reached.standing),
            condition: None,
            parameters: &[],
            missing: None,
        };
        if let Standing::Restricted { condition, params } = &reached.standing {
            line.condition = condition.and_then(|at| characters(text, at));
            line.parameters = params;
        }
        if let Standing::Unrestricted { missing } = &reached.standing {
            line.missing = missing.as_deref();
        }
        line
    })
}

fn word(standing: &Standing) -> &'static str {
    match standing {
        Standing::Restricted { .. } => "restricted",
        Standing::Written => "written",
        Standing::Unrestricted { .. } => "unrestricted",
        Standing::NoValue => "no_value",
        Standing::Unused => "unused",
        Standing::NotJudged => "not_judged",
        Standing::Shared => "shared",
        Standing::View => "view",
        Standing::System => "system",
        Standing::NoRule => "no_rule",
        Standing::Exempt => "exempt",
    }
}
