//! The wall clock, for the audit log. Nothing that decides looks at it.

use std::time::{Duration, SystemTime};

use pgmoat_audit::Micros;

/// Now.
pub fn now() -> Micros {
    Micros::from(SystemTime::now())
}

/// The moment so much later than now, for people: RFC 3339, UTC.
pub fn after(left: Duration) -> String {
    Micros::from(SystemTime::now() + left).to_string()
}
