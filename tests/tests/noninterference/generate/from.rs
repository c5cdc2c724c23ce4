//! FROM: joins of every kind in any nesting, over tables, views, CTEs, derived tables, functions.

use std::ops::Range;

use super::Gen;
use super::query::Want;
use super::scope::{Column, Source};
use crate::schema::{Class, Kind, LINKS, TABLES, Table, Ty, table};
use crate::tree::{Sort, Tree, clause, fill, node, text};

/// A FROM tree whose ON conditions may still grow.
#[derive(Debug)]
pub(crate) enum Join {
    Leaf(Tree),
    Pair { kind: &'static str, left: Box<Join>, right: Box<Join>, how: How, covers: Range<usize> },
}

#[derive(Debug)]
pub(crate) enum How {
    On(Vec<Tree>),
    /// The columns, and the alias that they bear.
    Using(Vec<String>, Option<String>),
    Natural,
    Cross,
}

impl Join {
    pub(crate) fn tree(self) -> Tree {
        match self {
            Self::Leaf(tree) => node(Sort::From, [tree]),
            Self::Pair { kind, left, right, how, .. } => {
                let nested = matches!(*right, Self::Pair { .. });
                let (left, mut right) = (left.tree(), right.tree());
                if nested {
                    right = node(Sort::From, fill("({})", [right]));
                }
                node(
                    Sort::From,
                    match how {
                        How::On(mut conditions) => {
                            if conditions.is_empty() {
                                conditions.push(text("TRUE"));
                            }
                            let on = Tree::List {
                                head: " ON ",
                                between: " AND ",
                                tail: "",
                                least: 1,
                                items: conditions,
                            };
                            fill("{} {} {}{}", [left, text(kind), right, on])
                        }
                        How::Using(names, alias) => {
                            let alias = text(alias.map_or(String::new(), |alias| format!(" AS {alias}")));
                            let names = text(names.join(", "));
                            fill("{} {} {} USING ({}){}", [left, text(kind), right, names, alias])
                        }
                        How::Natural => fill("{} NATURAL {} {}", [left, text(kind), right]),
                        How::Cross => fill("{} CROSS JOIN {}", [left, right]),
                    },
                )
            }
        }
    }

    /// The ON lists of the joins that cover a source.
    pub(crate) fn conditions(&mut self, source: usize) -> Vec<(&mut Vec<Tree>, Range<usize>)> {
        match self {
            Self::Leaf(_) => Vec::new(),
            Self::Pair { left, right, how, covers, .. } => {
                let mut all = left.conditions(source);
                all.extend(right.conditions(source));
                if let How::On(conditions) = how
                    && covers.contains(&source)
                {
                    all.push((conditions, covers.clone()));
                }
                all
            }
        }
    }
}

impl Gen {
    /// The items of FROM of the current level.
    pub(super) fn from(&mut self, depth: usize, prefer: Option<Class>) -> Vec<Join> {
        let items = 1 + self.rng.weighted(&[85, 15]);
        let mut all = Vec::new();
        for item in 0..items {
            if item > 0 && self.budget == 0 {
                break;
            }
            let sources = 1 + self.rng.weighted(&[45, 33, 15, 7]);
            all.push(self.join(depth, sources, item > 0, prefer));
        }
        all
    }

    fn join(&mut self, depth: usize, sources: usize, lateral: bool, prefer: Option<Class>) -> Join {
        let start = self.level().sources.len();
        if sources <= 1 || self.budget == 0 {
            return Join::Leaf(self.leaf(depth, lateral, prefer));
        }
        let kind = *self.rng.pick(&[
            "JOIN",
            "JOIN",
            "JOIN",
            "INNER JOIN",
            "LEFT JOIN",
            "LEFT JOIN",
            "LEFT JOIN",
            "RIGHT JOIN",
            "FULL JOIN",
        ]);
        let left_sources = 1 + self.rng.below(sources - 1);
        let left = self.join(depth, left_sources, lateral, prefer);
        let middle = self.level().sources.len();
        let right_lateral = !matches!(kind, "RIGHT JOIN" | "FULL JOIN");
        let right = self.join(depth, sources - left_sources, right_lateral, None);
        let end = self.level().sources.len();
        match kind {
            "LEFT JOIN" => self.saw("LEFT JOIN"),
            "RIGHT JOIN" => self.saw("RIGHT JOIN"),
            "FULL JOIN" => self.saw("FULL JOIN"),
            _ => self.saw("INNER JOIN"),
        }
        let how = self.how(kind, start, middle, end, depth);
        let end = self.level().sources.len();
        let join = Join::Pair { kind, left: Box::new(left), right: Box::new(right), how, covers: start..end };
        if self.is_known_whole(start..end) { self.named_join(join) } else { join }
    }

