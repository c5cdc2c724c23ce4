//! What a level puts out: its target list, DISTINCT, and the clauses behind WHERE.

use super::Gen;
use super::query::{Made, Want};
use super::scope::{Column, Place};
use super::select::{Groups, Mode};
use crate::schema::{Class, Ty};
use crate::tree::{Sort, Tree, clause, commas, fill, node, optional, scalar, text};
use crate::worlds::Universe;

/// A target: how it is written, its type, and whether it is plainly a tenant column.
type Item = (Tree, Ty, Option<Class>);

impl Gen {
    pub(super) fn targets(
        &mut self,
        mut groups: Groups,
        depth: usize,
        want: &Want,
        exported: Option<Place>,
        rows: (Tree, Vec<Tree>),
    ) -> Made {
        let mode = groups.mode;
        let open = exported.is_some() || (want.export && self.rng.chance(3));
        let mut items: Vec<Item> = Vec::new();
        items.extend(self.tenant_target(&mut groups, want, exported.as_ref()));
        let wanted = want.types.clone().unwrap_or_else(|| {
            let count = 1 + self.rng.below(3) + items.len();
            (0..count).map(|_| *self.rng.pick(OUTPUT_TYPES)).collect()
        });
        if mode.groups() {
            self.grouped_targets(&mut groups.keys, &mut items, want);
        }
        for ty in wanted.iter().skip(items.len().min(wanted.len())) {
            let item = match mode {
                Mode::Aggregate | Mode::Grouped | Mode::GroupingSets => (self.aggregate(*ty), *ty),
                Mode::Window if self.rng.chance(60) && want.types.is_none() => self.window(exported.as_ref()),
                Mode::Window | Mode::Plain | Mode::Distinct | Mode::DistinctOn => {
                    (self.value(*ty, depth.min(2)), *ty)
                }
            };
            items.push((item.0, item.1, None));
        }
        if want.types.is_none()
            && want.top
            && matches!(mode, Mode::Plain | Mode::Window)
            && self.rng.chance(12)
            && let Some(row) = self.whole_row()
        {
            items.push((row, Ty::Any, None));
        }
        if (mode.groups() || mode == Mode::Aggregate) && self.rng.chance(20) {
            let having = self.having();
            groups.havings.push(having);
        }
        self.assemble(groups, want, items, rows, open)
    }

    /// The first target, where it is a tenant column that the reader restricts, or one that is asked for.
    fn tenant_target(&mut self, groups: &mut Groups, want: &Want, exported: Option<&Place>) -> Option<Item> {
        let mode = groups.mode;
        if let Some(place) = exported.filter(|_| mode != Mode::Aggregate) {
            let c = self.refer(place);
            let by_key = place.column.name == "tenant_id"
                && mode == Mode::Grouped
                && self.universe != Universe::Free
                && self.rng.chance(30);
            if by_key && let Some(id) = self.sibling(place, "id") {
                // A primary key determines the tenant column, where children do not repeat it.
                self.saw("GROUP BY a key");
                groups.keys.push(id);
            } else if mode.groups() && self.rng.chance(88) {
                groups.keys.push(c.clone());
            }
            return Some((c, place.column.ty, place.column.class));
        }
        let class = want.class?;
        let column = self.column(|column| column.class == Some(class));
        let first = match column.filter(|_| !mode.groups() && mode != Mode::Aggregate) {
            Some(place) => self.refer(&place),
            None => self.constant(class.ty()),
        };
        Some((first, class.ty(), Some(class)))
    }

    /// Keys, which are targets where nobody asks for certain types.
    fn grouped_targets(&mut self, keys: &mut Vec<Tree>, items: &mut Vec<Item>, want: &Want) {
        if self.budget > 0 && self.rng.chance(6) {
            self.saw("GROUP BY a sub-select");
            keys.push(self.scalar_subselect(Ty::Int, 0));
        }
        if want.types.is_none()
            && self.rng.chance(15)
            && let Some(call) = self.grouping_call(keys)
        {
            items.push((call, Ty::Int, None));
        }
        for _ in 0..1 + self.rng.below(2) {
            let ty = *self.rng.pick(&[Ty::Int, Ty::Text, Ty::Status, Ty::Bool]);
            if let Some(place) = self.column(|column| column.ty == ty) {
                let key = self.refer(&place);
                keys.push(key.clone());
                if want.types.is_none() {
                    items.push((key, ty, place.column.class));
                }
            }
        }
    }

    /// ORDER BY of a sub-select: rows are compared as a multiset.
    fn sorted(&mut self) -> Tree {
        self.saw("ORDER BY a sub-select");
        let key = self.scalar_subselect(Ty::Int, 0);
        optional(fill(" ORDER BY {}", [key]))
    }

