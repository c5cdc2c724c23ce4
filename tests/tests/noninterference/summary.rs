//! What a run has seen.

use std::collections::{BTreeMap, BTreeSet};

use crate::client::Answer;
use crate::generate::Statement;
use crate::judge::Ruling;
use crate::tree::Written;
use crate::verdict::Outcome;

/// Counts, which workers add up.
#[derive(Debug, Default, Clone)]
pub(crate) struct Summary {
    /// Statements that were judged, near misses among them.
    pub(crate) generated: u64,
    pub(crate) allowed: u64,
    /// Near misses by kind: how many were judged, and how many of them are allowed.
    pub(crate) near: BTreeMap<&'static str, [u64; 2]>,
    pub(crate) same: u64,
    pub(crate) unfinished: u64,
    pub(crate) different: u64,
    /// Allowed statements of the fallible stream whose errors differ, by SQLSTATEs.
    pub(crate) errors: BTreeMap<String, u64>,
    /// The SQLSTATEs of those.
    pub(crate) sqlstates: BTreeMap<String, u64>,
    /// Allowed statements that PostgreSQL refuses, by SQLSTATE.
    pub(crate) invalid: BTreeMap<String, u64>,
    /// Allowed statements by what they are made of.
    pub(crate) constructs: BTreeMap<&'static str, u64>,
    /// Those of them that PostgreSQL refuses, too.
    pub(crate) refused: BTreeMap<&'static str, u64>,
    /// What PostgreSQL said of them, and the smallest statement.
    pub(crate) refusals: BTreeMap<String, (u64, String)>,
    /// Denied statements by the first code.
    pub(crate) denied: BTreeMap<String, u64>,
    /// Allowed statements whose answer has rows, or that wrote some.
    pub(crate) telling: u64,
    /// Denied statements that ran, by code: in how many the worlds differ, and in how many not.
    pub(crate) denied_ran: BTreeMap<String, [u64; 2]>,
    /// Denied statements in which no difference was seen, by code: the smallest.
    pub(crate) needless: BTreeMap<String, Vec<String>>,
}

impl Summary {
    pub(crate) fn ruled(&mut self, statement: &Statement, ruling: &Ruling) {
        self.generated += 1;
        if let Some((kind, _)) = statement.near {
            let near = self.near.entry(kind).or_default();
            *near = [near[0] + 1, near[1] + u64::from(*ruling == Ruling::Allowed)];
        }
        match ruling {
            Ruling::Allowed => {
                self.allowed += 1;
                for construct in &statement.constructs {
                    *self.constructs.entry(construct).or_default() += 1;
                }
            }
            Ruling::Denied(code) => *self.denied.entry(code.clone()).or_default() += 1,
        }
    }

    /// A denied statement ran.
    pub(crate) fn needless(
        &mut self,
        statement: &Statement,
        written: &Written,
        code: &str,
        outcome: &Outcome,
        answers: &[Answer; 3],
    ) {
        let ran = self.denied_ran.entry(code.to_owned()).or_default();
        match outcome {
            Outcome::Different(_) | Outcome::Error(_) => ran[0] += 1,
            Outcome::Same if answers[0].tells() && !statement.constructs.contains("weak equality") => {
                ran[1] += 1;
                let examples = self.needless.entry(code.to_owned()).or_default();
                examples.push(format!("{} {:?} {:?}", written.sql, written.values, statement.universe));
                examples.sort_by_key(String::len);
                examples.truncate(EXAMPLES);
            }
            Outcome::Same | Outcome::Invalid(_) | Outcome::Unfinished => {}
        }
    }

    pub(crate) fn compared(
        &mut self,
        statement: &Statement,
        written: &Written,
        outcome: &Outcome,
        answers: &[Answer; 3],
    ) {
        self.telling += u64::from(answers[0].tells());
        if let (Outcome::Invalid(_), Some((code, message))) = (outcome, &answers[0].error) {
            for construct in &statement.constructs {
                *self.refused.entry(construct).or_default() += 1;
            }
            self.refused_as(format!("{code} {message}"), 1, &written.sql);
        }
        match outcome {
            Outcome::Same => self.same += 1,
            Outcome::Invalid(code) => *self.invalid.entry(code.clone()).or_default() += 1,
            Outcome::Error(codes) if statement.fallible && !statement.universe.forbids(codes) => {
                *self.errors.entry(codes.clone()).or_default() += 1;
                let told = answers.iter().filter_map(|answer| answer.error.as_ref());
                let told: BTreeSet<&String> = told.map(|(sqlstate, _)| sqlstate).collect();
                for sqlstate in told {
                    *self.sqlstates.entry(sqlstate.clone()).or_default() += 1;
                }
            }
            Outcome::Error(_) | Outcome::Different(_) => self.different += 1,
            Outcome::Unfinished => self.unfinished += 1,
        }
    }

    fn refused_as(&mut self, what: String, count: u64, sql: &str) {
        let (known, example) = self.refusals.entry(what).or_default();
        *known += count;
        if example.is_empty() || sql.len() < example.len() {
            sql.clone_into(example);
        }
    }

