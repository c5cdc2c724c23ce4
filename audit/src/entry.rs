//! What callers can have written: strings and integers, borrowed for the time of the append.
//!
//! The order of the fields is the order of the keys in the line. The kinds that the log writes by itself
//! (`open`, `recovered`, `rotate`, `close`) are in [`crate::render`].

/// One line to be.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// A client proved who it is.
    Login(Login<'a>),
    /// A client did not, or so many that they have one line.
    LoginFailed(LoginFailed<'a>),
    /// A session ended.
    Logout(Logout<'a>),
    /// A statement was judged.
    Decision(Decision<'a>),
    /// How a statement that was let through ended.
    Completion(Completion<'a>),
    /// A client asked to cancel a statement.
    Cancel(Cancel<'a>),
    /// Configuration or policy was read again.
    Reload(Reload<'a>),
    /// A catalog was read.
    Catalog(Catalog<'a>),
    /// Verdicts were asked for over HTTP.
    Verify(Verify<'a>),
}

/// `login`
#[derive(Clone, Copy, Debug)]
pub struct Login<'a> {
    /// The session's number, the same in all its lines.
    pub session: u64,
    /// The user that logged in.
    pub user: &'a str,
    /// The user's role.
    pub role: &'a str,
    /// The user's tenant.
    pub tenant: Option<&'a str>,
    /// The database asked for.
    pub database: &'a str,
    /// The client's address with its port.
    pub client: &'a str,
    /// `application_name`, as the client gave it.
    pub application: Option<&'a str>,
    /// The TLS version, or none for a connection in the clear.
    pub tls: Option<&'a str>,
    /// How it proved it: `scram-sha-256`, `scram-sha-256-plus`.
    pub method: &'a str,
}

/// `login_failed`
#[derive(Clone, Copy, Debug)]
pub struct LoginFailed<'a> {
    /// The session's number; none in a line for several, which had none.
    pub session: Option<u64>,
    /// The name that was claimed; it may exist or not. In a line for several, here and below: what all of them have in
    /// common, or none.
    pub user: Option<&'a str>,
    /// The database asked for.
    pub database: Option<&'a str>,
    /// The client's address with its port; in a line for several without one.
    pub client: Option<&'a str>,
    /// The SQLSTATE that the client got.
    pub code: Option<&'a str>,
    /// The reason, which the client did not get.
    pub reason: Option<&'a str>,
    /// How many logins failed like this: more than one where there were too many for a line each.
    pub count: u64,
}

/// `logout`
#[derive(Clone, Copy, Debug)]
pub struct Logout<'a> {
    /// The session's number.
    pub session: u64,
    /// The user that was logged in.
    pub user: &'a str,
    /// How it ended: `terminate`, `eof`, `drain`, ….
    pub reason: &'a str,
    /// Decisions in the session.
    pub statements: u64,
    /// How many of them were denials.
    pub denied: u64,
    /// The session's length, in microseconds.
    pub duration_us: u64,
}

/// `decision`
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    /// The session's number.
    pub session: u64,
    /// The user who asked.
    pub user: &'a str,
    /// The user's role.
    pub role: &'a str,
    /// The user's tenant.
    pub tenant: Option<&'a str>,
    /// The database.
    pub database: &'a str,
    /// The client's address with its port.
    pub client: &'a str,
    /// The process number of the upstream backend, where there is one.
    pub backend: Option<i32>,
    /// Which protocol the statement came by.
    pub protocol: Protocol,
    /// Which message was judged.
    pub phase: Phase,
    /// The statement's text; none where only shapes are kept.
    pub statement: Option<&'a str>,
    /// The shape's fingerprint, written as 16 hex digits; none for text that has no shape.
    pub shape: Option<u64>,
    /// What was decided.
    pub verdict: Verdict,
    /// A denial's code.
    pub code: Option<&'a str>,
    /// A denial's position in the text, 1-based, in characters.
    pub position: Option<u64>,
    /// A denial's message.
    pub message: Option<&'a str>,
    /// The Bind's values, as far as they are kept.
    pub parameters: Parameters<'a>,
    /// The policy's version.
    pub policy: u64,
    /// The catalog's version, in hex; none before the first one was read.
    pub catalog: Option<&'a str>,
}

/// Simple or extended query protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `simple`
    Simple,
    /// `extended`
    Extended,
}

/// The message that was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// `query`
    Query,
    /// `parse`
    Parse,
    /// `bind`
    Bind,
    /// `execute`
    Execute,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// `allow`
    Allow,
    /// `deny`
    Deny,
    /// `would_deny`: let through, because the policy only observes.
    WouldDeny,
}

/// Bind values, as far as they are kept.
#[derive(Clone, Copy, Debug)]
pub enum Parameters<'a> {
    /// `null`
    None,
    /// A string: a hash over all of them, in the caller's form.
    Hash(&'a str),
    /// An array.
    Full(&'a [Parameter<'a>]),
}

/// One Bind value.
#[derive(Clone, Copy, Debug)]
pub enum Parameter<'a> {
    /// `null`
    Null,
    /// A string.
    Text(&'a str),
    /// `{"hex":"…"}`
    Binary(&'a [u8]),
}

/// `completion`
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    /// The decision's sequence number.
    pub of: u64,
    /// Whether PostgreSQL ran it.
    pub executed: Executed,
    /// The command tag.
    pub tag: Option<&'a str>,
    /// The SQLSTATE of the error that ended it.
    pub sqlstate: Option<&'a str>,
    /// Rows delivered to the client.
    pub rows: u64,
    /// From the statement's last byte in to the reply's last byte out, in microseconds.
    pub duration_us: u64,
}

/// Whether PostgreSQL ran a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executed {
    /// `true`
    Yes,
    /// `false`
    No,
    /// `"unknown"`: upstream died after the statement was forwarded.
    Unknown,
}