    fn how(&mut self, kind: &'static str, start: usize, middle: usize, end: usize, depth: usize) -> How {
        let shared = self.shared_names(start..middle, middle..end);
        if !shared.is_empty() && self.rng.chance(22) {
            self.saw("USING");
            let mut names: Vec<String> = shared.iter().filter(|_| self.rng.chance(60)).cloned().collect();
            if names.is_empty() {
                names.push(self.rng.pick(&shared).clone());
            }
            self.level().merged.extend(names.iter().cloned());
            let alias = self.using_alias(&names, start..middle);
            return How::Using(names, alias);
        }
        if end - start == 2
            && !shared.is_empty()
            && self.rng.chance(6)
            && !self.names_clash(start..middle, middle..end)
        {
            self.saw("NATURAL");
            self.level().merged.extend(shared);
            return How::Natural;
        }
        if kind.ends_with("JOIN") && !kind.contains(' ') && self.rng.chance(8) {
            self.saw("CROSS JOIN");
            return How::Cross;
        }
        self.level().window = Some(start..end);
        let mut on = Vec::new();
        if self.rng.chance(80) {
            on.push(self.link(start..middle, middle..end));
        }
        if self.rng.chance(25) {
            on.push(self.predicate(depth.min(1)));
        }
        // FULL JOIN takes conditions that can be merged or hashed only.
        if kind == "FULL JOIN" && on.len() > 1 {
            on.truncate(1);
        }
        self.level().window = None;
        How::On(on)
    }

    /// Columns of one name on both sides, once on each and of one type.
    fn shared_names(&mut self, left: Range<usize>, right: Range<usize>) -> Vec<String> {
        let level = self.level();
        let of = |range: Range<usize>| -> Vec<&Column> {
            level.sources[range].iter().flat_map(|source| &source.columns).collect()
        };
        let (left, right) = (of(left), of(right));
        let alone = |all: &[&Column], name: &str| all.iter().filter(|c| c.name == name).count() == 1;
        let merged = |name: &String| level.merged.contains(name);
        left.iter()
            .filter(|c| alone(&left, &c.name) && alone(&right, &c.name) && !merged(&c.name))
            .filter(|c| right.iter().any(|other| other.name == c.name && other.ty == c.ty))
            .map(|c| c.name.clone())
            .collect()
    }

    /// Whether columns of one name have types that NATURAL cannot compare.
    fn names_clash(&mut self, left: Range<usize>, right: Range<usize>) -> bool {
        let level = self.level();
        let right: Vec<&Column> = level.sources[right].iter().flat_map(|source| &source.columns).collect();
        let mut left = level.sources[left].iter().flat_map(|source| &source.columns);
        left.any(|c| right.iter().any(|other| other.name == c.name && other.ty != c.ty))
    }

    /// An equality by which the two sides belong together.
    fn link(&mut self, left: Range<usize>, right: Range<usize>) -> Tree {
        let mut links = Vec::new();
        let level = self.level();
        for a in left.clone() {
            for b in right.clone() {
                let (x, y) = (&level.sources[a], &level.sources[b]);
                let (Some(s), Some(t)) = (x.table, y.table) else { continue };
                if x.joined || y.joined {
                    continue;
                }
                for (from, column, to, key) in LINKS {
                    if s.name == *from && t.name == *to {
                        links.push(format!("{}.{column} = {}.{key}", x.alias, y.alias));
                    }
                    if t.name == *from && s.name == *to {
                        links.push(format!("{}.{key} = {}.{column}", x.alias, y.alias));
                    }
                }
            }
        }
        if !links.is_empty() && self.rng.chance(85) {
            return text(self.rng.pick(&links).clone());
        }
        let ty = *self.rng.pick(&[Ty::Int, Ty::Int, Ty::Text]);
        let of = |made: &Self, range: Range<usize>| -> Vec<String> {
            let level = made.levels.last().unwrap();
            let sources = level.sources[range].iter();
            sources
                .flat_map(|s| {
                    s.columns.iter().filter(|c| c.ty == ty).map(|c| format!("{}.{}", s.alias, c.name))
                })
                .collect()
        };
        let (left, right) = (of(self, left), of(self, right));
        if left.is_empty() || right.is_empty() {
            return text("TRUE");
        }
        let (a, b) = (self.rng.pick(&left).clone(), self.rng.pick(&right).clone());
        text(format!("{a} = {b}"))
    }

