//! What a client's first packet says: an own, strict decoder.
//!
//! Libraries take the parameters into a map (a second `user` wins: that became a superuser against
//! a real server) and decode lossily. Here a key that is given twice, a byte too many and a text
//! that is not UTF-8 end the connection. Nothing of this packet is ever forwarded; the upstream
//! packet is built from what was validated.
//!
//! INVARIANT (own packet): settings reach the session only through the policy's settings rule.

use std::collections::BTreeSet;

/// The newest protocol that is spoken: 3.2, whose cancel keys are longer.
pub(crate) const NEWEST_PROTOCOL: u32 = 3 << 16 | 2;
/// The most parameters and `options` settings that a packet may carry.
const MAX_SETTINGS: usize = 128;
/// The longest name (PostgreSQL's NAMEDATALEN less its NUL).
const MAX_NAME_BYTES: usize = 63;
/// The longest cancel key of protocol 3.2.
const MAX_CANCEL_KEY_BYTES: usize = 256;

const CANCEL_CODE: u32 = 80_877_102;
pub(super) const SSL_CODE: u32 = 80_877_103;
pub(super) const GSS_CODE: u32 = 80_877_104;

/// A first packet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// SSLRequest.
    Ssl,
    /// GSSENCRequest.
    Gss,
    /// CancelRequest.
    Cancel {
        /// The backend that the client was told.
        pid: i32,
        /// The key that the client was told.
        key: Vec<u8>,
    },
    /// StartupMessage.
    Startup(Startup),
}

/// A validated StartupMessage.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Startup {
    /// `user`.
    pub(crate) user: String,
    /// `database`, by default the user's name.
    pub(crate) database: String,
    /// Every other parameter that is a setting, also those inside `options`, in the order of the
    /// packet: name (as written) and value.
    pub(crate) settings: Vec<(String, String)>,
    /// Parameters that start with `_pq_.`: named in NegotiateProtocolVersion and dropped.
    pub(crate) extensions: Vec<String>,
    /// The protocol to speak: what was asked for, or [`NEWEST_PROTOCOL`] if that was newer.
    pub(crate) version: u32,
    /// The version asked for is newer.
    pub(crate) newer_minor: bool,
}

impl Startup {
    /// Whether NegotiateProtocolVersion is owed, before authentication.
    pub(crate) fn needs_negotiation(&self) -> bool {
        self.newer_minor || !self.extensions.is_empty()
    }
}

/// Why a first packet is refused: the client's fault, always.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The connection is closed without a word, as PostgreSQL does for a wild length.
    Close,
    /// FATAL with this SQLSTATE and message.
    Fatal(&'static str, String),
}

/// Decodes the packet's body: all that follows the length word.
///
/// # Errors
/// [`Refused`] for anything that PostgreSQL would refuse, a key given twice, `replication` other
/// than false, and switches in `options` that are not settings.
pub(crate) fn decode(body: &[u8]) -> Result<Opening, Refused> {
    let (code, rest) = split_u32(body).ok_or(Refused::Close)?;
    match code {
        SSL_CODE => empty(rest).map(|()| Opening::Ssl),
        GSS_CODE => empty(rest).map(|()| Opening::Gss),
        CANCEL_CODE => cancel(rest),
        version if version >> 16 == 3 => startup(version, rest).map(Opening::Startup),
        version => Err(unsupported(version)),
    }
}

/// PostgreSQL's words, also for a request that has no place where it came.
pub(super) fn unsupported(version: u32) -> Refused {
    let (major, minor) = (version >> 16, version & 0xffff);
    let message = format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.2");
    Refused::Fatal("0A000", message)
}

fn split_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*word), rest))
}

fn empty(rest: &[u8]) -> Result<(), Refused> {
    rest.is_empty().then_some(()).ok_or(Refused::Close)
}

fn cancel(rest: &[u8]) -> Result<Opening, Refused> {
    let (pid, key) = split_u32(rest).ok_or(Refused::Close)?;
    if key.len() < 4 || key.len() > MAX_CANCEL_KEY_BYTES {
        return Err(Refused::Close);
    }
    Ok(Opening::Cancel { pid: pid.cast_signed(), key: key.to_vec() })
}

