//! `pgmoat verify` as a process: many statements through a batch, and one statement as people ask for it.
//!
//! A batch is a whole process: start, files and all; its lines are written as fast as they are taken. Each answer is
//! compared with the verdict that its line must get, also while it is timed. The peer of a single statement is
//! `true`, a process that does nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use pgmoat_lab::POLICY_YAML;
use tempfile::TempDir;
use tokio::process::Command;

use super::library::CATALOG_JSON;
use crate::calibration::Calibration;
use crate::error::BenchError;
use crate::load::Until;
use crate::plan::Plan;
use crate::row::Row;
use crate::series::{Series, nanoseconds};
use crate::site::pgmoat_binary;
use crate::statement::{Expected, Statement, TIERS, corpus_attack, corpus_benign};
use crate::target::Target;

/// Checks every verdict, then measures.
pub(crate) async fn run(plan: &Plan, calibration: &mut Calibration) -> Result<Vec<Row>, BenchError> {
    let program = Program::new()?;
    program.check().await?;
    let lines = plan.lines.unwrap_or(if plan.small { SMALL_LINES } else { FULL_LINES });
    let mut rows = Vec::new();
    for (name, cold, lines) in [("batch_warm", false, lines), ("batch_cold", true, lines / COLD_SHARE)] {
        calibration.measure();
        let mut series: Vec<(usize, Series)> = JOBS.map(|jobs| (jobs, Series::default())).into();
        let batch = Batch::of_tiers(lines.max(1), &program.folder)?;
        for round in 0..rounds(plan) {
            let first = round % series.len();
            series.rotate_left(first);
            for (jobs, series) in &mut series {
                let elapsed = program.batch(&batch, *jobs, cold).await?;
                let each = nanoseconds(elapsed) / batch.count();
                series.add_round(vec![each], batch.count(), elapsed);
            }
            series.rotate_right(first);
        }
        for (jobs, series) in series {
            rows.push(series.into_row("cli", format!("{name}/jobs_{jobs}"), Target::Pgmoat)?);
        }
    }
    calibration.measure();
    rows.extend(one_shot(plan, &program).await?);
    Ok(rows)
}

/// One statement a process.
async fn one_shot(plan: &Plan, program: &Program) -> Result<Vec<Row>, BenchError> {
    let (mut own, mut nothing) = (Series::default(), Series::default());
    let processes = match plan.turn {
        Until::Elapsed(_) if plan.small => 5,
        Until::Elapsed(_) => 10,
        Until::Requests(requests) => requests,
    };
    for _ in 0..rounds(plan) {
        for (series, target) in [(&mut own, Target::Pgmoat), (&mut nothing, Target::Spawn)] {
            let (mut samples, started) = (Vec::new(), Instant::now());
            for _ in 0..processes {
                let before = Instant::now();
                let mut command = match target {
                    Target::Pgmoat => program.one_shot(),
                    _ => Command::new("true"),
                };
                let output = command.output().await.map_err(BenchError::io("run a process"))?;
                samples.push(nanoseconds(before.elapsed()));
                if !output.status.success() {
                    let text = String::from_utf8_lossy(&output.stderr);
                    return Err(BenchError::Wrong(format!("wrong verdict: cli, one_shot: {text}")));
                }
            }
            series.add_round(samples, processes, started.elapsed());
        }
    }
    let row = |series: Series, target| series.into_row("cli", "one_shot".to_owned(), target);
    Ok(vec![row(own, Target::Pgmoat)?, row(nothing, Target::Spawn)?])
}

fn rounds(plan: &Plan) -> usize {
    match plan.turn {
        Until::Elapsed(_) if plan.small => 3,
        Until::Elapsed(_) => 7,
        Until::Requests(_) => 1,
    }
}

/// The program with the files that it reads.
struct Program {
    binary: PathBuf,
    folder: TempDir,
}

/// Lines in a file, and what must be answered.
struct Batch {
    input: PathBuf,
    expected: Vec<Expected>,
}

impl Batch {
    /// The tiers' queries in turn, each time with another literal.
    fn of_tiers(lines: u64, folder: &TempDir) -> Result<Self, BenchError> {
        let mut statements = Vec::new();
        for number in 0.. {
            if statements.len() as u64 >= lines {
                break;
            }
            for tier in TIERS {
                statements.extend(tier.statements(FIRST_NUMBER + number));
            }
        }
        statements.truncate(usize::try_from(lines).unwrap_or(usize::MAX));
        Self::new(&statements, folder)
    }

