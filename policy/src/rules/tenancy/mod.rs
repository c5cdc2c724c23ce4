//! Tenancy: every scoped relation of a statement is restricted to the session's tenant (policy 3).
//!
//! The proof goes over the bound statement twice. *Upwards*, `yields` asks what a query's output
//! columns are known to be without any help from outside. *Downwards*, `check` finds for each
//! level which columns are the tenant's value in every row that survives, reports the scoped
//! relations whose tenant column is not among them, and hands what it knows to derived tables,
//! CTEs and sub-selects.
//!
//! A **fact** is a column of a relation occurrence that is T: in every row that influences the
//! level's result, the column is T or, on the nullable side of a join, NULL. It comes from a
//! condition, and counts only for the occurrences that this condition filters (its *validity*).
//!
//! INVARIANT (monotone): what is not understood adds no fact. No rule removes one.

mod classes;
mod conflict;
mod derived;
mod ends;
mod equality;
mod fallible;
mod foreign_key;
mod hints;
mod joins;
mod keys;
mod level;
mod merge;
mod restriction;
mod transparent;
mod write;
mod yields;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Context;
use crate::catalog::Relation;
use crate::ir::At;
use crate::keyed::{HashMap, HashSet};
use crate::mutants::mutant;
use crate::resolve::{Col, CteId, LevelId, Query, Rel, Root, Source};
use crate::{BindCheck, Code, Denial, Reached, Rule, Standing};
use classes::{ClassId, Classes};
use ends::{Origin, Row, Ways};
pub(crate) use equality::Argument;

/// Why a column is T: the parameters whose values must be checked at Bind.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Proof {
    params: BTreeSet<(u32, ClassId, bool)>,
    /// It may be NULL instead.
    nullable: bool,
    /// It is NULL only where `unnest` of several arrays pads the shorter ones.
    padded: bool,
    /// Where the first of the equalities stands that it rests on, for people.
    at: At,
}

impl Proof {
    fn param(number: u32, class: ClassId, many: bool) -> Proof {
        Proof { params: BTreeSet::from([(number, class, many)]), ..Proof::default() }
    }

    fn and(mut self, other: &Proof) -> Proof {
        self.params.extend(&other.params);
        if other.nullable && other.padded {
            self.or_padded(true);
        } else {
            self.or_null(other.nullable);
        }
        self.at = self.at.or(other.at);
        self
    }

    /// It may be NULL for any reason.
    fn or_null(&mut self, null: bool) {
        self.padded &= !null;
        self.nullable |= null;
    }

    /// It may be NULL by padding.
    fn or_padded(&mut self, padded: bool) {
        if padded {
            self.padded |= !self.nullable;
            self.nullable = true;
        }
    }

    /// All that it depends on, without the place of which people are told.
    fn terms(&self) -> Proof {
        Proof { at: None, ..self.clone() }
    }

    /// Which of two proofs of the same thing is kept: the one that asks less.
    fn simpler(&self, other: &Proof) -> bool {
        (self.params.len(), self.nullable) < (other.params.len(), other.nullable)
    }
}

/// Columns that are T.
type Facts = BTreeMap<(Col, ClassId), Proof>;

/// What an output column is known to be, by position.
type Outputs = Vec<BTreeMap<ClassId, Proof>>;

/// What a reference to a query knows from outside: its rows count only where these are T.
type Demands = BTreeMap<(Demanded, ClassId), Proof>;

/// What is T in every row of a query that counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Demanded {
    /// An output.
    Output(usize),
    /// The tenant column of the row to which these outputs belong: they are a key that a row of T's
    /// refers to.
    Behind(Vec<u32>),
}

/// What a query yields by itself.
#[derive(Debug, Clone, Default)]
struct Yields {
    outputs: Outputs,
    /// What is known within its level.
    inside: Facts,
}

