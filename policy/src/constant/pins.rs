//! What a verdict rests on besides the skeleton: the questions about constants and about the
//! tenant's own values, with their answers.
//!
//! The tenant's value itself is never kept: a pin says *it is the value of group 0*, so that one
//! verdict serves every tenant whose values give the same answers.

use super::{ConstValue, Read};
use crate::keyed::{HashMap, HashSet};
use crate::policy::Own;
use crate::shape::{Slot, SlotClass};
use crate::{Family, Policy, TenantColumnClass};

/// The classes of one proof in which the tenant has one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Group(pub(crate) usize);

/// What the tenant's value in a class is to the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// There is none.
    Absent,
    /// It is the group's. The first class of a group makes it.
    Of(Group),
    /// It is no group's.
    Apart,
}

/// A question whose answer is yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    Own(Group),
    Elements(Group),
    Zero,
    AtMostOne,
    Positive,
}

/// The questions of one judgement.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    classes: Vec<(TenantColumnClass, Standing)>,
    slots: HashMap<(u32, Asked), bool>,
    /// About constants that stand in a view's definition, not in the text.
    fixed: Vec<(ConstValue, Asked, bool)>,
    printed: Vec<(Box<str>, Group, bool)>,
    exact: Vec<u32>,
    proofs: usize,
}

impl Pins {
    pub(super) fn begin(&mut self) {
        self.proofs += 1;
    }

    pub(super) fn stands(&mut self, class: &TenantColumnClass, standing: Standing) {
        if !self.classes.iter().any(|(known, said)| known == class && *said == standing) {
            self.classes.push((class.clone(), standing));
        }
    }

    pub(super) fn asked(&mut self, slot: Option<u32>, value: &ConstValue, asked: Asked, answer: bool) {
        match slot {
            Some(slot) => {
                self.slots.insert((slot, asked), answer);
            }
            None if self.fixed.iter().any(|(known, what, _)| known == value && *what == asked) => {}
            None => self.fixed.push((value.clone(), asked, answer)),
        }
    }

    pub(super) fn printed(&mut self, default: &str, group: Group, answer: bool) {
        self.printed.push((default.into(), group, answer));
    }

    pub(super) fn exactly(&mut self, slot: Option<u32>) {
        self.exact.extend(slot);
    }

    /// What must hold in a text of the same skeleton for the same verdict. `read`: the slots whose
    /// constants stand in the judged tree; whatever else the parser made of a number or a string (a
    /// type's length, a path) is kept to the letter.
    ///
    /// None where that is too much to keep.
    pub(crate) fn settle(mut self, text: &str, slots: &[Slot], read: &[u32]) -> Option<Settled> {
        let several = self.proofs > 1;
        let many = self.slots.len() + self.fixed.len() + self.printed.len() > PINS_MAX;
        if several || many || self.classes.len() > CLASSES_MAX {
            return None;
        }
        let numbers = 0..u32::try_from(slots.len()).ok()?;
        let read: HashSet<u32> = read.iter().copied().collect();
        self.exact.extend(numbers.filter(|number| !read.contains(number)));
        self.exact.sort_unstable();
        self.exact.dedup();
        let mut exact = Vec::with_capacity(self.exact.len());
        for number in self.exact {
            let span = slots.get(usize::try_from(number).ok()?)?.span.clone();
            exact.push((number, text.get(span)?.into()));
        }
        Some(Settled {
            classes: self.classes.into(),
            slots: self.slots.into_iter().map(|((slot, asked), answer)| (slot, asked, answer)).collect(),
            fixed: self.fixed.into(),
            printed: self.printed.into(),
            exact: exact.into(),
        })
    }
}

/// The questions of a verdict that is kept.
#[derive(Debug)]
pub(crate) struct Settled {
    classes: Box<[(TenantColumnClass, Standing)]>,
    slots: Box<[(u32, Asked, bool)]>,
    fixed: Box<[(ConstValue, Asked, bool)]>,
    printed: Box<[(Box<str>, Group, bool)]>,
    exact: Box<[(u32, Box<str>)]>,
}

