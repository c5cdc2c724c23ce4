//! Tests through the doors that users use: the binary, real drivers, a real PostgreSQL.
//!
//! The tests are in `tests/`; this library is what they share: [`Stack`] (a PostgreSQL with the lab, and proxies before
//! it), [`Raw`] (a client that says exactly what it is told, message by message), and the [`corpus`].

mod authority;
mod binary;
pub mod corpus;
mod drivers;
mod http;
mod length;
mod majors;
mod mode;
mod raw;
mod rng;
mod stack;

pub use authority::{Authority, Identity};
pub use binary::pgmoat_binary;
pub use drivers::drivers;
pub use http::{Http, HttpReply, TOKEN};
pub use length::{is_long, length};
pub use majors::other_servers;
pub use mode::Mode;
pub use raw::front::{self, Front};
pub use raw::message::{Message, Transcript};
pub use raw::socket::TlsClient;
pub use raw::{Login, Raw};
pub use rng::Rng;
pub use stack::{Proxied, Stack};
