//! Connections: how long each may keep the listener waiting.
//!
//! A client that sends nothing loses its connection by its seat while it is a stranger, by hyper's timer for heads once it
//! is known, and by our own timer in the middle of a body; a client that takes nothing, by its socket's.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use pgmoat_upstream::keep_alive;
use tokio::net::TcpStream;

use super::Admin;
use super::caller::Client;
use super::paced::Paced;
use super::routes::router;
use super::seats::{Seated, Seats};

/// Begins to listen. No connection is accepted yet.
///
/// # Errors
/// From the system.
pub(crate) async fn bind(address: SocketAddr, silent: Duration) -> io::Result<TcpListener> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    // The sockets that come of it have it too (tcp(7)).
    keep_alive(&listener, silent)?;
    // It is served by other threads than these.
    listener.into_std()
}

/// Serves for ever.
pub(super) async fn serve(listener: tokio::net::TcpListener, admin: Arc<Admin>) {
    let limits = admin.limits;
    let seats = Seats::new(limits.connections, limits.unauthenticated.min(limits.patience));
    let service = TowerToHyperService::new(router(admin));
    while let Some(room) = seats.room().await {
        match listener.accept().await {
            Ok((stream, address)) => {
                let seated = seats.seat(room);
                tokio::spawn(connection(stream, address, service.clone(), limits.patience, seated));
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
    seated: Seated,
) {
    let stream = match Paced::new(stream, patience) {
        Ok(stream) => stream,
        Err(error) => {
            tracing::warn!(%error, client = %address, "an HTTP connection cannot be bounded, and is closed");
            return;
        }
    };
    let seat = Arc::clone(&seated.seat);
    let client = Client { address, name: address.to_string().into(), seat: Arc::clone(&seat) };
    let service = service_fn(move |mut request: Request<Incoming>| {
        client.seat.asks();
        let seat = Arc::clone(&client.seat);
        request.extensions_mut().insert(client.clone());
        let answer = router.call(request);
        async move {
            let answer = answer.await;
            seat.answered();
            answer
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        served = serving => {
            if let Err(error) = served {
                tracing::debug!(%error, client = %address, "an HTTP connection ended");
            }
        }
        () = seat.ends() => tracing::debug!(client = %address, "an HTTP client has asked nothing for too long"),
    }
}

/// After a failed accept (no file descriptor left, say), so that the loop does not spin.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
/// The longest head of a request, and what is read ahead of a body, in bytes.
const HEAD_BYTES_MAX: usize = 32 << 10;
