//! What the three worlds' answers say about an allowed statement.

use crate::client::{Answer, QUERY_CANCELED};
use crate::generate::Statement;

/// The comparison's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing can be told apart.
    Same,
    /// PostgreSQL refuses the statement itself, everywhere alike.
    Invalid(String),
    /// Worlds differ in an error of a class that may speak (policy 3.9): counted in the fallible
    /// stream, a difference elsewhere.
    Error(String),
    /// It did not end in time somewhere: nothing is known.
    Unfinished,
    /// Other tenants' rows have influenced it, or were influenced by it.
    Different(String),
}

impl Outcome {
    /// What tells of other tenants, if anything does.
    pub(crate) fn leak(self, statement: &Statement) -> Option<String> {
        match self {
            Self::Different(what) => Some(what),
            Self::Error(what) if !statement.fallible || statement.universe.forbids(&what) => Some(what),
            Self::Error(_) | Self::Same | Self::Invalid(_) | Self::Unfinished => None,
        }
    }
}

/// Compares the answers of the three worlds; `before` are others' rows by table while nobody writes.
pub(crate) fn compare(answers: &[Answer; 3], before: &[Vec<&Option<String>>; 3]) -> Outcome {
    let codes = answers.each_ref().map(|answer| answer.error.as_ref().map(|(code, _)| code.as_str()));
    if codes.contains(&Some(QUERY_CANCELED)) {
        return Outcome::Unfinished;
    }
    if let [Some(code), ..] = codes
        && codes.iter().all(|other| *other == Some(code))
    {
        return match code.starts_with("42") || code.starts_with("0A") {
            true => Outcome::Invalid(code.to_owned()),
            false => Outcome::Same,
        };
    }
    if codes.iter().any(Option::is_some) {
        return errors(answers, codes);
    }
    let [a, b, c] = answers;
    for (other, name) in [(b, "removed"), (c, "altered")] {
        let what = if a.rows != other.rows {
            "rows"
        } else if a.tags != other.tags {
            "command tags"
        } else if a.notices != other.notices {
            "notices"
        } else if own(a) != own(other) {
            "our own rows afterwards"
        } else {
            continue;
        };
        return Outcome::Different(format!("{what} differ where others are {name}"));
    }
    for (answer, before) in answers.iter().zip(before) {
        if let Some(state) = &answer.state
            && !state.iter().map(|table| &table[2]).eq(before.iter().copied())
        {
            let written = state.iter().zip(before).find(|(table, before)| table[2] != ***before);
            let table = written.and_then(|(table, _)| table[0].clone()).unwrap_or_default();
            return Outcome::Different(format!("others' rows of {table} were written or locked"));
        }
    }
    Outcome::Same
}

/// Our own rows of each table afterwards.
fn own(answer: &Answer) -> Option<Vec<&Option<String>>> {
    answer.state.as_ref().map(|state| state.iter().map(|table| &table[1]).collect())
}

fn errors(answers: &[Answer; 3], codes: [Option<&str>; 3]) -> Outcome {
    let told = codes.map(|code| code.unwrap_or("no error")).join(", ");
    let may_speak = codes.iter().flatten().all(|code| SPEAKING.iter().any(|class| code.starts_with(class)));
    if may_speak && codes.iter().all(Option::is_some) {
        // Which of several errors comes first is up to the rows' order.
        return Outcome::Same;
    }
    let mut succeeded = answers.iter().filter(|answer| answer.error.is_none());
    let first = succeeded.next();
    let alike = succeeded.all(|other| {
        first.is_none_or(|first| {
            (&first.rows, &first.tags, own(first)) == (&other.rows, &other.tags, own(other))
        })
    });
    match may_speak && alike {
        true => Outcome::Error(told),
        false => Outcome::Different(format!("errors differ: {told}")),
    }
}

/// The classes of errors that evaluation of other rows may cause.
const SPEAKING: [&str; 4] = ["21", "22", "23", "54"];
