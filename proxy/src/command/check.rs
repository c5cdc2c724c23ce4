//! `pgmoat check`: everything that can be known before the proxy runs.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use pgmoat_policy::Policy;
use pgmoat_policy::catalog::QualifiedName;
use pgmoat_policy::policy::{Place, Problem, Severity, ViewReach};
use serde_json::json;

use super::failure::{Exit, Failure};
use super::{problems, upstream};
use crate::config::{self, Config, Read};
use crate::server::ServerTls;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The configuration file
    #[arg(short, long, value_name = "FILE")]
    config: PathBuf,
    /// Look at the files alone, at no database
    #[arg(long)]
    offline: bool,
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
        let Read { config, policy, problems: mut found, .. } = config::read(&self.config);
        let mut compared = Compared::default();
        if let Some(config) = &config {
            opens(&self.config, config, &mut found);
            if let (Some(policy), false) = (&policy, self.offline) {
                compared = self.compare(config, policy, &mut found);
            }
        }
        // Several databases may have one schema.
        let mut told = Vec::new();
        found.retain(|problem| {
            let is_new = !told.contains(problem);
            told.extend(is_new.then(|| problem.clone()));
            is_new
        });
        let refused = found.iter().any(Problem::is_error);
        match self.format {
            Format::Human => {
                problems::tell(&found);
                if !refused {
                    self.say_good(&compared)?;
                }
            }
            Format::Json => write_json(&found, &compared.views)?,
        }
        Ok(match (refused, compared.unreached.is_empty()) {
            (true, _) => Exit::Unusable,
            (false, false) => Exit::No,
            (false, true) => Exit::Yes,
        })
    }

    /// The policy against every database.
    fn compare(&self, config: &Config, policy: &Policy, found: &mut Vec<Problem>) -> Compared {
        let mut compared = Compared::default();
        for database in &config.databases {
            let read = match database.target(policy) {
                Ok(target) => upstream::read(&target),
                Err(problem) => {
                    found.push(problem);
                    continue;
                }
            };
            match read {
                Ok((_, catalog)) => {
                    found.extend(policy.check(&catalog));
                    let views = policy.views(&catalog);
                    compared.views.extend(views.into_iter().map(|view| View::of((&database.name, view))));
                }
                Err(error) => {
                    let place = whole(&self.config, &format!("databases.{}.upstream", database.name));
                    let message = format!("the policy was not compared with the database: {error}");
                    found.push(
                        Problem::warning(place, message).help("check --offline looks at the files alone"),
                    );
                    compared.unreached.push(database.name.clone());
                }
            }
        }
        compared
    }

    fn say_good(&self, compared: &Compared) -> io::Result<()> {
        let mut out = io::stdout().lock();
        compared.views.iter().try_for_each(|view| writeln!(out, "{}", view.text))?;
        let file = self.config.display();
        match (self.offline, compared.unreached.as_slice()) {
            (true, _) => writeln!(out, "{file} is good; no database was looked at"),
            (false, []) => writeln!(out, "{file} is good"),
            (false, unreached) => {
                writeln!(
                    out,
                    "{file} is good as far as it was looked at; not reached: {}",
                    unreached.join(", ")
                )
            }
        }
    }
}

/// What came of comparing the policy with databases.
#[derive(Default)]
struct Compared {
    views: Vec<View>,
    /// The names of those that could not be reached.
    unreached: Vec<Box<str>>,
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
