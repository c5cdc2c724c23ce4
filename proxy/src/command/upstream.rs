//! The catalog of a running server, for commands that do one thing and end.

use std::time::Duration;

use pgmoat_policy::Catalog;
use pgmoat_upstream::{Connection, Target, catalog, connect, question};

/// A connection, and a runtime that moves it.
pub(super) struct Session {
    runtime: tokio::runtime::Runtime,
    connection: Connection,
}

impl Session {
    /// Connects.
    ///
    /// # Errors
    /// What failed, for people.
    pub(super) fn open(target: &Target) -> Result<Session, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let connection = runtime.block_on(connect(target)).map_err(|error| {
            let address = &target.endpoint.address;
            format!("{address} is not reached: {error}")
        })?;
        Ok(Session { runtime, connection })
    }

    /// The server's `server_version_num`.
    pub(super) fn server_version_num(&self) -> u32 {
        self.connection.server_version_num()
    }

    /// The database's catalog.
    ///
    /// # Errors
    /// What failed, for people; the session is of no use then.
    pub(super) fn catalog(&mut self) -> Result<(String, Catalog), String> {
        let read = catalog::read(&mut self.connection, CATALOG_TIMEOUT);
        let text = self.runtime.block_on(read).map_err(|error| error.to_string())?;
        let catalog = Catalog::parse(&text).map_err(|error| error.to_string())?;
        Ok((text, catalog))
    }

    /// One statement, read-only: the first column of each row.
    ///
    /// # Errors
    /// What failed, for people; the session is of no use then.
    pub(super) fn ask(&mut self, sql: &str, limit: Duration) -> Result<Vec<String>, String> {
        let asked = question(&mut self.connection, sql, limit);
        self.runtime.block_on(asked).map_err(|error| error.to_string())
    }
}

/// Reads a database's catalog, and makes sure that it can be read back.
///
/// # Errors
/// What failed, for people.
pub(super) fn read(target: &Target) -> Result<(String, Catalog), String> {
    Session::open(target)?.catalog()
}

const CATALOG_TIMEOUT: Duration = Duration::from_secs(60);
