//! The accept loop and the end of it.
//!
//! SIGTERM and SIGINT stop accepting; idle clients get 57P01, busy ones finish until the deadline,
//! then they are cancelled. A second signal ends at once (wire 7).

use std::future::{Future as _, poll_fn};
use std::io;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use pgmoat_audit::{Entry, Logout};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::front::Front;
use super::login::{self, Admission, Outcome};
use super::places::{Knock, Unauthenticated};
use super::sockets::Socket;
use crate::clock;
use crate::link::{self, ClientStream};
use crate::shared::Peer;

/// After a failed accept (no file descriptor left, say), so that the loop does not spin.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
/// Clients over the limit that are being told so at one time.
const TURNED_AWAY_MAX: usize = 64;
/// How often the end of a drain is looked for.
const DRAIN_POLL: Duration = Duration::from_millis(20);
/// How long sessions that were told to end at once may take to say so.
const TERMINATE_GRACE: Duration = Duration::from_secs(2);

/// How many clients, and how long a shutdown waits for them.
pub(crate) struct Limits {
    /// Connections at one time, logins included.
    pub(crate) max_clients: usize,
    /// Those of them that have not logged in.
    pub(crate) unauthenticated: usize,
    /// The same from one address.
    pub(crate) unauthenticated_per_address: usize,
    /// From SIGTERM to cancelling what still runs.
    pub(crate) drain_timeout: Duration,
}

/// Serves until a signal ends it; returns when every session has ended.
///
/// # Errors
/// The process cannot listen for signals.
pub(crate) async fn serve(sockets: Vec<Socket>, front: Arc<Front>, limits: Limits) -> io::Result<()> {
    let mut signals = Signals::new()?;
    accept_until(&mut signals, &sockets, &front, &limits).await;
    drop(sockets);
    drain(&mut signals, &front, limits.drain_timeout).await;
    Ok(())
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => (),
            _ = self.interrupt.recv() => (),
        }
    }
}

