//! The reply to one request: its rows counted, its error kept.

use std::fmt;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::message::backend::{
    BIND_COMPLETE_TAG, COMMAND_COMPLETE_TAG, DATA_ROW_TAG, ERROR_RESPONSE_TAG, ErrorResponseBody, Header,
    Message, NOTICE_RESPONSE_TAG, PARAMETER_STATUS_TAG, PARSE_COMPLETE_TAG, READY_FOR_QUERY_TAG,
    ROW_DESCRIPTION_TAG,
};

use crate::error::BenchError;

/// What has been seen of a reply.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) rows: u64,
    pub(crate) error: Option<ServerError>,
    seen: usize,
}

/// An ErrorResponse, the parts that tell what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerError {
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Reply {
    /// Looks at the messages that `received` has beyond those seen already; true after ReadyForQuery.
    pub(crate) fn take(&mut self, received: &[u8]) -> Result<bool, BenchError> {
        loop {
            let rest = received.get(self.seen..).unwrap_or_default();
            let Some(header) = Header::parse(rest).map_err(BenchError::io("read a reply"))? else {
                return Ok(false);
            };
            let length = 1 + usize::try_from(header.len()).unwrap_or(usize::MAX - 1);
            let Some(message) = rest.get(..length) else { return Ok(false) };
            self.seen += length;
            match header.tag() {
                DATA_ROW_TAG => self.rows += 1,
                READY_FOR_QUERY_TAG if self.seen == received.len() => return Ok(true),
                ERROR_RESPONSE_TAG => self.error = Some(ServerError::decode(message)?),
                PARSE_COMPLETE_TAG | BIND_COMPLETE_TAG | ROW_DESCRIPTION_TAG | COMMAND_COMPLETE_TAG
                | NOTICE_RESPONSE_TAG | PARAMETER_STATUS_TAG => {}
                tag => {
                    let tag = tag.escape_ascii();
                    return Err(BenchError::Wrong(format!(
                        "a reply has a message '{tag}' that was not asked for"
                    )));
                }
            }
        }
    }
}

impl Reply {
    /// The bytes that were looked at, which the caller drops.
    pub(super) fn forget(&mut self) -> usize {
        std::mem::take(&mut self.seen)
    }
}

impl ServerError {
    fn decode(message: &[u8]) -> Result<Self, BenchError> {
        match Message::parse(&mut BytesMut::from(message)) {
            Ok(Some(Message::ErrorResponse(body))) => Ok(Self::of(&body)),
            Ok(_) => Err(BenchError::Wrong("an error without a body".to_owned())),
            Err(error) => Err(BenchError::io("read an error")(error)),
        }
    }

    pub(crate) fn of(body: &ErrorResponseBody) -> Self {
        let field = |wanted: u8| {
            let found = body.fields().find(|field| Ok(field.type_() == wanted)).ok().flatten();
            found.map(|field| String::from_utf8_lossy(field.value_bytes()).into_owned()).unwrap_or_default()
        };
        Self { code: field(b'C'), message: field(b'M') }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.message)
    }
}

/// The first column of the first row of a whole reply; none without a row, or where it is null.
pub(super) fn first_value(received: &[u8]) -> Result<Option<String>, BenchError> {
    Ok(first_values(received)?.into_iter().next().flatten())
}

/// The first column of each row of a whole reply.
pub(super) fn first_values(received: &[u8]) -> Result<Vec<Option<String>>, BenchError> {
    let (mut rest, mut values) = (BytesMut::from(received), Vec::new());
    while let Some(message) = Message::parse(&mut rest).map_err(BenchError::io("read a reply"))? {
        if let Message::DataRow(row) = message {
            let range = row.ranges().next().map_err(BenchError::io("read a row"))?.flatten();
            let bytes = range.and_then(|range| row.buffer().get(range));
            values.push(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()));
        }
    }
    Ok(values)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[tag], length.as_slice(), body].concat()
    }

    #[test]
    fn a_reply_is_the_same_in_pieces_of_any_size() {
        let whole = [
            message(b'1', b""),
            message(b'2', b""),
            message(b'D', b"\0\x02\0\0\0\x0242\xff\xff\xff\xff"),
            message(b'C', b"SELECT 1\0"),
            message(b'Z', b"I"),
        ]
        .concat();
        let mut reply = Reply::default();
        for end in 0..whole.len() {
            assert!(!reply.take(whole.get(..end).unwrap()).unwrap());
        }
        assert!(reply.take(&whole).unwrap());
        assert_eq!((reply.rows, reply.error), (1, None));
        assert_eq!(first_value(&whole).unwrap().as_deref(), Some("42"));
    }

    #[test]
    fn an_error_is_kept_and_the_reply_goes_on_to_its_end() {
        let whole = [message(b'E', b"SERROR\0C42501\0Mno\0\0"), message(b'Z', b"I")].concat();
        let mut reply = Reply::default();
        assert!(reply.take(&whole).unwrap());
        assert_eq!(reply.error.unwrap().to_string(), "42501 no");
        assert_eq!(first_value(&whole).unwrap(), None);
    }

    #[test]
    fn more_than_one_reply_is_a_fault() {
        let two = [message(b'Z', b"I"), message(b'Z', b"I")].concat();
        assert!(Reply::default().take(&two).is_err());
        assert!(Reply::default().take(&message(b'G', b"\0\0\0")).is_err());
    }
}
