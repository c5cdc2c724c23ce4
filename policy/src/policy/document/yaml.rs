//! The one file that knows YAML libraries.
//!
//! serde_yaml says what a scalar is; it keeps no places, and its maps let the last of two equal
//! keys win. saphyr-parser's events have places. The text is read by both, and where the two
//! disagree it is refused: a file that two readers take differently is a file that people do, too.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Content, Entry, Node, Place, Problem};

/// Bytes of a file.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Values of a file, aliases expanded.
const MAX_NODES: usize = 400_000;
/// Mappings and sequences inside each other; these files need eight.
const MAX_DEPTH: usize = 32;

pub(super) fn read(text: &str, file: &Arc<str>) -> (Option<Node>, Vec<Problem>) {
    let whole = Place { file: Arc::clone(file), line: 0, column: 0, path: String::new() };
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, at most {MAX_BYTES} are read", text.len());
        return (None, vec![Problem::error(whole, message)]);
    }
    let marked = match Marking::document(text) {
        Ok(marked) => marked,
        Err(Refused { line, column, message }) => {
            return (None, vec![Problem::error(Place { line, column, ..whole }, message)]);
        }
    };
    let value = match serde_yaml::from_str::<Value>(text) {
        Ok(value) => value,
        Err(error) => {
            let (line, column) = error.location().map_or((0, 0), |at| (at.line(), at.column()));
            return (None, vec![Problem::error(Place { line, column, ..whole }, error.to_string())]);
        }
    };
    let mut join = Join { file, problems: Vec::new() };
    let node = join.node(marked, value, String::new());
    (Some(node), join.problems)
}

/// A value with places, whose scalars are not resolved.
#[derive(Clone)]
struct Marked {
    line: usize,
    column: usize,
    shape: Form,
}

#[derive(Clone)]
enum Form {
    Scalar { text: Arc<str>, plain: bool },
    List(Vec<Marked>),
    Map(Vec<(Marked, Marked)>),
}

struct Refused {
    line: usize,
    column: usize,
    message: String,
}

impl Refused {
    fn at(mark: Marker, message: impl Into<String>) -> Refused {
        Refused { line: mark.line(), column: mark.col() + 1, message: message.into() }
    }
}

/// Makes the marked tree of a text.
struct Marking<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, (Marked, usize)>,
    nodes: usize,
}

impl<'a> Marking<'a> {
    fn document(text: &'a str) -> Result<Marked, Refused> {
        let parser = Parser::new_from_str(text);
        let mut marking = Marking { parser, anchors: HashMap::new(), nodes: 0 };
        let (mut event, mut mark) = marking.next()?;
        while matches!(event, Event::StreamStart | Event::DocumentStart(_)) {
            (event, mark) = marking.next()?;
        }
        if event == Event::StreamEnd {
            return Err(Refused::at(mark, "the file is empty"));
        }
        let root = marking.node(event, mark, 0)?;
        marking.end()?;
        Ok(root)
    }

    /// Nothing but one document.
    fn end(&mut self) -> Result<(), Refused> {
        let (mut event, mut mark) = self.next()?;
        while matches!(event, Event::DocumentEnd | Event::Nothing) {
            (event, mark) = self.next()?;
        }
        if event == Event::StreamEnd {
            return Ok(());
        }
        Err(Refused::at(mark, "the file holds a second document"))
    }

    fn next(&mut self) -> Result<(Event<'a>, Marker), Refused> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, span.start)),
            Some(Err(error)) => Err(Refused::at(*error.marker(), error.info())),
            None => Ok((Event::StreamEnd, Marker::new(0, 0, 0))),
        }
    }

    fn node(&mut self, event: Event<'a>, mark: Marker, depth: usize) -> Result<Marked, Refused> {
        self.count(1, mark)?;
        let before = self.nodes;
        let (shape, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                untagged(tag, mark)?;
                let plain = style == ScalarStyle::Plain;
                (Form::Scalar { text: text.as_ref().into(), plain }, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                untagged(tag, mark)?;
                (Form::List(self.list(mark, depth)?), anchor)
            }
            Event::MappingStart(anchor, tag) => {
                untagged(tag, mark)?;
                (Form::Map(self.map(mark, depth)?), anchor)
            }
            Event::Alias(anchor) => {
                let (marked, size) = self
                    .anchors
                    .get(&anchor)
                    .ok_or_else(|| Refused::at(mark, "an alias inside its own anchor"))?
                    .clone();
                self.count(size, mark)?;
                return Ok(marked);
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(Refused::at(mark, "a value is missing")),
        };
        let marked = Marked { line: mark.line(), column: mark.col() + 1, shape };
        if anchor > 0 {
            self.anchors.insert(anchor, (marked.clone(), self.nodes - before));
        }
        Ok(marked)
    }

    fn list(&mut self, mark: Marker, depth: usize) -> Result<Vec<Marked>, Refused> {
        let depth = deeper(depth, mark)?;
        let mut items = Vec::new();
        loop {
            let (event, mark) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(items);
            }
            items.push(self.node(event, mark, depth)?);
        }
    }

    fn map(&mut self, mark: Marker, depth: usize) -> Result<Vec<(Marked, Marked)>, Refused> {
        let depth = deeper(depth, mark)?;
        let mut entries = Vec::new();
        loop {
            let (event, mark) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(entries);
            }
            let key = self.node(event, mark, depth)?;
            let (event, mark) = self.next()?;
            entries.push((key, self.node(event, mark, depth)?));
        }
    }

    /// Aliases of aliases grow exponentially: what they stand for is counted before it is copied.
    fn count(&mut self, nodes: usize, mark: Marker) -> Result<(), Refused> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES {
            return Err(Refused::at(mark, format!("more than {MAX_NODES} values, aliases expanded")));
        }
        Ok(())
    }
}

