//! `pgmoat verify`: what the proxy would say, without a server (contracts 6).

mod batch;
mod draw;
mod explanation;

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::failure::{Exit, Failure};
use super::palette::Palette;
use super::source::SourceArguments;
use crate::verify::{Protocol, Request, answer};

pub(super) use draw::{draw, visible};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: SourceArguments,
    /// Whose statement it is
    #[arg(long = "as", value_name = "ROLE[:TENANT]", conflicts_with = "user")]
    principal: Option<String>,
    /// The same, by a user of the configuration
    #[arg(long, value_name = "NAME", requires = "config")]
    user: Option<String>,
    /// The statement
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["file", "batch"])]
    sql: Option<String>,
    /// A file with the statement; `-` is standard input
    #[arg(conflicts_with = "batch", required_unless_present_any = ["sql", "batch"])]
    file: Option<PathBuf>,
    /// Judge it as a Parse message: `$n` may stand in it, and what is checked of their values is listed
    #[arg(long, conflicts_with = "batch")]
    parse: bool,
    /// Tell every reason to refuse, and for each relation which condition restricts it or what is missing
    #[arg(long, conflicts_with = "batch")]
    explain: bool,
    /// How the answer is shown
    #[arg(long, value_enum, default_value = "human", conflicts_with = "batch")]
    format: Format,
    /// Read a JSON object a line from standard input, write one a line
    #[arg(long)]
    batch: bool,
    /// Judge every line of a batch anew: no verdict is taken from a statement before that differs in its constants alone
    #[arg(long, requires = "batch")]
    no_cache: bool,
    /// Threads of a batch
    #[arg(long, value_name = "N", default_value = "1", requires = "batch",
          value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// A JSON object
    Json,
}

impl Arguments {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        let source = self.source.open()?;
        let asked = match (&self.principal, &self.user) {
            (Some(text), _) => Some(source.basis().principal(text)),
            (None, Some(name)) => Some(source.basis().user(name)),
            (None, None) => None,
        };
        let default = asked.transpose().map_err(Failure::Usage)?;
        if self.batch {
            return batch::run(&source, default.as_ref(), usize::from(self.jobs), self.no_cache);
        }
        let Some(principal) = default else {
            return Err(Failure::Usage("whose statement is it? --as role:tenant, or --user".to_owned()));
        };
        let (name, sql) = self.text()?;
        let protocol = if self.parse { Protocol::Parse { types: Vec::new() } } else { Protocol::Simple };
        let request = Request { id: Value::Null, sql: sql.into(), principal, protocol };
        let answer = answer(&source.basis(), &request, self.explain);
        let stdout = io::stdout();
        match self.format {
            Format::Json => {
                let mut line = Vec::new();
                answer.write_json(&mut line);
                line.push(b'\n');
                stdout.lock().write_all(&line)?;
            }
            Format::Human => {
                let palette = Palette::of(&stdout);
                let drawn = draw(&name, &request, &answer, palette);
                stdout.lock().write_all(drawn.as_bytes())?;
            }
        }
        Ok(if answer.allowed() { Exit::Yes } else { Exit::No })
    }

    /// The statement, and what it is called.
    fn text(&self) -> Result<(String, String), Failure> {
        if let Some(sql) = &self.sql {
            return Ok(("--sql".to_owned(), sql.clone()));
        }
        let Some(file) = &self.file else {
            return Err(Failure::Usage("--sql, a file or --batch is needed".to_owned()));
        };
        let name = file.display().to_string();
        let text = if file.as_path() == Path::new("-") {
            bounded(io::stdin().lock())
        } else {
            fs::File::open(file).and_then(bounded)
        };
        Ok((name.clone(), text.map_err(|error| Failure::Usage(format!("{name}: {error}")))?))
    }
}

fn bounded(source: impl io::Read) -> io::Result<String> {
    let mut text = String::new();
    source.take(MAX_TEXT_BYTES + 1).read_to_string(&mut text)?;
    match u64::try_from(text.len()) {
        Ok(length) if length <= MAX_TEXT_BYTES => Ok(text),
        Ok(_) | Err(_) => Err(io::Error::other(format!("longer than {MAX_TEXT_BYTES} bytes"))),
    }
}

/// Above every limit on statements.
const MAX_TEXT_BYTES: u64 = 64 * 1024 * 1024;
