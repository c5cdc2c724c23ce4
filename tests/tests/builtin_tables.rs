//! The compiled tables of what PostgreSQL has, line by line against a server.
//!
//! Nothing may be in the tables that the server does not have, and nothing on the server may be
//! missing from the tables: an overload that a new release brings fails here until somebody has
//! looked at it. The servers are the machine's own (or that of `PGMOAT_PG_BIN`) and those of other
//! majors that tests/run has installed; a server's major decides which lines are compared.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::sync::LazyLock;

use pgmoat_lab::Cluster;
use pgmoat_policy::builtin::{functions, operators, relations, settings, types};
use pgmoat_policy::catalog::{
    Argument, Function, FunctionKind, INFORMATION_SCHEMA, Major, PG_CATALOG, TypeId, TypeKind, Volatility,
};
use pgmoat_tests::{Stack, other_servers};

/// A server, and the tables of its major.
struct Server {
    cluster: &'static Cluster,
    major: Major,
}

/// Every server that there is.
fn servers() -> impl Iterator<Item = Server> {
    static OTHERS: LazyLock<Vec<Stack>> = LazyLock::new(|| {
        let others = other_servers().into_iter().map(Stack::of);
        others.collect::<Result<_, _>>().expect("PostgreSQL starts")
    });
    let clusters = std::iter::once(Stack::get().cluster()).chain(OTHERS.iter().map(Stack::cluster));
    clusters.map(|cluster| {
        let major = Major::of_version_num(cluster.postgres().major() * 10_000);
        Server { cluster, major: major.expect("a supported major") }
    })
}

impl Server {
    fn lines(&self, sql: &str) -> BTreeSet<String> {
        self.cluster.psql("postgres", sql).unwrap().lines().map(str::to_owned).collect()
    }
}

/// Fails with the lines that only one side has.
fn same(major: Major, what: &str, table: &BTreeSet<String>, server: &BTreeSet<String>) {
    let extra: Vec<&String> = table.difference(server).collect();
    let missing: Vec<&String> = server.difference(table).collect();
    assert!(
        extra.is_empty() && missing.is_empty(),
        "{what} of {major}:\nonly in the table: {extra:#?}\nonly on the server: {missing:#?}"
    );
    assert!(!server.is_empty(), "{what}: the server was asked for something");
}

#[test]
fn functions_are_the_servers() {
    for server in servers() {
        let major = server.major;
        let shown = [PG_CATALOG, INFORMATION_SCHEMA].into_iter().flat_map(|schema| {
            functions::all(major, schema).map(|function| format!("{}{}", function.name, signature(function)))
        });
        same(major, "functions", &shown.collect(), &server.lines(FUNCTIONS));
    }
}

#[test]
fn operators_are_the_servers_and_none_is_volatile() {
    for server in servers() {
        let major = server.major;
        let shown = operators::all(major).map(|operator| {
            let left = operator.left.map_or("-".to_owned(), type_name);
            let (right, result) = (type_name(operator.right), type_name(operator.result));
            format!("{} {left} {right} {result} {}", operator.name.name, operator.function.name)
        });
        same(major, "operators", &shown.collect(), &server.lines(OPERATORS));
        let volatile = "SELECT o.oid::regoperator FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
            WHERE o.oid < 16384 AND p.provolatile = 'v'";
        assert_eq!(server.lines(volatile), BTreeSet::new());
    }
}

#[test]
fn types_are_the_servers() {
    for server in servers() {
        let major = server.major;
        let shown = types::all().iter().map(|ty| {
            let name = &ty.name;
            if *name.schema == *INFORMATION_SCHEMA {
                return match &ty.kind {
                    TypeKind::Domain { base, typmod, .. } => {
                        format!("{name} domain {} {typmod}", type_name(*base))
                    }
                    TypeKind::Array { element } => format!("{name} array {}", type_name(*element)),
                    other => format!("{name} {other:?}"),
                };
            }
            let of = match &ty.kind {
                TypeKind::Array { element } => type_name(*element),
                TypeKind::Range { subtype } | TypeKind::Multirange { subtype } => type_name(*subtype),
                TypeKind::Base | TypeKind::Pseudo => "-".to_owned(),
                other => format!("{other:?}"),
            };
            let (id, array) = (ty.id.0, ty.array.map_or(0, |array| array.0));
            format!("{name} {id} {array} {} {of}", ty.category.unwrap_or('?'))
        });
        same(major, "types", &shown.collect(), &server.lines(TYPES));
    }
}

