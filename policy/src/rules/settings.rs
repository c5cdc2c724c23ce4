//! Settings: SET, RESET, SHOW, set_config, current_setting (policy 4.7).

use super::calls::identifiers;
use crate::builtin::settings::{WriteRule, milliseconds, readable, write_rule};
use crate::constant::Constants;
use crate::ir::At;
use crate::policy::Role;
use crate::resolve::ArgValue;
use crate::{Code, Denial, Policy, Rule, TextArgument};

/// Whether a setting may be written to these values.
pub(crate) fn may_write(
    policy: &Policy,
    role: &Role,
    name: &str,
    texts: &[String],
    at: At,
) -> Option<Denial> {
    if role.allows_setting(name) && write_rule(name).is_none() {
        return None;
    }
    let Some(rule) = write_rule(name) else { return Some(refuse(name, at)) };
    let good = match (rule, texts) {
        (WriteRule::Any, _) => true,
        (WriteRule::SearchPath, names) => is_pinned_path(policy, names),
        (WriteRule::Timeout, [value]) => within_timeout(role, value),
        (WriteRule::Only(_) | WriteRule::Utf8, [value]) => rule.allows(value),
        (WriteRule::Timeout | WriteRule::Only(_) | WriteRule::Utf8, _) => false,
    };
    match good {
        true => None,
        false => Some(Denial::new(
            Rule::Settings,
            Code::SettingNotAllowed,
            at,
            format!("setting \"{name}\" may not be set to this value"),
        )),
    }
}

/// The same for a value as set_config takes it: a list is one text.
pub(crate) fn may_write_text(
    policy: &Policy,
    role: &Role,
    name: &str,
    value: &str,
    at: At,
) -> Option<Denial> {
    let values = match name.eq_ignore_ascii_case("search_path") {
        true => value.split(',').map(single_identifier).collect::<Option<Vec<_>>>(),
        false => Some(vec![value.to_owned()]),
    };
    match values {
        Some(values) => may_write(policy, role, name, &values, at),
        None => Some(Denial::new(
            Rule::Settings,
            Code::SettingNotAllowed,
            at,
            "the value of search_path is not a list of names",
        )),
    }
}

fn single_identifier(text: &str) -> Option<String> {
    match identifiers(text)?.as_slice() {
        [name] => Some(name.clone()),
        _ => None,
    }
}

/// Whether a setting may be written at all; its value is not known yet.
pub(crate) fn may_write_some(role: &Role, name: &str, at: At) -> Option<Denial> {
    (write_rule(name).is_none() && !role.allows_setting(name)).then(|| refuse(name, at))
}

/// Whether a setting may be set back: one that may be written, or that is pinned.
pub(crate) fn may_reset(role: &Role, name: &str, at: At) -> Option<Denial> {
    const LETTING_GO: [&str; 2] = ["role", "session_authorization"];
    let known = write_rule(name).is_some()
        || role.allows_setting(name)
        || LETTING_GO.iter().any(|known| known.eq_ignore_ascii_case(name));
    (!known).then(|| refuse(name, at))
}

/// Whether a setting may be read.
pub(crate) fn may_read(role: &Role, name: &str, at: At) -> Option<Denial> {
    (!readable(name) && !role.allows_setting(name)).then(|| refuse(name, at))
}

fn refuse(name: &str, at: At) -> Denial {
    Denial::new(Rule::Settings, Code::SettingNotAllowed, at, format!("setting \"{name}\" is not allowed"))
}

/// A text argument of set_config; none where it is neither a constant nor a parameter.
pub(crate) fn argument(constants: &Constants, value: &ArgValue) -> Option<TextArgument> {
    match value {
        ArgValue::Const(constant) => Some(TextArgument::Constant(constants.shown(constant).into())),
        ArgValue::Param(number) => Some(TextArgument::Bound(*number)),
        ArgValue::CatalogColumn | ArgValue::Tableoid | ArgValue::Other => None,
    }
}

impl TextArgument {
    /// The same with a constant's letters folded, as names of settings are.
    pub(crate) fn folded(self) -> TextArgument {
        match self {
            TextArgument::Constant(text) => TextArgument::Constant(text.to_ascii_lowercase().into()),
            TextArgument::Bound(_) => self,
        }
    }
}

/// The timeout is not above the role's, where it has one; 0 is above every limit.
fn within_timeout(role: &Role, value: &str) -> bool {
    match role.timeout {
        None => true,
        Some(timeout) => {
            milliseconds(value).is_some_and(|asked| asked != 0 && u128::from(asked) <= timeout.as_millis())
        }
    }
}

/// The pinned path, as a list of names.
fn is_pinned_path(policy: &Policy, names: &[String]) -> bool {
    let pinned = policy.search_path();
    names.len() == pinned.len() && names.iter().zip(pinned).all(|(name, pinned)| **name == **pinned)
}
