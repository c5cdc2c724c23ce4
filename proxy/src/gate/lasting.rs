//! From the judgement to what a statement leaves on its connection (wire 5). What is not known to leave nothing pins.

use std::sync::Arc;

use pgmoat_policy::{
    Effect, Judged, Kind, SettingEffect, SettingValue, TextArgument, Trace, TransactionEffect, Verdict,
};

use crate::session::{
    Assignment, Bind, Lasting, Leaving, Pin, PinSet, SettingText, Snapshots, TransactionStep,
};

/// What it leaves.
pub(super) fn lasting(judged: &Judged) -> Lasting {
    let traces: &[Trace] = match &judged.verdict {
        Verdict::Allow(obligations) => &obligations.traces,
        // What ends a failed transaction passes all the same.
        Verdict::Deny(_) => &[],
    };
    let mut lasting = Lasting::default();
    effect(&judged.effect, traces, &mut lasting);
    if judged.kind == Some(Kind::Maintenance) {
        lasting.transaction = TransactionStep::MayCommit;
    }
    traces.iter().for_each(|trace| note(trace, &mut lasting));
    lasting.shadows |= lasting.leaving == Leaving::Destroy;
    if lasting.unpins != PinSet::EVERY {
        lasting.unpins = lasting.unpins.without(lasting.pins);
    }
    lasting
}

/// The same with the values of a Bind in their places; none where it is the same.
pub(super) fn bound(lasting: &Lasting, bind: &Bind<'_>) -> Option<Lasting> {
    let is_bound = |text: &SettingText| matches!(text, SettingText::Bound(_));
    let open = lasting.settings.iter().any(|assignment| match assignment {
        Assignment::Set { name, value, .. } => is_bound(name) || value.as_ref().is_some_and(is_bound),
        Assignment::ResetAll | Assignment::DiscardAll => false,
    });
    if !open {
        return None;
    }
    let values: Vec<_> = bind.values().collect();
    // A text parameter's binary form is its text. NULL is the default.
    let text = |text: &SettingText| match text {
        SettingText::Is(_) => Some(text.clone()),
        SettingText::Bound(number) => {
            let at = usize::try_from(*number).ok()?.checked_sub(1)?;
            let value = values.get(at).and_then(|(value, _)| *value)?;
            str::from_utf8(value).ok().map(|value| SettingText::Is(Arc::from(value)))
        }
    };
    let settings = lasting.settings.iter().map(|assignment| match assignment {
        Assignment::Set { name, value, local } => Assignment::Set {
            name: text(name).unwrap_or_else(|| name.clone()),
            value: value.as_ref().and_then(&text),
            local: *local,
        },
        Assignment::ResetAll | Assignment::DiscardAll => assignment.clone(),
    });
    Some(Lasting { settings: settings.collect(), ..lasting.clone() })
}

fn effect(effect: &Effect, traces: &[Trace], lasting: &mut Lasting) {
    let mut pin = |pin: Pin| lasting.pins = lasting.pins.and(pin.into());
    match effect {
        // Statements and cursors stay the client's as long as they are there: the session knows which are.
        Effect::None
        | Effect::Prepare { .. }
        | Effect::Execute { .. }
        | Effect::Deallocate { .. }
        | Effect::DeallocateAll
        | Effect::Declare { .. }
        | Effect::Fetch { .. }
        | Effect::CloseCursor { .. }
        | Effect::CopyOut { .. }
        | Effect::Discard => {}
        Effect::Settings(settings) => lasting.settings.extend(settings.iter().map(assignment)),
        Effect::ResetAll => lasting.settings.push(Assignment::ResetAll),
        Effect::DiscardAll => {
            lasting.settings.push(Assignment::DiscardAll);
            lasting.transaction = TransactionStep::CommitsAtOnce;
            lasting.unpins = PinSet::EVERY;
        }
        Effect::TempTable => {
            lasting.shadows = true;
            if !traces.contains(&Trace::UntilCommit) {
                pin(Pin::Temporary);
            }
        }
        Effect::Listen if traces.contains(&Trace::UnlistensAll) => lasting.unpins = Pin::Listens.into(),
        Effect::Listen if traces.contains(&Trace::UnlistensOne) => {}
        Effect::Listen => pin(Pin::Listens),
        Effect::AdvisoryLock => pin(Pin::Locks),
        Effect::Ddl => {
            lasting.shadows = true;
            pin(Pin::Ddl);
            lasting.transaction = TransactionStep::MayCommit;
        }
        Effect::CopyIn => {
            // Its relation is not looked at: it may have triggers and sequences.
            lasting.leaving = Leaving::Reset;
            lasting.draws = true;
        }
        Effect::Transaction(step) => lasting.transaction = transaction(*step, traces),
    }
}

