//! What the generator knows of the lab: relations, columns, types, keys.

/// A scalar's type, as far as expressions go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Ty {
    Text,
    Int,
    Num,
    Bool,
    Time,
    Date,
    Uuid,
    Status,
    Json,
    Tags,
    /// char(2), char(10), name: comparisons that are not text's.
    Fixed,
    Realm,
    /// A whole row, or json: output only.
    Any,
}

/// Which tenant column: what T is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    Tenant,
    Account,
    Owner,
    Realm,
}

/// A column: its name as it is written, its type, and whether it is the tenant column.
pub(crate) type ColumnOf = (&'static str, Ty, Option<Class>);

/// What kind of relation, for where it may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// May be written.
    Table,
    View,
    Shared,
}

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) columns: &'static [ColumnOf],
    /// Columns that are one row of one tenant together with the tenant column.
    pub(crate) key: &'static [&'static str],
}

impl Table {
    pub(crate) fn tenant(&self) -> Option<(&'static str, Class)> {
        self.columns.iter().find_map(|(name, _, class)| class.map(|class| (*name, class)))
    }

    /// The name without its schema.
    pub(crate) fn short(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, name)| name)
    }

    pub(crate) fn is_app(&self) -> bool {
        self.name.starts_with("app.")
    }
}

use Class::{Account, Owner, Realm, Tenant};
use Kind::{Shared, Table as Plain, View};
use Ty::{Bool, Date, Fixed, Int, Json, Num, Status, Tags, Text, Time, Uuid};

pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "app.customers",
        kind: Plain,
        key: &["id"],
        columns: &[
            ("id", Int, None),
            ("tenant_id", Text, Some(Tenant)),
            ("email", Text, None),
            ("full_name", Text, None),
            ("ssn", Text, None),
            ("phone", Text, None),
            ("country", Fixed, None),
            ("segment", Text, None),
            ("active", Bool, None),
            ("profile", Json, None),
            ("tags", Tags, None),
            ("created_at", Time, None),
        ],
    },
    Table {
        name: "app.products",
        kind: Plain,
        key: &["id"],
        columns: &[
            ("id", Int, None),
            ("tenant_id", Text, Some(Tenant)),
            ("sku", Text, None),
            ("name", Text, None),
            ("price", Num, None),
        ],
    },
    Table {
        name: "app.orders",
        kind: Plain,
        key: &["id"],
        columns: &[
            ("id", Int, None),
            ("tenant_id", Text, Some(Tenant)),
            ("customer_id", Int, None),
            ("status", Status, None),
            ("total", Num, None),
            ("note", Text, None),
            ("created_at", Time, None),
            ("updated_at", Time, None),
        ],
    },
    Table {
        name: "app.order_items",
        kind: Plain,
        key: &["order_id", "line_no"],
        columns: &[
            ("tenant_id", Text, Some(Tenant)),
            ("order_id", Int, None),
            ("line_no", Int, None),
            ("product_id", Int, None),
            ("qty", Int, None),
            ("price", Num, None),
        ],
    },
    Table {
        name: "app.warehouses",
        kind: Plain,
        key: &["id"],
        columns: &[("id", Int, None), ("tenant_id", Text, Some(Tenant)), ("name", Text, None)],
    },
    Table {
        name: "app.shipments",
        kind: Plain,
        key: &["id"],
        columns: &[
            ("id", Int, None),
            ("tenant_id", Text, Some(Tenant)),
            ("warehouse_id", Int, None),
            ("order_id", Int, None),
            ("shipped_at", Time, None),
        ],
    },
    Table { name: "app.events", kind: Plain, key: &[], columns: EVENTS },
    Table { name: "app.events_2026", kind: Plain, key: &[], columns: EVENTS },
    Table { name: "app.events_default", kind: Plain, key: &[], columns: EVENTS },
    Table {
        name: "app.notes",
        kind: Plain,
        key: &[],
        columns: &[("id", Int, None), ("tenant_id", Text, Some(Tenant)), ("body", Text, None)],
    },
    Table {
        name: "app.pinned_notes",
        kind: Plain,
        key: &[],
        columns: &[
            ("id", Int, None),
            ("tenant_id", Text, Some(Tenant)),
            ("body", Text, None),
            ("pinned_by", Text, None),
        ],
    },
    Table {
        name: "app.\"Audit Trail\"",
        kind: Plain,
        key: &[],
        columns: &[("tenant_id", Text, Some(Tenant)), ("\"When\"", Time, None), ("\"What\"", Text, None)],
    },
    Table {
        name: "billing.invoices",
        kind: Plain,
        key: &["id"],
        columns: &[
            ("id", Uuid, None),
            ("account_no", Int, Some(Account)),
            ("order_id", Int, None),
            ("amount", Num, None),
            ("issued_on", Date, None),
        ],
    },
    Table {
        name: "billing.payments",
        kind: Plain,
        key: &["id"],
        columns: &[
            ("id", Uuid, None),
            ("account_no", Int, Some(Account)),
            ("invoice_id", Uuid, None),
            ("amount", Num, None),
            ("paid_at", Time, None),
        ],
    },
    Table {
        name: "more.devices",
        kind: Plain,
        key: &["label"],
        columns: &[
            ("id", Int, None),
            ("owner", Uuid, Some(Owner)),
            ("tenant_id", Text, None),
            ("label", Text, None),
            ("seen", Int, None),
        ],
    },
    Table {
        name: "more.seats",
        kind: Plain,
        key: &["id"],
        columns: &[
            ("realm", Ty::Realm, Some(Realm)),
            ("id", Int, None),
            ("customer_id", Int, None),
            ("label", Text, None),
        ],
    },
    Table {
        name: "more.tickets",
        kind: Plain,
        key: &["id"],
        columns: &[
            ("tenant_id", Text, Some(Tenant)),
            ("id", Int, None),
            ("order_id", Int, None),
            ("title", Text, None),
            ("weight", Int, None),
        ],
    },
    Table {
        name: "more.ledger",
        kind: Plain,
        key: &["id"],
        columns: &[
            ("account_no", Int, Some(Account)),
            ("id", Int, None),
            ("amount", Num, None),
            ("memo", Text, None),
        ],
    },
    Table {
        name: "more.cards",
        kind: Plain,
        key: &["id"],
        columns: &[("account_no", Int, Some(Account)), ("id", Int, None), ("label", Text, None)],
    },
    Table {
        name: "more.labels",
        kind: Plain,
        key: &[],
        columns: &[
            ("id", Int, None),
            ("tenant_id", Text, Some(Tenant)),
            ("code", Fixed, None),
            ("nm", Fixed, None),
            ("other", Text, None),
            ("amount", Num, None),
        ],
    },
    Table {
        name: "more.depots",
        kind: Plain,
        key: &["id"],
        columns: &[("tenant_id", Text, Some(Tenant)), ("id", Int, None), ("name", Text, None)],
    },
    Table {
        name: "more.bins",
        kind: Plain,
        key: &["id"],
        columns: &[
            ("tenant_id", Text, Some(Tenant)),
            ("id", Int, None),
            ("depot_id", Int, None),
            ("spot", Ty::Any, None),
        ],
    },
    Table {
        name: "more.halls",
        kind: Plain,
        key: &["id"],
        columns: &[("tenant_id", Text, Some(Tenant)), ("id", Int, None), ("name", Text, None)],
    },
    Table {
        name: "more.racks",
        kind: Plain,
        key: &["id"],
        columns: &[("tenant_id", Text, Some(Tenant)), ("id", Int, None), ("hall_id", Int, None)],
    },
    Table {
        name: "more.v_both",
        kind: View,
        key: &[],
        columns: &[("tenant_id", Text, Some(Tenant)), ("id", Int, None), ("body", Text, None)],
    },
    Table {
        name: "more.v_except",
        kind: View,
        key: &[],
        columns: &[("tenant_id", Text, Some(Tenant)), ("id", Int, None)],
    },
    Table {
        name: "app.plans",
        kind: Shared,
        key: &[],
        columns: &[("code", Text, None), ("name", Text, None), ("price_cents", Int, None)],
    },
    Table {
        name: "app.countries",
        kind: Shared,
        key: &[],
        columns: &[("iso2", Fixed, None), ("name", Text, None)],
    },
    Table {
        name: "app.open_orders",
        kind: View,
        key: &[],
        columns: &[
            ("id", Int, None),
            ("tenant_id", Text, Some(Tenant)),
            ("customer_id", Int, None),
            ("total", Num, None),
            ("created_at", Time, None),
        ],
    },
    Table {
        name: "app.order_lines",
        kind: View,
        key: &[],
        columns: &[
            ("tenant_id", Text, Some(Tenant)),
            ("order_id", Int, None),
            ("line_no", Int, None),
            ("qty", Int, None),
            ("price", Num, None),
        ],
    },
    Table {
        name: "app.tenant_totals",
        kind: View,
        key: &[],
        columns: &[("tenant_id", Text, Some(Tenant)), ("orders", Int, None), ("revenue", Num, None)],
    },
    Table {
        name: "app.global_totals",
        kind: View,
        key: &[],
        columns: &[("orders", Int, None), ("revenue", Num, None)],
    },
    Table {
        name: "app.daily_revenue",
        kind: View,
        key: &[],
        columns: &[("tenant_id", Text, Some(Tenant)), ("day", Date, None), ("revenue", Num, None)],
    },
    Table {
        name: "more.v_orders",
        kind: View,
        key: &[],
        columns: &[
            ("id", Int, None),
            ("tenant_id", Text, Some(Tenant)),
            ("customer_id", Int, None),
            ("status", Status, None),
            ("total", Num, None),
        ],
    },
    Table {
        name: "more.v_twice",
        kind: View,
        key: &[],
        columns: &[("t", Text, Some(Tenant)), ("id", Int, None), ("full_name", Text, None)],
    },
    Table {
        name: "more.v_loose",
        kind: View,
        key: &[],
        columns: &[("tenant_id", Text, Some(Tenant)), ("id", Int, None), ("full_name", Text, None)],
    },
    Table {
        name: "more.v_distinct",
        kind: View,
        key: &[],
        columns: &[("tenant_id", Text, Some(Tenant)), ("status", Status, None)],
    },
    Table { name: "more.v_statuses", kind: View, key: &[], columns: &[("status", Status, None)] },
    Table { name: "more.v_ranked", kind: View, key: &[], columns: RANKED },
    Table { name: "more.v_ranked_all", kind: View, key: &[], columns: RANKED },
    Table {
        name: "more.v_union",
        kind: View,
        key: &[],
        columns: &[("tenant_id", Text, Some(Tenant)), ("id", Int, None), ("body", Text, None)],
    },
    Table {
        name: "more.v_first",
        kind: View,
        key: &[],
        columns: &[("tenant_id", Text, Some(Tenant)), ("id", Int, None), ("total", Num, None)],
    },
    Table { name: "more.v_mine", kind: View, key: &[], columns: &[("id", Int, None), ("total", Num, None)] },
    Table {
        name: "more.v_full",
        kind: View,
        key: &[],
        columns: &[
            ("tenant_id", Text, Some(Tenant)),
            ("id", Int, None),
            ("other_id", Text, None),
            ("full_name", Text, None),
        ],
    },
    Table {
        name: "more.v_accounts",
        kind: View,
        key: &[],
        columns: &[("account_no", Int, Some(Account)), ("order_id", Int, None), ("amount", Num, None)],
    },
];

