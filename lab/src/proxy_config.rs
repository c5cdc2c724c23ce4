//! The text of a pgmoat.yaml for the lab: the proxy is configured as its users configure it.

use std::fmt::Write as _;

use crate::{Cluster, POLICY_YAML, SERVICE_PASSWORD, SERVICE_USER, User, users};

/// What goes into pgmoat.yaml, and beside it. Change the fields, then start a [`Proxy`](crate::Proxy) with it.
#[derive(Debug, Clone)]
pub struct ProxyConfig {
    /// Where to listen; port 0 takes a free one.
    pub listen: String,
    /// The text of policy.yaml.
    pub policy: String,
    /// The settings of `audit`, without braces; the path is relative to the configuration.
    pub audit: String,
    /// Who may connect.
    pub users: Vec<User>,
    /// The databases that clients may name.
    pub databases: Vec<Database>,
    /// Further YAML, appended at the top level.
    pub extra: String,
    /// Environment variables of the proxy; the upstream password is one.
    pub env: Vec<(String, String)>,
}

/// One entry of `databases`.
#[derive(Debug, Clone)]
pub struct Database {
    /// The name that clients use.
    pub name: String,
    /// The upstream server's host: loopback, unless it is not the lab's.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Loopback ports of further servers with the same data.
    pub fallbacks: Vec<u16>,
    /// The upstream database.
    pub dbname: String,
    /// Further settings of `upstream`, without braces.
    pub upstream: String,
    /// The settings of `pool`, without braces.
    pub pool: String,
    /// Those of `session`.
    pub session: String,
}

impl ProxyConfig {
    /// The lab's users and policy before one database of a cluster, which clients call `lab`.
    #[must_use]
    pub fn lab(cluster: &Cluster, dbname: &str) -> Self {
        Self::before("127.0.0.1", cluster.port(), dbname)
    }

    /// The same before a database with the lab's schema on any server.
    #[must_use]
    pub fn before(host: &str, port: u16, dbname: &str) -> Self {
        Self {
            listen: "127.0.0.1:0".to_owned(),
            policy: POLICY_YAML.to_owned(),
            audit: "path: audit.jsonl, durability: batched".to_owned(),
            users: users().to_vec(),
            databases: vec![Database {
                name: "lab".to_owned(),
                host: host.to_owned(),
                port,
                fallbacks: Vec::new(),
                dbname: dbname.to_owned(),
                upstream: "tls: disable".to_owned(),
                pool: "mode: session, size: 64, wait_timeout_ms: 5000".to_owned(),
                session: String::new(),
            }],
            extra: String::new(),
            env: vec![(UPSTREAM_PASSWORD.to_owned(), SERVICE_PASSWORD.to_owned())],
        }
    }

    /// The text of pgmoat.yaml, with `policy` as the path of the policy file.
    #[must_use]
    pub fn yaml(&self, policy: &str) -> String {
        let mut yaml =
            format!("listen: {}\npolicy: {policy}\naudit: {{ {} }}\nusers:\n", self.listen, self.audit);
        // Writing to a String does not fail.
        for user in &self.users {
            let tenant = user.tenant.map(|tenant| format!(", tenant: {tenant}")).unwrap_or_default();
            let (name, verifier, role) = (user.name, user.verifier(), user.role);
            let _ = writeln!(yaml, "  - {{ name: {name}, verifier: \"{verifier}\", role: {role}{tenant} }}");
        }
        yaml.push_str("databases:\n");
        for Database { name, host, port, fallbacks, dbname, upstream, pool, session } in &self.databases {
            let place = match fallbacks.as_slice() {
                [] => format!("host: {host}, port: {port}"),
                more => {
                    let more = more.iter().map(|port| format!(", \"127.0.0.1:{port}\"")).collect::<String>();
                    format!("hosts: [\"{host}:{port}\"{more}]")
                }
            };
            let login = format!("user: {SERVICE_USER}, password: {{ env: {UPSTREAM_PASSWORD} }}");
            let _ = writeln!(yaml, "  {name}:");
            let _ = writeln!(yaml, "    upstream: {{ {place}, dbname: {dbname}, {login}, {upstream} }}");
            let _ = writeln!(yaml, "    pool: {{ {pool} }}\n    session: {{ {session} }}");
        }
        yaml.push_str(&self.extra);
        yaml
    }
}

const UPSTREAM_PASSWORD: &str = "PGMOAT_UPSTREAM_PASSWORD";
