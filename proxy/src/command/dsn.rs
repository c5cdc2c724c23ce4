//! A connection URI, as far as libpq's and ours agree.

use std::collections::BTreeMap;
use std::env;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use pgmoat_upstream::{
    Address, Endpoint, PinnedSettings, Secret, SessionAttributes, Target, TlsPolicy, WeakPasswords,
};

/// What a URI says. `Debug` is not derived: it may hold a password.
struct Parts {
    user: String,
    password: Option<String>,
    host: String,
    port: u16,
    database: String,
    options: BTreeMap<String, String>,
}

/// Where a URI leads to.
///
/// # Errors
/// What is wrong with it; never its password.
pub(super) fn target(uri: &str) -> Result<Target, String> {
    let Parts { user, password, host, port, database, options } = parts(uri)?;
    let tls = tls(&host, &options)?;
    let password = password.or_else(|| env::var("PGPASSWORD").ok());
    Ok(Target {
        endpoint: Endpoint {
            address: Address::new(&host, port),
            tls,
            connect_timeout: CONNECT_TIMEOUT,
            keepalive: None,
        },
        fallbacks: Vec::new(),
        attributes: SessionAttributes::Any,
        database,
        user,
        password: password.map(Secret::new),
        settings: PinnedSettings::new(&[], BTreeMap::new()).map_err(|error| error.to_string())?,
        weak_passwords: WeakPasswords::Refuse,
    })
}

fn tls(host: &str, options: &BTreeMap<String, String>) -> Result<TlsPolicy, String> {
    if let Some(unknown) = options.keys().find(|key| !matches!(key.as_str(), "sslmode" | "sslrootcert")) {
        return Err(format!("unknown parameter \"{unknown}\", expected sslmode or sslrootcert"));
    }
    let loopback =
        host == "localhost" || host.starts_with('/') || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    let default = if loopback { "disable" } else { "verify-full" };
    let policy = match options.get("sslmode").map_or(default, String::as_str) {
        "disable" => Ok(TlsPolicy::disable()),
        "require" => TlsPolicy::require(),
        "verify-ca" => TlsPolicy::verify_ca(options.get("sslrootcert").map(PathBuf::from).as_deref()),
        "verify-full" => TlsPolicy::verify_full(options.get("sslrootcert").map(PathBuf::from).as_deref()),
        other => {
            return Err(format!("sslmode \"{other}\", expected verify-full, verify-ca, require or disable"));
        }
    };
    policy.map_err(|error| error.to_string())
}

fn parts(uri: &str) -> Result<Parts, String> {
    let rest = ["postgresql://", "postgres://"].iter().find_map(|scheme| uri.strip_prefix(scheme));
    let rest = rest.ok_or("expected postgresql://user@host:port/database")?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').ok_or("the database's name is missing")?;
    // A password may hold an @ that nobody encoded; a host does not.
    let (login, server) = authority.rsplit_once('@').ok_or("the user's name is missing")?;
    let (user, password) = match login.split_once(':') {
        Some((user, password)) => (user, Some(decode(password)?)),
        None => (login, None),
    };
    let (host, port) = host_and_port(server)?;
    let options = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').ok_or("a parameter without a value")?;
        Ok((decode(key)?, decode(value)?))
    });
    let parts = Parts {
        user: decode(user)?,
        password,
        host: decode(host)?,
        port,
        database: decode(database)?,
        options: options.collect::<Result<_, String>>()?,
    };
    match (parts.user.is_empty(), parts.host.is_empty(), parts.database.is_empty()) {
        (false, false, false) => Ok(parts),
        _ => Err("user, host and database are needed".to_owned()),
    }
}

fn host_and_port(server: &str) -> Result<(&str, u16), String> {
    let (host, port) = match server.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("a [ without ]")?;
            (host, rest.strip_prefix(':'))
        }
        None => match server.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (server, None),
        },
    };
    match port {
        None => Ok((host, DEFAULT_PORT)),
        Some(port) => Ok((host, port.parse().map_err(|_| "the port is no number up to 65535")?)),
    }
}

/// Undoes percent-encoding.
fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2).ok_or("a % without two hexadecimal digits")?;
        let digits = str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'));
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(value.ok_or("a % without two hexadecimal digits")?);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| "percent-encoded bytes that are no UTF-8".to_owned())
}

const DEFAULT_PORT: u16 = 5432;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_taken_apart() {
        let parts =
            parts("postgresql://u%40x:p%3Aw@s@[::1]:6543/my%20db?sslmode=require&sslrootcert=a%26b").unwrap();
        assert_eq!((parts.user.as_str(), parts.password.as_deref()), ("u@x", Some("p:w@s")));
        assert_eq!((parts.host.as_str(), parts.port, parts.database.as_str()), ("::1", 6543, "my db"));
        assert_eq!(parts.options.get("sslrootcert").unwrap(), "a&b");
        let parts = super::parts("postgres://u@h/d").ok().unwrap();
        assert_eq!((parts.password, parts.port), (None, 5432));
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for uri in [
            "",
            "http://u:hunter2@h/d",
            "postgres://u:hunter2@h",
            "postgres://h/d",
            "postgres://u:hunter2@/d",
            "postgres://u:hunter2@h:x/d",
            "postgres://u:hunter2@h:99999/d",
            "postgres://u:hunter%2@h/d",
            "postgres://u:hunter2@h/d?sslmode=prefer",
            "postgres://u:hunter2@h/d?x=1",
            "postgres://u:hunter2@[::1/d",
            "postgres://u:%ff@h/d",
            "postgres://u:hunter2@h/",
        ] {
            let error = target(uri).unwrap_err();
            assert!(!error.contains("hunter"), "{error}");
        }
    }
}
