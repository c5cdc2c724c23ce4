//! The sessions of `tests/drivers`, each in its driver's language.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use pgmoat_tests::drivers;

use crate::doors::Door;

pub(crate) fn python(script: &str, door: &Door) -> String {
    let interpreter = drivers().unwrap().join("python/bin/python");
    said(Command::new(interpreter).arg("-B").arg(folder().join(script)), door)
}

pub(crate) fn node(script: &str, door: &Door) -> String {
    said(Command::new("node").arg(folder().join(script)), door)
}

pub(crate) fn ruby(script: &str, door: &Door) -> String {
    said(Command::new("ruby").arg(folder().join(script)), door)
}

pub(crate) fn php(script: &str, door: &Door) -> String {
    said(Command::new("php").arg(folder().join(script)), door)
}

/// One source file, which Java compiles as it starts.
pub(crate) fn java(source: &str, door: &Door) -> String {
    said(Command::new("java").args(["-cp", JDBC]).arg(folder().join(source)), door)
}

/// Built once; Debian keeps the sources of Go's libraries where GOPATH finds them.
pub(crate) fn go(door: &Door) -> String {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let built = drivers().unwrap().join("lib_pq_session");
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(&built).arg(folder().join("lib_pq_session.go"));
        go.env("GO111MODULE", "off").env("GOPATH", "/usr/share/gocode").env("GOFLAGS", "");
        if std::env::var_os("HOME").is_none() {
            go.env("HOME", drivers().unwrap());
        }
        let output = go.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        built
    });
    said(&mut Command::new(&*BUILT), door)
}

/// A crate of its own, so that nothing else is built with what it needs.
pub(crate) fn sqlx(door: &Door) -> String {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let target = drivers().unwrap().join("sqlx");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--locked", "--manifest-path"]).arg(folder().join("sqlx/Cargo.toml"));
        let output = cargo.arg("--target-dir").arg(&target).env_remove("CARGO_TARGET_DIR").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        target.join("debug/sqlx-session")
    });
    said(&mut Command::new(&*BUILT), door)
}

fn said(command: &mut Command, door: &Door) -> String {
    command.env("PGMOAT_DSN", &door.dsn).env("PGMOAT_TLS_DSN", &door.tls_dsn);
    command.env("PGMOAT_OPS_DSN", &door.ops_dsn).env("PGMOAT_CA", &door.ca);
    command.env("PGMOAT_DRIVERS", drivers().unwrap()).env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
    command.env_remove("PGOPTIONS");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}, {}: {}\n{out}{err}", door.mode, output.status);
    if out.contains("surprise") {
        println!("{}: {err}", door.mode);
    }
    out.into_owned()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("drivers")
}

/// Where Debian's libpostgresql-jdbc-java puts it.
const JDBC: &str = "/usr/share/java/postgresql.jar";
