//! The pools of a database: one, or, where its connections start with a setting that names the tenant, one for each
//! tenant (contracts 7).
//!
//! INVARIANT (pinned): no value that depends on the principal is ever set on a connection that another principal can get.
//! What names the tenant is in the start-up packet, so RESET and DISCARD go back to it, and whoever has no tenant has
//! connections without it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use pgmoat_policy::Principal;
use pgmoat_upstream::{Pool, PoolConfig, PoolStats, SettingsError, Target};

/// What stands for the tenant in a value.
pub(crate) const TENANT: &str = "{tenant}";

/// All of them.
pub struct Pools {
    common: Pool,
    tenants: Option<Tenants>,
}

struct Tenants {
    target: Target,
    config: PoolConfig,
    /// Names, and values with [`TENANT`] in them.
    settings: Vec<(Box<str>, Box<str>)>,
    /// As many as there are tenants among the users.
    pools: Mutex<HashMap<Arc<str>, Pool>>,
}

impl Pools {
    /// For a way to the server, the limits of each pool, and the settings that name the tenant. Must be called inside a
    /// tokio runtime, as [`Pool::new`].
    pub fn new(target: Target, config: PoolConfig, settings: Vec<(Box<str>, Box<str>)>) -> Self {
        let common = Pool::new(target.clone(), config.clone());
        let tenants =
            (!settings.is_empty()).then(|| Tenants { target, config, settings, pools: Mutex::default() });
        Pools { common, tenants }
    }

    /// Whose connections a principal may use.
    ///
    /// # Errors
    /// The tenant's name cannot be the value of a setting.
    pub fn of(&self, principal: &Principal) -> Result<Pool, SettingsError> {
        match (&self.tenants, &principal.tenant) {
            (Some(tenants), Some(tenant)) => tenants.of(tenant),
            (Some(_), None) | (None, _) => Ok(self.common.clone()),
        }
    }

    /// How they stand, all together.
    pub fn stats(&self) -> PoolStats {
        self.all().map(|pool| pool.stats()).fold(PoolStats::default(), |sum, stats| sum + stats)
    }

    /// Connections at most, over all of them.
    pub fn size(&self) -> usize {
        self.all().map(|pool| pool.size()).sum()
    }

    fn all(&self) -> impl Iterator<Item = Pool> {
        let tenants: Vec<Pool> = match &self.tenants {
            Some(tenants) => tenants.pools.lock().values().cloned().collect(),
            None => Vec::new(),
        };
        std::iter::once(self.common.clone()).chain(tenants)
    }

    /// The names of the custom settings that connections start with, in lower case.
    pub fn custom_settings(&self) -> impl Iterator<Item = Box<str>> {
        let key = self.common.key();
        let common: Vec<Box<str>> = key.settings.iter().map(|(name, _)| name.into()).collect();
        let own =
            self.tenants.iter().flat_map(|tenants| tenants.settings.iter().map(|(name, _)| name.clone()));
        let all = common.into_iter().chain(own);
        all.filter(|name| name.contains('.')).map(|name| name.to_ascii_lowercase().into())
    }
}

impl Tenants {
    fn of(&self, tenant: &Arc<str>) -> Result<Pool, SettingsError> {
        let mut pools = self.pools.lock();
        if let Some(pool) = pools.get(tenant) {
            return Ok(pool.clone());
        }
        let mut target = self.target.clone();
        for (name, value) in &self.settings {
            target.settings = target.settings.with(name, &value.replace(TENANT, tenant))?;
        }
        let pool = Pool::new(target, self.config.clone());
        pools.insert(Arc::clone(tenant), pool.clone());
        Ok(pool)
    }
}

impl fmt::Debug for Pools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenants = self.tenants.as_ref().map(|tenants| tenants.pools.lock().len());
        f.debug_struct("Pools").field("common", &self.common).field("tenants", &tenants).finish()
    }
}
