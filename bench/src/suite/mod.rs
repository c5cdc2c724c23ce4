//! The suites.

pub(crate) mod cli;
pub(crate) mod growth;
pub(crate) mod http;
pub(crate) mod idle;
pub(crate) mod library;
pub(crate) mod masking;
pub(crate) mod pool;
pub(crate) mod proxy;
