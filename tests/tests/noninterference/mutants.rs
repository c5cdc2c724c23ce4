//! It can fail: each weakening of the judge is noticed.

use std::time::Instant;

use pgmoat_lab::Cluster;
use pgmoat_policy::mutants::{Mutant, activate};

use crate::judge::Court;
use crate::run::{Plan, run};

/// How a mutant was caught: after how many seconds, and by which statement.
#[derive(Debug)]
pub(crate) struct Hunt {
    pub(crate) mutant: Mutant,
    pub(crate) seconds: f64,
    pub(crate) generated: u64,
    /// The statement, and what differed; none: not caught.
    pub(crate) caught: Option<(String, String)>,
}

/// Looks for a difference with each mutant of the judge in turn.
pub(crate) fn hunt(cluster: &Cluster, court: &Court, plan: Plan, only: Option<&str>) -> Vec<Hunt> {
    let mut hunts = Vec::new();
    for mutant in Mutant::ALL.iter().copied().filter(|m| only.is_none_or(|name| name == m.name())) {
        let started = Instant::now();
        activate(Some(mutant));
        let found = run(cluster, court, Plan { differences: 1, ..plan }).unwrap();
        activate(None);
        let caught = found.differences.first();
        let caught = caught.map(|difference| (difference.written.sql.clone(), difference.what.clone()));
        let seconds = started.elapsed().as_secs_f64();
        let hunt = Hunt { mutant, seconds, generated: found.summary.generated, caught };
        println!("{hunt:?}");
        hunts.push(hunt);
    }
    hunts
}

/// What no statement of this server can show: the weakening is harmless there, or out of its grammar.
pub(crate) const NOT_SEEN: [&str; 0] = [];
