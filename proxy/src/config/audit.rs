//! The audit log: where, what of it, and what it survives.

use std::time::Duration;

use pgmoat_audit::{Durability, Rotation};
use pgmoat_policy::policy::Problem;
use pgmoat_policy::policy::document::{Key, Node, Section, Shape, Word};

use super::Audit;
use super::load::Load;
use super::numbers::Numbers;
use super::secret::SECRET;
use crate::shared::{Audited, AuditedParameters};

/// The keys of the section.
pub(super) static AUDIT: Section = Section {
    keys: &[
        Key::required(
            "path",
            Shape::Text,
            "The file. FILE.head, FILE.torn and finished files are made beside it.",
        ),
        Key::default(
            "durability",
            Shape::Word(&[Word::new("none"), Word::new("os"), Word::new("batched"), Word::new("fsync")]),
            "batched",
            "What a decision survives once its statement is forwarded. `os`: a kill of the proxy. `batched`: the same, and a \
             power cut that comes `sync_interval_ms` later. `fsync`: a power cut. `none`: nothing.",
        ),
        Key::default(
            "sync_interval_ms",
            Shape::Integer { min: 1, max: 60_000, unit: "milliseconds" },
            "50",
            "The longest time between two fdatasync.",
        ),
        Key::optional(
            "rotate_bytes",
            Shape::Integer { min: 65_536, max: i64::MAX, unit: "bytes" },
            "The file is finished when it is at least so long: it becomes NAME.TIME.SEQ.EXTENSION, and a new one goes on with \
             the chain. Without this key and the next one, never.",
        ),
        Key::optional(
            "rotate_age_ms",
            Shape::Integer { min: 1000, max: 31_536_000_000, unit: "milliseconds" },
            "The same when so much time lies between its first line and its last one.",
        ),
        Key::default(
            "statement",
            Shape::Word(&[Word::new("text"), Word::new("shape")]),
            "text",
            "What of a statement is written: its text, or its shape's fingerprint alone.",
        ),
        Key::default(
            "parameters",
            Shape::Word(&[Word::new("none"), Word::new("hash"), Word::new("full")]),
            "none",
            "What of bound values is written.",
        ),
        Key::optional(
            "key",
            Shape::Section(&SECRET),
            "The key that makes each line's hash an HMAC-SHA-256, of at least 32 bytes; one for the whole life of a file.",
        ),
    ],
};

impl Load<'_> {
    pub(super) fn audit(&mut self, node: &Node) -> Option<Audit> {
        let word = |key| node.get(key).and_then(Node::text);
        let durability = word("durability").and_then(|name| name.parse().ok());
        let durability = durability.unwrap_or(Durability::Batched);
        if let (Durability::None, Some(node)) = (durability, node.get("durability")) {
            let message = "a kill of the proxy loses the decisions about statements that ran";
            self.problems.push(Problem::warning(node.place.clone(), message));
        }
        let numbers = Numbers::of(Some(node), &AUDIT);
        Some(Audit {
            path: self.path(node.get("path")?.text()?),
            durability,
            sync_interval: numbers.duration("sync_interval_ms"),
            rotation: Rotation {
                bytes: numbers.given("rotate_bytes"),
                age: numbers.given("rotate_age_ms").map(Duration::from_millis),
            },
            audited: Audited {
                text: word("statement") != Some("shape"),
                parameters: match word("parameters") {
                    Some("hash") => AuditedParameters::Hash,
                    Some("full") => AuditedParameters::Full,
                    Some(_) | None => AuditedParameters::None,
                },
            },
            key: node.get("key").and_then(|node| self.secret(node)),
            place: node.place.clone(),
        })
    }
}
