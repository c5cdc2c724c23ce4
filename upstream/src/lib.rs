//! PostgreSQL as a client sees it: frames, TLS, SCRAM, pools, the catalog query.
//!
//! This crate opens connections whose settings the other side can rely on, hands them out one lease
//! at a time, and takes them back only with a proof that nothing of the last user is left in them.
//! What is said over a connection is not its business.
//!
//! * [`frame`]: messages as byte slices, also for the proxy's own clients
//! * [`io`]: one stream, both directions in one task
//! * [`connect`]: from an address to a session that is ready, see [`Target`] and [`Connection`]
//! * [`Pool`], [`Lease`], [`Canceller`]: sharing connections
//! * [`question`]: what an operator asks
//! * [`catalog`]: what the database contains, as one JSON text

mod address;
mod attributes;
mod cancel;
mod carried;
pub mod catalog;
mod connect;
mod connect_error;
mod connection;
mod exchange;
pub mod frame;
pub mod fuzzing;
pub mod io;
mod keepalive;
mod login;
mod open;
mod pool;
mod question;
mod secret;
mod settings;
mod tls;
mod tls_words;

pub use address::{Address, Endpoint, Target, WeakPasswords};
pub use attributes::{SessionAttributes, Unsuitable};
pub use cancel::{CancelError, Canceller};
pub use carried::{Carried, Plans, Prepared, Sequences, Statements};
pub use connect::connect;
pub use connect_error::{ConnectError, Stage};
pub use connection::Connection;
pub use exchange::ExchangeError;
pub use keepalive::keep_alive;
pub use pool::{
    Cause, CheckoutError, CleanProof, Lease, NotClean, Pool, PoolConfig, PoolKey, PoolStats, Quiet,
};
pub use question::question;
pub use secret::Secret;
pub use settings::{PinMoved, PinnedSettings, SettingsError};
pub use tls::{TlsError, TlsPolicy, tls_server_end_point};
pub use tls_words::{in_words, tls_in_words};
