//! Every key of the configuration file and of a users file (the lists are closed).

use pgmoat_policy::policy::document::{self, Key, Section, Shape, Word};

use super::admin::ADMIN;

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

static TLS: Section = Section {
    keys: &[
        Key::default(
            "mode",
            Shape::Word(&[
                Word::new("disable"),
                Word::new("allow"),
                Word::new("require"),
                Word::new("verify"),
            ]),
            "require",
            "`disable`: not offered. `allow`: clients may do without. `require`: they may not. `verify`: the same, and each \
             shows a certificate of its user's, besides the password. Cancel requests are taken either way.",
        ),
        Key::required("cert", Shape::Text, "The certificate chain, PEM, the proxy's own first."),
        Key::required("key", Shape::Text, "Its private key, PEM; readable by the proxy's account alone."),
        Key::optional(
            "client_ca",
            Shape::Text,
            "Authorities of clients' certificates, PEM. `verify` needs it; with `allow` and `require` what a client shows \
             must be good, but need not be shown.",
        ),
    ],
};

static AUDIT: Section = Section {
    keys: &[
        Key::required(
            "path",
            Shape::Text,
            "The file. FILE.head, FILE.torn and finished files are made beside it.",
        ),
        Key::default(
            "durability",
            Shape::Word(&[Word::new("none"), Word::new("os"), Word::new("batched"), Word::new("fsync")]),
            "batched",
            "What a decision survives once its statement is forwarded. `os`: a kill of the proxy. `batched`: the same, and a \
             power cut that comes `sync_interval_ms` later. `fsync`: a power cut. `none`: nothing.",
        ),
        Key::default(
            "sync_interval_ms",
            Shape::Integer { min: 1, max: 60_000, unit: "milliseconds" },
            "50",
            "The longest time between two fdatasync.",
        ),
        Key::optional(
            "rotate_bytes",
            Shape::Integer { min: 65_536, max: i64::MAX, unit: "bytes" },
            "The file is finished when it is at least so long: it becomes NAME.TIME.SEQ.EXTENSION, and a new one goes on with \
             the chain. Without this key and the next one, never.",
        ),
        Key::optional(
            "rotate_age_ms",
            Shape::Integer { min: 1000, max: 31_536_000_000, unit: "milliseconds" },
            "The same when so much time lies between its first line and its last one.",
        ),
        Key::default(
            "statement",
            Shape::Word(&[Word::new("text"), Word::new("shape")]),
            "text",
            "What of a statement is written: its text, or its shape's fingerprint alone.",
        ),
        Key::default(
            "parameters",
            Shape::Word(&[Word::new("none"), Word::new("hash"), Word::new("full")]),
            "none",
            "What of bound values is written.",
        ),
        Key::optional(
            "key",
            Shape::Section(&SECRET),
            "The key that makes each line's hash an HMAC-SHA-256, of at least 32 bytes; one for the whole life of a file.",
        ),
    ],
};

static SECRET: Section = Section {
    keys: &[
        Key::optional(
            "env",
            Shape::Text,
            "An environment variable's name. One of the three keys is required.",
        ),
        Key::optional("file", Shape::Text, "A file; one newline at its end is not part of the secret."),
        Key::optional(
            "command",
            Shape::Text,
            "A command for `sh -c` that prints the secret, within ten seconds.",
        ),
    ],
};

