//! A verdict that is kept, and what it rests on.

use std::sync::{Arc, OnceLock};

use quick_cache::Weighter;

use super::key::Key;
use crate::constant::Settled;
use crate::judge::Request;
use crate::shape::Slot;
use crate::{Effect, Judged, Judgement, LimitName, Policy, Verdict};

/// A verdict that serves every text of its shape in which its questions have the same answers.
///
/// INVARIANT: one statement, allowed, that names nothing of the client's.
#[derive(Debug)]
pub struct Kept<T = ()> {
    key: Arc<Key>,
    pins: Settled,
    judgement: Judgement,
    /// The length of the text that was judged.
    bytes: usize,
    /// The role's `limits.statement_bytes`.
    bytes_max: usize,
    /// Whether the role has tenants.
    tenant_bound: bool,
    made: OnceLock<T>,
}

/// The verdicts of one shape under different answers, oldest first.
pub(super) type Variants<T> = Arc<[Arc<Kept<T>>]>;

impl<T> Kept<T> {
    /// Whether a judgement says nothing of the text itself, nor of the client's names.
    pub(super) fn may_be(judgement: &Judgement) -> bool {
        matches!(judgement.statements.as_slice(), [judged] if may_be_kept(judged))
    }

    pub(super) fn new(key: Arc<Key>, request: &Request<'_>, pins: Settled, judgement: Judgement) -> Kept<T> {
        let role = request.policy.role(&request.principal.role);
        Kept {
            key,
            pins,
            judgement,
            bytes: request.text.len(),
            bytes_max: role.map_or(0, |role| role.limits.get(LimitName::StatementBytes)),
            tenant_bound: request.principal.tenant.is_some(),
            made: OnceLock::new(),
        }
    }

    /// The judgement, as it was given first: the one statement's span ends where that text's did.
    pub fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    /// The judgement of one of the texts that it serves.
    pub fn judgement_of(&self, text: &str) -> Judgement {
        let mut judgement = self.judgement.clone();
        for judged in &mut judgement.statements {
            // Every constant stands inside the only statement.
            judged.span.end = (judged.span.end + text.len()).saturating_sub(self.bytes);
        }
        judgement
    }

    /// What all the texts have in common: a control character stands for each plain constant.
    pub fn skeleton(&self) -> &str {
        std::str::from_utf8(&self.key.skeleton).unwrap_or_default()
    }

    /// What the caller makes of the verdict; the first time it is made.
    pub fn made(&self, make: impl FnOnce(&Kept<T>) -> T) -> &T {
        self.made.get_or_init(|| make(self))
    }

    pub(super) fn key(&self) -> &Arc<Key> {
        &self.key
    }

    /// Whether it is the verdict on a text of its shape.
    pub(super) fn holds(&self, text: &str, slots: &[Slot], policy: &Policy, tenant: Option<&str>) -> bool {
        text.len() <= self.bytes_max
            && tenant.is_some() == self.tenant_bound
            && self.pins.hold(text, slots, policy, tenant)
    }

    /// What it takes, in bytes, roughly.
    pub(super) fn weight(&self) -> usize {
        let obligations = self.judgement.statements.iter().map(|judged| match &judged.verdict {
            Verdict::Allow(obligations) => obligations.masks.len() + obligations.binds.len(),
            Verdict::Deny(_) => 0,
        });
        ENTRY_BYTES_USUAL
            + self.key.bytes()
            + self.pins.bytes()
            + obligations.sum::<usize>() * OBLIGATION_BYTES
    }
}

/// What entries take, in bytes, roughly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weight;

impl<T> Weighter<Arc<Key>, Variants<T>> for Weight {
    fn weight(&self, _: &Arc<Key>, variants: &Variants<T>) -> u64 {
        let bytes: usize = variants.iter().map(|kept| kept.weight()).sum();
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

fn may_be_kept(judged: &Judged) -> bool {
    let free = match &judged.effect {
        Effect::None
        | Effect::Settings(_)
        | Effect::ResetAll
        | Effect::DeallocateAll
        | Effect::CloseCursor { name: None }
        | Effect::TempTable
        | Effect::Listen
        | Effect::AdvisoryLock
        | Effect::Transaction(_)
        | Effect::CopyIn
        | Effect::CopyOut { .. }
        | Effect::DiscardAll
        | Effect::Discard
        | Effect::Ddl => true,
        Effect::Prepare { .. }
        | Effect::Execute { .. }
        | Effect::Deallocate { .. }
        | Effect::Declare { .. }
        | Effect::Fetch { .. }
        | Effect::CloseCursor { name: Some(_) } => false,
    };
    let short = match &judged.verdict {
        Verdict::Allow(obligations) => obligations.masks.len() + obligations.binds.len() <= OBLIGATIONS_MAX,
        Verdict::Deny(_) => false,
    };
    free && short && judged.names.is_empty()
}

/// A verdict with more masks and checks at Bind is not kept.
const OBLIGATIONS_MAX: usize = 32;
/// What such a verdict may take, in bytes, and once more what is made of it.
const OBLIGATION_BYTES: usize = 256;
/// An entry with a short text, and what is made of it.
pub(super) const ENTRY_BYTES_USUAL: usize = 1 << 10;
