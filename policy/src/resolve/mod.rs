//! From names to identities: gives every relation, column, function, operator and type that a
//! statement names its place in the catalog, with PostgreSQL's own scoping (policy 3.8).
//!
//! What cannot be resolved is a denial and leaves a hole that proves nothing; resolving goes on, so
//! that one pass finds every violation. `resolve` never picks an overload: it keeps every visible
//! candidate of that name and arity (contracts 1), and a type that is not certain is not known.

mod bound;
mod call;
mod column;
mod common_type;
mod dml;
mod expr;
mod from;
mod function_source;
mod join;
mod locking;
mod names;
mod operator;
mod output;
mod overload;
mod query;
mod scope;
mod uses;
mod view;
mod walk;
mod with;

pub(crate) use bound::*;
pub(crate) use operator::operator_counts;
pub(crate) use uses::*;
pub(crate) use walk::*;

use crate::catalog::{Catalog, Relation, TypeId};
use crate::constant::Constants;
use crate::ir::{self, At, Name};
use crate::keyed::{HashMap, HashSet};
use crate::policy::Role;
use crate::{Code, Denial, Mode, Policy, Rule};
use names::KnownOperator;
use scope::Scope;

/// A statement with identities.
#[derive(Debug)]
pub(crate) struct Bound<'c> {
    pub(crate) root: Root<'c>,
    pub(crate) ctes: Vec<Cte<'c>>,
    pub(crate) uses: Uses<'c>,
    /// What could not be resolved.
    pub(crate) denials: Vec<Denial>,
    /// Columns in whose collation unequal bytes can be equal.
    pub(crate) nondeterministic: HashSet<Col>,
    /// The relations whose own rows an occurrence has.
    pub(crate) rows: HashMap<(LevelId, Rel), &'c Relation>,
    /// Every relation that a FROM reads, with its level.
    pub(crate) reads: Vec<(LevelId, &'c Relation, At)>,
    /// An output somewhere stands for an unknown number of them.
    pub(crate) uncertain_places: bool,
}

impl Bound<'_> {
    /// Whether this call is a whole output of a SELECT without FROM and WHERE: where there is a row, it was made, once.
    pub(crate) fn is_called_once(&self, used: &FunctionUse<'_>) -> bool {
        let alone = match &self.root {
            Root::Query(query) => match &query.body {
                Body::Select(select) => select.from.sources.is_empty() && select.filter.is_none(),
                Body::Values(_) | Body::Set { .. } => false,
            },
            Root::Insert(_) | Root::Update(_) | Root::Delete(_) | Root::Merge(_) | Root::Nothing => false,
        };
        let Place { clause, outermost, whole } = used.place;
        alone && !used.in_view && whole && outermost && clause == Clause::Target
    }
}

impl<'c> Bound<'c> {
    pub(crate) fn cte(&self, id: CteId) -> Option<&Cte<'c>> {
        self.ctes.get(id.0)
    }
}

/// What names are looked up in.
#[derive(Clone, Copy)]
pub(crate) struct World<'c> {
    pub(crate) policy: &'c Policy,
    pub(crate) catalog: &'c Catalog,
    pub(crate) role: &'c Role,
    /// Reads the text's constants.
    pub(crate) constants: &'c Constants,
}

/// The types of a statement's parameters, as far as they are declared; `$1` first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declared {
    types: Vec<TypeId>,
    /// Parameters may stand in the text at all.
    pub(crate) allowed: bool,
}

impl Declared {
    /// As Parse declares them; a simple query has none.
    pub(crate) fn of(mode: Mode<'_>) -> Declared {
        match mode {
            Mode::Simple => Declared::default(),
            Mode::Extended { declared } => {
                Declared { types: declared.iter().map(|oid| TypeId(*oid)).collect(), allowed: true }
            }
        }
    }

    /// As PREPARE declares them.
    pub(crate) fn of_types(types: Vec<TypeId>) -> Declared {
        Declared { types, allowed: true }
    }

    /// The types that are declared, with their parameters.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, TypeId)> {
        let said = |ty: &TypeId| *ty != TypeId::NONE && *ty != TypeId::UNKNOWN;
        (1..).zip(self.types.iter().copied()).filter(move |(_, ty)| said(ty))
    }

    /// The declared type of `$n`; none where it is absent or 0.
    pub(crate) fn get(&self, number: u32) -> Option<TypeId> {
        let at = (number as usize).checked_sub(1)?;
        self.types.get(at).copied().filter(|ty| *ty != TypeId::NONE && *ty != TypeId::UNKNOWN)
    }
}

