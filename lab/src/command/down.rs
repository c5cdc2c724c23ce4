//! `down`: asks the lab to end and waits until it has.

use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pgmoat_lab::LabError;

use super::say;
use super::site::{POLL, Site};

/// Ends the lab, if it is up. Its data stays in `lab/run`.
pub(crate) fn down(site: &Site) -> Result<ExitCode, LabError> {
    if site.hold()?.is_some() {
        say("lab: it is not up");
        return Ok(ExitCode::SUCCESS);
    }
    site.request_stop()?;
    let started = Instant::now();
    while site.hold()?.is_none() {
        if started.elapsed() > LIMIT {
            return Err(LabError::Unusable(
                "the lab does not end; see lab/run/lab.log and lab/run/pgmoat.log".into(),
            ));
        }
        sleep(POLL);
    }
    say("lab: down");
    Ok(ExitCode::SUCCESS)
}

const LIMIT: Duration = Duration::from_secs(60);
