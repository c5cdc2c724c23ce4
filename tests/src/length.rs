//! Short runs for every day, full lengths for `tests/run --long`.

/// Whether `tests/run --long` (`PGMOAT_LONG`) asks for full lengths.
#[must_use]
pub fn is_long() -> bool {
    std::env::var_os("PGMOAT_LONG").is_some()
}

/// The one or the other.
#[must_use]
pub fn length<T>(short: T, long: T) -> T {
    if is_long() { long } else { short }
}
