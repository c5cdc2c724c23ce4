//! Who asks.

use std::sync::Arc;

/// Whose statement is judged: a role of the policy, and the tenant where the role needs one.
/// Neither ever comes from anything that the client sends (policy 2).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal {
    /// A role of the policy.
    pub role: Arc<str>,
    /// The tenant; present exactly where the role has `tenant: required`.
    pub tenant: Option<Arc<str>>,
}

impl Principal {
    /// Reads `role` or `role:tenant`, as the command line's `--as` writes it.
    ///
    /// # Errors
    /// A text with an empty role or an empty tenant is returned as it is.
    pub fn parse(text: &str) -> Result<Principal, &str> {
        let (role, tenant) = match text.split_once(':') {
            Some((role, tenant)) => (role, Some(tenant)),
            None => (text, None),
        };
        if role.is_empty() || tenant.is_some_and(str::is_empty) {
            return Err(text);
        }
        Ok(Principal { role: role.into(), tenant: tenant.map(Into::into) })
    }
}
