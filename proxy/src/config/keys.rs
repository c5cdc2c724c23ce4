//! Every key of the configuration file and of a users file (the lists are closed).

use pgmoat_policy::policy::document::{self, Built, Key, Section, Shape, Word};

/// The configuration file.
pub static CONFIGURATION_FILE: Section = Section {
    keys: &[
        Key::required(
            "listen",
            Shape::Text,
            "Where clients connect: an IP address and a port, as in `127.0.0.1:6432`.",
        ),
        Key::optional("tls", Shape::Section(&TLS), "Encryption towards clients.").built(Built::NotYet),
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
        Key::optional("admin", Shape::Section(&ADMIN), "HTTP for operators.").built(Built::NotYet),
    ],
};

/// A file that `users` names.
pub static USERS_FILE: Section =
    Section { keys: &[Key::required("users", Shape::List(&Shape::Section(&USER)), "Who may log in.")] };

static TLS: Section = Section {
    keys: &[
        Key::required("cert", Shape::Text, "The certificate chain, PEM."),
        Key::required("key", Shape::Text, "Its private key, PEM."),
        Key::optional("client_ca", Shape::Text, "Authorities of clients' certificates, PEM."),
        Key::optional(
            "mode",
            Shape::Word(&[Word::new("allow"), Word::new("require")]),
            "Whether clients may do without.",
        ),
    ],
};

static ADMIN: Section = Section {
    keys: &[Key::required("listen", Shape::Text, "Where operators connect: an IP address and a port.")],
};

static AUDIT: Section = Section {
    keys: &[
        Key::required("path", Shape::Text, "The file. FILE.head and FILE.torn are made beside it."),
        Key::default(
            "durability",
            Shape::Word(&[Word::new("none"), Word::new("os"), Word::new("batched"), Word::new("fsync")]),
            "batched",
            "What a decision survives before its statement is forwarded. `os`: a kill of the proxy. `batched`: the same, \
             and a power cut soon after. `fsync`: a power cut. `none`: nothing.",
        ),
        Key::default(
            "sync_interval_ms",
            Shape::Integer { min: 1, max: 60_000, unit: "milliseconds" },
            "50",
            "The longest time between two fdatasync.",
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
            "The key that makes each line's hash an HMAC-SHA-256; one for the whole life of a file.",
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
            Shape::Text,
            "`SCRAM-SHA-256$ITERATIONS:SALT$STOREDKEY:SERVERKEY`, as `pgmoat user add` and PostgreSQL make it; 4096 iterations at least.",
        ),
        Key::required("role", Shape::Text, "A role of the policy."),
        Key::optional("tenant", Shape::Text, "The tenant, if and only if the role has `tenant: required`."),
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
            "Settings that its connections start with and return to.",
        ),
    ],
};

static UPSTREAM: Section = Section {
    keys: &[
        Key::required("host", Shape::Text, "Host name or IP address."),
        Key::default("port", Shape::Integer { min: 1, max: 65_535, unit: "" }, "5432", "TCP port."),
        Key::optional(
            "dbname",
            Shape::Text,
            "The database's name there; without it, the name that clients use.",
        ),
        Key::required("user", Shape::Text, "The role there. Give it no more rights than clients need."),
        Key::optional("password", Shape::Section(&SECRET), "Where its password comes from."),
        Key::default(
            "tls",
            Shape::Word(&[Word::new("verify-full"), Word::new("require"), Word::new("disable")]),
            "verify-full",
            "What is demanded of the way there. `require`: TLS with whoever answers. `disable`: plain TCP.",
        ),
        Key::optional(
            "root_ca",
            Shape::Text,
            "With `verify-full`: authorities' certificates, PEM; without it, the system's.",
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
            Shape::Word(&[Word::new("session"), Word::not_built("transaction", Built::NotYet)]),
            "session",
            "How long a client keeps a connection.",
        ),
        Key::default(
            "size",
            Shape::Integer { min: 1, max: 10_000, unit: "connections" },
            "16",
            "Connections at most.",
        ),
        milliseconds("wait_timeout_ms", "5000", "How long a client waits for a connection."),
        milliseconds("connect_timeout_ms", "5000", "From the first packet until the server is ready."),
        milliseconds("idle_timeout_ms", "600000", "How long a connection rests before it is closed."),
        milliseconds("lifetime_ms", "3600000", "How old a connection becomes."),
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
        milliseconds("login_timeout_ms", "10000", "From the connection until the login is complete."),
        Key::default(
            "statements_per_client",
            Shape::Integer { min: 1, max: 1_000_000, unit: "statements" },
            "1000",
            "Prepared statements that one client may have.",
        ),
        Key::default(
            "message_bytes",
            Shape::Integer { min: 65_536, max: 1_073_741_823, unit: "bytes" },
            "67108864",
            "The longest message that a client may send.",
        ),
        Key::default(
            "drain_rows",
            Shape::Integer { min: 0, max: i64::MAX, unit: "rows" },
            "100000",
            "Rows that are read and dropped over a row cap before the statement is cancelled.",
        ),
        milliseconds("drain_timeout_ms", "30000", "From SIGTERM until what still runs is cancelled."),
        milliseconds("catalog_refresh_ms", "1000", "Between two looks at whether a catalog has changed."),
    ],
};

const fn milliseconds(name: &'static str, default: &'static str, about: &'static str) -> Key {
    Key::default(name, Shape::Integer { min: 1, max: 86_400_000, unit: "milliseconds" }, default, about)
}

/// The JSON Schema of the configuration file.
pub fn schema() -> serde_json::Value {
    document::schema("pgmoat configuration", &CONFIGURATION_FILE)
}

/// The reference page of the configuration file, in Markdown.
pub fn reference() -> String {
    document::reference("The configuration file", INTRODUCTION, &CONFIGURATION_FILE)
}

const INTRODUCTION: &str =
    "Every key, its type, unit and default. The list is closed: an unknown key, a key that stands
twice, a word or number outside its range are errors, all reported at once with line and path.

Secrets come from an environment variable, a file or a command; they never stand in the file.

Made from the table that the file is read by; `schema/configuration.json` is its JSON Schema.";
