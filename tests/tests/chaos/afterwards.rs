//! What must hold after each kill.

use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pgmoat_lab::{POLICY_YAML, ProxyConfig, SUPERUSER};
use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Message, Mode, Proxied, Raw, Stack, Transcript, pgmoat_binary};

use crate::scripts::scripts;

/// A proxy with one upstream connection for all clients, before a database of its own, and what it was like at first.
#[derive(Debug)]
pub(crate) struct House<'a> {
    pub(crate) stack: &'a Stack,
    pub(crate) proxied: Proxied,
    /// Clients that stay, each with a setting and a statement of its own: more than there are connections.
    guests: Mutex<Vec<Raw>>,
    mode: Mode,
    resident_bytes: u64,
}

impl<'a> House<'a> {
    pub(crate) fn with_pool(stack: &'a Stack, mode: Mode) -> Self {
        let database = stack.database().unwrap();
        let grants = "GRANT CREATE ON SCHEMA public TO pgmoat_service";
        stack.cluster().psql(&database, grants).unwrap();
        let proxied = stack.proxy_before(&database, |config| one_connection(config, mode)).unwrap();
        let mut house = Self { stack, proxied, guests: Mutex::default(), mode, resident_bytes: 0 };
        house.invite();
        house.look_around();
        house.resident_bytes = house.resident_bytes();
        house
    }

    /// Server and proxy are back.
    pub(crate) fn answers(&self) {
        let answers = || {
            let Ok(mut raw) = Raw::connect(&self.proxied.login("ops")) else { return false };
            raw.send(&[q("SELECT 1")]).is_ok()
                && raw.read(1).is_ok_and(|heard| heard.to_string() == "T D C Z(I)")
        };
        eventually("they are back", answers, || self.proxied.proxy.log());
    }

    /// Other clients, where connections are shared.
    pub(crate) fn invite(&self) {
        if self.mode == Mode::Transaction {
            let guests = (0..GUESTS).map(|number| guest(self.client(), number)).collect();
            *self.guests.lock().unwrap() = guests;
        }
    }

    /// Whose statements are not refused: what is left behind is not the policy's matter here.
    pub(crate) fn client(&self) -> Raw {
        Raw::connect(&self.proxied.login("ops")).unwrap()
    }

    /// What a script hears when nobody dies.
    pub(crate) fn undisturbed(&self, script: usize) -> Transcript {
        let mut raw = self.client();
        raw.send(&scripts()[script]).unwrap();
        let end = q("SELECT 'the end'");
        raw.send(&[end]).unwrap();
        let mut heard = Transcript::default();
        while heard.rows().last().is_none_or(|row| row[0].as_deref() != Some("the end")) {
            match raw.next_message() {
                Ok(Some(message)) => heard.messages.push(message),
                other => panic!("script {script}: {other:?} after {heard} {:?}", heard.error_field(b'M')),
            }
        }
        // The last row and its description.
        heard.messages.truncate(heard.messages.len() - 2);
        heard
    }

    /// The next client has the connection to itself, as a new one is.
    pub(crate) fn look_around(&self) {
        let mut raw = self.client();
        // What others have prepared stays with a connection that they share.
        let prepared = if self.mode == Mode::Transaction { "0" } else { PREPARED };
        let heard = raw.query(&LEFT.replace("PREPARED", prepared)).unwrap();
        let row: Vec<String> = heard.rows().concat().into_iter().flatten().collect();
        assert_eq!(
            row.join(" "),
            "Etc/UTC 4MB off read committed 0 0 0 0 0",
            "{heard} {:?}",
            heard.error_field(b'M')
        );
        let heard = raw.query("FETCH left_cursor").unwrap();
        assert_eq!(heard.codes(), ["34000"]);
        raw.query("ROLLBACK").unwrap();
        drop(raw);
        for (number, guest) in self.guests.lock().unwrap().iter_mut().enumerate() {
            let heard = guest.ask(&[b("", "left_two", &[]), e("", 0), s()]).unwrap();
            let heard = [heard, guest.query("SHOW TimeZone").unwrap()].map(|heard| heard.rows().concat());
            let wanted = [number.to_string(), ZONES[number].to_owned()].map(|value| vec![Some(value)]);
            assert_eq!(heard, wanted);
        }
    }

    /// Nobody's statement or transaction goes on in this database, and nobody holds a lock.
    pub(crate) fn is_quiet(&self) {
        let busy = || self.stack.cluster().psql(&self.proxied.database, BUSY).unwrap();
        eventually(
            "nothing is left running",
            || busy().trim() == "0",
            || self.stack.cluster().psql(&self.proxied.database, ACTIVITY).unwrap(),
        );
    }

    /// The proxy lives, is as small as it was, and its audit log is whole.
    pub(crate) fn is_whole(&self) {
        self.look_around();
        self.is_quiet();
        let log = self.proxied.proxy.log();
        assert!(!log.contains("panicked"), "{log}");
        let (before, now) = (self.resident_bytes, self.resident_bytes());
        assert!(now <= before + GROWTH_BYTES_MAX, "{before} bytes at first, {now} now");
        self.audit_is_whole();
    }

