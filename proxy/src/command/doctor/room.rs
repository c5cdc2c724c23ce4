//! Whether the server has room for all the connections that the pools of a database may make.

use std::collections::HashSet;
use std::time::Duration;

use super::report::Report;
use crate::command::upstream::Session;
use crate::config::{Config, Database};

/// Compares the pools' limits with the server's, the database's and the role's.
pub(super) fn look(
    about: &str,
    config: &Config,
    database: &Database,
    session: &mut Session,
    report: &mut Report,
) {
    let room = match session.ask(ROOM_SQL, TIMEOUT) {
        Ok(cells) => cells.first().and_then(|cell| cell.parse::<usize>().ok()),
        Err(error) => return report.error(about, format!("the server's limits cannot be read: {error}")),
    };
    let Some(room) = room else { return };
    let (pools, each) = (pools(config, database), database.pool.size.saturating_add(database.pool.reserve));
    // The one that reads the catalog.
    let wanted = pools.saturating_mul(each).saturating_add(1);
    if wanted > room {
        let of = if pools > 1 { format!("{pools} pools of {each}") } else { format!("{each}") };
        report.advice(
            about,
            format!("the proxy may want {wanted} connections ({of}, and one for the catalog), and the server has room for {room}"),
            "lower pool.size, or raise max_connections, the database's or the role's connection limit",
        );
    }
}

/// One, or where its settings name the tenant one for each tenant and one for users without.
fn pools(config: &Config, database: &Database) -> usize {
    if database.tenant_settings().is_empty() {
        return 1;
    }
    let may = |databases: &Option<Vec<Box<str>>>| {
        databases.as_ref().is_none_or(|names| names.contains(&database.name))
    };
    let users = config.users.iter().filter(|user| may(&user.databases));
    users.map(|user| user.tenant.as_deref()).collect::<HashSet<_>>().len().max(1)
}

/// What is left of the server's connections without those that are kept for others, or what the database or the role may
/// have, if that is less. (`reserved_connections` is there from PostgreSQL 16 on.)
const ROOM_SQL: &str = "SELECT least(current_setting('max_connections')::int \
     - current_setting('superuser_reserved_connections')::int \
     - coalesce(current_setting('reserved_connections', true), '0')::int, \
     nullif(d.datconnlimit, -1), nullif(r.rolconnlimit, -1))::text \
     FROM pg_catalog.pg_database d, pg_catalog.pg_roles r \
     WHERE d.datname = current_database() AND r.rolname = current_user";
const TIMEOUT: Duration = Duration::from_secs(10);
