//! HTTP/1.1 over one kept connection: heads are read by httparse, bodies by their Content-Length.

use std::net::SocketAddr;

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::error::BenchError;

/// A connection.
#[derive(Debug)]
pub(crate) struct HttpConnection {
    stream: TcpStream,
    received: BytesMut,
    /// The next request, to be filled by the caller.
    pub(crate) out: Vec<u8>,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: BytesMut,
}

impl HttpConnection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, BenchError> {
        let stream =
            TcpStream::connect(address).await.map_err(BenchError::io(format!("connect to {address}")))?;
        stream.set_nodelay(true).map_err(BenchError::io("set TCP_NODELAY"))?;
        Ok(Self { stream, received: BytesMut::with_capacity(BUFFER_BYTES), out: Vec::new() })
    }

    /// Sends what is in `out` and reads the response.
    pub(crate) async fn exchange(&mut self) -> Result<Response, BenchError> {
        self.stream.write_all(&self.out).await.map_err(BenchError::io("send a request"))?;
        self.out.clear();
        loop {
            if let Some(response) = take_response(&mut self.received)? {
                return Ok(response);
            }
            match self.stream.read_buf(&mut self.received).await {
                Ok(0) => {
                    return Err(BenchError::Wrong(
                        "the listener closed a connection before it answered".to_owned(),
                    ));
                }
                Ok(_) => {}
                Err(error) => return Err(BenchError::io("read a response")(error)),
            }
        }
    }
}

/// The first response, once it is whole.
fn take_response(received: &mut BytesMut) -> Result<Option<Response>, BenchError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut head = httparse::Response::new(&mut headers);
    let wrong = |what: &str| BenchError::Wrong(format!("a response that is no HTTP: {what}"));
    let parsed = head.parse(received).map_err(|error| wrong(&error.to_string()))?;
    let httparse::Status::Complete(head_bytes) = parsed else { return Ok(None) };
    let status = head.code.ok_or_else(|| wrong("no status"))?;
    let length = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length =
        length.and_then(|header| std::str::from_utf8(header.value).ok()?.trim().parse::<usize>().ok());
    let length = length.ok_or_else(|| wrong("no Content-Length"))?;
    if received.len() - head_bytes < length {
        return Ok(None);
    }
    received.advance(head_bytes);
    let body = received.split_to(length);
    Ok(Some(Response { status, body }))
}

const BUFFER_BYTES: usize = 8192;
const MAX_HEADERS: usize = 32;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_taken_once_it_is_whole() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Type: x\r\ncontent-length: 2\r\n\r\nokHTTP";
        for end in 0..whole.len() - 4 {
            let mut received = BytesMut::from(whole.get(..end).unwrap());
            assert_eq!(take_response(&mut received).unwrap(), None, "{end}");
        }
        let mut received = BytesMut::from(whole.as_slice());
        let response = take_response(&mut received).unwrap().unwrap();
        assert_eq!((response.status, response.body.as_ref()), (200, b"ok".as_slice()));
        assert_eq!(received.as_ref(), b"HTTP");
    }

    #[test]
    fn what_is_no_response_is_a_fault() {
        assert!(take_response(&mut BytesMut::from("GET / HTTP/1.1\r\n\r\n")).is_err());
        assert!(take_response(&mut BytesMut::from("HTTP/1.1 200 OK\r\n\r\n")).is_err());
    }
}