/// `cancel`
#[derive(Clone, Copy, Debug)]
pub struct Cancel<'a> {
    /// The session whose statement was meant; none where the key fits no session.
    pub session: Option<u64>,
    /// The address that asked, with its port.
    pub client: &'a str,
    /// What was done.
    pub outcome: CancelOutcome,
}

/// What became of a request to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// `forwarded`: sent on to the session's backend.
    Forwarded,
    /// `idle`: the session had nothing to cancel.
    Idle,
    /// `unknown_key`: the key fits no session.
    UnknownKey,
}

/// `reload`
#[derive(Clone, Copy, Debug)]
pub struct Reload<'a> {
    /// The file that was read.
    pub file: &'a str,
    /// The version of the policy that is in force after it.
    pub policy: u64,
    /// Why it was refused; none where it was applied.
    pub refused: Option<&'a str>,
}

/// `catalog`
#[derive(Clone, Copy, Debug)]
pub struct Catalog<'a> {
    /// The database whose catalog it is.
    pub database: &'a str,
    /// The catalog's version, in hex.
    pub catalog: &'a str,
    /// The version before it; none for the first one.
    pub previous: Option<&'a str>,
    /// The server's version number, as `server_version_num`.
    pub server_version_num: u32,
}

/// `verify`: one line a request, which may ask for many verdicts; nothing was executed.
#[derive(Clone, Copy, Debug)]
pub struct Verify<'a> {
    /// The name of the token that was shown; none where none is asked for.
    pub token: Option<&'a str>,
    /// The address that asked, with its port.
    pub client: &'a str,
    /// The database that all of it was about, if it was one.
    pub database: Option<&'a str>,
    /// Verdicts that were asked for.
    pub count: u64,
    /// How many of them were yes.
    pub allowed: u64,
    /// How many of them were no. The rest could not be read.
    pub denied: u64,
    /// The policy's version; of the last verdict, where a reload came in between.
    pub policy: Option<u64>,
    /// The catalog's version, in hex, likewise.
    pub catalog: Option<&'a str>,
}
