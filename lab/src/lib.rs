//! Throw-away PostgreSQL clusters with the lab's schema and data, and the proxy as a process in front of them.
//!
//! This crate knows processes, temporary directories, PostgreSQL's own tools and the seed data. It knows pgmoat only
//! as a program that is given a configuration file and announces its address: it imports no other crate of ours, so
//! that tests and benches see the proxy as its users do.
//!
//! INVARIANT (nothing is left behind): whatever this crate starts dies with the process that started it, also when
//! that process is killed ([`Cluster`], [`Proxy`]; the mechanism is in `guard.rs`).

mod account;
mod cluster;
mod database;
mod error;
mod guard;
mod home;
mod postgres;
mod process;
mod proxy;
mod proxy_config;
mod scram;
mod seed;
mod tail;
mod users;

pub use cluster::{Cluster, Home, Options, SERVICE_PASSWORD, SERVICE_USER, SUPERUSER};
pub use error::LabError;
pub use postgres::Postgres;
pub use proxy::Proxy;
pub use proxy_config::{Database, ProxyConfig};
pub use scram::scram_verifier;
pub use seed::{DATA_SQL, POLICY_YAML, SCHEMA_SQL};
pub use users::{User, users};
