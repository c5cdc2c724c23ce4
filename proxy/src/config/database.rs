//! The databases that clients may name: where each is, and how its connections begin.

use std::collections::BTreeMap;

use pgmoat_policy::policy::document::{Key, Node, Section, Shape};
use pgmoat_upstream::PinnedSettings;

use super::Database;
use super::load::Load;
use super::pool::POOL;
use super::upstream::UPSTREAM;
use crate::pools::TENANT;

/// The keys of a database.
pub(super) static DATABASE: Section = Section {
    keys: &[
        Key::required(
            "upstream",
            Shape::Section(&UPSTREAM),
            "Where it is, and as whom the proxy logs in there.",
        ),
        Key::optional("pool", Shape::Section(&POOL), "How its connections are shared."),
        Key::optional(
            "session",
            Shape::Map { key: "SETTING", value: &Shape::Text },
            "Settings that its connections start with and return to. `{tenant}` in a value stands for the user's tenant: then each \
             tenant has a pool of its own, with these limits, and users without a tenant have one without these settings.",
        ),
    ],
};

impl Load<'_> {
    pub(super) fn databases(&mut self, node: Option<&Node>) -> Vec<Database> {
        let Some(node) = node else { return Vec::new() };
        if node.entries().is_empty() {
            self.error(&node.place, "there is no database");
        }
        let entries = node.entries().iter();
        entries
            .filter_map(|entry| {
                if entry.key.is_empty() || entry.key.contains(char::is_control) {
                    self.error(&entry.place, "a database needs a name without control characters");
                }
                let node = &entry.value;
                let pool = self.pool(node.get("pool"));
                let upstream = self.upstream(&entry.key, node.get("upstream")?);
                Some(Database {
                    name: entry.key.clone(),
                    upstream: upstream?,
                    pool,
                    session: self.session(node.get("session")),
                    place: entry.place.clone(),
                })
            })
            .collect()
    }

    fn session(&mut self, node: Option<&Node>) -> Vec<(Box<str>, Box<str>)> {
        let mut settings = Vec::new();
        for entry in node.map(Node::entries).unwrap_or_default() {
            let Some(value) = entry.value.text() else { continue };
            let one = BTreeMap::from([(entry.key.to_string(), value.to_owned())]);
            if value.replace(TENANT, "").contains(['{', '}']) {
                self.error(&entry.value.place, "between braces only {tenant} is known");
            } else if let Err(error) = PinnedSettings::new(&[], one) {
                self.error(&entry.place, error.to_string());
            } else {
                settings.push((entry.key.clone(), value.into()));
            }
        }
        settings
    }
}
