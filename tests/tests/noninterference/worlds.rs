//! Three databases that differ in other tenants' rows only, in four universes.
//!
//! In the *kept* universe the schema's keys stand as they are. In the *free* one they hold within a
//! tenant only and tenant columns may be NULL, so that other rows may bear our rows' keys, and
//! belong to nobody. In the *read* one nobody writes, a key is trusted to carry the tenant (and no row
//! crosses tenants by it), and the role has masks and denied columns. In the *strict* one errors are
//! denied: what can fail on others' rows is never allowed.
//! In each: others as they are; removed; altered, duplicated and added.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pgmoat_lab::{Cluster, SCHEMA_SQL, SERVICE_USER};
use pgmoat_policy::{Catalog, Policy, Principal};
use pgmoat_tests::Stack;
use pgmoat_upstream::{
    Address, Endpoint, PinnedSettings, Secret, SessionAttributes, Target, TlsPolicy, WeakPasswords, catalog,
    connect,
};

/// Which keys hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Universe {
    Kept,
    Free,
    Read,
    Strict,
}

/// The names of the worlds of a universe: as they are; removed; altered.
pub(crate) const WORLDS: [char; 3] = ['a', 'b', 'c'];

/// The server's major: the generator makes nothing that it does not have.
pub(crate) fn major() -> u32 {
    Stack::get().cluster().postgres().major()
}

/// What the judge knows of a universe.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) policy: Arc<Policy>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) principal: Principal,
}

impl Universe {
    pub(crate) const ALL: [Self; 4] = [Self::Kept, Self::Free, Self::Read, Self::Strict];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Free => "free",
            Self::Read => "read",
            Self::Strict => "strict",
        }
    }

    /// Keys hold across tenants, and every row is somebody's.
    pub(crate) fn keeps_keys(self) -> bool {
        self != Self::Free
    }

    /// Whether what the worlds' errors tell (by their SQLSTATEs) is forbidden: where errors are denied,
    /// no evaluation of others' rows can fail. That a key is taken shows everywhere (policy 1).
    pub(crate) fn forbids(self, errors: &str) -> bool {
        let evaluated = |code: &str| EVALUATED.iter().any(|class| code.starts_with(class));
        self == Self::Strict && errors.split(", ").any(evaluated)
    }

    /// The policy; keys can be trusted where no tenant may write.
    fn policy(self) -> String {
        let changes: &[(&str, &str)] = match self {
            Self::Kept | Self::Free => &[],
            Self::Read => &READ_CHANGES,
            Self::Strict => &STRICT_CHANGES,
        };
        changes.iter().fold(POLICY_YAML.to_owned(), |yaml, (old, new)| {
            assert!(yaml.contains(old), "{old}");
            yaml.replace(old, new)
        })
    }

    /// Whose rows are its own: what the policy says alone needs no others.
    fn rows(self) -> Self {
        match self {
            Self::Kept | Self::Strict => Self::Kept,
            Self::Free | Self::Read => self,
        }
    }

    /// The database without rows that it was made of.
    pub(crate) fn home(self) -> &'static str {
        self.rows().name()
    }

    fn template(self, world: char) -> String {
        format!("{}_{world}", self.home())
    }

    /// A worker's own copy of a world: workers never wait for each other's locks.
    pub(crate) fn database(self, world: char, worker: u64) -> String {
        format!("{}_{world}_{worker}", self.rows().name())
    }
}

/// Makes a worker's copies of a universe's worlds, where its rows are its own: those of whom it has them from
/// are copied before.
pub(crate) fn copy(cluster: &Cluster, universe: Universe, worker: u64) {
    if universe.rows() != universe {
        return;
    }
    for world in WORLDS {
        let (copy, template) = (universe.database(world, worker), universe.template(world));
        // Another worker may be copying the same world.
        let _alone = COPYING.lock().unwrap();
        cluster.psql("postgres", &format!("DROP DATABASE IF EXISTS {copy} WITH (FORCE)")).unwrap();
        cluster.psql("postgres", &format!("CREATE DATABASE {copy} TEMPLATE {template}")).unwrap();
    }
}

static COPYING: Mutex<()> = Mutex::new(());

