//! Reading messages one by one, and asking a question of our own over a connection at rest.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::connection::Connection;
use crate::frame::backend::{self, TransactionStatus};
use crate::frame::{self, Cursor, DecodeError, EncodeError, Fields, FrameError, Header, Phase, frontend};
use crate::io::{READ_CHUNK_BYTES, Stream};
use crate::settings::PinMoved;

/// The next whole message, header included, of at most `cap_bytes`. The end of the stream is an
/// [`io::ErrorKind::UnexpectedEof`].
pub(crate) async fn read_message(
    stream: &mut Stream,
    incoming: &mut BytesMut,
    phase: Phase,
    cap_bytes: usize,
) -> Result<Bytes, ReadError> {
    loop {
        if let Some(message) = frame::take(incoming, phase).map_err(ReadError::Frame)? {
            return Ok(message);
        }
        let room = match frame::peek(incoming, phase).map_err(ReadError::Frame)? {
            Some(header) if header.total() > cap_bytes => return Err(ReadError::TooLong { cap_bytes }),
            Some(header) => header.total() - incoming.len(),
            None => READ_CHUNK_BYTES,
        };
        incoming.reserve(room);
        if stream.read_buf(incoming).await.map_err(ReadError::Io)? == 0 {
            return Err(ReadError::Io(io::ErrorKind::UnexpectedEof.into()));
        }
    }
}

#[derive(Debug)]
pub(crate) enum ReadError {
    Io(io::Error),
    Frame(FrameError),
    TooLong { cap_bytes: usize },
}

/// What a simple Query of our own was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The first column of each row, of all statements.
    pub(crate) cells: Vec<String>,
    /// One for each statement.
    pub(crate) tags: Vec<String>,
    /// How it ended.
    pub(crate) status: TransactionStatus,
}

/// Sends `sql` as a simple Query and reads to ReadyForQuery. All messages together may have
/// `cap_bytes`.
///
/// # Errors
///
/// After any error the connection is of no use: its state is not known.
pub(crate) async fn ask(
    connection: &mut Connection,
    sql: &str,
    cap_bytes: usize,
    limit: Duration,
) -> Result<Answer, ExchangeError> {
    let asked = timeout(limit, ask_without_limit(connection, sql, cap_bytes)).await;
    if connection.incoming.is_empty() {
        // A large answer leaves no large buffer behind.
        connection.incoming = BytesMut::new();
    }
    asked.unwrap_or(Err(ExchangeError::Timeout { limit }))
}

async fn ask_without_limit(
    connection: &mut Connection,
    sql: &str,
    cap_bytes: usize,
) -> Result<Answer, ExchangeError> {
    let mut query = BytesMut::with_capacity(sql.len() + Header::BYTES + 1);
    frontend::query(sql.as_bytes(), &mut query)?;
    connection.stream.write_all(&query).await?;
    connection.stream.flush().await?;

    let (mut cells, mut tags, mut left) = (Vec::new(), Vec::new(), cap_bytes);
    loop {
        let message =
            read_message(&mut connection.stream, &mut connection.incoming, Phase::ServerSession, left)
                .await?;
        left = left.saturating_sub(message.len());
        let body = message.get(Header::BYTES..).unwrap_or_default();
        match message.first().copied().unwrap_or(0) {
            b'D' => cells.push(first_cell(body)?.to_owned()),
            b'C' => tags.push(backend::command_complete(body)?.to_owned()),
            b'S' => {
                let (name, value) = backend::parameter_status(body)?;
                connection.note_parameter(name, value)?;
            }
            b'Z' => return Ok(Answer { cells, tags, status: backend::ready_for_query(body)? }),
            b'E' => return Err(ExchangeError::Server(Box::new(Fields::decode(body)?))),
            b'T' | b'N' | b'A' => {}
            tag => return Err(ExchangeError::Unexpected { tag }),
        }
    }
}

/// The first column of a DataRow, which must be there and be UTF-8.
fn first_cell(body: &[u8]) -> Result<&str, DecodeError> {
    let mut cursor = Cursor::new(body);
    if cursor.u16("column count")? == 0 {
        return Err(DecodeError::BadValue { what: "column count" });
    }
    let length = usize::try_from(cursor.i32("value length")?);
    let value = cursor.bytes(length.map_err(|_| DecodeError::BadValue { what: "value length" })?, "value")?;
    std::str::from_utf8(value).map_err(|_| DecodeError::NotUtf8 { what: "value" })
}

/// Why a question of our own has no answer. The connection must be dropped.
#[derive(Debug)]
pub enum ExchangeError {
    /// No answer in time.
    Timeout {
        /// What it had.
        limit: Duration,
    },
    /// The network.
    Io(io::Error),
    /// The server answered with an error.
    Server(Box<Fields>),
    /// Bytes that are not the protocol.
    Frame(FrameError),
    /// A message that is not what its format says.
    Decode(DecodeError),
    /// A message that answers no simple Query.
    Unexpected {
        /// Its type.
        tag: u8,
    },
    /// More than was expected at most.
    TooLong {
        /// The limit in bytes.
        cap_bytes: usize,
    },
    /// The question cannot be sent.
    Encode(EncodeError),
    /// A pinned setting moved meanwhile.
    PinMoved(PinMoved),
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExchangeError::Timeout { limit } => write!(f, "no answer within {} ms", limit.as_millis()),
            ExchangeError::Io(error) => write!(f, "the connection broke: {error}"),
            ExchangeError::Server(fields) => write!(f, "the server answered: {fields}"),
            ExchangeError::Frame(error) => write!(f, "the server does not speak the protocol: {error}"),
            ExchangeError::Decode(error) => write!(f, "the server does not speak the protocol: {error}"),
            ExchangeError::Unexpected { tag } => {
                write!(f, "the server does not speak the protocol: message type {tag} answers no query")
            }
            ExchangeError::TooLong { cap_bytes } => write!(f, "the answer is longer than {cap_bytes} bytes"),
            ExchangeError::Encode(error) => write!(f, "the query cannot be sent: {error}"),
            ExchangeError::PinMoved(moved) => moved.fmt(f),
        }
    }
}

impl Error for ExchangeError {}

impl From<ReadError> for ExchangeError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => ExchangeError::Io(error),
            ReadError::Frame(error) => ExchangeError::Frame(error),
            ReadError::TooLong { cap_bytes } => ExchangeError::TooLong { cap_bytes },
        }
    }
}

impl From<io::Error> for ExchangeError {
    fn from(error: io::Error) -> Self {
        ExchangeError::Io(error)
    }
}

impl From<DecodeError> for ExchangeError {
    fn from(error: DecodeError) -> Self {
        ExchangeError::Decode(error)
    }
}

impl From<EncodeError> for ExchangeError {
    fn from(error: EncodeError) -> Self {
        ExchangeError::Encode(error)
    }
}

impl From<PinMoved> for ExchangeError {
    fn from(moved: PinMoved) -> Self {
        ExchangeError::PinMoved(moved)
    }
}
