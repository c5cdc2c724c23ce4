//! Rows that are not a relation's: VALUES, functions in FROM, ROWS FROM, WITH ORDINALITY, column
//! definition lists.

use super::Gen;
use super::scope::{Column, Source};
use crate::schema::{Class, Ty, table};
use crate::tree::{Sort, Tree, commas, fill, node, scalar, text};

/// A function in FROM: how it is written, its columns, and whether they are defined beside it.
struct Call {
    tree: Tree,
    columns: Vec<(&'static str, Ty, Option<Class>)>,
    /// Its columns' types stand in the statement.
    defined: bool,
}

impl Gen {
    pub(super) fn values(&mut self) -> Tree {
        self.saw("VALUES");
        let alias = self.alias("v");
        let computed = self.budget > 0 && self.rng.chance(15);
        if computed {
            self.saw("VALUES of a sub-select");
        }
        let cells: Vec<Tree> = (1..=2)
            .map(|n: usize| {
                let own = if self.rng.chance(92) { "'acme'" } else { "'globex'" };
                let own = node(Sort::Own(Class::Tenant), [text(format!("{own}::text"))]);
                let number = if computed && n == 2 {
                    self.apart(|made| made.scalar_subselect(Ty::Int, 0))
                } else {
                    text(n.to_string())
                };
                node(Sort::Scalar, fill("({}, {})", [own, number]))
            })
            .collect();
        let columns = vec![
            Column { name: "t".into(), ty: Ty::Text, class: Some(Class::Tenant) },
            Column { name: "n".into(), ty: Ty::Int, class: None },
        ];
        self.level().sources.push(Source {
            alias: alias.clone(),
            columns,
            table: None,
            open: false,
            joined: false,
        });
        node(Sort::Optional, fill("(VALUES {}) AS {}(t, n)", [commas(cells), text(alias)]))
    }

    /// `(TABLE t) AS d`: a whole relation, restricted outside or not at all.
    pub(super) fn table_command(&mut self) -> Tree {
        self.saw("TABLE");
        self.budget = self.budget.saturating_sub(1);
        let table = table(self.rng.pick::<&str>(&[
            "app.notes",
            "app.orders",
            "app.customers",
            "more.v_mine",
            "app.plans",
            "billing.invoices",
        ]));
        let alias = self.alias("d");
        let mut source = Source::of_table(table, alias.clone());
        source.table = None;
        self.level().sources.push(source);
        let hidden = self.ctes.iter().any(|cte| cte.name == table.short());
        let name = if table.is_app() && !hidden { table.short() } else { table.name };
        text(format!("(TABLE {name}) AS {alias}"))
    }

    /// A function as an item of FROM.
    pub(super) fn function(&mut self, lateral: bool) -> Tree {
        self.saw("function in FROM");
        let alias = self.alias("f");
        let together = self.rng.chance(15);
        let mut calls = vec![self.call(lateral)];
        if together {
            self.saw("ROWS FROM");
            calls.push(self.call(lateral));
        }
        let defined = calls.iter().any(|call| call.defined);
        let ordinality = (!defined || together) && self.rng.chance(20);
        let mut columns: Vec<Column> = Vec::new();
        let mut written = Vec::new();
        for (at, Call { tree, columns: own, defined }) in calls.into_iter().enumerate() {
            let stem = |name: &str| if at == 0 { name.to_owned() } else { format!("{name}{at}") };
            written.push(match defined && together {
                true => scalar(fill("{} AS ({})", [tree, text(definitions(&own))])),
                false => tree,
            });
            // Where one function has fewer rows, its columns are NULL.
            let class = |class: Option<Class>| class.filter(|_| !together);
            columns.extend(own.iter().map(|(name, ty, own)| Column {
                name: stem(name),
                ty: *ty,
                class: class(*own),
            }));
        }
        let has_tenant = columns.iter().any(|column| column.class.is_some());
        if ordinality {
            self.saw("WITH ORDINALITY");
            columns.push(Column { name: "ord".into(), ty: Ty::Int, class: None });
        }
        let names = columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>().join(", ");
        let list = match (defined, together) {
            (true, false) => {
                let own: Vec<_> = columns.iter().map(|c| format!("{} {}", c.name, type_of(c.ty))).collect();
                own.join(", ")
            }
            _ => names,
        };
        let with = text(if ordinality { " WITH ORDINALITY" } else { "" });
        let items = match together {
            true => scalar(fill("ROWS FROM ({})", [commas(written)])),
            false => written.remove(0),
        };
        // Rows that the client sends with their tenant in a column are restricted like a relation's.
        let open = defined && has_tenant;
        self.level().sources.push(Source { alias: alias.clone(), columns, table: None, open, joined: false });
        node(Sort::Query, fill("{}{} AS {}({})", [items, with, text(alias), text(list)]))
    }