impl Settled {
    /// Whether every question has the same answer for a text of the same skeleton, and for this
    /// tenant.
    pub(crate) fn hold(&self, text: &str, slots: &[Slot], policy: &Policy, tenant: Option<&str>) -> bool {
        let slot = |number: u32| slots.get(usize::try_from(number).ok()?);
        let written = |number: u32| text.get(slot(number)?.span.clone());
        if !self.exact.iter().all(|(number, kept)| written(*number) == Some(kept)) {
            return false;
        }
        let Some(owns) = self.owns(policy, tenant) else { return false };
        let slots = self.slots.iter().all(|(number, asked, answer)| {
            let read = slot(*number).and_then(|slot| Some(read(slot.class, text.get(slot.span.clone())?)));
            read.and_then(|read| asked.answer(read, &owns)) == Some(*answer)
        });
        let fixed = |(value, asked, answer): &(ConstValue, Asked, bool)| {
            asked.answer(value.read(), &owns) == Some(*answer)
        };
        let printed = |(default, group, answer): &(Box<str>, Group, bool)| {
            owns.of(*group).map(|own| own.is_printed_as(default)) == Some(*answer)
        };
        slots && self.fixed.iter().all(fixed) && self.printed.iter().all(printed)
    }

    /// The tenant's values in the groups; none where its classes stand to each other in another way.
    fn owns<'o>(&'o self, policy: &'o Policy, tenant: Option<&'o str>) -> Option<Owns<'o>> {
        let mut owns = Owns::default();
        for (class, standing) in &self.classes {
            let own = tenant.and_then(|tenant| policy.own_of(tenant, class));
            match (standing, own) {
                (Standing::Absent, None) => {}
                (Standing::Of(group), Some(own)) => match owns.group(own, &class.family) {
                    Some(known) if known == *group => {}
                    None if owns.count == group.0 => owns.add(own, &class.family)?,
                    Some(_) | None => return None,
                },
                (Standing::Apart, Some(own)) if owns.group(own, &class.family).is_none() => {}
                (Standing::Absent | Standing::Of(_) | Standing::Apart, _) => return None,
            }
        }
        Some(owns)
    }

    /// Roughly how much memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let exact: usize = self.exact.iter().map(|(_, kept)| kept.len() + size_of::<(u32, Box<str>)>()).sum();
        let fixed: usize = self.fixed.iter().map(|(value, ..)| FIXED_BYTES + value.len()).sum();
        let printed: usize = self.printed.iter().map(|(text, ..)| FIXED_BYTES + text.len()).sum();
        exact
            + fixed
            + printed
            + self.classes.len() * CLASS_BYTES
            + self.slots.len() * size_of::<(u32, Asked, bool)>()
    }
}

/// A tenant's values in the groups, each with its family.
#[derive(Debug, Default)]
struct Owns<'o> {
    known: [Option<(Own<'o>, &'o Family)>; CLASSES_MAX],
    count: usize,
}

impl<'o> Owns<'o> {
    fn of(&self, group: Group) -> Option<Own<'o>> {
        self.known.get(group.0).copied().flatten().map(|(own, _)| own)
    }

    fn group(&self, own: Own<'_>, family: &Family) -> Option<Group> {
        let is = |known: &Option<(Own<'_>, &Family)>| known.is_some_and(|known| known == (own, family));
        self.known.iter().take(self.count).position(is).map(Group)
    }

    fn add(&mut self, own: Own<'o>, family: &'o Family) -> Option<()> {
        *self.known.get_mut(self.count)? = Some((own, family));
        self.count += 1;
        Some(())
    }
}

impl Asked {
    fn answer(self, read: Read<'_>, owns: &Owns<'_>) -> Option<bool> {
        Some(match self {
            Asked::Own(group) => read.is_own(owns.of(group)?),
            Asked::Elements(group) => read.elements_are_own(owns.of(group)?),
            Asked::Zero => read.is_zero(),
            Asked::AtMostOne => read.is_at_most_one(),
            Asked::Positive => read.is_positive(),
        })
    }
}

/// A slot's value, as the parser decodes it.
fn read(class: SlotClass, written: &str) -> Read<'_> {
    match class {
        SlotClass::String => {
            let inner = written.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
            inner.map_or(Read::Other, Read::Written)
        }
        SlotClass::Integer => written.parse().map_or(Read::Other, Read::Integer),
        SlotClass::Number => Read::Number(written),
    }
}

/// More questions than these are not kept: looking them up would cost as much as judging.
const PINS_MAX: usize = 64;
/// The same for classes of tenant columns.
const CLASSES_MAX: usize = 16;
/// A constant of a view's, beside its text.
const FIXED_BYTES: usize = 48;
/// A class with its standing.
const CLASS_BYTES: usize = 96;
