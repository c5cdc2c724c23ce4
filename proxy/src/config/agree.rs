//! Users against the rest of the configuration and the policy's roles.

use pgmoat_policy::Policy;
use pgmoat_policy::policy::{Problem, TenantRule};

use super::{ClientTlsMode, Config, Database, User};

impl Config {
    /// Each user's role exists, and has a tenant if and only if the user has one; each role has a
    /// user, or a warning.
    pub(super) fn agrees_with(&self, policy: &Policy, problems: &mut Vec<Problem>) {
        let asked = self.tls.as_ref().is_some_and(|tls| tls.mode == ClientTlsMode::Verify);
        for user in &self.users {
            if user.certificate != user.name && !asked {
                let message =
                    "\"certificate\" is not looked at: clients are asked for one by \"mode: verify\" alone";
                problems.push(Problem::warning(user.place.clone(), message));
            }
            if let Some(message) = disagreement(user, policy) {
                problems.push(Problem::error(user.place.clone(), message));
            }
            for name in user.databases.iter().flatten() {
                if !self.databases.iter().any(|database| database.name == *name) {
                    let message = format!("there is no database \"{name}\"");
                    problems.push(Problem::error(user.place.clone(), message));
                }
            }
        }
        for database in &self.databases {
            self.principals_settings(database, policy, problems);
        }
        if let Some(admin) = &self.admin {
            admin.agrees_with(policy, problems);
        }
        for role in policy.roles() {
            if !self.users.iter().any(|user| user.role == role.name) {
                problems.push(Problem::warning(role.place().clone(), "no user has this role"));
            }
        }
    }
}

impl Config {
    /// What comes from the principal is not the client's to choose.
    fn principals_settings(&self, database: &Database, policy: &Policy, problems: &mut Vec<Problem>) {
        for (name, _) in database.tenant_settings() {
            for role in policy.roles().filter(|role| role.allows_setting(&name)) {
                let message = format!(
                    "may set \"{name}\", which connections to database \"{}\" have from the tenant",
                    database.name
                );
                problems.push(Problem::error(role.place().clone(), message));
            }
        }
    }
}

fn disagreement(user: &User, policy: &Policy) -> Option<String> {
    let Some(role) = policy.role(&user.role) else {
        return Some(format!("the policy has no role \"{}\"", user.role));
    };
    match (role.tenant, &user.tenant) {
        (TenantRule::Required, Some(_)) | (TenantRule::Exempt, None) => None,
        (TenantRule::Required, None) => {
            Some(format!("role \"{}\" requires a tenant, and this user has none", role.name))
        }
        (TenantRule::Exempt, Some(_)) => {
            Some(format!("role \"{}\" is exempt from tenancy, and this user has a tenant", role.name))
        }
    }
}
