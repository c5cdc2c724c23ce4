//! SQLAlchemy's and Django's inspection, asyncpg's and psycopg's loading of types, JDBC's metadata: the scripts of
//! `tests/tools`.

use std::path::{Path, PathBuf};
use std::process::Command;

use pgmoat_lab::{SERVICE_USER, User};
use pgmoat_tests::{Stack, drivers};

use super::{OPTIONS, Ways, run, same, text};

#[test]
fn sqlalchemy_inspects_the_same() {
    python("sqlalchemy_inspection.py", "acme_app", &[]);
}

#[test]
fn django_inspects_the_same() {
    python("django_inspection.py", "acme_app", &[]);
}

#[test]
fn django_writes_the_same_models() {
    python("django_inspection.py", "ops", &["rows"]);
}

#[test]
fn asyncpg_loads_the_same_types() {
    python("asyncpg_types.py", "acme_app", &[]);
}

#[test]
fn psycopg_loads_the_same_types() {
    python("psycopg_types.py", "acme_app", &[]);
}

#[test]
fn jdbc_sees_the_same_metadata() {
    let ways = Ways::new();
    let cluster = Stack::get().cluster();
    let acme = User::named("acme_app").unwrap();
    let password = cluster.password(SERVICE_USER).to_owned();
    let direct = jdbc(cluster.port(), &ways.proxied.database, SERVICE_USER, &password, &[OPTIONS]);
    let proxied = jdbc(ways.proxied.proxy.port(), "lab", acme.name, &acme.password(), &[]);
    assert!(!direct.contains("refused: "), "{direct}");
    same("JDBC", &direct, &proxied);
}

fn jdbc(port: u16, database: &str, user: &str, password: &str, options: &[&str]) -> String {
    assert!(
        Path::new(JDBC).is_file(),
        "no {JDBC}: apt-get install libpostgresql-jdbc-java default-jdk-headless"
    );
    let mut java = Command::new("java");
    java.args(["-cp", JDBC]).arg(folder().join("JdbcMetadata.java"));
    java.args(["127.0.0.1", &port.to_string(), database, user, password]).args(options);
    said("JdbcMetadata.java", &mut java)
}

fn python(script: &str, user: &str, arguments: &[&str]) {
    let ways = Ways::new();
    let ask = |dsn: &str| {
        let mut command = Command::new(drivers().unwrap().join("python/bin/python"));
        command.arg(folder().join(script)).arg(dsn).args(arguments);
        command
    };
    let direct = said(script, ask(&ways.direct).env("PGOPTIONS", OPTIONS));
    let proxied = said(script, ask(&ways.proxied.dsn(user)).env_remove("PGOPTIONS"));
    assert!(direct.lines().count() > 10, "{script} says what it sees: {direct}");
    same(script, &direct, &proxied);
}

fn said(script: &str, command: &mut Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{script}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tools")
}

/// Where Debian's libpostgresql-jdbc-java puts it.
const JDBC: &str = "/usr/share/java/postgresql.jar";
