//! A section's JSON Schema, for editors and other people's checks.

use serde_json::{Map, Value, json};

use super::shape::{Built, Key, Presence, Section, Shape};

/// The JSON Schema (draft 2020-12) of a file with this section at its top.
pub fn schema(title: &str, section: &Section) -> Value {
    let mut schema = Map::new();
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!(title));
    schema.append(&mut of_section(section));
    Value::Object(schema)
}

fn of_section(section: &Section) -> Map<String, Value> {
    let properties: Map<String, Value> =
        section.keys.iter().map(|key| (key.name.to_owned(), of_key(key))).collect();
    let required: Vec<&str> =
        section.keys.iter().filter(|key| key.presence == Presence::Required).map(|key| key.name).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema.insert("additionalProperties".into(), json!(false));
    schema
}

fn of_key(key: &Key) -> Value {
    let mut schema = of_shape(&key.shape);
    schema.insert("description".into(), json!(key.about));
    match key.presence {
        Presence::Default(default) => {
            // Defaults are written as YAML writes them; what is no JSON is a text.
            let default = serde_json::from_str(default).unwrap_or_else(|_| json!(default));
            schema.insert("default".into(), default);
        }
        Presence::Required | Presence::Optional => {}
    }
    match key.built {
        Built::Yes => {}
        Built::RefusedUntilThen(_) | Built::NotYet => {
            schema.insert("$comment".into(), json!("not supported yet"));
        }
    }
    Value::Object(schema)
}

fn of_shape(shape: &Shape) -> Map<String, Value> {
    let schema = match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Null => json!({ "type": "null" }),
        Shape::Integer { min, max: i64::MAX, .. } => json!({ "type": "integer", "minimum": min }),
        Shape::Integer { min, max, .. } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        Shape::Word(words) => {
            json!({ "enum": words.iter().map(|word| word.name).collect::<Vec<_>>() })
        }
        Shape::List(item) => json!({ "type": "array", "items": of_shape(item) }),
        Shape::Map { value, .. } => {
            json!({ "type": "object", "additionalProperties": of_shape(value) })
        }
        Shape::Section(section) => Value::Object(of_section(section)),
        Shape::Either(shapes) => {
            json!({ "anyOf": shapes.iter().map(of_shape).collect::<Vec<_>>() })
        }
    };
    match schema {
        Value::Object(schema) => schema,
        // Every arm above makes an object.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
