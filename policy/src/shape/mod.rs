//! The shape of a text: what stays when plain constants are taken out.
//!
//! Drivers that put literals into the text make every text different; their shapes are few. A shape is a *skeleton*, in
//! which each plain `'…'` string and each plain number is replaced by a mark of its token class, and the *slots* that
//! were taken out. Two queries or changes of one skeleton parse to one tree that differs in constants only (not so SET,
//! whose value decides). Whatever could break that (a backslash, a string with a prefix, a comment, a non-ASCII byte
//! outside quotes, adjacent strings, `float(n)`, whose number picks a type, a NUL) makes the text its own skeleton.
//!
//! The [`Fingerprint`] names a shape in the audit log, from release to release.

mod cut;
pub(crate) mod token;

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

use sha2::{Digest, Sha256};

use cut::cut;

/// A text without its plain constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    skeleton: Vec<u8>,
    slots: Vec<Slot>,
}

/// A constant that was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Its bytes in the text, quotes included; a sign stays in the skeleton.
    pub span: Range<usize>,
    /// Its class, which the skeleton keeps.
    pub class: SlotClass,
}

/// The token classes that the parser tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlotClass {
    /// `'…'`.
    String,
    /// A number that fits int4.
    Integer,
    /// Any other number.
    Number,
}

/// A shape's name: the first eight bytes of the SHA-256 of its skeleton.
///
/// A cryptographic hash, although a plain one would do for a map: whoever reads the audit log
/// trusts it, and the client chooses the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// The eight bytes as a number, for those who keep it as one.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Shape {
    /// What two texts of one shape have in common.
    pub fn skeleton(&self) -> &[u8] {
        &self.skeleton
    }

    /// The constants in the order of the text; none where the text is its own skeleton.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Whether the text is its own skeleton because something in it is out of the ordinary.
    pub fn is_exact(&self) -> bool {
        self.skeleton.first() == Some(&EXACT)
    }

    /// The shape's name.
    pub fn fingerprint(&self) -> Fingerprint {
        let digest: [u8; 32] = Sha256::digest(&self.skeleton).into();
        let [a, b, c, d, e, f, g, h, ..] = digest;
        Fingerprint(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }
}

/// Takes the plain constants out of a text, in one pass over its bytes.
pub fn shape(text: &str) -> Shape {
    let mut shape = Shape::EMPTY;
    shape.read(text);
    shape
}

impl Shape {
    /// The shape of an empty text.
    pub(crate) const EMPTY: Shape = Shape { skeleton: Vec::new(), slots: Vec::new() };

    /// Becomes the shape of a text, in the memory that it has.
    pub(crate) fn read(&mut self, text: &str) {
        self.skeleton.clear();
        self.slots.clear();
        if cut(text, &mut self.skeleton, &mut self.slots).is_none() {
            self.skeleton.clear();
            self.slots.clear();
            self.skeleton.push(EXACT);
            self.skeleton.extend_from_slice(text.as_bytes());
        }
    }

    /// What its memory takes, in bytes.
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.skeleton.capacity() + self.slots.capacity() * size_of::<Slot>()
    }
}

impl Default for Shape {
    fn default() -> Shape {
        Shape::EMPTY
    }
}

/// Stands first in the skeleton of a text that is kept as it is. None of the marks can stand in a
/// skeleton otherwise: a control character outside a string makes a text exact, and an exact text
/// has a first byte that no other skeleton has (a NUL starts no token).
const EXACT: u8 = 0;
const STRING: u8 = 1;
const INTEGER: u8 = 2;
const NUMBER: u8 = 3;
