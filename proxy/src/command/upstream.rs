//! The catalog of a running server, for commands that do one thing and end.

use std::time::Duration;

use pgmoat_policy::Catalog;
use pgmoat_upstream::{Target, catalog, connect};

/// Reads a database's catalog, and makes sure that it can be read back.
///
/// # Errors
/// What failed, for people.
pub(super) fn read(target: &Target) -> Result<(String, Catalog), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let text = runtime.block_on(async {
        let mut connection = connect(target).await.map_err(|error| error.to_string())?;
        catalog::read(&mut connection, CATALOG_TIMEOUT).await.map_err(|error| error.to_string())
    })?;
    let catalog = Catalog::parse(&text).map_err(|error| error.to_string())?;
    Ok((text, catalog))
}

const CATALOG_TIMEOUT: Duration = Duration::from_secs(60);
