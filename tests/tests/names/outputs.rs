//! A statement answers with the columns that the judge takes it to have: as many, called so, in that
//! order, and of these types; or the judge says that it does not know.
//!
//! Names and places bind references: an output more or less, or one that is called otherwise, and what
//! is proven is proven of another column. The server is asked by Parse and Describe, of the statement
//! and of every sub-select that can stand alone.

use std::collections::BTreeSet;

use pgmoat_policy::{Catalog, Mode, Outputs, Policy, Principal};
use pgmoat_tests::{Raw, Stack, corpus, front, is_long, length, other_servers};

use crate::generate::Gen;
use crate::worlds::{Known, Universe, catalog_of};
use crate::{known, on_large_stack};

#[test]
fn outputs_of_generated_statements_are_the_servers() {
    on_large_stack(|| {
        let (stack, known) = known();
        let mut tally = Tally::default();
        let mut raws = Universe::ALL.map(|universe| connect(stack, universe.home()));
        for number in 0..length(SHORT, LONG) {
            let statement = Gen::statement(SEED, number);
            let at = statement.universe as usize;
            let Known { policy, catalog, principal } = &known[at];
            let sql = statement.tree.written().sql;
            Asked { policy, catalog, principal }.hold_all(&mut raws[at], &sql, &mut tally);
        }
        tally.report("generated", 1_500);
    });
}

#[test]
fn outputs_of_the_corpus_are_the_servers() {
    on_large_stack(|| {
        let (stack, known) = known();
        let mut raw = connect(stack, Universe::Kept.home());
        let policy = Policy::load(pgmoat_lab::POLICY_YAML, "policy.yaml").unwrap().policy;
        let catalog = &known[Universe::Kept as usize].catalog;
        let mut tally = Tally::default();
        for case in corpus::benign().unwrap().into_iter().chain(corpus::attack().unwrap()) {
            let user = pgmoat_lab::User::named(&case.principal).unwrap();
            let principal = Principal { role: user.role.into(), tenant: user.tenant.map(Into::into) };
            let asked = Asked { policy: &policy, catalog, principal: &principal };
            asked.hold_all(&mut raw, &case.sql, &mut tally);
        }
        tally.report("corpus", 1_000);
    });
}

#[test]
fn outputs_of_every_kind_are_the_servers() {
    on_large_stack(|| {
        let (stack, _) = known();
        // The generator's databases have made the lab's roles.
        stack.cluster().create_database("zoo").unwrap();
        in_the_zoo(stack, "zoo");
        if is_long() {
            for postgres in other_servers() {
                let stack = Stack::of(postgres).unwrap();
                in_the_zoo(&stack, &stack.database().unwrap());
            }
        }
    });
}

/// The statements of the zoo, before one server.
fn in_the_zoo(stack: &Stack, database: &str) {
    let cluster = stack.cluster();
    cluster.psql(database, ZOO_SQL).unwrap();
    let catalog = catalog_of(cluster, database.to_owned());
    let yaml =
        pgmoat_lab::POLICY_YAML.replace("search_path: [app, public]", "search_path: [zoo, app, public]");
    let policy = Policy::load(&yaml, "policy.yaml").unwrap().policy;
    let principal = Principal { role: "app".into(), tenant: Some("acme".into()) };
    let asked = Asked { policy: &policy, catalog: &catalog, principal: &principal };
    let mut raw = connect(stack, database);
    raw.query("SET search_path = zoo, app, public").unwrap();
    let mut tally = Tally::default();
    let major = cluster.postgres().major();
    for line in ZOO_STATEMENTS.lines().filter(|line| !line.is_empty() && !line.starts_with("--")) {
        asked.hold_all(&mut raw, line, &mut tally);
    }
    tally.report(&format!("zoo before {major}"), 300);
}

fn connect(stack: &Stack, database: &str) -> Raw {
    let mut raw = Raw::connect(&stack.direct(pgmoat_lab::SUPERUSER, database)).unwrap();
    raw.query("SET search_path = app, public").unwrap();
    raw
}

/// Who asks, and what is known.
struct Asked<'a> {
    policy: &'a Policy,
    catalog: &'a Catalog,
    principal: &'a Principal,
}

