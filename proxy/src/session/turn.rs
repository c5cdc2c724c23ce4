//! Whose move it is: what a session that stands still is waiting for.

use pgmoat_upstream::frame::backend::TransactionStatus;

use super::{Input, Session};

/// Who has to do something for the session to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// The server: a statement runs.
    Servers,
    /// The client, and nothing is open.
    Clients,
    /// The client, which has a transaction, a batch or a copy open: locks are held.
    ClientsInside,
    /// The client, which has a batch open whose replies the server keeps until it is asked for them: whether a
    /// statement still runs cannot be told.
    ClientsOrServers,
}

impl Session {
    /// How many messages have asked for something. A client that only moves bytes asks for nothing.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// One more has, which was answered without a look at it.
    pub fn note_asked(&mut self) {
        self.asked += 1;
    }

    /// Whose move it is.
    pub fn whose_move(&self) -> Move {
        if self.is_copying() && self.takes_copy_data() {
            return Move::ClientsInside;
        }
        match (self.queue.is_empty(), self.input) {
            (true, Input::Synced) if self.status == TransactionStatus::Idle => Move::Clients,
            (true, Input::Synced | Input::Unsynced | Input::Refused | Input::Skipping) => Move::ClientsInside,
            (false, Input::Synced) => Move::Servers,
            (false, Input::Unsynced | Input::Refused | Input::Skipping) => {
                match self.queue.will_be_answered() {
                    true => Move::Servers,
                    false => Move::ClientsOrServers,
                }
            }
        }
    }
}
