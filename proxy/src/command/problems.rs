//! Problems of files, for people, on standard error.

use std::io::{self, Write};

use pgmoat_policy::policy::{Problem, Severity};

use super::palette::Palette;

/// Writes each, and how many there are.
pub(super) fn tell(problems: &[Problem]) {
    let stderr = io::stderr();
    let palette = Palette::of(&stderr);
    // There is nowhere to say that standard error is gone.
    let _ = write(&mut stderr.lock(), palette, problems);
}

fn write(out: &mut impl Write, palette: Palette, problems: &[Problem]) -> io::Result<()> {
    for problem in problems {
        let text = problem.to_string();
        let place = problem.place.to_string();
        let rest = text.strip_prefix(&place).unwrap_or_default();
        let style = match problem.severity {
            Severity::Error => palette.error,
            Severity::Warning => palette.warning,
        };
        writeln!(out, "{style}{place}{style:#}{rest}")?;
    }
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    match (errors, problems.len() - errors) {
        (0, 0) => Ok(()),
        (errors, 0) => writeln!(out, "{}", count(errors, "error")),
        (0, warnings) => writeln!(out, "{}", count(warnings, "warning")),
        (errors, warnings) => {
            writeln!(out, "{}, {}", count(errors, "error"), count(warnings, "warning"))
        }
    }
}

/// `1 error`, `2 errors`.
pub(super) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