    fn leaf(&mut self, depth: usize, lateral: bool, prefer: Option<Class>) -> Tree {
        if self.rng.chance(2) {
            return self.table_command();
        }
        let nested = if depth > 0 && self.budget > 1 { 18 } else { 0 };
        let aside = if nested > 0 && lateral { 8 } else { 0 };
        let ctes = if self.ctes.is_empty() { 0 } else { 30 };
        match self.rng.weighted(&[60, nested, aside, ctes, 3, 4]) {
            1 => self.derived(depth - 1, false),
            2 => self.derived(depth - 1, true),
            3 => self.cte_reference(),
            4 => self.values(),
            5 => self.function(lateral),
            _ => self.relation(prefer),
        }
    }

    fn relation(&mut self, prefer: Option<Class>) -> Tree {
        self.budget = self.budget.saturating_sub(1);
        let favourite = [
            "app.orders",
            "app.customers",
            "app.order_items",
            "app.notes",
            "app.shipments",
            "app.warehouses",
            "more.tickets",
            "more.labels",
        ];
        let mut chosen: &'static Table = if self.rng.chance(50) {
            table(self.rng.pick::<&str>(&favourite))
        } else {
            self.rng.pick(TABLES)
        };
        if let Some(class) = prefer {
            let fits: Vec<&Table> =
                TABLES.iter().filter(|t| t.tenant().is_some_and(|(_, own)| own == class)).collect();
            chosen = *self.rng.pick(&fits);
        }
        match chosen.kind {
            Kind::View => self.saw("view"),
            Kind::Shared => self.saw("shared relation"),
            Kind::Table => self.saw("relation"),
        }
        let alias = self.alias(chosen.short());
        let hidden = self.ctes.iter().any(|cte| cte.name == chosen.short());
        let short = chosen.is_app() && !hidden && self.rng.chance(50);
        let name = if short { chosen.short() } else { chosen.name };
        let only = if chosen.kind == Kind::Table && self.rng.chance(4) { "ONLY " } else { "" };
        let mut source = Source::of_table(chosen, alias.clone());
        let mut written = format!("{only}{name} AS {alias}");
        if alias == chosen.short() && self.rng.chance(50) {
            written = format!("{only}{name}");
        } else if self.rng.chance(4) {
            self.saw("renamed columns");
            for (at, column) in source.columns.iter_mut().enumerate() {
                column.name = format!("r{at}");
            }
            // Other columns' names, shifted by one: what is called tenant_id is not.
            if self.rng.chance(30) {
                let names: Vec<&str> = chosen.columns.iter().map(|(name, ..)| *name).collect();
                for (at, column) in source.columns.iter_mut().enumerate() {
                    column.name = names[(at + 1) % names.len()].to_owned();
                }
            }
            let names: Vec<&str> = source.columns.iter().map(|column| column.name.as_str()).collect();
            // The table may have columns that the generator does not know.
            written = format!("{only}{name} AS {alias}({})", names.join(", "));
        }
        self.level().sources.push(source);
        text(written)
    }

    fn derived(&mut self, depth: usize, lateral: bool) -> Tree {
        let want = Want { export: self.rng.chance(60), ..Want::default() };
        let made = if lateral {
            self.saw("LATERAL");
            self.query(depth, want)
        } else {
            self.saw("derived table");
            self.apart(|made| made.query(depth, want))
        };
        let alias = self.alias("d");
        let source = Source {
            alias: alias.clone(),
            columns: made.columns,
            table: None,
            open: made.open,
            joined: false,
        };
        self.level().sources.push(source);
        let lateral = text(if lateral { "LATERAL " } else { "" });
        node(Sort::Query, fill("{}({}) AS {}", [lateral, made.tree, text(alias)]))
    }

    fn cte_reference(&mut self) -> Tree {
        self.saw("CTE reference");
        let at = self.rng.below(self.ctes.len());
        let cte = self.ctes[at].clone();
        // An inner CTE of that name would be found instead.
        let alias = self.alias(&cte.name);
        let source =
            Source { alias: alias.clone(), columns: cte.columns, table: None, open: cte.open, joined: false };
        self.level().sources.push(source);
        text(format!("{} AS {alias}", cte.name))
    }

    /// ` WHERE a AND b`, or nothing.
    pub(super) fn filter(items: Vec<Tree>) -> Tree {
        clause(" WHERE ", items)
    }
}
