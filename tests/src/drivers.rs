//! Where the drivers are.

use std::path::PathBuf;
use std::{env, io};

/// The folder that `tests/install-drivers` has filled: `PGMOAT_DRIVERS`, or `drivers/` where cargo builds.
///
/// # Errors
///
/// It is not there, or not filled.
pub fn drivers() -> io::Result<PathBuf> {
    let folder = env::var_os("PGMOAT_DRIVERS").map(PathBuf::from).or_else(|| {
        let test = env::current_exe().ok()?; // target/debug/deps/drivers-0123456789abcdef
        Some(test.ancestors().nth(3)?.join("drivers"))
    });
    match folder {
        Some(folder) if folder.join("installed").is_file() => Ok(folder),
        folder => Err(io::Error::other(format!("no drivers in {folder:?}: run tests/install-drivers"))),
    }
}
