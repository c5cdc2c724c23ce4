//! Verdicts as statements, rules, catalog and tenants grow, beside the parser of the same text.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use pgmoat_lab::POLICY_YAML;
use serde_json::{Value, json};

use super::{Grown, Size};
use crate::curve::Curve;
use crate::error::BenchError;
use crate::row::Row;
use crate::series::{Series, nanoseconds};
use crate::statement::{Statement, TIERS};
use crate::suite::library::{CATALOG_JSON, Judge};
use crate::target::Target;

/// All four. The thread needs the judge's stack.
pub(super) fn run(size: Size) -> Result<Grown, BenchError> {
    let mut grown = Grown::new();
    for curve in [length, rules, relations, tenants] {
        curve(size, &mut grown)?;
    }
    Ok(grown)
}

fn length(size: Size, grown: &mut Grown) -> Result<(), BenchError> {
    let title = "A verdict as the statement grows";
    let mut curve = Curve::new("length", title, "bytes of the statement", "µs");
    let judge = Judge::lab()?;
    for bytes in LENGTHS_BYTES {
        let statements: Vec<Statement> = (0..VARIANTS).map(|n| long(bytes, n)).collect();
        cold_and_warm(size, &judge, &statements, bytes, &mut curve, grown)?;
    }
    grown.curves.push(curve);
    Ok(())
}

fn rules(size: Size, grown: &mut Grown) -> Result<(), BenchError> {
    let title = "A verdict as the policy's table rules grow";
    let mut curve = Curve::new("rules", title, "table rules", "µs");
    for rules in size.steps(&[10, 100, 1000, 10_000]) {
        let rule = |n: u64| format!("    - {{ match: \"app.rule_{n}\", column: tenant_id }}\n");
        let text: String = (0..rules).map(rule).collect();
        let policy = POLICY_YAML.replace("  tables:\n", &format!("  tables:\n{text}"));
        let judge = Judge::new(&policy, CATALOG_JSON)?;
        cold_and_warm(size, &judge, &reports(), rules, &mut curve, grown)?;
    }
    grown.curves.push(curve);
    Ok(())
}

fn relations(size: Size, grown: &mut Grown) -> Result<(), BenchError> {
    let title = "A verdict as the catalog grows";
    let mut curve = Curve::new("relations", title, "relations in the catalog", "µs");
    for relations in size.steps(&[40, 200, 1000, 5000]) {
        let judge = Judge::new(POLICY_YAML, &catalog(relations)?)?;
        cold_and_warm(size, &judge, &reports(), relations, &mut curve, grown)?;
    }
    grown.curves.push(curve);
    Ok(())
}

/// One shape, asked for by more and more tenants: found in the cache, whoever asked first.
fn tenants(size: Size, grown: &mut Grown) -> Result<(), BenchError> {
    let title = "A verdict from the cache as tenants grow";
    let mut curve = Curve::new("tenants", title, "tenants", "µs");
    for tenants in size.steps(&[1, 10, 100, 1000, 10_000, 100_000]) {
        let judge = Judge::lab()?;
        let statements: Vec<Statement> = (0..tenants)
            .map(|n| {
                let sql =
                    format!("SELECT id, total FROM app.orders WHERE tenant_id = 'tenant_{n}' AND id = {n}");
                Statement::allowed(&format!("app:tenant_{n}"), sql)
            })
            .collect();
        check(&judge, &statements)?;
        let mut series = Series::default();
        for _ in 0..size.rounds {
            turn(size, &statements, WARM_PASSES, &mut series, |statement| judge.warm(statement));
        }
        let row = series.into_row("growth", format!("tenants/{tenants}/warm"), Target::Pgmoat)?;
        curve.point("pgmoat, warm", tenants as f64, microseconds(&row));
        curve.note("shapes in the cache", tenants as f64, judge.stats().shapes as f64);
        grown.rows.push(row);
    }
    grown.curves.push(curve);
    Ok(())
}

