//! A suite: statements with the verdict that is expected of them, in a YAML file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pgmoat_policy::policy::document::{self, Content, Key, Node, Section, Shape, Word};
use pgmoat_policy::policy::{Place, Problem};
use serde_json::Value;

use crate::command::source::Source;
use crate::verify::{self, Hex, Param, Protocol, Request};

/// Every key of a suite.
pub static SUITE_FILE: Section = Section {
    keys: &[
        Key::optional(
            "policy",
            Shape::Text,
            "The policy file; relative paths are taken from this file's folder.",
        ),
        Key::optional("catalog", Shape::Text, "The catalog file that `pgmoat catalog dump` wrote."),
        Key::required("cases", Shape::List(&Shape::Section(&CASE)), "The statements."),
    ],
};

static CASE: Section = Section {
    keys: &[
        Key::optional("name", Shape::Text, "What it is called in reports."),
        Key::optional("as", Shape::Text, "Whose statement it is: `role:tenant`, or `role`."),
        Key::optional("user", Shape::Text, "The same, by a user of the configuration."),
        Key::required("sql", Shape::Text, "The statement."),
        Key::optional(
            "params",
            Shape::List(&Shape::Either(&[Shape::Text, Shape::Null, Shape::Section(&HEX)])),
            "Bound values: text, null, or binary as `{ hex: … }`.",
        ),
        Key::optional(
            "types",
            Shape::List(&Shape::Integer { min: 0, max: 4_294_967_295, unit: "" }),
            "The parameters' declared types, as oids; 0: not declared.",
        ),
        Key::optional(
            "protocol",
            Shape::Word(&[Word::new("simple"), Word::new("extended"), Word::new("parse")]),
            "How it is sent; with `params`, extended.",
        ),
        Key::required("expect", Shape::Word(&[Word::new("allow"), Word::new("deny")]), "The verdict."),
        Key::optional("code", Shape::Text, "With `deny`: the code, such as tenant_unproven."),
    ],
};

static HEX: Section = Section { keys: &[Key::required("hex", Shape::Text, "Pairs of hexadecimal digits.")] };

/// The JSON Schema of a suite.
pub fn schema() -> Value {
    document::schema("pgmoat policy suite", &SUITE_FILE)
}

/// The reference page of a suite, in Markdown.
pub fn reference() -> String {
    document::reference("The policy suite", INTRODUCTION, &SUITE_FILE)
}

const INTRODUCTION: &str = "\
What `pgmoat policy test SUITE` reads: statements with the verdict that is expected of them. It exits with 0 where
every case is as expected, 1 where some are not (each is drawn), 2 where a file is unusable.

```yaml
policy: policy.yaml
catalog: catalog.json
cases:
  - { as: \"app:acme\", sql: \"SELECT id FROM app.orders WHERE tenant_id = 'acme'\", expect: allow }
  - { as: \"app:acme\", sql: \"SELECT id FROM app.orders\", expect: deny, code: tenant_unproven }
```

The list of keys is closed. Made from the table that the file is read by; `schema/policy-suite.json` is its JSON Schema.";

/// A suite whose cases are not compared with a policy yet.
pub(super) struct Suite {
    root: Node,
    folder: PathBuf,
}

/// A statement and what is expected of it.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) request: Request<'static>,
    pub(super) expected: Expected,
}

/// A verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expected {
    Allow,
    Deny { code: Option<String> },
}

impl Suite {
    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(super) fn read(path: &Path) -> Result<Suite, Vec<Problem>> {
        let file = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            let place = Place { file: Arc::from(&*file), line: 0, column: 0, path: String::new() };
            vec![Problem::error(place, format!("cannot be read: {error}"))]
        })?;
        let (root, mut problems) = document::read(&text, &file);
        if let Some(root) = &root {
            document::conform(root, &SUITE_FILE, &mut problems);
        }
        match root {
            Some(root) if !problems.iter().any(Problem::is_error) => {
                Ok(Suite { root, folder: path.parent().unwrap_or(Path::new("")).to_owned() })
            }
            Some(_) | None => Err(problems),
        }
    }

    /// The policy file that it names.
    pub(super) fn policy(&self) -> Option<PathBuf> {
        self.file("policy")
    }

    /// The catalog file that it names.
    pub(super) fn catalog(&self) -> Option<PathBuf> {
        self.file("catalog")
    }

    fn file(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.join(self.root.get(key)?.text()?))
    }

    /// Its cases, against a policy's roles and a configuration's users.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub(super) fn cases(&self, source: &Source) -> Result<Vec<Case>, Vec<Problem>> {
        let items = self.root.get("cases").map(Node::items).unwrap_or_default();
        let (mut cases, mut problems) = (Vec::new(), Vec::new());
        for item in items {
            match case(item, source) {
                Ok(case) => cases.push(case),
                Err(message) => problems.push(Problem::error(item.place.clone(), message)),
            }
        }
        if problems.is_empty() { Ok(cases) } else { Err(problems) }
    }
}

fn case(node: &Node, source: &Source) -> Result<Case, String> {
    let text = |key| node.get(key).and_then(Node::text);
    let sql = text("sql").unwrap_or_default();
    let principal = match (text("as"), text("user")) {
        (Some(principal), None) => source.basis().principal(principal)?,
        (None, Some(user)) => source.basis().user(user)?,
        (Some(_), Some(_)) => return Err("both \"as\" and \"user\"".to_owned()),
        (None, None) => return Err("neither \"as\" nor \"user\"".to_owned()),
    };
    let expected = match (text("expect"), text("code")) {
        (Some("deny"), code) => Expected::Deny { code: code.map(str::to_owned) },
        (_, None) => Expected::Allow,
        (_, Some(_)) => return Err("\"code\" is for \"expect: deny\"".to_owned()),
    };
    let first_line = || sql.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    Ok(Case {
        name: text("name").unwrap_or_else(first_line).to_owned(),
        place: node.place.clone(),
        request: Request {
            id: Value::Null,
            sql: sql.to_owned().into(),
            principal,
            protocol: protocol(node)?,
        },
        expected,
    })
}

fn protocol(node: &Node) -> Result<Protocol, String> {
    let params = node.get("params").map(|params| params.items().iter().map(param).collect());
    let types = node.get("types").map(|types| {
        let number = |item: &Node| item.integer().and_then(|oid| u32::try_from(oid).ok());
        types.items().iter().filter_map(number).collect()
    });
    let params = params.transpose()?;
    verify::protocol(node.get("protocol").and_then(Node::text), params, types)
}

fn param(node: &Node) -> Result<Param, String> {
    match &node.content {
        Content::Text(text) => Ok(Param::Text(text.to_string())),
        Content::Map(_) => {
            Hex::read(node.get("hex").and_then(Node::text).unwrap_or_default()).map(Param::Binary)
        }
        Content::Null | Content::Boolean(_) | Content::Integer(_) | Content::Number | Content::List(_) => {
            Ok(Param::Null(()))
        }
    }
}
