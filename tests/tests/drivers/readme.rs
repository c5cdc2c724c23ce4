//! The table of drivers in README.md: a row is what a driver said. `PGMOAT_BLESS=1` writes it.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use pgmoat_tests::Mode;

use crate::checklist::Item;

/// Checks a driver's row, or writes it.
pub(crate) fn row(driver: &str, items: &[Item], said: &BTreeMap<String, String>) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock();
    let row = text(driver, items, said);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = fs::read_to_string(&path).unwrap();
    if readme.lines().any(|line| line == row) {
        return;
    }
    assert!(env::var_os("PGMOAT_BLESS").is_some(), "README.md has not, and PGMOAT_BLESS=1 writes:\n{row}");
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    let first = format!("| {driver} |");
    let mut rows: Vec<&str> =
        table.lines().filter(|line| line.starts_with("| ") && !line.starts_with(&first)).collect();
    rows.retain(|line| *line != HEAD);
    rows.push(&row);
    rows.sort_by_key(|line| line.to_lowercase());
    let table = format!("{HEAD}\n{RULE}\n{}\n", rows.join("\n"));
    fs::write(&path, format!("{before}{BEGIN}\n\n{table}\n{END}{after}")).unwrap();
}

fn text(driver: &str, items: &[Item], said: &BTreeMap<String, String>) -> String {
    let can = |item: &&Item| said.get(item.name).is_some_and(|result| !result.starts_with("- "));
    let names = |items: Vec<&Item>| items.iter().map(|item| item.name).collect::<Vec<_>>().join(", ");
    let common = items.iter().filter(|item| !item.own);
    let all = common.clone().count();
    let own = names(items.iter().filter(|item| item.own).filter(can).collect());
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for item in items {
        let Some(why) = said.get(item.name).and_then(|result| result.strip_prefix("- ")) else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(item.name),
            None => reasons.push((why, vec![item.name])),
        }
    }
    let reasons = reasons.into_iter().map(|(why, names)| match names.len() {
        1..SHOWN_MAX => format!("{}: {why}", names.join(", ")),
        _ => why.to_owned(),
    });
    let reasons = reasons.collect::<Vec<_>>().join("; ");
    let modes = [Mode::Session, Mode::Transaction].map(|mode| match Mode::PROXIED.contains(&mode) {
        true => "same",
        false => "not yet",
    });
    format!(
        "| {driver} | {} of {all} | {own} | {} | {reasons} |",
        common.filter(can).count(),
        modes.join(" | ")
    )
}

/// More names than these say less than the reason alone.
const SHOWN_MAX: usize = 6;

const BEGIN: &str = "<!-- drivers: written by `PGMOAT_BLESS=1 tests/run does_the_same` -->";
const END: &str = "<!-- end of drivers -->";
const HEAD: &str =
    "| driver | checklist | and its own | session pool | transaction pool | what it cannot do itself |";
const RULE: &str = "|---|---|---|---|---|---|";
