//! A first policy for a database that has none: what its schema suggests, and a `# DECIDE:` for
//! everything that only a person can know.
//!
//! INVARIANT (closed): a draft opens nothing that a person has not been asked about: relations
//! without a tenant column, functions and keys are proposed in comments.

mod guess;

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use crate::Catalog;
use crate::catalog::{ForeignKey, Function, QualifiedName, Relation, Volatility};
use crate::policy::listed;
use guess::Guess;

/// Drafts a policy file from a catalog. It loads without errors.
pub fn draft(catalog: &Catalog) -> String {
    let mut out = String::new();
    // Writing to a String does not fail.
    let _ = write(&mut out, catalog, &Guess::of(catalog));
    out
}

fn write(out: &mut String, catalog: &Catalog, guess: &Guess<'_>) -> fmt::Result {
    writeln!(
        out,
        "# A draft from the schema of database {}, PostgreSQL {}.\n# Decide every line that says DECIDE, then run \
         pgmoat check.\nversion: 1",
        line(catalog.database()),
        catalog.server_major()
    )?;
    let path = guess.schemas().next().unwrap_or("public");
    writeln!(out, "# DECIDE: the schemas in which your clients' unqualified names are looked up.")?;
    writeln!(out, "search_path: [{}]\n", text(path))?;
    tenancy(out, catalog, guess)?;
    tenants(out, guess)?;
    roles(out, catalog, guess)
}

fn tenancy(out: &mut String, catalog: &Catalog, guess: &Guess<'_>) -> fmt::Result {
    writeln!(out, "tenancy:\n  proof: [literal, bound]")?;
    if guess.scoped().next().is_none() {
        writeln!(out, "  # DECIDE: no column looks like a tenant's. Entries look like this one:")?;
        writeln!(out, "  # - {{ match: \"public.*\", column: tenant_id }}\n  tables: []")?;
    } else {
        writeln!(out, "  tables:   # the first line that matches wins")?;
    }
    for schema in guess.schemas() {
        let Some((column, counted)) = guess.column(schema) else {
            let names: Vec<String> = guess.tables(schema).map(|table| line(&table.name.name)).collect();
            writeln!(
                out,
                "    # DECIDE: schema {} has no tenant column; out of reach of tenants: {}",
                line(schema),
                listed(&names)
            )?;
            continue;
        };
        for table in guess.tables(schema).filter(|table| guess.tenant_column(table).is_none()) {
            without_column(out, catalog, guess, table)?;
        }
        let (has, all) = counted;
        writeln!(out, "    # DECIDE: is {} the tenant's? It is in {has} of {all} tables.", line(column))?;
        let pattern = format!("{}.*", part(schema));
        writeln!(out, "    - {{ match: {}, column: {} }}", text(&pattern), text(column))?;
    }
    keys(out, catalog, guess)
}

/// A table that says nothing of whose its rows are.
fn without_column(out: &mut String, catalog: &Catalog, guess: &Guess<'_>, table: &Relation) -> fmt::Result {
    let name = line(&table.name.to_string());
    let scoped = |name: &QualifiedName| {
        catalog.relation(&name.schema, &name.name).is_some_and(|other| guess.tenant_column(other).is_some())
    };
    if let Some(key) = table.foreign_keys.iter().find(|key| scoped(&key.references)) {
        return writeln!(
            out,
            "    # DECIDE: {name} has no tenant column, but its rows belong to rows of {}: out of reach of tenants \
             until it has one.",
            line(&key.references.to_string())
        );
    }
    writeln!(
        out,
        "    # DECIDE: is {name} the same for every tenant, and may they all read it? Then:\n    # - {{ match: {}, \
         shared: true }}",
        text(&pattern(&table.name))
    )
}

