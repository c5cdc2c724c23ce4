//! What the client's names stand for: one name space, changed only as the server says (contracts 2).
//!
//! A name has what the server confirmed, and the changes that were sent and not answered yet, in their order.
//! Within one batch (up to a Sync or a Query) a pending change is as good as certain: if it fails, the server
//! skips what comes after it. Across batches it is not: the earlier batch may have failed and its change been
//! skipped. There a look-up says [`Found::Wait`], and the session takes nothing more until the server has spoken.
//! So no order of messages makes a name mean a text other than the one that was judged.
//!
//! INVARIANT (in order): changes are confirmed or dropped in the order in which they were made, since the
//! reply queue is.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The client's names of one kind, with what they stand for.
#[derive(Debug)]
pub(super) struct Names<T> {
    unnamed: Slot<T>,
    named: HashMap<Arc<str>, Slot<T>>,
    /// "All of them" (DEALLOCATE ALL, DISCARD ALL, CLOSE ALL), sent and not answered yet.
    clears: VecDeque<Stamp>,
    reach: Reach,
}

/// What "all of them" is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those that have a name: PostgreSQL keeps the unnamed statement.
    Named,
    /// The unnamed one too: portals.
    Every,
}

/// When a change was sent: its place among all changes, and the batch that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stamp {
    pub(super) sequence: u64,
    pub(super) batch: u64,
}

/// What a name stands for.
#[derive(Debug)]
pub enum Found<T> {
    /// This.
    Is(Arc<T>),
    /// Nothing.
    Nothing,
    /// That depends on a batch that the server has not answered yet.
    Wait,
}

/// How a pending change ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The server confirmed it.
    Made,
    /// The server refused it, or never saw it.
    Dropped,
    /// The server refused it, and what the name stood for went all the same (the unnamed statement at Parse).
    Lost,
}

#[derive(Debug)]
struct Slot<T> {
    now: Option<Arc<T>>,
    pending: VecDeque<Change<T>>,
}

#[derive(Debug)]
struct Change<T> {
    stamp: Stamp,
    to: Option<Arc<T>>,
}

impl<T> Names<T> {
    pub(super) fn new(reach: Reach) -> Self {
        Names { unnamed: Slot::default(), named: HashMap::new(), clears: VecDeque::new(), reach }
    }

    /// What the name stands for, seen from `batch`.
    pub(super) fn find(&self, name: &str, batch: u64) -> Found<T> {
        match self.slot(name) {
            // Nobody else ever had this name: it stands for this text or for nothing, and upstream decides.
            Some(Slot { now: None, pending }) if !name.is_empty() && self.clears.is_empty() => {
                match (pending.len(), pending.front()) {
                    (1, Some(Change { to: Some(to), .. })) => Found::Is(Arc::clone(to)),
                    _ => self.find_certain(name, batch),
                }
            }
            Some(_) | None => self.find_certain(name, batch),
        }
    }

    /// The same for who would give the name away: whether it is free is no matter of upstream's, since upstream
    /// does not know the client's names.
    pub(super) fn find_certain(&self, name: &str, batch: u64) -> Found<T> {
        let Some(slot) = self.slot(name) else { return Found::Nothing };
        // A change before the last pending "all of them" went with it.
        let cleared = self.clears.back().filter(|_| self.reach == Reach::Every || !name.is_empty());
        let last = slot.pending.back().filter(|change| cleared.is_none_or(|all| change.stamp > *all));
        match (last, cleared) {
            (Some(change), _) if change.stamp.batch == batch => found(change.to.as_ref()),
            (None, Some(all)) if all.batch == batch => Found::Nothing,
            (Some(_), _) => Found::Wait,
            (None, Some(_)) if slot.now.is_some() || !slot.pending.is_empty() => Found::Wait,
            (None, _) => found(slot.now.as_ref()),
        }
    }

    /// What the name stands for as far as the server has said, or most probably will.
    pub(super) fn guess(&self, name: &str) -> Option<&Arc<T>> {
        let slot = self.slot(name)?;
        slot.pending.back().map_or(slot.now.as_ref(), |change| change.to.as_ref())
    }

    /// Whether that is so of everything that a name stands for now.
    pub(super) fn all(&self, is_so: impl Fn(&T) -> bool) -> bool {
        let slots = std::iter::once(&self.unnamed).chain(self.named.values());
        slots.filter_map(|slot| slot.now.as_ref()).all(|now| is_so(now))
    }

