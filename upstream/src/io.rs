//! One stream, both directions, in one task.
//!
//! A session owns two sockets and must read and write both at any time. Splitting a TLS stream needs
//! a lock, a task for each direction needs a channel; [`progress`] needs neither: it takes the whole
//! stream, does whatever of reading and writing is possible, and returns as soon as something moved.
//! Two of them in one `select!` are a relay.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, BytesMut};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsStream;

/// A connection's bytes, whichever side opened it.
#[derive(Debug)]
pub enum Stream {
    /// In the clear.
    Tcp(TcpStream),
    /// On this machine.
    Unix(UnixStream),
    /// Encrypted.
    Tls(Box<TlsStream<TcpStream>>),
}

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Self {
        Stream::Tcp(stream)
    }
}

impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Self {
        Stream::Unix(stream)
    }
}

impl From<tokio_rustls::client::TlsStream<TcpStream>> for Stream {
    fn from(stream: tokio_rustls::client::TlsStream<TcpStream>) -> Self {
        Stream::Tls(Box::new(stream.into()))
    }
}

impl From<tokio_rustls::server::TlsStream<TcpStream>> for Stream {
    fn from(stream: tokio_rustls::server::TlsStream<TcpStream>) -> Self {
        Stream::Tls(Box::new(stream.into()))
    }
}

/// What moved. At least one of the two did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes appended to the read buffer; `Some(0)` is the end of the stream.
    pub read: Option<usize>,
    /// Bytes written and removed from the front of the write buffer.
    pub wrote: usize,
}

/// Reads into `read_into` (not at all if it is `None`: that is back pressure) and writes from
/// `write_from`, whatever is possible, and returns once something moved. Never ready if there is
/// nothing to read into and nothing to write.
///
/// Cancel safe: what it did is in the buffers when it returns, and it does nothing and waits before.
/// A read buffer without capacity gets one only when there are bytes to read (TCP), so an idle
/// session that lets go of its buffers keeps none.
///
/// # Errors
///
/// Those of the socket; the stream is of no use then. Bytes that were read before a failing write
/// are in the buffer, and the error is returned by the next call.
pub async fn progress(
    stream: &mut Stream,
    mut read_into: Option<&mut BytesMut>,
    write_from: &mut BytesMut,
) -> io::Result<Progress> {
    poll_fn(|cx| poll_progress(cx, stream, read_into.as_deref_mut(), write_from)).await
}

/// [`progress`] for those who poll.
pub fn poll_progress(
    cx: &mut Context<'_>,
    stream: &mut Stream,
    read_into: Option<&mut BytesMut>,
    write_from: &mut BytesMut,
) -> Poll<io::Result<Progress>> {
    let read = match read_into.map(|buffer| poll_read_into(cx, stream, buffer)) {
        Some(Poll::Ready(read)) => Some(read?),
        Some(Poll::Pending) | None => None,
    };
    let wrote = match poll_write_from(cx, stream, write_from) {
        Poll::Ready(Ok(wrote)) => wrote,
        // Not before the session has seen what was read: a server's last words come before its RST.
        Poll::Ready(Err(error)) if read.is_none() => return Poll::Ready(Err(error)),
        Poll::Ready(Err(_)) | Poll::Pending => 0,
    };
    if read.is_none() && wrote == 0 { Poll::Pending } else { Poll::Ready(Ok(Progress { read, wrote })) }
}

/// How much room is made for one read, in bytes. A server writes at most 8 KiB at a time.
pub const READ_CHUNK_BYTES: usize = 16 * 1024;

/// With less room than this a read is not worth its system call, and a new chunk is added. (With
/// more, a few bytes of an unfinished message do not make the buffer move.)
const LEAST_ROOM_BYTES: usize = 4 * 1024;

fn poll_read_into(
    cx: &mut Context<'_>,
    stream: &mut Stream,
    buffer: &mut BytesMut,
) -> Poll<io::Result<usize>> {
    if buffer.capacity() == 0
        && let Stream::Tcp(tcp) = stream
    {
        ready!(tcp.poll_read_ready(cx))?;
    }
    if buffer.capacity() - buffer.len() < LEAST_ROOM_BYTES {
        buffer.reserve(READ_CHUNK_BYTES);
    }
    // BytesMut is a Buf, not an AsyncRead target; `read_buf` is, and is cancel safe.
    let mut reading = std::pin::pin!(tokio::io::AsyncReadExt::read_buf(stream, buffer));
    reading.as_mut().poll(cx)
}

/// Writes until the stream takes no more or nothing is left, then flushes. Pending only if nothing
/// could be written.
fn poll_write_from(
    cx: &mut Context<'_>,
    stream: &mut Stream,
    buffer: &mut BytesMut,
) -> Poll<io::Result<usize>> {
    let mut wrote = 0;
    while !buffer.is_empty() {
        match Pin::new(&mut *stream).poll_write(cx, buffer) {
            Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            Poll::Ready(Ok(count)) => {
                buffer.advance(count);
                wrote += count;
            }
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending if wrote == 0 => return Poll::Pending,
            Poll::Pending => return Poll::Ready(Ok(wrote)),
        }
    }
    // TLS may hold back the last record; on TCP this does nothing.
    match Pin::new(stream).poll_flush(cx) {
        Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
        Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Ok(wrote)),
    }
}

/// What there is to read at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Now {
    Nothing,
    /// So many bytes.
    Bytes(usize),
    /// The end of the stream.
    End,
}