fn startup(version: u32, rest: &[u8]) -> Result<Startup, Refused> {
    let mut startup = Startup {
        version: version.min(NEWEST_PROTOCOL),
        newer_minor: version > NEWEST_PROTOCOL,
        ..Startup::default()
    };
    let parameters = parameters(rest)?;
    let mut seen = BTreeSet::new();
    if let Some((key, _)) = parameters.iter().find(|(key, _)| !seen.insert(*key)) {
        return Err(protocol(format!("parameter \"{key}\" is given twice in the startup packet")));
    }
    let mut user = None;
    let mut database = None;
    for (key, value) in parameters {
        match key {
            "user" => user = Some(value),
            "database" => database = Some(value),
            "replication" => refuse_replication(value)?,
            "options" => options(value, &mut startup.settings)?,
            _ if key.starts_with("_pq_.") => startup.extensions.push(key.to_owned()),
            _ => startup.settings.push((key.to_owned(), value.to_owned())),
        }
    }
    if startup.settings.len() + startup.extensions.len() > MAX_SETTINGS {
        return Err(protocol(format!("more than {MAX_SETTINGS} parameters in the startup packet")));
    }
    let Some(user) = user.filter(|user| !user.is_empty()) else {
        return Err(Refused::Fatal(
            "28000",
            "no PostgreSQL user name specified in startup packet".to_owned(),
        ));
    };
    name(user).clone_into(&mut startup.user);
    name(database.filter(|name| !name.is_empty()).unwrap_or(user)).clone_into(&mut startup.database);
    Ok(startup)
}

/// A name as PostgreSQL takes it from a first packet: cut where its names end. What nobody has
/// proven yet must not fill the audit log either.
pub(super) fn name(claimed: &str) -> &str {
    let end = (0..=MAX_NAME_BYTES.min(claimed.len())).rev().find(|at| claimed.is_char_boundary(*at));
    claimed.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// The packet's keys and values: each ends in NUL, an empty key ends the list and the packet.
fn parameters(mut rest: &[u8]) -> Result<Vec<(&str, &str)>, Refused> {
    let mut parameters = Vec::new();
    loop {
        let (key, after_key) = text(rest)?;
        if key.is_empty() {
            return if after_key.is_empty() {
                Ok(parameters)
            } else {
                Err(protocol("invalid startup packet layout: expected terminator as last byte".to_owned()))
            };
        }
        let (value, after_value) = text(after_key)?;
        parameters.push((key, value));
        rest = after_value;
    }
}

fn text(bytes: &[u8]) -> Result<(&str, &[u8]), Refused> {
    let end = bytes.iter().position(|&byte| byte == 0).ok_or_else(|| {
        protocol("invalid startup packet layout: expected terminator as last byte".to_owned())
    })?;
    let (text, rest) = bytes.split_at(end);
    let text =
        std::str::from_utf8(text).map_err(|_| protocol("the startup packet is not UTF-8".to_owned()))?;
    Ok((text, rest.get(1..).unwrap_or_default()))
}

fn refuse_replication(value: &str) -> Result<(), Refused> {
    const FALSE: [&str; 5] = ["false", "off", "no", "0", "f"];
    if FALSE.iter().any(|word| value.eq_ignore_ascii_case(word)) {
        return Ok(());
    }
    Err(Refused::Fatal("0A000", "replication connections are not allowed through pgmoat".to_owned()))
}

/// Settings inside `options`, split as PostgreSQL splits them (`pg_split_opts`): white space
/// separates, a backslash takes the next byte as it is.
fn options(text: &str, settings: &mut Vec<(String, String)>) -> Result<(), Refused> {
    let words = split_options(text);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let setting = if let Some(long) = word.strip_prefix("--") {
            long
        } else if word == "-c" {
            words.next().map(String::as_str).ok_or_else(|| bad_option(word))?
        } else if let Some(short) = word.strip_prefix("-c") {
            short
        } else {
            return Err(bad_option(word));
        };
        let (name, value) = setting.split_once('=').ok_or_else(|| bad_option(setting))?;
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(())
}

fn split_options(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c.is_ascii_whitespace() || c == '\u{b}' {
            words.extend(word.take());
            continue;
        }
        let c = if c == '\\' { chars.next() } else { Some(c) };
        word.get_or_insert_default().extend(c);
    }
    words.extend(word);
    words
}

fn bad_option(word: &str) -> Refused {
    Refused::Fatal(
        "42601",
        format!(
            "invalid command-line argument in options: \"{word}\"; only -c name=value and --name=value are settings"
        ),
    )
}