    /// All that stand for something, or that a message which is on its way gives a name.
    pub(super) fn each(&self) -> impl Iterator<Item = &Arc<T>> {
        let slots = std::iter::once(&self.unnamed).chain(self.named.values());
        slots.flat_map(|slot| {
            slot.now.iter().chain(slot.pending.iter().filter_map(|change| change.to.as_ref()))
        })
    }

    /// The name that stands for it, or that a message which is on its way gives it.
    pub(super) fn name_of(&self, is_it: impl Fn(&T) -> bool) -> Option<Arc<str>> {
        let stands_for = |slot: &Slot<T>| {
            let sent = slot.pending.iter().filter_map(|change| change.to.as_ref());
            slot.now.iter().chain(sent).any(|one| is_it(one))
        };
        self.named.iter().find(|(_, slot)| stands_for(slot)).map(|(name, _)| Arc::clone(name))
    }

    /// Whether forgetting the unnamed one would change anything.
    pub(super) fn unnamed_is_free(&self) -> bool {
        self.unnamed.is_free()
    }

    /// Notes a change that is being sent.
    pub(super) fn change(&mut self, name: &Arc<str>, stamp: Stamp, to: Option<Arc<T>>) {
        let slot =
            if name.is_empty() { &mut self.unnamed } else { self.named.entry(Arc::clone(name)).or_default() };
        slot.pending.push_back(Change { stamp, to });
    }

    /// The name's oldest pending change has ended.
    pub(super) fn end(&mut self, name: &str, end: End) {
        let slot = if name.is_empty() { Some(&mut self.unnamed) } else { self.named.get_mut(name) };
        let Some(slot) = slot else { return };
        let change = slot.pending.pop_front();
        match end {
            End::Made => slot.now = change.and_then(|change| change.to),
            End::Lost => slot.now = None,
            End::Dropped => {}
        }
        if slot.is_free() && !name.is_empty() {
            self.named.remove(name);
        }
    }

    /// Notes an "all of them" that is being sent.
    pub(super) fn clear_later(&mut self, stamp: Stamp) {
        self.clears.push_back(stamp);
    }

    /// The oldest pending "all of them" has ended.
    pub(super) fn end_clear(&mut self, end: End) {
        let stamp = self.clears.pop_front();
        if end == End::Made && stamp.is_some() {
            let unnamed = self.unnamed.now.take().filter(|_| self.reach == Reach::Named);
            self.clear(|_| false);
            self.unnamed.now = unnamed;
        }
    }

    /// Nothing that the server has confirmed stands any more (the end of a transaction for portals), but for what
    /// `keeps` says.
    pub(super) fn clear(&mut self, keeps: impl Fn(&T) -> bool) {
        self.unnamed.now = None;
        if !self.named.is_empty() {
            self.named.retain(|_, slot| {
                slot.now = slot.now.take().filter(|now| keeps(now));
                !slot.is_free()
            });
        }
    }

    /// Forgets what a name stands for, without the server (an answer of the proxy's own).
    pub(super) fn forget_unnamed(&mut self) {
        self.unnamed.now = None;
    }

    /// Forgets what any name stands for, without the server.
    pub(super) fn forget(&mut self, name: &str) {
        match name {
            "" => self.forget_unnamed(),
            _ => drop(self.named.remove(name)),
        }
    }

    /// How many names are taken, pending ones too.
    pub(super) fn count(&self) -> usize {
        self.named.len()
    }

    /// How many of them will be free, as far as was sent: what follows comes true only if that did.
    pub(super) fn leaving(&self) -> usize {
        let leaves = |slot: &&Slot<T>| slot.pending.back().is_some_and(|change| change.to.is_none());
        self.named.values().filter(leaves).count()
    }

    /// The key under which the name is kept, or a new one.
    pub(super) fn key(&self, name: &str) -> Arc<str> {
        self.named.get_key_value(name).map_or_else(|| Arc::from(name), |(key, _)| Arc::clone(key))
    }

    fn slot(&self, name: &str) -> Option<&Slot<T>> {
        if name.is_empty() { Some(&self.unnamed) } else { self.named.get(name) }
    }
}

impl<T> Slot<T> {
    fn is_free(&self) -> bool {
        self.now.is_none() && self.pending.is_empty()
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Slot { now: None, pending: VecDeque::new() }
    }
}

