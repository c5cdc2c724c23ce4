//! How clients connect: addresses, sockets, encryption.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use pgmoat_policy::policy::document::{Content, Key, Node, Section, Shape, Word};
use pgmoat_policy::policy::{Place, Problem};

use super::Config;
use super::load::Load;

/// Where clients connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// An address; port 0 takes a free one.
    Tcp(SocketAddr),
    /// A socket's file, by its absolute path.
    Unix(PathBuf),
}

/// Encryption towards clients.
#[derive(Debug)]
pub struct ClientTls {
    /// What clients must do.
    pub mode: ClientTlsMode,
    /// The certificate chain, PEM.
    pub cert: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
    /// Authorities of clients' certificates, PEM; there is one with [`ClientTlsMode::Verify`].
    pub client_ca: Option<PathBuf>,
    pub(crate) place: Place,
}

/// What a client that does not come over a Unix socket must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientTlsMode {
    /// Nothing.
    Allow,
    /// Encrypt.
    Require,
    /// Encrypt, and show a certificate of its user's.
    Verify,
}

/// The keys of the section.
pub(super) static TLS: Section = Section {
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

impl Config {
    /// The files whose change means another encryption towards clients.
    pub fn tls_files(&self) -> Vec<PathBuf> {
        let files = |tls: &ClientTls| [Some(tls.cert.clone()), Some(tls.key.clone()), tls.client_ca.clone()];
        self.tls.iter().flat_map(files).flatten().collect()
    }
}

impl Load<'_> {
    pub(super) fn listen(&mut self, node: Option<&Node>) -> Option<Vec<Listen>> {
        let node = node?;
        let nodes = match &node.content {
            Content::List(_) => node.items().iter().collect(),
            Content::Text(_)
            | Content::Null
            | Content::Boolean(_)
            | Content::Integer(_)
            | Content::Number
            | Content::Map(_) => vec![node],
        };
        if nodes.is_empty() {
            self.error(&node.place, "there is no address to listen on");
        }
        let addresses: Vec<Listen> = nodes.iter().filter_map(|node| self.address(node)).collect();
        for (at, (address, node)) in addresses.iter().zip(&nodes).enumerate() {
            if addresses.iter().take(at).any(|before| before == address && !address.is_free_port()) {
                self.error(&node.place, format!("{address} stands twice"));
            }
        }
        (!addresses.is_empty() && addresses.len() == nodes.len()).then_some(addresses)
    }

    fn address(&mut self, node: &Node) -> Option<Listen> {
        let text = node.text()?;
        let problem = match text.strip_prefix("unix://") {
            Some(path) if !path.starts_with('/') => "expected unix:// and an absolute path",
            Some(path) if path.len() > SOCKET_PATH_BYTES_MAX => "the path is longer than a socket's may be",
            Some(path) if path.ends_with('/') || path.contains('\0') => "expected a file, not a folder",
            Some(path) => return Some(Listen::Unix(PathBuf::from(path))),
            None => match text.parse() {
                Ok(address) => return Some(Listen::Tcp(address)),
                Err(_) => "expected an IP address and a port, or unix:// and a path",
            },
        };
        let help = "as in 127.0.0.1:6432, \"[::1]:6432\" or unix:///run/pgmoat/.s.PGSQL.6432";
        self.problems.push(Problem::error(node.place.clone(), problem).help(help));
        None
    }

    pub(super) fn socket_mode(&mut self, node: Option<&Node>) -> u32 {
        let Some((node, text)) = node.and_then(|node| Some((node, node.text()?))) else { return 0o777 };
        let digits = (3..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        match u32::from_str_radix(text, 8) {
            Ok(mode) if digits && mode <= 0o777 => mode,
            Ok(_) | Err(_) => {
                self.error(&node.place, "expected permissions in octal digits, as in \"0770\"");
                0o777
            }
        }
    }

    pub(super) fn client_tls(&mut self, node: Option<&Node>) -> Option<ClientTls> {
        let node = node?;
        let mode = match node.get("mode").and_then(Node::text) {
            Some("disable") => return None,
            Some("allow") => ClientTlsMode::Allow,
            Some("verify") => ClientTlsMode::Verify,
            Some(_) | None => ClientTlsMode::Require,
        };
        let file = |load: &Self, key| node.get(key).and_then(Node::text).map(|path| load.path(path));
        let client_ca = file(self, "client_ca");
        match (mode, &client_ca) {
            (ClientTlsMode::Verify, None) => {
                self.error(&node.place, "\"mode: verify\" needs \"client_ca\"");
            }
            (ClientTlsMode::Allow | ClientTlsMode::Require, Some(_)) => {
                let message = "clients need not show a certificate of \"client_ca\"";
                let problem = Problem::warning(node.place.clone(), message);
                self.problems.push(problem.help("\"mode: verify\" demands one"));
            }
            (ClientTlsMode::Verify, Some(_)) | (ClientTlsMode::Allow | ClientTlsMode::Require, None) => {}
        }
        Some(ClientTls {
            mode,
            cert: file(self, "cert")?,
            key: file(self, "key")?,
            client_ca,
            place: node.place.clone(),
        })
    }
}

impl Listen {
    fn is_free_port(&self) -> bool {
        matches!(self, Listen::Tcp(address) if address.port() == 0)
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Tcp(address) => address.fmt(f),
            Listen::Unix(path) => write!(f, "unix://{}", path.display()),
        }
    }
}

/// sockaddr_un has 108 bytes with the NUL; a new socket has five more while it is made.
const SOCKET_PATH_BYTES_MAX: usize = 102;
