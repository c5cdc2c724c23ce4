//! One query level: sources, where their tenant equalities stand, targets, grouping, windows.

use super::Gen;
use super::from::Join;
use super::query::{Made, Want};
use super::scope::{Column, Level, Place};
use crate::schema::{Class, Ty};
use crate::tree::{Sort, Tree, clause, commas, fill, node, optional, scalar, text};
use crate::worlds::Universe;

/// How a level makes rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Plain,
    Aggregate,
    Grouped,
    GroupingSets,
    Distinct,
    DistinctOn,
    Window,
}

/// How a level groups its rows.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) mode: Mode,
    pub(super) keys: Vec<Tree>,
    pub(super) havings: Vec<Tree>,
}

impl Gen {
    pub(super) fn select(&mut self, depth: usize, want: &Want) -> Made {
        self.levels.push(Level::default());
        // Conditions and targets read relations as well.
        let kept = if self.budget > 1 && depth > 0 && self.rng.chance(50) { 1 } else { 0 };
        self.budget -= kept;
        let mut joins = self.from(depth, want.class);
        self.budget += kept;
        let exported = self.exported(want);
        let mut filters = Vec::new();
        let mut groups = Groups { mode: self.mode(want), ..Groups::default() };
        self.restrict(&mut joins, exported.as_ref(), &mut filters, &mut groups);
        for _ in 0..self.rng.weighted(&[66, 28, 6]) {
            filters.push(self.predicate(depth.min(2)));
        }
        if self.fallible && self.rng.chance(55) {
            // Among conditions that cost the same the first goes first.
            let at = if self.rng.chance(60) { 0 } else { filters.len() };
            let failing = self.fallible_condition();
            filters.insert(at, failing);
        }
        if self.rng.chance(2) {
            self.saw("never true");
            filters.push(node(Sort::Bool, [text(*self.rng.pick(&["FALSE", "1 = 0"]))]));
        }
        let from = Tree::List {
            head: " FROM ",
            between: ", ",
            tail: "",
            least: 1,
            items: joins.into_iter().map(Join::tree).collect(),
        };
        let mut made = self.targets(groups, depth, want, exported, (from, filters));
        self.levels.pop();
        if made.columns.is_empty() {
            made.columns.push(Column { name: "c".into(), ty: Ty::Any, class: None });
        }
        made
    }

    fn mode(&mut self, want: &Want) -> Mode {
        if want.one_row {
            return Mode::Aggregate;
        }
        let all = [
            Mode::Plain,
            Mode::Aggregate,
            Mode::Grouped,
            Mode::GroupingSets,
            Mode::Distinct,
            Mode::DistinctOn,
            Mode::Window,
        ];
        all[self.rng.weighted(&[55, 9, 12, 4, 7, 4, 9])]
    }

    /// The open source that is left to whoever reads this query, and its tenant column.
    fn exported(&mut self, want: &Want) -> Option<Place> {
        if !want.export && want.class.is_none() {
            return None;
        }
        let level = self.levels.len() - 1;
        let mut all = Vec::new();
        for (source, item) in self.levels[level].sources.iter().enumerate() {
            if let Some(column) = item.tenant().filter(|_| item.open)
                && want.class.is_none_or(|class| column.class == Some(class))
            {
                all.push(Place { level, source, column: column.clone() });
            }
        }
        if all.is_empty() || (want.class.is_some() && self.rng.chance(50)) {
            return None;
        }
        Some(self.rng.pick(&all).clone())
    }

