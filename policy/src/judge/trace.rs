//! What a statement leaves in the session that its effect does not tell: whoever shares connections between clients
//! keeps them apart by it (wire 5).
//!
//! What is not known to leave nothing is named: a function of the database's own that does not say so of itself (by
//! PARALLEL SAFE), wherever it is run from.

use std::collections::HashSet;

use super::effect::SESSION_LOCKS;
use crate::catalog::{
    CallRule, Catalog, Column, Function, Listing, PG_CATALOG, RelationKind, TypeId, Volatility,
    is_builtin_schema,
};
use crate::resolve::{Access, Bound, FunctionUse, RelationUse, operator_counts};
use crate::shape::token::{Token, words};
use crate::{Effect, Kind, SettingEffect, SettingValue, TextArgument, Trace, TransactionEffect};

/// The traces of a statement with rows and this effect.
pub(super) fn of_rows(bound: &Bound<'_>, effect: &Effect, catalog: &Catalog) -> Vec<Trace> {
    let mut traces = Vec::new();
    traces.extend(sets_uncertainly(effect).then_some(Trace::Characteristics));
    for used in &bound.uses.functions {
        traces.extend(used.candidates.iter().filter_map(|function| of_call(bound, used, function)));
    }
    for used in &bound.uses.operators {
        let own = used.candidates.iter().filter(|candidate| {
            candidate.listing == Listing::User && operator_counts(catalog, candidate, used.left, used.right)
        });
        let called =
            own.flat_map(|own| catalog.function_candidates(&own.function.schema, &own.function.name));
        traces.extend(called.filter_map(of_function));
    }
    for used in &bound.uses.relations {
        of_relation(used, catalog, &mut traces);
    }
    let checked = bound.uses.types.iter().filter_map(|used| used.ty);
    let makes = checked.map(|ty| ty.id).any(|ty| catalog.type_runs_code(ty));
    traces.extend((makes || casts(bound, catalog)).then_some(Trace::Inner));
    traces.sort_unstable();
    traces.dedup();
    traces
}

fn of_call(bound: &Bound<'_>, used: &FunctionUse<'_>, function: &Function) -> Option<Trace> {
    if function.rule == CallRule::SetConfig {
        // What that leaves is the effect.
        return None;
    }
    // It lets go only where it is called.
    of_function(function).filter(|trace| *trace != Trace::UnlocksAll || bound.is_called_once(used))
}

/// Whether it is not known for how long something is set; or one setting may be set more than once: in what order the calls
/// run is the planner's to say (it puts off those that no sort needs), and so which of them is the last.
fn sets_uncertainly(effect: &Effect) -> bool {
    let Effect::Settings(settings) = effect else { return false };
    let mut seen = HashSet::new();
    let mut is_certain = |setting: &'_ SettingEffect| match &setting.name {
        TextArgument::Constant(name) => seen.insert(name.clone()),
        TextArgument::Bound(_) => settings.len() == 1,
    };
    !settings.iter().all(|setting| setting.local.is_some() && is_certain(setting))
}

fn of_function(function: &Function) -> Option<Trace> {
    let volatile = function.volatility == Volatility::Volatile;
    if function.listing == Listing::User || !is_builtin_schema(&function.name.schema) {
        let anything = if volatile { Trace::Function } else { Trace::Inner };
        return (!function.parallel_safe).then_some(anything);
    }
    let name = &*function.name.name;
    if SEQUENCES.contains(&name) {
        Some(Trace::Sequence)
    } else if SESSION_LOCKS.contains(&name) {
        Some(Trace::Locks)
    } else if name == "setseed" {
        Some(Trace::Seed)
    } else if name == "pg_advisory_unlock_all" {
        Some(Trace::UnlocksAll)
    } else if name == "pg_prepared_statement" || name == "pg_get_backend_memory_contexts" || runs_a_text(name)
    {
        Some(Trace::Statements)
    } else {
        let unknown = function.listing == Listing::Unlisted && volatile && !QUIET.contains(&name);
        unknown.then_some(Trace::Unknown)
    }
}

fn of_relation(used: &RelationUse<'_>, catalog: &Catalog, traces: &mut Vec<Trace>) {
    let relation = used.relation;
    let kind = match used.access {
        Access::Read | Access::Lock => {
            let tells = *relation.name.schema == *PG_CATALOG && TELLING.contains(&&*relation.name.name);
            return traces.extend(tells.then_some(Trace::Statements));
        }
        Access::Write(kind) => kind,
    };
    let plain = match relation.kind {
        RelationKind::Table | RelationKind::PartitionedTable => true,
        // What stands behind these is not looked into.
        RelationKind::View
        | RelationKind::MaterializedView
        | RelationKind::ForeignTable
        | RelationKind::Sequence => false,
    };
    if !plain || catalog.write_runs_code(relation) {
        traces.push(Trace::Inner);
    }
    let own = kind != Kind::Delete && relation.columns.iter().any(Column::draws);
    traces.extend((own || catalog.write_draws(relation)).then_some(Trace::Drawn));
}

