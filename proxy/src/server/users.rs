//! Who may log in: when, from where, to what, and how many at one time.
//!
//! Nothing tells before the password is right which of these a login fails for. Who comes too late or from elsewhere
//! goes through the whole exchange, as somebody unknown does, and no password is right (as PostgreSQL does with
//! VALID UNTIL); the audit log has the reason.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use pgmoat_policy::Principal;

use super::scram::{Mock, Verifier};
use crate::config::{self, Network};
use crate::verify::Directory;

/// The users of a configuration: replaced as a whole by a reload.
pub(crate) struct Users {
    by_name: HashMap<Box<str>, Arc<User>>,
    pub(crate) mock: Mock,
}

/// A user who may log in.
pub(crate) struct User {
    pub(crate) name: Arc<str>,
    pub(crate) verifiers: Vec<Verifier>,
    pub(crate) principal: Arc<Principal>,
    pub(crate) certificate: Arc<str>,
    valid_until: Option<SystemTime>,
    networks: Option<Vec<Network>>,
    databases: Option<Vec<Box<str>>>,
    max_connections: usize,
}

/// Who a session is, for those who must know whether it may go on.
#[derive(Clone)]
pub(crate) struct Who {
    pub(crate) user: Arc<str>,
    pub(crate) principal: Arc<Principal>,
    pub(crate) database: Box<str>,
    /// None for a Unix socket.
    pub(crate) address: Option<IpAddr>,
}

impl Users {
    /// Of a configuration. `key` is the process's own: a made-up user has the same salt after a reload.
    pub(crate) fn new(config: &config::Config, key: [u8; 32]) -> Users {
        // What most users have is what a made-up user shows.
        let first = config.users.first().and_then(|user| user.verifiers.first());
        let form = first.map(Verifier::form).unwrap_or_default();
        let by_name = config.users.iter().map(|user| {
            let principal = Principal { role: Arc::clone(&user.role), tenant: user.tenant.clone() };
            let entry = User {
                name: Arc::clone(&user.name),
                verifiers: user.verifiers.clone(),
                principal: Arc::new(principal),
                certificate: Arc::clone(&user.certificate),
                valid_until: user.valid_until,
                networks: user.networks.clone(),
                databases: user.databases.clone(),
                max_connections: user.max_connections.unwrap_or(config.limits.connections_per_user),
            };
            ((*user.name).into(), Arc::new(entry))
        });
        Users { by_name: by_name.collect(), mock: Mock::new(key, form) }
    }

    /// The user of that name; names are compared as they are, as PostgreSQL does.
    pub(crate) fn named(&self, name: &str) -> Option<&Arc<User>> {
        self.by_name.get(name)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.by_name.len()
    }

    /// Whether a session that was let in by other users may go on: the same user, as whom and where it is. A password
    /// that has run out since does not end it, as with PostgreSQL.
    pub(crate) fn keep(&self, who: &Who) -> bool {
        self.named(&who.user).is_some_and(|user| {
            user.principal == who.principal && user.may_come_from(who.address) && user.may_name(&who.database)
        })
    }
}

impl Directory for Users {
    fn principal_of(&self, user: &str) -> Option<Principal> {
        self.named(user).map(|user| Principal::clone(&user.principal))
    }
}

impl User {
    /// Why no password of the user's is right now, if that is so.
    pub(crate) fn unwelcome(&self, address: Option<IpAddr>, now: SystemTime) -> Option<&'static str> {
        if self.valid_until.is_some_and(|end| now >= end) {
            return Some("password has expired");
        }
        (!self.may_come_from(address)).then_some("address is not allowed")
    }

    /// Whether the user may name that database.
    pub(crate) fn may_name(&self, database: &str) -> bool {
        self.databases.as_ref().is_none_or(|all| all.iter().any(|name| **name == *database))
    }

    fn may_come_from(&self, address: Option<IpAddr>) -> bool {
        self.networks.as_ref().is_none_or(|all| all.iter().any(|network| network.has(address)))
    }
}

