//! What a verdict rests on, for people: each relation, and which condition restricts it or what is missing.

use std::fmt::{self, Write as _};

use pgmoat_policy::{Reached, Standing};

use super::draw::{Excerpt, visible};
use crate::command::palette::Palette;

/// Draws the relations, each with the condition that restricts it, in the text called `name`.
pub(super) fn draw(
    out: &mut String,
    name: &str,
    text: &str,
    reached: &[Vec<Reached>],
    palette: Palette,
) -> fmt::Result {
    reached.iter().flatten().try_for_each(|reached| relation(out, name, text, reached, palette))
}

fn relation(out: &mut String, name: &str, text: &str, reached: &Reached, palette: Palette) -> fmt::Result {
    let Palette { error, good, frame, strong, .. } = palette;
    let own = &*reached.relation.name;
    let called = reached.called.as_deref().filter(|called| *called != own);
    let called = called.map(|called| format!(" as {called}")).unwrap_or_default();
    let place =
        excerpt(text, reached.at).map(|excerpt| format!(" at {}", excerpt.place())).unwrap_or_default();
    let view = if reached.in_view { ", inside a view" } else { "" };
    let title = visible(&format!("{}{called}{place}{view}", reached.relation));
    let style = match reached.standing {
        Standing::Unrestricted { .. } | Standing::NoValue | Standing::NoRule | Standing::NotJudged => error,
        Standing::Restricted { .. } | Standing::Written | Standing::Unused => good,
        Standing::Shared | Standing::View | Standing::System | Standing::Exempt => strong,
    };
    write!(out, "{strong}{title}{strong:#}: {style}{}{style:#}", said(&reached.standing))?;
    match &reached.standing {
        Standing::Restricted { condition, params } => {
            if !params.is_empty() {
                let params: Vec<String> = params.iter().map(|number| format!("${number}")).collect();
                write!(out, ", {} checked at Bind", params.join(", "))?;
            }
            match excerpt(text, *condition) {
                Some(excerpt) => {
                    writeln!(out, ", by")?;
                    excerpt.draw(out, name, palette)
                }
                None => writeln!(out),
            }
        }
        Standing::Unrestricted { missing: Some(missing) } => {
            writeln!(out, "\n  {frame}={frame:#} {strong}missing{strong:#}: {}", visible(missing))
        }
        Standing::Unrestricted { missing: None }
        | Standing::Written
        | Standing::NoValue
        | Standing::Unused
        | Standing::NotJudged
        | Standing::Shared
        | Standing::View
        | Standing::System
        | Standing::NoRule
        | Standing::Exempt => writeln!(out),
    }
}

fn excerpt(text: &str, at: Option<u32>) -> Option<Excerpt<'_>> {
    Excerpt::of(text, usize::try_from(at?).ok()?)
}

fn said(standing: &Standing) -> &'static str {
    match standing {
        Standing::Restricted { .. } => "restricted",
        Standing::Written => "the rows that are written are the tenant's",
        Standing::Unrestricted { .. } => "not restricted",
        Standing::NoValue => "the tenant has no rows there",
        Standing::Unused => "no row of it is used",
        Standing::NotJudged => "not judged, the statement is refused for another reason",
        Standing::Shared => "shared by all tenants",
        Standing::View => "a view, what it reaches counts",
        Standing::System => "of the system catalogs",
        Standing::NoRule => "no line of tenancy.tables is about it",
        Standing::Exempt => "the role is exempt from tenancy",
    }
}
