//! What verdicts rest on.

use pgmoat_policy::policy::TenantRule;
use pgmoat_policy::{Catalog, Judgement, Mode, NoNames, Policy, Principal, Verdicts, judge};

/// A policy, a catalog, and who the users are.
#[derive(Clone, Copy)]
pub(crate) struct Basis<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) catalog: &'a Catalog,
    /// Verdicts under these two; without it every text is judged anew.
    pub(crate) verdicts: Option<&'a dyn Given>,
    pub(crate) users: &'a dyn Directory,
}

/// Verdicts that are kept, whatever else is kept with them.
pub(crate) trait Given: Sync {
    /// The thread needs a stack of [`pgmoat_policy::STACK_BYTES`].
    fn judge(&self, text: &str, mode: Mode<'_>, principal: &Principal) -> Judgement;
}

impl<T: Send + Sync> Given for Verdicts<T> {
    fn judge(&self, text: &str, mode: Mode<'_>, principal: &Principal) -> Judgement {
        self.judge(text, mode, principal, &NoNames)
    }
}

/// Who users are.
pub(crate) trait Directory: Sync {
    /// Whose statements a user's are; none for a user who is not known.
    fn principal_of(&self, user: &str) -> Option<Principal>;
}

impl Basis<'_> {
    /// The thread needs a stack of [`pgmoat_policy::STACK_BYTES`].
    pub(super) fn judge(&self, text: &str, mode: Mode<'_>, principal: &Principal) -> Judgement {
        match self.verdicts {
            Some(verdicts) => verdicts.judge(text, mode, principal),
            None => judge(text, mode, principal, self.policy, self.catalog, &NoNames),
        }
    }

    /// `role` or `role:tenant`, as the policy knows it.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn principal(&self, text: &str) -> Result<Principal, String> {
        let principal = Principal::parse(text)
            .map_err(|text| format!("\"{text}\" is not of the form role or role:tenant"))?;
        let role = self.policy.role(&principal.role);
        let role = role.ok_or_else(|| format!("the policy has no role \"{}\"", principal.role))?;
        match (role.tenant, &principal.tenant) {
            (TenantRule::Required, Some(_)) | (TenantRule::Exempt, None) => Ok(principal),
            (TenantRule::Required, None) => Err(format!("role \"{text}\" requires a tenant: {text}:TENANT")),
            (TenantRule::Exempt, Some(_)) => {
                Err(format!("role \"{}\" is exempt from tenancy: leave the tenant out", principal.role))
            }
        }
    }

    /// The principal of a user of the configuration.
    ///
    /// # Errors
    /// There is no such user.
    pub(crate) fn user(&self, name: &str) -> Result<Principal, String> {
        self.users.principal_of(name).ok_or_else(|| format!("the configuration has no user \"{name}\""))
    }
}
