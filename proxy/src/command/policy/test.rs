//! `pgmoat policy test`: every case of a suite is judged, and what differs is told.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::suite::{Case, Expected, Suite};
use crate::command::failure::{Exit, Failure};
use crate::command::palette::Palette;
use crate::command::problems::count;
use crate::command::source::Source;
use crate::command::verify::{draw, visible};
use crate::verify::{Answer, answer};

#[derive(Debug, Args)]
pub(super) struct Test {
    /// The suite, a YAML file: policy, catalog, cases with as or user, sql, params, types, expect, code
    suite: PathBuf,
    /// The policy file, instead of the suite's
    #[arg(short, long, value_name = "FILE", conflicts_with = "config")]
    policy: Option<PathBuf>,
    /// The configuration file, instead of a policy file; its users may be named
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The catalog file, instead of the suite's; with -c, read from the database where the suite names none
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
    /// Which database of the configuration; the only one by default
    #[arg(long, value_name = "NAME", requires = "config")]
    database: Option<String>,
    /// How the outcome is shown
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: what is not as expected, and how many
    Human,
    /// A JSON object a case
    Json,
}

impl Test {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        let suite = Suite::read(&self.suite).map_err(Failure::Problems)?;
        let policy = self.policy.clone().or_else(|| suite.policy().filter(|_| self.config.is_none()));
        let catalog = self.catalog.clone().or_else(|| suite.catalog());
        if policy.is_none() && self.config.is_none() {
            let text = "the suite names no policy: --policy or --config is needed";
            return Err(Failure::Usage(text.to_owned()));
        }
        let (config, database) = (self.config.as_deref(), self.database.as_deref());
        let source = Source::open(policy.as_deref(), config, catalog.as_deref(), database)?;
        let cases = suite.cases(&source).map_err(Failure::Problems)?;
        let basis = source.basis();
        let judged: Vec<(&Case, Answer<'_>)> =
            cases.iter().map(|case| (case, answer(&basis, &case.request, false))).collect();
        let failed = judged.iter().filter(|(case, answer)| !case.expected.is_met_by(answer)).count();
        match self.format {
            Format::Human => io::stdout().lock().write_all(drawn(&judged, failed).as_bytes())?,
            Format::Json => write_json(&judged)?,
        }
        Ok(if failed == 0 { Exit::Yes } else { Exit::No })
    }
}

impl Expected {
    fn is_met_by(&self, answer: &Answer<'_>) -> bool {
        match (self, answer.code()) {
            (Expected::Allow, None) => true,
            (Expected::Deny { code: None }, Some(_)) => true,
            (Expected::Deny { code: Some(expected) }, Some(code)) => *expected == code.to_string(),
            (Expected::Allow, Some(_)) | (Expected::Deny { .. }, None) => false,
        }
    }

    fn text(&self) -> String {
        match self {
            Expected::Allow => "allow".to_owned(),
            Expected::Deny { code: None } => "deny".to_owned(),
            Expected::Deny { code: Some(code) } => format!("deny {code}"),
        }
    }
}

fn verdict(answer: &Answer<'_>) -> String {
    answer.code().map_or("allow".to_owned(), |code| format!("deny {code}"))
}

/// A table of the cases that are not as expected, each drawn below it; and how many.
fn drawn(judged: &[(&Case, Answer<'_>)], failed: usize) -> String {
    let palette = Palette::of(&io::stdout());
    let Palette { error, good, strong, .. } = palette;
    let failures = || judged.iter().filter(|(case, answer)| !case.expected.is_met_by(answer));
    let mut out = String::new();
    // Writing to a String does not fail, here and below.
    if failed > 0 {
        let mut rows = vec![["line", "case", "expected", "answer"].map(str::to_owned)];
        rows.extend(failures().map(|(case, answer)| {
            let name = case.name.chars().take(NAME_CHARACTERS).collect::<String>();
            [case.place.line.to_string(), visible(&name), case.expected.text(), verdict(answer)]
        }));
        table(&mut out, &rows);
    }
    for (case, answer) in failures() {
        let place = &case.place;
        let _ = writeln!(out, "\n{strong}{place}: {}{strong:#}", visible(&case.name));
        out.push_str(&draw("sql", &case.request, answer, palette));
    }
    let style = if failed == 0 { good } else { error };
    let separator = if failed == 0 { "" } else { "\n" };
    let (all, met) = (count(judged.len(), "case"), judged.len() - failed);
    let _ = writeln!(out, "{separator}{style}{all}: {met} as expected, {failed} not{style:#}");
    out
}

/// Columns side by side.
fn table(out: &mut String, rows: &[[String; 4]]) {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..4).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn write_json(judged: &[(&Case, Answer<'_>)]) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (case, answer) in judged {
        let line = json!({
            "name": case.name,
            "line": case.place.line,
            "expected": case.expected.text(),
            "answer": verdict(answer),
            "as_expected": case.expected.is_met_by(answer),
        });
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// Of a case's name in the table.
const NAME_CHARACTERS: usize = 60;