    fn new(statements: &[Statement], folder: &TempDir) -> Result<Self, BenchError> {
        let mut text = String::new();
        for (id, statement) in statements.iter().enumerate() {
            text.push_str(&statement.json(id, None));
            text.push('\n');
        }
        let input = folder.path().join(format!("batch-{}.jsonl", statements.len()));
        fs::write(&input, text).map_err(BenchError::io("write a batch"))?;
        let expected = statements.iter().map(|statement| statement.expected.clone()).collect();
        Ok(Self { input, expected })
    }

    fn count(&self) -> u64 {
        self.expected.len() as u64
    }

    /// Whether the answers are those that must be, in the lines' order.
    fn check(&self, answers: &str) -> Result<(), BenchError> {
        let mut lines = answers.lines();
        for (id, expected) in self.expected.iter().enumerate() {
            let wrong = |what: &str| Err(BenchError::Wrong(format!("wrong verdict: cli, line {id}: {what}")));
            let Some(line) = lines.next() else { return wrong("no answer") };
            // Most are this one, and reading JSON would take longer than the verdicts.
            if *expected == Expected::Allowed && line == format!("{{\"id\":{id},\"allowed\":true}}") {
                continue;
            }
            let answer: serde_json::Value = match serde_json::from_str(line) {
                Ok(answer) => answer,
                Err(error) => return wrong(&format!("{error}: {line}")),
            };
            let word = |name: &str| answer.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
            let denied = answer.get("allowed") == Some(&serde_json::Value::Bool(false));
            if answer.get("id") != Some(&id.into()) {
                return wrong(&format!("out of order: {line}"));
            }
            if let Some(fault) = expected.fault(denied.then(|| [word("code"), word("sqlstate")])) {
                return wrong(&format!("{fault}: {line}"));
            }
        }
        Ok(())
    }
}

impl Program {
    fn new() -> Result<Self, BenchError> {
        let folder = tempfile::tempdir().map_err(BenchError::io("make a folder"))?;
        for (name, text) in [(POLICY, POLICY_YAML), (CATALOG, CATALOG_JSON)] {
            fs::write(folder.path().join(name), text).map_err(BenchError::io("write a file"))?;
        }
        Ok(Self { binary: pgmoat_binary()?, folder })
    }

    fn verify(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(["verify", "--policy", POLICY, "--catalog", CATALOG]).current_dir(self.folder.path());
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    fn one_shot(&self) -> Command {
        let mut command = self.verify();
        command.args(["--as", "app:acme", "--sql", ONE_SHOT_SQL]);
        command
    }

    /// The corpus and the tiers, with what must be said of another tenant's rows.
    async fn check(&self) -> Result<(), BenchError> {
        let mut statements = corpus_benign()?;
        statements.extend(corpus_attack()?);
        for tier in TIERS {
            let own = tier.statements(FIRST_NUMBER);
            statements.extend(own.iter().map(Statement::across));
            statements.extend(own);
        }
        let batch = Batch::new(&statements, &self.folder)?;
        for (jobs, cold) in [(1, true), (1, false), (3, false)] {
            self.batch(&batch, jobs, cold).await?;
        }
        Ok(())
    }

    /// From the start of the process to its end.
    async fn batch(&self, batch: &Batch, jobs: usize, cold: bool) -> Result<Duration, BenchError> {
        let output = self.folder.path().join("answers.jsonl");
        let open = |path: &Path| fs::File::open(path).map_err(BenchError::io("open a batch"));
        let answers = fs::File::create(&output).map_err(BenchError::io("make a file"))?;
        let mut command = self.verify();
        command.args(["--batch", "--jobs", &jobs.to_string()]).args(cold.then_some("--no-cache"));
        command.stdin(open(&batch.input)?).stdout(answers);
        let started = Instant::now();
        let status = command.status().await.map_err(BenchError::io("run pgmoat verify"))?;
        let elapsed = started.elapsed();
        if !status.success() {
            return Err(BenchError::Wrong(format!("pgmoat verify --batch: {status}")));
        }
        let answers = fs::read_to_string(&output).map_err(BenchError::io("read the answers"))?;
        batch.check(&answers)?;
        Ok(elapsed)
    }
}

const POLICY: &str = "policy.yaml";
const CATALOG: &str = "catalog.json";
const ONE_SHOT_SQL: &str = "SELECT id, status, total FROM app.orders WHERE tenant_id = 'acme' AND id = 4242";
const JOBS: [usize; 2] = [1, 2];
const SMALL_LINES: u64 = 40_000;
const FULL_LINES: u64 = 400_000;
/// Without a cache a line takes so much longer, roughly.
const COLD_SHARE: u64 = 8;
const FIRST_NUMBER: u64 = 1000;
