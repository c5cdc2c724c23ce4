//! A hint that asks for a condition helps: with it, the denial is gone (policy 5).

use pgmoat_policy::{Denial, Judgement, Verdict};

use super::edit::Edit;
use super::{Case, Lab, cases, floors, on_large_stack};

#[test]
fn a_hint_that_is_followed_helps() {
    on_large_stack(|| {
        let lab = Lab::new();
        let (mut helped, mut passes) = (0, 0);
        let (mut useless, mut without_place) = (Vec::new(), Vec::new());
        let attacks = cases(include_str!("../../../tests/corpus/attack.jsonl"));
        let harmless = cases(include_str!("../../../tests/corpus/benign.jsonl"));
        for case in attacks.into_iter().chain(harmless) {
            let judgement = lab.judgement(&case, &case.sql);
            for denial in denials(&judgement) {
                let Some(edit) = denial.hint.as_deref().and_then(Edit::of) else { continue };
                let changed = denial.at.and_then(|at| edit.apply(&case.sql, at as usize));
                let Some(changed) = changed else {
                    without_place.push(format!(
                        "{} {:?}: {}\n    {}",
                        case.id,
                        denial.at,
                        edit_of(denial),
                        case.sql
                    ));
                    continue;
                };
                let after = lab.judgement(&case, &changed);
                passes += usize::from(after.denial().is_none());
                match is_fewer(denial, &judgement, &after) {
                    true => helped += 1,
                    false => useless.push(told(&case, denial, &changed, &after)),
                }
            }
        }
        println!("{helped} hints help, {passes} of the statements pass then");
        println!("{} hints have no place in the text:\n{}", without_place.len(), without_place.join("\n"));
        assert!(useless.is_empty(), "{} hints do not help:\n{}", useless.len(), useless.join("\n"));
        assert!(helped >= floors::HINTS);
    });
}

fn denials(judgement: &Judgement) -> Vec<&Denial> {
    let statements = judgement.statements.iter();
    statements
        .flat_map(|judged| match &judged.verdict {
            Verdict::Deny(denials) => denials.all(),
            Verdict::Allow(_) => &[],
        })
        .collect()
}

/// The text has one denial of that kind of that relation less, and none that it had not.
fn is_fewer(denial: &Denial, before: &Judgement, after: &Judgement) -> bool {
    let (before, after) = (denials(before), denials(after));
    let same = |one: &Denial, other: &Denial| (one.rule, &one.object) == (other.rule, &other.object);
    let count = |all: &[&Denial]| all.iter().filter(|other| same(denial, other)).count();
    count(&after) < count(&before) && after.iter().all(|new| before.iter().any(|old| same(old, new)))
}

fn edit_of(denial: &Denial) -> &str {
    denial.hint.as_deref().unwrap_or_default()
}

fn told(case: &Case, denial: &Denial, changed: &str, after: &Judgement) -> String {
    let still = after.denial().map(|(_, denial)| denial.message.clone()).unwrap_or_default();
    format!(
        "{}: {}: {}\n    {}\n    {changed}\n    {still}",
        case.id,
        denial.message,
        edit_of(denial),
        case.sql
    )
}
