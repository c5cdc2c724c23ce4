//! The answer for people: source line, caret, code, help.

use std::fmt::{self, Write as _};

use pgmoat_policy::{Must, Obligations, Over, TextArgument};

use super::explanation;
use crate::command::palette::Palette;
use crate::command::problems::count;
use crate::verify::{Answer, Outcome, Refusal, Request};

/// Draws an answer; where it was explained, every reason to refuse and what it rests on. `name` is
/// the text's.
pub(in crate::command) fn draw(
    name: &str,
    request: &Request<'_>,
    answer: &Answer<'_>,
    palette: Palette,
) -> String {
    let mut out = String::new();
    // Writing to a String does not fail.
    let _ = match &answer.outcome {
        Outcome::Allowed { obligations, .. } => allowed(&mut out, obligations, palette),
        Outcome::Denied(refusals) => {
            let shown = if answer.reached.is_some() { refusals.len() } else { 1 };
            refusals
                .iter()
                .take(shown)
                .try_for_each(|refusal| denied(&mut out, name, &request.sql, refusal, palette))
        }
    };
    if let Some(reached) = &answer.reached {
        let _ = explanation::draw(&mut out, name, &request.sql, reached, palette);
    }
    let principal = match &request.principal.tenant {
        Some(tenant) => format!("{}:{tenant}", request.principal.role),
        None => request.principal.role.to_string(),
    };
    let frame = palette.frame;
    let _ = writeln!(
        out,
        "{frame}(as {}, policy version {}){frame:#}",
        visible(&principal),
        answer.policy_version
    );
    out
}

fn allowed(out: &mut String, obligations: &[Obligations], palette: Palette) -> fmt::Result {
    let good = palette.good;
    writeln!(out, "{good}allowed{good:#}: {}", count(obligations.len(), "statement"))?;
    for obligations in obligations {
        for check in &obligations.binds {
            let param = check.param;
            match &check.must {
                Must::Own { class, many, .. } => {
                    let each = if *many { "every element of " } else { "" };
                    let column = &class.column;
                    writeln!(out, "  = checked at Bind: {each}${param} is the tenant's own {column}")?;
                }
                Must::Setting { name: TextArgument::Constant(name), .. } => {
                    writeln!(out, "  = checked at Bind: ${param} is a value that {name} may be set to")?;
                }
                Must::Setting { name: TextArgument::Bound(name), .. } => {
                    writeln!(out, "  = checked at Bind: ${name} is a setting that may be set to its value")?;
                }
            }
        }
        for mask in &obligations.masks {
            writeln!(out, "  = masked: output column {}", mask.output.saturating_add(1))?;
        }
        if let Some(cap) = obligations.rows {
            let over = match cap.over {
                Over::Cut => "the rest is cut",
                Over::Error => "more is an error",
            };
            writeln!(out, "  = at most {} rows: {over}", cap.max)?;
        }
    }
    Ok(())
}

fn denied(out: &mut String, name: &str, text: &str, refusal: &Refusal, palette: Palette) -> fmt::Result {
    let Palette { error, strong, frame, .. } = palette;
    let denial = &refusal.denial;
    writeln!(out, "{error}denied[{}]{error:#}{strong}: {}{strong:#}", denial.code, visible(&denial.message))?;
    let at = denial.at.and_then(|at| usize::try_from(at).ok());
    match at.and_then(|at| Excerpt::of(text, at)) {
        Some(excerpt) => excerpt.draw(out, name, palette)?,
        None => writeln!(out, " {frame}-->{frame:#} {}, statement {}", visible(name), refusal.statement)?,
    }
    if let Some(hint) = &denial.hint {
        writeln!(out, "  {frame}={frame:#} {strong}help{strong:#}: {}", visible(hint))?;
    }
    Ok(())
}

/// The part of a source line around a place.
pub(super) struct Excerpt<'a> {
    line: usize,
    column: usize,
    before: &'a str,
    word: &'a str,
    after: &'a str,
}

impl<'a> Excerpt<'a> {
    pub(super) fn of(text: &'a str, at: usize) -> Option<Excerpt<'a>> {
        let (head, tail) = text.split_at_checked(at)?;
        let line_start = head.rfind('\n').map_or(0, |newline| newline + 1);
        let before = head.get(line_start..)?;
        let rest = tail.split('\n').next().unwrap_or_default();
        let (word, after) = rest.split_at_checked(word_length(rest))?;
        Some(Excerpt {
            line: head.matches('\n').count() + 1,
            column: before.chars().count() + 1,
            before: last_characters(before, AROUND_CHARACTERS),
            word: first_characters(word, AROUND_CHARACTERS),
            after: first_characters(after, AROUND_CHARACTERS),
        })
    }

    /// `2:14`.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.line, self.column)
    }

    pub(super) fn draw(&self, out: &mut String, name: &str, palette: Palette) -> fmt::Result {
        let Palette { frame, error, .. } = palette;
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let before = visible(self.before);
        writeln!(out, "{margin}{frame}-->{frame:#} {}:{}:{}", visible(name), self.line, self.column)?;
        writeln!(out, "{margin} {frame}|{frame:#}")?;
        writeln!(out, "{frame}{number} |{frame:#} {before}{}{}", visible(self.word), visible(self.after))?;
        let indent = " ".repeat(before.chars().count());
        let carets = "^".repeat(self.word.chars().count().max(1));
        writeln!(out, "{margin} {frame}|{frame:#} {indent}{error}{carets}{error:#}")?;
        writeln!(out, "{margin} {frame}|{frame:#}")
    }
}

/// The length in bytes of the name or number that stands first.
fn word_length(text: &str) -> usize {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    text.find(|c| !part(c)).unwrap_or(text.len())
}

fn first_characters(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

fn last_characters(text: &str, most: usize) -> &str {
    let start = text.char_indices().rev().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
    text.get(start..).unwrap_or_default()
}

/// Text that cannot steer a terminal: a character for a character.
pub(in crate::command) fn visible(text: &str) -> String {
    let one = |c: char| match c {
        '\t' => ' ',
        c if c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
        {
            '\u{fffd}'
        }
        c => c,
    };
    text.chars().map(one).collect()
}

/// Characters of a line that are shown on each side of the place.
const AROUND_CHARACTERS: usize = 100;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn drawn(text: &str, at: usize) -> String {
        let mut out = String::new();
        Excerpt::of(text, at).unwrap().draw(&mut out, "q.sql", Palette::plain()).unwrap();
        out
    }

    #[test]
    fn the_caret_stands_under_the_word() {
        assert_eq!(
            drawn("SELECT *\n\tFROM größe, app.orders o\nWHERE 1", "SELECT *\n\tFROM größe, ".len()),
            " --> q.sql:2:14\n  |\n2 |  FROM größe, app.orders o\n  |              ^^^^^^^^^^\n  |\n"
        );
        assert_eq!(drawn("", 0), " --> q.sql:1:1\n  |\n1 | \n  | ^\n  |\n");
        assert_eq!(drawn("a = b", 2), " --> q.sql:1:3\n  |\n1 | a = b\n  |   ^\n  |\n");
    }

    #[test]
    fn a_long_line_is_cut_and_a_terminal_is_not_steered() {
        let text = format!("{}\u{1b}[2Jx{}", "é".repeat(500), "z".repeat(500));
        let out = drawn(&text, "é".len() * 500 + 4);
        assert!(!out.contains('\u{1b}') && out.contains("\u{fffd}[2Jx"));
        assert!(out.lines().all(|line| line.chars().count() < 320), "{out}");
        assert!(Excerpt::of("é", 1).is_none());
    }
}
