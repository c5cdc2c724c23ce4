//! Verdicts as statements, rules, catalog and tenants grow, beside the parser of the same text.

use std::rc::Rc;
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
    let curve = Curve::new("length", title, "bytes of the statement", "µs for each statement (p50)");
    let judge = Rc::new(Judge::lab()?);
    let step = |bytes| Step::new(bytes, &judge, (0..VARIANTS).map(|n| long(bytes, n)).collect());
    without_and_through_a_cache(size, curve, LENGTHS_BYTES.map(step).into(), grown)
}

fn rules(size: Size, grown: &mut Grown) -> Result<(), BenchError> {
    let title = "A verdict as the policy's table rules grow";
    let curve = Curve::new("rules", title, "table rules", "µs for each statement (p50)");
    let step = |rules| {
        let rule = |n: u64| format!("    - {{ match: \"app.rule_{n}\", column: tenant_id }}\n");
        let text: String = (0..rules).map(rule).collect();
        let policy = POLICY_YAML.replace("  tables:\n", &format!("  tables:\n{text}"));
        Ok(Step::new(rules, &Rc::new(Judge::new(&policy, CATALOG_JSON)?), reports()))
    };
    let steps: Result<Vec<Step>, BenchError> = size.steps(&[10, 100, 1000, 10_000]).map(step).collect();
    without_and_through_a_cache(size, curve, steps?, grown)
}

fn relations(size: Size, grown: &mut Grown) -> Result<(), BenchError> {
    let title = "A verdict as the catalog grows";
    let curve = Curve::new("relations", title, "relations in the catalog", "µs for each statement (p50)");
    let step = |relations| {
        let judge = Judge::new(POLICY_YAML, &catalog(relations)?)?;
        Ok(Step::new(relations, &Rc::new(judge), reports()))
    };
    let steps: Result<Vec<Step>, BenchError> = size.steps(&[20, 100, 1000, 5000]).map(step).collect();
    without_and_through_a_cache(size, curve, steps?, grown)
}

/// One shape, asked for by more and more tenants: found in the cache, whoever asked first.
fn tenants(size: Size, grown: &mut Grown) -> Result<(), BenchError> {
    let title = "A verdict from the cache as tenants grow";
    let mut curve = Curve::new("tenants", title, "tenants", "µs for each statement (p50)");
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
        let shapes = judge.stats().shapes;
        if shapes != 1 {
            return Err(BenchError::Wrong(format!(
                "growth: {tenants} tenants have {shapes} shapes instead of one"
            )));
        }
        let mut series = Series::default();
        for _ in 0..size.rounds {
            turn(size, &statements, WARM_PASSES, &mut series, |statement| judge.warm(statement));
        }
        let row = series.into_row("growth", format!("tenants/{tenants}/warm"), Target::Pgmoat)?;
        curve.point("pgmoat, warm", tenants as f64, microseconds(&row));
        curve.note("shapes in the cache", tenants as f64, shapes as f64);
        grown.rows.push(row);
    }
    grown.curves.push(curve);
    Ok(())
}

/// A point of a curve, and what was measured at it.
struct Step {
    x: u64,
    judge: Rc<Judge>,
    statements: Vec<Statement>,
    cold: Series,
    warm: Series,
    parse: Series,
}

impl Step {
    fn new(x: u64, judge: &Rc<Judge>, statements: Vec<Statement>) -> Self {
        let (cold, warm, parse) = Default::default();
        Self { x, judge: Rc::clone(judge), statements, cold, warm, parse }
    }

    fn take_turn(&mut self, size: Size) {
        let Self { judge, statements, .. } = self;
        turn(size, statements, 1, &mut self.cold, |statement| judge.cold(statement));
        turn(size, statements, WARM_PASSES, &mut self.warm, |statement| judge.warm(statement));
        turn(size, statements, 1, &mut self.parse, |statement| judge.parse(statement));
    }
}

/// All steps have their turn in each round, and another one begins: they are compared with one another, and each with
/// the parser of the same statements.
fn without_and_through_a_cache(
    size: Size,
    mut curve: Curve,
    mut steps: Vec<Step>,
    grown: &mut Grown,
) -> Result<(), BenchError> {
    for step in &steps {
        check(&step.judge, &step.statements)?;
    }
    for round in 0..size.rounds as usize {
        let first = round % steps.len().max(1);
        steps.rotate_left(first);
        steps.iter_mut().for_each(|step| step.take_turn(size));
        steps.rotate_right(first);
    }
    for Step { x, cold, warm, parse, .. } in steps {
        let name = curve.name;
        let cold = cold.into_row("growth", format!("{name}/{x}/cold"), Target::Pgmoat)?;
        let warm = warm.into_row("growth", format!("{name}/{x}/warm"), Target::Pgmoat)?;
        let parse = parse.into_row("growth", format!("{name}/{x}/cold"), Target::Parser)?;
        for (label, row) in [("pg_query alone", &parse), ("pgmoat, cold", &cold), ("pgmoat, warm", &warm)] {
            curve.point(label, x as f64, microseconds(row));
        }
        grown.rows.extend([parse, cold, warm]);
    }
    grown.curves.push(curve);
    Ok(())
}

