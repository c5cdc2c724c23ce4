//! Whether the client still hears what is said.

/// It only ever goes on to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Audience {
    /// It is there.
    #[default]
    Listens,
    /// It has said good-bye: what was asked before is answered, and whether it still reads does not matter.
    Parts,
    /// It gets nothing any more.
    Deaf,
    /// Its socket was shut down.
    Gone,
}

impl Audience {
    /// Whether anything may still be written to it.
    pub(super) fn hears(self) -> bool {
        self < Self::Deaf
    }

    /// Goes on to a later state; an earlier one changes nothing.
    pub(super) fn becomes(&mut self, next: Self) {
        *self = next.max(*self);
    }
}

/// The client's messages that were read and not taken yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Backlog {
    /// None that is whole, as far as is known.
    #[default]
    Incomplete,
    /// There may be whole ones.
    Ready,
    /// The next one waits for the server's next reply.
    ForReply,
}

#[cfg(test)]
mod tests {
    use super::Audience::{Deaf, Gone, Listens, Parts};

    #[test]
    fn a_client_that_hears_nothing_never_hears_again() {
        for (from, to, then) in
            [(Listens, Parts, Parts), (Parts, Deaf, Deaf), (Deaf, Parts, Deaf), (Gone, Deaf, Gone)]
        {
            let mut audience = from;
            audience.becomes(to);
            assert_eq!(audience, then);
        }
        assert!(Listens.hears() && Parts.hears() && !Deaf.hears() && !Gone.hears());
    }
}
