//! DateStyle, the one setting whose value depends on what it was before: PostgreSQL keeps the half that a new value does
//! not name (`SET DateStyle = ISO` keeps the order of fields). Whoever gives the client's words to another connection
//! would keep that one's half.
//!
//! So what is kept is what the words have come to. A half that was never named stays unnamed: it is the service's
//! own, which a connection has once the setting was given its default.

/// The folded name.
pub(super) const NAME: &str = "datestyle";

/// The halves of a value; none: not named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct DateStyle {
    style: Option<&'static str>,
    order: Option<&'static str>,
}

/// What the words come to where the setting was this; none where that cannot be told (`DEFAULT`, and what PostgreSQL
/// refuses).
pub(super) fn composed(before: Option<&str>, words: &str) -> Option<Box<str>> {
    let before = before.and_then(DateStyle::read).unwrap_or_default();
    let DateStyle { style, order } = DateStyle::read(words)?;
    let halves = [style.or(before.style), order.or(before.order)];
    Some(halves.into_iter().flatten().collect::<Vec<_>>().join(", ").into())
}

impl DateStyle {
    fn read(words: &str) -> Option<DateStyle> {
        let mut read = DateStyle::default();
        for word in words.split(',') {
            match half(word.trim())? {
                Half::Style(style) if read.style.is_some_and(|other| other != style) => return None,
                Half::Order(order) if read.order.is_some_and(|other| other != order) => return None,
                Half::Style(style) => read.style = Some(style),
                Half::Order(order) => read.order = Some(order),
            }
        }
        // German names its order, too, unless another stands beside it.
        if read.style == Some(GERMAN) {
            read.order = read.order.or(Some(DMY));
        }
        Some(read)
    }
}

enum Half {
    Style(&'static str),
    Order(&'static str),
}

/// As `check_datestyle` reads a word.
fn half(word: &str) -> Option<Half> {
    let word = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word);
    let word = word.to_ascii_lowercase();
    Some(match &*word {
        "iso" => Half::Style("ISO"),
        "sql" => Half::Style("SQL"),
        "german" => Half::Style(GERMAN),
        "ymd" => Half::Order("YMD"),
        "dmy" => Half::Order(DMY),
        "mdy" | "us" => Half::Order("MDY"),
        word if word.starts_with("postgres") => Half::Style("Postgres"),
        word if word.starts_with("euro") => Half::Order(DMY),
        word if word.starts_with("noneuro") => Half::Order("MDY"),
        _ => return None,
    })
}

const GERMAN: &str = "German";
const DMY: &str = "DMY";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_that_is_not_named_stays() {
        for (before, words, after) in [
            (None, "iso", Some("ISO")),
            (None, "us", Some("MDY")),
            (None, "German", Some("German, DMY")),
            (None, "german, ymd", Some("German, YMD")),
            (Some("SQL, DMY"), "ISO", Some("ISO, DMY")),
            (Some("SQL, DMY"), "\"ISO\" , NonEuropean", Some("ISO, MDY")),
            (Some("SQL"), "European", Some("SQL, DMY")),
            (Some("German"), "PostgreSQL", Some("Postgres, DMY")),
            (Some("no value"), "YMD", Some("YMD")),
            (Some("SQL, DMY"), "default", None),
            (Some("SQL, DMY"), "ISO, SQL", None),
            (Some("SQL, DMY"), "", None),
        ] {
            assert_eq!(composed(before, words).as_deref(), after, "{before:?}, {words}");
        }
    }
}
