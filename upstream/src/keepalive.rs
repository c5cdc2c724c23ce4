//! TCP keepalive: a machine that vanished without a word is found by the system, on both sides of the proxy.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::sockopt;

/// Has the system ask, once a connection has been silent for so long, whether the other side is still there. Where
/// `PROBES` questions in a row stay without an answer the connection is reset.
///
/// # Errors
///
/// From setsockopt(2): it is no TCP socket.
pub fn keep_alive(socket: impl AsFd, silent: Duration) -> io::Result<()> {
    let socket = socket.as_fd();
    sockopt::set_socket_keepalive(socket, true)?;
    // The system counts in whole seconds, from one on.
    sockopt::set_tcp_keepidle(socket, silent.max(SECOND))?;
    sockopt::set_tcp_keepintvl(socket, INTERVAL)?;
    sockopt::set_tcp_keepcnt(socket, PROBES)?;
    Ok(())
}

/// Questions without an answer that end a connection.
const PROBES: u32 = 4;
/// Between two of them.
const INTERVAL: Duration = Duration::from_secs(10);
const SECOND: Duration = Duration::from_secs(1);
