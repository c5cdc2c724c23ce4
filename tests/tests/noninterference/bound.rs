//! Bound values: what is declared for them and in which format they are sent.

use std::fmt;

use pgmoat_policy::policy::Format;

/// A type that is declared for a parameter, in Parse or PREPARE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) name: &'static str,
    /// 0: only PREPARE can name it.
    pub(crate) oid: u32,
    /// The value is sent in the type's binary format.
    pub(crate) binary: bool,
}

/// A value for a parameter.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) text: Option<String>,
    pub(crate) declared: Option<Declared>,
}

impl Bound {
    pub(crate) fn oid(&self) -> u32 {
        self.declared.map_or(0, |declared| declared.oid)
    }

    pub(crate) fn format(&self) -> Format {
        match self.declared {
            Some(Declared { binary: true, .. }) => Format::Binary,
            Some(_) | None => Format::Text,
        }
    }

    /// As it is sent.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        let text = self.text.as_deref()?;
        let plain = || text.as_bytes().to_vec();
        Some(match (self.format(), self.oid()) {
            (Format::Binary, INT2) => {
                text.parse::<i16>().map_or_else(|_| plain(), |n| n.to_be_bytes().into())
            }
            (Format::Binary, INT4) => {
                text.parse::<i32>().map_or_else(|_| plain(), |n| n.to_be_bytes().into())
            }
            (Format::Binary, INT8) => {
                text.parse::<i64>().map_or_else(|_| plain(), |n| n.to_be_bytes().into())
            }
            (Format::Binary, UUID) => {
                let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
                u128::from_str_radix(&digits, 16).map_or_else(|_| plain(), |n| n.to_be_bytes().into())
            }
            (Format::Binary | Format::Text, _) => plain(),
        })
    }
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)?;
        match self.declared {
            Some(Declared { name, binary, .. }) => {
                write!(f, "::{name}{}", if binary { " (binary)" } else { "" })
            }
            None => Ok(()),
        }
    }
}

pub(crate) const INT2: u32 = 21;
pub(crate) const INT4: u32 = 23;
pub(crate) const INT8: u32 = 20;
pub(crate) const UUID: u32 = 2950;
pub(crate) const TEXT: u32 = 25;
pub(crate) const VARCHAR: u32 = 1043;
