//! Where the proxy under test is.

use std::env;
use std::io;
use std::path::PathBuf;

/// The pgmoat binary: `PGMOAT_BIN`, else the one of the profile that this test was built with.
///
/// # Errors
///
/// It is not there; the text says how to build it.
pub fn pgmoat_binary() -> io::Result<PathBuf> {
    if let Some(path) = env::var_os("PGMOAT_BIN") {
        return Ok(path.into());
    }
    // target/debug/deps/some_test-0123456789abcdef beside target/debug/pgmoat
    let test = env::current_exe()?;
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap_or(&test);
    let binary = profile.join("pgmoat");
    if binary.is_file() {
        Ok(binary)
    } else {
        let text = format!("{} is missing: cargo build -p pgmoat, or set PGMOAT_BIN", binary.display());
        Err(io::Error::new(io::ErrorKind::NotFound, text))
    }
}
