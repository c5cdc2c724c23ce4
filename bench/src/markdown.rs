//! A report for people: what beside what, then every figure.

use std::fmt::Write as _;

use crate::goals::{Figure, Goal, Outcome, Promise, Wanted};
use crate::report::Report;
use crate::row::{Row, Unit};
use crate::target::Target;

/// The report as Markdown.
pub(crate) fn render(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = head(&mut text, report)
        .and_then(|()| promises(&mut text, &report.goals))
        .and_then(|()| goals(&mut text, &report.goals))
        .and_then(|()| beside(&mut text, &report.rows))
        .and_then(|()| verdicts(&mut text, &report.rows))
        .and_then(|()| memory(&mut text, &report.rows))
        .and_then(|()| counts(&mut text, &report.rows))
        .and_then(|()| growth(&mut text, report))
        .and_then(|()| all_figures(&mut text, &report.rows));
    text
}

fn head(text: &mut String, report: &Report) -> std::fmt::Result {
    let Report { what, command, started, finished, host, load, versions, .. } = report;
    writeln!(text, "# Figures: {what}\n")?;
    writeln!(text, "- `{command}`, {started} to {finished}")?;
    match &report.commit {
        Some(commit) if commit.modified => writeln!(text, "- commit {}, with changes", commit.id)?,
        Some(commit) => writeln!(text, "- commit {}", commit.id)?,
        None => writeln!(text, "- no commit: not a git checkout")?,
    }
    writeln!(
        text,
        "- {}: {} × {}, {} MiB, Linux {}; load {:.2} at the start, {:.2} at the end",
        host.name, host.cpus, host.cpu, host.memory_mib, host.kernel, load.start[0], load.end[0]
    )?;
    let named = [&versions.pgmoat, &versions.postgresql, &versions.pgbouncer, &versions.rustc];
    let named: Vec<&str> = named.into_iter().filter_map(Option::as_deref).collect();
    writeln!(text, "- {}", named.join("; "))?;
    for note in &report.notes {
        writeln!(text, "- {note}")?;
    }
    Ok(())
}

/// Latency of one client and throughput of many, targets as columns.
fn beside(text: &mut String, rows: &[Row]) -> std::fmt::Result {
    let through_proxies = |row: &&Row| ["proxy", "pool", "masking"].contains(&row.suite.as_str());
    let workloads = workloads(timed(rows).filter(through_proxies));
    if workloads.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n## Beside one another\n\np50 in µs of one client, requests a second of many.\n")?;
    write!(text, "| suite | workload |")?;
    for target in COLUMNS {
        write!(text, " {target} |")?;
    }
    writeln!(text, "\n|---|---|{}", "---:|".repeat(COLUMNS.len()))?;
    for (suite, name) in workloads {
        write!(text, "| {suite} | {name} |")?;
        for target in COLUMNS {
            let of = |row: &&Row| row.suite == suite && row.name == name && row.target == target;
            match timed(rows).find(of) {
                Some(row) if name.ends_with("/32") => {
                    write!(text, " {:.0}/s |", row.throughput_per_s.unwrap_or_default())?;
                }
                Some(row) => write!(text, " {} |", microseconds(row.p50))?,
                None => write!(text, " |")?,
            }
        }
        writeln!(text)?;
    }
    Ok(())
}

/// What a verdict costs, by whatever door.
fn verdicts(text: &mut String, rows: &[Row]) -> std::fmt::Result {
    let of = |row: &&Row| ["library", "cli", "http"].contains(&row.suite.as_str());
    if !timed(rows).any(|row| of(&row)) {
        return Ok(());
    }
    writeln!(
        text,
        "\n## Verdicts\n\n| suite | workload | target | p50, µs | a second |\n|---|---|---|---:|---:|"
    )?;
    for row in timed(rows).filter(of) {
        let (p50, throughput) = (p50_us(row), row.throughput_per_s.unwrap_or_default());
        writeln!(text, "| {} | {} | {} | {p50} | {throughput:.0} |", row.suite, row.name, row.target)?;
    }
    Ok(())
}

