//! What a door says, in one form.

use std::fmt;

/// The verdict of one door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Allowed,
    Denied {
        code: String,
        /// Empty where a door does not say it.
        sqlstate: String,
        /// 1-based, in characters.
        position: Option<u64>,
        message: String,
    },
    /// Let through, and refused by PostgreSQL.
    Failed {
        sqlstate: String,
        message: String,
    },
}

impl Answer {
    /// Whether both say the same, as far as both say it.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.without_sqlstate() == other.without_sqlstate()
            && (self.sqlstate().is_empty()
                || other.sqlstate().is_empty()
                || self.sqlstate() == other.sqlstate())
    }

    /// Whether it denies an unknown name by this SQLSTATE and message.
    pub(crate) fn is_name_unknown(&self, by: &str, with: &str) -> bool {
        matches!(self, Self::Denied { code, sqlstate, message, .. }
            if code == "name_unknown" && sqlstate == by && message == with)
    }

    fn sqlstate(&self) -> &str {
        match self {
            Self::Denied { sqlstate, .. } | Self::Failed { sqlstate, .. } => sqlstate,
            Self::Allowed => "",
        }
    }

    fn without_sqlstate(&self) -> Self {
        let mut same = self.clone();
        if let Self::Denied { sqlstate, .. } | Self::Failed { sqlstate, .. } = &mut same {
            sqlstate.clear();
        }
        same
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allowed => f.write_str("allowed"),
            Self::Denied { code, sqlstate, position, message } => {
                write!(f, "denied {code} {sqlstate} at {position:?} ({message})")
            }
            Self::Failed { sqlstate, message } => write!(f, "failed {sqlstate} ({message})"),
        }
    }
}
