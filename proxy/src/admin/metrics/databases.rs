//! Each database: whether it is served, its pool, the verdicts by shape.

use std::fmt;

use pgmoat_policy::CacheStats;
use pgmoat_upstream::{Cause, PoolStats};

use super::page::{Labels, Page, seconds_of};
use crate::shared::{Database, Shared};
use crate::ties::TieCount;

/// A database at this moment.
struct Row<'d> {
    name: &'d str,
    up: bool,
    size: u64,
    pool: PoolStats,
    ties: Vec<TieCount>,
    cache: CacheStats,
    policy: u64,
}

impl Row<'_> {
    fn of(database: &Database) -> Row<'_> {
        let rules = database.rules();
        Row {
            name: &database.name,
            up: database.is_reachable() && rules.is_some(),
            size: number(database.pools.size()),
            pool: database.pools.stats(),
            ties: database.ties.counts().collect(),
            cache: rules.as_ref().map(|rules| rules.verdicts.stats()).unwrap_or_default(),
            policy: rules.as_ref().map(|rules| rules.policy.version()).unwrap_or_default(),
        }
    }

    fn label(&self) -> Labels<'_, 1> {
        [("database", self.name)]
    }

    fn with<'r>(&'r self, name: &'static str, value: &'r str) -> Labels<'r, 2> {
        [("database", self.name), (name, value)]
    }
}

pub(super) fn write(shared: &Shared, page: &mut Page<'_>) -> fmt::Result {
    let mut rows: Vec<Row<'_>> = shared.databases.values().map(|database| Row::of(database)).collect();
    rows.sort_by_key(|row| row.name);
    page.gauges(
        "database_up",
        "1 while the server is reached and there is a catalog that the policy fits",
        each(&rows, |row| u64::from(row.up)),
    )?;
    page.gauges(
        "policy_version",
        "The policy in force; 0 while nothing is let through",
        each(&rows, |row| row.policy),
    )?;
    pools(&rows, page)?;
    cache(&rows, page)
}

fn pools(rows: &[Row<'_>], page: &mut Page<'_>) -> fmt::Result {
    page.gauges(
        "pool_size",
        "Connections at most, over all pools of the database",
        each(rows, |row| row.size),
    )?;
    let states = rows.iter().flat_map(|row| {
        [
            (row.with("state", "idle"), number(row.pool.idle)),
            (row.with("state", "in_use"), number(row.pool.in_use)),
        ]
    });
    page.gauges("pool_connections", "Connections at rest; leased, or being made for a lease", states)?;
    page.gauges(
        "pool_live",
        "All connections that there are, those being made included",
        each(rows, |row| number(row.pool.live)),
    )?;
    page.gauges(
        "pool_waiting",
        "Clients that wait for a connection",
        each(rows, |row| number(row.pool.waiting)),
    )?;
    page.gauges(
        "pool_down",
        "1 while no connection can be made",
        each(rows, |row| u64::from(row.pool.down)),
    )?;
    page.counters("pool_waits", "Times that a client had to wait", each(rows, |row| row.pool.waits))?;
    let waited = rows.iter().map(|row| (row.label(), seconds_of(row.pool.waited_us)));
    page.seconds("pool_wait", "How long clients have waited, in all", waited)?;
    page.counters("pool_timeouts", "Clients that waited too long", each(rows, |row| row.pool.timeouts))?;
    page.counters("pool_opened", "Connections made", each(rows, |row| row.pool.opened))?;
    page.counters("pool_failed", "Attempts to make one that failed", each(rows, |row| row.pool.failed))?;
    page.counters(
        "pool_reused",
        "Times that a client got a connection at rest",
        each(rows, |row| row.pool.reused),
    )?;
    let closed = rows.iter().flat_map(|row| {
        Cause::ALL.map(|cause| (row.with("cause", cause.name()), row.pool.destroyed_for(cause)))
    });
    page.counters("pool_closed", "Connections closed", closed)?;
    let tied = |of: fn(&TieCount) -> u64| {
        rows.iter().flat_map(move |row| {
            row.ties.iter().map(move |count| (row.with("reason", count.tie.label()), of(count)))
        })
    };
    page.gauges(
        "pool_pinned",
        "Sessions that keep a shared connection beyond their transaction",
        tied(|count| count.now),
    )?;
    page.counters(
        "pool_pins",
        "Times that a session began to keep a shared connection beyond its transaction",
        tied(|count| count.ever),
    )
}

/// They begin anew with each policy and catalog.
fn cache(rows: &[Row<'_>], page: &mut Page<'_>) -> fmt::Result {
    let found = rows.iter().flat_map(|row| {
        [(row.with("outcome", "hit"), row.cache.hits), (row.with("outcome", "miss"), row.cache.misses)]
    });
    page.counters("verdict_cache_lookups", "Texts whose verdict was there; texts that were judged", found)?;
    page.gauges(
        "verdict_cache_entries",
        "Shapes whose verdict is kept",
        each(rows, |row| number(row.cache.shapes)),
    )?;
    page.gauges("verdict_cache_bytes", "What they take, roughly", each(rows, |row| row.cache.bytes))
}

/// One figure of each database.
fn each<'r>(rows: &'r [Row<'r>], of: fn(&Row<'_>) -> u64) -> impl Iterator<Item = (Labels<'r, 1>, u64)> {
    rows.iter().map(move |row| (row.label(), of(row)))
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
