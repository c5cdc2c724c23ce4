//! A socket whose peer takes what is written to it, in time.
//!
//! TCP_USER_TIMEOUT (tcp(7)) ends a connection whose peer takes nothing; a peer that takes a byte now and then is none of
//! those, and keeps its place and its memory for ever. Here the time runs for as long as the socket's buffer is full; the
//! system says that there is room when a third of it is, so that a byte now and then does not count.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// Ends itself with [`io::ErrorKind::TimedOut`].
pub(super) struct Paced {
    stream: TcpStream,
    patience: Duration,
    /// While it can take nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Paced {
    /// What is not taken for so long ends the connection.
    ///
    /// # Errors
    /// The system does not bound the socket: then nobody is to be served by it.
    pub(super) fn new(stream: TcpStream, patience: Duration) -> io::Result<Paced> {
        stream.set_nodelay(true)?;
        sockopt::set_socket_send_buffer_size(&stream, SENT_BYTES)?;
        // For what is on its way when the connection ends here.
        let patience_ms = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX);
        sockopt::set_tcp_user_timeout(&stream, patience_ms)?;
        Ok(Paced { stream, patience, stalled: None })
    }

    fn paced<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        if stalled.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        // Else the system would keep what is not taken for as long as the peer likes. It is best effort: the socket is
        // closed either way.
        let _ = sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes too little")))
    }
}

impl AsyncRead for Paced {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Paced {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.paced(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.paced(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// What the system keeps for a client, in bytes; it takes twice as much memory (socket(7)).
const SENT_BYTES: usize = 128 << 10;
