//! `psql`: PostgreSQL's own client, through the proxy, as a user of the lab.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use pgmoat_lab::{LabError, Postgres, User, users};

use super::site::{Site, io};
use super::up::DATABASE;

/// Becomes psql.
pub(crate) fn psql(site: &Site, user: &str, arguments: &[&str]) -> Result<ExitCode, LabError> {
    let Some(user) = User::named(user) else {
        let names: Vec<_> = users().iter().map(|user| user.name).collect();
        return Err(LabError::Unusable(format!("no user {user:?}; the lab's are {}", names.join(", "))));
    };
    let up = match site.hold()? {
        Some(_) => None,
        None => site.port(),
    };
    let Some(port) = up else {
        return Err(LabError::Unusable("it is not up; start it with lab/up".to_owned()));
    };
    let failed = client(&Postgres::find()?, user, port).args(arguments).exec();
    Err(io("run psql", failed))
}

/// psql aimed at the proxy, without its user's own start-up file.
pub(crate) fn client(postgres: &Postgres, user: &User, port: u16) -> Command {
    let mut command = Command::new(postgres.tool("psql"));
    command.env("PGPASSWORD", user.password()).env_remove("PGOPTIONS").env_remove("PGSERVICE");
    command.args(["-X", "-h", "127.0.0.1", "-p", &port.to_string(), "-U", user.name, "-d", DATABASE]);
    command
}
