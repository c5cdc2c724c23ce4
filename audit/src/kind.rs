//! The kinds of lines: a closed list.

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A process opened the file; the first line of every file.
    Open,
    /// A torn last line was moved away.
    Recovered,
    /// A client proved who it is.
    Login,
    /// A client did not.
    LoginFailed,
    /// A session ended.
    Logout,
    /// A statement was judged.
    Decision,
    /// How a statement that was let through ended.
    Completion,
    /// A client asked to cancel a statement.
    Cancel,
    /// Configuration or policy was read again.
    Reload,
    /// A catalog was read.
    Catalog,
    /// Verdicts were asked for over HTTP.
    Verify,
    /// The last line of a file that another one follows.
    Rotate,
    /// The process ended in order.
    Close,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::Open,
        Self::Recovered,
        Self::Login,
        Self::LoginFailed,
        Self::Logout,
        Self::Decision,
        Self::Completion,
        Self::Cancel,
        Self::Reload,
        Self::Catalog,
        Self::Verify,
        Self::Rotate,
        Self::Close,
    ];

    /// The value of `kind` in a line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Recovered => "recovered",
            Self::Login => "login",
            Self::LoginFailed => "login_failed",
            Self::Logout => "logout",
            Self::Decision => "decision",
            Self::Completion => "completion",
            Self::Cancel => "cancel",
            Self::Reload => "reload",
            Self::Catalog => "catalog",
            Self::Verify => "verify",
            Self::Rotate => "rotate",
            Self::Close => "close",
        }
    }

    pub(crate) fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().as_bytes() == name)
    }
}
