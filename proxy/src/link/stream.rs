//! A client's socket: TCP in the clear, TCP under TLS, or a Unix socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::server::TlsStream;

/// A client's socket.
#[derive(Debug)]
pub enum ClientStream {
    /// In the clear.
    Plain(TcpStream),
    /// On this machine, in the clear.
    Unix(UnixStream),
    /// Over TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for ClientStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            ClientStream::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
            ClientStream::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            ClientStream::Unix(stream) => Pin::new(stream).poll_write(cx, buf),
            // A few records at a time: the TLS library would copy all that it is shown.
            ClientStream::Tls(stream) => {
                let some = buf.get(..TLS_WRITE_BYTES_MAX).unwrap_or(buf);
                Pin::new(stream.as_mut()).poll_write(cx, some)
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            ClientStream::Unix(stream) => Pin::new(stream).poll_flush(cx),
            ClientStream::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            ClientStream::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            ClientStream::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
        }
    }
}

/// What a TLS record carries at most, in bytes: with header, nonce and tag (29 in TLS 1.2) it has 8 KiB. Clients that
/// wait for the socket, not for the record, hang on longer ones (wire 6).
pub(crate) const TLS_RECORD_BYTES_MAX: usize = (8 << 10) - 29;

/// Two whole records.
const TLS_WRITE_BYTES_MAX: usize = 2 * TLS_RECORD_BYTES_MAX;