async fn accept_until(signals: &mut Signals, sockets: &[Socket], front: &Arc<Front>, limits: &Limits) {
    let places = Places {
        clients: Arc::new(Semaphore::new(limits.max_clients)),
        unauthenticated: Unauthenticated::new(limits.unauthenticated, limits.unauthenticated_per_address),
        turned_away: Arc::new(Semaphore::new(TURNED_AWAY_MAX)),
    };
    let mut turn = 0_usize;
    loop {
        turn = turn.wrapping_add(1);
        let accepted = tokio::select! {
            () = signals.next() => return,
            accepted = accept(sockets, turn) => accepted,
        };
        match accepted {
            Ok((stream, peer)) => welcome(stream, peer, front, &places),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

/// The next client of any socket. Each turn another socket is asked first, so that none starves behind a busy one.
async fn accept(sockets: &[Socket], turn: usize) -> io::Result<(ClientStream, Peer)> {
    let (before, from) = sockets.split_at(turn.checked_rem(sockets.len()).unwrap_or(0));
    let mut accepts: Vec<_> = from.iter().chain(before).map(|socket| Box::pin(socket.accept())).collect();
    poll_fn(|cx| {
        let ready = accepts.iter_mut().find_map(|accept| match accept.as_mut().poll(cx) {
            Poll::Ready(accepted) => Some(accepted),
            Poll::Pending => None,
        });
        ready.map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

/// Room for clients, and for those who are told that there is none.
struct Places {
    clients: Arc<Semaphore>,
    unauthenticated: Arc<Unauthenticated>,
    turned_away: Arc<Semaphore>,
}

fn welcome(stream: ClientStream, peer: Peer, front: &Arc<Front>, places: &Places) {
    let knock = places.unauthenticated.take(peer.ip());
    let place = Arc::clone(&places.clients).try_acquire_owned();
    if let (Some(knock), Ok(place)) = (knock, place) {
        tokio::spawn(client(stream, peer, Arc::clone(front), knock, place));
    } else if let Ok(place) = Arc::clone(&places.turned_away).try_acquire_owned() {
        tokio::spawn(turn_away(stream, peer, Arc::clone(front), place));
    }
    // Else the socket is closed without a word: a flood is not owed any memory.
}

/// One client, from accept to the end of its session. The two halves are boxed so that an idle
/// session does not carry the login's state.
async fn client(
    stream: ClientStream,
    peer: Peer,
    front: Arc<Front>,
    knock: Knock,
    _place: OwnedSemaphorePermit,
) {
    let outcome = Box::pin(login::log_in(stream, peer, &front)).await;
    drop(knock);
    let Outcome::Session(admission) = outcome else { return };
    Box::pin(session(*admission, front)).await;
}

async fn session(admission: Admission, front: Arc<Front>) {
    let Admission { stream, info, database, control, registration, leftover } = admission;
    let (id, user, begun) = (info.id, Arc::clone(&info.user), Instant::now());
    let shared = Arc::clone(&front.shared);
    let ending = Box::pin(link::serve(stream, leftover, info, database, control, shared)).await;
    drop(registration);
    let duration_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    let logout = Logout {
        session: id,
        user: &user,
        reason: ending.reason,
        statements: ending.statements,
        denied: ending.denied,
        duration_us,
    };
    if let Err(error) = front.shared.audit.append_unawaited(clock::now(), &Entry::Logout(logout)) {
        tracing::debug!(%error, "a logout was not audited");
    }
}

/// Too many clients: PostgreSQL's own answer, without taking a client's place.
async fn turn_away(stream: ClientStream, peer: Peer, front: Arc<Front>, _place: OwnedSemaphorePermit) {
    login::turn_away(stream, peer, &front).await;
}

async fn drain(signals: &mut Signals, front: &Front, patience: Duration) {
    front.end();
    tracing::info!(sessions = front.sessions.count(), "shutting down: no new clients");
    // Asked again each time round: a login may have been under way.
    let idle = all_gone(front, |control| control.drain());
    let deadline = tokio::time::timeout(patience, idle);
    tokio::select! {
        () = signals.next() => return,
        finished = deadline => if finished.is_ok() { return },
    }
    tracing::warn!(sessions = front.sessions.count(), "the deadline has passed: cancelling what still runs");
    let ended = tokio::time::timeout(TERMINATE_GRACE, all_gone(front, |control| control.terminate()));
    tokio::select! {
        () = signals.next() => (),
        _ = ended => (),
    }
}

async fn all_gone(front: &Front, tell: impl Fn(&crate::shared::Control)) {
    loop {
        for control in front.sessions.all() {
            tell(&control);
        }
        if front.sessions.count() == 0 {
            return;
        }
        tokio::time::sleep(DRAIN_POLL).await;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;
    use crate::config::Listen;

    /// A socket whose queue is never empty does not keep the others' clients waiting.
    #[tokio::test]
    async fn each_socket_has_its_turn() {
        let free = Listen::Tcp(([127, 0, 0, 1], 0).into());
        let (mut sockets, mut clients) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let socket = Socket::bind(&free, 0, Duration::from_secs(60)).await.unwrap();
            let Ok(Listen::Tcp(address)) = socket.local() else { continue };
            for _ in 0..3 {
                clients.push((sockets.len(), tokio::net::TcpStream::connect(address).await.unwrap()));
            }
            sockets.push(socket);
        }
        let mut served = Vec::new();
        for turn in 0..sockets.len() {
            let (_, peer) = accept(&sockets, turn).await.unwrap();
            let from = |client: &tokio::net::TcpStream| peer == Peer::Tcp(client.local_addr().unwrap());
            served.extend(clients.iter().filter(|(_, client)| from(client)).map(|(socket, _)| *socket));
        }
        served.sort_unstable();
        assert_eq!(served, [0, 1, 2]);
    }
}
