//! Statements by chance: of each kind that changes what a session is in, and of each that does not.

use pgmoat_tests::Rng;

use crate::script::Role;

/// A text, what stands in its place at the direct door if the proxy refuses it, and how many parameters it has.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) proxied: String,
    pub(super) direct: Option<String>,
    pub(super) parameters: usize,
}

/// What PostgreSQL refuses to the service's login, as early as the proxy refuses.
pub(super) const VAULT: &str = "SELECT * FROM vault.t";

pub(super) fn text(rng: &mut Rng, role: Role) -> Text {
    match role {
        Role::Tenant if rng.chance(22) => denied(rng),
        Role::Tenant => allowed(tenants(rng)),
        Role::Unrestricted if rng.chance(25) => allowed(rng.pick(&ONLY_UNRESTRICTED).to_string()),
        Role::Unrestricted => allowed(shared(rng)),
    }
}

/// A text for a Parse under a name. One that SQL's EXECUTE may reach has a text that may stand there: to a tenant an
/// EXECUTE of what has no rows is refused, and what a name in the text behind an EXECUTE stands for is asked at its Bind.
pub(super) fn parsed_text(rng: &mut Rng, role: Role, name: &str) -> Text {
    let executed =
        NAMES.iter().any(|text| text.starts_with("EXECUTE") && text.contains(name) && !name.is_empty());
    loop {
        let text = text(rng, role).alone();
        let fits = match role {
            Role::Unrestricted => !text.speaks_of_names(),
            Role::Tenant => {
                text.direct.is_some() || text.has_rows() || EMPTY.contains(&text.proxied.as_str())
            }
        };
        if fits || !executed {
            return text;
        }
    }
}

impl Text {
    /// Whether what a name in it stands for is asked at Bind here, and when it runs by PostgreSQL.
    pub(super) fn speaks_of_names(&self) -> bool {
        let words = ["PREPARE", "EXECUTE", "DEALLOCATE", "DECLARE", "FETCH", "MOVE", "CLOSE"];
        words.iter().any(|word| self.proxied.starts_with(word))
    }

    fn has_rows(&self) -> bool {
        let words = ["SELECT", "VALUES", "WITH", "INSERT", "UPDATE", "DELETE"];
        words.iter().any(|word| self.proxied.starts_with(word)) && !self.proxied.contains("set_config")
    }

    /// Several commands do not go into one Parse, whatever they are.
    fn alone(self) -> Self {
        if self.proxied.contains("; ") { Self { direct: None, ..self } } else { self }
    }
}

pub(super) fn copy_in_text(role: Role) -> Text {
    let copy = "COPY notes (tenant_id, body) FROM STDIN";
    match role {
        Role::Unrestricted => allowed(copy.to_owned()),
        Role::Tenant => Text { proxied: copy.to_owned(), direct: Some(VAULT.to_owned()), parameters: 0 },
    }
}

fn allowed(proxied: String) -> Text {
    let parameters = if proxied.contains("$2") { 2 } else { usize::from(proxied.contains("$1")) };
    Text { proxied, direct: None, parameters }
}

/// A refused statement, alone or behind others; PostgreSQL would run the others first, and is given it alone.
fn denied(rng: &mut Rng) -> Text {
    let reads = rng.pick(&[
        "SELECT id FROM orders",
        "SELECT body FROM notes WHERE tenant_id = 'globex'",
        "SELECT * FROM internal.api_keys",
        "TABLE notes",
        "SELECT pg_read_file('x')",
    ]);
    let proxied = match rng.below(9) {
        0 => format!("SELECT 1; {reads}"),
        1 => format!("BEGIN; {reads}; COMMIT"),
        2 => format!("PREPARE a AS {reads}"),
        3 => format!("COPY ({reads}) TO STDOUT"),
        4 => rng
            .pick(&[
                "DELETE FROM notes",
                "INSERT INTO notes (tenant_id, body) VALUES ('globex', 'x')",
                "DO $$BEGIN END$$",
                "CREATE TABLE x (y int)",
                "SET search_path = internal",
            ])
            .to_string(),
        _ => reads.to_string(),
    };
    Text { proxied, direct: Some(VAULT.to_owned()), parameters: 0 }
}

