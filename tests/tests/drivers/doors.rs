//! The ways to one database: PostgreSQL itself, and a proxy for each mode.

use std::path::PathBuf;
use std::sync::LazyLock;

use pgmoat_lab::{POLICY_YAML, Proxy, ProxyConfig, SERVICE_USER};
use pgmoat_tests::{Authority, Identity, Mode, Stack};

/// How a driver's script reaches the database.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) mode: Mode,
    /// A connection string without encryption: as a tenant's user where there are users.
    pub(crate) dsn: String,
    /// The host by the name that its certificate has.
    pub(crate) tls_dsn: String,
    /// As a user to whom nothing is refused.
    pub(crate) ops_dsn: String,
    /// Who signed the certificate.
    pub(crate) ca: PathBuf,
    _proxy: Option<Proxy>,
}

/// All doors; the first one is PostgreSQL's own.
pub(crate) fn doors() -> &'static [Door] {
    static DOORS: LazyLock<Vec<Door>> = LazyLock::new(open);
    &DOORS
}

fn open() -> Vec<Door> {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    stack.cluster().pgbench_init(&database, 1).unwrap();
    // Their files live as long as the process.
    let authority = Box::leak(Box::new(Authority::new().unwrap()));
    let identity = authority.server("server", &["localhost"]).unwrap();
    encrypt_directly(&database, &identity);
    let ca = authority.certificate();
    let direct = stack.cluster().dsn(SERVICE_USER, &database);
    let door = |mode, dsn: String, ops_dsn: String, proxy| {
        let tls = format!("?sslmode=verify-full&sslrootcert={}", ca.display());
        let tls_dsn = dsn.replace("127.0.0.1", "localhost") + &tls;
        let plain = |dsn: String| dsn + "?sslmode=disable";
        Door { mode, dsn: plain(dsn), tls_dsn, ops_dsn: plain(ops_dsn), ca: ca.clone(), _proxy: proxy }
    };
    let mut doors = vec![door(Mode::Direct, direct.clone(), direct, None)];
    for mode in Mode::PROXIED {
        let proxied = stack.proxy_before(&database, |config| configure(config, *mode, &identity)).unwrap();
        let dsn = |user| proxied.dsn(user);
        doors.push(door(*mode, dsn("acme_app"), dsn("ops"), Some(proxied.proxy)));
    }
    doors
}

fn configure(config: &mut ProxyConfig, mode: Mode, identity: &Identity) {
    let (cert, key) = (identity.cert.display(), identity.key.display());
    config.extra = format!("tls: {{ mode: allow, cert: {cert}, key: {key} }}\n");
    let exempt = "    explain: analyze\n";
    config.policy = POLICY_YAML.replacen(exempt, &format!("{exempt}    unrestricted: true\n"), 1);
    // A megabyte as a literal, by those who write values into the text.
    let tenants = "functions: { preset: standard, allow: [\"app.net_price\"] }\n";
    let limits = format!("{tenants}    limits: {{ statement_bytes: 4194304 }}\n");
    assert!(config.policy.contains(exempt) && config.policy.contains(tenants));
    config.policy = config.policy.replacen(tenants, &limits, 1);
    // With transactions alone to be served, fewer connections than clients do.
    let size = if mode == Mode::Transaction { 8 } else { 64 };
    for database in &mut config.databases {
        database.pool = mode.pool(size);
    }
}

/// PostgreSQL itself gets the same certificate: its own account writes the files.
fn encrypt_directly(database: &str, identity: &Identity) {
    let psql = |sql: &str| drop(Stack::get().cluster().psql(database, sql).unwrap());
    for (path, file) in [(&identity.cert, "server.crt"), (&identity.key, "server.key")] {
        let lines = std::fs::read_to_string(path).unwrap();
        let values: Vec<String> = lines.lines().map(|line| format!("('{line}')")).collect();
        let write = format!("umask 077 && cat > {file}");
        psql(&format!("COPY (VALUES {}) TO PROGRAM '{write}'", values.join(", ")));
    }
    psql("ALTER SYSTEM SET ssl = on");
    psql("SELECT pg_reload_conf()");
}