    /// What PostgreSQL refuses, for whoever mends the generator.
    pub(crate) fn refusals(&self) -> String {
        let mut all: Vec<_> = self.refusals.iter().collect();
        all.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        let lines = all.iter().take(EXAMPLES);
        lines.map(|(what, (count, sql))| format!("{count:>6} {what}\n       {sql}\n")).collect()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.generated += other.generated;
        self.allowed += other.allowed;
        self.same += other.same;
        self.unfinished += other.unfinished;
        self.different += other.different;
        self.telling += other.telling;
        for (kind, counts) in &other.near {
            let near = self.near.entry(kind).or_default();
            *near = [near[0] + counts[0], near[1] + counts[1]];
        }
        for (code, counts) in &other.denied_ran {
            let ran = self.denied_ran.entry(code.clone()).or_default();
            *ran = [ran[0] + counts[0], ran[1] + counts[1]];
        }
        for (code, examples) in &other.needless {
            self.needless.entry(code.clone()).or_default().extend(examples.iter().cloned());
        }
        for (to, from) in [
            (&mut self.errors, &other.errors),
            (&mut self.sqlstates, &other.sqlstates),
            (&mut self.invalid, &other.invalid),
            (&mut self.denied, &other.denied),
        ] {
            for (key, count) in from {
                *to.entry(key.clone()).or_default() += count;
            }
        }
        for (to, from) in [(&mut self.constructs, &other.constructs), (&mut self.refused, &other.refused)] {
            for (key, count) in from {
                *to.entry(key).or_default() += count;
            }
        }
        for (what, (count, sql)) in &other.refusals {
            self.refused_as(what.clone(), *count, sql);
        }
    }
}

impl Summary {
    /// For a file: the same run gives the same text.
    pub(crate) fn text(&self, seed: u64) -> String {
        let mut text = format!(
            "seed {seed}: {} judged, {} allowed ({:.1} %), {} of them with rows to compare, {} differences\n",
            self.generated,
            self.allowed,
            100.0 * self.allowed as f64 / self.generated.max(1) as f64,
            self.telling,
            self.different
        );
        text.push_str("\nnear misses of allowed statements: judged, and allowed\n");
        for (kind, [judged, allowed]) in &self.near {
            text.push_str(&format!("{judged:>9} {allowed:>7} {kind}\n"));
        }
        let table = |head: &str, counts: &mut dyn Iterator<Item = (&str, u64)>| {
            let lines: String = counts.map(|(name, count)| format!("{count:>9} {name}\n")).collect();
            format!("\n{head}\n{lines}")
        };
        let named = |counts: &BTreeMap<String, u64>| -> Vec<(String, u64)> {
            counts.iter().map(|(name, count)| (name.clone(), *count)).collect()
        };
        let all = [
            ("denied, by the first code", named(&self.denied)),
            ("allowed and refused by PostgreSQL", named(&self.invalid)),
            ("errors that differ (fallible stream), by SQLSTATE", named(&self.sqlstates)),
            ("errors that differ (fallible stream), by world", named(&self.errors)),
        ];
        for (head, counts) in &all {
            text.push_str(&table(head, &mut counts.iter().map(|(name, count)| (name.as_str(), *count))));
        }
        text.push_str("\nallowed, by construct, and how many of them PostgreSQL refuses\n");
        for (name, count) in &self.constructs {
            let refused = self.refused.get(name).copied().unwrap_or_default();
            text.push_str(&format!("{count:>9} {refused:>6} {name}\n"));
        }
        for (code, [differ, same]) in &self.denied_ran {
            text.push_str(&format!("\ndenied as {code}: {differ} differ, {same} with rows do not\n"));
            for example in self.needless.get(code).into_iter().flatten() {
                text.push_str(&format!("    {example}\n"));
            }
        }
        text
    }
}

/// The mutants with what caught them.
#[cfg(feature = "mutants")]
pub(crate) fn of_mutants(hunts: &[crate::mutants::Hunt]) -> String {
    let caught = hunts.iter().filter(|hunt| hunt.caught.is_some()).count();
    let mut text = format!("{caught} of {} mutants caught\n\n", hunts.len());
    for hunt in hunts {
        let name = hunt.mutant.name();
        text.push_str(&match &hunt.caught {
            Some(found) => {
                let (seconds, number) = (found.seconds, found.number);
                format!("{name:<26} {seconds:>5.1} s, #{number:<5} {}: {}\n", found.what, found.written.sql)
            }
            None => {
                let reason = crate::mutants::NOT_SEEN.iter().find(|(other, _)| *other == name);
                format!("{name:<26} not caught: {}\n", reason.map_or("?", |(_, reason)| reason))
            }
        });
    }
    text
}

/// Writes a summary into the folder of `PGMOAT_RESULTS`, if that is asked for.
pub(crate) fn write(name: &str, text: &str) {
    if let Some(folder) = std::env::var_os("PGMOAT_RESULTS") {
        let folder = std::path::PathBuf::from(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("noninterference-{name}.txt")), text).unwrap();
    }
}

/// How many examples of needless denials are kept, of each code.
const EXAMPLES: usize = 60;