/// Makes all databases, and reads what the judge has to know of each universe.
pub(crate) fn make(cluster: &Cluster) -> Vec<Known> {
    cluster.create_database("kept").unwrap();
    cluster.psql("kept", &format!("{SCHEMA_SQL}{MORE_SQL}")).unwrap();
    cluster.psql("postgres", "CREATE DATABASE free TEMPLATE kept").unwrap();
    cluster.psql("postgres", "CREATE DATABASE read TEMPLATE kept").unwrap();
    cluster.psql("free", FREE_SQL).unwrap();
    for universe in Universe::ALL.into_iter().filter(|universe| universe.rows() == *universe) {
        for world in WORLDS {
            let name = universe.template(world);
            cluster
                .psql("postgres", &format!("CREATE DATABASE {name} TEMPLATE {}", universe.home()))
                .unwrap();
            cluster.psql(&name, &rows(universe, world)).unwrap();
        }
    }
    Universe::ALL.map(|universe| known(cluster, universe)).into()
}

fn known(cluster: &Cluster, universe: Universe) -> Known {
    Known {
        policy: Arc::new(Policy::load(&universe.policy(), "worlds/policy.yaml").unwrap().policy),
        catalog: Arc::new(catalog_of(cluster, universe.template('a'))),
        principal: Principal { role: "app".into(), tenant: Some("acme".into()) },
    }
}