fn found<T>(what: Option<&Arc<T>>) -> Found<T> {
    what.map_or(Found::Nothing, |what| Found::Is(Arc::clone(what)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(sequence: u64, batch: u64) -> Stamp {
        Stamp { sequence, batch }
    }

    fn key(name: &str) -> Arc<str> {
        Arc::from(name)
    }

    /// What a look-up says, in a letter or two.
    fn said(found: &Found<u32>) -> String {
        match found {
            Found::Is(what) => what.to_string(),
            Found::Nothing => "-".to_owned(),
            Found::Wait => "?".to_owned(),
        }
    }

    #[test]
    fn a_pending_name_may_be_used_in_its_own_batch() {
        let mut names = Names::new(Reach::Named);
        names.change(&key("a"), stamp(1, 1), Some(Arc::new(1)));
        assert_eq!(said(&names.find("a", 1)), "1");
        names.end("a", End::Made);
        assert_eq!(said(&names.find("a", 2)), "1");
        assert_eq!(said(&names.find("b", 2)), "-");
    }

    #[test]
    fn an_unnamed_parse_that_may_have_been_skipped_is_waited_for() {
        // P("",1) S [answered] / P(n,bad) P("",2) S / B(""): 2 may never have been parsed.
        let mut names = Names::new(Reach::Named);
        names.change(&key(""), stamp(1, 1), Some(Arc::new(1)));
        names.end("", End::Made);
        names.change(&key(""), stamp(2, 2), Some(Arc::new(2)));
        assert_eq!(said(&names.find("", 2)), "2");
        assert_eq!(said(&names.find("", 3)), "?");
        names.end("", End::Dropped);
        assert_eq!(said(&names.find("", 3)), "1");
    }

    #[test]
    fn a_close_that_may_have_been_skipped_is_waited_for() {
        let mut names = Names::new(Reach::Named);
        names.change(&key("a"), stamp(1, 1), Some(Arc::new(1)));
        names.end("a", End::Made);
        names.change(&key("a"), stamp(2, 2), None);
        assert_eq!(said(&names.find("a", 2)), "-");
        assert_eq!(said(&names.find("a", 3)), "?");
        names.end("a", End::Dropped);
        assert_eq!(said(&names.find("a", 3)), "1");
    }

    #[test]
    fn a_new_name_needs_no_waiting_since_it_can_mean_one_text_only() {
        let mut names = Names::new(Reach::Named);
        names.change(&key("a"), stamp(1, 1), Some(Arc::new(1)));
        assert_eq!(said(&names.find("a", 2)), "1");
        names.end("a", End::Dropped);
        assert_eq!(said(&names.find("a", 2)), "-");
        assert_eq!(names.count(), 0);
    }

    #[test]
    fn whether_a_new_name_is_free_is_waited_for() {
        // P(a,bad) S / P(a,good): the second may be the first that there is.
        let mut names = Names::new(Reach::Named);
        names.change(&key("a"), stamp(1, 1), Some(Arc::new(1)));
        assert_eq!(said(&names.find_certain("a", 1)), "1");
        assert_eq!(said(&names.find_certain("a", 2)), "?");
        names.end("a", End::Dropped);
        assert_eq!(said(&names.find_certain("a", 2)), "-");
    }

    #[test]
    fn all_statements_are_those_with_a_name_and_all_portals_are_all() {
        for (reach, left) in [(Reach::Named, "1"), (Reach::Every, "-")] {
            let mut names = Names::new(reach);
            names.change(&key(""), stamp(1, 1), Some(Arc::new(1)));
            names.end("", End::Made);
            names.clear_later(stamp(2, 1));
            assert_eq!(said(&names.find("", 1)), left);
            names.end_clear(End::Made);
            assert_eq!(said(&names.find("", 2)), left);
        }
    }

    #[test]
    fn all_of_them_goes_for_what_was_there_before_it() {
        // E(DEALLOCATE ALL) P(a) B(a): `a` is the new one.
        let mut names = Names::new(Reach::Named);
        names.change(&key("a"), stamp(1, 1), Some(Arc::new(1)));
        names.end("a", End::Made);
        names.clear_later(stamp(2, 2));
        assert_eq!(said(&names.find("a", 2)), "-");
        assert_eq!(said(&names.find("a", 3)), "?");
        names.change(&key("a"), stamp(3, 2), Some(Arc::new(2)));
        assert_eq!(said(&names.find("a", 2)), "2");
        names.end_clear(End::Made);
        names.end("a", End::Made);
        assert_eq!(said(&names.find("a", 3)), "2");
    }

    #[test]
    fn a_failed_unnamed_parse_loses_the_old_one() {
        let mut names = Names::new(Reach::Named);
        names.change(&key(""), stamp(1, 1), Some(Arc::new(1)));
        names.end("", End::Made);
        names.change(&key(""), stamp(2, 2), Some(Arc::new(2)));
        names.end("", End::Lost);
        assert_eq!(said(&names.find("", 3)), "-");
    }
}
