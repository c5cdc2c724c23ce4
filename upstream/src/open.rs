//! An open stream to one server, under its TLS policy.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use crate::address::{Address, Endpoint, socket_path};
use crate::connect_error::{ConnectError, Stage};
use crate::frame::frontend;
use crate::io::Stream;
use crate::keepalive::keep_alive;
use crate::tls;

/// The way to one server: a name may have several addresses, and a cancel request has to go to the one that its
/// connection went to.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// The server's number in [`Target::hosts`](crate::Target::hosts).
    pub(crate) host: usize,
    /// How it is reached.
    pub(crate) endpoint: Arc<Endpoint>,
    /// Its address; none for a Unix socket.
    pub(crate) at: Option<SocketAddr>,
}

/// An open stream under the endpoint's TLS policy, before any start-up packet. No time limit.
pub(crate) async fn open(route: &Route, stage: &mut Stage) -> Result<Stream, ConnectError> {
    let at = |stage: Stage| move |error: io::Error| ConnectError::Io { stage, error };
    let endpoint = &*route.endpoint;
    let (host, address) = match (&endpoint.address, route.at) {
        (Address::Tcp { host, .. }, Some(address)) => (host, address),
        (Address::Tcp { .. }, None) => {
            return Err(at(Stage::Tcp)(io::Error::other("the name has no address")));
        }
        (Address::Unix { .. }, _) if endpoint.tls.config().is_some() => return Err(ConnectError::TlsRefused),
        (Address::Unix { folder, port }, _) => {
            let unix = UnixStream::connect(socket_path(folder, *port)).await.map_err(at(Stage::Tcp))?;
            return Ok(unix.into());
        }
    };
    let mut tcp = TcpStream::connect(address).await.map_err(at(Stage::Tcp))?;
    tcp.set_nodelay(true).map_err(at(Stage::Tcp))?;
    if let Some(silent) = endpoint.keepalive {
        keep_alive(&tcp, silent).map_err(at(Stage::Tcp))?;
    }
    let Some(config) = endpoint.tls.config() else { return Ok(tcp.into()) };

    *stage = Stage::Tls;
    let mut request = BytesMut::with_capacity(8);
    frontend::ssl_request(&mut request);
    tcp.write_all(&request).await.map_err(at(Stage::Tls))?;
    // One byte and no more: what follows it must be TLS (CVE-2021-23222's kind).
    match tcp.read_u8().await.map_err(at(Stage::Tls))? {
        b'S' => {}
        // An error message here is not authenticated by anything; do not show it (CVE-2024-10977).
        _ => return Err(ConnectError::TlsRefused),
    }
    let stream = tls::handshake(config, host, tcp).await.map_err(at(Stage::Tls))?;
    Ok(stream.into())
}