/// Keeps the simpler proof of a fact; whether anything changed.
pub(super) fn learn<K: Ord>(facts: &mut BTreeMap<K, Proof>, key: K, proof: Proof) -> bool {
    match facts.get(&key) {
        Some(known) if !proof.simpler(known) => false,
        Some(_) | None => {
            facts.insert(key, proof);
            true
        }
    }
}

/// What the rule leaves behind: values to check at Bind.
#[derive(Default)]
pub(crate) struct Proven {
    pub(crate) binds: Vec<BindCheck>,
    /// They would not be enough if unique keys were not unique.
    pub(crate) by_unique_keys: bool,
    /// Where it was asked for: what was found of each scoped relation.
    pub(crate) reached: Vec<Reached>,
    /// Conditions that were read, and facts that were carried.
    pub(crate) steps: usize,
}

/// Whether a proof may rest on unique keys, and whether it asked to.
///
/// They are unique among the rows that are there now. A snapshot that is kept (REPEATABLE READ, SERIALIZABLE) still shows a
/// row that somebody else has deleted since, beside a new one of the transaction's own under the same key.
#[derive(Debug)]
struct Unique {
    counts: bool,
    asked: Cell<bool>,
}

impl Unique {
    /// A key is unique: whether that may be used.
    fn is_relied_on(&self) -> bool {
        self.asked.set(true);
        self.counts
    }
}

/// Judges a statement of a tenant-bound principal.
pub(crate) fn judge(cx: &Context<'_, '_>, denials: &mut Vec<Denial>) -> Proven {
    let Some(tenant) = cx.tenant else { return Proven::default() };
    let classes = || Classes::of(cx, tenant);
    // Most statements say whose rows they mean: what needs no key is cheaper, and holds at any time.
    let plain = Prover::new(cx, classes(), false);
    let mut proven = plain.prove();
    let mut found = plain.denials.take();
    if !found.is_empty() && (plain.unique.asked.get() || Prover::has_carriers(cx)) {
        let by_keys = Prover::new(cx, classes(), true);
        proven = by_keys.prove();
        found = by_keys.denials.take();
        proven.by_unique_keys = found.is_empty();
    }
    denials.append(&mut found);
    proven
}

