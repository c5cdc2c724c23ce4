//! What a running proxy cannot take from a changed file: a reload that would need it is refused as a whole.

use super::{Config, Database};

impl Config {
    /// The sections in which another configuration says something else that only a restart can change.
    pub fn needs_restart(&self, other: &Config) -> Vec<&'static str> {
        let audit = |config: &Config| {
            let audit = &config.audit;
            (audit.path.clone(), audit.durability, audit.sync_interval, audit.audited, audit.key.clone())
        };
        let differs = [
            ("listen", self.listen != other.listen),
            ("audit", audit(self) != audit(other)),
            ("databases", !same(&self.databases, &other.databases)),
            ("limits", self.limits != other.limits),
        ];
        differs.into_iter().filter_map(|(section, differs)| differs.then_some(section)).collect()
    }
}

fn same(ours: &[Database], others: &[Database]) -> bool {
    let same = |one: &Database, other: &Database| {
        one.name == other.name
            && one.upstream == other.upstream
            && one.pool == other.pool
            && one.session == other.session
    };
    ours.len() == others.len() && ours.iter().zip(others).all(|(one, other)| same(one, other))
}
