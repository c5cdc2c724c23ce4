//! Settings: one list to write and one to read (policy 4.7).

/// The rule for writing a setting; none: it may not be written unless the role lists it. The name
/// is looked up as PostgreSQL does, without regard to ASCII case.
pub fn write_rule(name: &str) -> Option<WriteRule> {
    WRITABLE.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, rule)| *rule)
}

/// Whether a setting may be read: what may be written, and what says what the server is. The name
/// is looked up as PostgreSQL does, without regard to ASCII case.
pub fn readable(name: &str) -> bool {
    write_rule(name).is_some() || READABLE.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// What a statement may write into a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteRule {
    /// Any value.
    Any,
    /// One of these, compared without regard to ASCII case.
    Only(&'static [&'static str]),
    /// UTF8 under any of PostgreSQL's spellings of it.
    Utf8,
    /// A duration not above the role's `timeout_ms`, where it has one; 0 is above every one.
    Timeout,
    /// The pinned search_path, compared as a list of names.
    SearchPath,
}

impl WriteRule {
    /// Whether a single value may be written, as far as the value alone says: the caller compares
    /// what [`WriteRule::Timeout`] and [`WriteRule::SearchPath`] are about.
    pub fn allows(self, value: &str) -> bool {
        match self {
            WriteRule::Any | WriteRule::Timeout | WriteRule::SearchPath => true,
            WriteRule::Only(values) => values.iter().any(|known| known.eq_ignore_ascii_case(value)),
            WriteRule::Utf8 => is_utf8(value),
        }
    }
}

