//! Obligations, matched one by one: what is executed here becomes terms, everything else a denial.

use std::ops::Range;
use std::sync::Arc;

use pgmoat_policy::{
    Code, Denial, Effect, ErrorPosture, Judged, Kind, Mask, MaskAt, Obligations, Rule, Trace, Verdict,
};

use super::lasting::lasting;
use crate::session::{After, Edit, Lasting, Masks, Terms, UpstreamName};

/// The terms of one statement.
///
/// # Errors
/// The judge's own denial, or `unsupported` for what is not executed yet.
pub(super) fn terms(
    judged: &Judged,
    text: &str,
    simple: bool,
    tenant_bound: bool,
) -> Result<Terms, Box<Denial>> {
    let obligations = match &judged.verdict {
        Verdict::Allow(obligations) => obligations,
        Verdict::Deny(denials) => return Err(Box::new(denials.first().clone())),
    };
    let Obligations { binds, masks, outputs, rows, errors, scoped, by_unique_keys, traces: _ } = obligations;
    let masks = self::masks(judged, masks, *outputs)?;
    if simple && !binds.is_empty() {
        return Err(refused(judged, "parameters need the extended protocol", "use a driver's parameters"));
    }
    let after = after(judged, tenant_bound)?;
    if rows.is_some() && matches!(judged.effect, Effect::CopyOut { binary: true }) {
        let message = "binary COPY is not counted against the role's row limit";
        return Err(refused(judged, message, "use the text or csv format"));
    }
    Ok(Terms {
        binds: binds.clone(),
        cap: *rows,
        errors: *errors,
        after,
        scoped: *scoped,
        by_unique_keys: *by_unique_keys,
        masks,
        edits: edits(judged, text),
        names: Vec::new(),
        reads: reads(judged, text),
        lasting: Lasting { changes: changes_rows(judged, text), ..lasting(judged) },
        needs: Vec::new(),
    })
}

/// Refuses what shows the prepared statements of a connection that others have had, with their texts (wire 5).
pub(super) fn keeps_to_itself(judged: &Judged) -> Result<(), Box<Denial>> {
    let traces = match &judged.verdict {
        Verdict::Allow(obligations) => obligations.traces.as_slice(),
        Verdict::Deny(_) => &[],
    };
    match traces.contains(&Trace::Statements) {
        true => {
            let message = "pg_prepared_statements shows the statements of all clients of a shared connection";
            Err(refused(judged, message, "a pool in mode session shows a client its own"))
        }
        false => Ok(()),
    }
}

/// The terms of a text, from those of all texts with the same verdict: whether it only reads is asked of its own words,
/// where rows are counted and it matters.
pub(super) fn of_text(made: &Arc<Terms>, text: &str) -> Arc<Terms> {
    if made.cap.is_some() && made.reads && changes(text) {
        return Arc::new(Terms { reads: false, ..Terms::clone(made) });
    }
    Arc::clone(made)
}

/// Whether a prepared text that EXECUTE names does nothing but read.
pub(super) fn only_reads(text: &str) -> bool {
    let begins = |word: &str| {
        text.trim_start().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    ["select", "values", "table", "with"].into_iter().any(begins) && !changes(text)
}

/// A statement's words in its text. A verdict that is kept has the text without its constants, which is shorter: what does
/// not reach into it is looked for in all of it.
fn own_words<'t>(judged: &Judged, text: &'t str) -> &'t str {
    text.get(judged.span.clone()).unwrap_or(text)
}

/// A word that only looks like a change makes it a change.
fn changes(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["insert", "update", "delete", "merge", "into"].iter().any(|word| text.contains(word))
}

/// Whether it may change rows.
fn changes_rows(judged: &Judged, text: &str) -> bool {
    let only_asks = match judged.kind {
        Some(
            Kind::Select
            | Kind::CopyTo
            | Kind::Transaction
            | Kind::Set
            | Kind::Show
            | Kind::Cursor
            | Kind::Listen
            | Kind::Lock
            | Kind::Maintenance,
        ) => true,
        // What EXECUTE runs stands elsewhere.
        Some(Kind::Prepare) => !matches!(judged.effect, Effect::Execute { .. }),
        Some(
            Kind::Insert
            | Kind::Update
            | Kind::Delete
            | Kind::Merge
            | Kind::CopyFrom
            | Kind::Call
            | Kind::Ddl
            | Kind::Temp
            | Kind::Grant,
        )
        | None => false,
    };
    let calls = match &judged.verdict {
        Verdict::Allow(obligations) => {
            let own = [Trace::Unknown, Trace::Function, Trace::Inner];
            obligations.traces.iter().any(|trace| own.contains(trace))
        }
        Verdict::Deny(_) => true,
    };
    !only_asks || calls || changes(own_words(judged, text))
}

/// Whether it does nothing but read.
fn reads(judged: &Judged, text: &str) -> bool {
    let changes = changes(own_words(judged, text));
    let asks = matches!(
        (judged.kind, &judged.effect),
        (Some(Kind::Select), Effect::None)
            | (Some(Kind::CopyTo), Effect::CopyOut { .. })
            | (Some(Kind::Cursor), Effect::Fetch { .. })
    );
    asks && !changes
}