fn protocol(message: String) -> Refused {
    Refused::Fatal("08P01", message)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

    use super::*;

    fn packet(version: u32, pairs: &[(&str, &str)]) -> Vec<u8> {
        let mut body = version.to_be_bytes().to_vec();
        for (key, value) in pairs {
            body.extend_from_slice(key.as_bytes());
            body.push(0);
            body.extend_from_slice(value.as_bytes());
            body.push(0);
        }
        body.push(0);
        body
    }

    fn started(pairs: &[(&str, &str)]) -> Result<Startup, Refused> {
        match decode(&packet(NEWEST_PROTOCOL, pairs))? {
            Opening::Startup(startup) => Ok(startup),
            other @ (Opening::Ssl | Opening::Gss | Opening::Cancel { .. }) => panic!("{other:?}"),
        }
    }

    fn sqlstate(refused: Refused) -> &'static str {
        match refused {
            Refused::Fatal(sqlstate, _) => sqlstate,
            Refused::Close => "closed",
        }
    }

    #[test]
    fn the_database_is_the_users_name_by_default() {
        let startup = started(&[("user", "ann")]).unwrap();
        assert_eq!((startup.user.as_str(), startup.database.as_str()), ("ann", "ann"));
        assert_eq!(started(&[("user", "ann"), ("database", "")]).unwrap().database, "ann");
        assert_eq!(started(&[("user", "ann"), ("database", "lab")]).unwrap().database, "lab");
    }

    #[test]
    fn names_are_cut_where_postgresql_cuts_them() {
        let long = "ä".repeat(40);
        let startup = started(&[("user", &long), ("database", "\u{1}\u{1}")]).unwrap();
        assert_eq!((startup.user, startup.database), ("ä".repeat(31), "\u{1}\u{1}".to_owned()));
        assert_eq!(started(&[("user", &long)]).unwrap().database, "ä".repeat(31));
    }

    #[test]
    fn a_key_given_twice_is_refused_whatever_it_is() {
        for key in ["user", "database", "application_name", "options", "_pq_.x"] {
            let pairs = [("user", "ann"), (key, "a"), (key, "b")];
            assert_eq!(sqlstate(started(&pairs).unwrap_err()), "08P01", "{key}");
        }
    }

    #[test]
    fn a_missing_or_empty_user_is_refused() {
        assert_eq!(sqlstate(started(&[("database", "lab")]).unwrap_err()), "28000");
        assert_eq!(sqlstate(started(&[("user", "")]).unwrap_err()), "28000");
    }

    #[test]
    fn every_cut_of_a_packet_is_refused_and_so_is_a_byte_too_many() {
        let whole = packet(NEWEST_PROTOCOL, &[("user", "ann"), ("database", "lab")]);
        for end in 0..whole.len() {
            assert!(decode(whole.get(..end).unwrap()).is_err(), "cut at {end}");
        }
        let mut longer = whole;
        longer.push(b'x');
        assert!(decode(&longer).is_err());
    }

    #[test]
    fn text_that_is_not_utf8_is_refused() {
        let mut body = packet(NEWEST_PROTOCOL, &[("user", "ann")]);
        let at = body.iter().position(|&byte| byte == b'n').unwrap();
        *body.get_mut(at).unwrap() = 0xff;
        assert_eq!(sqlstate(decode(&body).unwrap_err()), "08P01");
    }

    #[test]
    fn options_are_split_as_postgresql_splits_them() {
        let pairs = [("user", "a"), ("options", "-c geqo=off --work-mem=4\\ MB  -cTimeZone=UTC\\\\x")];
        let expected = [("geqo", "off"), ("work_mem", "4 MB"), ("TimeZone", "UTC\\x")];
        let settings = started(&pairs).unwrap().settings;
        let settings: Vec<_> = settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(settings, expected);
        for bad in ["-B 5", "-c", "-c a", "--a", "geqo=off", "-d 5"] {
            assert_eq!(sqlstate(started(&[("user", "a"), ("options", bad)]).unwrap_err()), "42601", "{bad}");
        }
    }

    #[test]
    fn replication_is_refused_unless_false() {
        for value in ["false", "OFF", "0"] {
            assert!(started(&[("user", "a"), ("replication", value)]).is_ok(), "{value}");
        }
        for value in ["true", "database", "1", ""] {
            assert!(started(&[("user", "a"), ("replication", value)]).is_err(), "{value}");
        }
    }

    #[test]
    fn extensions_and_newer_minors_are_negotiated_and_other_majors_refused() {
        let body = packet((3 << 16) | 9999, &[("user", "a"), ("_pq_.x", "1")]);
        let Opening::Startup(startup) = decode(&body).unwrap() else { panic!("a startup") };
        assert!(startup.needs_negotiation());
        assert_eq!(startup.extensions, ["_pq_.x"]);
        assert!(startup.settings.is_empty());
        assert!(!started(&[("user", "a")]).unwrap().needs_negotiation());
        assert_eq!(sqlstate(decode(&packet(2 << 16, &[("user", "a")])).unwrap_err()), "0A000");
    }

    #[test]
    fn requests_have_their_exact_length() {
        assert_eq!(decode(&SSL_CODE.to_be_bytes()).unwrap(), Opening::Ssl);
        assert_eq!(decode(&GSS_CODE.to_be_bytes()).unwrap(), Opening::Gss);
        let mut longer = SSL_CODE.to_be_bytes().to_vec();
        longer.push(0);
        assert_eq!(decode(&longer).unwrap_err(), Refused::Close);
        let mut cancel = CANCEL_CODE.to_be_bytes().to_vec();
        cancel.extend_from_slice(&7_u32.to_be_bytes());
        assert_eq!(decode(&cancel).unwrap_err(), Refused::Close, "no key");
        cancel.extend_from_slice(b"abcd");
        assert_eq!(decode(&cancel).unwrap(), Opening::Cancel { pid: 7, key: b"abcd".to_vec() });
        cancel.extend_from_slice(&[0; 300]);
        assert_eq!(decode(&cancel).unwrap_err(), Refused::Close, "an endless key");
    }
}