/// A duration as PostgreSQL reads one of milliseconds (`SET statement_timeout = '5s'`), in
/// milliseconds, rounded up so that a cap is never passed, but to 0 where PostgreSQL rounds to 0;
/// none where it is not one that is understood here.
pub fn milliseconds(value: &str) -> Option<u64> {
    let value = value.trim_matches(|c: char| c.is_ascii_whitespace());
    let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at_checked(digits)?;
    let unit = unit.trim_start_matches(|c: char| c.is_ascii_whitespace());
    // PostgreSQL reads `010` as octal.
    if number.len() > 1 && number.starts_with('0') {
        return None;
    }
    let number: u64 = number.parse().ok()?;
    let factor = match unit {
        // PostgreSQL rounds to the nearest, halves to even: up to 500 is 0, which is no limit at all.
        "us" if number <= 500 => return Some(0),
        "us" => return Some(number.div_ceil(1_000)),
        "" | "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// PostgreSQL's `clean_encoding_name` keeps letters and digits and folds them; `utf8` and `unicode`
/// are its names for UTF8.
fn is_utf8(value: &str) -> bool {
    let kept = || value.bytes().filter(u8::is_ascii_alphanumeric).map(|b| b.to_ascii_lowercase());
    [b"utf8".as_slice(), b"unicode"].iter().any(|known| kept().eq(known.iter().copied()))
}

/// What may be written: settings that change how a client sees its own answers, or that only tighten.
pub const WRITABLE: &[(&str, WriteRule)] = &[
    ("application_name", WriteRule::Any),
    ("bytea_output", WriteRule::Any),
    ("client_encoding", WriteRule::Utf8),
    // Below `notice` the server tells of other tenants' rows (policy 3.9).
    ("client_min_messages", WriteRule::Only(&["notice", "warning", "error"])),
    ("DateStyle", WriteRule::Any),
    ("default_transaction_deferrable", WriteRule::Any),
    ("default_transaction_isolation", WriteRule::Any),
    ("default_transaction_read_only", WriteRule::Any),
    ("extra_float_digits", WriteRule::Any),
    ("idle_in_transaction_session_timeout", WriteRule::Any),
    ("idle_session_timeout", WriteRule::Any),
    ("IntervalStyle", WriteRule::Any),
    ("jit", WriteRule::Any),
    ("lock_timeout", WriteRule::Any),
    ("plan_cache_mode", WriteRule::Any),
    ("search_path", WriteRule::SearchPath),
    // With it off a backslash ends strings elsewhere than the judge thinks. The spellings are those
    // that PostgreSQL's parse_bool takes for true.
    (
        "standard_conforming_strings",
        WriteRule::Only(&["on", "true", "tru", "tr", "t", "yes", "ye", "y", "1"]),
    ),
    ("statement_timeout", WriteRule::Timeout),
    ("TimeZone", WriteRule::Any),
    ("transaction_deferrable", WriteRule::Any),
    ("transaction_isolation", WriteRule::Any),
    ("transaction_read_only", WriteRule::Any),
];

/// What may be read beside those: what the server is, and no path, secret or statistic.
pub const READABLE: &[&str] = &[
    "block_size",
    "default_text_search_config",
    "in_hot_standby",
    "integer_datetimes",
    "is_superuser",
    "lc_collate",
    "lc_ctype",
    "lc_messages",
    "lc_monetary",
    "lc_numeric",
    "lc_time",
    "max_function_args",
    "max_identifier_length",
    "max_index_keys",
    "segment_size",
    "server_encoding",
    "server_version",
    "server_version_num",
    "session_authorization",
    "wal_block_size",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_ascii_case_only() {
        assert_eq!(write_rule("timezone"), Some(WriteRule::Any));
        assert_eq!(write_rule("TIMEZONE"), Some(WriteRule::Any));
        assert_eq!(write_rule("DATESTYLE"), Some(WriteRule::Any));
        assert!(readable("Server_Version"));
        assert_eq!(write_rule("time\u{17f}one"), None);
    }

    #[test]
    fn what_widens_reach_is_not_writable() {
        for name in [
            "row_security",
            "role",
            "session_authorization",
            "work_mem",
            "enable_seqscan",
            "app.current_tenant",
            "local_preload_libraries",
            "session_replication_role",
            "xmloption",
            "default_tablespace",
            "debug_print_plan",
            "",
        ] {
            assert_eq!(write_rule(name), None, "{name}");
        }
        for name in ["data_directory", "ssl_key_file", "config_file", "all", "work_mem", "role"] {
            assert!(!readable(name), "{name}");
        }
    }

    #[test]
    fn values_are_compared_as_postgresql_reads_them() {
        let allows = |name, value| write_rule(name).is_some_and(|rule| rule.allows(value));
        for value in ["utf8", "UTF-8", "utf_8", "Unicode", "'utf8'"] {
            assert!(allows("client_encoding", value), "{value}");
        }
        for value in ["SQL_ASCII", "latin1", "utf16", "", "win1252"] {
            assert!(!allows("client_encoding", value), "{value}");
        }
        assert!(allows("standard_conforming_strings", "ON"));
        assert!(!allows("standard_conforming_strings", "off"));
        assert!(!allows("standard_conforming_strings", "o"));
        assert!(allows("client_min_messages", "Warning"));
        assert!(!allows("client_min_messages", "debug1"));
        assert!(!allows("client_min_messages", "log"));
    }

    #[test]
    fn durations_have_postgresqls_units() {
        assert_eq!(milliseconds("5s"), Some(5_000));
        assert_eq!(milliseconds(" 5 min "), Some(300_000));
        assert_eq!(milliseconds("0"), Some(0));
        assert_eq!(milliseconds("1500us"), Some(2));
        assert_eq!(milliseconds("501us"), Some(1));
        for nothing in ["0us", "1us", "100us", "499us", "500us"] {
            assert_eq!(milliseconds(nothing), Some(0), "{nothing}");
        }
        assert_eq!(milliseconds("1d"), Some(86_400_000));
        for value in ["", "s", "-1", "5 S", "1.5s", "0x10", "99999999999999999999", "1 week", "010"] {
            assert_eq!(milliseconds(value), None, "{value}");
        }
    }
}