/// The outputs that the relay makes NULL; other masks are not built.
fn masks(judged: &Judged, masks: &[MaskAt], outputs: usize) -> Result<Option<Masks>, Box<Denial>> {
    if masks.is_empty() {
        return Ok(None);
    }
    for MaskAt { output, mask } in masks {
        let kind = match mask {
            Mask::Null => continue,
            Mask::Fixed(_) => "fixed",
            Mask::Partial { .. } => "partial",
            Mask::Hash => "hash",
            Mask::Token => "token",
        };
        let message =
            format!("output column {} has a mask of kind \"{kind}\", which is not built yet", output + 1);
        return Err(refused(judged, message, "leave the masked column out"));
    }
    match Masks::new(outputs, masks.iter().map(|mask| mask.output)) {
        Some(masks) => Ok(Some(masks)),
        None => {
            Err(refused(judged, "the masked output columns cannot be counted", "name the columns one by one"))
        }
    }
}

/// The terms of a statement that names something which is not there: it is judged when it is bound, with what the name
/// stands for then, and fails if that is still nothing.
pub(super) fn unresolved(judged: &Judged, text: &str, errors: ErrorPosture) -> Terms {
    Terms { edits: edits(judged, text), ..nothing(errors) }
}

fn edits(judged: &Judged, text: &str) -> Vec<Edit> {
    judged.names.iter().filter_map(|name| edit(text, &name.span)).collect()
}

/// What the replacement of a name token does to places in the text.
fn edit(text: &str, span: &Range<usize>) -> Option<Edit> {
    let (before, token) = (text.get(..span.start)?, text.get(span.clone())?);
    Some(Edit {
        at: before.chars().count() + 1,
        was: token.chars().count(),
        is: UpstreamName::OWN_CHARACTERS,
    })
}

/// The terms of a statement that nothing has to be kept for.
pub(super) fn nothing(errors: ErrorPosture) -> Terms {
    Terms {
        binds: Vec::new(),
        cap: None,
        errors,
        after: After::Nothing,
        scoped: false,
        by_unique_keys: false,
        masks: None,
        edits: Vec::new(),
        names: Vec::new(),
        reads: false,
        lasting: Lasting::default(),
        needs: Vec::new(),
    }
}

/// A denial of what is not built.
pub(super) fn unsupported(message: impl Into<String>) -> Denial {
    Denial::new(Rule::Kind, Code::Unsupported, None, message)
}

fn after(judged: &Judged, tenant_bound: bool) -> Result<After, Box<Denial>> {
    Ok(match &judged.effect {
        Effect::None
        | Effect::Transaction(_)
        | Effect::TempTable
        | Effect::Listen
        | Effect::AdvisoryLock
        | Effect::Settings(_)
        | Effect::ResetAll
        | Effect::Discard
        | Effect::CopyOut { .. }
        // Names are noted where they are replaced.
        | Effect::Prepare { .. }
        | Effect::Execute { .. }
        | Effect::Declare { .. }
        | Effect::Fetch { .. } => After::Nothing,
        Effect::Deallocate { name } => After::Deallocated(Arc::from(&**name)),
        Effect::DeallocateAll => After::DeallocatedAll,
        Effect::CloseCursor { name: Some(name) } => After::Closed(Arc::from(&**name)),
        Effect::CloseCursor { name: None } => After::ClosedAll,
        Effect::CopyIn if tenant_bound => {
            return Err(refused(judged, "COPY FROM is not supported for tenants", "use INSERT"));
        }
        Effect::CopyIn => After::CopiedIn,
        Effect::DiscardAll => After::DiscardedAll,
        Effect::Ddl => After::CatalogChanged,
    })
}

/// `unsupported`, at the start of the statement.
fn refused(judged: &Judged, message: impl Into<String>, hint: &str) -> Box<Denial> {
    let at = u32::try_from(judged.span.start).ok();
    Box::new(Denial { at, ..unsupported(message).hint(hint) })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;
    use pgmoat_policy::{Over, RowCap};

    fn judged(effect: Effect, obligations: Obligations) -> Judged {
        Judged { span: 3..9, kind: None, effect, names: Vec::new(), verdict: Verdict::Allow(obligations) }
    }

    #[test]
    fn a_mask_of_another_kind_than_null_is_a_denial_until_it_is_built() {
        let with = |mask, outputs| Obligations {
            masks: vec![MaskAt { output: 1, mask }],
            outputs,
            ..Obligations::default()
        };
        for mask in [Mask::Fixed("x".into()), Mask::Partial { keep: 2 }, Mask::Hash, Mask::Token] {
            let denial = terms(&judged(Effect::None, with(mask, 2)), "", true, true).unwrap_err();
            assert_eq!((denial.code, denial.at), (Code::Unsupported, Some(3)));
            assert!(denial.message.contains("output column 2"));
        }
        let read = terms(&judged(Effect::None, with(Mask::Null, 2)), "", true, true).unwrap();
        assert_eq!(read.masks, Masks::new(2, [1]));
        let odd = terms(&judged(Effect::None, with(Mask::Null, 1)), "", true, true).unwrap_err();
        assert_eq!(odd.code, Code::Unsupported);
    }

    #[test]
    fn effects_that_are_not_built_are_denials() {
        let denial = terms(&judged(Effect::CopyIn, Obligations::default()), "", true, true).unwrap_err();
        assert_eq!(denial.code, Code::Unsupported);
        let allowed = terms(&judged(Effect::CopyIn, Obligations::default()), "", true, false).unwrap();
        assert!(matches!(allowed.after, After::CopiedIn));
    }

    #[test]
    fn binary_copy_is_refused_where_rows_are_counted() {
        let rows = Some(RowCap { max: 1, over: Over::Cut });
        for (binary, rows, denied) in [(true, rows, true), (false, rows, false), (true, None, false)] {
            let obligations = Obligations { rows, ..Obligations::default() };
            assert_eq!(
                terms(&judged(Effect::CopyOut { binary }, obligations), "", true, true).is_err(),
                denied
            );
        }
    }
}
