//! From an entry to the part of a line that is the kind's own: `,"key":value…`, in the order of contracts 4.

use crate::head::Head;
use crate::json::{self, Fields, key};
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
                fields.number(key!("bytes"), line.bytes);
            }
            Self::Rotate(line) => {
                fields.text(key!("file"), line.file);
            }
            Self::Close(line) => {
                fields.number(key!("opened"), line.opened);
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
        fields.boolean(key!("resumed"), self.resumed);
        // Opening is rare: this may allocate.
        fields.text_or_null(key!("after"), self.after.map(|head| head.to_string()).as_deref());
        fields.text_or_null(key!("key"), self.key);
        fields.text(key!("durability"), self.durability.name());
        fields.text(key!("pgmoat"), self.version);
    }
}

impl Login<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .number(key!("session"), self.session)
            .text(key!("user"), self.user)
            .text(key!("role"), self.role)
            .text_or_null(key!("tenant"), self.tenant)
            .text(key!("database"), self.database)
            .text(key!("client"), self.client)
            .text_or_null(key!("application"), self.application)
            .text_or_null(key!("tls"), self.tls)
            .text(key!("method"), self.method);
    }
}

impl LoginFailed<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .number_or_null(key!("session"), self.session)
            .text_or_null(key!("user"), self.user)
            .text_or_null(key!("database"), self.database)
            .text_or_null(key!("client"), self.client)
            .text_or_null(key!("code"), self.code)
            .text_or_null(key!("reason"), self.reason)
            .number(key!("count"), self.count);
    }
}

impl Logout<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .number(key!("session"), self.session)
            .text(key!("user"), self.user)
            .text(key!("reason"), self.reason)
            .number(key!("statements"), self.statements)
            .number(key!("denied"), self.denied)
            .number(key!("duration_us"), self.duration_us);
    }
}

impl Decision<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .number(key!("session"), self.session)
            .text(key!("user"), self.user)
            .text(key!("role"), self.role)
            .text_or_null(key!("tenant"), self.tenant)
            .text(key!("database"), self.database)
            .text(key!("client"), self.client)
            .signed_or_null(key!("backend"), self.backend)
            .text(key!("protocol"), protocol(self.protocol))
            .text(key!("phase"), phase(self.phase))
            .text_or_null(key!("statement"), self.statement)
            .hex_or_null(key!("shape"), self.shape)
            .text(key!("verdict"), verdict(self.verdict))
            .text_or_null(key!("code"), self.code)
            .number_or_null(key!("position"), self.position)
            .text_or_null(key!("message"), self.message);
        parameters(fields, &self.parameters);
        fields.number(key!("policy"), self.policy).text_or_null(key!("catalog"), self.catalog);
    }
}

impl Completion<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields.number(key!("of"), self.of);
        match self.executed {
            Executed::Yes => fields.boolean(key!("executed"), true),
            Executed::No => fields.boolean(key!("executed"), false),
            Executed::Unknown => fields.text(key!("executed"), "unknown"),
        };
        fields
            .text_or_null(key!("tag"), self.tag)
            .text_or_null(key!("sqlstate"), self.sqlstate)
            .number(key!("rows"), self.rows)
            .number(key!("duration_us"), self.duration_us);
    }
}

impl Cancel<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        let outcome = match self.outcome {
            CancelOutcome::Forwarded => "forwarded",
            CancelOutcome::Idle => "idle",
            CancelOutcome::UnknownKey => "unknown_key",
        };
        fields
            .number_or_null(key!("session"), self.session)
            .text(key!("client"), self.client)
            .text(key!("outcome"), outcome);
    }
}

impl Reload<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .text(key!("file"), self.file)
            .number(key!("policy"), self.policy)
            .text_or_null(key!("refused"), self.refused);
    }
}

impl Catalog<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .text(key!("database"), self.database)
            .text(key!("catalog"), self.catalog)
            .text_or_null(key!("previous"), self.previous)
            .number(key!("server_version_num"), u64::from(self.server_version_num));
    }
}

impl Verify<'_> {
    fn render(&self, fields: &mut Fields<'_>) {
        fields
            .text_or_null(key!("token"), self.token)
            .text(key!("client"), self.client)
            .text_or_null(key!("database"), self.database)
            .number(key!("count"), self.count)
            .number(key!("allowed"), self.allowed)
            .number(key!("denied"), self.denied)
            .number_or_null(key!("policy"), self.policy)
            .text_or_null(key!("catalog"), self.catalog);
    }
}

fn parameters(fields: &mut Fields<'_>, parameters: &Parameters<'_>) {
    let values = match parameters {
        Parameters::None => {
            fields.null(key!("parameters"));
            return;
        }
        Parameters::Hash(hash) => {
            fields.text(key!("parameters"), hash);
            return;
        }
        Parameters::Full(values) => values,
    };
    fields.key(key!("parameters"));
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
