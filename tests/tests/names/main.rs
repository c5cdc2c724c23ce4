//! Names as PostgreSQL sees them: what the judge claims that a statement names includes all that the
//! server records of it.
//!
//! A body of a function in standard SQL (`BEGIN ATOMIC … END`) is analysed as a statement is, and
//! kept: pg_depend has its relations and columns, and the kept tree has its functions and operators,
//! PostgreSQL's own included, which pg_depend leaves out. Generated statements and the corpus are
//! made into such bodies; each that the judge allows must have claimed every one of those names.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    dead_code,
    reason = "tests fail by panicking and say what they saw; of the generator's modules not all is used"
)]

#[path = "../noninterference/bound.rs"]
mod bound;
#[path = "../noninterference/client.rs"]
mod client;
mod figured;
#[path = "../noninterference/generate/mod.rs"]
mod generate;
#[path = "../noninterference/judge.rs"]
mod judge;
mod outputs;
mod recorded;
#[path = "../noninterference/rng.rs"]
mod rng;
#[path = "../noninterference/schema.rs"]
mod schema;
#[path = "../noninterference/tree.rs"]
mod tree;
#[path = "../noninterference/worlds.rs"]
mod worlds;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use pgmoat_policy::{Catalog, Mode, NoNames, Policy, Principal, STACK_BYTES, Verdict};
use pgmoat_tests::{Raw, Stack, corpus, length};

use generate::Gen;
use recorded::{Recorded, recorded};
use worlds::{Known, Universe};

#[test]
fn claims_of_generated_statements_include_all_that_is_recorded() {
    on_large_stack(|| {
        let (stack, known) = known();
        let mut tally = Tally::default();
        let mut raws = Universe::ALL
            .map(|universe| Raw::connect(&stack.direct(pgmoat_lab::SUPERUSER, universe.home())).unwrap());
        for number in 0..length(SHORT, LONG) {
            let statement = Gen::statement(SEED, number);
            let at = statement.universe as usize;
            let Known { policy, catalog, principal } = &known[at];
            let written = statement.tree.written();
            if written.values.is_empty() {
                One { policy, catalog, principal }.check(&mut raws[at], &written.sql, &mut tally);
            }
        }
        tally.report("generated", length(MIN_GENERATED.0, MIN_GENERATED.1));
    });
}

#[test]
fn claims_of_the_corpus_include_all_that_is_recorded() {
    on_large_stack(|| {
        let (stack, known) = known();
        let mut raw = Raw::connect(&stack.direct(pgmoat_lab::SUPERUSER, Universe::Kept.name())).unwrap();
        let policy = Policy::load(pgmoat_lab::POLICY_YAML, "policy.yaml").unwrap().policy;
        let catalog = &known[Universe::Kept as usize].catalog;
        let mut tally = Tally::default();
        for case in corpus::benign().unwrap().into_iter().chain(corpus::attack().unwrap()) {
            let user = pgmoat_lab::User::named(&case.principal).unwrap();
            let tenant = user.tenant.map(Into::into);
            let principal = Principal { role: user.role.into(), tenant };
            let one = One { policy: &policy, catalog, principal: &principal };
            one.check(&mut raw, &case.sql, &mut tally);
        }
        tally.report("corpus", MIN_CORPUS);
    });
}

/// The server with the generator's databases (the lab's, and more), and what the judge knows of them.
fn known() -> (&'static Stack, &'static [Known]) {
    static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| worlds::make(Stack::get().cluster()));
    (Stack::get(), &KNOWN)
}

/// Who asks, and what is known.
struct One<'a> {
    policy: &'a Policy,
    catalog: &'a Catalog,
    principal: &'a Principal,
}

impl One<'_> {
    /// Holds a statement's claims against what the server records, where the judge allows it.
    fn check(&self, raw: &mut Raw, sql: &str, tally: &mut Tally) {
        let &One { policy, catalog, principal } = self;
        let judgement = pgmoat_policy::judge(sql, Mode::Simple, principal, policy, catalog, &NoNames);
        let [judged] = judgement.statements.as_slice() else { return };
        if !matches!(judged.verdict, Verdict::Allow(_)) {
            return;
        }
        let Some(recorded) = recorded(raw, sql) else {
            tally.not_recorded += 1;
            return;
        };
        let claims = pgmoat_policy::claims(sql, Mode::Simple, principal, policy, catalog).unwrap();
        let claims = claims.first().unwrap();
        tally.compared += 1;
        let Recorded { relations, columns, functions, operators } = &recorded;
        for (what, recorded, claimed) in [
            ("relation", relations, &claims.relations),
            ("column", columns, &claims.columns),
            ("function", functions, &claims.functions),
            ("operator", operators, &claims.operators),
        ] {
            tally.names += recorded.len();
            for name in recorded.difference(claimed) {
                if what == "column" && is_only_excluded(sql, name) {
                    tally.excluded += 1;
                    continue;
                }
                tally.missing.insert(format!("{what} {name}\n  in {sql}"));
            }
        }
    }
}

/// Beside ON CONFLICT DO UPDATE the server keeps a list of all columns, for EXCLUDED; that a statement
/// never names such a column shows in its text.
fn is_only_excluded(sql: &str, column: &str) -> bool {
    let name = column.rsplit('.').next().unwrap_or_default();
    let mut words = sql.split(|c: char| !c.is_alphanumeric() && c != '_');
    sql.contains("ON CONFLICT") && sql.contains("DO UPDATE") && words.all(|word| word != name)
}

#[derive(Debug, Default)]
struct Tally {
    compared: usize,
    not_recorded: usize,
    names: usize,
    /// Columns that stand in the list for EXCLUDED alone.
    excluded: usize,
    missing: BTreeSet<String>,
}

impl Tally {
    fn report(&self, what: &str, at_least: usize) {
        let Self { compared, not_recorded, names, excluded, missing } = self;
        println!(
            "{what}: {compared} allowed statements with {names} names ({excluded} of them in a list for EXCLUDED \
             alone); {not_recorded} more that no function can hold"
        );
        for line in missing.iter().take(SHOWN) {
            println!("not claimed: {line}");
        }
        assert!(missing.is_empty(), "{} names are missing", missing.len());
        assert!(*compared >= at_least, "{compared} statements were compared, not {at_least}");
    }
}

fn on_large_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

const SEED: u64 = 7;
const SHORT: u64 = 6_000;
const LONG: u64 = 30_000;
/// What is compared at least, of SHORT and of LONG.
const MIN_GENERATED: (usize, usize) = (2_000, 10_000);
const MIN_CORPUS: usize = 140;
/// How many of the missing names are printed.
const SHOWN: usize = 30;
