//! What statements are verified against: a policy and a catalog, from files or from a configuration.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use pgmoat_policy::{Catalog, Policy, Principal};

use super::failure::Failure;
use super::upstream;
use crate::config::{self, Config, Loaded};
use crate::verify::{Basis, Directory};

#[derive(Debug, Args)]
pub(super) struct SourceArguments {
    /// The policy file
    #[arg(short, long, value_name = "FILE", conflicts_with = "config", required_unless_present = "config")]
    policy: Option<PathBuf>,
    /// The configuration file, instead of a policy file
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The catalog file that `pgmoat catalog dump` wrote; with -c, read from the database by default
    #[arg(long, value_name = "FILE", required_unless_present = "config")]
    catalog: Option<PathBuf>,
    /// Which database of the configuration; the only one by default
    #[arg(long, value_name = "NAME", requires = "config")]
    database: Option<String>,
}

/// What verdicts are about.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) policy: Arc<Policy>,
    pub(super) catalog: Arc<Catalog>,
    users: Users,
}

/// The users of a configuration, if there is one.
#[derive(Debug)]
struct Users(Vec<config::User>);

impl SourceArguments {
    /// Reads it all. Warnings about the files are `check`'s to tell.
    pub(super) fn open(&self) -> Result<Source, Failure> {
        let SourceArguments { policy, config, catalog, database } = self;
        Source::open(policy.as_deref(), config.as_deref(), catalog.as_deref(), database.as_deref())
    }
}

impl Source {
    /// Reads it all, from a policy file or a configuration, and a catalog file or the
    /// configuration's database.
    pub(super) fn open(
        policy: Option<&Path>,
        config: Option<&Path>,
        catalog: Option<&Path>,
        database_name: Option<&str>,
    ) -> Result<Source, Failure> {
        let (policy, config) = match (policy, config) {
            (Some(path), _) => (config::load_policy(path).map_err(Failure::Problems)?.policy, None),
            (None, Some(path)) => {
                let Loaded { config, policy, .. } = config::load(path).map_err(Failure::Problems)?;
                (policy, Some(config))
            }
            (None, None) => return Err(Failure::Usage("--policy or --config is needed".to_owned())),
        };
        let catalog = match (catalog, &config) {
            (Some(path), _) => catalog_file(path)?,
            (None, Some(config)) => {
                let target = database(config, database_name)?.target(&policy);
                let target = target.map_err(|problem| Failure::Problems(vec![problem]))?;
                upstream::read(&target).map_err(Failure::Failed)?.1
            }
            (None, None) => return Err(Failure::Usage("--catalog is needed".to_owned())),
        };
        let users = config.map(|config| config.users).unwrap_or_default();
        Ok(Source { policy: Arc::new(policy), catalog: Arc::new(catalog), users: Users(users) })
    }

    /// What verdicts rest on; each is given anew.
    pub(super) fn basis(&self) -> Basis<'_> {
        let Source { policy, catalog, users } = self;
        Basis { policy, catalog, verdicts: None, users }
    }
}

impl Directory for Users {
    fn principal_of(&self, user: &str) -> Option<Principal> {
        let user = self.0.iter().find(|known| *known.name == *user)?;
        Some(Principal { role: Arc::clone(&user.role), tenant: user.tenant.clone() })
    }
}

/// The database of that name, or the only one.
pub(super) fn database<'a>(config: &'a Config, name: Option<&str>) -> Result<&'a config::Database, Failure> {
    let named = match (name, config.databases.as_slice()) {
        (Some(name), databases) => databases.iter().find(|database| *database.name == *name),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    named.ok_or_else(|| {
        let names: Vec<&str> = config.databases.iter().map(|database| &*database.name).collect();
        Failure::Usage(format!("--database is one of: {}", names.join(", ")))
    })
}

fn catalog_file(path: &Path) -> Result<Catalog, Failure> {
    let unusable = |error: String| Failure::Usage(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
    Catalog::parse(&text).map_err(|error| unusable(error.to_string()))
}
