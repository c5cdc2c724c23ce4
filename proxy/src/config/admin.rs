//! HTTP for operators and programs: where, for whom, and how much of it.

use std::net::SocketAddr;
use std::time::Duration;

use pgmoat_policy::Policy;
use pgmoat_policy::policy::document::{Key, Node, Section, Shape};
use pgmoat_policy::policy::{Place, Problem};

use super::load::Load;
use super::numbers::Numbers;
use super::token::{TOKEN, Token};

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

impl Load<'_> {
    pub(super) fn admin(&mut self, section: &Node) -> Option<Admin> {
        let listen = self.admin_address(section.get("listen")?)?;
        let tokens: Vec<Token> = section.get("tokens").map(|node| self.tokens(node)).unwrap_or_default();
        let required = section.get("require_token").and_then(Node::boolean).unwrap_or(true);
        let numbers = Numbers::of(Some(section), &ADMIN);
        let limits = AdminLimits {
            connections: numbers.count("connections"),
            requests: numbers.count("requests"),
            request_bytes: numbers.count("request_bytes"),
            batch_bytes: numbers.count("batch_bytes"),
            batch_lines: numbers.count("batch_lines"),
            patience: numbers.duration("timeout_ms"),
            unauthenticated: numbers.duration("unauthenticated_ms"),
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
