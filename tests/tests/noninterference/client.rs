//! The three worlds of a universe, spoken to at once: what is asked of one is asked of all, and the
//! answers are awaited when all are working.

use std::io;

use pgmoat_lab::{Cluster, SERVICE_USER};
use pgmoat_policy::policy::Format;
use pgmoat_tests::{Front, Login, Raw, front};

use crate::bound::Bound;
use crate::tree::Written;
use crate::worlds::{Universe, WORLDS, locks_sql, state_sql};

/// One connection to each world of a universe.
#[derive(Debug)]
pub(crate) struct Worlds {
    links: Vec<Raw>,
    /// What each world's tables are while nobody writes.
    states: Vec<State>,
}

/// A table's name, our own rows and everyone else's, digested.
pub(crate) type State = Vec<Vec<Option<String>>>;

/// What is done with a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    /// It runs in a transaction of its own, and the tables are looked at before the rollback.
    Writes,
    /// It locks rows: they are looked for before the rollback.
    Locks,
}

/// What a world answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// DataRow and CopyData bodies, sorted: a multiset.
    pub(crate) rows: Vec<Vec<u8>>,
    pub(crate) tags: Vec<String>,
    /// SQLSTATE, then text (which is not compared).
    pub(crate) error: Option<(String, String)>,
    pub(crate) notices: Vec<String>,
    /// Of a statement that writes and did not fail.
    pub(crate) state: Option<State>,
}

impl Worlds {
    pub(crate) fn connect(
        cluster: &Cluster,
        universe: Universe,
        worker: u64,
        limit: &str,
    ) -> io::Result<Self> {
        let mut links = Vec::new();
        let mut states = Vec::new();
        for world in WORLDS {
            let login = Login {
                port: cluster.port(),
                user: SERVICE_USER,
                password: cluster.password(SERVICE_USER).to_owned(),
                database: &universe.database(world, worker),
                more: &[("search_path", "app, public"), ("TimeZone", "UTC")],
            };
            let mut link = Raw::connect(&login)?;
            let state = link.query(&state_sql(true))?;
            let prepared = link.query(&format!("PREPARE state AS {}", state_sql(false)))?;
            let locks = link.query(&format!("PREPARE locks AS {}", locks_sql()))?;
            // What is prepared may take its time.
            let limited = link.query(&format!("SET statement_timeout = '{limit}'"))?;
            for answer in [&state, &prepared, &locks, &limited] {
                assert!(answer.codes().is_empty(), "{:?}", answer.error_field(b'M'));
            }
            states.push(state.rows());
            links.push(link);
        }
        Ok(Self { links, states })
    }

    /// Everyone else's rows of a world, by table, while nobody writes.
    pub(crate) fn others_before(&self, world: usize) -> Vec<&Option<String>> {
        self.states[world].iter().map(|table| &table[2]).collect()
    }

    /// Runs statements in all worlds: for each, the three answers.
    pub(crate) fn run(&mut self, statements: &[(&Written, Effect)]) -> io::Result<Vec<[Answer; 3]>> {
        let mut bytes = Vec::new();
        for (written, effect) in statements {
            for message in messages(written, *effect) {
                message.encode(&mut bytes)?;
            }
        }
        for link in &mut self.links {
            link.send_bytes(&bytes)?;
        }
        let mut answers: Vec<Vec<Answer>> = Vec::new();
        for (link, before) in self.links.iter_mut().zip(&self.states) {
            let heard = statements.iter().map(|(_, effect)| answer(link, *effect, before));
            answers.push(heard.collect::<io::Result<_>>()?);
        }
        let mut worlds = answers.into_iter().map(Vec::into_iter);
        let (a, b, c) = (worlds.next().unwrap(), worlds.next().unwrap(), worlds.next().unwrap());
        Ok(a.zip(b).zip(c).map(|((a, b), c)| [a, b, c]).collect())
    }
}

