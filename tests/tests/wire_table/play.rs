//! How a row is written down, and how it is played.

use std::io;

use pgmoat_lab::Cluster;
use pgmoat_tests::{Front, Login, Raw};

/// A row of the table.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) through: Through,
    pub(crate) steps: Vec<Step>,
    /// How many notes with the body `wire` are there at the end.
    pub(crate) notes: u32,
}

/// Whether the proxy lets the row's statements through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Through {
    /// As a tenant.
    Both,
    /// As a role to which nothing is refused: its statements are no tenant's.
    Unrestricted,
    /// The proxy is another thing than PostgreSQL here, and why.
    DirectOnly(&'static str),
}

/// One write, or something that happens beside.
pub(crate) enum Step {
    /// Send these in one write, hear that. `@` stands for the SQLSTATE of the door's poison.
    Say(Vec<Front>, &'static str),
    /// The command tags of the last answer.
    Tags(&'static [&'static str]),
    /// The superuser runs this beside the session.
    Beside(&'static str),
}

/// What stands in the place of a refused statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Door {
    pub(crate) poison: &'static str,
    pub(crate) sqlstate: &'static str,
}

/// PostgreSQL refuses what it cannot parse.
pub(crate) const DIRECT: Door = Door { poison: "poison: refused by a rule", sqlstate: "42601" };

/// The proxy refuses what reads everybody's rows.
pub(crate) const PROXY: Door = Door { poison: "SELECT id FROM app.orders", sqlstate: "42501" };

/// Plays one row on a new session; `database` is fresh.
pub(crate) fn play(
    row: &Row,
    door: Door,
    login: &Login<'_>,
    cluster: &Cluster,
    database: &str,
) -> io::Result<()> {
    let mut raw = Raw::connect(login)?;
    let mut tags = Vec::new();
    let mut open = true;
    for (at, step) in row.steps.iter().enumerate() {
        let at = |error: io::Error| io::Error::other(format!("{}, step {}: {error}", row.name, at + 1));
        match step {
            Step::Say(messages, wanted) => {
                let wanted = wanted.replace('@', door.sqlstate);
                raw.send(messages).map_err(at)?;
                let heard = raw.expect(&wanted).map_err(at)?;
                open = !heard.closed;
                tags = heard.commands();
            }
            Step::Tags(wanted) if tags == *wanted => {}
            Step::Tags(wanted) => {
                return Err(at(io::Error::other(format!("wanted tags {wanted:?}, heard {tags:?}"))));
            }
            Step::Beside(sql) => {
                cluster.psql(database, sql).map_err(io::Error::other).map_err(at)?;
            }
        }
    }
    if open {
        raw.expect_silence()
            .map_err(|error| io::Error::other(format!("{}, afterwards: {error}", row.name)))?;
    }
    let notes = cluster
        .psql(database, "SELECT count(*) FROM app.notes WHERE body = 'wire'")
        .map_err(io::Error::other)?;
    if notes.trim() != row.notes.to_string() {
        return Err(io::Error::other(format!(
            "{}: {} rows stayed, wanted {}",
            row.name,
            notes.trim(),
            row.notes
        )));
    }
    Ok(())
}
