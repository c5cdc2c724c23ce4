//! What a running proxy cannot take from a changed file: a reload that would need it is refused as a whole.
//!
//! Every field is named here, so that a new one is decided on.

use super::{Admin, Audit, Config, Database};

impl Config {
    /// The sections in which another configuration says something else that only a restart can change.
    pub fn needs_restart(&self, other: &Config) -> Vec<&'static str> {
        // Users, the policy, encryption and tokens are what a reload is for.
        let Config { listen, socket_mode, tls: _, policy: _, audit, users: _, databases, limits, admin } =
            self;
        let differs = [
            ("listen", *listen != other.listen),
            ("socket_mode", *socket_mode != other.socket_mode),
            ("audit", !audit.is_as(&other.audit)),
            ("databases", !same(databases, &other.databases)),
            ("limits", *limits != other.limits),
            ("admin", !same_admin(admin.as_ref(), other.admin.as_ref())),
        ];
        differs.into_iter().filter_map(|(section, differs)| differs.then_some(section)).collect()
    }
}

impl Audit {
    fn is_as(&self, other: &Audit) -> bool {
        let Audit { path, durability, sync_interval, rotation, audited, key, place: _ } = self;
        *path == other.path
            && *durability == other.durability
            && *sync_interval == other.sync_interval
            && *rotation == other.rotation
            && *audited == other.audited
            && *key == other.key
    }
}

impl Database {
    fn is_as(&self, other: &Database) -> bool {
        let Database { name, upstream, pool, session, place: _ } = self;
        *name == other.name && *upstream == other.upstream && *pool == other.pool && *session == other.session
    }
}

fn same(ours: &[Database], others: &[Database]) -> bool {
    ours.len() == others.len() && ours.iter().zip(others).all(|(one, other)| one.is_as(other))
}

fn same_admin(ours: Option<&Admin>, other: Option<&Admin>) -> bool {
    match (ours, other) {
        (Some(ours), Some(other)) => ours.is_as(other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}
