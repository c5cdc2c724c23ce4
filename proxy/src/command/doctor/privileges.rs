//! The role upstream: what it may do that nobody who comes through the proxy may. Grants are the
//! first wall; a role that owns the tables or ignores row-level security has none.

use std::time::Duration;

use pgmoat_policy::policy::{Entry, Role, listed};
use pgmoat_policy::{Kind, Policy};
use serde::Deserialize;

use super::report::Report;
use crate::command::upstream::Session;

/// What `privileges.sql` answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "PostgreSQL's own flags")]
pub(super) struct Privileges {
    user: String,
    superuser: bool,
    bypassrls: bool,
    createrole: bool,
    createdb: bool,
    replication: bool,
    create_schema: bool,
    member_of: Vec<String>,
    create_in: Vec<String>,
    row_security_off: Vec<[String; 2]>,
    logins: Vec<String>,
    relations: Vec<Grants>,
}

/// What the role may do with a relation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "PostgreSQL's own privileges")]
struct Grants {
    schema: String,
    name: String,
    owned: bool,
    select: bool,
    insert: bool,
    update: bool,
    delete: bool,
    truncate: bool,
}

/// Asks the server.
pub(super) fn ask(session: &mut Session) -> Result<Privileges, String> {
    let cells = session.ask(PRIVILEGES_SQL, TIMEOUT)?;
    let [text] = cells.as_slice() else { return Err("the server did not send one row".to_owned()) };
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Compares them with what the policy lets anybody do.
pub(super) fn compare(about: &str, privileges: &Privileges, policy: &Policy, report: &mut Report) {
    let Privileges { user, .. } = privileges;
    if privileges.superuser {
        let text =
            format!("role {user} is a superuser: no grant and no row-level security is behind the proxy");
        // Everything else follows from it.
        return report.error(about, text);
    }
    let before = report.warnings();
    if privileges.bypassrls {
        report.warning(about, format!("role {user} has BYPASSRLS: row-level security does not hold for it"));
    }
    for (has, what) in [
        (privileges.createrole, "CREATEROLE"),
        (privileges.createdb, "CREATEDB"),
        (privileges.replication, "REPLICATION"),
    ] {
        if has {
            report.warning(about, format!("role {user} has {what}, which no client needs"));
        }
    }
    memberships(about, privileges, report);
    relations(about, privileges, policy, report);
    if !privileges.logins.is_empty() {
        let text =
            format!("a way around the proxy: {} can log in and reach tables", privileges.logins.join(", "));
        report.advice(about, text, "let pg_hba.conf take these from nowhere that clients are");
    }
    if report.warnings() == before {
        report.good(about, format!("role {user} may do nothing that no client may"));
    }
}

fn memberships(about: &str, privileges: &Privileges, report: &mut Report) {
    let Privileges { user, .. } = privileges;
    let strong: Vec<&str> =
        privileges.member_of.iter().map(String::as_str).filter(|role| POWERFUL.contains(role)).collect();
    if !strong.is_empty() {
        report.warning(about, format!("role {user} is a member of {}", strong.join(", ")));
    }
    if privileges.create_schema || !privileges.create_in.is_empty() {
        let mut places = privileges.create_in.clone();
        if privileges.create_schema {
            places.push("new schemas".to_owned());
        }
        report.advice(
            about,
            format!("role {user} can create objects in {}", places.join(", ")),
            format!("REVOKE CREATE ON SCHEMA … FROM {user} (and from PUBLIC)"),
        );
    }
    if !privileges.row_security_off.is_empty() {
        let names: Vec<String> = privileges.row_security_off.iter().map(|name| name.join(".")).collect();
        report.advice(
            about,
            format!("row-level security does not hold for their owner {user}: {}", listed(&names)),
            "ALTER TABLE … FORCE ROW LEVEL SECURITY, or another owner",
        );
    }
}

fn relations(about: &str, privileges: &Privileges, policy: &Policy, report: &mut Report) {
    let Privileges { user, relations, .. } = privileges;
    let named = |pick: &dyn Fn(&Grants) -> bool| -> Vec<String> {
        relations.iter().filter(|grants| pick(grants)).map(|grants| grants.to_string()).collect()
    };
    let owned = named(&|grants| grants.owned);
    if !owned.is_empty() {
        let text =
            format!("role {user} owns, or can become the owner of, {}: it can drop them", listed(&owned));
        report.advice(about, text, "let another role own them, and grant what clients need");
    }
    let truncated = named(&|grants| grants.truncate && !grants.owned);
    if !truncated.is_empty() {
        report.warning(about, format!("role {user} may TRUNCATE {}", listed(&truncated)));
    }
    let unread = named(&|grants| grants.select && !grants.owned && !reads(policy, grants));
    if !unread.is_empty() {
        let text = format!("role {user} may read what no role of the policy may: {}", listed(&unread));
        report.advice(about, text, "revoke it");
    }
    for (kind, verb) in [(Kind::Insert, "INSERT"), (Kind::Update, "UPDATE"), (Kind::Delete, "DELETE")] {
        let has = |grants: &Grants| match kind {
            Kind::Insert => grants.insert,
            Kind::Update => grants.update,
            _ => grants.delete,
        };
        let unwritten = named(&|grants| has(grants) && !grants.owned && !writes(policy, grants, kind));
        if !unwritten.is_empty() {
            let text =
                format!("role {user} may {verb} where no role of the policy may: {}", listed(&unwritten));
            report.advice(about, text, "revoke it");
        }
    }
}

fn reads(policy: &Policy, grants: &Grants) -> bool {
    policy.roles().any(|role| role.unrestricted || role.allows_relation(&grants.schema, &grants.name))
}

fn writes(policy: &Policy, grants: &Grants, kind: Kind) -> bool {
    policy.roles().any(|role| role.unrestricted || may_write(policy, role, grants, kind))
}

fn may_write(policy: &Policy, role: &Role, grants: &Grants, kind: Kind) -> bool {
    let (schema, name) = (grants.schema.as_str(), grants.name.as_str());
    let copies = kind == Kind::Insert && role.kinds.contains(Kind::CopyFrom);
    let kinds = role.kinds.contains(kind) || role.kinds.contains(Kind::Merge) || copies;
    let tenancy = match policy.entry(schema, name) {
        _ if !role.tenant_bound() => true,
        Some(Entry::Scoped { .. }) => true,
        Some(Entry::Shared) => role.writes_shared(schema, name),
        None => false,
    };
    kinds && tenancy && role.allows_relation(schema, name)
}

impl std::fmt::Display for Grants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

const PRIVILEGES_SQL: &str = include_str!("privileges.sql");
const TIMEOUT: Duration = Duration::from_secs(30);
/// Predefined roles that reach past grants.
const POWERFUL: [&str; 8] = [
    "pg_read_all_data",
    "pg_write_all_data",
    "pg_execute_server_program",
    "pg_read_server_files",
    "pg_write_server_files",
    "pg_signal_backend",
    "pg_monitor",
    "pg_maintain",
];
