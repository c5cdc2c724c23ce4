//! The shape of a file, as a table: every key with its type, unit, default and meaning.

/// A mapping with a closed list of keys.
#[derive(Debug)]
pub struct Section {
    /// Every key.
    pub keys: &'static [Key],
}

/// A key of a section.
#[derive(Debug)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// What its value is.
    pub shape: Shape,
    /// Whether it must be there.
    pub presence: Presence,
    /// What it means, for the reference page.
    pub about: &'static str,
    /// Whether what it governs exists.
    pub built: Built,
}

/// Whether a key must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Required,
    /// It need not; this is what holds without it, as YAML writes it.
    Default(&'static str),
    /// It need not; nothing holds without it.
    Optional,
}

/// What a value is.
#[derive(Debug)]
pub enum Shape {
    /// Text.
    Text,
    /// An integer.
    Integer {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
        /// What it counts.
        unit: &'static str,
    },
    /// `true` or `false`.
    Boolean,
    /// `null`.
    Null,
    /// One of these words.
    Word(&'static [Word]),
    /// A sequence.
    List(&'static Shape),
    /// A mapping with a closed list of keys.
    Section(&'static Section),
    /// A mapping whose keys are names.
    Map {
        /// What a key is, in capitals, for paths: `ROLE`.
        key: &'static str,
        /// What each value is.
        value: &'static Shape,
    },
    /// One of these, told apart by what YAML calls them.
    Either(&'static [Shape]),
}

/// One of a closed list of words.
#[derive(Debug)]
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// Whether what it asks for exists.
    pub built: Built,
}

/// Whether what a key or word governs exists. Nothing is ever ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Built {
    /// It does.
    Yes,
    /// It does not, and what it governs is refused: a warning that says what.
    RefusedUntilThen(&'static str),
    /// It does not: an error.
    NotYet,
}

impl Key {
    /// A key that must be there.
    pub const fn required(name: &'static str, shape: Shape, about: &'static str) -> Key {
        Key { name, shape, presence: Presence::Required, about, built: Built::Yes }
    }

    /// A key that need not be there.
    pub const fn optional(name: &'static str, shape: Shape, about: &'static str) -> Key {
        Key { name, shape, presence: Presence::Optional, about, built: Built::Yes }
    }

    /// A key that need not be there, with what holds without it.
    pub const fn default(
        name: &'static str,
        shape: Shape,
        default: &'static str,
        about: &'static str,
    ) -> Key {
        Key { name, shape, presence: Presence::Default(default), about, built: Built::Yes }
    }

    /// The same, with whether it is built.
    #[must_use]
    pub const fn built(mut self, built: Built) -> Key {
        self.built = built;
        self
    }
}

impl Word {
    /// A word whose meaning is built.
    pub const fn new(name: &'static str) -> Word {
        Word { name, built: Built::Yes }
    }

    /// A word whose meaning is not built.
    pub const fn not_built(name: &'static str, built: Built) -> Word {
        Word { name, built }
    }
}