fn tenants(rng: &mut Rng) -> String {
    match rng.below(10) {
        0..4 => rng
            .pick(&[
                "SELECT body FROM notes WHERE tenant_id = 'acme' ORDER BY id",
                "SELECT id FROM orders WHERE tenant_id = 'acme' AND id < 9 ORDER BY id",
                "INSERT INTO notes (tenant_id, body) VALUES ('acme', 'written')",
                "INSERT INTO notes (tenant_id, body) VALUES ('acme', $1) RETURNING body",
                "UPDATE notes SET body = 'changed' WHERE tenant_id = 'acme' AND id = 3",
                "DELETE FROM notes WHERE tenant_id = 'acme' AND id = 4",
                "COPY (SELECT body FROM notes WHERE tenant_id = 'acme' ORDER BY id) TO STDOUT",
                "DECLARE c CURSOR FOR SELECT body FROM notes WHERE tenant_id = 'acme' ORDER BY id",
                "PREPARE a AS SELECT body FROM notes WHERE tenant_id = 'acme' AND id = $1",
                "SELECT nope FROM notes WHERE tenant_id = 'acme'",
            ])
            .to_string(),
        _ => shared(rng),
    }
}

/// What both roles may: nothing here reads a table.
fn shared(rng: &mut Rng) -> String {
    match rng.weighted(&[26, 20, 14, 12, 8, 6, 8, 6]) {
        0 => rng.pick(&QUERIES).to_string(),
        1 => rng.pick(&TRANSACTIONS).to_string(),
        2 => rng.pick(&NAMES).to_string(),
        3 => rng.pick(&CURSORS).to_string(),
        4 => rng.pick(&SETTINGS).to_string(),
        5 => rng.pick(&EMPTY).to_string(),
        6 => rng.pick(&WRONG).to_string(),
        _ => {
            let count = 2 + rng.below(3);
            let part = |rng: &mut Rng| {
                // A Query with a name that is unknown, or taken, is refused as a whole.
                let from: &[&str] = match rng.below(6) {
                    0 | 1 => &QUERIES[..UNBOUND],
                    2 => &TRANSACTIONS,
                    3 => &["DEALLOCATE ALL", "DISCARD PLANS", "CLOSE ALL"],
                    4 => &SETTINGS,
                    _ => &WRONG[..RUN_WRONG],
                };
                *rng.pick(from)
            };
            let parts: Vec<&str> = (0..count).map(|_| part(rng)).collect();
            parts.join("; ")
        }
    }
}

/// The first of [`QUERIES`] have no parameters.
const UNBOUND: usize = 6;

const QUERIES: [&str; 11] = [
    "SELECT 1",
    "SELECT 1 WHERE false",
    "SELECT g FROM generate_series(1, 5) g",
    "SELECT 'x' AS text, NULL AS nothing, 1.5 AS number",
    "VALUES (1, 'one'), (2, 'two')",
    "COPY (SELECT g, g * 2 FROM generate_series(1, 3) g) TO STDOUT",
    "SELECT $1::int + 1",
    "SELECT g FROM generate_series(1, $1::int) g",
    "SELECT $1::text || $2::text",
    "SELECT 10 / $1::int",
    "WITH x AS (SELECT $1::int AS y) SELECT y FROM x",
];

const TRANSACTIONS: [&str; 16] = [
    "BEGIN",
    "BEGIN",
    "START TRANSACTION READ ONLY",
    "COMMIT",
    "COMMIT",
    "END",
    "ROLLBACK",
    "ROLLBACK",
    "SAVEPOINT s",
    "SAVEPOINT s",
    "ROLLBACK TO s",
    "ROLLBACK TO s",
    "RELEASE s",
    "COMMIT AND CHAIN",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
    "ROLLBACK AND CHAIN",
];