const EVENTS: &[ColumnOf] = &[
    ("tenant_id", Text, Some(Tenant)),
    ("occurred_at", Time, None),
    ("kind", Text, None),
    ("payload", Json, None),
];

const RANKED: &[ColumnOf] =
    &[("tenant_id", Text, Some(Tenant)), ("id", Int, None), ("total", Num, None), ("place", Int, None)];

/// Columns by which people join: table, column, table, column.
pub(crate) const LINKS: &[(&str, &str, &str, &str)] = &[
    ("app.orders", "customer_id", "app.customers", "id"),
    ("app.order_items", "order_id", "app.orders", "id"),
    ("app.order_items", "product_id", "app.products", "id"),
    ("app.shipments", "order_id", "app.orders", "id"),
    ("app.shipments", "warehouse_id", "app.warehouses", "id"),
    ("billing.invoices", "order_id", "app.orders", "id"),
    ("more.bins", "depot_id", "more.depots", "id"),
    ("more.racks", "hall_id", "more.halls", "id"),
    ("billing.payments", "invoice_id", "billing.invoices", "id"),
    ("more.seats", "customer_id", "app.customers", "id"),
    ("more.tickets", "order_id", "app.orders", "id"),
    ("app.open_orders", "customer_id", "app.customers", "id"),
    ("more.v_orders", "customer_id", "app.customers", "id"),
    ("app.order_lines", "order_id", "app.orders", "id"),
];

/// The table of that name.
pub(crate) fn table(name: &str) -> &'static Table {
    TABLES.iter().find(|table| table.name == name).unwrap()
}