/// The state of one proof.
struct Prover<'p, 'c> {
    cx: &'p Context<'p, 'c>,
    classes: Classes,
    unique: Unique,
    /// Some foreign key may carry.
    carriers: bool,
    /// The facts of the levels that were checked so far: what inner levels may rely on.
    facts: RefCell<Facts>,
    /// What queries yield by themselves, by their place in memory and by what is known around them.
    outputs: RefCell<HashMap<(*const Query<'c>, u32), Yields>>,
    cte_outputs: RefCell<HashMap<(CteId, u32), Outputs>>,
    /// Each time that what is known around a query is forgotten (a locking clause) has a number: the
    /// current one, and the last.
    outside: Cell<u32>,
    forgotten: Cell<u32>,
    /// What the proof has cost so far.
    steps: Cell<usize>,
    /// How often what a recursive CTE yields was guessed.
    rounds: Cell<usize>,
    /// What all references to a CTE know in common; none before the first reference.
    demands: RefCell<HashMap<CteId, Demands>>,
    /// Comparisons of a tenant column with a constant other than T.
    mismatches: RefCell<HashMap<(LevelId, Rel), At>>,
    /// Uses of `$n` that fix its type to a class's family.
    good_params: RefCell<BTreeSet<(u32, At, ClassId)>>,
    /// The parameters that proofs rest on.
    used: RefCell<BTreeSet<(u32, ClassId, bool)>>,
    /// Sub-selects that were judged with what their place knows.
    checked: RefCell<HashSet<*const Query<'c>>>,
    /// The levels that were judged.
    seen: RefCell<HashSet<LevelId>>,
    denials: RefCell<Vec<Denial>>,
    reached: RefCell<Vec<Reached>>,
    /// The occurrences whose rows are as FROM read them, in levels around the one that is judged.
    read: RefCell<HashSet<Row>>,
    /// What the columns of derived sources are columns of.
    origins: RefCell<HashMap<Row, Rc<[Option<Origin<'c>>]>>>,
    /// From which rows inside those come.
    ways: RefCell<Ways>,
    /// The outputs that are equal to a key of T's.
    behind: RefCell<Vec<Vec<u32>>>,
    /// The levels of MERGEs, and whether ON filters the source, too: for hints.
    merges: RefCell<HashMap<LevelId, bool>>,
}

impl<'p, 'c> Prover<'p, 'c> {
    fn new(cx: &'p Context<'p, 'c>, classes: Classes, unique: bool) -> Self {
        Prover {
            cx,
            classes,
            unique: Unique { counts: unique, asked: Cell::new(false) },
            carriers: unique && Prover::has_carriers(cx),
            facts: RefCell::default(),
            outputs: RefCell::default(),
            cte_outputs: RefCell::default(),
            demands: RefCell::default(),
            mismatches: RefCell::default(),
            good_params: RefCell::default(),
            used: RefCell::default(),
            checked: RefCell::default(),
            seen: RefCell::default(),
            denials: RefCell::default(),
            reached: RefCell::default(),
            read: RefCell::default(),
            origins: RefCell::default(),
            ways: RefCell::default(),
            behind: RefCell::default(),
            merges: RefCell::default(),
            outside: Cell::new(0),
            forgotten: Cell::new(0),
            steps: Cell::new(0),
            rounds: Cell::new(0),
        }
    }

    fn prove(&self) -> Proven {
        self.root();
        self.all_seen();
        self.refuse_fallible();
        let binds = self.settle_params();
        Proven { binds, by_unique_keys: false, reached: self.reached.take(), steps: self.steps.get() }
    }
}

impl<'c> Prover<'_, 'c> {
    fn root(&self) {
        match &self.cx.bound.root {
            Root::Query(query) => self.check_query(query, &Demands::new()),
            Root::Insert(insert) => self.check_insert(insert),
            Root::Update(update) => self.check_update(update),
            Root::Delete(delete) => self.check_delete(delete),
            Root::Merge(merge) => self.check_merge(merge),
            Root::Nothing => {}
        }
    }

    /// INVARIANT (everywhere): a relation that was bound was judged, wherever it stands (policy
    /// 3.4). A walk that forgets a place denies what stands there.
    fn all_seen(&self) {
        let passed_over = [
            mutant!(SecondBranchSkipped),
            mutant!(ViewNotExpanded),
            mutant!(UnreferencedCteSkipped),
            mutant!(UsingUnchecked),
            mutant!(TargetListUnchecked),
            mutant!(ReturningUnchecked),
            mutant!(SubscriptsUnchecked),
        ];
        if passed_over.contains(&true) {
            return;
        }
        let seen = self.seen.borrow();
        let forgotten = |(level, relation, _): &&(LevelId, &Relation, At)| {
            !seen.contains(level) && self.cx.is_scoped(relation)
        };
        if let Some((_, relation, at)) = self.cx.bound.reads.iter().find(forgotten) {
            let message = format!("relation \"{}\" is not supported here", relation.name.name);
            self.deny(Denial::new(Rule::Tenancy, Code::Unsupported, *at, message));
        }
    }

    fn deny(&self, denial: Denial) {
        self.denials.borrow_mut().push(denial);
    }

    /// Notes what was found of a relation, where that is wanted.
    fn note(&self, source: &Source<'c>, standing: impl FnOnce() -> Standing) {
        if let (true, Some(relation)) = (self.cx.explain, source.relation()) {
            self.reached.borrow_mut().push(Reached {
                relation: relation.name.clone(),
                called: source.name.as_deref().map(Into::into),
                at: source.at,
                in_view: false,
                standing: standing(),
            });
        }
    }

    fn step(&self) {
        self.steps.set(self.steps.get().saturating_add(1));
    }

    /// A proof was relied on.
    fn rely(&self, proof: &Proof) {
        self.used.borrow_mut().extend(&proof.params);
    }
}
