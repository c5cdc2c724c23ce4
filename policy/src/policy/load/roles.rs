//! `roles:` and `limits:`.

use std::time::Duration;

use super::Load;
use crate::policy::document::{Entry, Node};
use crate::policy::pattern::{ColumnPattern, Columns, Placed};
use crate::policy::role::{ColumnRules, Functions, Relations, Setting};
use crate::policy::{CatalogRule, ExplainRule, KindSet, Limits, Problem, Role, TenantRule};
use crate::{Kind, LimitName, Mask, Over, RowCap};

impl Load {
    /// A role; what it does not say, the file's top says for every role.
    pub(super) fn role(&mut self, entry: &Entry, root: &Node) -> Role {
        let node = &entry.value;
        self.role_name(entry);
        let either = |key| node.get(key).or_else(|| root.get(key)).and_then(Node::text);
        let relations = node.get("relations");
        let role = Role {
            name: (&*entry.key).into(),
            place: entry.place.clone(),
            tenant: match node.get("tenant").and_then(Node::text) {
                Some("exempt") => TenantRule::Exempt,
                Some(_) | None => TenantRule::Required,
            },
            kinds: kinds(node.get("statements")),
            unrestricted: node.get("unrestricted").and_then(Node::boolean).unwrap_or(false),
            explain: match either("explain") {
                Some("plain") => ExplainRule::Plain,
                Some("analyze") => ExplainRule::Analyze,
                Some(_) | None => ExplainRule::Deny,
            },
            system_catalogs: match either("system_catalogs") {
                Some("introspection") => CatalogRule::Introspection,
                Some("allow") => CatalogRule::Allow,
                Some(_) | None => CatalogRule::Deny,
            },
            limits: limits(node, root),
            rows: of_limits("rows", node, root).and_then(row_cap),
            timeout: of_limits("timeout_ms", node, root).and_then(milliseconds),
            relations: Relations {
                allow: self.patterns(relations.and_then(|node| node.get("allow"))),
                deny: self.patterns(relations.and_then(|node| node.get("deny"))),
                write_shared: self.patterns(relations.and_then(|node| node.get("write_shared"))),
            },
            columns: self.columns(node),
            functions: self.functions(node.get("functions")),
            settings: self.settings(node.get("settings")),
        };
        self.role_lints(&role, node);
        role
    }

    /// `--as` writes a principal as `role:tenant`.
    fn role_name(&mut self, entry: &Entry) {
        if entry.key.is_empty() || entry.key.contains(|c: char| c == ':' || c.is_control()) {
            self.error(&entry.place, "a role needs a name without a colon and control characters");
        }
    }

    fn role_lints(&mut self, role: &Role, node: &Node) {
        let at = |key| node.get(key).map_or(&role.place, |node: &Node| &node.place);
        if role.unrestricted && role.tenant_bound() {
            self.error(at("unrestricted"), "only with \"tenant: exempt\"");
        } else if role.unrestricted {
            self.warning(at("unrestricted"), "nothing is refused to this role");
        }
        if role.tenant_bound() && role.explain != ExplainRule::Deny {
            self.warning(at("explain"), "tenants learn others' statistics from EXPLAIN");
        }
        if role.tenant_bound() && role.system_catalogs == CatalogRule::Allow {
            self.warning(
                at("system_catalogs"),
                "tenants learn others' statistics and doings from the catalogs",
            );
        }
        for pattern in &role.relations.write_shared.written {
            self.warning(&pattern.place, "every tenant sees what this role writes there");
        }
    }

    fn columns(&mut self, role: &Node) -> ColumnRules {
        let node = role.get("columns");
        let denied = self.each(node.and_then(|node| node.get("deny")), ColumnPattern::parse);
        let system = node.and_then(|node| node.get("system")).map(Node::items).unwrap_or_default();
        let (patterns, masks) = self.masks(role.get("masks"));
        ColumnRules {
            denied: Columns::new(denied),
            masked: Columns::new(patterns),
            masks,
            system: system.iter().filter_map(|item| Some(item.text()?.into())).collect(),
        }
    }

    fn masks(&mut self, node: Option<&Node>) -> (Vec<Placed<ColumnPattern>>, Vec<Placed<Mask>>) {
        let mut patterns: Vec<Placed<ColumnPattern>> = Vec::new();
        let mut masks = Vec::new();
        for item in node.map(Node::items).unwrap_or_default() {
            let column = item
                .get("column")
                .and_then(|column| self.placed(column, column.text()?, ColumnPattern::parse));
            let mask = self.mask(item);
            let (Some(column), Some(mask)) = (column, mask) else { continue };
            if let Some(first) = patterns.iter().find(|earlier| earlier.what == column.what) {
                let message = format!("masked twice, first on line {}", first.place.line);
                self.error(&column.place, message);
            }
            masks.push(Placed { what: mask, place: item.place.clone() });
            patterns.push(column);
        }
        (patterns, masks)
    }

