//! What keeps a client on its connection in transaction mode, and what becomes of the connection afterwards.
//!
//! What came with an open transaction goes with it when it is rolled back. Nothing else unpins but what lets go of it:
//! a pin too many costs a connection, one too few shows a client another's state. So nothing lets go of what was sent and
//! has not ended (a message or a pipeline may take again behind it), nor inside a savepoint, which may be gone back to.

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
    /// That transaction has savepoints.
    nested: bool,
    /// How many statements of each kind were sent and have not ended.
    under_way: [usize; Pin::ALL.len()],
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
        self.count(lasting.pins, |count| count + 1);
    }

    /// It has ended, one way or another.
    pub(super) fn ended(&mut self, lasting: &Lasting) {
        self.count(lasting.pins, |count| count.saturating_sub(1));
    }

    fn count(&mut self, pins: PinSet, change: impl Fn(usize) -> usize) {
        for (pin, count) in Pin::ALL.into_iter().zip(&mut self.under_way) {
            if pins.contains(pin) {
                *count = change(*count);
            }
        }
    }

    /// A savepoint was made.
    pub(super) fn nest(&mut self) {
        self.nested = true;
    }

    /// It has run, with this tag.
    pub(super) fn ran(&mut self, lasting: &Lasting, tag: Option<&str>) {
        if lasting.unpins == PinSet::EVERY {
            // DISCARD ALL, which runs in no transaction.
            let leaving = if self.leaving == Leaving::Destroy { Leaving::Destroy } else { Leaving::AsItIs };
            let fast = if leaving == Leaving::Destroy { Pin::Unknown.into() } else { PinSet::NONE };
            let fast = fast.and(self.taking());
            *self = Pins { fast, leaving, under_way: self.under_way, ..Pins::default() };
            return;
        }
        let mut unpins = lasting.unpins.without(self.taking());
        if tag != Some("SELECT 1") {
            // Whether the call was made is not known.
            unpins = unpins.without(Pin::Locks.into());
        }
        let transactional = unpins.transactional();
        self.fast = self.fast.without(unpins.without(transactional));
        if !self.nested {
            self.going = self.going.and(transactional);
        }
    }

    pub(super) fn pin(&mut self, pin: Pin) {
        self.fast = self.fast.and(pin.into());
    }

    pub(super) fn commit(&mut self) {
        self.fast = self.fast.and(self.open).without(self.going);
        self.roll_back();
    }

    /// What was sent behind the transaction's end is not its own.
    pub(super) fn roll_back(&mut self) {
        (self.open, self.going, self.nested) = (self.taking().transactional(), PinSet::NONE, false);
    }

    /// What may be taken by statements that are under way.
    fn taking(&self) -> PinSet {
        let taking = Pin::ALL.into_iter().zip(self.under_way).filter(|(_, count)| *count > 0);
        taking.fold(PinSet::NONE, |all, (pin, _)| all.and(pin.into()))
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

    /// It is sent, and ends.
    fn take(pins: &mut Pins, lasting: &Lasting) {
        pins.sent(lasting);
        pins.ended(lasting);
    }

    fn pinning(pin: Pin) -> Lasting {
        Lasting { pins: pin.into(), ..Lasting::default() }
    }

    #[test]
    fn what_a_transaction_made_goes_with_it() {
        let mut pins = Pins::default();
        take(&mut pins, &pinning(Pin::Temporary));
        assert_eq!(pins.reason(), Some(Pin::Temporary));
        pins.roll_back();
        assert_eq!(pins.reason(), None);
        take(&mut pins, &pinning(Pin::Temporary));
        pins.commit();
        pins.roll_back();
        assert_eq!(pins.reason(), Some(Pin::Temporary));
    }

    #[test]
    fn a_lock_outlives_the_rollback() {
        let mut pins = Pins::default();
        take(&mut pins, &pinning(Pin::Locks));
        pins.roll_back();
        assert_eq!(pins.reason(), Some(Pin::Locks));
        pins.ran(&Lasting { unpins: Pin::Locks.into(), ..Lasting::default() }, Some("SELECT 1"));
        assert_eq!(pins.reason(), None);
    }

    #[test]
    fn an_unlisten_that_is_rolled_back_lets_nothing_go() {
        let unlisten = Lasting { unpins: Pin::Listens.into(), ..Lasting::default() };
        let mut pins = Pins::default();
        take(&mut pins, &pinning(Pin::Listens));
        pins.commit();
        pins.ran(&unlisten, Some("UNLISTEN"));
        pins.roll_back();
        assert_eq!(pins.reason(), Some(Pin::Listens));
        pins.ran(&unlisten, Some("UNLISTEN"));
        pins.commit();
        assert_eq!(pins.reason(), None);
        // LISTEN behind an UNLISTEN in one transaction.
        pins.ran(&unlisten, Some("UNLISTEN"));
        take(&mut pins, &pinning(Pin::Listens));
        pins.commit();
        assert_eq!(pins.reason(), Some(Pin::Listens));
    }

    #[test]
    fn what_cannot_be_taken_back_is_not_let_go_by_a_discard() {
        let discard = Lasting { unpins: PinSet::EVERY, ..Lasting::default() };
        let mut pins = Pins::default();
        for (leaving, reason) in [(Leaving::Reset, None), (Leaving::Destroy, Some(Pin::Unknown))] {
            take(&mut pins, &Lasting { leaving, ..pinning(Pin::Function) });
            pins.ran(&discard, Some("DISCARD ALL"));
            assert_eq!(pins.reason(), reason);
        }
        assert_eq!(pins.leaving(), Leaving::Destroy);
    }

    #[test]
    fn nothing_lets_go_of_what_was_sent_behind_it() {
        let locks = Lasting { unpins: Pin::Locks.into(), ..Lasting::default() };
        let mut pins = Pins::default();
        let lock = pinning(Pin::Locks);
        pins.sent(&locks);
        pins.sent(&lock);
        pins.ran(&locks, Some("SELECT 1"));
        pins.ended(&lock);
        assert_eq!(pins.reason(), Some(Pin::Locks));
        // The call was not made, or may not have been.
        for tag in [None, Some("SELECT 0"), Some("EXPLAIN"), Some("DECLARE CURSOR")] {
            pins.ran(&locks, tag);
            assert_eq!(pins.reason(), Some(Pin::Locks), "{tag:?}");
        }
        pins.ran(&locks, Some("SELECT 1"));
        assert_eq!(pins.reason(), None);
    }

    #[test]
    fn what_is_let_go_inside_a_savepoint_may_come_back() {
        let unlisten = Lasting { unpins: Pin::Listens.into(), ..Lasting::default() };
        let mut pins = Pins::default();
        take(&mut pins, &pinning(Pin::Listens));
        pins.commit();
        pins.nest();
        pins.ran(&unlisten, Some("UNLISTEN"));
        pins.commit();
        assert_eq!(pins.reason(), Some(Pin::Listens));
        pins.ran(&unlisten, Some("UNLISTEN"));
        pins.commit();
        assert_eq!(pins.reason(), None);
    }
}
