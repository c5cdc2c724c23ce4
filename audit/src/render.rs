//! From an entry to the part of a line that is the kind's own: `,"key":value…`, in the order of contracts 4.

use crate::head::Head;
use crate::json::{self, Fields};
use crate::{
    Cancel, CancelOutcome, Catalog, Completion, Decision, Durability, Entry, Executed, Kind, Login,
    LoginFailed, Logout, Parameter, Parameters, Phase, Protocol, Reload, Verdict, Verify,
};

/// Every kind of line: the callers' and the log's own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Line<'a> {
    Open(Open<'a>),
    Recovered(Recovered),
    Rotate(Rotate<'a>),
    Close(Close),
    Entry(&'a Entry<'a>),
}

/// `open`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open<'a> {
    /// Whether the file had lines before this one. What makes a file whose first lines were dropped
    /// recognisable.
    pub(crate) resumed: bool,
    /// The last line before this one, in this file or in the one before it.
    pub(crate) after: Option<Head>,
    /// The key's public identifier.
    pub(crate) key: Option<&'a str>,
    pub(crate) durability: Durability,
    /// The version of pgmoat that writes.
    pub(crate) version: &'a str,
}

/// `recovered`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovered {
    /// How many bytes of a torn line were moved to FILE.torn.
    pub(crate) bytes: u64,
}

/// `rotate`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotate<'a> {
    /// The name that this file gets.
    pub(crate) file: &'a str,
}

/// `close`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Close {
    /// The sequence number of the `open` line of the same process.
    pub(crate) opened: u64,
}

impl Line<'_> {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Open(_) => Kind::Open,
            Self::Recovered(_) => Kind::Recovered,
            Self::Rotate(_) => Kind::Rotate,
            Self::Close(_) => Kind::Close,
            Self::Entry(entry) => match entry {
                Entry::Login(_) => Kind::Login,
                Entry::LoginFailed(_) => Kind::LoginFailed,
                Entry::Logout(_) => Kind::Logout,
                Entry::Decision(_) => Kind::Decision,
                Entry::Completion(_) => Kind::Completion,
                Entry::Cancel(_) => Kind::Cancel,
                Entry::Reload(_) => Kind::Reload,
                Entry::Catalog(_) => Kind::Catalog,
                Entry::Verify(_) => Kind::Verify,
            },
        }
    }

    pub(crate) fn render(&self, out: &mut Vec<u8>) {
        let mut fields = Fields(out);
        match self {
            Self::Open(line) => line.render(&mut fields),
            Self::Recovered(line) => {
                fields.number("bytes", line.bytes);
            }
            Self::Rotate(line) => {
                fields.text("file", line.file);
            }
            Self::Close(line) => {
                fields.number("opened", line.opened);
            }
            Self::Entry(entry) => match entry {
                Entry::Login(entry) => entry.render(&mut fields),
                Entry::LoginFailed(entry) => entry.render(&mut fields),
                Entry::Logout(entry) => entry.render(&mut fields),
                Entry::Decision(entry) => entry.render(&mut fields),
                Entry::Completion(entry) => entry.render(&mut fields),
                Entry::Cancel(entry) => entry.render(&mut fields),
                Entry::Reload(entry) => entry.render(&mut fields),
                Entry::Catalog(entry) => entry.render(&mut fields),
                Entry::Verify(entry) => entry.render(&mut fields),
            },
        }
    }
}

impl Open<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields.boolean("resumed", self.resumed);
        // Opening is rare: this may allocate.
        fields.text_or_null("after", self.after.map(|head| head.to_string()).as_deref());
        fields.text_or_null("key", self.key);
        fields.text("durability", self.durability.name());
        fields.text("pgmoat", self.version);
    }
}

impl Login<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .number("session", self.session)
            .text("user", self.user)
            .text("role", self.role)
            .text_or_null("tenant", self.tenant)
            .text("database", self.database)
            .text("client", self.client)
            .text_or_null("application", self.application)
            .text_or_null("tls", self.tls)
            .text("method", self.method);
    }
}