    fn mask(&mut self, item: &Node) -> Option<Mask> {
        let kind = item.get("kind")?.text()?;
        let keep = item.get("keep");
        let value = item.get("value");
        if let Some(keep) = keep.filter(|_| kind != "partial") {
            self.error(&keep.place, "only with \"kind: partial\"");
        }
        if let Some(value) = value.filter(|_| kind != "fixed") {
            self.error(&value.place, "only with \"kind: fixed\"");
        }
        match kind {
            "null" => Some(Mask::Null),
            "hash" => Some(Mask::Hash),
            "token" => Some(Mask::Token),
            "partial" => {
                let keep = self.with(item, keep, "keep: 2").and_then(Node::integer)?;
                Some(Mask::Partial { keep: u32::try_from(keep).ok()? })
            }
            "fixed" => {
                let value = self.with(item, value, "value: \"***\"").and_then(Node::text)?;
                Some(Mask::Fixed(value.to_owned()))
            }
            _ => None,
        }
    }

    fn with<'a>(&mut self, item: &Node, value: Option<&'a Node>, example: &str) -> Option<&'a Node> {
        if value.is_none() {
            let problem = Problem::error(item.place.clone(), "this kind of mask needs one more key");
            self.problems.push(problem.help(format!("add, for example, {example}")));
        }
        value
    }

    fn functions(&mut self, node: Option<&Node>) -> Functions {
        let get = |key| node.and_then(|node| node.get(key));
        Functions {
            standard: get("preset").and_then(Node::text) == Some("standard"),
            allow: self.patterns(get("allow")),
            deny: self.patterns(get("deny")),
        }
    }

    fn settings(&mut self, node: Option<&Node>) -> Vec<Setting> {
        let allow = self.each(node.and_then(|node| node.get("allow")), setting);
        allow.into_iter().map(|setting| setting.what).collect()
    }
}

fn kinds(node: Option<&Node>) -> KindSet {
    let items = node.map(Node::items).unwrap_or_default();
    let named = items
        .iter()
        .filter_map(Node::text)
        .filter_map(|name| Kind::ALL.into_iter().find(|kind| kind.name() == name));
    named.fold(KindSet::default(), KindSet::with)
}

fn limits(role: &Node, root: &Node) -> Limits {
    let mut limits = Limits::default();
    for name in LimitName::ALL {
        let value = of_limits(name.name(), role, root).and_then(Node::integer);
        if let Some(value) = value.and_then(|value| usize::try_from(value).ok()) {
            limits.set(name, value);
        }
    }
    limits
}

/// A key of the role's `limits:`, else of the file's.
fn of_limits<'a>(key: &str, role: &'a Node, root: &'a Node) -> Option<&'a Node> {
    [role, root].into_iter().find_map(|node| node.get("limits")?.get(key))
}

fn row_cap(node: &Node) -> Option<RowCap> {
    let max = node.integer().or_else(|| node.get("max")?.integer())?;
    let over = match node.get("over").and_then(Node::text) {
        Some("cut") => Over::Cut,
        Some(_) | None => Over::Error,
    };
    Some(RowCap { max: u64::try_from(max).ok()?, over })
}

fn milliseconds(node: &Node) -> Option<Duration> {
    Some(Duration::from_millis(u64::try_from(node.integer()?).ok()?))
}

/// A setting's name, or `prefix.*`. What the proxy pins, and who the session is, is nobody's to
/// list (policy 4.7).
fn setting(text: &str) -> Result<Setting, String> {
    let lower = text.to_ascii_lowercase();
    let (name, star) = match lower.strip_suffix('*') {
        Some(prefix) => (prefix, true),
        None => (&*lower, false),
    };
    let word =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
    let parts = if star { name.strip_suffix('.') } else { Some(name) };
    if !parts.is_some_and(|parts| parts.split('.').all(word)) {
        return Err(format!("\"{text}\" is no setting: write its name, or prefix.* for custom ones"));
    }
    if NOT_A_ROLES.contains(&name) {
        return Err(format!("\"{text}\" is never a client's to choose"));
    }
    Ok(if star { Setting::Under(name.into()) } else { Setting::Exact(name.into()) })
}

const NOT_A_ROLES: [&str; 7] = [
    "role",
    "session_authorization",
    "search_path",
    "client_encoding",
    "standard_conforming_strings",
    "row_security",
    "session_replication_role",
];