/// Binds a statement's rows: a query or a change. Utility statements bring theirs.
pub(crate) fn resolve<'c>(body: &ir::Body, world: World<'c>, declared: &Declared) -> Bound<'c> {
    let mut resolver = Resolver::new(world, declared.clone());
    let root = resolver.root(body);
    resolver.finish(root)
}

/// The identities of types that stand alone (PREPARE's); [`TypeId::NONE`] where one is not known.
pub(crate) fn resolve_types<'c>(types: &[ir::TypeRef], world: World<'c>) -> (Vec<TypeId>, Bound<'c>) {
    let mut resolver = Resolver::new(world, Declared::default());
    let types = types
        .iter()
        // A length is forgotten when a parameter is declared: only the type counts.
        .map(|ty| resolver.type_named(ty, None))
        .collect();
    (types, resolver.finish(Root::Nothing))
}

/// The state of resolving one statement.
struct Resolver<'c> {
    world: World<'c>,
    declared: Declared,
    scopes: Vec<Scope<'c>>,
    with: Vec<HashMap<Name, Visible>>,
    ctes: Vec<Cte<'c>>,
    uses: Uses<'c>,
    denials: Vec<Denial>,
    nondeterministic: HashSet<Col>,
    rows: HashMap<(LevelId, Rel), &'c Relation>,
    reads: Vec<(LevelId, &'c Relation, At)>,
    levels: u32,
    /// Where the view stands that is being expanded.
    view_at: Option<At>,
    views: Vec<crate::catalog::RelationId>,
    expanded: usize,
    /// Operators that were looked up.
    operators: Vec<KnownOperator<'c>>,
    /// Comparisons of names by which columns were looked for.
    compared: usize,
    /// Columns for which `*` stood.
    starred: usize,
    place: Place,
    /// Queries around the current one.
    nesting: usize,
    /// The outputs of the query that is bound next keep untyped literals untyped.
    keep_unknown: bool,
    /// In the RETURNING of a MERGE, sub-selects included.
    merge_returning: bool,
    uncertain_places: bool,
}

/// What a WITH's name stands for while it is bound.
#[derive(Debug, Clone, Copy)]
enum Visible {
    Cte(CteId),
    /// WITH RECURSIVE: it stands later in the list.
    Later,
}

impl<'c> Resolver<'c> {
    fn new(world: World<'c>, declared: Declared) -> Resolver<'c> {
        Resolver {
            world,
            declared,
            scopes: Vec::new(),
            with: Vec::new(),
            ctes: Vec::new(),
            uses: Uses::default(),
            denials: Vec::new(),
            nondeterministic: HashSet::default(),
            rows: HashMap::default(),
            reads: Vec::new(),
            levels: 0,
            view_at: None,
            views: Vec::new(),
            expanded: 0,
            operators: Vec::new(),
            compared: 0,
            starred: 0,
            place: Place { clause: Clause::Elsewhere, outermost: true, whole: false },
            nesting: 0,
            keep_unknown: false,
            merge_returning: false,
            uncertain_places: false,
        }
    }

    fn finish(self, root: Root<'c>) -> Bound<'c> {
        Bound {
            root,
            ctes: self.ctes,
            uses: self.uses,
            denials: self.denials,
            nondeterministic: self.nondeterministic,
            rows: self.rows,
            reads: self.reads,
            uncertain_places: self.uncertain_places,
        }
    }

    fn root(&mut self, body: &ir::Body) -> Root<'c> {
        match body {
            ir::Body::Query(query) => Root::Query(Box::new(self.query(query))),
            ir::Body::Insert(insert) => Root::Insert(Box::new(self.insert(insert))),
            ir::Body::Update(update) => Root::Update(Box::new(self.update(update))),
            ir::Body::Delete(delete) => Root::Delete(Box::new(self.delete(delete))),
            ir::Body::Merge(merge) => Root::Merge(Box::new(self.merge_into(merge))),
            ir::Body::Utility(_) => Root::Nothing,
        }
    }

    fn next_level(&mut self) -> LevelId {
        let level = LevelId(self.levels);
        self.levels += 1;
        level
    }

    /// A place in the client's text: inside a view, the view's name.
    fn at(&self, at: At) -> At {
        self.view_at.unwrap_or(at)
    }

    fn in_view(&self) -> bool {
        self.view_at.is_some()
    }

    fn deny(&mut self, denial: Denial) {
        self.denials.push(denial);
    }

    fn unsupported(&mut self, at: At, what: &str) {
        let at = self.at(at);
        self.deny(Denial::new(Rule::Kind, Code::Unsupported, at, format!("{what} is not supported")));
    }
}
