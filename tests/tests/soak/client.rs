//! What every client does, whatever its driver: reads and writes what is its own, asks for what is not, makes errors,
//! relies on a setting; and checks each answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use crate::person::Person;
use crate::tally::Tally;

/// A session through some driver.
pub(crate) trait Session {
    /// Runs one statement; `$1` in it stands for `nonce`. All columns are texts.
    fn ask(&mut self, sql: &str, nonce: &str) -> Answer;
}

#[derive(Debug)]
pub(crate) enum Answer {
    Rows(Vec<Vec<Option<String>>>),
    Error {
        code: String,
        text: String,
    },
    /// The session is over.
    Gone {
        code: Option<String>,
        text: String,
    },
    /// What no server says.
    Protocol(String),
}

/// One client for the whole time: one session after the other.
pub(crate) fn client<S: Session>(
    number: usize,
    person: Person,
    statements_per_session: usize,
    connect: impl Fn() -> Result<S, Answer>,
    stop: &AtomicBool,
    tally: &Tally,
) {
    let mut client = Client { number, person, asked: 0, tally };
    // Not all at once.
    sleep(THINKS / 20 * u32::try_from(number % 20).unwrap_or_default());
    while !stop.load(Ordering::Relaxed) {
        match connect() {
            Ok(session) => {
                Tally::add(&tally.sessions, 1);
                // A session that has ended is noted where it did.
                let _ = client.session(session, statements_per_session, stop);
            }
            Err(answer) => {
                let _ = client.note("connect", answer);
                sleep(THINKS);
            }
        }
    }
}

struct Client<'a> {
    number: usize,
    person: Person,
    asked: usize,
    tally: &'a Tally,
}

/// The session has ended.
struct Over;

impl Client<'_> {
    fn session(
        &mut self,
        mut session: impl Session,
        statements: usize,
        stop: &AtomicBool,
    ) -> Result<(), Over> {
        let name = format!("soak-{}-{}", self.number, self.asked);
        // Where the server was away for it, nothing is as it is taken to be below.
        self.rows(&mut session, &format!("SET application_name = '{name}'"), "")?.ok_or(Over)?;
        for _ in 0..statements {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let nonce = format!("{}-{}", self.number, self.asked);
            self.asked += 1;
            match self.asked % 8 {
                0 => self.foreign(&mut session)?,
                1 => self.transaction(&mut session, &nonce)?,
                2 => {
                    if let Some(rows) = self.rows(&mut session, "SHOW application_name", "")? {
                        self.compare("a setting", &rows, &[&name]);
                    }
                }
                3 => self.fails(&mut session, "SELECT 1 / 0", "22012")?,
                4 if !self.person.writes => self.masked(&mut session)?,
                _ => self.read(&mut session, &nonce)?,
            }
            sleep(THINKS);
        }
        Ok(())
    }

    fn read(&mut self, session: &mut impl Session, nonce: &str) -> Result<(), Over> {
        let tenant = self.person.tenant;
        let sql = format!(
            "SELECT tenant_id, $1::text FROM app.orders WHERE tenant_id = '{tenant}' ORDER BY id LIMIT 5"
        );
        if let Some(rows) = self.rows(session, &sql, nonce)? {
            self.compare("own rows", &rows, &[tenant, nonce]);
            if rows.len() != 5 {
                self.tally.wrong(format!("{} of 5 rows for {nonce}", rows.len()));
            }
        }
        Ok(())
    }

    fn foreign(&mut self, session: &mut impl Session) -> Result<(), Over> {
        let sql = format!("SELECT tenant_id FROM app.orders WHERE tenant_id = '{}'", self.person.other);
        Tally::add(&self.tally.denied, 1);
        self.fails(session, &sql, "42501")
    }

    /// Its writes are seen by itself and, every other time, never by anybody.
    fn transaction(&mut self, session: &mut impl Session, nonce: &str) -> Result<(), Over> {
        let tenant = self.person.tenant;
        if self.rows(session, "BEGIN", "")?.is_none() {
            return Ok(());
        }
        if self.person.writes {
            let write = format!("INSERT INTO app.notes (tenant_id, body) VALUES ('{tenant}', '{nonce}')");
            self.rows(session, &write, "")?;
            let mine =
                format!("SELECT tenant_id, body FROM app.notes WHERE tenant_id = '{tenant}' AND body = $1");
            if let Some(rows) = self.rows(session, &mine, nonce)? {
                self.compare("a row just written", &rows, &[tenant, nonce]);
            }
        } else {
            self.read(session, nonce)?;
        }
        let end = if self.asked.is_multiple_of(2) { "COMMIT" } else { "ROLLBACK" };
        self.rows(session, end, "").map(drop)
    }

    fn masked(&mut self, session: &mut impl Session) -> Result<(), Over> {
        let tenant = self.person.tenant;
        let sql = format!(
            "SELECT tenant_id, phone FROM app.customers WHERE tenant_id = '{tenant}' ORDER BY id LIMIT 5"
        );
        let rows = self.rows(session, &sql, "")?.unwrap_or_default();
        if rows.iter().any(|row| row[0].as_deref() != Some(tenant) || row[1].is_some()) {
            self.tally.wrong(format!("not masked, or another's: {rows:?}"));
        }
        Ok(())
    }

    /// A statement that must succeed; none where it did not.
    fn rows(
        &mut self,
        session: &mut impl Session,
        sql: &str,
        nonce: &str,
    ) -> Result<Option<Vec<Vec<Option<String>>>>, Over> {
        Tally::add(&self.tally.statements, 1);
        match session.ask(sql, nonce) {
            Answer::Rows(rows) => {
                Tally::add(&self.tally.rows, rows.len() as u64);
                Ok(Some(rows))
            }
            other => self.note(sql, other).map(|()| None),
        }
    }

    /// A statement that must fail with this code.
    fn fails(&mut self, session: &mut impl Session, sql: &str, expected: &str) -> Result<(), Over> {
        Tally::add(&self.tally.statements, 1);
        match session.ask(sql, "") {
            Answer::Error { code, .. } if code == expected => Ok(()),
            // It was told, and lost the server in the same moment.
            Answer::Gone { code: Some(code), .. } if code == expected => Err(Over),
            Answer::Rows(rows) => {
                self.tally.wrong(format!("{sql} was answered {rows:?}"));
                Ok(())
            }
            other => self.note(sql, other),
        }
    }

    fn compare(&self, what: &str, rows: &[Vec<Option<String>>], expected: &[&str]) {
        let right = |row: &Vec<Option<String>>| {
            row.iter().map(Option::as_deref).eq(expected.iter().copied().map(Some))
        };
        if rows.is_empty() || !rows.iter().all(right) {
            self.tally.wrong(format!("{what}: wanted {expected:?}, got {rows:?}"));
        }
    }

    /// Something that was not asked for.
    fn note(&self, sql: &str, answer: Answer) -> Result<(), Over> {
        let now = SystemTime::now();
        match answer {
            Answer::Rows(rows) => self.tally.protocol(format!("{sql}: {rows:?}")),
            Answer::Error { code, text } => self.tally.fault(now, &code, format!("{sql}: {text}")),
            Answer::Gone { code, text } => {
                self.tally.fault(now, code.as_deref().unwrap_or("closed"), format!("{sql}: {text}"));
                return Err(Over);
            }
            Answer::Protocol(text) => {
                self.tally.protocol(format!("{sql}: {text}"));
                return Err(Over);
            }
        }
        Ok(())
    }
}

/// Between two statements of a client.
const THINKS: Duration = Duration::from_millis(150);
