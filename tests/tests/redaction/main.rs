//! What errors, notices and masked columns say to whom (policy 3.9 and 4.5), next to what PostgreSQL itself says.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they saw"
)]

mod budget;
mod canary;
mod conflicts;
mod kept;
mod masks;
mod named;
mod notices;

use pgmoat_lab::{POLICY_YAML, SERVICE_USER, SUPERUSER, User};
use pgmoat_tests::{Login, Message, Proxied, Raw, Stack, Transcript};

/// The lab's policy with a role that may run anything and whose errors are rebuilt all the same: it has a mask.
fn policy_with_open_role() -> String {
    let open = "  open:
    tenant: exempt
    unrestricted: true
    statements: [select]
    relations: { allow: [\"app.*\", \"billing.*\", \"public.*\"] }
    functions: { preset: standard }
    masks: [{ column: app.customers.phone, kind: \"null\" }]
";
    let place = "\nsystem_catalogs: introspection\n";
    let policy = POLICY_YAML.replace(place, &format!("{open}{place}"));
    assert_ne!(policy, POLICY_YAML);
    policy
}

/// A proxy where `opener` has that role.
fn proxy_with_open_role(database: &str) -> Proxied {
    Stack::get()
        .proxy_before(database, |config| {
            config.policy = policy_with_open_role();
            config.users.push(User { name: "opener", role: "open", tenant: None });
        })
        .unwrap()
}

fn open<'a>(proxied: &Proxied) -> Login<'a> {
    let password = "opener-secret".to_owned();
    Login { port: proxied.proxy.port(), user: "opener", password, database: "lab", more: &[] }
}

/// PostgreSQL itself, with the proxy's own login.
fn direct(database: &str) -> Raw {
    Raw::connect(&Stack::get().direct(SERVICE_USER, database)).unwrap()
}

/// PostgreSQL itself, as its superuser.
fn superuser(database: &str) -> Raw {
    Raw::connect(&Stack::get().direct(SUPERUSER, database)).unwrap()
}

fn run(raw: &mut Raw, sql: &str) {
    let heard = raw.query(sql).unwrap();
    assert_eq!(heard.codes(), Vec::<String>::new(), "{sql}: {:?}", heard.error_field(b'M'));
}

fn error<'a>(heard: &'a Transcript, of: &str) -> &'a Message {
    heard.errors().next().unwrap_or_else(|| panic!("{of}: no error in {heard}"))
}

/// Whether any of a message's bytes are these words.
fn says(message: &Message, words: &str) -> bool {
    message.body.windows(words.len()).any(|window| window == words.as_bytes())
}
