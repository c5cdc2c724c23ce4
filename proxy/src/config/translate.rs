//! What the configuration says, in the words of the crates that do it. Here secrets are fetched
//! and certificates read.

use pgmoat_audit::Key;
use pgmoat_policy::Policy;
use pgmoat_policy::policy::Problem;
use pgmoat_upstream::{Endpoint, PinnedSettings, PoolConfig, Secret, Target, TlsPolicy, WeakPasswords};

use super::{Audit, Database, SecretSource, Tls};
use crate::pools::TENANT;

impl Audit {
    /// How the log is opened.
    ///
    /// # Errors
    /// Its key cannot be had.
    pub fn options(&self) -> Result<pgmoat_audit::Options, Problem> {
        Ok(pgmoat_audit::Options {
            sync_interval: self.sync_interval,
            key: self.key.as_ref().map(|source| self.key_from(source)).transpose()?,
            rotation: self.rotation,
            ..pgmoat_audit::Options::new(&self.path, self.durability)
        })
    }

    fn key_from(&self, source: &SecretSource) -> Result<Key, Problem> {
        let fault = |message: String| {
            let mut place = self.place.clone();
            place.path.push_str(".key");
            Problem::error(place, message)
        };
        let secret = source.fetch_bytes().map_err(|error| fault(error.to_string()))?;
        Key::new(&secret).map_err(|error| fault(error.to_string()))
    }
}

impl Database {
    /// Everything that a connection to it needs, with the policy's search_path pinned, without the settings that name the
    /// tenant.
    ///
    /// # Errors
    /// A secret or a certificate cannot be had.
    pub fn target(&self, policy: &Policy) -> Result<Target, Problem> {
        let upstream = &self.upstream;
        let fault = |path: &str, message: String| {
            let mut place = self.place.clone();
            place.path.push_str(path);
            Problem::error(place, message)
        };
        let tls = match &upstream.tls {
            Tls::VerifyFull { root_ca } => TlsPolicy::verify_full(root_ca.as_deref()),
            Tls::VerifyCa { root_ca } => TlsPolicy::verify_ca(root_ca.as_deref()),
            Tls::Require => TlsPolicy::require(),
            Tls::Disable => Ok(TlsPolicy::disable()),
        };
        let password = upstream.password.as_ref().map(SecretSource::fetch).transpose();
        let search_path: Vec<String> = policy.search_path().iter().map(ToString::to_string).collect();
        let [first, fallbacks @ ..] = upstream.hosts.as_slice() else {
            return Err(fault(".upstream", "there is no host".to_owned()));
        };
        let session = self.session.iter().filter(|(_, value)| !value.contains(TENANT));
        let session = session.map(|(name, value)| (name.to_string(), value.to_string()));
        Ok(Target {
            endpoint: Endpoint {
                address: first.clone(),
                tls: tls.map_err(|error| fault(".upstream.tls", error.to_string()))?,
                connect_timeout: self.pool.connect_timeout,
                keepalive: None,
            },
            fallbacks: fallbacks.to_vec(),
            attributes: upstream.attributes,
            database: upstream.dbname.clone(),
            user: upstream.user.clone(),
            password: password
                .map_err(|error| fault(".upstream.password", error.to_string()))?
                .map(|password| Secret::new((*password).clone())),
            settings: PinnedSettings::new(&search_path, session.collect())
                .map_err(|error| fault(".session", error.to_string()))?,
            weak_passwords: match upstream.weak_passwords {
                true => WeakPasswords::Allow,
                false => WeakPasswords::Refuse,
            },
        })
    }

    /// The settings that name the tenant, with `{tenant}` in their values.
    pub fn tenant_settings(&self) -> Vec<(Box<str>, Box<str>)> {
        self.session.iter().filter(|(_, value)| value.contains(TENANT)).cloned().collect()
    }

    /// How its connections are shared.
    pub fn pool_config(&self) -> PoolConfig {
        PoolConfig {
            max_connections: self.pool.size,
            minimum: self.pool.minimum,
            reserve: self.pool.reserve,
            reserve_wait: self.pool.reserve_wait,
            wait_timeout: self.pool.wait_timeout,
            idle_timeout: self.pool.idle_timeout,
            lifetime: self.pool.lifetime,
            ..PoolConfig::default()
        }
    }
}
