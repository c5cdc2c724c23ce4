//! Why a catalog's text is refused.

use std::fmt;

/// A catalog that is not taken, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogError {
    /// The text is longer than [`crate::catalog::CATALOG_BYTES_MAX`].
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// It is not JSON, or not of this form: an unknown, missing or repeated key, a wrong type.
    Form {
        /// Where: `relations[3].columns[0].typmod`.
        path: String,
        /// What the reader says.
        message: String,
    },
    /// Its `format` is another one.
    Format {
        /// What stands there.
        format: u32,
    },
    /// The server is not one that the compiled tables know.
    Server {
        /// Its `server_version_num`.
        version_num: u32,
    },
    /// The database is not in UTF8.
    Encoding {
        /// Its `server_encoding`.
        encoding: String,
    },
    /// More of something than is taken.
    TooMany {
        /// Where.
        path: String,
        /// How many.
        count: usize,
        /// How many are taken.
        max: usize,
    },
    /// A value that the form allows and the meaning does not: a second relation of one name, a
    /// key of a relation that is not there.
    Meaning {
        /// Where.
        path: String,
        /// What is wrong.
        message: String,
    },
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CatalogError::TooLong { bytes } => {
                write!(f, "the catalog has {bytes} bytes, and {} are taken", super::build::CATALOG_BYTES_MAX)
            }
            CatalogError::Form { path, message } => write!(f, "the catalog at {path}: {message}"),
            CatalogError::Format { format } => write!(
                f,
                "the catalog has format {format}, and this program reads format {}; write it anew with the same version of the program",
                super::format::FORMAT
            ),
            CatalogError::Server { version_num } => write!(
                f,
                "the catalog comes from server version {version_num}; PostgreSQL 15 to 18 are supported"
            ),
            CatalogError::Encoding { encoding } => {
                write!(f, "the catalog comes from a database in {encoding}; only UTF8 is supported")
            }
            CatalogError::TooMany { path, count, max } => {
                write!(f, "the catalog at {path} has {count} entries, and {max} are taken")
            }
            CatalogError::Meaning { path, message } => {
                write!(f, "the catalog at {path}: {message}")
            }
        }
    }
}

impl std::error::Error for CatalogError {}