/// Whether a cast that runs code of the database's own may be among what the statement does, asked or unasked.
fn casts(bound: &Bound<'_>, catalog: &Catalog) -> bool {
    let casts = catalog.casts_that_run_code();
    if casts.is_empty() {
        return false;
    }
    let uses = &bound.uses;
    let columns = uses.relations.iter().flat_map(|used| used.relation.columns.iter().map(|column| column.ty));
    let types = uses.types.iter().filter_map(|used| used.ty).map(|ty| ty.id);
    let functions = uses.functions.iter().flat_map(|used| &used.candidates);
    let taken =
        functions.flat_map(|function| function.args.iter().map(|arg| arg.ty).chain([function.returns]));
    let own = |ty: &TypeId| catalog.type_of(*ty).is_some_and(|ty| !is_builtin_schema(&ty.name.schema));
    let met: Vec<TypeId> = columns.chain(types).chain(taken).flat_map(|ty| catalog.parts_of(ty)).collect();
    casts.iter().any(|cast| {
        let sides = [cast.source, cast.target];
        // One between built-in types may be met by any constant.
        !sides.iter().any(own) || sides.iter().filter(|side| own(side)).any(|side| met.contains(side))
    })
}

/// The traces that a statement's own words tell, and its effect.
pub(super) fn of_words(kind: Option<Kind>, effect: &Effect, text: &str) -> Vec<Trace> {
    by_words(kind, effect, text).into_iter().chain(of_isolation(effect, text)).collect()
}

/// Whether what it sets may make transactions keep their snapshots.
fn of_isolation(effect: &Effect, text: &str) -> Option<Trace> {
    match effect {
        Effect::Transaction(TransactionEffect::Begin | TransactionEffect::Characteristics) => {
            let keeps = |token: Token| KEEPING.iter().any(|word| token.is_word(text, word));
            let session = words(text).nth(1).is_some_and(|token| token.is_word(text, "session"));
            let trace = if session { Trace::KeepSnapshots } else { Trace::KeepsSnapshot };
            words(text).any(keeps).then_some(trace)
        }
        Effect::Settings(settings) => settings.iter().filter_map(of_isolation_setting).max(),
        Effect::None
        | Effect::Transaction(_)
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
        | Effect::CopyIn
        | Effect::CopyOut { .. }
        | Effect::DiscardAll
        | Effect::Discard
        | Effect::Ddl => None,
    }
}

/// Whether each statement has its own snapshot at this isolation level, as `default_transaction_isolation` names it.
pub fn renews_snapshot(level: &str) -> bool {
    ["read committed", "read uncommitted"].iter().any(|renewing| level.trim().eq_ignore_ascii_case(renewing))
}

fn of_isolation_setting(setting: &SettingEffect) -> Option<Trace> {
    let trace = match &setting.name {
        TextArgument::Constant(name) if **name == *"transaction_isolation" => Trace::KeepsSnapshot,
        TextArgument::Constant(name) if **name == *"default_transaction_isolation" => Trace::KeepSnapshots,
        TextArgument::Constant(_) => return None,
        TextArgument::Bound(_) => Trace::KeepSnapshots,
    };
    let renewed = match &setting.value {
        SettingValue::Text(value) => renews_snapshot(value),
        SettingValue::Default => true,
        SettingValue::Bound(_) => false,
    };
    (!renewed).then_some(trace)
}

fn by_words(kind: Option<Kind>, effect: &Effect, text: &str) -> Vec<Trace> {
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

/// Whether it reads what a text says, which may be any relation.
fn runs_a_text(name: &str) -> bool {
    name.contains("_to_xml") && !name.ends_with("_to_xmlschema")
}

/// Words of the isolation levels under which a transaction keeps its snapshot, and of taking over another's.
const KEEPING: [&str; 3] = ["repeatable", "serializable", "snapshot"];

/// What tells which prepared statements the connection has.
const TELLING: [&str; 2] = ["pg_prepared_statements", "pg_backend_memory_contexts"];

/// What draws from a sequence, or tells what this session has drawn.
const SEQUENCES: [&str; 4] = ["nextval", "currval", "lastval", "setval"];

/// VOLATILE, on no list, and nothing of it is left in the session: what waits, what notifies, locks of a transaction,
/// locks that are let go, large objects (their descriptors go with the transaction), signals.
const QUIET: &[&str] = &[
    "lo_close",
    "lo_creat",
    "lo_create",
    "lo_from_bytea",
    "lo_get",
    "lo_lseek",
    "lo_lseek64",
    "lo_open",
    "lo_put",
    "lo_tell",
    "lo_tell64",
    "lo_truncate",
    "lo_truncate64",
    "lo_unlink",
    "loread",
    "lowrite",
    "pg_advisory_unlock",
    "pg_advisory_unlock_shared",
    "pg_advisory_xact_lock",
    "pg_advisory_xact_lock_shared",
    "pg_blocking_pids",
    "pg_cancel_backend",
    "pg_current_wal_lsn",
    "pg_database_size",
    "pg_indexes_size",
    "pg_lock_status",
    "pg_notify",
    "pg_relation_size",
    "pg_sleep",
    "pg_sleep_for",
    "pg_sleep_until",
    "pg_table_size",
    "pg_terminate_backend",
    "pg_total_relation_size",
    "pg_try_advisory_xact_lock",
    "pg_try_advisory_xact_lock_shared",
    "pg_xact_status",
];
