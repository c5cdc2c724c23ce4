//! The chain: each line's hash covers the hash of the line before it. Pure; no file, no clock.

use crate::digest::Digest;
use crate::hash::HEX_BYTES;
use crate::head::Head;
use crate::micros::Seconds;
use crate::{Kind, MAX_LINE_BYTES, Micros, json, micros};

/// Where the next line goes.
pub(crate) struct Chain {
    digest: Digest,
    head: Head,
    /// The head's hash as it is written: once as its line's own, once in the line after it.
    hex: [u8; HEX_BYTES],
    seconds: Seconds,
}

impl Chain {
    /// A chain that goes on after `head`.
    pub(crate) fn after(head: Head, digest: Digest) -> Self {
        Self { digest, head, hex: head.hash.hex(), seconds: Seconds::default() }
    }

    pub(crate) const fn head(&self) -> Head {
        self.head
    }

    /// The key's public identifier.
    pub(crate) fn key_id(&self) -> Option<&str> {
        self.digest.key_id()
    }

    /// Takes back lines that were sealed but not written.
    pub(crate) fn rewind(&mut self, head: Head) {
        (self.head, self.hex) = (head, head.hash.hex());
    }

    /// Appends one line, its newline included, to `out`. `body` is what
    /// [`Line::render`](crate::render::Line::render) made.
    pub(crate) fn seal(&mut self, out: &mut Vec<u8>, time: Micros, kind: Kind, body: &[u8]) {
        let start = out.len();
        // At a million lines a second 2^64 is half a million years away; verify would find the repetition.
        let seq = self.head.seq.saturating_add(1);
        out.reserve(body.len() + ENVELOPE_BYTES);
        out.extend_from_slice(BEFORE_SEQ);
        json::number(out, seq);
        out.extend_from_slice(BEFORE_PREV);
        out.extend_from_slice(&self.hex);
        out.extend_from_slice(BEFORE_TIME);
        self.seconds.render(time, out);
        out.extend_from_slice(BEFORE_KIND);
        out.extend_from_slice(kind.name().as_bytes());
        out.push(b'"');
        out.extend_from_slice(body);
        let hash = self.digest.of(out.get(start..).unwrap_or_default());
        (self.head, self.hex) = (Head { seq, hash }, hash.hex());
        out.extend_from_slice(BEFORE_HASH);
        out.extend_from_slice(&self.hex);
        out.extend_from_slice(AFTER_HASH);
        out.push(b'\n');
    }
}

pub(crate) const BEFORE_SEQ: &[u8] = b"{\"v\":1,\"seq\":";
pub(crate) const BEFORE_PREV: &[u8] = b",\"prev\":\"";
pub(crate) const BEFORE_TIME: &[u8] = b"\",\"time\":\"";
pub(crate) const BEFORE_KIND: &[u8] = b"\",\"kind\":\"";
pub(crate) const BEFORE_HASH: &[u8] = b",\"hash\":\"";
pub(crate) const AFTER_HASH: &[u8] = b"\"}";

/// An upper bound of what a line has beside its body: the constants above, a sequence number of 20 digits,
/// two hashes, a time, the longest kind, quote and newline.
const ENVELOPE_BYTES: usize = BEFORE_SEQ.len()
    + 20
    + BEFORE_PREV.len()
    + HEX_BYTES
    + BEFORE_TIME.len()
    + micros::RENDERED_BYTES
    + BEFORE_KIND.len()
    + 12
    + 1
    + BEFORE_HASH.len()
    + HEX_BYTES
    + AFTER_HASH.len()
    + 1;

/// What a kind's own part may have, so that no line is longer than [`MAX_LINE_BYTES`].
pub(crate) const MAX_BODY_BYTES: usize = MAX_LINE_BYTES - ENVELOPE_BYTES;
