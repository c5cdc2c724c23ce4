//! Who may ask over HTTP: tokens, of which the file has the hashes alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use pgmoat_policy::policy::document::{Key, Node, Section, Shape};
use pgmoat_policy::policy::{Place, Problem};

use super::load::Load;

/// A token, as its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What the audit log calls it.
    pub name: Arc<str>,
    /// SHA-256 of its text.
    pub hash: TokenHash,
    /// The roles that may be asked for; none where there is no such limit.
    pub roles: Option<Arc<[Box<str>]>>,
    pub(super) place: Place,
}

/// SHA-256 of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenHash(pub [u8; 32]);

/// The keys of a token.
pub(super) static TOKEN: Section = Section {
    keys: &[
        Key::required("name", Shape::Text, "What the audit log calls it."),
        Key::required(
            "hash",
            Shape::Text,
            "`sha256:` and 64 hexadecimal digits, as `pgmoat admin token NAME` prints it beside the token.",
        ),
        Key::optional(
            "roles",
            Shape::List(&Shape::Text),
            "The roles of the policy that may be asked for with it; without it, all of them.",
        ),
    ],
};

impl Load<'_> {
    pub(super) fn tokens(&mut self, node: &Node) -> Vec<Token> {
        let tokens: Vec<Token> = node.items().iter().filter_map(|item| self.token(item)).collect();
        let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
        for token in &tokens {
            if let Some(line) = lines.insert(&token.name, token.place.line) {
                let message = format!("token \"{}\" stands twice, first on line {line}", token.name);
                self.problems.push(Problem::error(token.place.clone(), message));
            }
        }
        let mut names: BTreeMap<String, &str> = BTreeMap::new();
        for token in &tokens {
            if let Some(other) =
                names.insert(token.hash.text(), &token.name).filter(|other| **other != *token.name)
            {
                let message =
                    format!("tokens \"{other}\" and \"{}\" are one: their hash is the same", token.name);
                self.problems.push(Problem::error(token.place.clone(), message));
            }
        }
        tokens
    }

    fn token(&mut self, node: &Node) -> Option<Token> {
        let name = self.name(node.get("name")?)?;
        let hash = node.get("hash")?;
        let Some(parsed) = TokenHash::parse(hash.text()?) else {
            let problem = Problem::error(hash.place.clone(), "expected sha256: and 64 hexadecimal digits");
            self.problems.push(problem.help("pgmoat admin token NAME makes a token and its hash"));
            return None;
        };
        let roles = node.get("roles").map(Node::items);
        let roles = roles.map(|roles| roles.iter().filter_map(Node::text).map(Box::from).collect());
        Some(Token { name, hash: parsed, roles, place: node.place.clone() })
    }
}

impl TokenHash {
    /// Reads `sha256:` and 64 hexadecimal digits.
    fn parse(text: &str) -> Option<TokenHash> {
        let digits = text.strip_prefix(PREFIX).filter(|digits| digits.len() == 64)?;
        let mut hash = [0_u8; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            let pair = str::from_utf8(pair).ok().filter(|pair| !pair.starts_with('+'))?;
            *byte = u8::from_str_radix(pair, 16).ok()?;
        }
        Some(TokenHash(hash))
    }

    /// As [`TokenHash::parse`] reads it.
    pub(crate) fn text(&self) -> String {
        let TokenHash(bytes) = self;
        bytes.iter().fold(PREFIX.to_owned(), |text, byte| text + &format!("{byte:02x}"))
    }
}

const PREFIX: &str = "sha256:";
