//! psql's \d family.

use std::process::Command;

use pgmoat_tests::Stack;

use super::{OPTIONS, Ways, run, same, text};

#[test]
fn psql_describes_the_same() {
    let ways = Ways::new();
    let commands = &understood(SAME.iter().copied());
    let (direct, error) = ask(&ways.direct, commands, true);
    assert!(!error.contains("ERROR") && !error.contains("invalid"), "directly: {error}");
    let (proxied, refused) = ask(&ways.proxied.dsn("acme_app"), commands, false);
    assert_eq!(refused, error);
    assert!(direct.lines().count() > commands.len() * 4, "they show something: {direct}");
    same("psql", &direct, &proxied);
}

#[test]
fn psql_is_refused_what_tells_of_data() {
    let ways = Ways::new();
    for command in understood(REFUSED.iter().map(|(command, _)| *command)) {
        let (_, reason) = REFUSED.iter().find(|(refused, _)| *refused == command).unwrap();
        let (shown, error) = ask(&ways.proxied.dsn("acme_app"), &[command], false);
        assert!(error.contains(reason), "{command}: {error}{shown}");
    }
}

/// Without what a psql of before 17 asks a server of 17 or later in vain: both catalogs have lost a column.
fn understood(commands: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let newer = Stack::get().cluster().postgres().major() >= 17;
    let in_vain = |command: &str| command.starts_with(r"\l") || command.starts_with(r"\dO");
    commands.filter(|command| !(newer && in_vain(command))).collect()
}

/// What psql shows of these commands, each behind its own name, and what it says beside.
fn ask(dsn: &str, commands: &[&str], options: bool) -> (String, String) {
    let mut psql = Command::new(Stack::get().cluster().postgres().tool("psql"));
    psql.args(["-X", "-d", dsn]).env_remove("PGOPTIONS");
    for command in commands {
        psql.args(["-c", &format!("\\echo '== {}'", command.replace('\\', "")), "-c", command]);
    }
    if options {
        psql.env("PGOPTIONS", OPTIONS);
    }
    let output = run(&mut psql);
    (text(&output.stdout), text(&output.stderr))
}

const SAME: &[&str] = &[
    r"\d",
    r"\dS pg_class",
    r"\d app.*",
    r"\d app.orders",
    r"\d orders",
    r"\d+ app.orders",
    r"\d+ app.customers",
    r"\d+ app.events",
    r"\d+ app.events_2026",
    r"\d+ app.notes",
    r#"\d app."Audit Trail""#,
    r"\d+ app.open_orders",
    r"\d+ app.daily_revenue",
    r"\d app.notes_id_seq",
    r"\d app.orders_pkey",
    r"\d+ app.orders_pkey",
    r"\d billing.*",
    r"\d+ app.shipments",
    r"\dt",
    r"\dt app.*",
    r"\dt *.*",
    r"\di",
    r"\di app.*",
    r"\dv",
    r"\dv app.*",
    r"\dm app.*",
    r"\ds app.*",
    r"\dE app.*",
    r"\dP",
    r"\dPn",
    r"\dn",
    r"\dn+",
    r"\df app.*",
    r"\df",
    r"\df+ app.*",
    r"\da app.*",
    r"\da",
    r"\dp",
    r"\dp app.*",
    r"\z app.orders",
    r"\ddp",
    r"\du",
    r"\du+",
    r"\dg",
    // Other tests make databases meanwhile: those that are always there.
    r"\l template?",
    r"\dT",
    r"\dT+",
    r"\dT+ app.*",
    r"\dD app.*",
    r"\dD+ app.*",
    r"\dx",
    r"\dx+",
    r"\dx+ plpgsql",
    r"\dc",
    r"\dC",
    r"\dC+",
    r"\dd",
    r"\dd app.*",
    r"\do app.*",
    r"\do+ app.*",
    r"\dO",
    r"\dO+",
    r"\dF",
    r"\dF+ english",
    r"\dFd",
    r"\dFd+",
    r"\dFp",
    r"\dFp+",
    r"\dFt",
    r"\dFt+",
    r"\dL",
    r"\dL+",
    r"\dA",
    r"\dA+",
    r"\dAc btree",
    r"\dAf btree",
    r"\dAo btree",
    r"\dAp btree",
    r"\dRp",
    r"\dRp+",
    r"\dy",
    r"\dew",
    r"\des",
    r"\det",
    r"\dX",
    r"\dX+",
    r"\sf app.net_price",
    r"\sf+ app.net_price",
    r"\sf app.net_price(numeric,numeric)",
    r"\sv app.open_orders",
    r"\sv+ app.order_lines",
];

/// Sizes, paths, settings, large objects, subscriptions, mapped users, options of foreign servers, the body of a
/// function out of reach.
const REFUSED: &[(&str, &str)] = &[
    (r"\dt+ app.*", "code: function_not_allowed,"),
    (r"\d+", "code: function_not_allowed,"),
    (r"\dP+", "code: function_not_allowed,"),
    (r"\l+", "code: function_not_allowed,"),
    (r"\db", "code: function_not_allowed,"),
    (r"\dconfig work_mem", "code: catalog_not_allowed,"),
    (r"\drds", "code: catalog_not_allowed,"),
    (r"\dl", "code: catalog_not_allowed,"),
    (r"\dRs", "code: catalog_not_allowed,"),
    (r"\deu", "code: catalog_not_allowed,"),
    (r"\dew+", "code: column_not_allowed,"),
    (r"\det+", "code: column_not_allowed,"),
    (r"\sf app.every_order", "names something in reach"),
];