    /// Another column of the same source.
    fn sibling(&mut self, place: &Place, name: &str) -> Option<Tree> {
        let source = &self.levels[place.level].sources[place.source];
        let alias = &source.alias;
        source.columns.iter().any(|c| c.name == name).then(|| scalar([text(format!("{alias}.{name}"))]))
    }

    fn assemble(
        &mut self,
        Groups { mode, keys, havings }: Groups,
        want: &Want,
        items: Vec<Item>,
        (from, filters): (Tree, Vec<Tree>),
        open: bool,
    ) -> Made {
        let (written, columns) = self.named_targets(items);
        let count = written.len();
        let (distinct, order) = self.distinct(mode, &written);
        let grouping = self.grouping(mode, keys);
        let ordered = !matches!(&order, Tree::Text(text) if text.is_empty());
        // PostgreSQL before 18 takes a column that WHERE makes constant for sorted, though grouping sets
        // make it NULL: there is no total order there.
        let unlimited = want.one_row || ordered || mode == Mode::GroupingSets;
        let aggregates = mode.groups() || mode == Mode::Aggregate;
        let limit = self.limit(count, if unlimited { 0 } else { 9 }, !aggregates);
        let locking = self.locking(mode, want);
        let having = clause(" HAVING ", havings);
        let windows = self.window_clause();
        let (list, filter) = (commas(written), Self::filter(filters));
        let parts = [distinct, list, from, filter, grouping, having, windows, order, limit, locking];
        let tree = node(Sort::Query, fill("SELECT {}{}{}{}{}{}{}{}{}{}", parts));
        Made { tree, columns, open }
    }

    /// The target list, and what its reader sees.
    fn named_targets(&mut self, items: Vec<Item>) -> (Vec<Tree>, Vec<Column>) {
        let mut columns = Vec::new();
        let mut written = Vec::new();
        for (at, (tree, ty, class)) in items.into_iter().enumerate() {
            let name = match (class, self.rng.chance(75)) {
                (Some(Class::Tenant), true) if at == 0 => "tenant_id".to_owned(),
                (Some(Class::Account), true) if at == 0 => "account_no".to_owned(),
                _ => format!("c{at}"),
            };
            written.push(node(Sort::Scalar, fill("{} AS {}", [tree, text(name.clone())])));
            columns.push(Column { name, ty, class });
        }
        (written, columns)
    }

    /// DISTINCT, and ORDER BY without a limit: rows are compared as a multiset.
    fn distinct(&mut self, mode: Mode, written: &[Tree]) -> (Tree, Tree) {
        match mode {
            Mode::Distinct => {
                self.saw("DISTINCT");
                (text("DISTINCT "), text(""))
            }
            Mode::DistinctOn => self.distinct_on(written),
            Mode::Plain if self.budget > 0 && self.rng.chance(4) => (text(""), self.sorted()),
            Mode::Plain | Mode::Aggregate | Mode::Grouped | Mode::GroupingSets | Mode::Window => {
                (text(""), text(""))
            }
        }
    }

    /// DISTINCT ON one of the outputs: the tenant column, which comes first, or another.
    fn distinct_on(&mut self, written: &[Tree]) -> (Tree, Tree) {
        self.saw("DISTINCT ON");
        let count = written.len();
        let key = if count > 1 && self.rng.chance(45) { 2 } else { 1 };
        let all = (1..=count).filter(|n| *n != key).map(|n| format!(", {n}")).collect::<String>();
        let item = written[key - 1].parts()[0].clone();
        // By its number, as a constant must be.
        let named = is_named(&item) && self.rng.chance(70);
        let on = scalar(fill("DISTINCT ON ({}) ", [if named { item } else { text(key.to_string()) }]));
        (on, text(format!(" ORDER BY {key}{all}")))
    }

    fn locking(&mut self, mode: Mode, want: &Want) -> Tree {
        // An outer join's nullable side cannot be locked.
        let lockable = want.top && mode == Mode::Plain && self.level().sources.len() == 1;
        if !lockable || !self.rng.chance(6) {
            return text("");
        }
        self.saw("locking clause");
        optional([text(*self.rng.pick(&[" FOR UPDATE", " FOR SHARE"]))])
    }
}

/// A bare column, which is no constant.
fn is_named(tree: &Tree) -> bool {
    match tree {
        Tree::Text(text) => text.contains('.') && text.starts_with(|c: char| c.is_ascii_alphabetic()),
        Tree::Node { parts, .. } => matches!(parts.as_slice(), [only] if is_named(only)),
        Tree::Param { .. } | Tree::Prepared { .. } | Tree::List { .. } => false,
    }
}

const OUTPUT_TYPES: &[Ty] = &[
    Ty::Int,
    Ty::Int,
    Ty::Text,
    Ty::Text,
    Ty::Num,
    Ty::Bool,
    Ty::Time,
    Ty::Status,
    Ty::Json,
    Ty::Date,
    Ty::Any,
];