#[test]
fn relations_are_the_servers() {
    for server in servers() {
        let major = server.major;
        let shown = [PG_CATALOG, INFORMATION_SCHEMA].into_iter().flat_map(|schema| {
            relations::all(major, schema).map(|relation| {
                let columns = relation
                    .columns
                    .iter()
                    .map(|column| format!("{}:{}:{}", column.number, column.name, type_name(column.ty)));
                format!("{} {:?} {}", relation.name, relation.kind, columns.collect::<Vec<_>>().join(" "))
            })
        });
        same(major, "relations", &shown.collect(), &server.lines(RELATIONS));
    }
}

#[test]
fn settings_are_the_servers() {
    for server in servers() {
        let known = server.lines("SELECT name || ' ' || context FROM pg_settings");
        for (name, _) in settings::WRITABLE {
            assert!(known.contains(&format!("{name} user")), "{name}");
        }
        // lc_collate and lc_ctype went with 16.
        for name in settings::READABLE.iter().filter(|name| !["lc_collate", "lc_ctype"].contains(name)) {
            server.cluster.psql("postgres", &format!("SHOW {name}")).unwrap();
        }
    }
}

/// A cap on statement_timeout is only as good as the reading of its value. (Another setting of the
/// same form: the query itself would run into this one.)
#[test]
fn durations_are_read_as_the_server_reads_them() {
    for server in servers() {
        for value in ["0", "7", " 5s", "5 s", "1min", "2h", "1d", "250ms", "1500us", "2499us"] {
            let sql = format!(
                "SET lock_timeout = '{value}'; SELECT setting FROM pg_settings WHERE name = 'lock_timeout'"
            );
            let server: u64 = server.cluster.psql("postgres", &sql).unwrap().trim().parse().unwrap();
            let ours = settings::milliseconds(value).unwrap();
            assert!(ours == server || ours == server + 1, "{value}: {ours}, the server says {server}");
        }
    }
}

fn signature(function: &Function) -> String {
    let count = function.args.len();
    let args = function.args.iter().enumerate().map(|(at, argument)| {
        let variadic = if function.variadic && at + 1 == count { "variadic " } else { "" };
        let default = if at + function.defaults >= count { " =" } else { "" };
        format!("{variadic}{}{default}", shown(argument))
    });
    let args: Vec<String> = args.collect();
    let columns: Vec<String> = function.columns.iter().map(shown).collect();
    let kind = match function.kind {
        FunctionKind::Plain => 'f',
        FunctionKind::Aggregate => 'a',
        FunctionKind::Window => 'w',
        FunctionKind::Procedure => 'p',
    };
    let volatility = match function.volatility {
        Volatility::Immutable => 'i',
        Volatility::Stable => 's',
        Volatility::Volatile => 'v',
    };
    format!(
        "({}) {}{}({}) {kind}{volatility}{}",
        args.join(", "),
        if function.returns_set { "setof " } else { "" },
        type_name(function.returns),
        columns.join(", "),
        if function.strict { "!" } else { "" },
    )
}

fn shown(argument: &Argument) -> String {
    let name = argument.name.as_ref().map_or(String::new(), |name| format!("{name} "));
    format!("{name}{}", type_name(argument.ty))
}

/// As `TYPE_NAMES` writes it.
fn type_name(id: TypeId) -> String {
    types::by_id(id).map_or("row".to_owned(), |ty| ty.name.to_string())
}

/// Row types of the catalogs are not in the tables: they are written `row`.
macro_rules! type_names {
    () => {
        "WITH type_names AS (
            SELECT t.oid, CASE WHEN t.typtype = 'c' OR e.typtype = 'c' THEN 'row'
                          ELSE n.nspname || '.' || t.typname END AS name
            FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
            LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A')"
    };
}

