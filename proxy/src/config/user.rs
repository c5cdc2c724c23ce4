//! Users: who they are, and when, from where and to what they may log in.

use std::collections::BTreeMap;
use std::sync::Arc;

use pgmoat_policy::policy::Problem;
use pgmoat_policy::policy::document::{Content, Key, Node, Section, Shape};

use super::load::Load;
use super::{Network, User, moment, verifier};
use crate::server::Verifier;

/// The keys of a user.
pub(super) static USER: Section = Section {
    keys: &[
        Key::required("name", Shape::Text, "The name to log in with."),
        Key::required(
            "verifier",
            Shape::Either(&[Shape::Text, Shape::List(&Shape::Text)]),
            "`SCRAM-SHA-256$ITERATIONS:SALT$STOREDKEY:SERVERKEY`, as `pgmoat user add` and PostgreSQL make it; 4096 \
             iterations at least. While a password is changed a list of two, of the same salt and iterations: both \
             passwords are good (`pgmoat user add --beside`).",
        ),
        Key::required("role", Shape::Text, "A role of the policy."),
        Key::optional("tenant", Shape::Text, "The tenant, if and only if the role has `tenant: required`."),
        Key::optional(
            "certificate",
            Shape::Text,
            "With `tls.mode: verify`: the common name in its certificate; without it, the user's name.",
        ),
        Key::optional(
            "valid_until",
            Shape::Text,
            "From then on the password is wrong, as PostgreSQL's VALID UNTIL: `2027-01-31T18:00:00Z` (UTC), or a day \
             alone, of which it is the beginning. Sessions go on.",
        ),
        Key::optional(
            "networks",
            Shape::List(&Shape::Text),
            "Where the user may come from: addresses and networks as in `10.0.0.0/8`, and `local` for Unix sockets. \
             Elsewhere its password is wrong. Without it, from everywhere.",
        ),
        Key::optional(
            "databases",
            Shape::List(&Shape::Text),
            "The databases that the user may name; without it, all of them.",
        ),
        Key::optional(
            "max_connections",
            Shape::Integer { min: 0, max: 100_000, unit: "connections" },
            "Sessions of the user at one time; without it, `limits.connections_per_user`.",
        ),
    ],
};

impl Load<'_> {
    /// The users of a list, from the configuration or from a file of their own.
    pub(super) fn users(&mut self, node: &Node) -> Vec<User> {
        let users: Vec<User> = node.items().iter().filter_map(|item| self.user(item)).collect();
        let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
        for user in &users {
            if let Some(line) = lines.insert(&user.name, user.place.line) {
                let message = format!("user \"{}\" stands twice, first on line {line}", user.name);
                self.problems.push(Problem::error(user.place.clone(), message));
            }
        }
        self.one_form(&users);
        users
    }

    /// A name that does not exist is shown a challenge of the first user's form.
    fn one_form(&mut self, users: &[User]) {
        let form = |user: &User| user.verifiers.first().map(Verifier::form);
        let Some((first, others)) = users.split_first() else { return };
        if let Some(other) = others.iter().find(|user| form(user) != form(first)) {
            let message = "a verifier with another iteration count or salt length than the first user's: by the \
                           difference strangers can tell who exists";
            let problem = Problem::warning(other.place.clone(), message);
            self.problems.push(problem.help("make all verifiers with one program: pgmoat user add NAME"));
        }
    }

    fn user(&mut self, node: &Node) -> Option<User> {
        let name = node.get("name").and_then(|node| self.name(node));
        let verifiers = node.get("verifier").and_then(|node| self.verifiers(node));
        let tenant = match node.get("tenant") {
            Some(node) => Some(self.name(node)?),
            None => None,
        };
        let valid_until = node.get("valid_until").map(|node| self.parsed(node, moment::parse));
        let networks = node.get("networks").map(|node| self.all_parsed(node, Network::parse));
        let databases = node.get("databases").map(|node| self.all_parsed(node, |name| Ok(name.into())));
        let name = name?;
        let certificate = match node.get("certificate") {
            Some(node) => self.name(node)?,
            None => Arc::clone(&name),
        };
        Some(User {
            name,
            certificate,
            verifiers: verifiers?,
            role: node.get("role")?.text()?.into(),
            tenant,
            // What is wrong with one of these was reported, so that no user comes of it.
            valid_until: valid_until.map_or(Some(None), |value| value.map(Some))?,
            networks: networks.map_or(Some(None), |value| value.map(Some))?,
            databases: databases.map_or(Some(None), |value| value.map(Some))?,
            max_connections: node
                .get("max_connections")
                .and_then(Node::integer)
                .and_then(|number| usize::try_from(number).ok()),
            place: node.place.clone(),
        })
    }

    /// One verifier, or two that a client can be asked for at once.
    fn verifiers(&mut self, node: &Node) -> Option<Vec<Verifier>> {
        let verifiers = match &node.content {
            Content::List(_) => self.all_parsed(node, verifier::parse)?,
            Content::Null
            | Content::Boolean(_)
            | Content::Integer(_)
            | Content::Number
            | Content::Text(_)
            | Content::Map(_) => vec![self.parsed(node, verifier::parse)?],
        };
        match verifiers.as_slice() {
            [_] => Some(verifiers),
            [first, second] if first.has_challenge_of(second) => Some(verifiers),
            [_, _] => {
                let message =
                    "two verifiers of one user need the same salt and iterations: a login shows one";
                let help = "make the second with pgmoat user add NAME --beside VERIFIER";
                self.problems.push(Problem::error(node.place.clone(), message).help(help));
                None
            }
            _ => {
                self.error(&node.place, "expected one verifier, or two");
                None
            }
        }
    }

    fn all_parsed<T>(&mut self, node: &Node, parse: impl Fn(&str) -> Result<T, String>) -> Option<Vec<T>> {
        let all: Vec<Option<T>> = node.items().iter().map(|item| self.parsed(item, &parse)).collect();
        all.into_iter().collect()
    }

    fn parsed<T>(&mut self, node: &Node, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        parse(node.text()?).map_err(|fault| self.error(&node.place, fault)).ok()
    }

    /// A name that a start-up packet can carry.
    pub(super) fn name(&mut self, node: &Node) -> Option<Arc<str>> {
        let name = node.text()?;
        if name.is_empty() || name.contains(char::is_control) {
            self.error(&node.place, "expected a name without control characters");
            return None;
        }
        Some(name.into())
    }
}