impl Asked<'_> {
    /// Holds the claims of a statement, and of the sub-selects that can stand alone, against the server's.
    fn hold_all(&self, raw: &mut Raw, sql: &str, tally: &mut Tally) {
        self.hold(raw, sql, tally);
        for part in subselects(sql) {
            self.hold(raw, part, tally);
            self.hold(raw, &format!("SELECT * FROM ({part}) AS q"), tally);
        }
        let statement = sql.trim_end().trim_end_matches(';');
        self.hold(raw, &format!("SELECT * FROM ({statement}) AS q"), tally);
        self.hold(raw, &format!("WITH q AS ({statement}) SELECT * FROM q"), tally);
    }

    fn hold(&self, raw: &mut Raw, sql: &str, tally: &mut Tally) {
        let &Asked { policy, catalog, principal } = self;
        let mode = Mode::Extended { declared: &[] };
        let Some(claims) = pgmoat_policy::claims(sql, mode, principal, policy, catalog) else { return };
        let [claims] = claims.as_slice() else { return };
        let Some(Outputs { columns, open }) = &claims.outputs else {
            tally.unclaimed += 1;
            return;
        };
        if *open {
            tally.open += 1;
            return;
        }
        let Some(described) = described(raw, sql) else {
            tally.refused += 1;
            return;
        };
        tally.compared += 1;
        let names =
            |columns: &[(String, u32)]| columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let types = columns.iter().zip(&described);
        let wrong = types.clone().any(|((_, claimed), (_, said))| *claimed != 0 && claimed != said);
        tally.certain += types.filter(|((_, claimed), _)| *claimed != 0).count();
        tally.columns += columns.len();
        if names(columns) != names(&described) || wrong {
            tally.differences.insert(format!("{sql}\n  judge  {columns:?}\n  server {described:?}"));
        }
    }
}

/// The names and types of a statement's answer; none where the server refuses it.
fn described(raw: &mut Raw, sql: &str) -> Option<Vec<(String, u32)>> {
    let transcript = raw.ask(&[front::p("", sql), front::d_statement(""), front::s()]).unwrap();
    if !transcript.codes().is_empty() {
        return None;
    }
    let Some(description) = transcript.messages.iter().find(|message| message.tag == b'T') else {
        return Some(Vec::new());
    };
    let mut rest = description.body.get(2..)?;
    let mut columns = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let name = String::from_utf8_lossy(rest.get(..end)?).into_owned();
        let fields = rest.get(end + 1..)?;
        // Behind the relation's OID and the column's number.
        let ty = fields.get(6..10)?;
        columns.push((name, u32::from_be_bytes(ty.try_into().unwrap())));
        rest = fields.get(FIELD_BYTES..)?;
    }
    Some(columns)
}

/// What stands in parentheses and looks like a query.
fn subselects(sql: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = Vec::new();
    let mut parts = Vec::new();
    let mut quote = None;
    for (at, byte) in sql.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(') => starts.push(at + 1),
            (None, b')') => {
                let inside = starts.pop().map_or("", |start| &sql[start..at]);
                let first = inside.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
                if ["SELECT", "WITH", "VALUES", "TABLE"].contains(&first.as_str()) {
                    parts.push(inside);
                }
            }
            _ => {}
        }
    }
    parts
}

#[derive(Debug, Default)]
struct Tally {
    compared: usize,
    columns: usize,
    /// Columns whose type is claimed.
    certain: usize,
    /// The judge says that it does not know.
    open: usize,
    /// A name is not known, or what stands there is not supported: a denial.
    unclaimed: usize,
    /// By the server.
    refused: usize,
    differences: BTreeSet<String>,
}

impl Tally {
    fn report(&self, what: &str, at_least: usize) {
        let Self { compared, columns, certain, open, unclaimed, refused, differences } = self;
        println!(
            "{what}: {compared} statements with {columns} columns, {certain} of certain type; {open} are open, \
             {unclaimed} are denied for their names, {refused} are refused by the server"
        );
        for difference in differences.iter().take(SHOWN) {
            println!("{difference}");
        }
        assert!(differences.is_empty(), "{} statements answer otherwise", differences.len());
        assert!(*compared >= at_least, "{compared} statements were compared, not {at_least}");
    }
}

const SEED: u64 = 11;
const SHORT: u64 = 800;
const LONG: u64 = 30_000;
/// How many of the differences are printed.
const SHOWN: usize = 60;
/// Of a field in a RowDescription, behind its name.
const FIELD_BYTES: usize = 18;

const ZOO_SQL: &str = include_str!("outputs/zoo.sql");
/// One a line. What a server does not know it refuses, and it counts for nothing.
const ZOO_STATEMENTS: &str = include_str!("outputs/statements.sql");
