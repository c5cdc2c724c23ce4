//! What judging costs beside parsing: `cargo run --release -p pgmoat-policy --example judge_cost`.
//!
//! Each statement is parsed, and judged (which parses too), in turns; the figures are medians in
//! microseconds. The first five are the usual ones of an application; the rest are as large as the
//! limits let a statement be, which are raised here. A word behind it chooses by name.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement stops at its first fault and prints"
)]

use std::time::{Duration, Instant};

use pgmoat_policy::parse::parse;
use pgmoat_policy::{Catalog, Mode, NoNames, Policy, Principal, STACK_BYTES, judge};

fn main() {
    let run = || {
        let text =
            include_str!("../../lab/policy.yaml").to_owned() + "\nlimits: { depth: 200, relations: 200 }\n";
        let policy = Policy::load(&text, "lab/policy.yaml").unwrap().policy;
        let wanted = std::env::args().nth(1).unwrap_or_default();
        let catalog = Catalog::parse(include_str!("../golden/lab-catalog.json")).unwrap();
        let principal = Principal::parse("app:acme").unwrap();
        let limits = policy.role("app").unwrap().limits;
        println!("{:28} {:>9} {:>9} {:>9}  {:>5}", "statement", "parse µs", "whole µs", "judge µs", "ratio");
        for (name, sql) in statements().into_iter().filter(|(name, _)| name.contains(&wanted)) {
            let mode = Mode::Extended { declared: &[] };
            let verdict = judge(&sql, mode, &principal, &policy, &catalog, &NoNames);
            let denied = verdict.denial().map(|(_, denial)| denial.code.to_string()).unwrap_or_default();
            let (mut parses, mut wholes) = (Vec::new(), Vec::new());
            let rounds = if sql.len() > 1000 { LONG_ROUNDS } else { ROUNDS };
            for _ in 0..rounds {
                parses.push(time(|| parse(&sql, &limits).is_ok()));
                wholes.push(time(|| {
                    judge(&sql, mode, &principal, &policy, &catalog, &NoNames).statements.len()
                }));
            }
            let (parsed, whole) = (median(parses), median(wholes));
            let judged = whole - parsed;
            println!("{name:28} {parsed:9.1} {whole:9.1} {judged:9.1}  {:5.2}  {denied}", judged / parsed);
        }
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).unwrap().join().unwrap();
}

fn statements() -> Vec<(&'static str, String)> {
    let repeat = |count: usize, join: &str, each: &dyn Fn(usize) -> String| {
        (0..count).map(each).collect::<Vec<_>>().join(join)
    };
    let joins = repeat(50, " ", &|n| {
        format!("JOIN app.orders o{n} ON o{n}.tenant_id = o.tenant_id AND o{n}.id = o.id")
    });
    let keys = repeat(50, " ", &|n| format!("JOIN app.warehouses w{n} ON w{n}.id = s.warehouse_id"));
    let list = repeat(8000, ", ", &|n| n.to_string());
    let owns = repeat(8000, ", ", &|_| "'acme'".to_owned());
    let ctes = repeat(30, ", ", &|n| format!("c{n} AS (SELECT * FROM app.orders)"));
    let twice = repeat(30, " UNION ALL ", &|n| {
        format!(
            "SELECT a.id FROM c{n} a JOIN c{n} b USING (id) WHERE a.tenant_id = 'acme' AND b.tenant_id = 'acme'"
        )
    });
    let chained = repeat(30, ", ", &|n| match n {
        0 => "c0 AS (SELECT * FROM app.orders WHERE tenant_id = 'acme')".to_owned(),
        n => format!("c{n} AS (SELECT a.* FROM c{} a JOIN c{} b USING (id))", n - 1, n - 1),
    });
    let rows = repeat(1000, ", ", &|n| format!("('acme', 'body {n}')"));
    vec![
        ("t1 point", "SELECT id, status, note FROM app.orders WHERE tenant_id = $1 AND id = $2".to_owned()),
        ("t2 list", "SELECT * FROM app.orders WHERE tenant_id = 'acme' AND status IN ('new', 'paid') ORDER BY created_at DESC LIMIT 20".to_owned()),
        ("t3 join", "SELECT o.id, c.full_name, sum(i.qty * i.price) FROM app.orders o JOIN app.customers c ON c.id = o.customer_id AND c.tenant_id = o.tenant_id JOIN app.order_items i ON i.order_id = o.id AND i.tenant_id = o.tenant_id WHERE o.tenant_id = $1 GROUP BY o.id, c.full_name ORDER BY 3 DESC LIMIT 10".to_owned()),
        ("t4 insert", "INSERT INTO app.notes (tenant_id, body) VALUES ($1, $2) RETURNING id".to_owned()),
        ("t5 update", "UPDATE app.orders SET status = 'paid', note = $3 WHERE tenant_id = $1 AND id = $2".to_owned()),
        ("50 joins", format!("SELECT o.id FROM app.orders o {joins} WHERE o.tenant_id = 'acme'")),
        ("50 joins by key", format!("SELECT s.id FROM app.shipments s {keys} WHERE s.tenant_id = 'acme'")),
        ("60 nested derived", format!("SELECT id FROM {}app.orders{} WHERE tenant_id = 'acme'", "(SELECT * FROM ".repeat(60), ") x".repeat(60))),
        ("60 nested sub-selects", format!("{}SELECT 1{}", "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id IN (".repeat(60), ")".repeat(60))),
        ("8,000 integers", format!("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id IN ({list})")),
        ("8,000 tenants", format!("SELECT id FROM app.orders WHERE tenant_id IN ({owns})")),
        ("60 unions", repeat(60, " UNION ALL ", &|_| "SELECT id, note FROM app.orders WHERE tenant_id = 'acme'".to_owned())),
        ("60 unions from outside", format!("SELECT * FROM ({}) x WHERE tenant_id = 'acme'", repeat(60, " UNION ALL ", &|_| "SELECT id, tenant_id FROM app.orders".to_owned()))),
        ("30 CTEs twice", format!("WITH {ctes} {twice}")),
        ("30 CTEs, each over the last", format!("WITH {chained} SELECT count(*) FROM c29")),
        ("1,000 rows", format!("INSERT INTO app.notes (tenant_id, body) VALUES {rows}")),
        ("2,000 ANDs", format!("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND {}", repeat(2000, " AND ", &|n| format!("id <> {n}")))),
        ("2,000 ORs", format!("SELECT id FROM app.orders WHERE {}", repeat(2000, " OR ", &|n| format!("tenant_id = 'acme' AND id = {n}")))),
    ]
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let begin = Instant::now();
    std::hint::black_box(work());
    begin.elapsed()
}

/// In microseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e6)
}

const ROUNDS: usize = 2_000;
const LONG_ROUNDS: usize = 15;
