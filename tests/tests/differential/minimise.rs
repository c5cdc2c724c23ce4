//! Making a script with a difference small: whoever reads it should see one thing.

use crate::pair::Pair;
use crate::script::{Script, Then};

/// The smallest script with a difference that leaving out finds, and the difference. `PGMOAT_WHOLE` leaves nothing out.
pub(crate) fn minimise(pair: &mut Pair<'_>, script: &Script, difference: String) -> (Script, String) {
    let mut best = (script.clone(), difference);
    let mut tries = if std::env::var_os("PGMOAT_WHOLE").is_some() { 0 } else { TRIES };
    loop {
        let before = size(&best.0);
        for candidate in candidates(&best.0) {
            // Another candidate may have been taken since: only smaller ones are of use.
            if tries == 0 || size(&candidate) >= size(&best.0) {
                continue;
            }
            tries -= 1;
            if let Some(difference) = pair.difference(&candidate) {
                best = (candidate, difference);
                break;
            }
        }
        if tries == 0 || size(&best.0) == before {
            return best;
        }
    }
}

fn candidates(script: &Script) -> Vec<Script> {
    let mut all = Vec::new();
    for at in 0..script.steps.len() {
        let mut less = script.clone();
        less.steps.remove(at);
        all.push(less);
    }
    for at in 0..script.steps.len() {
        let step = &script.steps[at];
        let mut whole = script.clone();
        whole.steps[at].write_bytes = usize::MAX;
        whole.steps[at].then = Then::Settle;
        all.push(whole);
        for message in 0..step.say.len() {
            let mut less = script.clone();
            less.steps[at].say.remove(message);
            all.push(less);
        }
    }
    let mut plain = script.clone();
    plain.settings = &[];
    all.push(plain);
    all
}

/// Messages, steps, splits, looks and settings.
fn size(script: &Script) -> usize {
    let step = |step: &crate::script::Step| {
        step.say.len()
            + 1
            + usize::from(step.write_bytes != usize::MAX)
            + usize::from(step.then != Then::Settle)
    };
    script.steps.iter().map(step).sum::<usize>() + script.settings.len()
}

const TRIES: usize = 400;
