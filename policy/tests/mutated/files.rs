//! The readers of policies and catalogs over files that are nearly right: what is loaded can be
//! checked, what is not is told in words.

use pgmoat_policy::{Catalog, Policy};
use serde_json::{Value, json};

use super::{Dice, rounds};

const POLICY: &str = include_str!("../../../lab/policy.yaml");
const CATALOG: &str = include_str!("../../golden/lab-catalog.json");

/// What may stand in a file where something else does.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "null", "true", "-1", "0", "1.5", "99999999999999999999", "\"\"", "\"*\"", "[]", "{}", "[", "}", ":", ",", "~", "&a", "*a",
    "!!int", "|", "- ", "# ", "\t", "\n", "  ", "\"app.*\"", "tenant_id", "required", "shared", "pg_catalog", "23", "\u{e9}", "'",
];

/// A file with some of its lines left out, moved, or changed in one place.
fn mutated(file: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
    for _ in 0..=dice.roll(4) {
        let (at, other) = (dice.roll(lines.len()), dice.roll(lines.len()));
        match dice.roll(5) {
            0 if lines.len() > 1 => drop(lines.remove(at)),
            1 => lines.swap(at, other),
            2 => lines.insert(at, lines.get(other).unwrap().clone()),
            _ => {
                let line = lines.get_mut(at).unwrap();
                let borders: Vec<usize> =
                    line.match_indices([' ', ':', ',', '"', '[', '{']).map(|(at, _)| at).collect();
                if borders.is_empty() {
                    continue;
                }
                let from = *borders.get(dice.roll(borders.len())).unwrap();
                let to = *borders.get(dice.roll(borders.len())).unwrap();
                line.replace_range(from..to.max(from), PIECES.get(dice.roll(PIECES.len())).unwrap());
            }
        }
    }
    lines.join("\n")
}

/// Something inside is left out, doubled, or another value.
fn change(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let at = dice.roll(items.len());
            match dice.roll(12) {
                0 => drop(items.remove(at)),
                1 => items.push(items.get(at).unwrap().clone()),
                _ => change(items.get_mut(at).unwrap(), dice),
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            let at = dice.roll(fields.len());
            let name = fields.keys().nth(at).unwrap().clone();
            match dice.roll(24) {
                0 => drop(fields.remove(&name)),
                _ => change(fields.get_mut(&name).unwrap(), dice),
            }
        }
        Value::Bool(bit) if dice.roll(2) == 0 => *bit = !*bit,
        Value::String(text) if dice.roll(2) == 0 => text.push('x'),
        leaf => {
            let values =
                [json!(null), json!(-1), json!(99_999), json!("a"), json!("text"), json!([]), json!({})];
            values.get(dice.roll(values.len())).unwrap().clone_into(leaf);
        }
    }
}

#[test]
fn mutated_policies_are_loaded_or_refused_in_words() {
    let catalog = Catalog::parse(CATALOG).unwrap();
    let (mut loaded, mut refused) = (0, 0);
    let mut dice = Dice(0x706f_6c69);
    for _ in rounds(1_000) {
        match Policy::load(&mutated(POLICY, &mut dice), "policy.yaml") {
            Ok(policy) => {
                let _ = policy.policy.check(&catalog);
                loaded += 1;
            }
            Err(problems) => {
                assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.message.is_empty()));
                refused += 1;
            }
        }
    }
    assert!(loaded > 50 && refused > 50, "{loaded} were loaded, {refused} refused");
}

#[test]
fn mutated_catalogs_are_read_or_refused_in_words() {
    let tree: Value = serde_json::from_str(CATALOG).unwrap();
    let policy = Policy::load(POLICY, "policy.yaml").unwrap().policy;
    let (mut read, mut refused) = (0, 0);
    let mut dice = Dice(0x6361_7461);
    for _ in rounds(500) {
        let mut changed = tree.clone();
        (0..=dice.roll(3)).for_each(|_| change(&mut changed, &mut dice));
        match Catalog::parse(&changed.to_string()) {
            Ok(catalog) => {
                let _ = policy.check(&catalog);
                read += 1;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(read > 10 && refused > 50, "{read} were read, {refused} refused");
}
