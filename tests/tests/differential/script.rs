//! Scripts, and how they are written down for the reader of a failed test.

use std::fmt;

use pgmoat_tests::Front;

/// What one client says, from login to good-bye.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) name: String,
    pub(crate) role: Role,
    /// Start-up settings of the client's own.
    pub(crate) settings: &'static [(&'static str, &'static str)],
    pub(crate) steps: Vec<Step>,
}

/// As whom it is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing is refused (but FunctionCall).
    Unrestricted,
    /// acme_app of the lab.
    Tenant,
}

/// Messages that are sent together.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) say: Vec<Say>,
    /// The longest write, in bytes.
    pub(crate) write_bytes: usize,
    pub(crate) then: Then,
}

/// What is waited for after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// All replies: a run of messages of the player's own follows, whose answer ends like no other.
    Settle,
    /// As much as PostgreSQL sends unasked: a Flush, and an error, are answered at once.
    Peek,
    /// One ReadyForQuery, and no message of the player's own before the next step.
    Ready,
    /// Nothing: the next step comes at once.
    Go,
}

/// One message at both doors.
#[derive(Debug, Clone)]
pub(crate) enum Say {
    Same(Front),
    /// What the proxy refuses, and what PostgreSQL refuses in its place.
    Denied {
        proxied: Front,
        direct: Front,
    },
}

/// The two doors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Direct,
    Proxied,
}

impl Say {
    pub(crate) fn at(&self, door: Door) -> &Front {
        match (self, door) {
            (Self::Same(front), _)
            | (Self::Denied { direct: front, .. }, Door::Direct)
            | (Self::Denied { proxied: front, .. }, Door::Proxied) => front,
        }
    }
}

/// A step of whole writes, up to all its replies.
pub(crate) fn step(say: Vec<Front>) -> Step {
    Step { say: say.into_iter().map(Say::Same).collect(), write_bytes: usize::MAX, then: Then::Settle }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} as {:?} {:?}", self.name, self.role, self.settings)?;
        for step in &self.steps {
            let words: Vec<String> = step.say.iter().map(said).collect();
            let split = if step.write_bytes == usize::MAX {
                String::new()
            } else {
                format!(" by {}", step.write_bytes)
            };
            writeln!(f, "  [{}] {:?}{split}", words.join(", "), step.then)?;
        }
        Ok(())
    }
}

fn said(say: &Say) -> String {
    match say {
        Say::Same(front) => word(front),
        Say::Denied { proxied, .. } => format!("denied {}", word(proxied)),
    }
}

fn word(front: &Front) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match front {
        Front::Query(sql) => format!("q({sql:?})"),
        Front::Parse(name, sql, types) => format!("p({name:?}, {sql:?}, {types:?})"),
        Front::Bind(portal, statement, values, formats, results) => {
            let values: Vec<_> = values.iter().map(|value| value.as_deref().map(text)).collect();
            format!("b({portal:?}, {statement:?}, {values:?}, {formats:?}, {results:?})")
        }
        Front::Describe(kind, name) => format!("d({}{name:?})", char::from(*kind)),
        Front::Execute(portal, rows) => format!("e({portal:?}, {rows})"),
        Front::Close(kind, name) => format!("c({}{name:?})", char::from(*kind)),
        Front::Sync => "s()".to_owned(),
        Front::Flush => "h()".to_owned(),
        Front::Terminate => "x()".to_owned(),
        Front::CopyData(data) => format!("copy_data({:?})", text(data)),
        Front::CopyDone => "copy_done".to_owned(),
        Front::CopyFail(why) => format!("copy_fail({why:?})"),
        Front::Bytes(bytes) => format!("bytes({:?})", text(bytes)),
    }
}