const FUNCTIONS: &str = concat!(
    type_names!(),
    ", arguments AS (
        SELECT p.oid, u.n, coalesce(p.proargmodes[u.n], 'i') AS mode,
               coalesce(nullif(p.proargnames[u.n], '') || ' ', '') || t.name AS shown,
               count(*) FILTER (WHERE coalesce(p.proargmodes[u.n], 'i') IN ('i', 'b', 'v'))
                   OVER (PARTITION BY p.oid ORDER BY u.n) AS input
        FROM pg_proc p
        CROSS JOIN LATERAL unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]))
            WITH ORDINALITY AS u (type, n)
        JOIN type_names t ON t.oid = u.type)
    SELECT n.nspname || '.' || p.proname || '(' || coalesce((
               SELECT string_agg(CASE mode WHEN 'v' THEN 'variadic ' ELSE '' END || shown
                   || CASE WHEN input > p.pronargs - p.pronargdefaults THEN ' =' ELSE '' END,
                   ', ' ORDER BY a.n)
               FROM arguments a WHERE a.oid = p.oid AND mode IN ('i', 'b', 'v')), '') || ') '
           || CASE WHEN p.proretset THEN 'setof ' ELSE '' END || r.name || '(' || coalesce((
               SELECT string_agg(shown, ', ' ORDER BY a.n)
               FROM arguments a WHERE a.oid = p.oid AND mode IN ('o', 'b', 't')), '') || ') '
           || p.prokind::text || p.provolatile::text || CASE WHEN p.proisstrict THEN '!' ELSE '' END
    FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
    JOIN type_names r ON r.oid = p.prorettype
    WHERE n.nspname IN ('pg_catalog', 'information_schema') AND p.oid < 16384"
);

const OPERATORS: &str = concat!(
    type_names!(),
    "SELECT concat_ws(' ', o.oprname, coalesce(l.name, '-'), r.name, t.name, p.proname)
    FROM pg_operator o
    JOIN pg_proc p ON p.oid = o.oprcode
    LEFT JOIN type_names l ON l.oid = o.oprleft
    JOIN type_names r ON r.oid = o.oprright
    JOIN type_names t ON t.oid = o.oprresult
    WHERE o.oid < 16384"
);

const TYPES: &str = concat!(
    type_names!(),
    "SELECT CASE
        WHEN n.nspname = 'information_schema' AND t.typtype = 'd'
            THEN concat_ws(' ', tn.name, 'domain', b.name, t.typtypmod)
        WHEN n.nspname = 'information_schema' THEN concat_ws(' ', tn.name, 'array', e.name)
        WHEN o.oid IS NOT NULL THEN concat_ws(' ', tn.name, t.oid, t.typarray, 'A', e.name)
        ELSE concat_ws(' ', tn.name, t.oid, t.typarray, t.typcategory, coalesce(s.name, '-'))
        END
    FROM pg_type t
    JOIN pg_namespace n ON n.oid = t.typnamespace
    JOIN type_names tn ON tn.oid = t.oid
    LEFT JOIN type_names b ON b.oid = t.typbasetype
    LEFT JOIN pg_type o ON o.oid = t.typelem AND o.typarray = t.oid
    LEFT JOIN type_names e ON e.oid = o.oid
    LEFT JOIN pg_range g ON t.oid IN (g.rngtypid, g.rngmultitypid)
    LEFT JOIN type_names s ON s.oid = g.rngsubtype
    WHERE n.nspname IN ('pg_catalog', 'information_schema') AND t.oid < 16384 AND tn.name <> 'row'"
);

const RELATIONS: &str = concat!(
    type_names!(),
    "SELECT n.nspname || '.' || c.relname || CASE c.relkind WHEN 'r' THEN ' Table ' ELSE ' View ' END
        || string_agg(a.attnum || ':' || a.attname || ':' || t.name, ' ' ORDER BY a.attnum)
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN type_names t ON t.oid = a.atttypid
    WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v') AND c.oid < 16384
    GROUP BY n.nspname, c.relname, c.relkind"
);
