//! A client that costs as little as possible: one socket, two reused buffers, replies counted rather than decoded.
//!
//! One write and, on loopback, one read a request; the clock is read by the caller around [`Connection::exchange`].

pub(crate) mod http;
mod login;
mod reply;

use std::net::SocketAddr;

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::error::BenchError;

pub(crate) use reply::{Reply, ServerError};

/// A logged-in connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    received: BytesMut,
    /// The next request, to be filled by the caller.
    pub(crate) out: BytesMut,
}

impl Connection {
    /// Connects and logs in with SCRAM-SHA-256.
    pub(crate) async fn open(
        address: SocketAddr,
        (user, password): &(String, String),
        database: &str,
    ) -> Result<Self, BenchError> {
        let stream =
            TcpStream::connect(address).await.map_err(BenchError::io(format!("connect to {address}")))?;
        stream.set_nodelay(true).map_err(BenchError::io("set TCP_NODELAY"))?;
        let mut connection = Self {
            stream,
            received: BytesMut::with_capacity(BUFFER_BYTES),
            out: BytesMut::with_capacity(BUFFER_BYTES),
        };
        connection.log_in(user, password, database).await?;
        Ok(connection)
    }

    /// Sends what is in `out` and reads up to ReadyForQuery.
    pub(crate) async fn exchange(&mut self) -> Result<Reply, BenchError> {
        self.stream.write_all(&self.out).await.map_err(BenchError::io("send a request"))?;
        self.out.clear();
        self.received.clear();
        let mut reply = Reply::default();
        while !reply.take(&self.received)? {
            // A FATAL tells more than the closed connection after it.
            let end = self.read().await;
            end.map_err(|end| reply.error.take().map_or(end, |fatal| BenchError::Wrong(fatal.to_string())))?;
        }
        Ok(reply)
    }

    /// The same of a reply of any length: of its messages no more is kept than is read at once.
    pub(crate) async fn exchange_large(&mut self) -> Result<Reply, BenchError> {
        self.stream.write_all(&self.out).await.map_err(BenchError::io("send a request"))?;
        self.out.clear();
        self.received.clear();
        self.received.reserve(LARGE_BUFFER_BYTES);
        let mut reply = Reply::default();
        while !reply.take(&self.received)? {
            self.received.advance(reply.forget());
            self.read().await?;
        }
        Ok(reply)
    }

    /// The first column of the first row of the last reply.
    pub(crate) fn first_value(&self) -> Result<Option<String>, BenchError> {
        reply::first_value(&self.received)
    }

    /// The first column of every row of the last reply.
    pub(crate) fn first_values(&self) -> Result<Vec<Option<String>>, BenchError> {
        reply::first_values(&self.received)
    }

    async fn read(&mut self) -> Result<(), BenchError> {
        match self.stream.read_buf(&mut self.received).await {
            Ok(0) => {
                Err(BenchError::Wrong("the server closed a connection before it had answered".to_owned()))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(BenchError::io("read a reply")(error)),
        }
    }
}

const BUFFER_BYTES: usize = 8192;
const LARGE_BUFFER_BYTES: usize = 256 * 1024;
