//! What is asked of a statement and what is answered, in one form for the command line and for HTTP (contracts 6).
//!
//! The judge is the proxy's own; nothing is sent anywhere, and names begin empty with each request.

mod answer;
mod basis;
mod relations;
mod request;

pub(crate) use answer::{Answer, Outcome, Refusal, answer};
pub(crate) use basis::{Basis, Directory};
pub(crate) use request::{Draft, Hex, Param, Protocol, Request, protocol};
