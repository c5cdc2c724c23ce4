//! Many clients on few connections: each sees all of its own, and nothing of anybody else's.

use std::collections::BTreeMap;
use std::thread;

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Front, Mode, Raw, Rng, length};

use crate::house::{House, ask};

#[test]
fn clients_of_few_connections_see_their_own_state_alone() {
    for mode in Mode::PROXIED {
        let house = House::new(*mode, CONNECTIONS);
        thread::scope(|scope| {
            for number in 0..CLIENTS {
                let house = &house;
                scope.spawn(move || {
                    for session in 0..length(4, 150) {
                        Client::new(house, number, session).live();
                    }
                });
            }
        });
    }
}

/// One session, with what it should see.
struct Client {
    raw: Raw,
    rng: Rng,
    own: Own,
    /// The transaction's beginning, to go back to.
    before: Option<Own>,
    failed: bool,
    mark: String,
}

/// What a client has.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Own {
    settings: BTreeMap<&'static str, String>,
    /// What the statement `mine` answers.
    statement: Option<String>,
    prepared: Option<String>,
    table: Option<String>,
    channel: Option<String>,
    locks: usize,
}

impl Client {
    fn new(house: &House, number: usize, session: usize) -> Self {
        let raw = house.client(&[]);
        let settings = SETTINGS.iter().map(|(name, initial, _)| (*name, (*initial).to_owned())).collect();
        let own = Own { settings, statement: None, prepared: None, table: None, channel: None, locks: 0 };
        let rng = Rng::new(SEED, (number * 1_000 + session) as u64);
        Self { raw, rng, own, before: None, failed: false, mark: format!("c{number}s{session}") }
    }

    /// Does this and that, looks around after each, and leaves as it happens.
    fn live(mut self) {
        self.look();
        for _ in 0..self.rng.below(STEPS_MAX) {
            self.step();
            self.look();
        }
        if self.rng.chance(50) {
            self.raw.send(&[Front::Terminate]).unwrap();
        }
    }

    fn step(&mut self) {
        match self.rng.weighted(&[30, 10, 8, 8, 6, 6, 8, 14, 6, 4]) {
            0 => self.set(),
            1 => self.parse(),
            2 => self.prepare(),
            3 => self.table(),
            4 => self.listen(),
            5 => self.lock(),
            6 => self.reset(),
            7 => self.transaction(),
            8 => self.fail(),
            _ => self.discard(),
        }
    }

    fn run(&mut self, sql: &str) {
        let heard = ask(&mut self.raw, &[q(sql)]);
        assert!(
            heard.codes().is_empty() && !heard.closed,
            "{}: {sql}: {heard} {:?}",
            self.mark,
            heard.error_field(b'M')
        );
    }

    fn set(&mut self) {
        if self.failed {
            return;
        }
        let (name, _, values) = self.rng.pick(SETTINGS);
        let value = self.rng.pick(values);
        match self.rng.below(3) {
            0 => self.run(&format!("SET {name} = '{value}'")),
            1 => self.run(&format!("SELECT set_config('{name}', '{value}', false)")),
            _ => self.run(&format!("SET SESSION {name} TO '{value}'")),
        }
        self.own.settings.insert(name, (*value).to_owned());
    }

    /// The wire's names are not part of a transaction.
    fn parse(&mut self) {
        if self.failed {
            return;
        }
        let answer = format!("{}-{}", self.mark, self.rng.below(1_000));
        let parse = [Front::Close(b'S', "mine".into()), p("mine", &format!("SELECT '{answer}'")), s()];
        assert!(ask(&mut self.raw, &parse).codes().is_empty());
        self.own.statement = Some(answer.clone());
        if let Some(before) = &mut self.before {
            before.statement = Some(answer);
        }
    }

    fn prepare(&mut self) {
        if self.failed {
            return;
        }
        if self.own.prepared.is_some() {
            self.run("DEALLOCATE own");
        }
        let answer = self.mark.clone();
        self.run(&format!("PREPARE own AS SELECT '{answer}'"));
        self.own.prepared = Some(answer.clone());
        if let Some(before) = &mut self.before {
            before.prepared = Some(answer);
        }
    }

    fn table(&mut self) {
        if self.failed {
            return;
        }
        if self.own.table.take().is_some() {
            return self.run("DROP TABLE pg_temp.own");
        }
        let mark = self.mark.clone();
        self.run(&format!("CREATE TEMP TABLE own AS SELECT '{mark}' AS mark"));
        self.own.table = Some(mark);
    }

    fn listen(&mut self) {
        // Within a transaction it begins with its end.
        if self.failed || self.before.is_some() {
            return;
        }
        if self.own.channel.take().is_some() {
            return self.run("UNLISTEN *");
        }
        let mark = self.mark.clone();
        self.run(&format!("LISTEN {mark}"));
        self.own.channel = Some(mark);
    }

