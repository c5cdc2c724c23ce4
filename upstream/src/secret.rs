//! A password in memory: shown by nothing, wiped when dropped.

use std::fmt;

use zeroize::Zeroizing;

/// A secret text. `Debug` hides it, there is no `Display`.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes the text over.
    pub fn new(text: String) -> Self {
        Secret(Zeroizing::new(text))
    }

    pub(crate) fn expose(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_does_not_tell() {
        assert_eq!(format!("{:?}", Some(Secret::new("hunter2".to_owned()))), "Some(Secret(…))");
    }
}
