//! A session that is ready: the stream, and what the server said of itself.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use bytes::BytesMut;

use crate::cancel::CancelKey;
use crate::carried::Carried;
use crate::frame::frontend;
use crate::io::Stream;
use crate::open::Route;
use crate::settings::{PinMoved, PinnedSettings};

/// A logged-in connection. Dropping it closes the socket.
pub struct Connection {
    /// The bytes in both directions.
    pub stream: Stream,
    /// Bytes that were read and not yet used: empty after the login, but for what a server sends
    /// unasked.
    pub incoming: BytesMut,
    /// What is left on it of its last user's, where connections go back without a reset.
    pub carried: Carried,
    pub(crate) cancel_key: CancelKey,
    pub(crate) parameters: BTreeMap<String, String>,
    /// Theirs, once it was asked for.
    pub(crate) fingerprint: Option<u64>,
    pub(crate) pins: PinnedSettings,
    pub(crate) server_version_num: u32,
    pub(crate) route: Arc<Route>,
}

impl Connection {
    /// The server process that serves it.
    pub fn backend_pid(&self) -> i32 {
        self.cancel_key.pid()
    }

    /// The settings that the server has reported, as last reported.
    pub fn parameters(&self) -> &BTreeMap<String, String> {
        &self.parameters
    }

    /// A number that is alike where [`Connection::parameters`] are alike.
    pub fn parameters_fingerprint(&mut self) -> u64 {
        *self.fingerprint.get_or_insert_with(|| {
            let mut hasher = DefaultHasher::new();
            self.parameters.hash(&mut hasher);
            hasher.finish()
        })
    }

    /// The server's version as a number, such as 150004.
    pub fn server_version_num(&self) -> u32 {
        self.server_version_num
    }

    /// Takes note of a ParameterStatus. Whoever reads from the stream calls it for each.
    ///
    /// # Errors
    ///
    /// A pinned setting has moved: the session must end, the connection must be dropped.
    pub fn note_parameter(&mut self, name: &str, value: &str) -> Result<(), PinMoved> {
        self.pins.watch(name, value)?;
        self.fingerprint = None;
        let known = self.parameters.len();
        match self.parameters.get_mut(name) {
            Some(known) => value.clone_into(known),
            // A server reports some fifteen settings; one that invents names gets no memory for it.
            None if known >= MAX_PARAMETERS => {}
            None => drop(self.parameters.insert(name.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// Says farewell, so that the server does not count the session as abandoned, and closes.
    pub(crate) fn terminate(mut self) {
        self.stream.write_now(frontend::TERMINATE);
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("backend_pid", &self.backend_pid())
            .field("server_version_num", &self.server_version_num)
            .finish_non_exhaustive()
    }
}

/// Reported settings that are kept.
pub(crate) const MAX_PARAMETERS: usize = 64;