    /// Locks of a session are not part of a transaction. Keys are shared locks: nobody waits for anybody.
    fn lock(&mut self) {
        if self.failed {
            return;
        }
        let locks = if self.own.locks > 0 {
            self.run("SELECT pg_advisory_unlock_all()");
            0
        } else {
            self.run("SELECT pg_advisory_lock_shared(47), pg_advisory_lock_shared(48)");
            2
        };
        self.own.locks = locks;
        if let Some(before) = &mut self.before {
            before.locks = locks;
        }
    }

    fn reset(&mut self) {
        if self.failed {
            return;
        }
        if self.rng.chance(50) {
            self.run("RESET ALL");
            for (name, initial, _) in SETTINGS {
                self.own.settings.insert(name, (*initial).to_owned());
            }
        } else {
            let (name, initial, _) = self.rng.pick(SETTINGS);
            self.run(&format!("RESET {name}"));
            self.own.settings.insert(name, (*initial).to_owned());
        }
    }

    fn transaction(&mut self) {
        let Some(before) = self.before.take() else {
            self.run("BEGIN");
            self.before = Some(self.own.clone());
            return;
        };
        if self.failed || self.rng.chance(50) {
            self.run("ROLLBACK");
            self.own = before;
        } else {
            self.run("COMMIT");
        }
        self.failed = false;
    }

    fn fail(&mut self) {
        let heard = ask(&mut self.raw, &[q("SELECT 1 / 0")]);
        assert_eq!(heard.codes(), [if self.failed { "25P02" } else { "22012" }], "{}", self.mark);
        self.failed = self.before.is_some();
    }

    fn discard(&mut self) {
        if self.before.is_some() {
            return;
        }
        self.run("DISCARD ALL");
        let settings = SETTINGS.iter().map(|(name, initial, _)| (*name, (*initial).to_owned())).collect();
        self.own = Own { settings, statement: None, prepared: None, table: None, channel: None, locks: 0 };
    }

    /// Compares; in a transaction within a savepoint, for some looks fail.
    fn look(&mut self) {
        if self.failed {
            return;
        }
        let open = self.before.is_some();
        if open {
            self.run("SAVEPOINT look");
        }
        let names =
            SETTINGS.iter().map(|(name, ..)| format!("current_setting('{name}')")).collect::<Vec<_>>();
        let settings = self.one(&[q(&format!("SELECT concat_ws('|', {})", names.join(", ")))], "");
        let wanted = SETTINGS.iter().map(|(name, ..)| self.own.settings[name].clone()).collect::<Vec<_>>();
        assert_eq!(settings, Some(wanted.join("|")), "{}: settings", self.mark);
        let looks = [
            (vec![b("", "mine", &[]), e("", 0), s()], "26000", self.own.statement.clone()),
            (vec![q("EXECUTE own")], "26000", self.own.prepared.clone()),
            (vec![q("SELECT mark FROM pg_temp.own")], "42P01", self.own.table.clone()),
            (vec![q("SELECT pg_listening_channels()")], "", self.own.channel.clone()),
            (vec![q(LOCKS)], "", Some(self.own.locks.to_string())),
        ];
        for (messages, code, wanted) in looks {
            let seen = self.one(&messages, code);
            assert_eq!(seen, wanted, "{}: {messages:?}", self.mark);
            if open {
                self.run("ROLLBACK TO look");
            }
        }
        if open {
            self.run("RELEASE look");
        }
    }

    /// The one value of an answer; none where there is none, or this error.
    fn one(&mut self, messages: &[Front], code: &str) -> Option<String> {
        let heard = ask(&mut self.raw, messages);
        let said = heard.codes();
        assert!(
            said.is_empty() || said == [code],
            "{}: {messages:?}: {heard} {:?}",
            self.mark,
            heard.error_field(b'M')
        );
        heard.rows().concat().into_iter().flatten().next()
    }
}

/// Settings, their values at first, and others.
const SETTINGS: &[(&str, &str, &[&str])] = &[
    ("work_mem", "4MB", &["5MB", "6MB", "7MB"]),
    ("lock_timeout", "0", &["11s", "12s"]),
    ("IntervalStyle", "postgres", &["iso_8601", "sql_standard"]),
    ("default_transaction_isolation", "read committed", &["serializable", "repeatable read"]),
    ("statement_timeout", "0", &["1min", "2min"]),
    ("plan_cache_mode", "auto", &["force_generic_plan", "force_custom_plan"]),
];

const LOCKS: &str = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()";

const CLIENTS: usize = 10;
const CONNECTIONS: usize = 3;
const STEPS_MAX: usize = 14;
const SEED: u64 = 7;
