//! Settings: one list to write and one to read (policy 4.7).

/// The rule for writing a setting; none: it may not be written unless the role lists it. The name
/// is looked up as PostgreSQL does, without regard to ASCII case.
pub fn write_rule(name: &str) -> Option<WriteRule> {
    let _ = name;
    None
}

/// Whether a setting may be read. The name is looked up as PostgreSQL does, without regard to
/// ASCII case.
pub fn readable(name: &str) -> bool {
    let _ = name;
    false
}

/// What a statement may write into a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteRule {
    /// Any value.
    Any,
    /// One of these, compared without regard to ASCII case.
    Only(&'static [&'static str]),
    /// A client encoding: UTF8 under any of PostgreSQL's spellings of it (case and everything but
    /// letters and digits ignored): these, so reduced.
    Encoding(&'static [&'static str]),
    /// A duration not above the role's `timeout_ms`, where it has one; 0 is above every one.
    Timeout,
    /// The pinned search_path, compared as a list of names.
    SearchPath,
}
