//! What has been seen of another generator's statements.

use std::collections::BTreeMap;

use crate::client::Answer;
use crate::judge::Ruling;
use crate::verdict::Outcome;

use super::rewrite::Flaw;
use super::smith::Said;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Statements of the generator's.
    pub(crate) made: usize,
    /// How often the generator died.
    pub(crate) crashes: usize,
    /// Allowed statements, which ran.
    pub(crate) ran: usize,
    /// Those whose answer has rows, or that wrote some.
    telling: usize,
    unfinished: usize,
    /// Those whose notices differ: the wire drops them all (policy 3.9).
    noticed: usize,
    /// The same error in all worlds, by SQLSTATE.
    failed: BTreeMap<String, usize>,
    /// Errors that differ, by SQLSTATEs: any of these statements may hold what may fail.
    errors: BTreeMap<String, usize>,
    /// Allowed and refused by PostgreSQL, by SQLSTATE.
    invalid: BTreeMap<String, usize>,
    /// Allowed and denied, by the flaw.
    verdicts: BTreeMap<&'static str, [usize; 2]>,
    /// Restricted throughout and denied, by code and message: how many, and the shortest.
    denied: BTreeMap<(String, String), (usize, String)>,
    pub(crate) differences: Vec<String>,
}

impl Tally {
    /// Of what nothing has been tried yet.
    pub(crate) fn of(said: &Said) -> Self {
        Self { made: said.statements.len(), crashes: said.crashes, ..Self::default() }
    }

    pub(crate) fn ruled(
        &mut self,
        flaw: Option<Flaw>,
        ruling: &Ruling,
        sql: &str,
        reason: impl FnOnce() -> String,
    ) {
        let kind = match flaw {
            None => "restricted throughout",
            Some(Flaw::Dropped) => "one restriction dropped",
            Some(Flaw::Weakened) => "one restriction weakened",
        };
        let verdicts = self.verdicts.entry(kind).or_default();
        match ruling {
            Ruling::Allowed => {
                verdicts[0] += 1;
                self.ran += 1;
            }
            Ruling::Denied(code) => {
                verdicts[1] += 1;
                if flaw.is_none() {
                    self.was_denied((code.clone(), general(&reason())), 1, sql);
                }
            }
        }
    }

    fn was_denied(&mut self, why: (String, String), count: usize, sql: &str) {
        let (counted, shortest) = self.denied.entry(why).or_insert_with(|| (0, sql.to_owned()));
        *counted += count;
        if sql.len() < shortest.len() {
            sql.clone_into(shortest);
        }
    }

    pub(crate) fn heard(&mut self, answers: &[Answer; 3]) {
        let [a, b, c] = answers.each_ref().map(|answer| &answer.notices);
        self.noticed += usize::from(a != b || a != c);
    }

    pub(crate) fn compared(&mut self, outcome: &Outcome, answers: &[Answer; 3]) {
        self.telling += usize::from(answers[0].tells());
        match outcome {
            Outcome::Same => {
                if let Some((code, _)) = &answers[0].error {
                    *self.failed.entry(code.clone()).or_default() += 1;
                }
            }
            Outcome::Different(_) => {}
            Outcome::Invalid(code) => *self.invalid.entry(code.clone()).or_default() += 1,
            Outcome::Error(codes) => *self.errors.entry(codes.clone()).or_default() += 1,
            Outcome::Unfinished => self.unfinished += 1,
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.ran += other.ran;
        self.telling += other.telling;
        self.unfinished += other.unfinished;
        self.noticed += other.noticed;
        self.differences.extend(other.differences);
        for (to, from) in [
            (&mut self.errors, other.errors),
            (&mut self.invalid, other.invalid),
            (&mut self.failed, other.failed),
        ] {
            for (key, count) in from {
                *to.entry(key).or_default() += count;
            }
        }
        for (kind, [allowed, denied]) in other.verdicts {
            let verdicts = self.verdicts.entry(kind).or_default();
            *verdicts = [verdicts[0] + allowed, verdicts[1] + denied];
        }
        for (why, (count, sql)) in other.denied {
            self.was_denied(why, count, &sql);
        }
    }

    pub(crate) fn text(&self, seed: u64) -> String {
        let mut text = format!(
            "SQLsmith, seed {seed}: {} statements ({} of its runs died), {} allowed in one of their forms, {} of them \
             with rows to compare, {} differences\n",
            self.made,
            self.crashes,
            self.ran,
            self.telling,
            self.differences.len()
        );
        for (kind, [allowed, denied]) in &self.verdicts {
            text.push_str(&format!("    {kind}: {allowed} allowed, {denied} denied\n"));
        }
        text.push_str(&format!("    not ended in time somewhere: {}\n", self.unfinished));
        text.push_str(&format!("    with other notices, which the proxy drops: {}\n", self.noticed));
        for (head, counts) in [
            ("errors that differ", &self.errors),
            ("the same error in all worlds", &self.failed),
            ("allowed and refused by PostgreSQL", &self.invalid),
        ] {
            text.push_str(&format!("\n{head}\n"));
            counts.iter().for_each(|(code, count)| text.push_str(&format!("{count:>9} {code}\n")));
        }
        text.push_str("\nrestricted throughout and denied, with the shortest statement\n");
        let mut denied: Vec<_> = self.denied.iter().collect();
        denied.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for ((code, message), (count, sql)) in denied {
            let words: Vec<&str> = sql.split_whitespace().collect();
            let shortest: String = words.join(" ").chars().take(SHOWN_CHARACTERS).collect();
            text.push_str(&format!("{count:>9} {code}: {message}\n            {shortest}\n"));
        }
        text
    }
}

/// A message without the names and numbers in it.
fn general(message: &str) -> String {
    let mut inside = false;
    let part = |piece: &str| {
        inside = !inside;
        if inside { piece.to_owned() } else { "\"…\"".to_owned() }
    };
    let named: String = message.split('"').map(part).collect();
    let words: Vec<&str> =
        named.split(' ').map(|word| if word.parse::<u64>().is_ok() { "n" } else { word }).collect();
    words.join(" ")
}

const SHOWN_CHARACTERS: usize = 240;
