//! Connections: how many, and how long each may keep the listener waiting.
//!
//! Known from slow-header floods: a client that sends nothing, or takes nothing, loses its connection after the patience
//! of the configuration, by hyper's timer for heads, by our own for bodies, and by the system's for what it does not take.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use pgmoat_upstream::keep_alive;
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Admin;
use super::caller::Client;
use super::routes::router;

/// Begins to listen.
///
/// # Errors
/// From the system.
pub(crate) async fn bind(address: SocketAddr, silent: Duration) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address).await?;
    // The sockets that come of it have it too (tcp(7)).
    keep_alive(&listener, silent)?;
    Ok(listener)
}

/// Serves for ever.
pub(crate) async fn serve(listener: TcpListener, admin: Arc<Admin>) {
    let places = Arc::new(Semaphore::new(admin.limits.connections));
    let patience = admin.limits.patience;
    let service = TowerToHyperService::new(router(admin));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, address)) => {
                tokio::spawn(connection(stream, address, service.clone(), patience, place));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection for HTTP could not be accepted");
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

async fn connection(
    stream: TcpStream,
    address: SocketAddr,
    router: TowerToHyperService<axum::Router>,
    patience: Duration,
    _place: OwnedSemaphorePermit,
) {
    if let Err(error) = prepare(&stream, patience) {
        tracing::debug!(%error, "an HTTP client's socket");
    }
    let client = Client { address, name: address.to_string().into() };
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(client.clone());
        router.call(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, client = %address, "an HTTP connection ended");
    }
}

/// An answer leaves at once, and what is not taken for so long ends the connection, a closed window included (tcp(7),
/// TCP_USER_TIMEOUT).
fn prepare(stream: &TcpStream, patience: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let patience_ms = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX);
    sockopt::set_tcp_user_timeout(stream, patience_ms)?;
    Ok(())
}

/// After a failed accept (no file descriptor left, say), so that the loop does not spin.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
/// The longest head of a request, and what is read ahead of a body, in bytes.
const HEAD_BYTES_MAX: usize = 32 << 10;