fn memory(text: &mut String, rows: &[Row]) -> std::fmt::Result {
    let mut rows = rows.iter().filter(|row| row.unit == Unit::Bytes).peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    writeln!(
        text,
        "\n## Memory\n\nOf the process between client and server: growth for each idle client, all that is resident with \
         them, and what a long result makes it grow by at most.\n"
    )?;
    writeln!(text, "| workload | target | bytes |\n|---|---|---:|")?;
    for row in rows {
        writeln!(text, "| {} | {} | {} |", row.name, row.target, row.p50)?;
    }
    Ok(())
}

fn counts(text: &mut String, rows: &[Row]) -> std::fmt::Result {
    let mut rows = rows.iter().filter(|row| row.unit == Unit::Count).peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    writeln!(text, "\n## Counts\n\n| suite | what | count |\n|---|---|---:|")?;
    for row in rows {
        writeln!(text, "| {} | {} | {} |", row.suite, row.name, row.p50)?;
    }
    Ok(())
}

/// Each thing that grows: its plot, which lies beside this file, and its table.
fn growth(text: &mut String, report: &Report) -> std::fmt::Result {
    if report.curves.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n## As work grows")?;
    for curve in &report.curves {
        let plot = report.plot_name(curve);
        writeln!(text, "\n### {}\n\n![{}]({plot})\n\nIn {}.\n", curve.title, curve.title, curve.y)?;
        curve.table(text)?;
    }
    Ok(())
}

/// A line for each promise: the row that is furthest from its bound, and how many are within theirs.
fn promises(text: &mut String, goals: &[Goal]) -> std::fmt::Result {
    if goals.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n## Targets\n\n| what | wanted | measured | beside | |\n|---|---:|---:|---|---|")?;
    for promise in Promise::ALL {
        let own = || goals.iter().filter(|goal| goal.promise == promise);
        let Some(worst) = own().max_by(|a, b| a.strain().total_cmp(&b.strain())) else { continue };
        let (of, all) = (own().filter(|goal| matches!(goal.outcome, Outcome::Met(_))).count(), own().count());
        write!(text, "| {} | {} |", promise.text(), told(worst))?;
        match (all, of == all) {
            (1, _) => writeln!(text, " {} |", word(worst))?,
            (_, true) => writeln!(text, " met, {all} of {all} rows; here {} |", worst.row)?,
            (_, false) => writeln!(text, " {}, {of} of {all} rows met; here {} |", word(worst), worst.row)?,
        }
    }
    Ok(())
}

/// Every row that tells of a promise.
fn goals(text: &mut String, goals: &[Goal]) -> std::fmt::Result {
    if goals.is_empty() {
        return Ok(());
    }
    writeln!(
        text,
        "\n## Goals\n\n| row | what | wanted | measured | beside | |\n|---|---|---:|---:|---|---|"
    )?;
    for goal in goals {
        writeln!(text, "| {} | {} | {} | {} |", goal.row, goal.promise.text(), told(goal), word(goal))?;
    }
    Ok(())
}

/// Three columns: wanted, measured, beside.
fn told(goal: &Goal) -> String {
    let figure = match &goal.outcome {
        Outcome::Met(figure) | Outcome::Missed(figure) => figure,
        Outcome::NotMeasured { why } => return format!("| | {why}"),
    };
    let Figure { measured, unit, wanted, beside } = figure;
    let (sign, bound) = match wanted {
        Wanted::AtMost(bound) => ('≤', bound),
        Wanted::AtLeast(bound) => ('≥', bound),
    };
    let digits = match *unit {
        "bytes" | "verdicts/s" | "requests/s" => 0,
        _ if *bound < 1.0 => 3,
        _ => 2,
    };
    format!("{sign} {bound:.digits$} {unit} | {measured:.digits$} {unit} | {beside}")
}

fn word(goal: &Goal) -> &'static str {
    match goal.outcome {
        Outcome::Met(_) => "met",
        Outcome::Missed(_) => "**missed**",
        Outcome::NotMeasured { .. } => "**not measured**",
    }
}