const NAMES: [&str; 14] = [
    "PREPARE a AS SELECT 1",
    "PREPARE b (int) AS SELECT $1 + 1",
    "PREPARE \"B\" AS SELECT g FROM generate_series(1, 4) g",
    "PREPARE a AS SELECT 1, 2",
    "EXECUTE a",
    "EXECUTE b(41)",
    "EXECUTE \"B\"",
    "EXECUTE b",
    "DEALLOCATE a",
    "DEALLOCATE b",
    "DEALLOCATE \"B\"",
    "DEALLOCATE ALL",
    "DISCARD PLANS",
    "DISCARD ALL",
];

const CURSORS: [&str; 14] = [
    "DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 6) g",
    "DECLARE c SCROLL CURSOR FOR SELECT g FROM generate_series(1, 6) g",
    "DECLARE c CURSOR WITH HOLD FOR SELECT g FROM generate_series(1, 6) g",
    "DECLARE a CURSOR FOR VALUES (1), (2)",
    "DECLARE \"Q\" CURSOR FOR VALUES (1), (2)",
    "FETCH c",
    "FETCH 2 FROM c",
    "FETCH ALL FROM c",
    "FETCH 1 FROM \"Q\"",
    "FETCH PRIOR FROM c",
    "MOVE 2 IN c",
    "CLOSE c",
    "CLOSE a",
    "CLOSE ALL",
];

const SETTINGS: [&str; 9] = [
    "SET TimeZone = 'UTC'",
    "SET LOCAL TimeZone = 'Europe/Paris'",
    "SET application_name = 'changed'",
    "RESET TimeZone",
    "RESET ALL",
    "SHOW TimeZone",
    "SET DateStyle = 'German'",
    "SET TimeZone = 'Nowhere/Land'",
    "SELECT set_config('application_name', 'a', false), set_config('TimeZone', 'Asia/Tokyo', false)",
];

const EMPTY: [&str; 5] = ["", "-- nothing", ";", "/* nothing */ ;;", "   "];

const WRONG: [&str; 6] =
    ["SELECT 1/0", "selec 1", "SELECT 'open", "SELECT 'x'::int", "SELECT 1; SELECT 2", "FETCH FROM nowhere"];

/// The first of [`WRONG`] speak of no names.
const RUN_WRONG: usize = 5;

const ONLY_UNRESTRICTED: [&str; 22] = [
    "SELECT body FROM notes ORDER BY id",
    "INSERT INTO notes (tenant_id, body) VALUES ('acme', 'written')",
    "INSERT INTO notes (tenant_id, body) VALUES ('acme', $1), ('globex', $2) RETURNING body",
    "UPDATE notes SET body = body || '!' WHERE id <= $1",
    "DELETE FROM notes WHERE id = 2",
    "MERGE INTO notes n USING (VALUES (1)) v (id) ON n.id = v.id WHEN MATCHED THEN UPDATE SET body = 'merged'",
    "SELECT * FROM nowhere",
    "SELECT nope FROM notes",
    "INSERT INTO notes (tenant_id, body) VALUES (NULL, 'x')",
    "DO $$BEGIN RAISE NOTICE 'said'; END$$",
    "DO $$BEGIN RAISE EXCEPTION 'failed' USING HINT = 'try again', DETAIL = 'no', ERRCODE = 'P0001'; END$$",
    "CREATE TEMP TABLE mine (x int) ON COMMIT DROP",
    "CREATE TEMP TABLE IF NOT EXISTS yours (x int)",
    "INSERT INTO yours VALUES (1), (2)",
    "DISCARD TEMP",
    "LISTEN channel",
    "NOTIFY channel, 'news'",
    "UNLISTEN *",
    "EXPLAIN (COSTS OFF) SELECT 1",
    "SELECT pg_advisory_xact_lock(7)",
    "COPY notes (tenant_id, body) TO STDOUT",
    "TRUNCATE notes",
];
