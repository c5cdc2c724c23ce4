//! The keys of the configuration file and of a users file (the lists are closed), and of `limits`; those of other
//! sections stand with what is read from them.

use pgmoat_policy::policy::document::{self, Key, Section, Shape};

use super::admin::ADMIN;
use super::audit::AUDIT;
use super::client::TLS;
use super::database::DATABASE;
use super::user::USER;

/// The configuration file.
pub static CONFIGURATION_FILE: Section = Section {
    keys: &[
        Key::required(
            "listen",
            Shape::Either(&[Shape::Text, Shape::List(&Shape::Text)]),
            "Where clients connect, one or several: an IP address and a port, as in `127.0.0.1:6432`, or a socket's file, as in \
             `unix:///run/pgmoat/.s.PGSQL.6432` (libpq's name for it in the folder that is its `host`).",
        ),
        Key::default(
            "socket_mode",
            Shape::Text,
            "0777",
            "Who may connect to the sockets of `listen`: their permissions in octal digits, in quotes.",
        ),
        Key::optional(
            "tls",
            Shape::Section(&TLS),
            "Encryption towards clients; without it none is offered. Unix sockets never have it and are asked for none, nor for \
             certificates: `socket_mode` guards them.",
        ),
        Key::required(
            "policy",
            Shape::Text,
            "The policy file. Relative paths are taken from this file's folder, here and below.",
        ),
        Key::required("audit", Shape::Section(&AUDIT), "The audit log."),
        Key::required(
            "users",
            Shape::Either(&[Shape::List(&Shape::Section(&USER)), Shape::Text]),
            "Who may log in: a list, or a file that has the list under its one key `users`.",
        ),
        Key::required(
            "databases",
            Shape::Map { key: "DATABASE", value: &Shape::Section(&DATABASE) },
            "The databases that clients may name.",
        ),
        Key::optional("limits", Shape::Section(&LIMITS), "Bounds and timeouts."),
        Key::optional(
            "admin",
            Shape::Section(&ADMIN),
            "HTTP for operators and programs: `/healthz`, `/readyz`, `/metrics`, `/v1/verify`, `/v1/verify/batch`.",
        ),
    ],
};

/// A file that `users` names.
pub static USERS_FILE: Section =
    Section { keys: &[Key::required("users", Shape::List(&Shape::Section(&USER)), "Who may log in.")] };

