//! A database and its twin: one is played at directly, one through the proxy.

use std::io;
use std::time::Duration;

use pgmoat_lab::{POLICY_YAML, ProxyConfig, SERVICE_USER, SUPERUSER};
use pgmoat_tests::front::q;
use pgmoat_tests::{Login, Mode, Proxied, Raw, Stack};

use crate::anew::{Anew, Direct};
use crate::beside::Beside;
use crate::permitted::difference;
use crate::play::{Heard, play};
use crate::script::{Door, Role, Script};

/// Two databases with the same rows, and a proxy before the second.
#[derive(Debug)]
pub(crate) struct Pair<'a> {
    stack: &'a Stack,
    mode: Mode,
    twin: String,
    /// Others at the proxy's door.
    others: Option<Beside>,
    proxied: Proxied,
    beside: [Raw; 2],
}

impl<'a> Pair<'a> {
    pub(crate) fn new(stack: &'a Stack, mode: Mode) -> Self {
        let (twin, database) = (stack.database().unwrap(), stack.database().unwrap());
        let beside = [&twin, &database].map(|name| {
            stack.cluster().psql(name, SCHEMA).unwrap();
            let mut raw = Raw::connect(&stack.direct(SUPERUSER, name)).unwrap();
            raw.wait_at_most(STAYS_LOCKED).unwrap();
            raw
        });
        let (size, others) = if mode == Mode::Transaction { (2, 3) } else { (64, 0) };
        let change = |config: &mut ProxyConfig| {
            config.policy = unrestricted();
            config.databases[0].pool = mode.pool(size);
        };
        let proxied = stack.proxy_before(&database, change).unwrap();
        proxied.answers("ops").unwrap();
        let others = (others > 0).then(|| Beside::new(&proxied, others));
        Self { stack, mode, twin, others, proxied, beside }
    }

    /// Plays a script at both doors and says how they differ.
    pub(crate) fn difference(&mut self, script: &Script) -> Option<String> {
        let found = self.try_difference(script).unwrap_or_else(|error| Some(error.to_string()));
        found.or_else(|| self.rows_differ())
    }

    fn try_difference(&mut self, script: &Script) -> io::Result<Option<String>> {
        self.beside.iter_mut().try_for_each(lay_out_rows)?;
        let mut direct = self.play_at(&self.twin, script)?;
        let user = match script.role {
            Role::Unrestricted => "ops",
            Role::Tenant => "acme_app",
        };
        let login = Login { more: script.settings, ..self.proxied.login(user) };
        let proxied = play(script, Door::Proxied, &login, Some(&direct.peeked))
            .map_err(|error| io::Error::other(format!("no login: {error}")))?;
        let mut anew = Anew::of(script);
        while let Some(found) = difference(script, &direct, &proxied) {
            let stale = found.stale.filter(|_| self.mode == Mode::Transaction);
            direct = match stale.map(|at| anew.make(at, self)).transpose()?.flatten() {
                Some(heard) => heard,
                None => return Ok(Some(found.text)),
            };
        }
        Ok(None)
    }

    /// Plays at PostgreSQL's own door.
    fn play_at(&self, database: &str, script: &Script) -> io::Result<Heard> {
        let mut direct = self.stack.direct(SERVICE_USER, database);
        // What the proxy pins.
        let pinned = [("search_path", "\"app\", \"public\""), ("client_encoding", "UTF8")];
        let settings: Vec<_> = pinned.into_iter().chain(script.settings.iter().copied()).collect();
        direct.more = &settings;
        play(script, Door::Direct, &direct, None)
    }

    /// What stays must be the same too: an error that is told of work that was done is none.
    fn rows_differ(&mut self) -> Option<String> {
        let [direct, proxied] = self.beside.each_mut().map(|raw| {
            // Waits for a transaction that is on its way out.
            raw.send(&[q(
                "BEGIN; LOCK app.notes; SELECT id, tenant_id, body FROM app.notes ORDER BY id; COMMIT",
            )])?;
            raw.read(1)
        });
        let (direct, proxied) = match (direct, proxied) {
            (Ok(direct), Ok(proxied)) => (direct.rows(), proxied.rows()),
            (direct, proxied) => return Some(format!("a lock stays: {direct:?} {proxied:?}")),
        };
        (direct != proxied).then(|| format!("rows that stay\n  direct:  {direct:?}\n  proxied: {proxied:?}"))
    }

    /// What is wrong beside the scripts: errors in the proxy's log, and what other clients complain of.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.proxied.proxy.log();
        let logged = log.lines().filter(|line| line.contains("ERROR") || line.contains("panic"));
        let others = self.others.iter().flat_map(Beside::complaints);
        logged.map(str::to_owned).chain(others).collect()
    }
}

/// The one that the proxy is compared with.
impl Direct for Pair<'_> {
    fn play(&mut self, script: &Script) -> io::Result<Heard> {
        lay_out_rows(&mut self.beside[0])?;
        self.play_at(&self.twin, script)
    }

    fn play_apart(&mut self, script: &Script) -> io::Result<Heard> {
        let apart = self.stack.database().map_err(io::Error::other)?;
        self.stack.cluster().psql(&apart, SCHEMA).map_err(io::Error::other)?;
        lay_out_rows(&mut Raw::connect(&self.stack.direct(SUPERUSER, &apart))?)?;
        self.play_at(&apart, script)
    }
}

/// As at the beginning of each script.
fn lay_out_rows(raw: &mut Raw) -> io::Result<()> {
    let heard = raw.query(ROWS).map_err(|error| {
        io::Error::other(format!("a lock stays that the client before has left: {error}"))
    })?;
    assert!(heard.codes().is_empty(), "{heard} {:?}", heard.error_field(b'M'));
    Ok(())
}

/// The lab's policy, with `ops` as a role to which nothing is refused.
pub(crate) fn unrestricted() -> String {
    let policy =
        POLICY_YAML.replacen("    explain: analyze\n", "    explain: analyze\n    unrestricted: true\n", 1);
    assert_ne!(policy, POLICY_YAML);
    policy
}

/// What the scripts need beside the lab: a schema that PostgreSQL itself keeps from the service's login.
const SCHEMA: &str = "CREATE SCHEMA vault; CREATE TABLE vault.t (id int);
    GRANT TRUNCATE ON app.notes TO pgmoat_service; GRANT CREATE ON SCHEMA public TO pgmoat_service";

const ROWS: &str = "TRUNCATE app.notes RESTART IDENTITY;
    INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'one'), ('globex', 'two'), ('acme', 'three'),
    ('acme', 'four'), ('globex', 'five')";

const STAYS_LOCKED: Duration = Duration::from_secs(20);
