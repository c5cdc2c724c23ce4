//! ON CONFLICT with arbiters and actions that are right, or nearly.

use super::targets::is_container;
use super::*;

/// What ON CONFLICT may name: columns of a unique key, and the constraint's name.
type Arbiter = (&'static str, &'static str);

impl Gen {
    pub(super) fn conflict(&mut self, table: &Table) -> Tree {
        if self.fallible && table.key.is_empty() {
            // Whether a key of others' is taken would show in the count.
            return text("");
        }
        let arbiter = self.arbiter(table);
        if arbiter.is_empty() && (self.fallible || !self.rng.chance(70)) {
            return text("");
        }
        self.saw("ON CONFLICT");
        if arbiter.is_empty() || self.rng.chance(30) {
            self.saw("DO NOTHING");
            return optional([text(format!(" ON CONFLICT{arbiter} DO NOTHING"))]);
        }
        self.saw("DO UPDATE");
        // EXCLUDED is a source beside the target.
        self.level().sources.push(Source::of_table(super::table(table.name), "excluded".into()));
        let sets = self.conflict_sets(table);
        let guard = self.conflict_guard(table);
        self.level().sources.pop();
        optional(fill(" ON CONFLICT{} DO UPDATE SET {}{}", [text(arbiter), commas(sets), guard]))
    }

    /// ` (columns)` or ` ON CONSTRAINT name`; empty: none is named.
    fn arbiter(&mut self, table: &Table) -> String {
        let mut all = arbiters(table.name, self.universe).to_vec();
        if self.universe.keeps_keys() && self.fallible {
            // A key that is unique over all tenants' rows tells whether others have it.
            all.retain(|(columns, _)| columns.contains("tenant_id") || columns.contains(','));
        }
        if all.is_empty() || (!self.fallible && self.rng.chance(12)) {
            return String::new();
        }
        let (columns, name) = *self.rng.pick(&all);
        if self.rng.chance(30) {
            self.saw("ON CONSTRAINT");
            return format!(" ON CONSTRAINT {name}");
        }
        format!(" ({columns})")
    }

    fn conflict_guard(&mut self, table: &Table) -> Tree {
        let alias = self.level().sources[0].alias.clone();
        let Some((tenant, class)) = table.tenant() else { return text("") };
        match self.rng.weighted(&[40, 30, 8, 10, 6, 6]) {
            0 => text(""),
            1 => {
                let equality = self.equality(text(format!("{alias}.{tenant}")), class);
                optional(fill(" WHERE {}", [equality]))
            }
            2 => {
                let equality = self.equality(text(format!("excluded.{tenant}")), class);
                optional(fill(" WHERE {}", [equality]))
            }
            3 => {
                let chain = node(Sort::Equality, [text(format!("{alias}.{tenant} = excluded.{tenant}"))]);
                optional(fill(" WHERE {}", [chain]))
            }
            4 => {
                let (equality, p) =
                    (self.equality(text(format!("{alias}.{tenant}")), class), self.predicate(0));
                optional(fill(" WHERE {} OR {}", [equality, p]))
            }
            _ => {
                let p = self.predicate(1);
                optional(fill(" WHERE {}", [p]))
            }
        }
    }

    fn conflict_sets(&mut self, table: &Table) -> Vec<Tree> {
        let mut sets = Vec::new();
        for column @ (name, ty, class) in table.columns.iter().copied() {
            if let Some(class) = class {
                if self.rng.chance(25) {
                    let value = match self.rng.below(4) {
                        0 => self.own(class),
                        1 => self.written_value(table, column, 0, 0),
                        _ => text(format!("excluded.{name}")),
                    };
                    sets.push((text(name), value));
                }
                continue;
            }
            if is_container(name) && self.rng.chance(20) {
                sets.push(self.element(name, ty));
                continue;
            }
            if table.key.contains(&name) || matches!(name, "id" | "email" | "sku") || !self.rng.chance(35) {
                continue;
            }
            let value = match self.rng.below(3) {
                0 => text(format!("excluded.{name}")),
                _ if name.ends_with("_id") => text(format!("excluded.{name}")),
                1 => match self.key_value(table, name, 0) {
                    Some(value) => text(value),
                    None => self.constant(ty),
                },
                _ => match ty {
                    Ty::Int | Ty::Num | Ty::Text => self.maybe_null(table, name, ty, 1),
                    _ => text(format!("excluded.{name}")),
                },
            };
            sets.push((text(name), value));
        }
        if sets.is_empty() {
            let tenant = table.tenant().map_or("code", |(name, _)| name);
            sets.push((text(tenant), text(format!("excluded.{tenant}"))));
        }
        self.together(sets, false)
    }
}

/// The unique keys of a relation.
fn arbiters(table: &str, universe: Universe) -> &'static [Arbiter] {
    let kept = universe.keeps_keys();
    match table {
        "app.customers" if kept => {
            &[("id", "customers_pkey"), ("tenant_id, email", "customers_tenant_id_email_key")]
        }
        "app.customers" => &[
            ("tenant_id, id", "customers_tenant_id_id_key"),
            ("tenant_id, email", "customers_tenant_id_email_key"),
        ],
        "app.products" if kept => {
            &[("id", "products_pkey"), ("tenant_id, sku", "products_tenant_id_sku_key")]
        }
        "app.products" => &[
            ("id, tenant_id", "products_tenant_id_id_key"),
            ("tenant_id, sku", "products_tenant_id_sku_key"),
        ],
        "app.orders" if kept => &[("id", "orders_pkey")],
        "app.orders" => &[("tenant_id, id", "orders_tenant_id_id_key")],
        "app.order_items" if kept => &[("order_id, line_no", "order_items_pkey")],
        "app.order_items" => {
            &[("tenant_id, order_id, line_no", "order_items_tenant_id_order_id_line_no_key")]
        }
        "app.warehouses" if kept => {
            &[("id", "warehouses_pkey"), ("tenant_id, id", "warehouses_tenant_id_id_key")]
        }
        "app.warehouses" => &[("tenant_id, id", "warehouses_tenant_id_id_key")],
        "app.shipments" if kept => &[("id", "shipments_pkey")],
        "app.shipments" => &[("tenant_id, id", "shipments_tenant_id_id_key")],
        "app.notes" if kept => &[("id", "notes_pkey")],
        "billing.invoices" if kept => &[("id", "invoices_pkey")],
        "billing.invoices" => &[("account_no, id", "invoices_account_no_id_key")],
        "billing.payments" if kept => &[("id", "payments_pkey")],
        "billing.payments" => &[("account_no, id", "payments_account_no_id_key")],
        "more.devices" => &[("owner, label", "devices_owner_label_key")],
        "more.seats" if kept => &[("realm, id", "seats_pkey")],
        "more.seats" => &[("realm, id", "seats_realm_id_key")],
        "more.tickets" if kept => &[("tenant_id, id", "tickets_pkey")],
        "more.tickets" => &[("tenant_id, id", "tickets_tenant_id_id_key")],
        "more.ledger" if kept => &[("account_no, id", "ledger_pkey")],
        "more.ledger" => &[("account_no, id", "ledger_account_no_id_key")],
        "more.cards" if kept => &[("account_no, id", "cards_pkey")],
        "more.cards" => &[("account_no, id", "cards_account_no_id_key")],
        "more.depots" => &[("tenant_id, id", "depots_pkey")],
        "more.bins" => &[("tenant_id, id", "bins_pkey")],
        _ => &[],
    }
}