fn check(judge: &Judge, statements: &[Statement]) -> Result<(), BenchError> {
    for statement in statements {
        judge.check(statement).map_err(|fault| {
            let start: String = statement.sql.chars().take(SHOWN_CHARACTERS).collect();
            BenchError::Wrong(format!("wrong verdict: growth: {fault}: {start}"))
        })?;
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

/// A statement of so many bytes.
fn long(bytes: u64, variant: u64) -> Statement {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut sql = format!("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND (id = {}", 1000 + variant);
    let (open, close) = (" OR note = '", "')");
    for number in 1000.. {
        let term = format!(
            " OR (status = 'paid' AND note <> 'a word of {number}, and more that nobody asks for: {FILLER}')"
        );
        if sql.len() + term.len() + open.len() + close.len() > bytes {
            break;
        }
        sql.push_str(&term);
    }
    let rest = bytes.saturating_sub(sql.len() + open.len() + close.len());
    sql.extend([open, &"x".repeat(rest), close]);
    Statement::allowed("app:acme", sql)
}

/// The lab's catalog without what nobody asks for here, and then with copies of one table, until there are so many
/// relations.
fn catalog(relations: u64) -> Result<String, BenchError> {
    let unlike = || BenchError::Wrong("the lab's catalog is not as it was".to_owned());
    let mut catalog: Value = serde_json::from_str(CATALOG_JSON).map_err(|_| unlike())?;
    for (section, key) in
        [("relations", None), ("unique_keys", Some("relation")), ("foreign_keys", Some("relation"))]
    {
        let entries = catalog.get_mut(section).and_then(Value::as_array_mut).ok_or_else(unlike)?;
        entries.retain(|entry| is_asked_for(key.map_or(Some(entry), |key| entry.get(key))));
    }
    let all = catalog.get_mut("relations").and_then(Value::as_array_mut).ok_or_else(unlike)?;
    let orders = all.iter().find(|one| one.get("name") == Some(&json!("orders"))).ok_or_else(unlike)?.clone();
    for number in all.len() as u64..relations {
        let mut copy = orders.clone();
        let fields = copy.as_object_mut().ok_or_else(unlike)?;
        fields.insert("name".to_owned(), json!(format!("orders_{number}")));
        fields.insert("oid".to_owned(), json!(FIRST_OID + number));
        all.push(copy);
    }
    if all.len() as u64 == relations { Ok(catalog.to_string()) } else { Err(unlike()) }
}

/// Whether the longest tier's schema has it; its queries ask for no events.
fn is_asked_for(relation: Option<&Value>) -> bool {
    let word = |key: &str| relation.and_then(|relation| relation.get(key)?.as_str()).unwrap_or_default();
    word("schema") == "app" && !word("name").starts_with("events")
}

fn microseconds(row: &Row) -> f64 {
    row.p50 as f64 / 1000.0
}

/// The last one is 64 KiB.
const LENGTHS_BYTES: [u64; 6] = [100, 400, 1600, 6400, 16_384, 65_536];
/// Few conditions are to make many bytes: there is a limit on conditions.
const FILLER: &str = "orders, customers, products";
const VARIANTS: u64 = 16;
const SHOWN_CHARACTERS: usize = 120;
const WARM_PASSES: usize = 64;
const TURN: Duration = Duration::from_millis(40);
/// Above every one of the lab's.
const FIRST_OID: u64 = 100_000;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::deep::deep;

    /// Every step of every curve gets its verdicts, the largest ones too.
    #[tokio::test]
    async fn every_step_has_its_verdicts() {
        let grown = deep(|| {
            let size = Size { rounds: 2, requests: Some(1), largest: 10_000 };
            let mut grown = Grown::new();
            for curve in [length, rules, relations] {
                curve(size, &mut grown).unwrap();
            }
            tenants(Size { largest: 100, ..size }, &mut grown).unwrap();
            grown
        });
        let grown = grown.await.unwrap();
        let xs = |curve: &Curve| {
            let line = curve.lines.first().unwrap();
            line.points.iter().map(|point| point.0).collect::<Vec<f64>>()
        };
        let steps: Vec<Vec<f64>> = grown.curves.iter().map(xs).collect();
        assert_eq!(
            steps,
            [
                vec![100.0, 400.0, 1600.0, 6400.0, 16_384.0, 65_536.0],
                vec![10.0, 100.0, 1000.0, 10_000.0],
                vec![20.0, 100.0, 1000.0, 5000.0],
                vec![1.0, 10.0, 100.0],
            ]
        );
        assert!(grown.rows.iter().all(|row| row.p50_of_rounds.len() == 2));
    }

    #[test]
    fn a_long_statement_is_as_long_as_its_step_says() {
        for bytes in LENGTHS_BYTES {
            assert_eq!(long(bytes, 7).sql.len() as u64, bytes);
        }
    }
}
