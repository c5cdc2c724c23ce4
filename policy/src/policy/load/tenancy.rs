//! `tenancy:` and `tenants:`.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Load, identifier};
use crate::policy::document::{Content, Node};
use crate::policy::own::Called;
use crate::policy::pattern::{Index, Pattern};
use crate::policy::{ColumnRule, Policy, Problem, Role, Tenancy, TenancyRule, Tenants};
use crate::{ErrorPosture, Kind};

impl Load {
    pub(super) fn tenancy(&mut self, node: Option<&Node>) -> Tenancy {
        let get = |key| node.and_then(|node| node.get(key));
        let (literal, bound) = self.proof(get("proof"));
        let rules = self.tables(get("tables"));
        let index = Index::new(rules.iter().map(|rule| &rule.pattern.what));
        self.unreachable(&rules, &index);
        Tenancy {
            literal,
            bound,
            rules,
            index,
            errors: self.errors(get("errors")),
            error_budget: get("error_budget")
                .and_then(Node::integer)
                .and_then(|budget| u32::try_from(budget).ok())
                .unwrap_or(ERROR_BUDGET_PER_MINUTE),
            trust_keys: self.names(get("trust_keys"), "schema.table.column"),
        }
    }

    fn proof(&mut self, node: Option<&Node>) -> (bool, bool) {
        let Some(node) = node else { return (true, true) };
        if node.items().is_empty() && matches!(node.content, Content::List(_)) {
            self.warning(&node.place, "nothing is a proof: no statement over tenants' rows will pass");
        }
        let names = |word| node.items().iter().any(|item| item.text() == Some(word));
        (names("literal"), names("bound"))
    }

    fn tables(&mut self, node: Option<&Node>) -> Vec<TenancyRule> {
        let items = node.map(Node::items).unwrap_or_default();
        items.iter().filter_map(|item| self.table(item)).collect()
    }

    fn table(&mut self, item: &Node) -> Option<TenancyRule> {
        let text = item.get("match")?;
        let pattern = self.placed(text, text.text()?, Pattern::parse);
        let column = match (item.get("column"), item.get("shared").map(Node::boolean)) {
            (Some(column), None) => {
                let name = column.text()?;
                if let Err(problem) = identifier(name) {
                    self.error(&column.place, problem);
                }
                Some(Arc::from(name))
            }
            (None, Some(Some(true))) => None,
            (None, Some(None)) => return None,
            (Some(_), Some(_)) | (None, Some(Some(false)) | None) => {
                let problem =
                    Problem::error(item.place.clone(), "write either \"column\" or \"shared: true\"");
                self.problems.push(problem);
                return None;
            }
        };
        Some(TenancyRule { pattern: pattern?, column })
    }

    /// A line whose pattern, as it is written, an earlier one covers.
    fn unreachable(&mut self, rules: &[TenancyRule], index: &Index) {
        for (number, rule) in rules.iter().enumerate() {
            let Some((schema, name)) = rule.pattern.what.exact() else { continue };
            let first = index.first(schema, name).filter(|first| *first < number);
            if let Some(earlier) = first.and_then(|first| rules.get(first)) {
                let line = earlier.pattern.place.line;
                let message =
                    format!("never used: \"{}\" on line {line} matches first", earlier.pattern.what);
                self.warning(&rule.pattern.place, message);
            }
        }
    }

    fn errors(&mut self, node: Option<&Node>) -> ErrorPosture {
        let Some((node, word)) = node.and_then(|node| Some((node, node.text()?))) else {
            return ErrorPosture::Redact;
        };
        match word {
            "pass" => {
                self.warning(&node.place, "error messages can carry other tenants' values");
                ErrorPosture::Pass
            }
            "deny" => ErrorPosture::Deny,
            _ => ErrorPosture::Redact,
        }
    }

    pub(super) fn tenants(&mut self, node: Option<&Node>) -> Tenants {
        let mut tenants = Tenants::default();
        let mut taken: HashMap<(&str, Called), &str> = HashMap::new();
        for tenant in node.map(Node::entries).unwrap_or_default() {
            if tenant.key.is_empty() || tenant.key.contains(char::is_control) {
                self.error(&tenant.place, "a tenant needs a name without control characters");
            }
            for column in tenant.value.entries() {
                let called = match &column.value.content {
                    Content::Integer(value) => Called::Integer(*value, value.to_string().into()),
                    Content::Text(text) => Called::Text(Arc::from(&**text)),
                    Content::Null
                    | Content::Boolean(_)
                    | Content::Number
                    | Content::List(_)
                    | Content::Map(_) => continue,
                };
                if let Some(other) = taken.insert((&column.key, called.clone()), &tenant.key) {
                    let message =
                        format!("tenant \"{other}\" is called the same: their rows would be one tenant's");
                    self.error(&column.value.place, message);
                }
                let by_tenant = tenants.by_column.entry(column.key.clone()).or_default();
                by_tenant.insert(tenant.key.clone(), called);
            }
        }
        tenants
    }

    pub(super) fn tenants_have_tables(&mut self, policy: &Policy) {
        if policy.tenancy.rules.is_empty() {
            for role in policy.roles.values().filter(|role| role.tenant_bound()) {
                self.warning(&role.place, "its principals reach no relation: tenancy.tables is empty");
            }
        }
    }

    /// A trusted key holds only while no tenant can make it point elsewhere (policy 3.1).
    pub(super) fn trusted_keys_are_not_writable(&mut self, policy: &Policy) {
        for key in &policy.tenancy.trust_keys {
            let [schema, table, column] = &key.what;
            let writer = policy.roles.values().find(|role| writes(role, schema, table, column));
            if let Some(role) = writer {
                let message = format!(
                    "role \"{}\" can write this column, so the key can be made to cross tenants",
                    role.name
                );
                self.error(&key.place, message);
            }
        }
    }
}

fn writes(role: &Role, schema: &str, table: &str, column: &str) -> bool {
    let kinds = |kinds: &[Kind]| kinds.iter().any(|kind| role.kinds.contains(*kind));
    let assigns = match role.column(schema, table, column) {
        ColumnRule::Denied => false,
        ColumnRule::Plain | ColumnRule::Masked(_) => kinds(&[Kind::Update]),
    };
    role.tenant_bound()
        && role.allows_relation(schema, table)
        && (assigns || kinds(&[Kind::Insert, Kind::Merge, Kind::CopyFrom]))
}

const ERROR_BUDGET_PER_MINUTE: u32 = 100;
