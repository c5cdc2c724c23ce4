//! One read buffer for all sessions of a thread.
//!
//! What is read is mostly handled and written at once; only what cannot be is kept, in a buffer of the session's own.
//! So an idle session holds no buffer at all (wire 6), and a burst allocates none.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Lends the thread's buffer.
pub(super) fn with<T>(work: impl FnOnce(&mut [u8]) -> T) -> T {
    SCRATCH.with_borrow_mut(|scratch| work(scratch))
}

/// Reads once; the bytes that have come, none at the end of the stream.
pub(super) fn poll_fill<'s, S: AsyncRead + Unpin>(
    stream: &mut S,
    cx: &mut Context<'_>,
    scratch: &'s mut [u8],
) -> Poll<io::Result<&'s [u8]>> {
    let mut buf = ReadBuf::new(scratch);
    ready!(Pin::new(stream).poll_read(cx, &mut buf))?;
    let filled = buf.filled().len();
    Poll::Ready(Ok(scratch.get(..filled).unwrap_or_default()))
}

thread_local! {
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; SCRATCH_BYTES].into_boxed_slice());
}

/// Big enough that a large result costs few system calls.
const SCRATCH_BYTES: usize = 64 << 10;
