//! Verdicts by shape: a statement that differs from one judged before in its constants only is not
//! parsed again (contracts 8).
//!
//! An entry is (shape, pins → verdict), the same for every tenant. INVARIANT: what is found is what
//! [`crate::judge`] would say. The skeleton fixes the tree but for the values of plain constants;
//! those are read through [`Constants`] alone, which keeps what was asked; what the parser made of
//! a plain constant beside that is kept to the letter. Policy and catalog are the cache's own: with
//! others there is another cache. A verdict that depends on names which the client has prepared is
//! never kept, nor is a denial.

use std::hash::{Hash, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{Equivalent, Weighter};

use crate::constant::{Constants, Settled};
use crate::judge::Request;
use crate::parse::before;
use crate::shape::{Shape, shape};
use crate::{
    Catalog, Effect, Fingerprint, Judged, Judgement, LimitName, Mode, Names, Oid, Policy, Principal, Verdict,
};

/// A policy and a catalog, with the verdicts that were given under them.
#[derive(Debug)]
pub struct Verdicts {
    policy: Arc<Policy>,
    catalog: Arc<Catalog>,
    kept: Cache<Key, Variants, Weight, RandomState>,
    hits: AtomicU64,
    misses: AtomicU64,
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
        let shapes = usize::try_from(max_bytes).unwrap_or(usize::MAX) / ENTRY_BYTES_USUAL;
        let kept = Cache::with(shapes, max_bytes, Weight, RandomState::new(), DefaultLifecycle::default());
        Verdicts { policy, catalog, kept, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
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
        let request = Request { text, mode, principal, policy: &self.policy, catalog: &self.catalog, names };
        let shape = shape(text);
        if let Some((judged, fingerprint)) = self.find(&request, &shape) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return request.judgement(vec![judged], fingerprint);
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let constants = Constants::recording();
        let answer = request.judge(shape.slots(), &constants);
        let fingerprint = shape.fingerprint();
        if let ([judged], Some(read)) = (answer.statements.as_slice(), answer.slots)
            && may_be_kept(judged)
            && let Some(pins) = constants.into_pins().and_then(|pins| pins.settle(text, shape.slots(), &read))
        {
            self.keep(
                &request,
                shape,
                Entry { pins, judged: judged.clone(), bytes: text.len(), fingerprint },
            );
        }
        request.judgement(answer.statements, fingerprint)
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

    fn find(&self, request: &Request<'_>, shape: &Shape) -> Option<(Judged, Fingerprint)> {
        let Request { text, principal, .. } = *request;
        let variants = self.kept.get(&Wanted::new(request, shape))?;
        let role = self.policy.role(&principal.role)?;
        before(text.as_bytes(), role.limits.get(LimitName::StatementBytes)).ok()?;
        let tenant = principal.tenant.as_deref();
        if role.tenant_bound() != tenant.is_some() {
            return None;
        }
        let found =
            variants.iter().find(|entry| entry.pins.hold(text, shape.slots(), &self.policy, tenant))?;
        let mut judged = found.judged.clone();
        // Every constant stands inside the only statement.
        judged.span.end = (judged.span.end + text.len()).checked_sub(found.bytes)?;
        Some((judged, found.fingerprint))
    }

    fn keep(&self, request: &Request<'_>, shape: Shape, entry: Entry) {
        let wanted = Wanted::new(request, &shape);
        if shape.skeleton().len() > SKELETON_BYTES_MAX
            || wanted.declared.is_some_and(|all| all.len() > DECLARED_MAX)
        {
            return;
        }
        let mut variants: Vec<Arc<Entry>> =
            self.kept.get(&wanted).map(|all| all.to_vec()).unwrap_or_default();
        if variants.len() >= VARIANTS_MAX {
            variants.remove(0);
        }
        variants.push(Arc::new(entry));
        let key = Key {
            role: wanted.role.into(),
            declared: wanted.declared.map(Into::into),
            skeleton: shape.skeleton().into(),
        };
        self.kept.insert(key, variants.into());
    }
}

/// What a verdict is found by, beside its pins.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    role: Box<str>,
    /// None: by the simple query protocol.
    declared: Option<Box<[Oid]>>,
    skeleton: Box<[u8]>,
}

/// The same, while it is looked for.
struct Wanted<'w> {
    role: &'w str,
    declared: Option<&'w [Oid]>,
    skeleton: &'w [u8],
}

impl<'w> Wanted<'w> {
    fn new(request: &Request<'w>, shape: &'w Shape) -> Wanted<'w> {
        let declared = match request.mode {
            Mode::Simple => None,
            Mode::Extended { declared } => Some(declared),
        };
        Wanted { role: &request.principal.role, declared, skeleton: shape.skeleton() }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Key { role, declared, skeleton } = self;
        Wanted { role, declared: declared.as_deref(), skeleton }.hash(state);
    }
}

impl Hash for Wanted<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.role.hash(state);
        self.declared.hash(state);
        self.skeleton.hash(state);
    }
}

impl Equivalent<Key> for Wanted<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self.role == *key.role && self.declared == key.declared.as_deref() && *self.skeleton == *key.skeleton
    }
}

/// The verdicts of one shape under different answers, oldest first.
type Variants = Arc<[Arc<Entry>]>;

/// A verdict, and what it rests on.
#[derive(Debug)]
struct Entry {
    pins: Settled,
    judged: Judged,
    /// The length of the text that was judged.
    bytes: usize,
    fingerprint: Fingerprint,
}

/// What an entry takes, in bytes, roughly.
#[derive(Debug, Clone, Copy)]
struct Weight;

impl Weighter<Key, Variants> for Weight {
    fn weight(&self, key: &Key, variants: &Variants) -> u64 {
        let declared = key.declared.as_ref().map_or(0, |all| all.len() * size_of::<Oid>());
        let entry = |entry: &Arc<Entry>| {
            let kept = match &entry.judged.verdict {
                Verdict::Allow(obligations) => obligations.masks.len() + obligations.binds.len(),
                Verdict::Deny(_) => 0,
            };
            ENTRY_BYTES_USUAL + entry.pins.bytes() + kept * OBLIGATION_BYTES
        };
        let entries: usize = variants.iter().map(entry).sum();
        u64::try_from(key.skeleton.len() + key.role.len() + declared + entries).unwrap_or(u64::MAX)
    }
}

/// Whether a verdict says nothing of the text itself, nor of the client's names.
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

/// A longer skeleton is not kept, in bytes.
const SKELETON_BYTES_MAX: usize = 16 << 10;
/// Nor a text with more declared parameter types.
const DECLARED_MAX: usize = 256;
/// Verdicts of one shape.
const VARIANTS_MAX: usize = 8;
/// Nor a verdict with more masks and checks at Bind.
const OBLIGATIONS_MAX: usize = 32;
/// What such a verdict may take, in bytes.
const OBLIGATION_BYTES: usize = 128;
/// An entry with a short text.
const ENTRY_BYTES_USUAL: usize = 512;
