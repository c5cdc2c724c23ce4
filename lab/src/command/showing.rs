//! Two statements with psql: one that the policy allows, one that it refuses.

use std::process::Stdio;

use pgmoat_lab::{LabError, Postgres, Proxy, User};

use super::{psql, say};

/// Runs and prints both. A lab whose proxy allows the second is not up.
pub(crate) fn show(postgres: &Postgres, proxy: &Proxy) -> Result<(), LabError> {
    let Some(user) = User::named(USER) else { return Err(LabError::Unusable(format!("no user {USER}"))) };
    for (sql, allowed) in [(ALLOWED, true), (REFUSED, false)] {
        let output = psql::client(postgres, user, proxy.port())
            .args(["-c", sql])
            .stdin(Stdio::null())
            .output()
            .map_err(|source| LabError::Io { doing: "run psql".to_owned(), source })?;
        let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        let text = String::from_utf8_lossy(&text);
        say(&format!("\n{USER}=> {sql}\n{}", text.trim_end()));
        if output.status.success() != allowed {
            let wanted = if allowed { "allow" } else { "refuse" };
            return Err(LabError::Unusable(format!(
                "pgmoat should {wanted} this; its log is lab/run/pgmoat.log"
            )));
        }
    }
    Ok(())
}

const USER: &str = "acme_app";
const ALLOWED: &str = "SELECT id, status, total FROM app.orders WHERE id = 4242 AND tenant_id = 'acme'";
const REFUSED: &str = "SELECT id, status, total FROM app.orders WHERE id = 4242";
