//! What a statement leaves in the session that its effect does not tell: whoever shares connections between clients
//! keeps them apart by it (wire 5).
//!
//! What is not known to leave nothing is named: a function of the database's own that is VOLATILE, a trigger, a rule.
//! One that is declared STABLE or IMMUTABLE is taken at its word, and so are operators and casts.

use super::effect::SESSION_LOCKS;
use crate::catalog::{CallRule, Listing, RelationKind, Volatility, is_builtin_schema};
use crate::resolve::{Access, Arg, ArgValue, Bound};
use crate::shape::token::{Token, words};
use crate::{Effect, Kind, Trace, TransactionEffect};

/// The traces of a statement with rows.
pub(super) fn of_rows(bound: &Bound<'_>) -> Vec<Trace> {
    let mut traces = Vec::new();
    let calls = bound.uses.functions.iter();
    for (used, function) in
        calls.flat_map(|used| used.candidates.iter().map(move |function| (used, function)))
    {
        let name = &*function.name.name;
        if !is_builtin_schema(&function.name.schema) {
            traces.extend((function.volatility == Volatility::Volatile).then_some(Trace::Function));
        } else if SEQUENCES.contains(&name) {
            traces.push(Trace::Sequence);
        } else if SESSION_LOCKS.contains(&name) {
            traces.push(Trace::Locks);
        } else if function.rule == CallRule::SetConfig {
            // For how long it is set cannot be told where that is bound.
            let constant = |arg: &Arg| matches!(arg.value, ArgValue::Const(_));
            let local = used.args.get(2).is_some_and(constant);
            traces.extend((!local).then_some(Trace::Characteristics));
        } else if name == "setseed" {
            traces.push(Trace::Seed);
        } else if name == "pg_advisory_unlock_all" {
            traces.push(Trace::UnlocksAll);
        } else if function.listing == Listing::Unlisted && function.volatility == Volatility::Volatile {
            traces.push(Trace::Function);
        }
    }
    for used in &bound.uses.relations {
        let kind = match used.access {
            Access::Read | Access::Lock => continue,
            Access::Write(kind) => kind,
        };
        let relation = used.relation;
        let plain = match relation.kind {
            RelationKind::Table | RelationKind::PartitionedTable => true,
            // What stands behind these is not looked into.
            RelationKind::View
            | RelationKind::MaterializedView
            | RelationKind::ForeignTable
            | RelationKind::Sequence => false,
        };
        if !plain || !relation.triggers.is_empty() || !relation.rules.is_empty() {
            traces.push(Trace::Trigger);
        }
        for column in relation.columns.iter() {
            if !column.default_functions.is_empty() {
                traces.push(Trace::Trigger);
            }
            let draws = column.default.as_ref().is_some_and(|text| text.contains("nextval"));
            if kind != Kind::Delete && (draws || column.identity.is_some()) {
                traces.push(Trace::Drawn);
            }
        }
    }
    traces.sort_unstable();
    traces.dedup();
    traces
}

/// The traces that a statement's own words tell.
pub(super) fn of_words(kind: Option<Kind>, effect: &Effect, text: &str) -> Vec<Trace> {
    let begins = |with: &[&str]| {
        let mut tokens = words(text);
        with.iter().all(|word| tokens.next().is_some_and(|token| token.is_word(text, word)))
    };
    let trace = match effect {
        Effect::Transaction(TransactionEffect::Characteristics) if begins(&["set", "session"]) => {
            Trace::Characteristics
        }
        Effect::Listen if begins(&["unlisten"]) => match words(text).nth(1) {
            Some(star) if star.bytes(text) == b"*" => Trace::UnlistensAll,
            Some(_) | None => Trace::UnlistensOne,
        },
        Effect::TempTable if until_commit(text) => Trace::UntilCommit,
        Effect::Discard if begins(&["discard", "plans"]) => Trace::DiscardsPlans,
        Effect::Discard if begins(&["discard", "sequences"]) => Trace::DiscardsSequences,
        Effect::Discard => Trace::DiscardsTemporary,
        Effect::None if kind == Some(Kind::Call) => Trace::Unknown,
        Effect::None
        | Effect::Settings(_)
        | Effect::ResetAll
        | Effect::Prepare { .. }
        | Effect::Execute { .. }
        | Effect::Deallocate { .. }
        | Effect::DeallocateAll
        | Effect::Declare { .. }
        | Effect::Fetch { .. }
        | Effect::CloseCursor { .. }
        | Effect::TempTable
        | Effect::Listen
        | Effect::AdvisoryLock
        | Effect::Transaction(_)
        | Effect::CopyIn
        | Effect::CopyOut { .. }
        | Effect::DiscardAll
        | Effect::Ddl => return Vec::new(),
    };
    vec![trace]
}

/// CREATE TEMPORARY TABLE … ON COMMIT DROP.
fn until_commit(text: &str) -> bool {
    let tokens: Vec<Token> = words(text).collect();
    let is = |token: Option<&Token>, word: &str| token.is_some_and(|token| token.is_word(text, word));
    let temporary = is(tokens.get(1), "temp") || is(tokens.get(1), "temporary");
    let makes = is(tokens.first(), "create") && temporary && is(tokens.get(2), "table");
    makes
        && tokens.windows(3).any(|three| {
            let [on, commit, drop] = three else { return false };
            on.is_word(text, "on") && commit.is_word(text, "commit") && drop.is_word(text, "drop")
        })
}

/// What draws from a sequence, or tells what this session has drawn.
const SEQUENCES: [&str; 4] = ["nextval", "currval", "lastval", "setval"];