/// A database as the judge sees it.
pub(crate) fn catalog_of(cluster: &Cluster, database: String) -> Catalog {
    let target = Target {
        endpoint: Endpoint {
            address: Address::Tcp { host: "127.0.0.1".to_owned(), port: cluster.port() },
            tls: TlsPolicy::disable(),
            connect_timeout: PATIENCE,
            keepalive: None,
        },
        fallbacks: Vec::new(),
        attributes: SessionAttributes::Any,
        database,
        user: SERVICE_USER.to_owned(),
        password: Some(Secret::new(cluster.password(SERVICE_USER).to_owned())),
        settings: PinnedSettings::new(&["app".to_owned(), "public".to_owned()], BTreeMap::new()).unwrap(),
        weak_passwords: WeakPasswords::Refuse,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let json = runtime.block_on(async {
        let mut connection = connect(&target).await.unwrap();
        catalog::read(&mut connection, PATIENCE).await.unwrap()
    });
    Catalog::parse(&json).unwrap()
}

/// The SQL that fills a world.
fn rows(universe: Universe, world: char) -> String {
    let mut sql = format!("SET TimeZone = 'UTC';\n{SHARED_SQL}{SEEDS_SQL}");
    sql.push_str(&seeds(universe, world, 0, Some("acme"), Some(OWN_ACCOUNT), OWN_ROWS));
    for (rank, (tenant, account, count)) in (1..).zip(others(universe, world)) {
        sql.push_str(&seeds(universe, world, rank, tenant, account, count));
    }
    sql.push_str(ROWS_SQL);
    if world == 'c' {
        sql.push_str(DUPLICATES_SQL);
        if universe == Universe::Free {
            sql.push_str(FREE_DUPLICATES_SQL);
        }
    }
    if universe == Universe::Read {
        sql.push_str(HONEST_SQL);
    }
    sql.push_str("DROP TABLE seeds; REFRESH MATERIALIZED VIEW app.daily_revenue; ANALYZE;");
    sql
}

/// The lines of one tenant: its numbers are those of `account`, its uuid and realm follow its name.
fn seeds(
    universe: Universe,
    world: char,
    rank: usize,
    tenant: Option<&str>,
    account: Option<i64>,
    count: usize,
) -> String {
    let own = rank == 0;
    let free = universe == Universe::Free;
    let quoted = tenant.map_or("NULL".to_owned(), |name| format!("'{name}'"));
    let account = account.map_or("NULL".to_owned(), |number| number.to_string());
    let owner = match (own, tenant) {
        (true, _) => "'11111111-1111-1111-1111-111111111111'".to_owned(),
        (false, None) => "NULL".to_owned(),
        // The last digit differs, or the first.
        (false, Some(_)) if rank.is_multiple_of(2) => {
            format!("'11111111-1111-1111-1111-11111111111{}'", 1 + rank)
        }
        (false, Some(_)) => format!("'{rank}1111111-1111-1111-1111-111111111112'"),
    };
    let realm = match tenant {
        Some(name @ ("acme" | "globex" | "initech" | "ACME" | "acme2")) => format!("'{name}'"),
        Some(_) | None => "NULL".to_owned(),
    };
    let base = if free { 0 } else { 100 * rank };
    let shift = if own { 0 } else { rank * 2 + usize::from(world == 'c') * 5 };
    let has_realm = realm != "NULL" || (tenant.is_none() && free);
    format!(
        "INSERT INTO seeds SELECT '{world}', {quoted}, {account}, {owner}, {realm}, k, {base}, (k * 3 + {shift}) % 60, \
         {own}, {free}, {rank}, {count}, {has_realm} FROM generate_series(1, {count}) k;\n"
    )
}

/// Other tenants of a world: name, account and how many rows. Many look like ours.
fn others(universe: Universe, world: char) -> Vec<(Option<&'static str>, Option<i64>, usize)> {
    let mut all = match world {
        'a' => vec![
            (Some("globex"), Some(77), 7),
            (Some("acme "), Some(4), 3),
            (Some("ACME"), Some(-42), 4),
            (Some("acme2"), Some(420), 4),
            (Some(""), Some(0), 2),
            (Some("\u{a0}"), Some(5), 2),
        ],
        'b' => Vec::new(),
        _ => vec![
            (Some("initech"), Some(91), 6),
            (Some("globex"), Some(77), 5),
            (Some("acme2"), Some(43), 7),
            (Some("ac"), Some(2), 3),
            (Some("a"), Some(3), 2),
            (Some("Acme"), Some(42_000), 2),
            (Some(" acme"), Some(1), 2),
            (Some("acmé"), Some(41), 2),
        ],
    };
    if universe == Universe::Free && world != 'b' {
        all.push((None, None, 4));
    }
    all
}

/// Tables with their tenant columns and our own value; those without are shared.
const STATE: [(&str, Option<(&str, &str)>); 25] = [
    ("more.owned", Some(("tenant_id", "'acme'"))),
    ("more.halls", Some(("tenant_id", "'acme'"))),
    ("more.racks", Some(("tenant_id", "'acme'"))),
    ("more.depots", Some(("tenant_id", "'acme'"))),
    ("more.bins", Some(("tenant_id", "'acme'"))),
    ("app.customers", Some(("tenant_id", "'acme'"))),
    ("app.products", Some(("tenant_id", "'acme'"))),
    ("app.orders", Some(("tenant_id", "'acme'"))),
    ("app.order_items", Some(("tenant_id", "'acme'"))),
    ("app.warehouses", Some(("tenant_id", "'acme'"))),
    ("app.shipments", Some(("tenant_id", "'acme'"))),
    ("app.events_2026", Some(("tenant_id", "'acme'"))),
    ("app.events_default", Some(("tenant_id", "'acme'"))),
    ("ONLY app.notes", Some(("tenant_id", "'acme'"))),
    ("app.pinned_notes", Some(("tenant_id", "'acme'"))),
    ("app.\"Audit Trail\"", Some(("tenant_id", "'acme'"))),
    ("billing.invoices", Some(("account_no", "42"))),
    ("billing.payments", Some(("account_no", "42"))),
    ("more.devices", Some(("owner", "'11111111-1111-1111-1111-111111111111'"))),
    ("more.seats", Some(("realm", "'acme'"))),
    ("more.tickets", Some(("tenant_id", "'acme'"))),
    ("more.ledger", Some(("account_no", "42"))),
    ("more.cards", Some(("account_no", "42"))),
    ("more.labels", Some(("tenant_id", "'acme'"))),
    ("app.plans", None),
];

/// A query that tells our own rows and everyone else's of each table, digested: of all tables, or of
/// those that this transaction has written to.
///
/// PostgreSQL counts what a transaction writes; the counts are handed over (to begin at zero again)
/// when it has ended. What was counted and not handed over yet makes the answer longer, never shorter.
pub(crate) fn state_sql(all: bool) -> String {
    let digest = |filter: &str| {
        format!("md5(coalesce(string_agg(x::text, '|' ORDER BY x::text) FILTER (WHERE {filter}), ''))")
    };
    let parts = STATE.map(|(table, scope)| {
        let (own, others) = match scope {
            Some((column, own)) => {
                (format!("x.{column} = {own}"), format!("x.{column} IS DISTINCT FROM {own}"))
            }
            None => ("false".to_owned(), "true".to_owned()),
        };
        let oid = format!("'{}'::regclass::oid", table.replace("ONLY ", ""));
        let written = ["inserted", "updated", "deleted"]
            .map(|what| format!("pg_stat_get_xact_tuples_{what}({oid}) > 0"))
            .join(" OR ");
        // In WHERE, so that the table is not read; in HAVING, so that there is no row.
        let asked =
            if all { String::new() } else { format!("WHERE (SELECT {written}) HAVING (SELECT {written})") };
        format!("SELECT '{table}', {}, {} FROM {table} x {asked}", digest(&own), digest(&others))
    });
    let hand_over = "SELECT 'counts', pg_stat_force_next_flush()::text, NULL";
    format!("{} UNION ALL {hand_over}", parts.join(" UNION ALL "))
}

/// A query that names the tables in which this transaction has locked others' rows.
pub(crate) fn locks_sql() -> String {
    let parts = STATE.map(|(table, scope)| {
        let others =
            scope.map_or("true".to_owned(), |(column, own)| format!("x.{column} IS DISTINCT FROM {own}"));
        let ours = "x.xmax::text = (pg_current_xact_id_if_assigned()::text::bigint % 4294967296)::text";
        format!("SELECT '{table}' WHERE EXISTS (SELECT FROM {table} x WHERE {others} AND {ours})")
    });
    parts.join(" UNION ALL ")
}

const OWN_ROWS: usize = 7;
const OWN_ACCOUNT: i64 = 42;
const PATIENCE: Duration = Duration::from_secs(60);

const MORE_SQL: &str = include_str!("worlds/more.sql");
const FREE_SQL: &str = include_str!("worlds/free.sql");
const ROWS_SQL: &str = include_str!("worlds/rows.sql");
const POLICY_YAML: &str = include_str!("worlds/policy.yaml");

/// What is changed in the policy of those who only read.
const READ_CHANGES: [(&str, &str); 3] = [
    (
        "  proof:",
        "  trust_keys: [app.orders.customer_id, more.parcels.customer_id, more.parcels_0.customer_id, \
         more.crates.customer_id, more.crates_old.customer_id]\n  proof:",
    ),
    ("insert, update, delete, merge, ", ""),
    (
        "    functions:",
        "    columns: { deny: [app.customers.ssn] }
    masks:
      - { column: app.customers.email, kind: \"null\" }
      - { column: app.customers.phone, kind: \"null\" }
    functions:",
    ),
];

/// What is changed in the policy that denies errors.
const STRICT_CHANGES: [(&str, &str); 1] = [("  proof:", "  errors: deny\n  proof:")];

/// The classes of errors that come of evaluating an expression on a row.
const EVALUATED: [&str; 3] = ["21", "22", "54"];

const SHARED_SQL: &str =
    "INSERT INTO app.plans VALUES ('free', 'Free', 0), ('pro', 'Pro', 4900), ('ent', 'Enterprise', 49900);
INSERT INTO app.countries VALUES ('DE', 'Germany'), ('US', 'United States'), ('JP', 'Japan');
";

const SEEDS_SQL: &str =
    "CREATE TABLE seeds (world text, t text, a int, u uuid, r more.realm, k int, base int, h int,
    own boolean, free boolean, rank int, seats int, has_realm boolean);
";

/// No order names another tenant's customer.
const HONEST_SQL: &str = "
SET session_replication_role = replica;
UPDATE app.orders o SET customer_id = (SELECT c.id FROM app.customers c WHERE c.tenant_id = o.tenant_id
    ORDER BY (c.id + o.id) % 3, c.id LIMIT 1);
RESET session_replication_role;
";

const DUPLICATES_SQL: &str = "
INSERT INTO app.events SELECT * FROM app.events WHERE tenant_id IS DISTINCT FROM 'acme';
INSERT INTO app.\"Audit Trail\" SELECT * FROM app.\"Audit Trail\" WHERE tenant_id IS DISTINCT FROM 'acme';
INSERT INTO more.labels SELECT * FROM more.labels WHERE tenant_id IS DISTINCT FROM 'acme';
";

const FREE_DUPLICATES_SQL: &str = "
INSERT INTO app.notes SELECT * FROM ONLY app.notes WHERE tenant_id IS DISTINCT FROM 'acme';
INSERT INTO app.pinned_notes SELECT * FROM app.pinned_notes WHERE tenant_id IS DISTINCT FROM 'acme';
INSERT INTO app.orders SELECT * FROM app.orders WHERE tenant_id IS NULL;
INSERT INTO app.customers SELECT * FROM app.customers WHERE tenant_id IS NULL;
";