fn note(trace: &Trace, lasting: &mut Lasting) {
    let pin = |lasting: &mut Lasting, pin: Pin, leaving: Leaving| {
        lasting.pins = lasting.pins.and(pin.into());
        lasting.leaving = lasting.leaving.max(leaving);
    };
    match trace {
        Trace::Unknown | Trace::Seed => pin(lasting, Pin::Unknown, Leaving::Destroy),
        Trace::Function => pin(lasting, Pin::Function, Leaving::Destroy),
        // A pin for every trigger would leave no connection to share.
        Trace::Inner => lasting.leaving = lasting.leaving.max(Leaving::Reset),
        Trace::Sequence => pin(lasting, Pin::Sequences, Leaving::AsItIs),
        Trace::Locks => pin(lasting, Pin::Locks, Leaving::AsItIs),
        Trace::Drawn => lasting.draws = true,
        Trace::Characteristics => pin(lasting, Pin::Setting, Leaving::Reset),
        Trace::KeepsSnapshot => lasting.snapshots = lasting.snapshots.max(Snapshots::Kept),
        Trace::KeepSnapshots => lasting.snapshots = Snapshots::AlwaysKept,
        Trace::UnlocksAll => lasting.unpins = lasting.unpins.and(Pin::Locks.into()),
        Trace::DiscardsSequences => lasting.unpins = lasting.unpins.and(Pin::Sequences.into()),
        Trace::DiscardsTemporary => lasting.unpins = lasting.unpins.and(Pin::Temporary.into()),
        Trace::Statements
        | Trace::Savepoint(_)
        | Trace::UntilCommit
        | Trace::UnlistensOne
        | Trace::UnlistensAll
        | Trace::DiscardsPlans => {}
    }
}

fn transaction(step: TransactionEffect, traces: &[Trace]) -> TransactionStep {
    let name = || {
        traces.iter().find_map(|trace| match trace {
            Trace::Savepoint(name) => Some(name.clone()),
            Trace::Unknown
            | Trace::Function
            | Trace::Inner
            | Trace::Statements
            | Trace::Sequence
            | Trace::Drawn
            | Trace::Seed
            | Trace::Locks
            | Trace::KeepsSnapshot
            | Trace::KeepSnapshots
            | Trace::Characteristics
            | Trace::UntilCommit
            | Trace::UnlistensOne
            | Trace::UnlistensAll
            | Trace::UnlocksAll
            | Trace::DiscardsPlans
            | Trace::DiscardsSequences
            | Trace::DiscardsTemporary => None,
        })
    };
    match step {
        TransactionEffect::Begin | TransactionEffect::Characteristics => TransactionStep::None,
        TransactionEffect::Commit => TransactionStep::Commit,
        TransactionEffect::Rollback => TransactionStep::Rollback,
        TransactionEffect::Savepoint => TransactionStep::Savepoint(name().unwrap_or_default()),
        TransactionEffect::Release => TransactionStep::Release(name()),
        TransactionEffect::RollbackTo => TransactionStep::RollbackTo(name()),
    }
}

fn assignment(setting: &SettingEffect) -> Assignment {
    let text = |argument: &TextArgument| match argument {
        TextArgument::Constant(text) => SettingText::Is(Arc::from(&**text)),
        TextArgument::Bound(number) => SettingText::Bound(*number),
    };
    let value = match &setting.value {
        SettingValue::Default => None,
        SettingValue::Text(text) => Some(SettingText::Is(Arc::from(&**text))),
        SettingValue::Bound(number) => Some(SettingText::Bound(*number)),
    };
    // Where that is not known, it ties the client.
    let local = setting.local.unwrap_or(false);
    Assignment::Set { name: text(&setting.name), value, local }
}
