//! A way to the server on which CancelRequests are held up: what a slow network does to them.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use crate::patience::eventually;

/// A forwarder to a port of this machine.
pub(crate) struct HeldCancels {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    seen: AtomicUsize,
    open: Mutex<bool>,
    opened: Condvar,
}

impl HeldCancels {
    pub(crate) fn to(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let of_all = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, state) = (client.unwrap(), Arc::clone(&of_all));
                thread::spawn(move || forward(client, server, &state));
            }
        });
        Self { port, state }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// How many CancelRequests have come.
    pub(crate) fn seen(&self) -> usize {
        self.state.seen.load(Ordering::SeqCst)
    }

    pub(crate) fn until_seen(&self, count: usize) {
        eventually("a cancel is on its way", || self.seen() >= count);
    }

    /// Lets go what is held, and holds nothing from now on.
    pub(crate) fn let_go(&self) {
        *self.state.open.lock().unwrap() = true;
        self.state.opened.notify_all();
    }
}

fn forward(mut client: TcpStream, server: u16, state: &State) {
    let mut first = [0; 8];
    // A connection that says nothing is none of the test's.
    if client.read_exact(&mut first).is_err() {
        return;
    }
    if first[4..] == CANCEL_REQUEST.to_be_bytes() {
        state.seen.fetch_add(1, Ordering::SeqCst);
        drop(state.opened.wait_while(state.open.lock().unwrap(), |open| !*open).unwrap());
    }
    let mut upstream = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).unwrap();
    upstream.write_all(&first).unwrap();
    let (from, to) = (upstream.try_clone().unwrap(), client.try_clone().unwrap());
    let back = thread::spawn(move || pipe(from, to));
    pipe(client, upstream);
    back.join().unwrap();
}

/// Until either side has ended, whichever way.
fn pipe(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

const CANCEL_REQUEST: u32 = 80_877_102;