static USER: Section = Section {
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

static DATABASE: Section = Section {
    keys: &[
        Key::required(
            "upstream",
            Shape::Section(&UPSTREAM),
            "Where it is, and as whom the proxy logs in there.",
        ),
        Key::optional("pool", Shape::Section(&POOL), "How its connections are shared."),
        Key::optional(
            "session",
            Shape::Map { key: "SETTING", value: &Shape::Text },
            "Settings that its connections start with and return to. `{tenant}` in a value stands for the user's tenant: then each \
             tenant has a pool of its own, with these limits, and users without a tenant have one without these settings.",
        ),
    ],
};

static UPSTREAM: Section = Section {
    keys: &[
        Key::optional(
            "host",
            Shape::Text,
            "Host name, IP address, or the absolute path of the folder of its Unix socket. Either it or `hosts` is \
             required.",
        ),
        Key::optional(
            "hosts",
            Shape::List(&Shape::Text),
            "Several servers with the same data, each as in `db1.example.com:5432`, tried in this order until one will \
             do: see \"Several servers\" below.",
        ),
        Key::default(
            "port",
            Shape::Integer { min: 1, max: 65_535, unit: "" },
            "5432",
            "TCP port, or the number in the socket's name; of `hosts` for those that name none.",
        ),
        Key::default(
            "target_session_attrs",
            Shape::Word(&[
                Word::new("any"),
                Word::new("read-write"),
                Word::new("read-only"),
                Word::new("primary"),
                Word::new("standby"),
                Word::new("prefer-standby"),
            ]),
            "any",
            "Which server will do, in libpq's words. `read-write`: no standby, and not read-only by default. `read-only`: \
             one of these. `primary`, `standby`: by that alone. `prefer-standby`: a standby, if there is none any.",
        ),
        Key::optional(
            "dbname",
            Shape::Text,
            "The database's name there; without it, the name that clients use.",
        ),
        Key::required("user", Shape::Text, "The role there. Give it no more rights than clients need."),
        Key::optional(
            "password",
            Shape::Section(&SECRET),
            "Where its password comes from; without it, the server must ask for none.",
        ),
        Key::default(
            "tls",
            Shape::Word(&[
                Word::new("verify-full"),
                Word::new("verify-ca"),
                Word::new("require"),
                Word::new("disable"),
            ]),
            "verify-full",
            "What is demanded of the way there, also for cancel requests. `verify-full`: TLS and a trusted certificate for \
             the host's name. `verify-ca`: for any name. `require`: TLS with whoever answers. `disable`: plain TCP. A Unix \
             socket has none.",
        ),
        Key::optional(
            "root_ca",
            Shape::Text,
            "With `verify-full` and `verify-ca`: authorities' certificates, PEM; without it, the system's.",
        ),
        Key::default(
            "weak_passwords",
            Shape::Word(&[Word::new("refuse"), Word::new("allow")]),
            "refuse",
            "Whether a server that asks for the password by MD5 or in clear text is answered.",
        ),
    ],
};

static POOL: Section = Section {
    keys: &[
        Key::default(
            "mode",
            Shape::Word(&[Word::new("session"), Word::new("transaction")]),
            "session",
            "How long a client keeps a connection: until it leaves, or for a transaction at a time, longer only while it \
             has left something on it that the next client would find.",
        ),
        Key::default(
            "size",
            Shape::Integer { min: 1, max: 10_000, unit: "connections" },
            "16",
            "Connections at most, without the reserve. Beside them the proxy has one that watches the catalog, and for moments \
             up to two that try out clients' start-up settings: mind them in a `CONNECTION LIMIT` of the role there.",
        ),
        Key::default(
            "minimum",
            Shape::Integer { min: 0, max: 10_000, unit: "connections" },
            "0",
            "Connections that are kept from the start on, however long nobody needs them.",
        ),
        Key::default(
            "reserve",
            Shape::Integer { min: 0, max: 10_000, unit: "connections" },
            "0",
            "Further connections for clients that have waited for `reserve_wait_ms`; closed when nobody waits any more.",
        ),
        milliseconds(
            "reserve_wait_ms",
            "1000",
            "How long a client waits before it may have one of the reserve.",
        ),
        milliseconds(
            "wait_timeout_ms",
            "5000",
            "How long a client waits for a connection, first come, first served; then it is told 53300.",
        ),
        milliseconds(
            "connect_timeout_ms",
            "5000",
            "From the first packet until the server is ready, for each address that is tried.",
        ),
        milliseconds(
            "idle_timeout_ms",
            "600000",
            "How long a connection rests before it is closed, where there are more than the minimum.",
        ),
        milliseconds(
            "lifetime_ms",
            "3600000",
            "How old a connection becomes: it is closed when it rests. Each has up to a tenth less, so that not all end at \
             once.",
        ),
    ],
};

static LIMITS: Section = Section {
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
            "50",
            "How long a session looks for its next message again and again before it sleeps, while no other session runs \
             anything: being woken takes longer than most answers. 0: it sleeps at once.",
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

const fn milliseconds(name: &'static str, default: &'static str, about: &'static str) -> Key {
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
