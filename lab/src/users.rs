//! The lab's users: who may connect to the proxy, as which role and for which tenant.

use crate::scram::scram_verifier;

/// One user of the lab's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// The name to connect with.
    pub name: &'static str,
    /// Its role in the lab's policy.
    pub role: &'static str,
    /// Its tenant, where the role asks for one.
    pub tenant: Option<&'static str>,
}

/// All of them.
#[must_use]
pub fn users() -> &'static [User] {
    &USERS
}

impl User {
    /// The user of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        USERS.iter().find(|user| user.name == name)
    }

    /// Its password: the name and `-secret`. A lab's, for loopback only.
    #[must_use]
    pub fn password(&self) -> String {
        format!("{}-secret", self.name)
    }

    /// Its stored verifier. The salt is fixed by the name, so that the configuration is the same on every run.
    #[must_use]
    pub fn verifier(&self) -> String {
        let salt: Vec<u8> = self.name.bytes().cycle().take(SALT_BYTES).collect();
        scram_verifier(&self.password(), &salt, ITERATIONS)
    }

    /// `role` or `role:tenant`, as `pgmoat verify --as` takes it.
    #[must_use]
    pub fn principal(&self) -> String {
        match self.tenant {
            Some(tenant) => format!("{}:{tenant}", self.role),
            None => self.role.to_owned(),
        }
    }
}

const USERS: [User; 6] = [
    User { name: "acme_app", role: "app", tenant: Some("acme") },
    User { name: "globex_app", role: "app", tenant: Some("globex") },
    User { name: "initech_app", role: "app", tenant: Some("initech") },
    User { name: "acme_analyst", role: "analyst", tenant: Some("acme") },
    User { name: "globex_analyst", role: "analyst", tenant: Some("globex") },
    User { name: "ops", role: "ops", tenant: None },
];

const SALT_BYTES: usize = 16;
const ITERATIONS: u32 = 4096;
