//! `pgmoat check`: everything that can be known before the proxy runs.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use pgmoat_policy::catalog::QualifiedName;
use pgmoat_policy::policy::{Place, Problem, Severity, ViewReach};
use serde_json::json;

use super::failure::{Exit, Failure};
use super::{problems, upstream};
use crate::config::{self, Config, Loaded};
use crate::server::ServerTls;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The configuration file
    #[arg(short, long, value_name = "FILE")]
    config: PathBuf,
    /// How problems are shown
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people, on standard error
    Human,
    /// One JSON object a line, on standard output: what views reach, then problems
    Json,
}

impl Arguments {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        let mut views = Vec::new();
        let found = match config::load(&self.config) {
            Ok(Loaded { config, policy, warnings, .. }) => {
                let mut found = warnings;
                opens(&self.config, &config, &mut found);
                for database in &config.databases {
                    let (problems, reached) = database_fits(&self.config, database, &policy);
                    found.extend(problems);
                    views.extend(reached.into_iter().map(|view| (&*database.name, view)).map(View::of));
                }
                found.dedup();
                found
            }
            Err(found) => found,
        };
        let refused = found.iter().any(Problem::is_error);
        match self.format {
            Format::Human => {
                problems::tell(&found);
                if !refused {
                    let mut out = io::stdout().lock();
                    views.iter().try_for_each(|view| writeln!(out, "{}", view.text))?;
                    writeln!(out, "{} is good", self.config.display())?;
                }
            }
            Format::Json => write_json(&found, &views)?,
        }
        Ok(if refused { Exit::Unusable } else { Exit::Yes })
    }
}

/// What `run` would open.
fn opens(file: &Path, config: &Config, found: &mut Vec<Problem>) {
    if let Err(problem) = config.audit.options() {
        found.push(problem);
    }
    found.extend(config.tls.as_ref().map(ServerTls::problems).unwrap_or_default());
    let folder = config.audit.path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let message = format!("the folder {} does not exist", folder.display());
        found.push(Problem::error(whole(file, "audit.path"), message));
    }
}

/// The policy against one database. A database that cannot be reached now may be up later.
fn database_fits(
    file: &Path,
    database: &config::Database,
    policy: &pgmoat_policy::Policy,
) -> (Vec<Problem>, Vec<ViewReach>) {
    let target = match database.target(policy) {
        Ok(target) => target,
        Err(problem) => return (vec![problem], Vec::new()),
    };
    match upstream::read(&target) {
        Ok((_, catalog)) => (policy.check(&catalog), policy.views(&catalog)),
        Err(error) => {
            let place = whole(file, &format!("databases.{}.upstream", database.name));
            let message = format!("the policy was not compared with the database: {error}");
            (vec![Problem::warning(place, message)], Vec::new())
        }
    }
}

/// What a view reaches, for people and for programs.
struct View {
    text: String,
    line: serde_json::Value,
}

impl View {
    fn of((database, reach): (&str, ViewReach)) -> View {
        let names = |names: &[QualifiedName]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (reaches, uncovered) = (names(&reach.reaches), names(&reach.uncovered));
        let mut text = format!("{database}: view {} reaches {}", reach.view, all_of(&reaches));
        if !uncovered.is_empty() {
            text.push_str(&format!("; out of reach of tenants for {}", all_of(&uncovered)));
        }
        let view = reach.view.to_string();
        let line = json!({ "database": database, "view": view, "reaches": reaches, "uncovered": uncovered });
        View { text, line }
    }
}

fn all_of(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn whole(file: &Path, path: &str) -> Place {
    let file = Arc::from(file.display().to_string());
    Place { file, line: 0, column: 0, path: path.to_owned() }
}

fn write_json(found: &[Problem], views: &[View]) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    views.iter().try_for_each(|view| writeln!(out, "{}", view.line))?;
    for Problem { severity, place, message, help } in found {
        let severity = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let Place { file, line, column, path } = place;
        let line = json!({
            "severity": severity, "file": &**file, "line": line, "column": column,
            "path": path, "message": message, "help": help,
        });
        writeln!(out, "{line}")?;
    }
    out.flush()
}
