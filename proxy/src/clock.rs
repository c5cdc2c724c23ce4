//! The wall clock, for the audit log. Nothing that decides looks at it.

use std::time::SystemTime;

use pgmoat_audit::Micros;

/// Now.
pub fn now() -> Micros {
    Micros::from(SystemTime::now())
}