fn keys(out: &mut String, catalog: &Catalog, guess: &Guess<'_>) -> fmt::Result {
    let mut open: BTreeSet<String> = BTreeSet::new();
    for key in catalog.foreign_keys() {
        let side = |name: &QualifiedName| {
            let relation = catalog.relation(&name.schema, &name.name)?;
            Some((relation, guess.tenant_column(relation)?))
        };
        let (Some((relation, own)), Some((_, other))) = (side(&key.relation), side(&key.references)) else {
            continue;
        };
        if relation.is_partition {
            continue;
        }
        let paired = key.pairs.iter().any(|pair| *pair.column == *own && *pair.referenced == *other);
        let name = format!("{} ({}) to {}", key.relation, columns(key), key.references);
        if paired && key.holds() {
            writeln!(out, "  # carries tenants: {}", line(&name))?;
        } else if let ([pair], false) = (&*key.pairs, paired || relation.proves(key, own, other)) {
            open.insert(format!("{}\n  # - {}", line(&name), text(&column(&key.relation, &pair.column))));
        }
    }
    if open.is_empty() {
        return writeln!(out);
    }
    writeln!(
        out,
        "  # DECIDE: these keys lack the tenant column, so a join by one of them alone is refused. A composite key\n  # \
         proves it (pgmoat doctor --verify-keys prints its DDL). Where no tenant may write the column, and every row\n  # \
         is known to stay with its tenant, it can be trusted:\n  # trust_keys:"
    )?;
    for key in open {
        writeln!(out, "  # {key}")?;
    }
    writeln!(out)
}

fn columns(key: &ForeignKey) -> String {
    key.pairs.iter().map(|pair| &*pair.column).collect::<Vec<_>>().join(", ")
}

/// Where tenants have more than one name.
fn tenants(out: &mut String, guess: &Guess<'_>) -> fmt::Result {
    let names: BTreeSet<&str> = guess.scoped().map(|(_, column)| column).collect();
    if names.len() < 2 {
        return writeln!(
            out,
            "# DECIDE: a tenant is called in its column as in the proxy's users; where it is called otherwise, say how:\n\
             # tenants:\n#   acme: {{ {}: 42 }}\n",
            names.first().map_or("tenant_id".to_owned(), |name| text(name))
        );
    }
    writeln!(
        out,
        "# DECIDE: the tenant columns have {} names; what is each tenant called in which?\n# tenants:",
        names.len()
    )?;
    let called: Vec<String> = names.iter().map(|name| format!("{}: …", text(name))).collect();
    writeln!(out, "#   acme: {{ {} }}\n", called.join(", "))
}

fn roles(out: &mut String, catalog: &Catalog, guess: &Guess<'_>) -> fmt::Result {
    let schemas: BTreeSet<&str> = guess.scoped().map(|(schema, _)| schema).collect();
    let allowed: Vec<String> = schemas.iter().map(|schema| text(&format!("{}.*", part(schema)))).collect();
    writeln!(
        out,
        "roles:\n  # DECIDE: the roles of your clients; this one reads and writes its tenant's rows.\n  app:\n    tenant: \
         required\n    statements: [select, insert, update, delete, transaction, set, show]\n    relations: {{ allow: \
         [{}] }}",
        allowed.join(", ")
    )?;
    let personal: Vec<String> = guess.personal().map(|(name, of)| text(&column(name, of))).collect();
    if !personal.is_empty() {
        writeln!(
            out,
            "    # DECIDE: these columns look personal or secret; who needs them?\n    # columns: {{ deny: [{}] }}",
            personal.join(", ")
        )?;
    }
    let functions: Vec<&Function> =
        catalog.all_functions().filter(|function| schemas.contains(&*function.name.schema)).collect();
    if !functions.is_empty() {
        writeln!(
            out,
            "    # DECIDE: functions of your own, whose inside no verdict looks into; put what reaches nobody else's rows\n    \
             # into functions.allow:"
        )?;
    }
    for function in functions {
        let name = text(&pattern(&function.name));
        writeln!(out, "    # - {name}   {}", traits(function))?;
    }
    writeln!(out, "    functions: {{ preset: standard, allow: [] }}\n")?;
    writeln!(
        out,
        "# DECIDE: what of the system catalogs drivers and tools may read: deny | introspection.\nsystem_catalogs: \
         introspection\nexplain: deny"
    )
}

fn traits(function: &Function) -> String {
    let volatility = match function.volatility {
        Volatility::Immutable => "immutable",
        Volatility::Stable => "stable",
        Volatility::Volatile => "volatile",
    };
    let definer = if function.security_definer { ", runs with its owner's rights" } else { "" };
    format!("{volatility}{definer}")
}

fn pattern(name: &QualifiedName) -> String {
    format!("{}.{}", part(&name.schema), part(&name.name))
}

fn column(relation: &QualifiedName, column: &str) -> String {
    format!("{}.{}", pattern(relation), part(column))
}

/// One part of a pattern, in double quotes where it would mean something else.
fn part(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    if !name.is_empty() && name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// A text as YAML and JSON both write it.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A name in a comment, which it cannot end.
fn line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