impl Stream {
    /// Reads what the runtime knows to be there, without waiting.
    pub(crate) fn read_now(&mut self, buffer: &mut [u8]) -> io::Result<Now> {
        let mut cx = Context::from_waker(Waker::noop());
        let mut buffer = ReadBuf::new(buffer);
        match Pin::new(self).poll_read(&mut cx, &mut buffer) {
            Poll::Pending => Ok(Now::Nothing),
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => Ok(Now::End),
            Poll::Ready(Ok(())) => Ok(Now::Bytes(buffer.filled().len())),
            Poll::Ready(Err(error)) => Err(error),
        }
    }

    /// What the system has for it, whether or not the runtime knows yet: nothing is taken.
    pub(crate) fn peek(&self) -> io::Result<Now> {
        let mut byte = [0];
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        match recv(self.socket(), &mut byte, flags) {
            Ok((_, 0)) => Ok(Now::End),
            Ok((_, bytes)) => Ok(Now::Bytes(bytes)),
            Err(Errno::AGAIN) => Ok(Now::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns when the runtime knows that there is something for it.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(tcp) => tcp.readable().await,
            Stream::Unix(unix) => unix.readable().await,
            Stream::Tls(tls) => tls.get_ref().0.readable().await,
        }
    }

    fn socket(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(tcp) => tcp.as_fd(),
            Stream::Unix(unix) => unix.as_fd(),
            Stream::Tls(tls) => tls.get_ref().0.as_fd(),
        }
    }

    /// Writes what the socket takes at once. For farewells.
    pub(crate) fn write_now(&mut self, bytes: &[u8]) {
        let mut cx = Context::from_waker(Waker::noop());
        // A farewell that does not get through is no loss: closing says the same.
        let _ = Pin::new(&mut *self).poll_write(&mut cx, bytes);
        let _ = Pin::new(self).poll_flush(&mut cx);
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_read(cx, buf),
            Stream::Unix(unix) => Pin::new(unix).poll_read(cx, buf),
            Stream::Tls(tls) => Pin::new(tls.as_mut()).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_write(cx, buf),
            Stream::Unix(unix) => Pin::new(unix).poll_write(cx, buf),
            Stream::Tls(tls) => Pin::new(tls.as_mut()).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_flush(cx),
            Stream::Unix(unix) => Pin::new(unix).poll_flush(cx),
            Stream::Tls(tls) => Pin::new(tls.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Stream::Unix(unix) => Pin::new(unix).poll_shutdown(cx),
            Stream::Tls(tls) => Pin::new(tls.as_mut()).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    async fn pair() -> (Stream, TcpStream) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (theirs, _) = listener.accept().await.unwrap();
        (ours.into(), theirs)
    }

    #[tokio::test]
    async fn both_directions_at_once_though_neither_peer_waits_for_the_other() {
        // Both sides send more than the socket buffers hold before they read: with one direction at
        // a time this would stand still.
        const BYTES: usize = 32 << 20;
        let (mut ours, theirs) = pair().await;
        let peer = tokio::spawn(async move {
            let (mut reader, mut writer) = theirs.into_split();
            writer.write_all(&vec![7; BYTES]).await.unwrap();
            let mut all = vec![0; BYTES];
            reader.read_exact(&mut all).await.unwrap();
            all.iter().all(|byte| *byte == 9)
        });
        let (mut read, mut out, mut buffer) = (0, BytesMut::from(&vec![9; BYTES][..]), BytesMut::new());
        while read < BYTES || !out.is_empty() {
            let moved = progress(&mut ours, Some(&mut buffer), &mut out).await.unwrap();
            assert!(moved.read.is_some() || moved.wrote > 0);
            assert!(buffer.iter().all(|byte| *byte == 7));
            read += moved.read.unwrap_or(0);
            buffer.clear();
        }
        assert!(peer.await.unwrap());
        assert_eq!(progress(&mut ours, Some(&mut buffer), &mut out).await.unwrap().read, Some(0));
    }

    #[tokio::test]
    async fn waiting_allocates_no_buffer() {
        let (mut ours, mut theirs) = pair().await;
        let (mut buffer, mut nothing) = (BytesMut::new(), BytesMut::new());
        for _ in 0..3 {
            let mut waiting = Box::pin(progress(&mut ours, Some(&mut buffer), &mut nothing));
            assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(buffer.capacity(), 0);
        theirs.write_all(b"x").await.unwrap();
        assert_eq!(progress(&mut ours, Some(&mut buffer), &mut nothing).await.unwrap().read, Some(1));
    }

    #[tokio::test]
    async fn nothing_is_read_under_back_pressure() {
        let (mut ours, mut theirs) = pair().await;
        theirs.write_all(b"unread").await.unwrap();
        let mut out = BytesMut::from(&b"written"[..]);
        let moved = progress(&mut ours, None, &mut out).await.unwrap();
        assert_eq!(moved, Progress { read: None, wrote: 7 });
        let mut seen = [0; 7];
        theirs.read_exact(&mut seen).await.unwrap();
        assert_eq!(&seen, b"written");
    }

    #[tokio::test]
    async fn what_there_is_at_this_moment_is_read_and_peeked_at_without_waiting() {
        let (mut ours, mut theirs) = pair().await;
        let mut buffer = [0; 8];
        assert_eq!(ours.read_now(&mut buffer).unwrap(), Now::Nothing);
        assert_eq!(ours.peek().unwrap(), Now::Nothing);
        theirs.write_all(b"x").await.unwrap();
        ours.readable().await.unwrap();
        assert_eq!(ours.peek().unwrap(), Now::Bytes(1));
        assert_eq!(ours.read_now(&mut buffer).unwrap(), Now::Bytes(1));
        assert_eq!(ours.read_now(&mut buffer).unwrap(), Now::Nothing);
        drop(theirs);
        // The system knows before the runtime does.
        assert_eq!(ours.peek().unwrap(), Now::End);
        ours.readable().await.unwrap();
        assert_eq!(ours.read_now(&mut buffer).unwrap(), Now::End);
    }
}
