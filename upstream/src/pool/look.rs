//! A look at a connection that has rested: is the server still there, and has it said anything?
//!
//! What a server may say to a session that asks nothing is read (protocol, "Asynchronous Operations"): settings that have
//! changed, notices, and the last error before it closes. A notification, or anything else, means that something of the
//! last user's is left.

use std::time::Duration;

use bytes::BytesMut;
use tokio::time::timeout;

use super::stats::Cause;
use crate::connection::Connection;
use crate::frame::{self, Fields, Header, Phase, backend};
use crate::io::Now;

/// Whether it may be used.
///
/// # Errors
///
/// Why it has to be closed.
pub(super) async fn look(connection: &mut Connection, rested: Duration) -> Result<(), Cause> {
    let mut ended = hear(connection)?;
    // The runtime learns of a socket's news a moment after the system; who has just come back is not asked twice.
    if !ended && rested >= NEWS_TRAVEL {
        match connection.stream.peek() {
            Ok(Now::Nothing) => {}
            // Read through the stream, where it may be a TLS record of no consequence (a session ticket).
            Ok(Now::Bytes(_)) => match timeout(READABLE_LIMIT, connection.stream.readable()).await {
                Ok(Ok(())) => ended = hear(connection)?,
                Ok(Err(_)) | Err(_) => return Err(Cause::Dead),
            },
            Ok(Now::End) | Err(_) => ended = true,
        }
    }
    read(connection)?;
    if ended { Err(Cause::Dead) } else { Ok(()) }
}

/// The same for one that has just come back: the runtime knows of all that was said before.
///
/// # Errors
///
/// Why it has to be closed.
pub(super) fn look_again(connection: &mut Connection) -> Result<(), Cause> {
    let ended = hear(connection)?;
    read(connection)?;
    if ended { Err(Cause::Dead) } else { Ok(()) }
}

/// Takes what there is; true at the stream's end.
fn hear(connection: &mut Connection) -> Result<bool, Cause> {
    let mut chunk = [0; CHUNK_BYTES];
    loop {
        match connection.stream.read_now(&mut chunk) {
            Ok(Now::Nothing) => return Ok(false),
            Ok(Now::Bytes(count)) => {
                connection.incoming.extend_from_slice(chunk.get(..count).unwrap_or_default());
                if connection.incoming.len() > HEARD_MAX_BYTES {
                    return Err(Cause::Unasked);
                }
            }
            // The bytes before it may say why.
            Ok(Now::End) | Err(_) => return Ok(true),
        }
    }
}

fn read(connection: &mut Connection) -> Result<(), Cause> {
    if connection.incoming.is_empty() {
        return Ok(());
    }
    while let Some(message) =
        frame::take(&mut connection.incoming, Phase::ServerSession).map_err(|_| Cause::Unasked)?
    {
        let body = message.get(Header::BYTES..).unwrap_or_default();
        match message.first() {
            Some(b'S') => {
                let (name, value) = backend::parameter_status(body).map_err(|_| Cause::Unasked)?;
                connection.note_parameter(name, value).map_err(|_| Cause::Unasked)?;
            }
            Some(b'N') => {}
            Some(b'E') => {
                let pid = connection.backend_pid();
                if let Ok(fields) = Fields::decode(body) {
                    tracing::debug!(pid, error = %fields, "the server has ended a connection at rest");
                }
                return Err(Cause::Dead);
            }
            _ => return Err(Cause::Unasked),
        }
    }
    // The rest of a message may never come.
    let whole = connection.incoming.is_empty();
    connection.incoming = BytesMut::new();
    if whole { Ok(()) } else { Err(Cause::Unasked) }
}

/// By then the runtime has looked, on a machine that is not overloaded.
pub(super) const NEWS_TRAVEL: Duration = Duration::from_millis(10);
/// For what the system has already.
const READABLE_LIMIT: Duration = Duration::from_millis(100);
const CHUNK_BYTES: usize = 512;
/// All settings that a server reports are less.
const HEARD_MAX_BYTES: usize = 64 << 10;
