//! A file's reference page in Markdown: every key, type, unit and default.

use std::fmt::Write as _;

use super::shape::{Built, Key, Presence, Section, Shape, Word};

/// The page: a table for each section, outermost first.
pub fn reference(title: &str, introduction: &str, section: &'static Section) -> String {
    let mut page = format!("# {title}\n\n{introduction}\n");
    let mut pages = Pages { done: Vec::new(), waiting: vec![(String::new(), section)] };
    while !pages.waiting.is_empty() {
        let (path, section) = pages.waiting.remove(0);
        pages.write(&mut page, &path, section);
    }
    page
}

struct Pages {
    done: Vec<(&'static Section, String)>,
    waiting: Vec<(String, &'static Section)>,
}

impl Pages {
    // Writing to a String does not fail.
    fn write(&mut self, page: &mut String, path: &str, section: &'static Section) {
        let heading = if path.is_empty() { "Top".to_owned() } else { format!("`{path}`") };
        let _ = writeln!(page, "\n## {heading}\n");
        if let Some((_, first)) = self.done.iter().find(|(done, _)| std::ptr::eq(*done, section)) {
            let _ = writeln!(page, "The keys of `{first}`.");
            return;
        }
        self.done.push((section, path.to_owned()));
        page.push_str("| key | type | unit | default | meaning |\n|---|---|---|---|---|\n");
        for key in section.keys {
            let _ = writeln!(
                page,
                "| `{}` | {} | {} | {} | {} |",
                key.name,
                form(&key.shape),
                unit(&key.shape),
                default(key),
                meaning(key),
            );
            let inner = if path.is_empty() { key.name.into() } else { format!("{path}.{}", key.name) };
            self.visit(&key.shape, inner);
        }
    }

    fn visit(&mut self, shape: &'static Shape, path: String) {
        match shape {
            Shape::Section(section) => self.waiting.push((path, section)),
            Shape::Map { key, value } => self.visit(value, format!("{path}.{key}")),
            Shape::List(item) => self.visit(item, format!("{path}[]")),
            Shape::Either(shapes) => shapes.iter().for_each(|shape| self.visit(shape, path.clone())),
            Shape::Text | Shape::Integer { .. } | Shape::Boolean | Shape::Null | Shape::Word(_) => {}
        }
    }
}

fn form(shape: &Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Integer { min: i64::MIN, max: i64::MAX, .. } => "integer".to_owned(),
        Shape::Integer { min, max: i64::MAX, .. } => format!("integer from {min}"),
        Shape::Integer { min, max, .. } => format!("integer, {min} to {max}"),
        Shape::Boolean => "`true` or `false`".to_owned(),
        Shape::Null => "`null`".to_owned(),
        Shape::Word(words) => words.iter().map(word).collect::<Vec<_>>().join(", "),
        Shape::List(item) => format!("list of: {}", form(item)),
        Shape::Section(_) => "section".to_owned(),
        Shape::Map { key, value } => format!("mapping of {key} to: {}", form(value)),
        Shape::Either(shapes) => shapes.iter().map(form).collect::<Vec<_>>().join("; or "),
    }
}

fn word(word: &Word) -> String {
    match word.built {
        Built::Yes => format!("`{}`", word.name),
        Built::RefusedUntilThen(_) | Built::NotYet => format!("`{}` (not yet)", word.name),
    }
}

fn unit(shape: &Shape) -> String {
    match shape {
        Shape::Integer { unit, .. } => (*unit).to_owned(),
        Shape::Either(shapes) => shapes.iter().map(unit).find(|unit| !unit.is_empty()).unwrap_or_default(),
        Shape::Text
        | Shape::Boolean
        | Shape::Null
        | Shape::Word(_)
        | Shape::List(_)
        | Shape::Section(_)
        | Shape::Map { .. } => String::new(),
    }
}

fn default(key: &Key) -> String {
    match key.presence {
        Presence::Required => "required".to_owned(),
        Presence::Default(default) => format!("`{default}`"),
        Presence::Optional => String::new(),
    }
}

fn meaning(key: &Key) -> String {
    match key.built {
        Built::Yes => key.about.to_owned(),
        Built::RefusedUntilThen(what) => {
            format!("{} *Not supported yet, a warning: {what}.*", key.about)
        }
        Built::NotYet => format!("{} *Not supported yet, an error.*", key.about),
    }
}
