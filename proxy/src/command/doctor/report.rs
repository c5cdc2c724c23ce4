//! What was found, for people and for programs.

use std::fmt::Write as _;
use std::io;

use pgmoat_policy::policy::{Problem, Severity};
use serde_json::json;

use crate::command::palette::Palette;
use crate::command::problems::count;
use crate::command::verify::visible;

/// Findings in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct Report(Vec<Finding>);

#[derive(Debug)]
struct Finding {
    grade: Grade,
    about: String,
    text: String,
    help: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grade {
    Good,
    Warning,
    Error,
}

impl Report {
    pub(super) fn good(&mut self, about: &str, text: impl Into<String>) {
        self.add(Grade::Good, about, text.into(), None);
    }

    pub(super) fn warning(&mut self, about: &str, text: impl Into<String>) {
        self.add(Grade::Warning, about, text.into(), None);
    }

    /// A warning with what to do.
    pub(super) fn advice(&mut self, about: &str, text: impl Into<String>, help: impl Into<String>) {
        self.add(Grade::Warning, about, text.into(), Some(help.into()));
    }

    pub(super) fn error(&mut self, about: &str, text: impl Into<String>) {
        self.add(Grade::Error, about, text.into(), None);
    }

    /// Problems of files, with their places.
    pub(super) fn problems(&mut self, about: &str, problems: Vec<Problem>) {
        for Problem { severity, place, message, help } in problems {
            let grade = match severity {
                Severity::Error => Grade::Error,
                Severity::Warning => Grade::Warning,
            };
            let path = if place.path.is_empty() { String::new() } else { format!("{}: ", place.path) };
            self.add(grade, about, format!("{place}: {path}{message}"), help);
        }
    }

    /// How many warnings there are so far.
    pub(super) fn warnings(&self) -> usize {
        self.0.iter().filter(|finding| finding.grade == Grade::Warning).count()
    }

    pub(super) fn has_errors(&self) -> bool {
        self.0.iter().any(|finding| finding.grade == Grade::Error)
    }

    fn add(&mut self, grade: Grade, about: &str, text: String, help: Option<String>) {
        self.0.push(Finding { grade, about: about.to_owned(), text, help });
    }

    /// A line a finding, help below it, and how many there are.
    pub(super) fn drawn(&self) -> String {
        let Palette { error, warning, good, strong, .. } = Palette::of(&io::stdout());
        let mut out = String::new();
        // Writing to a String does not fail, here and below.
        for Finding { grade, about, text, help } in &self.0 {
            let style = match grade {
                Grade::Good => good,
                Grade::Warning => warning,
                Grade::Error => error,
            };
            let _ = writeln!(
                out,
                "{style}{:<7}{style:#}  {strong}{}{strong:#}: {}",
                grade.word(),
                visible(about),
                visible(text)
            );
            for line in help.iter().flat_map(|help| help.lines()) {
                let _ = writeln!(out, "           {}", visible(line));
            }
        }
        let of = |grade| self.0.iter().filter(|finding| finding.grade == grade).count();
        let (errors, warnings) = (of(Grade::Error), of(Grade::Warning));
        let _ = writeln!(out, "{}, {}", count(errors, "error"), count(warnings, "warning"));
        out
    }

    pub(super) fn json_lines(&self) -> String {
        let mut out = String::new();
        for Finding { grade, about, text, help } in &self.0 {
            let line = json!({ "grade": grade.word(), "about": about, "message": text, "help": help });
            let _ = writeln!(out, "{line}");
        }
        out
    }
}

impl Grade {
    fn word(self) -> &'static str {
        match self {
            Grade::Good => "good",
            Grade::Warning => "warning",
            Grade::Error => "error",
        }
    }
}
