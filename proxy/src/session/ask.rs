//! What has to be judged, and the bytes that go upstream if it may.

use std::sync::Arc;

use bytes::BytesMut;
use pgmoat_policy::Oid;
use pgmoat_upstream::Prepared;
use pgmoat_upstream::frame::{EncodeError, frontend};

use super::message::{Bind, Parse};
use super::name::UpstreamName;
use super::terms::{Portal, Statement};

/// A question for the gate. Text and values are slices of the frame that is forwarded.
#[derive(Debug)]
pub enum Ask<'f> {
    /// A simple Query.
    Query {
        /// Its text.
        text: &'f str,
        /// All of its bytes.
        frame: &'f [u8],
    },
    /// A Parse.
    Parse {
        /// The message.
        parse: Parse<'f>,
        /// The name that it gets upstream.
        upstream: UpstreamName,
        /// The name that it gets where its text is not sent as it came.
        edited: UpstreamName,
        /// What its name stands for, where statements are shared.
        prepared: Option<Arc<Prepared>>,
        /// The client's name is live: the server will say so (42P05), after it has looked at the text.
        taken: Option<Arc<Statement>>,
    },
    /// A Bind.
    Bind {
        /// The message.
        bind: Bind<'f>,
        /// What it binds.
        statement: Arc<Statement>,
        /// The name that the portal gets upstream.
        portal: UpstreamName,
    },
    /// An Execute of a portal that was bound under other rules than those in force.
    Execute {
        /// The client's name of it.
        name: Arc<str>,
        /// The portal.
        portal: Arc<Portal>,
        /// The message's row limit.
        max_rows: i32,
    },
    /// A FunctionCall, which is never let through.
    FunctionCall,
}

/// A message that was judged, in the form in which it goes upstream: the client's own bytes, but for names
/// (contracts 2).
#[derive(Debug)]
pub enum JudgedBytes<'f> {
    /// As it came.
    Exact(&'f [u8]),
    /// A Query whose text had name tokens replaced.
    Query(String),
    /// A Parse under its upstream name: what follows the name is the client's.
    Parse(UpstreamName, &'f [u8]),
    /// The same with name tokens replaced in the text: the types are the client's.
    ParseText(UpstreamName, String, &'f [u8]),
    /// A Bind under upstream names (portal, statement): what follows them is the client's.
    Bind(UpstreamName, UpstreamName, &'f [u8]),
    /// A Bind of a text that is parsed once more for it, since names in it stand for something else by now.
    Rebind {
        /// What the text is called while it is bound.
        own: UpstreamName,
        /// The text.
        text: String,
        /// Its declared parameter types.
        types: Arc<[Oid]>,
        /// What the portal is called.
        portal: UpstreamName,
        /// What follows the names in the client's Bind.
        rest: &'f [u8],
    },
    /// An Execute under the upstream name.
    Execute(UpstreamName, i32),
}

impl JudgedBytes<'_> {
    /// Appends the message to what goes upstream.
    ///
    /// # Errors
    /// It would be longer than the protocol allows.
    pub(crate) fn write(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        match self {
            JudgedBytes::Exact(bytes) => {
                out.extend_from_slice(bytes);
                Ok(())
            }
            JudgedBytes::Query(text) => frontend::query(text.as_bytes(), out),
            JudgedBytes::Parse(name, rest) => frontend::parse_raw(&name.bytes(), rest, out),
            JudgedBytes::ParseText(name, text, types) => {
                let rest = [text.as_bytes(), b"\0", types].concat();
                frontend::parse_raw(&name.bytes(), &rest, out)
            }
            JudgedBytes::Bind(portal, statement, rest) => {
                frontend::bind_raw(&portal.bytes(), &statement.bytes(), rest, out)
            }
            JudgedBytes::Rebind { own, text, types, portal, rest } => {
                frontend::parse(&own.bytes(), text.as_bytes(), types, out)?;
                frontend::bind_raw(&portal.bytes(), &own.bytes(), rest, out)?;
                frontend::close(frontend::Object::Statement, &own.bytes(), out)
            }
            JudgedBytes::Execute(portal, max_rows) => frontend::execute(&portal.bytes(), *max_rows, out),
        }
    }
}
