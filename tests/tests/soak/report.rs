//! What a soak has shown, for people, and whether it is good.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use std::{fs, iter};

use pgmoat_tests::is_long;

use crate::operator::Watched;
use crate::run::Plan;
use crate::tally::{Fault, Tally};

#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) tally: Tally,
    pub(crate) watched: Watched,
    /// When the server was away.
    pub(crate) windows: Vec<Range<SystemTime>>,
    /// Upstream connections that were not idle when all clients had gone.
    pub(crate) busy: u64,
    /// All of them, with the catalog's.
    pub(crate) live: u64,
    pub(crate) audit_is_whole: bool,
    pub(crate) log: String,
}

impl Report {
    /// Prints it; a long one's part of the results is written, too.
    pub(crate) fn write(&self, plan: &Plan) {
        let text = self.text(plan);
        println!("{text}");
        if !is_long() {
            return;
        }
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/soak.txt");
        let title = title(plan);
        let former = fs::read_to_string(&file).unwrap_or_default();
        let others = former.split("== ").filter(|part| !part.trim().is_empty() && !part.starts_with(&title));
        let mut parts: Vec<String> = others.map(str::to_owned).chain(iter::once(text)).collect();
        parts.sort();
        let parts: Vec<String> = parts.iter().map(|part| format!("== {}\n", part.trim_end())).collect();
        fs::write(&file, parts.join("\n")).unwrap();
    }

    /// Fails where something is not good.
    pub(crate) fn judge(&self) {
        let first = |all: Vec<String>| all.into_iter().take(SHOWN).collect::<Vec<_>>().join("\n");
        let (wrong, protocol) = (self.tally.wrongs(), self.tally.protocols());
        assert!(
            wrong.is_empty() && protocol.is_empty(),
            "{} wrong answers:\n{}\n{} protocol errors:\n{}",
            wrong.len(),
            first(wrong.clone()),
            protocol.len(),
            first(protocol.clone())
        );
        let unexplained: Vec<String> =
            self.unexplained().map(|fault| format!("{} {}", fault.code, fault.text)).collect();
        assert!(unexplained.is_empty(), "{} errors:\n{}", unexplained.len(), first(unexplained));
        assert!(!self.log.contains("panicked") && !self.log.contains("internal fault"), "{}", self.log);
        assert!(self.audit_is_whole, "the audit log's chain is broken");
        assert_eq!(self.busy, 0, "connections that nobody uses are not idle");
        let Watched { asked, applied, refused, .. } = self.watched;
        assert_eq!(refused, 0, "reloads were refused");
        // Two signals before one look are one reload.
        assert!(applied * 10 >= asked * 5, "{applied} of {asked} reloads");
        assert!(count(&self.tally.statements) > 0 && count(&self.tally.denied) > 0);
        if is_long() {
            let (early, late) = self.resident();
            assert!(
                late <= early + early / 10 + SLACK_BYTES,
                "{early} bytes resident at first, {late} at last"
            );
        }
    }

    fn unexplained(&self) -> impl Iterator<Item = Fault> {
        let explained = |fault: &Fault| {
            EXPLAINED.contains(&fault.code.as_str())
                && self.windows.iter().any(|window| window.contains(&fault.at))
        };
        self.tally.faults().into_iter().filter(move |fault| !explained(fault))
    }

    /// The median of the second sixth, before the first restart, and of the last sixth.
    fn resident(&self) -> (u64, u64) {
        let samples = &self.watched.resident_bytes;
        let sixth = samples.len() / 6;
        let median = |part: &[u64]| {
            let mut part = part.to_vec();
            part.sort_unstable();
            part.get(part.len() / 2).copied().unwrap_or_default()
        };
        (median(&samples[sixth..2 * sixth]), median(&samples[samples.len() - sixth..]))
    }

    fn text(&self, plan: &Plan) -> String {
        let Tally { sessions, statements, rows, denied, .. } = &self.tally;
        let mut text = format!("{}\n", title(plan));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let build = if cfg!(debug_assertions) { "debug" } else { "release" };
        let mut line = |name: &str, value: String| text.push_str(&format!("{name:<28}{value}\n"));
        line("machine", format!("{cores} cores, PostgreSQL on the same, {build} build"));
        line("sessions", count(sessions).to_string());
        line("statements", count(statements).to_string());
        line("rows, each looked at", count(rows).to_string());
        line("refused, as they must be", count(denied).to_string());
        line("wrong answers", self.tally.wrongs().len().to_string());
        line("protocol errors", self.tally.protocols().len().to_string());
        let mut codes: BTreeMap<String, usize> = BTreeMap::new();
        self.tally.faults().into_iter().for_each(|fault| *codes.entry(fault.code).or_default() += 1);
        let codes: Vec<String> = codes.iter().map(|(code, times)| format!("{code} {times}")).collect();
        line("errors of the restarts", codes.join(", "));
        line("other errors", self.unexplained().count().to_string());
        let Watched { asked, applied, refused, resident_bytes } = &self.watched;
        line("reloads", format!("{applied} applied, {refused} refused, of {asked} asked for"));
        line("connections at last", format!("{}, of which {} busy", self.live, self.busy));
        line("audit log", if self.audit_is_whole { "whole" } else { "broken" }.to_owned());
        let mebibytes = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
        let (early, late) = self.resident();
        line("resident, MiB", format!("{} at first, {} at last", mebibytes(early), mebibytes(late)));
        let samples: Vec<String> = resident_bytes.iter().step_by(10).map(|bytes| mebibytes(*bytes)).collect();
        line("every ten seconds", samples.join(" "));
        text
    }
}

fn title(plan: &Plan) -> String {
    format!(
        "{} mode: {} clients (psycopg, tokio-postgres, raw messages), {} connections, {} s, {} restarts of the server",
        plan.mode, plan.clients, plan.size, plan.seconds, plan.restarts
    )
}

fn count(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// What a client may hear while the server is away: that it ends, that it is gone, that there is none.
const EXPLAINED: &[&str] = &["57P01", "57P02", "57P03", "08006", "closed"];
const SLACK_BYTES: u64 = 4 << 20;
/// Of each kind of fault.
const SHOWN: usize = 20;
