//! Where the tenant equalities of a level stand: most often where they count.

use super::Gen;
use super::from::Join;
use super::scope::{Column, Place, Source};
use super::select::{Groups, Mode};
use crate::schema::{Class, Ty};
use crate::tree::{Sort, Tree, fill, node, scalar, text};
use crate::worlds::Universe;

impl Gen {
    /// Puts a tenant equality for each open source somewhere, most often where it counts.
    pub(super) fn restrict(
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
            let trusted = self.universe == Universe::Read && table == Some("app.customers");
            let carried = (trusted || matches!(table, Some("app.warehouses" | "more.depots")))
                && level_has_link(&self.levels[level].sources);
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
        let chain = node(Sort::Equality, chain);
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
}

/// Whether a relation whose key carries the tenant is there.
fn level_has_link(sources: &[Source]) -> bool {
    sources.iter().any(|source| {
        source.table.is_some_and(|t| matches!(t.name, "app.shipments" | "more.bins" | "app.orders"))
    })
}
