//! The checklist: what every driver is asked, and what comes of it.

use pgmoat_tests::Mode;

/// One item of a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) name: &'static str,
    /// Whether it is this driver's alone.
    pub(crate) own: bool,
    direct: &'static str,
    proxied: &'static str,
}

impl Item {
    /// What comes of it.
    pub(crate) fn result(&self, mode: Mode) -> &'static str {
        match mode {
            Mode::Direct => self.direct,
            Mode::Session | Mode::Transaction => self.proxied,
        }
    }
}

/// A driver's items, in the order of the file.
pub(crate) fn items(driver: &str) -> Vec<Item> {
    let lines = CHECKLIST.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(|line| item(line, driver)).collect()
}

fn item(line: &'static str, driver: &str) -> Option<Item> {
    let mut columns = line.split('|').map(str::trim);
    let (name, direct) = (columns.next()?, columns.next()?);
    let proxied = columns.next().unwrap_or(direct);
    let (name, own) = match name.split_once(": ") {
        None => (name, false),
        Some((whose, name)) if whose == driver => (name, true),
        Some(_) => return None,
    };
    Some(Item { name, own, direct, proxied })
}

const CHECKLIST: &str = include_str!("../../drivers/checklist.txt");
