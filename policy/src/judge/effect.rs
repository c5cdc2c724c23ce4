//! What a statement does to the session's state, and the name tokens in it (contracts 1, 2).

use std::ops::Range;

use crate::catalog::CallRule;
use crate::constant::Constants;
use crate::ir::{self, NameToken, Transaction};
use crate::resolve::{ArgValue, Bound, FunctionUse};
use crate::rules::settings;
use crate::shape::token::{TokenKind, words};
use crate::{
    Effect, Kind, NameSpace, NameUse, Oid, SettingEffect, SettingValue, TextArgument, TransactionEffect,
};

/// The effect of transaction control; none for two-phase commit.
pub(super) fn of_transaction(transaction: &Transaction) -> Effect {
    Effect::Transaction(match transaction {
        Transaction::Begin => TransactionEffect::Begin,
        Transaction::Commit { .. } => TransactionEffect::Commit,
        Transaction::Rollback { .. } => TransactionEffect::Rollback,
        Transaction::Savepoint(_) => TransactionEffect::Savepoint,
        Transaction::Release(_) => TransactionEffect::Release,
        Transaction::RollbackTo(_) => TransactionEffect::RollbackTo,
        Transaction::TwoPhase => return Effect::None,
    })
}

/// The effect of a statement with rows: SELECT INTO, set_config, session-level advisory locks.
pub(super) fn of_rows(bound: &Bound<'_>, constants: &Constants) -> Effect {
    let mut effect = Effect::None;
    let mut settings = Vec::new();
    for used in &bound.uses.functions {
        let Some(function) = used.candidates.first() else { continue };
        let name = &*function.name.name;
        if function.rule == CallRule::SetConfig {
            settings.extend(of_set_config(used, constants));
        } else if SESSION_LOCKS.contains(&name) {
            effect = Effect::AdvisoryLock;
        }
    }
    if !settings.is_empty() {
        effect = Effect::Settings(settings);
    }
    match bound.uses.kinds.iter().any(|(kind, _)| *kind == Kind::Ddl) {
        true => Effect::Ddl,
        false => effect,
    }
}

/// Advisory locks that outlive their transaction.
pub(super) const SESSION_LOCKS: [&str; 4] =
    ["pg_advisory_lock", "pg_advisory_lock_shared", "pg_try_advisory_lock", "pg_try_advisory_lock_shared"];

/// None where the call is refused.
fn of_set_config(used: &FunctionUse<'_>, constants: &Constants) -> Option<SettingEffect> {
    let [name, value, local] = used.args.as_slice() else { return None };
    let lets_go = matches!(&value.value, ArgValue::Const(constant) if constant.is_null());
    let value = match settings::argument(constants, &value.value)? {
        TextArgument::Constant(_) if lets_go => SettingValue::Default,
        TextArgument::Constant(text) => SettingValue::Text(text),
        TextArgument::Bound(number) => SettingValue::Bound(number),
    };
    let name = settings::argument(constants, &name.value)?.folded();
    let is_null = matches!(&local.value, ArgValue::Const(constant) if constant.is_null());
    let local = match settings::argument(constants, &local.value)? {
        TextArgument::Constant(_) if is_null => Some(false),
        TextArgument::Constant(local) => truth(&local),
        TextArgument::Bound(_) => None,
    };
    Some(SettingEffect { name, local, value })
}

/// A text as PostgreSQL reads a boolean of it (`parse_bool`): any beginning of a word that no other begins with, however it
/// is written; none where it reads none.
fn truth(text: &str) -> Option<bool> {
    let text = text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']).to_ascii_lowercase();
    let begins = |words: &[&str]| words.iter().any(|word| word.starts_with(&text));
    match &*text {
        "" | "o" => None,
        "1" | "on" => Some(true),
        "0" | "of" | "off" => Some(false),
        _ if begins(&["true", "yes"]) => Some(true),
        _ if begins(&["false", "no"]) => Some(false),
        _ => None,
    }
}

/// A setting that is written, with the list of its values as SHOW prints one; none: its default.
pub(super) fn of_setting(name: &str, local: bool, values: Option<&[String]>) -> Effect {
    let value = values.map_or(SettingValue::Default, |values| SettingValue::Text(values.join(", ").into()));
    let name = TextArgument::Constant(name.to_ascii_lowercase().into());
    Effect::Settings(vec![SettingEffect { name, local: Some(local), value }])
}

/// PREPARE's effect: where the prepared statement stands in the text.
pub(super) fn of_prepare(
    text: &str,
    statement: &Range<usize>,
    name: &NameToken,
    declared: Vec<Oid>,
) -> Option<Effect> {
    let body = prepared_body(text, statement, name)?;
    Some(Effect::Prepare { name: name.name.clone(), body, declared })
}

/// The bytes behind PREPARE name (types) AS.
fn prepared_body(text: &str, statement: &Range<usize>, name: &NameToken) -> Option<Range<usize>> {
    let from = name.span.as_ref()?.end;
    let rest = text.get(from..statement.end)?;
    let mut depth = 0_usize;
    let mut tokens = words(rest);
    while let Some(token) = tokens.next() {
        if token.kind == TokenKind::Punctuation(b'(') {
            depth += 1;
        } else if token.kind == TokenKind::Punctuation(b')') {
            depth = depth.checked_sub(1)?;
        } else if depth == 0 && token.is_word(rest, "as") {
            let start = tokens.next()?.start;
            return Some(from + start..statement.end);
        }
    }
    None
}

/// The use of a name's token; none where its place in the text was not found.
pub(super) fn name_use(name: &NameToken, space: NameSpace) -> Option<NameUse> {
    let span = name.span.clone()?;
    Some(NameUse { span, space, name: name.name.clone() })
}

/// The cursor that WHERE CURRENT OF names, anywhere in a statement.
pub(super) fn current_of(body: &ir::Body) -> Vec<&NameToken> {
    let filter = |filter: &'_ ir::DmlFilter| match filter {
        ir::DmlFilter::CurrentOf { .. } => true,
        ir::DmlFilter::Nothing | ir::DmlFilter::Condition(_) => false,
    };
    let mut found = Vec::new();
    match body {
        ir::Body::Update(update) if filter(&update.filter) => found.push(&update.filter),
        ir::Body::Delete(delete) if filter(&delete.filter) => found.push(&delete.filter),
        ir::Body::Query(_)
        | ir::Body::Insert(_)
        | ir::Body::Update(_)
        | ir::Body::Delete(_)
        | ir::Body::Merge(_)
        | ir::Body::Utility(_) => {}
    }
    found
        .into_iter()
        .filter_map(|filter| match filter {
            ir::DmlFilter::CurrentOf { cursor } => Some(cursor),
            ir::DmlFilter::Nothing | ir::DmlFilter::Condition(_) => None,
        })
        .collect()
}
