//! What a client can say, in the protocol's own letters.

use std::io;

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

/// One message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Front {
    /// Query.
    Query(String),
    /// Parse: statement name, text, declared types.
    Parse(String, String, Vec<u32>),
    /// Bind: portal, statement, values, their formats and the results'.
    Bind(String, String, Vec<Option<Vec<u8>>>, Vec<i16>, Vec<i16>),
    /// Describe: `S` or `P`, and a name.
    Describe(u8, String),
    /// Execute: portal, and the most rows (0: all).
    Execute(String, i32),
    /// Close: `S` or `P`, and a name.
    Close(u8, String),
    /// Sync.
    Sync,
    /// Flush.
    Flush,
    /// Terminate.
    Terminate,
    /// CopyData.
    CopyData(Vec<u8>),
    /// CopyDone.
    CopyDone,
    /// CopyFail.
    CopyFail(String),
    /// Bytes as they are.
    Bytes(Vec<u8>),
}

/// `Q`: a Query.
#[must_use]
pub fn q(sql: &str) -> Front {
    Front::Query(sql.to_owned())
}

/// `P`: a Parse without declared types.
#[must_use]
pub fn p(name: &str, sql: &str) -> Front {
    Front::Parse(name.to_owned(), sql.to_owned(), Vec::new())
}

/// `B`: a Bind of text values, with text results.
#[must_use]
pub fn b(portal: &str, statement: &str, values: &[&str]) -> Front {
    let values = values.iter().map(|value| Some(value.as_bytes().to_vec())).collect();
    Front::Bind(portal.to_owned(), statement.to_owned(), values, Vec::new(), Vec::new())
}

/// `D`: a Describe of a statement.
#[must_use]
pub fn d_statement(name: &str) -> Front {
    Front::Describe(b'S', name.to_owned())
}

/// `D`: a Describe of a portal.
#[must_use]
pub fn d_portal(name: &str) -> Front {
    Front::Describe(b'P', name.to_owned())
}

/// `E`: an Execute of at most `rows` rows (0: all).
#[must_use]
pub fn e(portal: &str, rows: i32) -> Front {
    Front::Execute(portal.to_owned(), rows)
}

/// `C`: a Close of a statement.
#[must_use]
pub fn c_statement(name: &str) -> Front {
    Front::Close(b'S', name.to_owned())
}

/// `C`: a Close of a portal.
#[must_use]
pub fn c_portal(name: &str) -> Front {
    Front::Close(b'P', name.to_owned())
}

/// `S`: a Sync.
#[must_use]
pub fn s() -> Front {
    Front::Sync
}

/// `H`: a Flush.
#[must_use]
pub fn h() -> Front {
    Front::Flush
}

/// `d`: CopyData.
#[must_use]
pub fn copy_data(data: &str) -> Front {
    Front::CopyData(data.as_bytes().to_vec())
}

/// `F`: a FunctionCall without arguments.
#[must_use]
pub fn function_call(oid: u32) -> Front {
    let mut body = oid.to_be_bytes().to_vec();
    body.extend([0; 6]); // no argument formats, no arguments, a text result
    framed(b'F', &body)
}

/// A tag, the length that belongs to `body`, and `body`: also for messages that are wrong inside.
#[must_use]
pub fn framed(tag: u8, body: &[u8]) -> Front {
    with_length(tag, u32::try_from(body.len() + 4).unwrap_or(u32::MAX), body)
}

/// A tag, a length as given, and `body`: for lengths that lie.
#[must_use]
pub fn with_length(tag: u8, length: u32, body: &[u8]) -> Front {
    Front::Bytes([&[tag], length.to_be_bytes().as_slice(), body].concat())
}

/// A start-up packet of any version (`0x0003_0000` is 3.0). The order is kept, and a key may stand twice.
#[must_use]
pub fn startup(version: u32, parameters: &[(&str, &str)]) -> Front {
    let mut body = version.to_be_bytes().to_vec();
    for text in parameters.iter().flat_map(|(key, value)| [key, value]) {
        body.extend(text.as_bytes());
        body.push(0);
    }
    body.push(0);
    Front::Bytes([u32::try_from(body.len() + 4).unwrap_or(u32::MAX).to_be_bytes().as_slice(), &body].concat())
}

/// A CancelRequest with the process number and key of [`Raw::cancel_key`](crate::Raw::cancel_key).
#[must_use]
pub fn cancel_request(key: &[u8]) -> Front {
    let length = u32::try_from(key.len() + 8).unwrap_or(u32::MAX);
    Front::Bytes([length.to_be_bytes().as_slice(), &CANCEL_REQUEST.to_be_bytes(), key].concat())
}

/// An SSLRequest.
#[must_use]
pub fn ssl_request() -> Front {
    Front::Bytes([8_u32.to_be_bytes(), SSL_REQUEST.to_be_bytes()].concat())
}

/// A GSSENCRequest.
#[must_use]
pub fn gss_request() -> Front {
    Front::Bytes([8_u32.to_be_bytes(), GSS_REQUEST.to_be_bytes()].concat())
}

impl Front {
    /// Appends the message's bytes.
    ///
    /// # Errors
    ///
    /// A NUL within a text, a message over 2 GB.
    pub fn encode(&self, into: &mut Vec<u8>) -> io::Result<()> {
        let mut buffer = BytesMut::new();
        match self {
            Self::Query(sql) => frontend::query(sql, &mut buffer)?,
            Self::Parse(name, sql, types) => frontend::parse(name, sql, types.iter().copied(), &mut buffer)?,
            Self::Bind(portal, statement, values, formats, results) => {
                bind(portal, statement, values, (formats, results), &mut buffer)?;
            }
            Self::Describe(kind, name) => frontend::describe(*kind, name, &mut buffer)?,
            Self::Execute(portal, rows) => frontend::execute(portal, *rows, &mut buffer)?,
            Self::Close(kind, name) => frontend::close(*kind, name, &mut buffer)?,
            Self::Sync => frontend::sync(&mut buffer),
            Self::Flush => frontend::flush(&mut buffer),
            Self::Terminate => frontend::terminate(&mut buffer),
            Self::CopyData(data) => frontend::CopyData::new(data.as_slice())?.write(&mut buffer),
            Self::CopyDone => frontend::copy_done(&mut buffer),
            Self::CopyFail(why) => frontend::copy_fail(why, &mut buffer)?,
            Self::Bytes(bytes) => buffer.extend_from_slice(bytes),
        }
        into.extend_from_slice(&buffer);
        Ok(())
    }
}

fn bind(
    portal: &str,
    statement: &str,
    values: &[Option<Vec<u8>>],
    (formats, results): (&[i16], &[i16]),
    buffer: &mut BytesMut,
) -> io::Result<()> {
    let serialize = |value: &Option<Vec<u8>>, buffer: &mut BytesMut| match value {
        None => Ok(IsNull::Yes),
        Some(bytes) => {
            buffer.extend_from_slice(bytes);
            Ok(IsNull::No)
        }
    };
    let (formats, results) = (formats.iter().copied(), results.iter().copied());
    frontend::bind(portal, statement, formats, values, serialize, results, buffer).map_err(
        |error| match error {
            frontend::BindError::Serialization(error) => io::Error::other(error),
            frontend::BindError::Conversion(error) => io::Error::other(error),
        },
    )
}

const CANCEL_REQUEST: u32 = 80_877_102;
const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