/// How many sessions users and tenants have.
pub(crate) struct Connections {
    per_tenant: usize,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    users: HashMap<Arc<str>, usize>,
    tenants: HashMap<Arc<str>, usize>,
}

/// A session's place among its user's and its tenant's; free again when this is dropped.
pub(crate) struct Place {
    connections: Arc<Connections>,
    user: Arc<str>,
    tenant: Option<Arc<str>>,
}

/// Whose limit is reached.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Full {
    User,
    Tenant,
}

impl Connections {
    /// With so many at most for each tenant.
    pub(crate) fn new(per_tenant: usize) -> Arc<Connections> {
        Arc::new(Connections { per_tenant, counts: Mutex::default() })
    }

    /// A place for another session.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn take(self: &Arc<Self>, user: &User) -> Result<Place, Full> {
        let mut counts = self.counts.lock();
        let tenant = user.principal.tenant.clone();
        let of = |map: &HashMap<Arc<str>, usize>, name: &str| map.get(name).copied().unwrap_or_default();
        if of(&counts.users, &user.name) >= user.max_connections {
            return Err(Full::User);
        }
        if tenant.as_ref().is_some_and(|tenant| of(&counts.tenants, tenant) >= self.per_tenant) {
            return Err(Full::Tenant);
        }
        *counts.users.entry(Arc::clone(&user.name)).or_default() += 1;
        if let Some(tenant) = &tenant {
            *counts.tenants.entry(Arc::clone(tenant)).or_default() += 1;
        }
        Ok(Place { connections: Arc::clone(self), user: Arc::clone(&user.name), tenant })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.connections.counts.lock();
        leave(&mut counts.users, &self.user);
        if let Some(tenant) = &self.tenant {
            leave(&mut counts.tenants, tenant);
        }
    }
}

/// One less; nobody is kept who has none.
fn leave(counts: &mut HashMap<Arc<str>, usize>, name: &Arc<str>) {
    if let Some(count) = counts.get_mut(name) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(name);
        }
    }
}

#[cfg(test)]
impl User {
    /// For tests.
    pub(crate) fn sample(name: &str, tenant: Option<&str>, max_connections: usize) -> User {
        User {
            name: name.into(),
            verifiers: Vec::new(),
            principal: Arc::new(Principal { role: "app".into(), tenant: tenant.map(Arc::from) }),
            certificate: name.into(),
            valid_until: None,
            networks: None,
            databases: None,
            max_connections,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn user(name: &str, tenant: Option<&str>, max_connections: usize) -> User {
        User::sample(name, tenant, max_connections)
    }

    #[test]
    fn places_are_counted_for_users_and_tenants_and_free_again() {
        let connections = Connections::new(2);
        let (ann, bob) = (user("ann", Some("acme"), 1), user("bob", Some("acme"), 5));
        let one = connections.take(&ann).map_err(|_| ()).unwrap();
        assert_eq!(connections.take(&ann).err(), Some(Full::User));
        let two = connections.take(&bob).map_err(|_| ()).unwrap();
        assert_eq!(connections.take(&bob).err(), Some(Full::Tenant));
        assert!(connections.take(&user("eve", None, 1)).is_ok(), "no tenant, no tenant's limit");
        assert_eq!(connections.take(&user("none", None, 0)).err(), Some(Full::User));
        drop(one);
        assert!(connections.take(&bob).is_ok());
        drop(two);
        let counts = connections.counts.lock();
        assert!(counts.users.is_empty() && counts.tenants.is_empty(), "nobody is kept");
    }

    #[test]
    fn a_password_runs_out_at_its_moment() {
        let end = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(100);
        let ann = User { valid_until: Some(end), ..user("ann", None, 1) };
        let before = end - std::time::Duration::from_secs(1);
        assert_eq!(ann.unwelcome(None, before), None);
        assert_eq!(ann.unwelcome(None, end), Some("password has expired"));
    }
}
