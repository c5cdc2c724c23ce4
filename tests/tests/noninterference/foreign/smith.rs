//! SQLsmith, and the database that it is shown.
//!
//! It makes statements of whatever a catalog has. The database of its own has in its catalog what
//! `standard` allows over the types of columns: none of it volatile, and nothing whose result depends
//! on the order of rows; a login of its own sees no relation but those that a condition outside can
//! restrict. Without that, hardly any of its statements is one that the judge could allow.

use std::process::{Command, Stdio};

use pgmoat_lab::Cluster;
use pgmoat_policy::builtin::{functions, operators};
use pgmoat_policy::catalog::{
    CallRule, Function, FunctionKind, Listing, Major, PG_CATALOG, TypeId, Volatility,
};

use super::rewrite::Relations;

/// What SQLsmith has said.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) statements: Vec<String>,
    /// How often it died on the way.
    pub(crate) crashes: usize,
}

/// Makes its database of the template. SQLsmith passes over functions that return `internal`, so those
/// that it is not to see are said to; it needs `format`, `version` and the catalogs' own operators (of "char", name and oid) itself.
pub(crate) fn prepare(cluster: &Cluster, template: &str, relations: &Relations) {
    let major = Major::of_version_num(cluster.postgres().major() * 10_000).unwrap();
    let shown = functions::all(major, PG_CATALOG).filter(|function| is_shown(function));
    let shown = shown.map(|function| {
        let args: Vec<String> = function.args.iter().map(|argument| argument.ty.0.to_string()).collect();
        format!("('{}', '{}')", function.name.name, args.join(" "))
    });
    let allowed = operators::all(major).filter(|operator| {
        operator.listing == Listing::Standard
            && operator.left.is_some_and(|left| TYPES.contains(&left))
            && TYPES.contains(&operator.right)
    });
    let allowed = allowed.map(|operator| {
        format!("('{}', {}, {})", operator.name.name, operator.left.unwrap().0, operator.right.0)
    });
    let names: Vec<&str> = relations.keys().map(String::as_str).collect();
    let sql = format!(
        "UPDATE pg_proc SET prorettype = 'internal'::regtype
            WHERE (proname, proargtypes::text) NOT IN (VALUES {}, ('format', '25 2276'))
            AND NOT proretset;
        DELETE FROM pg_operator WHERE (oprname, oprleft::int, oprright::int) NOT IN (VALUES {})
            AND oprleft NOT IN (18, 19, 26);
        CREATE ROLE {LOGIN} LOGIN PASSWORD '{LOGIN}';
        GRANT USAGE ON SCHEMA app, billing, more TO {LOGIN};
        GRANT SELECT, INSERT, UPDATE, DELETE ON {} TO {LOGIN};",
        shown.collect::<Vec<_>>().join(", "),
        allowed.collect::<Vec<_>>().join(", "),
        names.join(", "),
    );
    cluster.psql("postgres", &format!("CREATE DATABASE {DATABASE} TEMPLATE {template}")).unwrap();
    cluster.psql(DATABASE, &sql).unwrap();
}

/// Has statements made; each run of the program makes some, so that one that dies takes few along.
pub(crate) fn ask(cluster: &Cluster, seed: u64, count: usize) -> Said {
    let target =
        format!("host=127.0.0.1 port={} user={LOGIN} password={LOGIN} dbname={DATABASE}", cluster.port());
    let mut said = Said::default();
    let mut run = 0;
    while said.statements.len() < count {
        let output = Command::new("sqlsmith")
            .arg(format!("--target={target}"))
            .args(["--dry-run", "--exclude-catalog"])
            .arg(format!("--seed={}", seed * 1_000_000 + run))
            .arg(format!("--max-queries={}", RUN_STATEMENTS.min(count)))
            .stdin(Stdio::null())
            .output()
            .expect("sqlsmith is installed");
        run += 1;
        said.crashes += usize::from(!output.status.success());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.is_empty(), "SQLsmith says nothing but {}", String::from_utf8_lossy(&output.stderr));
        said.statements
            .extend(text.split(";\n").map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned));
    }
    said.statements.truncate(count);
    said
}

fn is_shown(function: &Function) -> bool {
    let known = function.args.iter().all(|argument| TYPES.contains(&argument.ty));
    function.listing == Listing::Standard
        && function.rule == CallRule::Plain
        && function.volatility != Volatility::Volatile
        && function.kind != FunctionKind::Window
        && !function.returns_set
        && !function.variadic
        && known
        && TYPES.contains(&function.returns)
        && !FREE.contains(&&*function.name.name)
}

/// The types of the worlds' columns, and what is made of them without floats.
const TYPES: &[TypeId] = &[
    TypeId(16),   // bool
    TypeId(20),   // int8
    TypeId(21),   // int2
    TypeId(23),   // int4
    TypeId(25),   // text
    TypeId(1082), // date
    TypeId(1114), // timestamp
    TypeId(1184), // timestamptz
    TypeId(1186), // interval
    TypeId(1700), // numeric
    TypeId(2950), // uuid
    TypeId(3802), // jsonb
    TypeId(1009), // text[]
];

/// Depend on the order of rows, the clock, the session or the database's name.
const FREE: &[&str] = &[
    "string_agg",
    "now",
    "transaction_timestamp",
    "statement_timestamp",
    "age",
    "pg_backend_pid",
    // With a length that no type has, it fails with an internal error (XX000).
    "interval",
    "repeat",
    "lpad",
    "rpad",
];

const DATABASE: &str = "smith";
const LOGIN: &str = "smith";
const RUN_STATEMENTS: usize = 500;
