//! HTTP for operators and programs: where, for whom, and how much of it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pgmoat_policy::Policy;
use pgmoat_policy::policy::document::{Content, Key, Node, Section, Shape};
use pgmoat_policy::policy::{Place, Problem};

use super::load::{Load, count, duration};

/// The listener for HTTP.
#[derive(Debug)]
pub struct Admin {
    /// Its address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who may ask.
    pub tokens: Vec<Token>,
    /// Whether verdicts and figures are for those alone who show a token; always, but on loopback.
    pub require_token: bool,
    /// How much at one time, and how long.
    pub limits: AdminLimits,
    place: Place,
}

/// Bounds of the HTTP listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdminLimits {
    /// Connections at one time.
    pub connections: usize,
    /// Requests for verdicts at one time.
    pub requests: usize,
    /// The longest body of a request for one verdict, and the longest line of a batch.
    pub request_bytes: usize,
    /// The longest body of a batch.
    pub batch_bytes: usize,
    /// Its lines at most.
    pub batch_lines: usize,
    /// How long a client may keep the listener waiting.
    pub patience: Duration,
    /// How long one that has shown no good token may be silent, if that is less.
    pub unauthenticated: Duration,
}

/// A token, as its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What the audit log calls it.
    pub name: Arc<str>,
    /// SHA-256 of its text.
    pub hash: TokenHash,
    /// The roles that may be asked for; none where there is no such limit.
    pub roles: Option<Arc<[Box<str>]>>,
    place: Place,
}

/// SHA-256 of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenHash(pub [u8; 32]);

/// The keys of the section.
pub(super) static ADMIN: Section = Section {
    keys: &[
        Key::required(
            "listen",
            Shape::Text,
            "An IP address and a port, as in `127.0.0.1:9432`. It speaks plain HTTP/1.1: elsewhere than on loopback put \
             something before it that encrypts.",
        ),
        Key::optional(
            "tokens",
            Shape::List(&Shape::Section(&TOKEN)),
            "Who may ask for verdicts and figures. Elsewhere than on loopback at least one is needed.",
        ),
        Key::default(
            "require_token",
            Shape::Boolean,
            "true",
            "`false` lets everybody on this machine ask for verdicts and figures: on loopback alone. `/healthz` and the \
             status of `/readyz` never need a token.",
        ),
        Key::default(
            "connections",
            Shape::Integer { min: 1, max: 10_000, unit: "connections" },
            "256",
            "Connections at one time that have shown a good token; more are answered 503. A few others have room beside \
             them, so that `/healthz` and `/readyz` answer: the one that is silent for longest makes room for the next.",
        ),
        Key::default(
            "requests",
            Shape::Integer { min: 1, max: 10_000, unit: "requests" },
            "64",
            "Requests for verdicts at one time; more are answered 503, to be tried again.",
        ),
        Key::default(
            "request_bytes",
            Shape::Integer { min: 1024, max: 67_108_864, unit: "bytes" },
            "1048576",
            "The longest body of `/v1/verify`, and the longest line of `/v1/verify/batch`.",
        ),
        Key::default(
            "batch_bytes",
            Shape::Integer { min: 1024, max: 1_099_511_627_776, unit: "bytes" },
            "67108864",
            "The longest body of `/v1/verify/batch`; it is never held as a whole.",
        ),
        Key::default(
            "batch_lines",
            Shape::Integer { min: 1, max: 1_000_000_000, unit: "lines" },
            "100000",
            "Its lines at most.",
        ),
        Key::default(
            "timeout_ms",
            Shape::Integer { min: 10, max: 3_600_000, unit: "milliseconds" },
            "30000",
            "How long a client may take for the head of its next request, for more of a body, or to take more of an answer; \
             then the connection is closed.",
        ),
        Key::default(
            "unauthenticated_ms",
            Shape::Integer { min: 10, max: 3_600_000, unit: "milliseconds" },
            "5000",
            "How long a connection that has shown no good token may take for the head of its next request, if `timeout_ms` \
             is not shorter.",
        ),
    ],
};