    fn call(&mut self, lateral: bool) -> Call {
        let one = |tree: Tree, name: &'static str, ty: Ty, class: Option<Class>| Call {
            tree,
            columns: vec![(name, ty, class)],
            defined: false,
        };
        let tenant = Some(Class::Tenant);
        match self.rng.weighted(&[10, 14, 8, 14, 14, 8, 8, 8, 6, 10]) {
            1 => one(text("unnest(ARRAY['acme', 'acme'])"), "u", Ty::Text, tenant),
            2 => one(text("unnest(ARRAY['acme', 'globex'])"), "u", Ty::Text, tenant),
            3 if self.bound => {
                let value = if self.rng.chance(85) { "{acme,acme}" } else { "{acme,globex}" };
                let param = self.param(value);
                one(scalar(fill("unnest({}::text[])", [param])), "u", Ty::Text, tenant)
            }
            4 if lateral => {
                let tags = self.simple(Ty::Tags);
                one(scalar(fill("unnest({})", [tags])), "u", Ty::Text, None)
            }
            5 if lateral => {
                let number = self.simple(Ty::Int);
                one(scalar(fill("generate_series(1, least(abs({}), 3))", [number])), "g", Ty::Int, None)
            }
            6 => Call {
                tree: text("unnest(ARRAY['acme', 'acme'], ARRAY[1, 2])"),
                columns: vec![("u", Ty::Text, tenant), ("i", Ty::Int, None)],
                defined: false,
            },
            7 if lateral => {
                let json = self.simple(Ty::Json);
                let tree = scalar(fill("jsonb_each_text({})", [json]));
                Call { tree, columns: vec![("k", Ty::Text, None), ("v", Ty::Text, None)], defined: false }
            }
            8 if lateral => {
                let words = self.simple(Ty::Text);
                one(scalar(fill("string_to_table({}, ' ')", [words])), "w", Ty::Text, None)
            }
            9 => self.recordset(),
            _ => one(text("generate_series(0, 2)"), "g", Ty::Int, None),
        }
    }

    /// Rows that the client sends as JSON.
    fn recordset(&mut self) -> Call {
        self.saw("column definition list");
        let rows = *self.rng.pick(&[
            r#"[{"tenant_id": "acme", "n": 1}, {"tenant_id": "globex", "n": 2}, {"tenant_id": "acme", "n": 3}]"#,
            r#"[{"tenant_id": "acme", "n": 2}]"#,
            r#"[{"tenant_id": null, "n": 2}, {"tenant_id": "acme", "n": 1}]"#,
        ]);
        let which = *self.rng.pick(&["json", "jsonb"]);
        let rows = match self.bound {
            true => self.param(rows),
            false => text(format!("'{rows}'")),
        };
        let tree = scalar(fill("{}_to_recordset({})", [text(which), rows]));
        let columns = vec![("tenant_id", Ty::Text, Some(Class::Tenant)), ("n", Ty::Int, None)];
        Call { tree, columns, defined: true }
    }
}

/// A column definition list.
fn definitions(columns: &[(&'static str, Ty, Option<Class>)]) -> String {
    columns.iter().map(|(name, ty, _)| format!("{name} {}", type_of(*ty))).collect::<Vec<_>>().join(", ")
}

fn type_of(ty: Ty) -> &'static str {
    if ty == Ty::Int { "integer" } else { "text" }
}
