//! What a database contains, as one JSON text (format 1), and a cheap way to notice that it changed.
//!
//! There is no model of the catalog here: PostgreSQL writes the text, its reader is elsewhere.
//! Both queries run in a transaction of their own with an empty search_path and with every setting
//! that PostgreSQL's deparser obeys set to one value, so the same database gives the same bytes.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::connection::Connection;
use crate::exchange::{Answer, ExchangeError, ask};
use crate::frame::backend::TransactionStatus;

/// The whole catalog of the connection's database.
///
/// # Errors
///
/// After any error the connection must be dropped.
pub async fn read(connection: &mut Connection, limit: Duration) -> Result<String, CatalogError> {
    one_text(connection, CATALOG_SQL, MAX_CATALOG_BYTES, limit).await
}

/// A short text that changes whenever a committed change may have changed the catalog. Costs about
/// 2 ms on a small schema.
///
/// # Errors
///
/// After any error the connection must be dropped.
pub async fn version(connection: &mut Connection, limit: Duration) -> Result<String, CatalogError> {
    one_text(connection, VERSION_SQL, MAX_VERSION_BYTES, limit).await
}

/// The isolation level that the transactions of its kind of connection begin with where nobody says otherwise: what a role or a
/// database sets counts for the connections to come.
///
/// # Errors
///
/// After any error the connection must be dropped.
pub async fn default_isolation(connection: &mut Connection, limit: Duration) -> Result<String, CatalogError> {
    one_text(connection, ISOLATION_SQL, MAX_VERSION_BYTES, limit).await
}

async fn one_text(
    connection: &mut Connection,
    sql: &str,
    cap_bytes: usize,
    limit: Duration,
) -> Result<String, CatalogError> {
    let script = format!("{PROLOGUE}; SET LOCAL statement_timeout = {}; {sql}; COMMIT", limit.as_millis());
    let Answer { cells, tags, status } = ask(connection, &script, cap_bytes, limit).await?;
    let ended = tags.last().is_some_and(|tag| tag == "COMMIT") && status == TransactionStatus::Idle;
    match <[String; 1]>::try_from(cells) {
        Ok([text]) if ended => Ok(text),
        _ => Err(CatalogError::NotOneRow),
    }
}

/// One snapshot for all of it. The settings are those that pg_get_expr, pg_get_viewdef and the types'
/// output functions obey; jit would take longer than the query.
const PROLOGUE: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ''; \
    SET LOCAL quote_all_identifiers = off; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, MDY'; \
    SET LOCAL IntervalStyle = 'postgres'; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'; \
    SET LOCAL xmlbinary = 'base64'; SET LOCAL lc_monetary = 'C'; SET LOCAL jit = off; SET LOCAL lock_timeout = 0";

const CATALOG_SQL: &str = include_str!("query.sql");
const VERSION_SQL: &str = include_str!("version.sql");
const ISOLATION_SQL: &str = include_str!("isolation.sql");
/// A relation takes about 2 KB, so this is a hundred thousand of them.
const MAX_CATALOG_BYTES: usize = 256 << 20;
const MAX_VERSION_BYTES: usize = 64 << 10;

/// Why there is no catalog. The connection must be dropped.
#[derive(Debug)]
pub enum CatalogError {
    /// The query was not answered.
    Exchange(ExchangeError),
    /// It was answered with something else than one row.
    NotOneRow,
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CatalogError::Exchange(error) => write!(f, "the catalog cannot be read: {error}"),
            CatalogError::NotOneRow => {
                f.write_str("the catalog cannot be read: the server did not send one row")
            }
        }
    }
}

impl Error for CatalogError {}

impl From<ExchangeError> for CatalogError {
    fn from(error: ExchangeError) -> Self {
        CatalogError::Exchange(error)
    }
}
