//! Whether a file has its shape: every deviation, each with its place.

use super::shape::{Built, Key, Presence, Section, Shape, Word};
use super::{Content, Entry, Node, Problem};

/// Collects every deviation of a value from a section's shape. What conforms can be read with
/// [`Node`]'s accessors without a second thought about types.
pub fn conform(node: &Node, section: &Section, problems: &mut Vec<Problem>) {
    if let Content::Map(entries) = &node.content {
        entries_conform(node, entries, section, problems);
    } else {
        let message = format!("expected a mapping, found {}", named(&node.content));
        problems.push(Problem::error(node.place.clone(), message));
    }
}

fn entries_conform(node: &Node, entries: &[Entry], section: &Section, problems: &mut Vec<Problem>) {
    for Entry { key, place, value } in entries {
        match section.keys.iter().find(|known| *known.name == **key) {
            None => {
                let names = section.keys.iter().map(|key| key.name);
                let problem = Problem::error(place.clone(), "unknown key");
                problems.push(meant(problem, key, names));
            }
            Some(known) => key_conforms(known, place, value, problems),
        }
    }
    for key in section.keys {
        if key.presence == Presence::Required && node.get(key.name).is_none() {
            let message = format!("the key \"{}\" is missing", key.name);
            problems.push(Problem::error(node.place.clone(), message));
        }
    }
}

fn key_conforms(key: &Key, place: &super::Place, value: &Node, problems: &mut Vec<Problem>) {
    match key.built {
        Built::Yes => {}
        Built::RefusedUntilThen(what) if !value.items().is_empty() => {
            problems.push(Problem::warning(place.clone(), format!("not supported yet: {what}")));
        }
        // An empty list asks for nothing.
        Built::RefusedUntilThen(_) => {}
        Built::NotYet => {
            problems.push(Problem::error(place.clone(), "not supported yet"));
            return;
        }
    }
    value_conforms(value, &key.shape, problems);
}

fn value_conforms(node: &Node, shape: &Shape, problems: &mut Vec<Problem>) {
    match (shape, &node.content) {
        (Shape::Section(section), Content::Map(entries)) => {
            entries_conform(node, entries, section, problems);
        }
        (Shape::Map { value, .. }, Content::Map(entries)) => {
            for entry in entries {
                value_conforms(&entry.value, value, problems);
            }
        }
        (Shape::List(shape), Content::List(items)) => {
            for item in items {
                value_conforms(item, shape, problems);
            }
        }
        (Shape::Word(words), Content::Text(text)) => word_conforms(node, text, words, problems),
        (Shape::Integer { min, max, unit }, Content::Integer(value)) => {
            if value < min || value > max {
                let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
                let message = if *max == i64::MAX {
                    format!("{value} is too small, at least {min}{unit}")
                } else {
                    format!("{value} is out of range, from {min} to {max}{unit}")
                };
                problems.push(Problem::error(node.place.clone(), message));
            }
        }
        (Shape::Text, Content::Text(_))
        | (Shape::Boolean, Content::Boolean(_))
        | (Shape::Null, Content::Null) => {}
        (Shape::Either(shapes), content) => match shapes.iter().find(|shape| fits(shape, content)) {
            Some(shape) => value_conforms(node, shape, problems),
            None => problems.push(unexpected(node, shape)),
        },
        (
            Shape::Section(_)
            | Shape::Map { .. }
            | Shape::List(_)
            | Shape::Word(_)
            | Shape::Integer { .. }
            | Shape::Text
            | Shape::Boolean
            | Shape::Null,
            _,
        ) => problems.push(unexpected(node, shape)),
    }
}

fn word_conforms(node: &Node, text: &str, words: &[Word], problems: &mut Vec<Problem>) {
    let Some(word) = words.iter().find(|word| word.name == text) else {
        let message = format!("unknown word \"{text}\", expected {}", one_of(words));
        let problem = Problem::error(node.place.clone(), message);
        problems.push(meant(problem, text, words.iter().map(|word| word.name)));
        return;
    };
    match word.built {
        Built::Yes => {}
        Built::RefusedUntilThen(what) => {
            let message = format!("\"{text}\" is not supported yet: {what}");
            problems.push(Problem::warning(node.place.clone(), message));
        }
        Built::NotYet => {
            let message = format!("\"{text}\" is not supported yet");
            problems.push(Problem::error(node.place.clone(), message));
        }
    }
}

/// The value is of the YAML type that a shape begins with.
fn fits(shape: &Shape, content: &Content) -> bool {
    match shape {
        Shape::Text | Shape::Word(_) => matches!(content, Content::Text(_)),
        Shape::Integer { .. } => matches!(content, Content::Integer(_)),
        Shape::Boolean => matches!(content, Content::Boolean(_)),
        Shape::Null => matches!(content, Content::Null),
        Shape::List(_) => matches!(content, Content::List(_)),
        Shape::Section(_) | Shape::Map { .. } => matches!(content, Content::Map(_)),
        Shape::Either(shapes) => shapes.iter().any(|shape| fits(shape, content)),
    }
}

/// A value of another type than the key's. The value itself is not shown: it may be a secret.
fn unexpected(node: &Node, shape: &Shape) -> Problem {
    let message = format!("expected {}, found {}", expected(shape), named(&node.content));
    let problem = Problem::error(node.place.clone(), message);
    match (shape, &node.content) {
        (
            Shape::Text | Shape::Word(_),
            Content::Null | Content::Boolean(_) | Content::Integer(_) | Content::Number,
        ) => problem.help("write it in double quotes"),
        (Shape::List(_), Content::Text(_)) => problem.help("write it in [brackets]"),
        _ => problem,
    }
}

fn expected(shape: &Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Integer { .. } => "an integer".to_owned(),
        Shape::Boolean => "true or false".to_owned(),
        Shape::Null => "null".to_owned(),
        Shape::Word(words) => one_of(words),
        Shape::List(_) => "a list".to_owned(),
        Shape::Section(_) | Shape::Map { .. } => "a mapping".to_owned(),
        Shape::Either(shapes) => shapes.iter().map(expected).collect::<Vec<_>>().join(" or "),
    }
}

fn one_of(words: &[Word]) -> String {
    let names: Vec<&str> = words.iter().map(|word| word.name).collect();
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        Some(_) | None => names.join(""),
    }
}

fn named(content: &Content) -> &'static str {
    match content {
        Content::Null => "null",
        Content::Boolean(_) => "true or false",
        Content::Integer(_) => "an integer",
        Content::Number => "a number that is no 64-bit integer",
        Content::Text(_) => "text",
        Content::List(_) => "a list",
        Content::Map(_) => "a mapping",
    }
}

/// The problem with the known name that was probably meant.
fn meant<'a>(mut problem: Problem, given: &str, known: impl Iterator<Item = &'a str>) -> Problem {
    let near = known
        .map(|name| (strsim::damerau_levenshtein(name, given), name))
        .min()
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4);
    if let Some((_, name)) = near {
        problem.message.push_str(&format!(", did you mean \"{name}\"?"));
    }
    problem
}
