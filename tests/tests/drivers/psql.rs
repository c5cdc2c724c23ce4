//! psql: a script for each item.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use pgmoat_tests::Stack;

use crate::doors::Door;

pub(crate) fn session(door: &Door) -> String {
    let mut said = String::new();
    let mut say = |item: &str, result: String| {
        let _ = writeln!(said, "{item}\t{result}");
    };
    say("tls", words(&door.tls_dsn, "SELECT 1;"));
    for (item, script) in SCRIPTS {
        say(item, words(&door.dsn, script));
    }
    let sum = |text: String| text.split(' ').filter_map(|word| word.parse::<u64>().ok()).sum::<u64>();
    let executes: String = (2..42).step_by(2).map(|id| format!("EXECUTE o({id});\n")).collect();
    say("prepared", sum(words(&door.dsn, &format!("{PREPARE}{executes}"))).to_string());
    let found = words(&door.dsn, MANY);
    say("rows", format!("{} {}", found.split(' ').count(), sum(found)));
    say("copy out", words(&door.dsn, COPY_OUT).split(' ').count().to_string());
    say("copy in", words(&door.ops_dsn, COPY_IN).split(' ').count().to_string());
    say("bytea", bytea(&door.dsn));
    say("cancel", format!("{} {}", interrupted(&door.dsn), words(&door.dsn, "SELECT 1;")));
    let client = || {
        let dsn = door.dsn.clone();
        thread::spawn(move || words(&dsn, &ONE.repeat(10)).split(' ').filter(|word| *word == "2").count())
    };
    let clients: Vec<_> = (0..20).map(|_| client()).collect();
    say("pool", clients.into_iter().map(|client| client.join().unwrap()).sum::<usize>().to_string());
    say("describe", words(&door.dsn, r"\d app.orders").matches("not null").count().to_string());
    said
}

/// What a script prints, in one line, errors by their SQLSTATE.
fn words(dsn: &str, script: &str) -> String {
    // One stream: what is said of errors has its place between the rows.
    let mut command = Command::new("sh");
    command.args(["-c", r#"exec "$@" 2>&1"#, "sh"]).arg(Stack::get().cluster().postgres().tool("psql"));
    command.args(ARGUMENTS).arg(dsn).env("PGTZ", "UTC").env_remove("PGOPTIONS");
    let mut psql = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    psql.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    in_one_line(&psql.wait_with_output().unwrap().stdout)
}

fn in_one_line(output: &[u8]) -> String {
    let all = String::from_utf8_lossy(output);
    let lines = all.lines().map(|line| line.trim_start_matches("Cancel request sent"));
    let lines = lines.map(|line| line.trim_start_matches("ERROR:  ").trim_start_matches("WARNING:  "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn bytea(dsn: &str) -> String {
    let hex: String = (0..1 << 20).map(|byte: u32| format!("{:02x}", byte % 256)).collect();
    let back = words(dsn, &format!(r"SELECT b FROM (SELECT '\x{hex}'::bytea AS b) s;"));
    let same = back.strip_prefix(r"\x") == Some(&hex);
    format!("{} {}", (back.len() - 2) / 2, if same { "same" } else { "other" })
}

/// Ctrl-C, until it is heard: a statement that has not begun yet cannot be cancelled.
fn interrupted(dsn: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", r#"trap '' INT; exec "$@" 2>&1"#, "sh"]);
    command.arg(Stack::get().cluster().postgres().tool("psql")).args(ARGUMENTS).arg(dsn);
    let psql = command.args(["-c", LONG]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let pid = psql.id().to_string();
    let output = thread::spawn(move || psql.wait_with_output().unwrap());
    while !output.is_finished() {
        thread::sleep(Duration::from_millis(100));
        let _ = Command::new("kill").args(["-INT", &pid]).stderr(Stdio::null()).status();
    }
    in_one_line(&output.join().unwrap().stdout)
}

const ARGUMENTS: [&str; 8] = ["-XAtq", "-F", " ", "-v", "VERBOSITY=sqlstate", "-P", "null=null", "-d"];

const SCRIPTS: &[(&str, &str)] = &[
    ("connect", "SELECT 1;"),
    (
        "types",
        "SELECT true::text, 7::int2, (-2147483648)::int4, 9007199254740993::int8, 1.5::float8, 12.50::numeric(10,2), 'Grüße'::text,
         date '2026-01-31', time '12:30:00', '00000000-0000-0000-0000-000000000042'::uuid;",
    ),
    ("nulls", "SELECT NULL::int, NULL::text, NULL;"),
    ("arrays", "SELECT array_to_string(ARRAY[1, 2, NULL], ',', 'null'), array_to_string(ARRAY['a', 'b c'], ',');"),
    ("json", r#"SELECT '{"a": [1, 2]}'::jsonb -> 'a' -> 1;"#),
    (
        "transaction",
        "BEGIN; INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'psql'); ROLLBACK;
         SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'psql';
         BEGIN; INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'psql'); COMMIT;
         DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'psql' RETURNING 1;",
    ),
    (
        "savepoint",
        "BEGIN; INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'psql'); SAVEPOINT s;
         INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'psql'); ROLLBACK TO s; COMMIT;
         DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'psql' RETURNING 1;",
    ),
    ("error", ZERO),
    ("syntax", "SELEC 1;"),
    (
        "failed transaction",
        "BEGIN; SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2; SELECT 1; ROLLBACK; SELECT 1;",
    ),
    ("denied", "SELECT secret FROM internal.api_keys;"),
    ("refused", "SELECT id FROM app.orders WHERE id = 4242;"),
    (
        "timeout",
        "SET statement_timeout = 100; SELECT count(*) FROM generate_series(1, 2000000000); RESET statement_timeout; SELECT 1;",
    ),
    (
        "setting",
        "SET TimeZone = 'Asia/Tokyo'; SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI');
         SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI'); RESET TimeZone;
         SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI');",
    ),
    ("notice", "ROLLBACK;"),
    ("gdesc", "SELECT id FROM app.orders WHERE tenant_id = 'acme' \\gdesc\n"),
    (
        "savepoint for each",
        "\\set ON_ERROR_ROLLBACK on\nBEGIN; SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2; SELECT 1; COMMIT;",
    ),
    (
        "several in one",
        r"SELECT 1\; SELECT 2\; SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2;",
    ),
];

const ZERO: &str = "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2;";
const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2;\n";
const PREPARE: &str = "PREPARE o AS SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = $1;\n";
const MANY: &str =
    "\\set FETCH_COUNT 100\nSELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 5000;";
const LONG: &str = "SELECT count(*) FROM generate_series(1, 2000000000)";
const COPY_OUT: &str = "COPY (SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 8) TO STDOUT;";
const COPY_IN: &str = r#"\copy app.notes (tenant_id, body) FROM PROGRAM 'printf "acme\tpsql\nacme\tpsql\n"'
DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'psql' RETURNING 1;"#;
