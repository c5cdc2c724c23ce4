//! Servers: where they are, and as whom and how the proxy logs in there.

use pgmoat_policy::policy::Problem;
use pgmoat_policy::policy::document::{Key, Node, Section, Shape, Word};
use pgmoat_upstream::{Address, SessionAttributes};

use super::load::Load;
use super::numbers::Numbers;
use super::secret::SECRET;
use super::{Tls, Upstream};

/// The keys of the section.
pub(super) static UPSTREAM: Section = Section {
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

impl Load<'_> {
    pub(super) fn upstream(&mut self, database: &str, node: &Node) -> Option<Upstream> {
        let text = |key| node.get(key).and_then(Node::text);
        let hosts = self.hosts(node);
        let attributes = self.attributes(node);
        let tls = self.upstream_tls(node, hosts.as_deref().unwrap_or_default());
        let password = node.get("password").and_then(|node| self.secret(node));
        Some(Upstream {
            hosts: hosts?,
            attributes,
            dbname: text("dbname").unwrap_or(database).to_owned(),
            user: text("user")?.to_owned(),
            password,
            tls,
            weak_passwords: text("weak_passwords") == Some("allow"),
        })
    }

    /// At least one; none where something is wrong with one of them.
    fn hosts(&mut self, node: &Node) -> Option<Vec<Address>> {
        let port = u16::try_from(Numbers::of(Some(node), &UPSTREAM).number("port")).ok()?;
        let (host, hosts) = match (node.get("host"), node.get("hosts")) {
            (Some(host), None) => return Some(vec![Address::new(host.text()?, port)]),
            (None, Some(hosts)) => (None, hosts.items()),
            (host, hosts) => (host, hosts.map(Node::items).unwrap_or_default()),
        };
        if hosts.is_empty() || host.is_some() {
            self.error(&node.place, "write either \"host\", or \"hosts\" with at least one");
            return None;
        }
        let addresses: Vec<Address> = hosts.iter().filter_map(|node| self.host(node, port)).collect();
        let is_socket = |address: &Address| matches!(address, Address::Unix { .. });
        if addresses.iter().any(is_socket) && !addresses.iter().all(is_socket) {
            self.error(&node.place, "either all \"hosts\" are folders of sockets, or none is");
        }
        for (at, (address, host)) in addresses.iter().zip(hosts).enumerate() {
            if addresses.iter().take(at).any(|before| before == address) {
                self.error(&host.place, format!("{address} stands twice"));
            }
        }
        (addresses.len() == hosts.len()).then_some(addresses)
    }

    fn host(&mut self, node: &Node, port: u16) -> Option<Address> {
        let text = node.text()?;
        match host(text, port) {
            Some(address) => Some(address),
            None => {
                let help = "as in db1.example.com:5432, \"[::1]:5432\" or /run/postgresql";
                let problem = Problem::error(node.place.clone(), "expected a host, and perhaps a port");
                self.problems.push(problem.help(help));
                None
            }
        }
    }

    fn attributes(&mut self, node: &Node) -> SessionAttributes {
        let given = node.get("target_session_attrs").and_then(Node::text);
        if let Some(hosts) = node.get("hosts").filter(|hosts| given.is_none() && hosts.items().len() > 1) {
            let message = "any of the hosts will do, a standby too, where every write fails";
            let problem = Problem::warning(hosts.place.clone(), message);
            self.problems
                .push(problem.help("say what you want: \"target_session_attrs: read-write\", or \"any\""));
        }
        given.and_then(SessionAttributes::from_name).unwrap_or_default()
    }

    fn upstream_tls(&mut self, node: &Node, hosts: &[Address]) -> Tls {
        let root_ca = node.get("root_ca");
        let sockets = hosts.iter().any(|host| matches!(host, Address::Unix { .. }));
        let mode = node.get("tls").and_then(Node::text);
        if let Some(tls) = node.get("tls").filter(|tls| sockets && tls.text() != Some("disable")) {
            self.error(&tls.place, "there is no TLS over a Unix socket");
        }
        let mode = if sockets { "disable" } else { mode.unwrap_or("verify-full") };
        if let Some(root_ca) = root_ca.filter(|_| !mode.starts_with("verify-")) {
            self.error(&root_ca.place, "only with \"tls: verify-full\" or \"tls: verify-ca\"");
        }
        let root_ca = root_ca.and_then(Node::text).map(|path| self.path(path));
        match mode {
            "disable" => Tls::Disable,
            "require" => {
                if let Some(node) = node.get("tls") {
                    let message = "the server's certificate is not verified: whoever answers is believed";
                    self.problems.push(Problem::warning(node.place.clone(), message));
                }
                Tls::Require
            }
            "verify-ca" => Tls::VerifyCa { root_ca },
            _ => Tls::VerifyFull { root_ca },
        }
    }
}

/// `HOST`, `HOST:PORT`, `[IPV6]`, `[IPV6]:PORT`, `/FOLDER` or `/FOLDER:PORT`.
fn host(text: &str, port: u16) -> Option<Address> {
    let (host, given) = match text.strip_prefix('[') {
        Some(bracketed) => match bracketed.split_once(']')? {
            (host, "") => (host, None),
            (host, rest) => (host, Some(rest.strip_prefix(':')?)),
        },
        // What has more than one colon is an IPv6 address without brackets, and what follows the first is no number.
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let port = match given {
        None => port,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|port| *port > 0)?
        }
        Some(_) => return None,
    };
    (!host.is_empty() && !host.contains(char::is_whitespace)).then(|| Address::new(host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_as_people_write_them() {
        for (text, expected) in [
            ("db1.example.com", "db1.example.com:5432"),
            ("db1:6000", "db1:6000"),
            ("10.0.0.1:6000", "10.0.0.1:6000"),
            ("[::1]", "[::1]:5432"),
            ("[2001:db8::1]:6000", "[2001:db8::1]:6000"),
            ("/run/postgresql", "/run/postgresql/.s.PGSQL.5432"),
            ("/run/postgresql:6000", "/run/postgresql/.s.PGSQL.6000"),
        ] {
            assert_eq!(host(text, 5432).map(|address| address.to_string()).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in [
            "",
            ":5432",
            "a:",
            "a:0",
            "a:65536",
            "a:+1",
            "a:b",
            "::1",
            "a b",
            "[::1",
            "[]",
            "[::1]:",
            "[::1]5432",
        ] {
            assert_eq!(host(text, 5432), None, "{text}");
        }
    }
}