/// Measures the same statements without and through a cache and by the parser alone, in turns.
fn cold_and_warm(
    size: Size,
    judge: &Judge,
    statements: &[Statement],
    x: u64,
    curve: &mut Curve,
    grown: &mut Grown,
) -> Result<(), BenchError> {
    check(judge, statements)?;
    let (mut cold, mut warm, mut parse) = (Series::default(), Series::default(), Series::default());
    for _ in 0..size.rounds {
        turn(size, statements, 1, &mut cold, |statement| judge.cold(statement));
        turn(size, statements, WARM_PASSES, &mut warm, |statement| judge.warm(statement));
        turn(size, statements, 1, &mut parse, |statement| judge.parse(statement));
    }
    let name = curve.name;
    let cold = cold.into_row("growth", format!("{name}/{x}/cold"), Target::Pgmoat)?;
    let warm = warm.into_row("growth", format!("{name}/{x}/warm"), Target::Pgmoat)?;
    let parse = parse.into_row("growth", format!("{name}/{x}/cold"), Target::Parser)?;
    for (label, row) in [("pg_query alone", &parse), ("pgmoat, cold", &cold), ("pgmoat, warm", &warm)] {
        curve.point(label, x as f64, microseconds(row));
    }
    grown.rows.extend([parse, cold, warm]);
    Ok(())
}

fn check(judge: &Judge, statements: &[Statement]) -> Result<(), BenchError> {
    for statement in statements {
        let fault =
            |fault: String| BenchError::Wrong(format!("wrong verdict: growth: {fault}: {}", statement.sql));
        judge.check(statement).map_err(fault)?;
    }
    Ok(())
}

/// A sample is the mean time of a statement over so many of them.
fn turn(size: Size, statements: &[Statement], each: usize, series: &mut Series, work: impl Fn(&Statement)) {
    let mut all = statements.iter().cycle();
    let (mut samples, mut done, started) = (Vec::new(), 0_u64, Instant::now());
    loop {
        let before = Instant::now();
        all.by_ref().take(each).for_each(&work);
        samples.push(nanoseconds(before.elapsed()) / each.max(1) as u64);
        done += each as u64;
        let over = match size.requests {
            None => started.elapsed() >= TURN && done >= statements.len() as u64,
            Some(requests) => done >= requests,
        };
        if over {
            return series.add_round(samples, done, started.elapsed());
        }
    }
}

/// The longest tier, with other numbers each time.
fn reports() -> Vec<Statement> {
    let [.., longest] = TIERS;
    (0..VARIANTS).flat_map(|n| longest.statements(1000 + n)).collect()
}

/// A statement of about so many bytes.
fn long(bytes: u64, variant: u64) -> Statement {
    let mut sql = format!("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND (id = {}", 1000 + variant);
    let mut number = 1000;
    while sql.len() as u64 + 40 < bytes {
        number += 1;
        // Writing to a String does not fail.
        let _ = write!(sql, " OR (status = 'paid' AND total > {number})");
    }
    sql.push(')');
    Statement::allowed("app:acme", sql)
}

/// The lab's catalog with copies of one table, until there are so many relations.
fn catalog(relations: u64) -> Result<String, BenchError> {
    let unlike = || BenchError::Wrong("the lab's catalog is not as it was".to_owned());
    let mut catalog: Value = serde_json::from_str(CATALOG_JSON).map_err(|_| unlike())?;
    let all = catalog.get_mut("relations").and_then(Value::as_array_mut).ok_or_else(unlike)?;
    let orders = all.iter().find(|one| one.get("name") == Some(&json!("orders"))).ok_or_else(unlike)?;
    let orders = orders.clone();
    for number in all.len() as u64..relations {
        let mut copy = orders.clone();
        let fields = copy.as_object_mut().ok_or_else(unlike)?;
        fields.insert("name".to_owned(), json!(format!("orders_{number}")));
        fields.insert("oid".to_owned(), json!(FIRST_OID + number));
        all.push(copy);
    }
    Ok(catalog.to_string())
}

fn microseconds(row: &Row) -> f64 {
    row.p50 as f64 / 1000.0
}

const LENGTHS_BYTES: [u64; 6] = [100, 400, 1600, 6400, 16_000, 64_000];
const VARIANTS: u64 = 16;
const WARM_PASSES: usize = 64;
const TURN: Duration = Duration::from_millis(40);
/// Above every one of the lab's.
const FIRST_OID: u64 = 100_000;