impl LoginFailed<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .number_or_null("session", self.session)
            .text_or_null("user", self.user)
            .text_or_null("database", self.database)
            .text_or_null("client", self.client)
            .text_or_null("code", self.code)
            .text_or_null("reason", self.reason)
            .number("count", self.count);
    }
}

impl Logout<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .number("session", self.session)
            .text("user", self.user)
            .text("reason", self.reason)
            .number("statements", self.statements)
            .number("denied", self.denied)
            .number("duration_us", self.duration_us);
    }
}

impl Decision<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .number("session", self.session)
            .text("user", self.user)
            .text("role", self.role)
            .text_or_null("tenant", self.tenant)
            .text("database", self.database)
            .text("client", self.client)
            .signed_or_null("backend", self.backend)
            .text("protocol", protocol(self.protocol))
            .text("phase", phase(self.phase))
            .text_or_null("statement", self.statement)
            .hex_or_null("shape", self.shape)
            .text("verdict", verdict(self.verdict))
            .text_or_null("code", self.code)
            .number_or_null("position", self.position)
            .text_or_null("message", self.message);
        parameters(fields, &self.parameters);
        fields.number("policy", self.policy).text_or_null("catalog", self.catalog);
    }
}

impl Completion<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields.number("of", self.of);
        match self.executed {
            Executed::Yes => fields.boolean("executed", true),
            Executed::No => fields.boolean("executed", false),
            Executed::Unknown => fields.text("executed", "unknown"),
        };
        fields
            .text_or_null("tag", self.tag)
            .text_or_null("sqlstate", self.sqlstate)
            .number("rows", self.rows)
            .number("duration_us", self.duration_us);
    }
}

impl Cancel<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        let outcome = match self.outcome {
            CancelOutcome::Forwarded => "forwarded",
            CancelOutcome::Idle => "idle",
            CancelOutcome::UnknownKey => "unknown_key",
        };
        fields.number_or_null("session", self.session).text("client", self.client).text("outcome", outcome);
    }
}

impl Reload<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields.text("file", self.file).number("policy", self.policy).text_or_null("refused", self.refused);
    }
}

impl Catalog<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .text("database", self.database)
            .text("catalog", self.catalog)
            .text_or_null("previous", self.previous)
            .number("server_version_num", u64::from(self.server_version_num));
    }
}

impl Verify<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .text_or_null("token", self.token)
            .text("client", self.client)
            .text_or_null("database", self.database)
            .number("count", self.count)
            .number("allowed", self.allowed)
            .number("denied", self.denied)
            .number_or_null("policy", self.policy)
            .text_or_null("catalog", self.catalog);
    }
}

fn parameters(fields: &mut Fields<'_>, parameters: &Parameters<'_>) {
    let values = match parameters {
        Parameters::None => {
            fields.null("parameters");
            return;
        }
        Parameters::Hash(hash) => {
            fields.text("parameters", hash);
            return;
        }
        Parameters::Full(values) => values,
    };
    fields.name("parameters");
    let out = &mut *fields.0;
    out.push(b'[');
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match value {
            Parameter::Null => out.extend_from_slice(b"null"),
            // INVARIANT (one `,"hash"`): a line is hashed up to `,"hash"`, and an array is the one place
            // where a value could spell it; so that value is written with an escape, and a reader may look
            // from either end.
            Parameter::Text("hash") => out.extend_from_slice(b"\"\\u0068ash\""),
            Parameter::Text(text) => json::string(out, text),
            Parameter::Binary(bytes) => {
                out.extend_from_slice(b"{\"hex\":\"");
                json::hex(out, bytes);
                out.extend_from_slice(b"\"}");
            }
        }
    }
    out.push(b']');
}

/// The version of pgmoat that writes.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

const fn protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Simple => "simple",
        Protocol::Extended => "extended",
    }
}

const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Query => "query",
        Phase::Parse => "parse",
        Phase::Bind => "bind",
        Phase::Execute => "execute",
    }
}

const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Deny => "deny",
        Verdict::WouldDeny => "would_deny",
    }
}
