//! Where the compiled lists put an object.

/// Which of policy 4's lists an object is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Listing {
    /// It is not built in: the policy speaks of it by name.
    User,
    /// Built in, free of effects and of reach: `standard` (functions and operators).
    Standard,
    /// Built in, for statements that read no relation but catalogs: `introspection`.
    Introspection,
    /// Built in and on no list: denied unless the policy says otherwise by name.
    Unlisted,
}
