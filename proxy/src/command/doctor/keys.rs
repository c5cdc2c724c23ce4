//! Foreign keys from one tenant's table to another that lack the tenant column (policy 3.1, keys
//! carry): how many rows cross tenants by them, and the composite key that would prove that none
//! does.

use std::collections::BTreeSet;
use std::time::Duration;

use pgmoat_policy::catalog::{Column, ForeignKey, QualifiedName, Relation};
use pgmoat_policy::policy::Entry;
use pgmoat_policy::{Catalog, Policy, TenantColumnClass};

use super::report::Report;
use crate::command::upstream::Session;

/// Counts, key by key.
pub(super) fn verify(
    about: &str,
    session: &mut Session,
    policy: &Policy,
    catalog: &Catalog,
    report: &mut Report,
) {
    let open: Vec<Crossing<'_>> =
        catalog.foreign_keys().filter_map(|key| Crossing::of(key, policy, catalog)).collect();
    if open.is_empty() {
        return report.good(about, "every foreign key between tenants' tables has the tenant column");
    }
    let mut added = BTreeSet::new();
    for crossing in open {
        let name = crossing.name();
        let remedy = crossing.remedy(&mut added);
        match crossing.count(session, policy) {
            Ok(0) => report.advice(about, format!("{name}: no row crosses tenants today"), remedy),
            Ok(rows) => {
                let text = format!("{name}: {rows} rows point at another tenant's row");
                report.error(about, text);
                report.advice(about, format!("{name}: once these rows are mended"), remedy);
            }
            Err(error) => {
                report.error(about, format!("{name}: the rows cannot be counted: {error}"));
                // After an error the session is of no use.
                return;
            }
        }
    }
}

/// A key between two scoped relations that does not pair their tenant columns.
struct Crossing<'c> {
    key: &'c ForeignKey,
    own: &'c Column,
    referenced: &'c Relation,
    other: &'c Column,
}

impl<'c> Crossing<'c> {
    fn of(key: &'c ForeignKey, policy: &Policy, catalog: &'c Catalog) -> Option<Crossing<'c>> {
        let side = |name: &QualifiedName| {
            let relation = catalog.relation(&name.schema, &name.name)?;
            let column = match policy.entry(&name.schema, &name.name)? {
                Entry::Scoped { column } => relation.column(column)?,
                Entry::Shared => return None,
            };
            Some((relation, column))
        };
        let ((relation, own), (referenced, other)) = (side(&key.relation)?, side(&key.references)?);
        let paired = key.pairs.iter().any(|pair| pair.column == own.name && pair.referenced == other.name)
            || relation.proves(key, &own.name, &other.name);
        (!paired && !relation.is_partition).then_some(Crossing { key, own, referenced, other })
    }

    fn name(&self) -> String {
        let columns: Vec<&str> = self.key.pairs.iter().map(|pair| &*pair.column).collect();
        format!("{} ({}) to {}", self.key.relation, columns.join(", "), self.key.references)
    }

    fn count(&self, session: &mut Session, policy: &Policy) -> Result<u64, String> {
        let Some(same) = self.same_tenant(policy) else {
            return Err("their tenant columns have nothing in common".to_owned());
        };
        let join: Vec<String> = self
            .key
            .pairs
            .iter()
            .map(|pair| format!("a.{} = b.{}", quoted(&pair.column), quoted(&pair.referenced)))
            .collect();
        let sql = format!(
            "SELECT count(*)::text FROM {} AS a JOIN {} AS b ON {} WHERE ({same}) IS NOT TRUE",
            qualified(&self.key.relation),
            qualified(&self.key.references),
            join.join(" AND ")
        );
        let cells = session.ask(&sql, COUNT_TIMEOUT)?;
        let [count] = cells.as_slice() else { return Err("the server did not send one row".to_owned()) };
        count.parse().map_err(|_| "the server did not send a number".to_owned())
    }

    /// The condition that both rows are one tenant's.
    fn same_tenant(&self, policy: &Policy) -> Option<String> {
        let (own, other) = (quoted(&self.own.name), quoted(&self.other.name));
        let class = |column: &Column| TenantColumnClass {
            column: column.name.clone(),
            family: column.family.clone(),
        };
        let (mine, theirs) = (class(self.own), class(self.other));
        let pairs: Vec<String> = policy
            .tenants()
            .filter_map(|tenant| Some((policy.own(tenant, &mine)?, policy.own(tenant, &theirs)?)))
            .map(|(mine, theirs)| format!("({}, {})", literal(&mine.text()), literal(&theirs.text())))
            .collect();
        if mine == theirs {
            return Some(format!("a.{own} = b.{other}"));
        }
        (!pairs.is_empty()).then(|| format!("(a.{own}::text, b.{other}::text) IN ({})", pairs.join(", ")))
    }

    /// The DDL of the key that would prove it; `added` are the unique keys that earlier ones add.
    fn remedy(&self, added: &mut BTreeSet<String>) -> String {
        if self.own.family != self.other.family {
            return "their tenant columns differ in type: no key can pair them; give both tables one tenant column"
                .to_owned();
        }
        let columns = |first: &str, rest: &dyn Fn(usize) -> Option<String>| {
            let rest = (0..self.key.pairs.len()).filter_map(rest);
            std::iter::once(quoted(first)).chain(rest).collect::<Vec<_>>().join(", ")
        };
        let referencing =
            columns(&self.own.name, &|at| self.key.pairs.get(at).map(|pair| quoted(&pair.column)));
        let referenced =
            columns(&self.other.name, &|at| self.key.pairs.get(at).map(|pair| quoted(&pair.referenced)));
        let mut ddl = String::new();
        if !self.has_unique_key() {
            let unique =
                format!("ALTER TABLE {} ADD UNIQUE ({referenced});\n", qualified(&self.key.references));
            if added.insert(unique.clone()) {
                ddl = unique;
            }
        }
        ddl.push_str(&format!(
            "ALTER TABLE {} ADD FOREIGN KEY ({referencing}) REFERENCES {} ({referenced});",
            qualified(&self.key.relation),
            qualified(&self.key.references)
        ));
        ddl
    }

    /// The referenced table has the unique key that a composite foreign key needs.
    fn has_unique_key(&self) -> bool {
        let needed = || {
            let rest = self.key.pairs.iter().map(|pair| &*pair.referenced);
            std::iter::once(&*self.other.name).chain(rest)
        };
        self.referenced.unique_keys.iter().filter(|key| key.is_plain()).any(|key| {
            let has = |name: &str| key.columns.iter().any(|column| column.name.as_deref() == Some(name));
            key.columns.len() == needed().count() && needed().all(has)
        })
    }
}

fn qualified(name: &QualifiedName) -> String {
    format!("{}.{}", quoted(&name.schema), quoted(&name.name))
}

/// A name as SQL reads it back, whatever keyword it is.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// standard_conforming_strings is pinned on.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// One key: whole tables are joined.
const COUNT_TIMEOUT: Duration = Duration::from_secs(600);