fn all_figures(text: &mut String, rows: &[Row]) -> std::fmt::Result {
    writeln!(text, "\n## Every figure\n\nTimes in µs; CPU is the proxy's own, for each request.\n")?;
    writeln!(
        text,
        "| suite | workload | target | samples | p50 | p90 | p99 | p99.9 | max | mean | a second | CPU | errors |"
    )?;
    writeln!(text, "|---|---|---|{}", "---:|".repeat(10))?;
    for row in rows.iter().filter(|row| row.unit == Unit::Nanoseconds) {
        write!(text, "| {} | {} | {} | {} |", row.suite, row.name, row.target, row.samples)?;
        for value in [row.p50, row.p90, row.p99, row.p99_9, row.max] {
            write!(text, " {} |", microseconds(value))?;
        }
        let throughput = row.throughput_per_s.map(|value| format!("{value:.0}")).unwrap_or_default();
        let cpu = row.cpu_ns_per_request.map(|ns| format!("{:.1}", ns / 1000.0)).unwrap_or_default();
        writeln!(text, " {:.1} | {throughput} | {cpu} | {} |", row.mean / 1000.0, row.errors)?;
    }
    Ok(())
}

fn timed(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().filter(|row| row.unit == Unit::Nanoseconds && row.target != Target::Host)
}

/// Suite and name of each workload once, in the rows' order.
fn workloads<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<(&'a str, &'a str)> {
    let mut workloads = Vec::new();
    for row in rows {
        let workload = (row.suite.as_str(), row.name.as_str());
        if !workloads.contains(&workload) {
            workloads.push(workload);
        }
    }
    workloads
}

fn p50_us(row: &Row) -> String {
    let digits = if row.p50 < 10_000 { 2 } else { 1 };
    format!("{:.digits$}", row.p50 as f64 / 1000.0)
}

fn microseconds(ns: u64) -> String {
    format!("{:.1}", ns as f64 / 1000.0)
}

const COLUMNS: [Target; 4] =
    [Target::Direct, Target::PgbouncerSession, Target::PgbouncerTransaction, Target::Pgmoat];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Suite;
    use crate::goals;
    use crate::percentile::Summary;

    fn row(suite: &str, name: &str, target: Target, p50: u64) -> Row {
        let summary = Summary { samples: 1, p50, p90: p50, p99: p50, p99_9: p50, max: p50, mean: p50 as f64 };
        let mut row = Row::new(suite, name.to_owned(), target, Unit::Nanoseconds, summary);
        row.p50_of_rounds = vec![p50];
        row
    }

    /// A name is a suite's own: another suite's row of that name is not shown beside it.
    #[test]
    fn rows_of_one_name_in_two_suites_stay_apart() {
        let rows = [
            row("proxy", "point/1", Target::Direct, 1000),
            row("masking", "point/1", Target::Direct, 2000),
            row("masking", "point/1", Target::Pgmoat, 3000),
        ];
        let mut text = String::new();
        beside(&mut text, &rows).unwrap_or_default();
        assert!(text.contains("| proxy | point/1 | 1.0 | | | |\n"), "{text}");
        assert!(text.contains("| masking | point/1 | 2.0 | | | 3.0 |\n"), "{text}");
    }

    #[test]
    fn a_promise_is_told_by_the_row_that_is_furthest_from_it() {
        let rows = [
            row("library", "t1_point/cold", Target::Parser, 10_000),
            row("library", "t1_point/cold", Target::Pgmoat, 14_000),
            row("library", "t2_joins/cold", Target::Parser, 10_000),
            row("library", "t2_joins/cold", Target::Pgmoat, 19_000),
            row("library", "t1_point/warm", Target::Pgmoat, 300),
        ];
        let mut text = String::new();
        promises(&mut text, &goals::goals(&rows, &[Suite::Library])).unwrap_or_default();
        let cold = "| verdict without a cache, t1 … t5: of pg_query's parse alone | ≤ 1.50 × | 1.90 × | 19.0 µs beside \
                    10.0 µs | **missed**, 1 of 2 rows met; here library, t2_joins/cold |\n";
        assert!(text.contains(cold), "{text}");
        let warm = "| verdict from the shape cache, t1 | ≤ 1.00 µs | 0.30 µs | cold 14.0 µs | met |\n";
        assert!(text.contains(warm), "{text}");
        assert!(text.contains(
            "| verdict from the shape cache, t5 | | | no row of this run tells of it | **not measured** |"
        ));
    }
}
