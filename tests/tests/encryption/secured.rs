//! A proxy with a certificate.

use std::io;
use std::path::Path;

use pgmoat_tests::{Authority, Identity, Login, Proxied, Raw, Stack, TlsClient};

/// A proxy that offers TLS, and the authority behind its certificate.
pub(crate) struct Secured {
    pub(crate) proxied: Proxied,
    pub(crate) authority: Authority,
    pub(crate) server: Identity,
}

impl Secured {
    pub(crate) fn with_mode(mode: &str) -> Secured {
        Secured::by(Authority::new().unwrap(), mode)
    }

    /// With a certificate that this authority signs.
    pub(crate) fn by(authority: Authority, mode: &str) -> Secured {
        let server = authority.server("server", &["localhost"]).unwrap();
        let tls = tls_section(&server, mode, (mode == "verify").then(|| authority.certificate()).as_deref());
        let proxied = Stack::get().proxy_with(|config| config.extra = tls).unwrap();
        Secured { proxied, authority, server }
    }

    pub(crate) fn port(&self) -> u16 {
        self.proxied.proxy.port()
    }

    pub(crate) fn client(&self) -> TlsClient {
        TlsClient::new(&self.authority.certificate(), None, &[b"postgresql"]).unwrap()
    }

    /// A client that shows a certificate.
    pub(crate) fn client_as(&self, identity: &Identity) -> TlsClient {
        TlsClient::new(&self.authority.certificate(), Some(identity), &[b"postgresql"]).unwrap()
    }

    /// An encrypted connection that has logged in.
    pub(crate) fn connect(&self, user: &str) -> io::Result<Raw> {
        let mut raw = Raw::open_tls(self.port(), &self.client())?;
        raw.log_in(&self.login(user))?;
        Ok(raw)
    }

    pub(crate) fn login<'a>(&self, user: &'a str) -> Login<'a> {
        self.proxied.login(user)
    }
}

/// The section `tls` of a configuration.
pub(crate) fn tls_section(identity: &Identity, mode: &str, client_ca: Option<&Path>) -> String {
    let ca = client_ca.map(|path| format!(", client_ca: {}", path.display())).unwrap_or_default();
    let (cert, key) = (identity.cert.display(), identity.key.display());
    format!("tls: {{ mode: {mode}, cert: {cert}, key: {key}{ca} }}\n")
}

/// The lines of this kind in the proxy's audit log.
pub(crate) fn audited(proxied: &Proxied, kind: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(proxied.proxy.audit_path()).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|line: &serde_json::Value| line["kind"] == kind).collect()
}

/// What the proxy holds in memory.
pub(crate) fn resident_bytes(proxied: &Proxied) -> u64 {
    let pid = proxied.proxy.pid().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

pub(crate) const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
pub(crate) const VERSION_3: u32 = 0x0003_0000;
