//! What keeps a client on its connection in transaction mode, and what becomes of the connection afterwards.
//!
//! What came with an open transaction goes with it when it is rolled back. Nothing else unpins but what lets go of it:
//! a pin too many costs a connection, one too few shows a client another's state.

use super::lasting::{Lasting, Leaving, Pin, PinSet};

/// The pins of a session.
#[derive(Debug, Default)]
pub(super) struct Pins {
    /// For good, until something lets go of it.
    fast: PinSet,
    /// Since the transaction that is open.
    open: PinSet,
    /// Goes when that transaction is committed.
    going: PinSet,
    leaving: Leaving,
}

impl Pins {
    /// A statement is being sent. Whether it fails or not, what outlives a rollback may have been done.
    pub(super) fn sent(&mut self, lasting: &Lasting) {
        let transactional = lasting.pins.transactional();
        self.open = self.open.and(transactional);
        self.going = self.going.without(transactional);
        self.fast = self.fast.and(lasting.pins.without(transactional));
        self.leaving = self.leaving.max(lasting.leaving);
    }

    /// It has run.
    pub(super) fn ran(&mut self, lasting: &Lasting) {
        if lasting.unpins == PinSet::EVERY {
            // DISCARD ALL, which runs in no transaction.
            let leaving = if self.leaving == Leaving::Destroy { Leaving::Destroy } else { Leaving::AsItIs };
            let fast = if leaving == Leaving::Destroy { Pin::Unknown.into() } else { PinSet::NONE };
            *self = Pins { fast, leaving, ..Pins::default() };
            return;
        }
        let transactional = lasting.unpins.transactional();
        self.going = self.going.and(transactional);
        self.fast = self.fast.without(lasting.unpins.without(transactional));
    }

    pub(super) fn pin(&mut self, pin: Pin) {
        self.fast = self.fast.and(pin.into());
    }

    pub(super) fn commit(&mut self) {
        self.fast = self.fast.and(self.open).without(self.going);
        (self.open, self.going) = (PinSet::NONE, PinSet::NONE);
    }

    pub(super) fn roll_back(&mut self) {
        (self.open, self.going) = (PinSet::NONE, PinSet::NONE);
    }

    /// Why the client stays, if it does.
    pub(super) fn reason(&self) -> Option<Pin> {
        self.fast.and(self.open).first()
    }

    pub(super) fn leaving(&self) -> Leaving {
        self.leaving
    }

    /// The connection has left.
    pub(super) fn left(&mut self) {
        *self = Pins::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinning(pin: Pin) -> Lasting {
        Lasting { pins: pin.into(), ..Lasting::default() }
    }

    #[test]
    fn what_a_transaction_made_goes_with_it() {
        let mut pins = Pins::default();
        pins.sent(&pinning(Pin::Temporary));
        assert_eq!(pins.reason(), Some(Pin::Temporary));
        pins.roll_back();
        assert_eq!(pins.reason(), None);
        pins.sent(&pinning(Pin::Temporary));
        pins.commit();
        pins.roll_back();
        assert_eq!(pins.reason(), Some(Pin::Temporary));
    }

    #[test]
    fn a_lock_outlives_the_rollback() {
        let mut pins = Pins::default();
        pins.sent(&pinning(Pin::Locks));
        pins.roll_back();
        assert_eq!(pins.reason(), Some(Pin::Locks));
        pins.ran(&Lasting { unpins: Pin::Locks.into(), ..Lasting::default() });
        assert_eq!(pins.reason(), None);
    }

    #[test]
    fn an_unlisten_that_is_rolled_back_lets_nothing_go() {
        let unlisten = Lasting { unpins: Pin::Listens.into(), ..Lasting::default() };
        let mut pins = Pins::default();
        pins.sent(&pinning(Pin::Listens));
        pins.commit();
        pins.ran(&unlisten);
        pins.roll_back();
        assert_eq!(pins.reason(), Some(Pin::Listens));
        pins.ran(&unlisten);
        pins.commit();
        assert_eq!(pins.reason(), None);
        // LISTEN behind an UNLISTEN in one transaction.
        pins.ran(&unlisten);
        pins.sent(&pinning(Pin::Listens));
        pins.commit();
        assert_eq!(pins.reason(), Some(Pin::Listens));
    }

    #[test]
    fn what_cannot_be_taken_back_is_not_let_go_by_a_discard() {
        let discard = Lasting { unpins: PinSet::EVERY, ..Lasting::default() };
        let mut pins = Pins::default();
        for (leaving, reason) in [(Leaving::Reset, None), (Leaving::Destroy, Some(Pin::Unknown))] {
            pins.sent(&Lasting { leaving, ..pinning(Pin::Function) });
            pins.ran(&discard);
            assert_eq!(pins.reason(), reason);
        }
        assert_eq!(pins.leaving(), Leaving::Destroy);
    }
}