    pub(crate) fn audit_is_whole(&self) {
        let path = self.proxied.proxy.audit_path();
        eventually(
            "the audit log verifies",
            || {
                let mut command = Command::new(pgmoat_binary().unwrap());
                command.arg("audit").arg("verify").arg(&path).output().unwrap().status.success()
            },
            || fs::read_to_string(&path).unwrap_or_default().lines().last().unwrap_or_default().to_owned(),
        );
    }

    fn resident_bytes(&self) -> u64 {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.proxied.proxy.pid().unwrap())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() * 1024
    }
}

pub(crate) fn one_connection(config: &mut ProxyConfig, mode: Mode) {
    config.policy = unrestricted();
    config.databases[0].pool = mode.pool(1);
}

fn guest(mut raw: Raw, number: usize) -> Raw {
    raw.query(&format!("SET TimeZone = '{}'", ZONES[number])).unwrap();
    raw.ask(&[p("left_two", &format!("SELECT {number}")), s()]).unwrap();
    raw
}

/// The lab's policy, with `ops` as a role to which nothing is refused.
pub(crate) fn unrestricted() -> String {
    let unrestricted = "    explain: analyze\n    unrestricted: true\n";
    let policy = POLICY_YAML.replacen("    explain: analyze\n", unrestricted, 1);
    assert_ne!(policy, POLICY_YAML);
    policy
}

/// What was heard before a death is the beginning of what is heard without one; after it there is at most one FATAL, and
/// before that the warning of a backend that the server ends because another one has crashed.
pub(crate) fn assert_beginning(heard: &Transcript, whole: &Transcript, of: &str) {
    let mut heard = heard.messages.as_slice();
    if let [before @ .., last] = heard
        && is_fatal(last)
    {
        heard = before;
    }
    if let [before @ .., last] = heard
        && last.tag == b'N'
        && last.field(b'C').as_deref() == Some("57P02")
    {
        heard = before;
    }
    for (at, message) in heard.iter().enumerate() {
        let wanted = whole.messages.get(at);
        let same = wanted.is_some_and(|wanted| (wanted.tag, text(wanted)) == (message.tag, text(message)));
        assert!(
            same,
            "{of}: message {} is {message}, not {:?}: {:?}",
            at + 1,
            wanted.map(Message::to_string),
            text(message)
        );
    }
}

/// A message's content, but for process ids and the ids of temporary tables.
pub(crate) fn text(message: &Message) -> String {
    let from = if message.tag == b'A' { 4 } else { 0 };
    match message.tag {
        b'T' => format!("{} bytes", message.body.len()),
        _ => String::from_utf8_lossy(&message.body[from..]).into_owned(),
    }
}

fn is_fatal(message: &Message) -> bool {
    message.tag == b'E' && matches!(message.field(b'V').as_deref(), Some("FATAL" | "PANIC"))
}

/// All that comes up to the end, or until nothing comes any more.
pub(crate) fn rest(raw: &mut Raw, limit: Duration) -> Transcript {
    let mut heard = Transcript::default();
    raw.wait_at_most(limit).unwrap();
    while let Ok(Some(message)) = raw.next_message() {
        heard.messages.push(message);
    }
    heard
}

/// Polls until it holds; says what there is if it never does.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool, there_is: impl Fn() -> String) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}: {}", there_is());
        sleep(Duration::from_millis(10));
    }
}

/// How the superuser that a test needs is called.
pub(crate) fn superuser(house: &House<'_>) -> Raw {
    Raw::connect(&house.stack.direct(SUPERUSER, &house.proxied.database)).unwrap()
}

const PATIENCE: Duration = Duration::from_secs(30);

/// The allocator keeps some; a leak of each session's kind grows beyond it.
const GROWTH_BYTES_MAX: u64 = 64 << 20;

/// Settings, prepared statements, cursors, temporary tables, channels, advisory locks: of this connection, since another may
/// still be on its way out.
const LEFT: &str = "SELECT current_setting('TimeZone'), current_setting('work_mem'),
    current_setting('default_transaction_read_only'), current_setting('default_transaction_isolation'),
    (PREPARED),
    (SELECT count(*) FROM pg_cursors WHERE name <> ''),
    (SELECT count(*) FROM pg_class WHERE relname LIKE 'left%' AND relnamespace = pg_my_temp_schema()),
    (SELECT count(*) FROM pg_listening_channels()),
    (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())";

const PREPARED: &str = "SELECT count(*) FROM pg_prepared_statements
    WHERE name <> '' AND statement NOT LIKE '%pg_prepared_statements%'";

const ZONES: [&str; GUESTS] = ["Asia/Tokyo", "Europe/Berlin", "America/Lima"];

const GUESTS: usize = 3;

const BUSY: &str = "SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle')
    + (SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database
        WHERE locktype = 'advisory' AND datname = current_database())";

const ACTIVITY: &str =
    "SELECT pid, state, wait_event, query FROM pg_stat_activity WHERE datname = current_database()";
