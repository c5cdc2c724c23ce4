//! What a client sets at start-up: whether it may.

use pgmoat_policy::{Mode, NoNames, Rule, Verdict};

use super::refusal::{End, failure};
use super::users::User;
use crate::shared::Database;

/// Settings by name, in the order in which the client gave them.
pub(super) type Settings = Vec<(Box<str>, Box<str>)>;

/// The client's start-up settings, if the policy's settings rule lets every one of them pass: the
/// same rule, by the same judge, as for `SET name TO 'value'`. The kind `set` is not asked for:
/// drivers send settings at start-up for users who may never send SET.
pub(super) fn allowed(
    user: &User,
    settings: Vec<(String, String)>,
    database: &Database,
) -> Result<Settings, End> {
    let Some(rules) = database.rules() else {
        let message = "the database cannot be reached yet; pgmoat tries again by itself";
        return Err(End::Fatal(failure("57P03", message, "upstream down")));
    };
    for (name, value) in &settings {
        let text = as_set(name, value);
        let judgement = pgmoat_policy::judge(
            &text,
            Mode::Simple,
            &user.principal,
            &rules.policy,
            &rules.catalog,
            &NoNames,
        );
        for judged in &judgement.statements {
            let denied = match &judged.verdict {
                Verdict::Allow(_) => None,
                Verdict::Deny(denials) => denials.all().iter().find(|denial| denial.rule != Rule::Kind),
            };
            if let Some(denial) = denied {
                let message = format!("startup parameter \"{name}\": {}", denial.message);
                return Err(End::Fatal(failure("42501", &message, "setting not allowed")));
            }
        }
    }
    Ok(settings.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
}

/// What the parameter would be as a statement. The elements of a plain list stand apart, as
/// PostgreSQL takes them apart at start-up; any other value is one string, and so is a list with
/// quotes in it, which is then refused: a comma inside quotes parts nothing.
fn as_set(name: &str, value: &str) -> String {
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let values = if name.eq_ignore_ascii_case("search_path") && !value.contains('"') {
        let element = |text: &str| literal(text.trim_matches(|c: char| c.is_ascii_whitespace()));
        value.split(',').map(element).collect::<Vec<_>>().join(", ")
    } else {
        literal(value)
    };
    format!("SET \"{}\" TO {values}", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_judged_as_the_statement_that_it_is() {
        for (name, value, text) in [
            ("TimeZone", "UTC", "SET \"TimeZone\" TO 'UTC'"),
            ("DateStyle", "ISO, MDY", "SET \"DateStyle\" TO 'ISO, MDY'"),
            ("a\"; DROP x", "it's", "SET \"a\"\"; DROP x\" TO 'it''s'"),
            ("search_path", "app, public", "SET \"search_path\" TO 'app', 'public'"),
            ("search_path", "\"app, public\"", "SET \"search_path\" TO '\"app, public\"'"),
            ("Search_Path", "app\u{a0},x'y", "SET \"Search_Path\" TO 'app\u{a0}', 'x''y'"),
        ] {
            assert_eq!(as_set(name, value), text);
        }
    }
}
