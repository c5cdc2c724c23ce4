//! Messages of the PostgreSQL protocol as byte slices: no sockets, no clock.
//!
//! The proxy uses this for both of its sides, since framing is the same for both. Two rules hold
//! everywhere. A length is checked against a cap for its tag and phase *before* a byte of the body
//! is waited for (wire 3), so a peer cannot make us allocate. And decoding is strict: it reads from
//! the exact slice, text is UTF-8, the NUL is there, nothing is left over. `postgres-protocol`
//! stops short of the second, so it is used for SCRAM only.

pub mod backend;
mod cursor;
mod fields;
pub mod frontend;
mod header;
mod phase;
mod scan;
pub mod startup;

pub use cursor::{Cursor, DecodeError};
pub use fields::{Field, Fields};
pub use frontend::EncodeError;
pub use header::{Frame, FrameError, Header, peek, take, whole};
pub use phase::{OPAQUE_CAP_BYTES, Phase};
pub use scan::{Piece, Run, Scanner};