static TOKEN: Section = Section {
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
    pub(super) fn admin(&mut self, section: &Node) -> Option<Admin> {
        let listen = self.admin_address(section.get("listen")?)?;
        let tokens: Vec<Token> = section.get("tokens").map(|node| self.tokens(node)).unwrap_or_default();
        let required = section.get("require_token").and_then(Node::boolean).unwrap_or(true);
        let number = |key, default| count(Some(section), key, default);
        let limits = AdminLimits {
            connections: number("connections", 256),
            requests: number("requests", 64),
            request_bytes: number("request_bytes", 1 << 20),
            batch_bytes: number("batch_bytes", 64 << 20),
            batch_lines: number("batch_lines", 100_000),
            patience: duration(Some(section), "timeout_ms", 30_000),
            unauthenticated: duration(Some(section), "unauthenticated_ms", 5000),
        };
        let place = section.place.clone();
        let loopback = listen.ip().to_canonical().is_loopback();
        let admin = Admin { listen, tokens, require_token: required || !loopback, limits, place };
        self.guarded(&admin, required, loopback);
        Some(admin)
    }

    /// Nobody elsewhere gets verdicts without a token.
    fn guarded(&mut self, admin: &Admin, required: bool, loopback: bool) {
        let Admin { listen, tokens, place, .. } = admin;
        let problem = match (loopback, required, tokens.is_empty()) {
            (false, false, _) => Problem::error(
                place.clone(),
                format!("{listen} is no loopback address: \"require_token: false\" is for loopback alone"),
            ),
            (false, true, true) => Problem::error(
                place.clone(),
                format!(
                    "{listen} is no loopback address, and there is no token: others could ask for verdicts"
                ),
            )
            .help("pgmoat admin token NAME makes one; or listen on 127.0.0.1"),
            (false, true, false) => Problem::warning(
                place.clone(),
                format!("{listen} is no loopback address, and tokens are sent in clear text"),
            )
            .help("listen on 127.0.0.1, and put something before it that encrypts"),
            (true, false, _) => Problem::warning(
                place.clone(),
                "everybody on this machine may ask for the verdict on any statement of any user",
            ),
            (true, true, true) => {
                Problem::warning(place.clone(), "there is no token: /metrics and /v1/verify answer nobody")
                    .help("pgmoat admin token NAME makes one")
            }
            (true, true, false) => return,
        };
        self.problems.push(problem);
    }

    fn admin_address(&mut self, node: &Node) -> Option<SocketAddr> {
        let address = node.text()?.parse();
        address
            .map_err(|_| {
                let problem = Problem::error(node.place.clone(), "expected an IP address and a port");
                self.problems.push(problem.help("as in 127.0.0.1:9432 or \"[::1]:9432\""));
            })
            .ok()
    }

    fn tokens(&mut self, node: &Node) -> Vec<Token> {
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
        let name = node.get("name")?;
        let name = match name.text()? {
            text if text.is_empty() || text.contains(char::is_control) => {
                self.error(&name.place, "expected a name without control characters");
                return None;
            }
            text => text.into(),
        };
        let hash = node.get("hash")?;
        let Some(parsed) = TokenHash::parse(hash.text()?) else {
            let problem = Problem::error(hash.place.clone(), "expected sha256: and 64 hexadecimal digits");
            self.problems.push(problem.help("pgmoat admin token NAME makes a token and its hash"));
            return None;
        };
        let roles = node.get("roles").map(|roles| match roles.content {
            Content::List(_) => roles.items().iter().filter_map(Node::text).map(Box::from).collect(),
            Content::Text(_)
            | Content::Null
            | Content::Boolean(_)
            | Content::Integer(_)
            | Content::Number
            | Content::Map(_) => Arc::from([]),
        });
        Some(Token { name, hash: parsed, roles, place: node.place.clone() })
    }
}

impl Admin {
    /// Whether only a restart can make another one of it. Tokens are for a reload.
    pub(super) fn is_as(&self, other: &Admin) -> bool {
        let Admin { listen, tokens: _, require_token, limits, place: _ } = self;
        *listen == other.listen && *require_token == other.require_token && *limits == other.limits
    }

    pub(super) fn agrees_with(&self, policy: &Policy, problems: &mut Vec<Problem>) {
        for token in &self.tokens {
            for role in
                token.roles.iter().flat_map(|roles| roles.iter()).filter(|role| policy.role(role).is_none())
            {
                let message = format!("the policy has no role \"{role}\"");
                problems.push(Problem::error(token.place.clone(), message));
            }
        }
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
