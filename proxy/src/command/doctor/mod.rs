//! `pgmoat doctor`: what the proxy stands on. `check` compares files with each other and with the
//! schema; this also looks at servers, at the role there, at the audit log's place, and at rows.

mod audit;
mod keys;
mod privileges;
mod report;
mod room;
mod settings;

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pgmoat_policy::{Catalog, Policy};

use super::failure::{Exit, Failure};
use super::upstream::Session;
use crate::config::{self, Config, Database, Loaded, Tls};
use crate::server::ServerTls;
use report::Report;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The configuration file
    #[arg(short, long, value_name = "FILE")]
    config: PathBuf,
    /// Count the rows that cross tenants by foreign keys without the tenant column: reads whole tables
    #[arg(long)]
    verify_keys: bool,
    /// How findings are shown
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// A JSON object a line
    Json,
}

impl Arguments {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        let Loaded { config, policy, warnings, .. } =
            config::load(&self.config).map_err(Failure::Problems)?;
        let mut report = Report::default();
        report.problems("files", warnings);
        report.problems("tls", config.tls.as_ref().map(ServerTls::problems).unwrap_or_default());
        settings::look(&config, &policy, &mut report);
        audit::look(&config.audit, &mut report);
        for database in &config.databases {
            self.database(&config, database, &policy, &mut report);
        }
        let text = match self.format {
            Format::Human => report.drawn(),
            Format::Json => report.json_lines(),
        };
        io::stdout().lock().write_all(text.as_bytes())?;
        Ok(if report.has_errors() { Exit::No } else { Exit::Yes })
    }

    fn database(&self, config: &Config, database: &Database, policy: &Policy, report: &mut Report) {
        let about = format!("database {}", database.name);
        let Some((mut session, catalog)) = reach(database, policy, &about, report) else { return };
        report.problems(&about, policy.check(&catalog));
        match privileges::ask(&mut session) {
            Ok(privileges) => privileges::compare(&about, &privileges, policy, report),
            Err(error) => {
                return report.error(&about, format!("the role's privileges cannot be read: {error}"));
            }
        }
        room::look(&about, config, database, &mut session, report);
        if self.verify_keys {
            keys::verify(&about, &mut session, policy, &catalog, report);
        }
    }
}

/// Connects and reads the catalog.
fn reach(
    database: &Database,
    policy: &Policy,
    about: &str,
    report: &mut Report,
) -> Option<(Session, Catalog)> {
    let target = database.target(policy).map_err(|problem| report.problems(about, vec![problem])).ok()?;
    let upstream = &database.upstream;
    let hosts: Vec<String> = upstream.hosts.iter().map(ToString::to_string).collect();
    let place = hosts.join(", ");
    let opened = Session::open(&target).and_then(|mut session| {
        let (_, catalog) = session.catalog()?;
        Ok((session, catalog))
    });
    match opened {
        Ok((session, catalog)) => {
            let version = session.server_version_num();
            let (major, minor) = (version / 10_000, version % 10_000);
            let tls = match upstream.tls {
                Tls::VerifyFull { .. } => "TLS, certificate verified",
                Tls::VerifyCa { .. } => "TLS, certificate verified for any name",
                Tls::Require => "TLS, certificate not verified",
                Tls::Disable => "no TLS",
            };
            report.good(about, format!("{place} is reached: PostgreSQL {major}.{minor}, {tls}"));
            Some((session, catalog))
        }
        Err(error) => {
            report.error(about, error);
            None
        }
    }
}
