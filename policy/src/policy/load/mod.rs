//! From the file's tree to a [`Policy`]: what the shape alone cannot say.
//!
//! Every function here takes what is well-formed and reports what is not; none stops. The policy
//! exists only if nothing was an error.

mod roles;
mod tenancy;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::document::{self, Node};
use super::keys::POLICY_FILE;
use super::pattern::{self, Pattern, Placed};
use super::role::Patterns;
use super::{Place, Policy, Problem, Role};

/// A policy and what is doubtful about it.
#[derive(Debug)]
pub struct Loaded {
    /// The policy.
    pub policy: Policy,
    /// Problems that do not keep it from being used.
    pub warnings: Vec<Problem>,
}

impl Policy {
    /// Reads a policy file's text; `file` is its name in problems.
    ///
    /// # Errors
    /// Everything that is wrong with it, warnings included, in the order of the file.
    pub fn load(text: &str, file: &str) -> Result<Loaded, Vec<Problem>> {
        let (root, mut problems) = document::read(text, file);
        let Some(root) = root else { return Err(problems) };
        document::conform(&root, &POLICY_FILE, &mut problems);
        let mut load = Load { problems };
        let policy = load.policy(&root);
        let mut problems = load.problems;
        problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
        if problems.iter().any(Problem::is_error) {
            return Err(problems);
        }
        Ok(Loaded { policy, warnings: problems })
    }
}

/// Collects problems while it builds.
struct Load {
    problems: Vec<Problem>,
}

impl Load {
    fn policy(&mut self, root: &Node) -> Policy {
        let version = root.get("version").and_then(Node::integer).unwrap_or_default();
        let mut policy = Policy {
            version: u64::try_from(version).unwrap_or_default(),
            search_path: self.search_path(root.get("search_path")),
            search_path_place: root.get("search_path").unwrap_or(root).place.clone(),
            roles: self.roles(root),
            tenancy: self.tenancy(root.get("tenancy")),
            tenants: self.tenants(root.get("tenants")),
            trusted_rules: Vec::new(),
            trusted_triggers: Vec::new(),
        };
        if let Some(trusted) = root.get("trusted") {
            policy.trusted_rules = self.names(trusted.get("rules"), "schema.table");
            policy.trusted_triggers = self.names(trusted.get("triggers"), "schema.table.trigger");
        }
        self.trusted_keys_are_not_writable(&policy);
        if !self.problems.iter().any(Problem::is_error) {
            self.tenants_have_tables(&policy);
        }
        policy
    }

    fn search_path(&mut self, node: Option<&Node>) -> Vec<Box<str>> {
        let Some(node) = node else { return vec!["public".into()] };
        let mut path: Vec<Box<str>> = Vec::new();
        for item in node.items() {
            let Some(schema) = item.text() else { continue };
            if let Err(problem) = identifier(schema) {
                self.error(&item.place, problem);
            } else if schema == "pg_catalog" {
                let problem = Problem::error(item.place.clone(), "pg_catalog is always searched, and first");
                self.problems.push(problem.help("leave it out"));
            } else if schema.starts_with("pg_") || schema.contains('$') {
                self.error(&item.place, format!("\"{schema}\" is not one fixed schema"));
            } else if path.iter().any(|earlier| **earlier == *schema) {
                self.error(&item.place, format!("\"{schema}\" stands twice"));
            } else {
                path.push(schema.into());
            }
        }
        path
    }

    /// The patterns of a list.
    fn patterns(&mut self, node: Option<&Node>) -> Patterns {
        Patterns::new(self.each(node, Pattern::parse))
    }

    /// Dotted names without stars of a list.
    fn names<const N: usize>(&mut self, node: Option<&Node>, form: &str) -> Vec<Placed<[Box<str>; N]>> {
        self.each(node, |text| pattern::exact(text, form))
    }

    /// What each text of a list reads as.
    fn each<T>(&mut self, node: Option<&Node>, parse: impl Fn(&str) -> Result<T, String>) -> Vec<Placed<T>> {
        let items = node.map(Node::items).unwrap_or_default();
        items.iter().filter_map(|item| self.placed(item, item.text()?, &parse)).collect()
    }

    fn placed<T>(
        &mut self,
        node: &Node,
        text: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<Placed<T>> {
        match parse(text) {
            Ok(what) => Some(Placed { what, place: node.place.clone() }),
            Err(message) => {
                self.error(&node.place, message);
                None
            }
        }
    }

    fn error(&mut self, place: &Place, message: impl Into<String>) {
        self.problems.push(Problem::error(place.clone(), message));
    }

    fn warning(&mut self, place: &Place, message: impl Into<String>) {
        self.problems.push(Problem::warning(place.clone(), message));
    }

    fn roles(&mut self, root: &Node) -> BTreeMap<Arc<str>, Role> {
        let Some(node) = root.get("roles") else { return BTreeMap::new() };
        if node.entries().is_empty() {
            self.error(&node.place, "there is no role");
        }
        node.entries().iter().map(|entry| (Arc::from(&*entry.key), self.role(entry, root))).collect()
    }
}

/// A name that PostgreSQL can hold.
fn identifier(name: &str) -> Result<(), String> {
    if name.is_empty() || name.contains(char::is_control) {
        return Err(format!("\"{}\" is no name", name.escape_debug()));
    }
    if name.len() > NAME_MAX_BYTES {
        return Err(format!("\"{name}\" is longer than PostgreSQL's {NAME_MAX_BYTES} bytes"));
    }
    Ok(())
}

/// PostgreSQL's NAMEDATALEN - 1.
const NAME_MAX_BYTES: usize = 63;
