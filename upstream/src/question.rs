//! A question of an operator's, over a connection that no client uses.

use std::time::Duration;

use crate::connection::Connection;
use crate::exchange::{Answer, ExchangeError, ask};

/// Asks one statement in a read-only transaction of its own with an empty search_path: the first
/// column of each row, as text, none of them NULL.
///
/// # Errors
///
/// After any error the connection must be dropped.
pub async fn question(
    connection: &mut Connection,
    sql: &str,
    limit: Duration,
) -> Result<Vec<String>, ExchangeError> {
    let script = format!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ''; \
         SET LOCAL statement_timeout = {}; {sql}; COMMIT",
        limit.as_millis()
    );
    let Answer { cells, .. } = ask(connection, &script, MAX_ANSWER_BYTES, limit).await?;
    Ok(cells)
}

/// A row of privileges takes some hundred bytes.
const MAX_ANSWER_BYTES: usize = 64 << 20;
