//! What a statement does to the session's state, and the name tokens in it (contracts 1, 2).

use std::ops::Range;

use crate::ir::{self, NameToken, Transaction};
use crate::shape::token::{TokenKind, words};
use crate::{Effect, NameSpace, NameUse, Oid, TransactionEffect};

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

/// A setting that is written, with the list of its values as SHOW prints one.
pub(super) fn of_setting(name: &str, local: bool, values: Option<&[String]>) -> Effect {
    Effect::Setting {
        name: name.to_ascii_lowercase().into(),
        local,
        value: values.map(|values| values.join(", ").into()),
    }
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