fn deeper(depth: usize, mark: Marker) -> Result<usize, Refused> {
    if depth == MAX_DEPTH {
        return Err(Refused::at(mark, format!("nested deeper than {MAX_DEPTH}")));
    }
    Ok(depth + 1)
}

fn untagged(tag: Option<Cow<'_, saphyr_parser::Tag>>, mark: Marker) -> Result<(), Refused> {
    match tag {
        Some(_) => Err(Refused::at(mark, "tags are not supported")),
        None => Ok(()),
    }
}

/// Puts the two readings together.
struct Join<'a> {
    file: &'a Arc<str>,
    problems: Vec<Problem>,
}

impl Join<'_> {
    fn node(&mut self, marked: Marked, value: Value, path: String) -> Node {
        let Marked { line, column, shape } = marked;
        let place = Place { file: Arc::clone(self.file), line, column, path };
        let content = match (shape, value) {
            (Form::Scalar { plain: true, .. }, Value::Null) => Content::Null,
            (Form::Scalar { plain: true, .. }, Value::Boolean(value)) => Content::Boolean(value),
            (Form::Scalar { plain: true, .. }, Value::Integer(value)) => Content::Integer(value),
            (Form::Scalar { plain: true, .. }, Value::Number) => Content::Number,
            (Form::Scalar { text, .. }, Value::Text(value)) if *text == *value => Content::Text(value),
            (Form::List(marked), Value::List(values)) if marked.len() == values.len() => {
                Content::List(self.list(marked, values, &place.path))
            }
            (Form::Map(marked), Value::Map(values)) if marked.len() == values.len() => {
                Content::Map(self.map(marked, values, &place.path))
            }
            _ => {
                let message = "YAML readers disagree about this value";
                self.problems.push(Problem::error(place.clone(), message).help("write it in double quotes"));
                Content::Null
            }
        };
        Node { place, content }
    }

    fn list(&mut self, marked: Vec<Marked>, values: Vec<Value>, path: &str) -> Vec<Node> {
        let both = marked.into_iter().zip(values).enumerate();
        both.map(|(number, (marked, value))| self.node(marked, value, format!("{path}[{number}]"))).collect()
    }

    fn map(&mut self, marked: Vec<(Marked, Marked)>, values: Vec<(Value, Value)>, path: &str) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::with_capacity(marked.len());
        let mut first_lines: HashMap<Box<str>, usize> = HashMap::new();
        for ((key, marked), (key_value, value)) in marked.into_iter().zip(values) {
            let (line, column) = (key.line, key.column);
            let mut place = Place { file: Arc::clone(self.file), line, column, path: path.to_owned() };
            let key = match key_text(key.shape, key_value) {
                Ok(key) => key,
                Err(message) => {
                    self.problems.push(Problem::error(place, message));
                    continue;
                }
            };
            place.path = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
            if let Some(first) = first_lines.get(&key) {
                let message = format!("duplicate key, first on line {first}");
                self.problems.push(Problem::error(place, message));
                continue;
            }
            first_lines.insert(key.clone(), line);
            let value = self.node(marked, value, place.path.clone());
            entries.push(Entry { key, place, value });
        }
        entries
    }
}

/// A key is text, or an integer as people write it (a tenant may be called 42).
fn key_text(shape: Form, value: Value) -> Result<Box<str>, &'static str> {
    match (shape, value) {
        (Form::Scalar { text, plain: true }, _) if *text == *"<<" => Err("merge keys are not supported"),
        (Form::Scalar { text, .. }, Value::Text(value)) if *text == *value => Ok(value),
        (Form::Scalar { text, .. }, Value::Integer(value)) if *text == *value.to_string() => {
            Ok((&*text).into())
        }
        (Form::Scalar { .. }, _) => Err("a key that is no text; write it in double quotes"),
        (Form::List(_) | Form::Map(_), _) => Err("a key that is no text"),
    }
}

/// What serde_yaml reads, with every entry of a mapping.
enum Value {
    Null,
    Boolean(bool),
    Integer(i64),
    Number,
    Text(Box<str>),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(Collect)
    }
}

struct Collect;

impl<'de> Visitor<'de> for Collect {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value without a tag")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Number, Value::Integer))
    }

    fn visit_i128<E: de::Error>(self, _: i128) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_u128<E: de::Error>(self, _: u128) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Map(entries))
    }
}
