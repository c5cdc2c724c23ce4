//! Verdicts by shape: a statement that differs from one judged before in its constants only is not
//! parsed again (contracts 8).
//!
//! An entry is (shape, pins → verdict), the same for every tenant. INVARIANT: what is found is what
//! [`crate::judge`] would say. The skeleton fixes the tree but for the values of plain constants;
//! those are read through [`Constants`] alone, which keeps what was asked; what the parser made of
//! a plain constant beside that is kept to the letter. Policy and catalog are the cache's own: with
//! others there is another cache. A verdict that depends on names which the client has prepared is
//! never kept, nor is a denial.
//!
//! A text whose verdict is there costs one pass over its bytes, one hash and one comparison, and no
//! allocation.

mod kept;
mod key;
mod recent;

pub use kept::Kept;
pub use recent::Recent;

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::{Cache, DefaultLifecycle};

use crate::constant::Constants;
use crate::judge::Request;
use crate::shape::Shape;
use crate::{Catalog, Judgement, Mode, Names, Policy, Principal};
use kept::{ENTRY_BYTES_USUAL, Variants, Weight};
use key::{Key, Keyed, Keyring, Wanted};

/// A policy and a catalog, with the verdicts that were given under them.
///
/// `T`: what the caller makes of a verdict once for every text that it serves ([`Kept::made`]).
#[derive(Debug)]
pub struct Verdicts<T = ()> {
    /// Which of the process's caches it is.
    number: u64,
    policy: Arc<Policy>,
    catalog: Arc<Catalog>,
    keyring: Keyring,
    kept: Cache<Arc<Key>, Variants<T>, Weight, Keyed>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// A judgement: shared by every text that it holds for, or this text's own.
#[derive(Debug)]
pub enum Given<T = ()> {
    /// It was there; nothing was parsed.
    Kept(Arc<Kept<T>>),
    /// The text was judged.
    Fresh(Judgement),
}

/// How often a verdict was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Texts whose verdict was there.
    pub hits: u64,
    /// Texts that were judged.
    pub misses: u64,
    /// Shapes that are kept.
    pub shapes: usize,
    /// What they take, in bytes, roughly.
    pub bytes: u64,
}

impl Verdicts {
    /// Nothing is kept yet; never more than about `max_bytes`.
    pub fn new(policy: Arc<Policy>, catalog: Arc<Catalog>, max_bytes: u64) -> Verdicts {
        Verdicts::making(policy, catalog, max_bytes)
    }
}

impl<T> Verdicts<T> {
    /// The same, for a caller that makes something of each verdict. With `max_bytes` of 0 nothing is ever kept.
    pub fn making(policy: Arc<Policy>, catalog: Arc<Catalog>, max_bytes: u64) -> Verdicts<T> {
        let shapes = usize::try_from(max_bytes).unwrap_or(usize::MAX) / ENTRY_BYTES_USUAL;
        Verdicts {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            policy,
            catalog,
            keyring: Keyring::default(),
            kept: Cache::with(shapes, max_bytes, Weight, Keyed::default(), DefaultLifecycle::default()),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// The policy.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The catalog.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Judges a text as [`crate::judge`] does.
    ///
    /// The thread needs a stack of [`crate::STACK_BYTES`].
    pub fn judge(&self, text: &str, mode: Mode<'_>, principal: &Principal, names: &dyn Names) -> Judgement {
        match self.give(&mut Recent::default(), text, mode, principal, names) {
            Given::Kept(kept) => kept.judgement_of(text),
            Given::Fresh(judgement) => judgement,
        }
    }

    /// The same, without an allocation where the verdict is there. `recent`: the session's own, which
    /// spares it the shared table.
    ///
    /// The thread needs a stack of [`crate::STACK_BYTES`].
    pub fn give(
        &self,
        recent: &mut Recent<T>,
        text: &str,
        mode: Mode<'_>,
        principal: &Principal,
        names: &dyn Names,
    ) -> Given<T> {
        let request = Request { text, mode, principal, policy: &self.policy, catalog: &self.catalog, names };
        // Judging is not done in here: nobody knows what `names` calls.
        let mut shape = SHAPE.take();
        shape.read(text);
        let given = match self.find(recent, &request, &shape) {
            Some(kept) => {
                self.hits.fetch_add(1, Ordering::Relaxed);
                Given::Kept(kept)
            }
            None => {
                self.misses.fetch_add(1, Ordering::Relaxed);
                Given::Fresh(self.fresh(&request, &shape))
            }
        };
        if shape.capacity_bytes() <= SHAPE_BYTES_KEPT {
            SHAPE.set(shape);
        }
        given
    }

    /// How it stands.
    pub fn stats(&self) -> CacheStats {
        CacheStats {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            shapes: self.kept.len(),
            bytes: self.kept.weight(),
        }
    }

    fn find(&self, recent: &mut Recent<T>, request: &Request<'_>, shape: &Shape) -> Option<Arc<Kept<T>>> {
        let wanted = self.keyring.wanted(request, shape);
        let tenant = request.principal.tenant.as_deref();
        let holds = |kept: &&Arc<Kept<T>>| kept.holds(request.text, shape.slots(), &self.policy, tenant);
        if let Some(kept) = recent.get(self.number, &wanted).filter(holds) {
            return Some(Arc::clone(kept));
        }
        let variants = self.kept.get(&wanted)?;
        let kept = variants.iter().find(holds)?;
        recent.put(wanted.hash, kept);
        Some(Arc::clone(kept))
    }

    fn fresh(&self, request: &Request<'_>, shape: &Shape) -> Judgement {
        let constants = Constants::recording();
        let answer = request.judge(shape.slots(), &constants);
        let judgement = request.judgement(answer.statements, shape.fingerprint());
        let wanted = self.keyring.wanted(request, shape);
        if let Some(read) = answer.slots
            && wanted.may_be_kept()
            && Kept::<T>::may_be(&judgement)
            && let Some(pins) =
                constants.into_pins().and_then(|pins| pins.settle(request.text, shape.slots(), &read))
        {
            self.keep(&wanted, |key| Kept::new(key, request, pins, judgement.clone()));
        }
        judgement
    }

    fn keep(&self, wanted: &Wanted<'_>, kept: impl FnOnce(Arc<Key>) -> Kept<T>) {
        let former = self.kept.get(wanted);
        let former = former.as_deref().unwrap_or_default();
        let key = former.first().map_or_else(|| Arc::new(wanted.key()), |kept| Arc::clone(kept.key()));
        let younger = former.len().saturating_sub(VARIANTS_MAX - 1);
        let stay = former.iter().skip(younger).map(Arc::clone);
        let variants = stay.chain([Arc::new(kept(Arc::clone(&key)))]).collect();
        self.kept.insert(key, variants);
    }
}

thread_local! {
    /// Where this thread takes texts apart: a hit leaves its memory to the next.
    static SHAPE: RefCell<Shape> = const { RefCell::new(Shape::EMPTY) };
}

/// The next cache's number; 0 is nobody's.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Memory that a thread keeps for taking texts apart, in bytes.
const SHAPE_BYTES_KEPT: usize = 64 << 10;
/// Verdicts of one shape.
const VARIANTS_MAX: usize = 8;