/// The messages of a statement; each of its [`groups`] ends with a ReadyForQuery.
fn messages(written: &Written, effect: Effect) -> Vec<Front> {
    let statement = if written.values.is_empty() {
        vec![front::q(&written.sql)]
    } else {
        let types = written.values.iter().map(Bound::oid).collect();
        let values = written.values.iter().map(Bound::bytes).collect();
        let formats: Vec<i16> =
            written.values.iter().map(|value| i16::from(value.format() == Format::Binary)).collect();
        // Whoever sends binary values asks for binary rows.
        let results = if formats.contains(&1) { vec![1] } else { Vec::new() };
        vec![
            Front::Parse(String::new(), written.sql.clone(), types),
            Front::Bind(String::new(), String::new(), values, formats, results),
            Front::Execute(String::new(), 0),
            Front::Sync,
        ]
    };
    match effect {
        Effect::Reads => statement,
        Effect::Writes | Effect::Locks => {
            let look = if effect == Effect::Locks { "EXECUTE locks" } else { "EXECUTE state" };
            let mut all = vec![front::q("BEGIN")];
            all.extend(statement);
            all.extend([front::q(look), front::q("ROLLBACK")]);
            all
        }
    }
}

fn answer(link: &mut Raw, effect: Effect, before: &State) -> io::Result<Answer> {
    match effect {
        Effect::Reads => Answer::read(link),
        Effect::Writes | Effect::Locks => {
            link.read(1)?;
            let mut answer = Answer::read(link)?;
            let written = link.read(1)?;
            if written.error_field(b'C').as_deref() == Some(QUERY_CANCELED) {
                // Looking took too long on a busy machine: as if the statement itself had.
                answer.error.get_or_insert((QUERY_CANCELED.to_owned(), String::new()));
            } else if answer.error.is_none() {
                assert!(written.codes().is_empty(), "{:?}", written.error_field(b'M'));
                answer.state = Some(match effect {
                    Effect::Locks => locked(before, &written.rows()),
                    Effect::Reads | Effect::Writes => after(before, written.rows()),
                });
            }
            link.read(1)?;
            Ok(answer)
        }
    }
}

/// The state with the tables that were written in it.
fn after(before: &State, written: State) -> State {
    let mut state = before.clone();
    for table in written {
        if let Some(known) = state.iter_mut().find(|known| known[0] == table[0]) {
            *known = table;
        }
    }
    state
}

/// The state with the tables in which others' rows are locked.
fn locked(before: &State, tables: &[Vec<Option<String>>]) -> State {
    let mut state = before.clone();
    for known in state.iter_mut().filter(|known| tables.iter().any(|table| table[0] == known[0])) {
        known[2] = Some("locked".to_owned());
    }
    state
}

impl Answer {
    /// Up to the next ReadyForQuery.
    fn read(link: &mut Raw) -> io::Result<Self> {
        let mut answer =
            Self { rows: Vec::new(), tags: Vec::new(), error: None, notices: Vec::new(), state: None };
        loop {
            let message = link.next_message()?.ok_or_else(|| io::Error::other("the server is gone"))?;
            match message.tag {
                b'D' | b'd' => answer.rows.push(message.body),
                b'C' => answer.tags.extend(message.command()),
                b'E' => {
                    let field = |code| message.field(code).unwrap_or_default();
                    answer.error = Some((field(b'C'), field(b'M')));
                }
                b'N' => answer.notices.extend(message.field(b'M')),
                b'Z' => break,
                _ => {}
            }
        }
        answer.rows.sort();
        Ok(answer)
    }

    /// It returned or wrote something: a difference would show.
    pub(crate) fn tells(&self) -> bool {
        !self.rows.is_empty() || self.tags.iter().any(|tag| !tag.ends_with(" 0"))
    }

    /// How many rows, or the error: for the reader of a difference.
    pub(crate) fn brief(&self) -> String {
        match &self.error {
            Some((code, text)) => format!("error {code} {text}"),
            None => {
                let first = self.rows.iter().take(6).map(|row| readable(row)).collect::<Vec<_>>().join("; ");
                format!("{} rows, {} [{first}]", self.rows.len(), self.tags.join(" "))
            }
        }
    }
}

/// A row's bytes with what cannot be read left out.
fn readable(row: &[u8]) -> String {
    let text = String::from_utf8_lossy(row);
    text.chars().map(|c| if c.is_control() { '·' } else { c }).take(100).collect()
}

/// SQLSTATE of a statement that took too long.
pub(crate) const QUERY_CANCELED: &str = "57014";