/// The keys of the section.
pub(super) static LIMITS: Section = Section {
    keys: &[
        Key::default(
            "max_clients",
            Shape::Integer { min: 1, max: 100_000, unit: "connections" },
            "1000",
            "Clients at one time, logins included.",
        ),
        Key::default(
            "connections_per_user",
            Shape::Integer { min: 0, max: 100_000, unit: "connections" },
            "1000",
            "Sessions of one user at one time, where the user has no `max_connections`.",
        ),
        Key::default(
            "connections_per_tenant",
            Shape::Integer { min: 0, max: 100_000, unit: "connections" },
            "1000",
            "Sessions of all users of one tenant at one time.",
        ),
        Key::default(
            "unauthenticated",
            Shape::Integer { min: 1, max: 100_000, unit: "connections" },
            "500",
            "Connections at one time that have not logged in yet.",
        ),
        Key::default(
            "unauthenticated_per_address",
            Shape::Integer { min: 1, max: 100_000, unit: "connections" },
            "250",
            "The same from one address. Unix sockets count as one.",
        ),
        Key::default(
            "cancels_per_second",
            Shape::Integer { min: 1, max: 100_000, unit: "requests per second" },
            "200",
            "Requests to cancel that are looked at; more are dropped, as PostgreSQL answers none either.",
        ),
        Key::default(
            "cancels_per_second_per_address",
            Shape::Integer { min: 1, max: 100_000, unit: "requests per second" },
            "50",
            "The same from one address.",
        ),
        Key::default(
            "failed_logins_per_second",
            Shape::Integer { min: 1, max: 100_000, unit: "lines per second" },
            "50",
            "Failed logins that have a line of their own in the audit log; those beyond it share one line a second, with \
             their count.",
        ),
        Key::default(
            "failed_logins_per_second_per_address",
            Shape::Integer { min: 1, max: 100_000, unit: "lines per second" },
            "20",
            "The same from one address.",
        ),
        milliseconds(
            "login_timeout_ms",
            "10000",
            "From the connection until the login is complete; then it is ended (57014).",
        ),
        maybe_milliseconds(
            "statement_timeout_ms",
            "0",
            "How long a statement of any role may run before it is cancelled (57014); a role's `timeout_ms` may be \
             shorter. 0: only the role's.",
        ),
        maybe_milliseconds(
            "idle_in_transaction_timeout_ms",
            "300000",
            "How long the server may wait for a client that has left a transaction, a batch or a copy open, before the \
             session is ended (25P03). 0: for ever.",
        ),
        maybe_milliseconds(
            "idle_session_timeout_ms",
            "0",
            "How long a client may do nothing outside a transaction before its session is ended (57P05). 0: for ever.",
        ),
        milliseconds(
            "client_write_timeout_ms",
            "60000",
            "How long a client may take nothing of what there is for it before its session is ended.",
        ),
        milliseconds(
            "tcp_keepalive_ms",
            "60000",
            "How long a TCP connection may be silent before the system asks whether the other side is still there, \
             towards clients and servers; four unanswered questions of ten seconds end it.",
        ),
        Key::default(
            "statements_per_client",
            Shape::Integer { min: 1, max: 1_000_000, unit: "statements" },
            "1000",
            "Prepared statements that one client may have; one more is refused (53400).",
        ),
        Key::default(
            "message_bytes",
            Shape::Integer { min: 65_536, max: 1_073_741_823, unit: "bytes" },
            "67108864",
            "The longest message that a client may send; a longer one ends its session (08P01). A statement is refused before \
             that, by its role's `statement_bytes`.",
        ),
        Key::default(
            "drain_rows",
            Shape::Integer { min: 0, max: i64::MAX, unit: "rows" },
            "100000",
            "Rows that are read and dropped over a row cap before the statement is cancelled.",
        ),
        Key::default(
            "verdict_cache_bytes",
            Shape::Integer { min: 0, max: 68_719_476_736, unit: "bytes" },
            "33554432",
            "What the verdicts of one database that are kept may take, roughly; what was used least goes first. Statements that \
             differ in their constants alone, whoever's, share one. 0: every statement is judged anew.",
        ),
        Key::optional(
            "workers",
            Shape::Integer { min: 1, max: 1024, unit: "threads" },
            "Threads that serve sessions; without it, one for every two processors, since clients and PostgreSQL mostly want \
             the others. More serve more statements a second where processors are idle; each costs the others some time. \
             A text that is long to judge is judged beside them.",
        ),
        Key::default(
            "spin_us",
            Shape::Integer { min: 0, max: 1000, unit: "microseconds" },
            "200",
            "How long a session looks for its next message again and again before it sleeps, while no other session waits for \
             PostgreSQL and the last wait was as short: being woken takes longer than a short answer. 0, and where there is one \
             processor: not at all.",
        ),
        milliseconds("drain_timeout_ms", "30000", "From SIGTERM until what still runs is cancelled."),
        milliseconds("catalog_refresh_ms", "1000", "Between two looks at whether a catalog has changed."),
        maybe_milliseconds(
            "reload_watch_ms",
            "1000",
            "Between two looks at whether the files have changed: the configuration, users, policy, certificates. A \
             change is read once it has rested for one such time. 0: only SIGHUP reloads.",
        ),
    ],
};

pub(super) const fn milliseconds(name: &'static str, default: &'static str, about: &'static str) -> Key {
    Key::default(name, Shape::Integer { min: 1, max: 86_400_000, unit: "milliseconds" }, default, about)
}

/// Where 0 means that there is no such limit.
const fn maybe_milliseconds(name: &'static str, default: &'static str, about: &'static str) -> Key {
    Key::default(name, Shape::Integer { min: 0, max: 86_400_000, unit: "milliseconds" }, default, about)
}

/// The JSON Schema of the configuration file.
pub fn schema() -> serde_json::Value {
    document::schema("pgmoat configuration", &CONFIGURATION_FILE)
}

/// The reference page of the configuration file, in Markdown.
pub fn reference() -> String {
    let keys = document::reference("The configuration file", INTRODUCTION, &CONFIGURATION_FILE);
    format!("{keys}\n{}", include_str!("pools.md"))
}

const INTRODUCTION: &str = concat!(
    "Every key, its type, unit and default. The list is closed: an unknown key, a key that stands
twice, a word or number outside its range are errors, all reported at once with line and path.
A small one, which leaves the rest at its defaults:

```yaml
",
    include_str!("../../golden/configuration/least.yaml"),
    "```

Secrets come from an environment variable, a file or a command; they never stand in the file. (A
verifier is none: no password follows from it. But keep it from others, since guesses can be tried
on it.)

A running proxy takes `users`, the `policy` file, `tls` and the tokens of `admin` from changed files, whole or not at all
(`limits.reload_watch_ms`, SIGHUP); what is changed elsewhere needs a restart, and until then no
change is taken. `pgmoat check` says what is wrong with the files, `pgmoat doctor` what is weak.

Made from the table that the file is read by; `schema/configuration.json` is its JSON Schema."
);
