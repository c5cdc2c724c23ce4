//! A report for people: what beside what, then every figure.

use std::fmt::Write as _;

use crate::goals::{Goal, Wanted};
use crate::report::Report;
use crate::row::{Row, Unit};
use crate::target::Target;

/// The report as Markdown.
pub(crate) fn render(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = head(&mut text, report)
        .and_then(|()| goals(&mut text, &report.goals))
        .and_then(|()| beside(&mut text, &report.rows))
        .and_then(|()| verdicts(&mut text, &report.rows))
        .and_then(|()| memory(&mut text, &report.rows))
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
    let names = names(timed(rows).filter(through_proxies));
    if names.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n## Beside one another\n\np50 in µs of one client, requests a second of many.\n")?;
    write!(text, "| workload |")?;
    for target in COLUMNS {
        write!(text, " {target} |")?;
    }
    writeln!(text, "\n|---|{}", "---:|".repeat(COLUMNS.len()))?;
    for name in names {
        write!(text, "| {name} |")?;
        for target in COLUMNS {
            match timed(rows).find(|row| row.name == name && row.target == target) {
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

fn goals(text: &mut String, goals: &[Goal]) -> std::fmt::Result {
    if goals.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n## Goals\n\n| what | measured | wanted | beside | |\n|---|---:|---:|---|---|")?;
    for Goal { what, unit, measured, wanted, beside, met } in goals {
        let (sign, bound) = match wanted {
            Wanted::AtMost(bound) => ('≤', bound),
            Wanted::AtLeast(bound) => ('≥', bound),
        };
        let digits = match *unit {
            "bytes" | "verdicts/s" | "requests/s" => 0,
            _ if *bound < 1.0 => 3,
            _ => 2,
        };
        let met = if *met { "met" } else { "**missed**" };
        writeln!(
            text,
            "| {what} | {measured:.digits$} {unit} | {sign} {bound:.digits$} | {beside} | {met} |"
        )?;
    }
    Ok(())
}

fn all_figures(text: &mut String, rows: &[Row]) -> std::fmt::Result {
    writeln!(text, "\n## Every figure\n\nTimes in µs; CPU is the proxy's own, for each request.\n")?;
    writeln!(
        text,
        "| workload | target | samples | p50 | p90 | p99 | p99.9 | max | mean | a second | CPU | errors |"
    )?;
    writeln!(text, "|---|---|{}", "---:|".repeat(10))?;
    for row in rows.iter().filter(|row| row.unit == Unit::Nanoseconds) {
        write!(text, "| {} | {} | {} |", row.name, row.target, row.samples)?;
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

/// Each once, in the rows' order.
fn names<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for row in rows {
        if !names.contains(&row.name.as_str()) {
            names.push(row.name.as_str());
        }
    }
    names
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
