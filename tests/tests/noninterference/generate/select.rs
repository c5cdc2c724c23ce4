//! One query level: sources, where their tenant equalities stand, targets, grouping, windows.

use super::Gen;
use super::from::Join;
use super::query::{Made, Want};
use super::scope::{Column, Level, Place};
use crate::schema::{Class, Ty};
use crate::tree::{Sort, Tree, clause, commas, fill, node, optional, scalar, text};

/// How a level makes rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
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
struct Groups {
    mode: Mode,
    keys: Vec<Tree>,
    havings: Vec<Tree>,
}

/// Whether a relation whose key carries the tenant is there.
fn level_has_link(sources: &[super::scope::Source]) -> bool {
    sources.iter().any(|source| source.table.is_some_and(|t| matches!(t.name, "app.shipments" | "more.bins")))
}

impl Gen {
    pub(super) fn select(&mut self, depth: usize, want: &Want) -> Made {
        self.levels.push(Level::default());
        let mut joins = self.from(depth, want.class);
        let exported = self.exported(want);
        let mut filters = Vec::new();
        let mut groups = Groups { mode: self.mode(want), ..Groups::default() };
        self.restrict(&mut joins, exported.as_ref(), &mut filters, &mut groups);
        for _ in 0..self.rng.weighted(&[66, 28, 6]) {
            filters.push(self.predicate(depth.min(2)));
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
        all[self.rng.weighted(&[58, 10, 12, 2, 7, 4, 7])]
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

    /// Puts a tenant equality for each open source somewhere, most often where it counts.
    fn restrict(
        &mut self,
        joins: &mut [Join],
        exported: Option<&Place>,
        filters: &mut Vec<Tree>,
        groups: &mut Groups,
    ) {
        let level = self.levels.len() - 1;
        for source in 0..self.levels[level].sources.len() {
            let item = &self.levels[level].sources[source];
            let Some(column) = item.tenant().cloned().filter(|_| item.open) else { continue };
            if exported.is_some_and(|place| place.source == source) {
                continue;
            }
            let class = column.class.unwrap();
            let place = Place { level, source, column };
            let having = if groups.mode == Mode::Grouped { 12 } else { 0 };
            // A key carries more often than not, or seems to.
            let table = item.table.map(|table| table.name);
            let carried = matches!(table, Some("app.warehouses" | "more.depots")) && level_has_link(&self.levels[level].sources);
            match self.rng.weighted(&[50, 18, 22, having, if carried { 50 } else { 4 }]) {
                0 => {
                    let c = self.refer(&place);
                    filters.push(self.equality(c, class));
                }
                1 => self.restrict_on(joins, &place, class, filters),
                2 => self.restrict_by_chain(joins, &place, class, filters),
                3 => {
                    self.saw("equality in HAVING");
                    let c = scalar([text(format!(
                        "{}.{}",
                        self.levels[level].sources[source].alias, place.column.name
                    ))]);
                    if self.rng.chance(92) {
                        groups.keys.push(c.clone());
                    }
                    groups.havings.push(self.equality(c, class));
                }
                _ => self.saw("unrestricted"),
            }
        }
    }

    /// In an ON condition of a join around it.
    fn restrict_on(&mut self, joins: &mut [Join], place: &Place, class: Class, filters: &mut Vec<Tree>) {
        let mut all: Vec<_> = joins.iter_mut().flat_map(|join| join.conditions(place.source)).collect();
        if all.is_empty() {
            let c = self.refer(place);
            filters.push(self.equality(c, class));
            return;
        }
        self.saw("equality in ON");
        let at = self.rng.below(all.len());
        let (conditions, covers) = &mut all[at];
        self.level().window = Some(covers.clone());
        let c = self.refer(place);
        conditions.push(self.equality(c, class));
        self.level().window = None;
    }

    /// By equality with another tenant column, of this level or an outer one.
    fn restrict_by_chain(
        &mut self,
        joins: &mut [Join],
        place: &Place,
        class: Class,
        filters: &mut Vec<Tree>,
    ) {
        let others: Vec<Place> = self
            .places(&|column: &Column| column.class == Some(class))
            .into_iter()
            .filter(|other| (other.level, other.source) != (place.level, place.source))
            .collect();
        if others.is_empty() {
            let c = self.refer(place);
            filters.push(self.equality(c, class));
            return;
        }
        let other = self.rng.pick(&others).clone();
        if other.level != place.level {
            self.saw("correlated chain");
        } else {
            self.saw("chain");
        }
        let (a, b) = (self.refer(place), self.refer(&other));
        let chain = match self.rng.weighted(&[80, 4, 4, 4, 4, 4]) {
            1 => fill("{} <= {}", [a, b]),
            2 => fill("{} IS NOT DISTINCT FROM {}", [a, b]),
            3 if class == Class::Tenant => fill("{}::char(10) = {}", [a, b]),
            3 => fill("{}::text = {}::text", [a, b]),
            4 => {
                let p = self.predicate(0);
                fill("({} = {} OR {})", [a, b, p])
            }
            5 => {
                let (x, y) = (self.simple(Ty::Int), self.simple(Ty::Int));
                fill("({}, {}) = ({}, {})", [a, x, b, y])
            }
            _ => fill("{} = {}", [a, b]),
        };
        let chain = node(Sort::Bool, chain);
        let mut on: Vec<_> = joins
            .iter_mut()
            .flat_map(|join| join.conditions(place.source))
            .filter(|(_, covers)| other.level != place.level || covers.contains(&other.source))
            .collect();
        if on.is_empty() || self.rng.chance(45) {
            filters.push(chain);
        } else {
            let at = self.rng.below(on.len());
            on[at].0.push(chain);
        }
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
            if grouped && self.rng.chance(88) {
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
                    let tree = self.window(exported.as_ref());
                    items.push((tree, Ty::Int, None));
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
            let (a, b) = (self.aggregate(Ty::Int), self.constant(Ty::Int));
            groups.havings.push(node(Sort::Bool, fill("{} >= {}", [a, b])));
        }
        self.assemble(groups, want, items, rows, open)
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
        let all = (2..=count).map(|n| format!(", {n}")).collect::<String>();
        let (head, order) = match mode {
            Mode::Distinct => {
                self.saw("DISTINCT");
                ("DISTINCT ", text(""))
            }
            Mode::DistinctOn => {
                self.saw("DISTINCT ON");
                ("", text(format!(" ORDER BY 1{all}")))
            }
            Mode::Plain | Mode::Aggregate | Mode::Grouped | Mode::GroupingSets | Mode::Window => {
                ("", text(""))
            }
        };
        let first = written.first().cloned();
        let on = match (mode, first) {
            (Mode::DistinctOn, Some(Tree::Node { parts, .. })) => {
                scalar(fill("DISTINCT ON ({}) ", [parts.into_iter().next().unwrap()]))
            }
            _ => text(""),
        };
        let grouping = self.grouping(mode, keys);
        let limit = self.limit(count, if want.one_row { 0 } else { 9 }, mode == Mode::DistinctOn);
        let locking = match (mode, want.top && self.rng.chance(4)) {
            (Mode::Plain, true) => {
                self.saw("locking clause");
                optional([text(*self.rng.pick(&[" FOR UPDATE", " FOR SHARE"]))])
            }
            _ => text(""),
        };
        let having = clause(" HAVING ", havings);
        let tree = node(
            Sort::Query,
            fill(
                "SELECT {}{}{}{}{}{}{}{}{}{}",
                [
                    text(head),
                    on,
                    commas(written),
                    from,
                    Self::filter(filters),
                    grouping,
                    having,
                    order,
                    limit,
                    locking,
                ],
            ),
        );
        Made { tree, columns, open }
    }

    fn grouping(&mut self, mode: Mode, keys: Vec<Tree>) -> Tree {
        match mode {
            Mode::Grouped if !keys.is_empty() => {
                self.saw("GROUP BY");
                Tree::List { head: " GROUP BY ", between: ", ", tail: "", least: 1, items: keys }
            }
            Mode::GroupingSets if !keys.is_empty() => {
                self.saw("grouping sets");
                let head =
                    *self.rng.pick(&[" GROUP BY ROLLUP (", " GROUP BY CUBE (", " GROUP BY GROUPING SETS ("]);
                Tree::List { head, between: ", ", tail: ")", least: 1, items: keys }
            }
            Mode::Plain
            | Mode::Aggregate
            | Mode::Grouped
            | Mode::GroupingSets
            | Mode::Distinct
            | Mode::DistinctOn
            | Mode::Window => text(""),
        }
    }

    /// An aggregate that does not depend on order.
    pub(super) fn aggregate(&mut self, ty: Ty) -> Tree {
        self.saw("aggregate");
        let form = self.rng.below(4);
        let mut made = match (ty, form) {
            (Ty::Int, 0) => vec![text("count(*)")],
            (Ty::Int, 1) => {
                let a = self.simple(Ty::Text);
                fill("count({})", [a])
            }
            (Ty::Int, 2) => {
                let a = self.simple(Ty::Int);
                fill("sum({})", [a])
            }
            (Ty::Num, 0) => {
                let a = self.simple(Ty::Num);
                fill("sum({})", [a])
            }
            (Ty::Bool, _) => {
                let a = self.predicate(0);
                fill("bool_or({})", [a])
            }
            (Ty::Json, _) => {
                let a = self.simple(Ty::Text);
                let b = a.clone();
                fill("jsonb_agg({} ORDER BY {})", [a, b])
            }
            (Ty::Tags, _) => {
                let a = self.simple(Ty::Text);
                let b = a.clone();
                fill("array_agg({} ORDER BY {})", [a, b])
            }
            (Ty::Text, 0) => {
                let a = self.simple(Ty::Text);
                let b = a.clone();
                fill("string_agg({}, ',' ORDER BY {})", [a, b])
            }
            (Ty::Uuid | Ty::Any | Ty::Fixed | Ty::Realm, _) => return self.constant(ty),
            (Ty::Int | Ty::Num | Ty::Text | Ty::Time | Ty::Date | Ty::Status, _) => {
                let a = self.simple(ty);
                let which = text(if form == 3 { "max" } else { "min" });
                fill("{}({})", [which, a])
            }
        };
        if self.rng.chance(10) {
            self.saw("FILTER");
            let filter = match self.column(|column| column.class.is_some()) {
                Some(place) if self.rng.chance(40) => {
                    let c = self.refer(&place);
                    self.equality(c, place.column.class.unwrap())
                }
                Some(_) | None => self.predicate(0),
            };
            made.push(optional(fill(" FILTER (WHERE {})", [filter])));
        }
        scalar(made)
    }

    /// A window function whose value does not depend on the order of peers.
    fn window(&mut self, exported: Option<&Place>) -> Tree {
        self.saw("window");
        let what = match self.rng.below(4) {
            0 => vec![text("count(*)")],
            1 => vec![text("rank()")],
            2 => vec![text("dense_rank()")],
            _ => {
                let a = self.simple(Ty::Int);
                fill("sum({})", [a])
            }
        };
        let mut keys = Vec::new();
        if let Some(place) = exported.filter(|_| self.rng.chance(80)) {
            keys.push(self.refer(place));
        }
        if self.rng.chance(50) {
            keys.push(self.simple(Ty::Text));
        }
        let partition = Tree::List { head: "PARTITION BY ", between: ", ", tail: "", least: 0, items: keys };
        let order = match self.column(|column| column.ty == Ty::Int) {
            Some(place) if self.rng.chance(70) => {
                let c = self.refer(&place);
                optional(fill(" ORDER BY {}", [c]))
            }
            Some(_) | None => text(""),
        };
        let what = scalar(what);
        scalar(fill("{} OVER ({}{})", [what, partition, order]))
    }
}

const OUTPUT_TYPES: &[Ty] =
    &[Ty::Int, Ty::Int, Ty::Text, Ty::Text, Ty::Num, Ty::Bool, Ty::Time, Ty::Status, Ty::Json, Ty::Date];