    fn targets(
        &mut self,
        mut groups: Groups,
        depth: usize,
        want: &Want,
        exported: Option<Place>,
        rows: (Tree, Vec<Tree>),
    ) -> Made {
        let mode = groups.mode;
        let open = exported.is_some() || (want.export && self.rng.chance(3));
        let mut items: Vec<(Tree, Ty, Option<Class>)> = Vec::new();
        let keys = &mut groups.keys;
        let grouped = matches!(mode, Mode::Grouped | Mode::GroupingSets);
        if let Some(place) = exported.as_ref().filter(|_| mode != Mode::Aggregate) {
            let c = self.refer(place);
            let by_key = place.column.name == "tenant_id"
                && mode == Mode::Grouped
                && self.universe != Universe::Free
                && self.rng.chance(30);
            if by_key && let Some(id) = self.sibling(place, "id") {
                // A primary key determines the tenant column, where children do not repeat it.
                self.saw("GROUP BY a key");
                keys.push(id);
            } else if grouped && self.rng.chance(88) {
                keys.push(c.clone());
            }
            items.push((c, place.column.ty, place.column.class));
        } else if let Some(class) = want.class {
            let class_column = self.column(|column| column.class == Some(class));
            let first = match class_column.filter(|_| !grouped && mode != Mode::Aggregate) {
                Some(place) => self.refer(&place),
                None => self.constant(class.ty()),
            };
            items.push((first, class.ty(), Some(class)));
        }
        let wanted = want.types.clone().unwrap_or_else(|| {
            let count = 1 + self.rng.below(3) + items.len();
            (0..count).map(|_| *self.rng.pick(OUTPUT_TYPES)).collect()
        });
        if grouped {
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
                    keys.push(self.refer(&place));
                    if want.types.is_none() {
                        items.push((keys.last().unwrap().clone(), ty, place.column.class));
                    }
                }
            }
        }
        for ty in wanted.iter().skip(items.len().min(wanted.len())) {
            let tree = match mode {
                Mode::Aggregate | Mode::Grouped | Mode::GroupingSets => self.aggregate(*ty),
                Mode::Window if self.rng.chance(60) && want.types.is_none() => {
                    let (tree, ty) = self.window(exported.as_ref());
                    items.push((tree, ty, None));
                    continue;
                }
                Mode::Window | Mode::Plain | Mode::Distinct | Mode::DistinctOn => {
                    self.value(*ty, depth.min(2))
                }
            };
            items.push((tree, *ty, None));
        }
        if want.types.is_none()
            && want.top
            && matches!(mode, Mode::Plain | Mode::Window)
            && self.rng.chance(12)
            && let Some(row) = self.whole_row()
        {
            items.push((row, Ty::Any, None));
        }
        if matches!(mode, Mode::Aggregate | Mode::Grouped | Mode::GroupingSets) && self.rng.chance(20) {
            let having = self.having();
            groups.havings.push(having);
        }
        self.assemble(groups, want, items, rows, open)
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
        items: Vec<(Tree, Ty, Option<Class>)>,
        (from, filters): (Tree, Vec<Tree>),
        open: bool,
    ) -> Made {
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
        let count = written.len();
        // DISTINCT ON one of the outputs: the tenant column, which comes first, or another.
        let key = if count > 1 && self.rng.chance(45) { 2 } else { 1 };
        let all = (1..=count).filter(|n| *n != key).map(|n| format!(", {n}")).collect::<String>();
        let (head, order) = match mode {
            Mode::Distinct => {
                self.saw("DISTINCT");
                ("DISTINCT ", text(""))
            }
            Mode::DistinctOn => {
                self.saw("DISTINCT ON");
                ("", text(format!(" ORDER BY {key}{all}")))
            }
            Mode::Plain if self.budget > 0 && self.rng.chance(4) => ("", self.sorted()),
            Mode::Plain | Mode::Aggregate | Mode::Grouped | Mode::GroupingSets | Mode::Window => {
                ("", text(""))
            }
        };
        let (first, number) = (written.get(key - 1).cloned(), key.to_string());
        let on = match (mode, first) {
            (Mode::DistinctOn, Some(Tree::Node { parts, .. })) => {
                let key = parts.into_iter().next().unwrap();
                // By its number, as a constant must be.
                let named = is_named(&key) && self.rng.chance(70);
                scalar(fill("DISTINCT ON ({}) ", [if named { key } else { text(number) }]))
            }
            _ => text(""),
        };
        let grouping = self.grouping(mode, keys);
        let ordered = !matches!(&order, Tree::Text(text) if text.is_empty());
        // PostgreSQL before 18 takes a column that WHERE makes constant for sorted, though grouping sets
        // make it NULL: there is no total order there.
        let unlimited = want.one_row || ordered || mode == Mode::GroupingSets;
        let limit = self.limit(count, if unlimited { 0 } else { 9 }, mode != Mode::Aggregate);
        // An outer join's nullable side cannot be locked.
        let lockable = want.top && self.level().sources.len() == 1;
        let locking = match (mode, lockable && self.rng.chance(6)) {
            (Mode::Plain, true) => {
                self.saw("locking clause");
                optional([text(*self.rng.pick(&[" FOR UPDATE", " FOR SHARE"]))])
            }
            _ => text(""),
        };
        let having = clause(" HAVING ", havings);
        let windows = self.window_clause();
        let tree = node(
            Sort::Query,
            fill(
                "SELECT {}{}{}{}{}{}{}{}{}{}{}",
                [
                    text(head),
                    on,
                    commas(written),
                    from,
                    Self::filter(filters),
                    grouping,
                    having,
                    windows,
                    order,
                    limit,
                    locking,
                ],
            ),
        );
        Made { tree, columns, open }
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
