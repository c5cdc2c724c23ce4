//! The suites that are built.

pub(crate) mod idle;
pub(crate) mod pool;
pub(crate) mod proxy;
