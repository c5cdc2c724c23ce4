//! A whole run, as JSON has it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::curve::Curve;
use crate::error::BenchError;
use crate::goals::Goal;
use crate::host::{Commit, Host, Versions};
use crate::plan::{Destination, Plan};
use crate::row::Row;

/// The report; its fields are the keys of the JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) format: u32,
    pub(crate) what: String,
    pub(crate) command: String,
    /// UTC, as date(1) gives it.
    pub(crate) started: String,
    pub(crate) finished: String,
    pub(crate) commit: Option<Commit>,
    pub(crate) host: Host,
    pub(crate) load: Load,
    pub(crate) versions: Versions,
    pub(crate) configuration: serde_json::Value,
    /// What a reader of the figures must know.
    pub(crate) notes: Vec<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) goals: Vec<Goal>,
    pub(crate) curves: Vec<Curve>,
}

/// Load averages of 1, 5 and 15 minutes.
#[derive(Debug, Serialize)]
pub(crate) struct Load {
    pub(crate) start: [f64; 3],
    pub(crate) end: [f64; 3],
}

impl Report {
    /// Writes the files that were asked for.
    pub(crate) fn write(&self, plan: &Plan, markdown: &str) -> Result<(), BenchError> {
        if let Some(destination) = &plan.json {
            let json =
                serde_json::to_string_pretty(self).map_err(|error| BenchError::Wrong(error.to_string()))?;
            save(&self.path(destination, "json"), &format!("{json}\n"))?;
        }
        if let Some(destination) = &plan.markdown {
            let path = self.path(destination, "md");
            save(&path, markdown)?;
            for curve in &self.curves {
                save(&path.with_file_name(self.plot_name(curve)), &curve.svg().map_err(BenchError::Wrong)?)?;
            }
        }
        Ok(())
    }

    /// A plot lies beside the Markdown that shows it.
    pub(crate) fn plot_name(&self, curve: &Curve) -> String {
        let size = if self.what.ends_with("-small") { "-small" } else { "" };
        format!("{}-growth-{}{size}.svg", self.date(), curve.name)
    }

    /// Whether everything that was asked was answered.
    pub(crate) fn verdict(&self) -> Result<(), BenchError> {
        let failed = self.rows.iter().filter(|row| row.errors > 0);
        let lines: Vec<String> = failed
            .map(|row| format!("{}, {}: {} requests failed", row.name, row.target, row.errors))
            .collect();
        if lines.is_empty() { Ok(()) } else { Err(BenchError::Wrong(lines.join("\n"))) }
    }

    fn path(&self, destination: &Destination, extension: &str) -> PathBuf {
        match destination {
            Destination::File(path) => path.clone(),
            Destination::Results => {
                Path::new(RESULTS).join(format!("{}-{}.{extension}", self.date(), self.what))
            }
        }
    }

    fn date(&self) -> &str {
        self.started.split('T').next().unwrap_or_default()
    }
}

/// The command line of this process, as it would be typed.
pub(crate) fn command_line() -> String {
    let options: Vec<String> = env::args().skip(1).collect();
    ["bench/run"].into_iter().chain(options.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

fn save(path: &Path, text: &str) -> Result<(), BenchError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(BenchError::io(format!("make {}", folder.display())))?;
    }
    fs::write(path, text).map_err(BenchError::io(format!("write {}", path.display())))
}

/// From the checkout's top, where bench/run goes.
const RESULTS: &str = "bench/results";
