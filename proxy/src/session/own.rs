//! The proxy's own statement in a client's session: the start-up settings, given to upstream.
//!
//! It goes by the extended protocol under names of the proxy's own, so that it touches nothing that the client may
//! still use: a Query would make the unnamed statement and portal go.

use std::sync::Arc;

use pgmoat_upstream::frame::frontend::Object;

use super::Session;
use super::name::UpstreamName;
use super::queue::{Entry, Fate, What};

/// What the proxy's own statement and portal are called upstream.
#[derive(Debug, Clone, Copy)]
pub struct OwnNames {
    /// The statement.
    pub statement: UpstreamName,
    /// The portal.
    pub portal: UpstreamName,
}

impl Session {
    /// A statement of the proxy's own is being sent, whose replies the client does not see: Parse, Bind, Execute,
    /// Close of the statement, Sync.
    pub fn inject(&mut self, now_us: u64) -> OwnNames {
        let bind = What::Bind { portal: no_name(), statement: no_name(), change: None, decision: 0 };
        let execute = What::Execute { name: no_name(), portal: None };
        for what in [own_parse(), bind, execute, own_close(), What::Sync] {
            self.owe(what, Fate::Skip, self.rules.errors, now_us);
        }
        self.batch += 1;
        OwnNames { statement: self.own_name(), portal: self.own_name() }
    }

    /// A statement of the proxy's own runs, and nothing of the client's may run before it has ended.
    pub fn is_being_set_up(&mut self) -> bool {
        self.queue.head().is_some_and(Entry::is_own)
    }
}

pub(super) fn own_parse() -> What {
    What::Parse { name: no_name(), change: None, decision: 0 }
}

pub(super) fn own_close() -> What {
    What::Close { object: Object::Statement, name: no_name() }
}

/// The client has no name for it.
fn no_name() -> Arc<str> {
    Arc::from("")
}
