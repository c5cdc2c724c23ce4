//! What is known of the servers: in which order they are tried, and which of their connections are still wanted.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::Instant;

use crate::connect::Tried;
use crate::open::Route;

/// A server, as it was found the last time that it was tried on the way to a connection.
#[derive(Clone, Debug, Default)]
struct Host {
    known: Vec<Option<SocketAddr>>,
    failed: Vec<Option<SocketAddr>>,
    avoided_until: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct Hosts {
    hosts: Vec<Host>,
    one_server: bool,
}

impl Hosts {
    /// With `one_server` there is one at a time that will do.
    pub(super) fn new(count: usize, one_server: bool) -> Self {
        Hosts { hosts: vec![Host::default(); count], one_server }
    }

    /// In the configuration's order, those last that have just failed: a machine that answers nobody would hold up each
    /// new connection for a whole connect timeout.
    pub(super) fn order(&self, now: Instant) -> Vec<usize> {
        let avoided = |host: &Host| host.avoided_until.is_some_and(|until| until > now);
        let (last, first): (Vec<_>, Vec<_>) =
            self.hosts.iter().enumerate().partition(|(_, host)| avoided(host));
        first.into_iter().chain(last).map(|(number, _)| number).collect()
    }

    /// A server was found; these were tried on the way.
    pub(super) fn learn(&mut self, tried: Vec<Tried>, now: Instant) {
        for Tried { host, known, failed } in tried {
            let Some(host) = self.hosts.get_mut(host) else { continue };
            let is_out = known.iter().all(|at| failed.contains(at));
            *host = Host { known, failed, avoided_until: is_out.then(|| now + AVOIDED_FOR) };
        }
    }

    /// Whether a connection's server has been replaced: another one was found after it had failed, or its name leads
    /// elsewhere now. Where several servers will do, none replaces another.
    pub(super) fn has_left(&self, route: &Route) -> bool {
        let is_known = |host: &Host| host.known.contains(&route.at) && !host.failed.contains(&route.at);
        self.one_server && !self.hosts.get(route.host).is_some_and(is_known)
    }
}

/// How long a server that has failed is tried after the others.
const AVOIDED_FOR: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Address, Endpoint, TlsPolicy};

    fn at(port: u16) -> Option<SocketAddr> {
        Some(([127, 0, 0, 1], port).into())
    }

    fn route(host: usize, port: u16) -> Route {
        let endpoint = Endpoint {
            address: Address::new("127.0.0.1", port),
            tls: TlsPolicy::disable(),
            connect_timeout: AVOIDED_FOR,
            keepalive: None,
        };
        Route { host, endpoint: Arc::new(endpoint), at: at(port) }
    }

    fn good(host: usize, port: u16) -> Tried {
        Tried { host, known: vec![at(port)], failed: vec![] }
    }

    fn bad(host: usize, port: u16) -> Tried {
        Tried { host, known: vec![at(port)], failed: vec![at(port)] }
    }

    #[test]
    fn what_has_failed_is_tried_last_for_a_while() {
        let now = Instant::now();
        let mut hosts = Hosts::new(3, true);
        hosts.learn(vec![bad(0, 1), bad(1, 2), good(2, 3)], now);
        assert_eq!(hosts.order(now), [2, 0, 1]);
        assert_eq!(hosts.order(now + AVOIDED_FOR), [0, 1, 2]);
    }

    #[test]
    fn a_server_is_left_when_it_failed_and_another_was_found() {
        let now = Instant::now();
        for one_server in [true, false] {
            let mut hosts = Hosts::new(2, one_server);
            hosts.learn(vec![good(0, 1)], now);
            assert!(!hosts.has_left(&route(0, 1)));
            hosts.learn(vec![bad(0, 1), good(1, 2)], now);
            assert_eq!(hosts.has_left(&route(0, 1)), one_server);
            assert!(!hosts.has_left(&route(1, 2)));
            // It is back, and the other one is not.
            hosts.learn(vec![bad(1, 2), good(0, 1)], now);
            assert!(!hosts.has_left(&route(0, 1)));
            assert_eq!(hosts.has_left(&route(1, 2)), one_server);
        }
    }

    #[test]
    fn a_name_that_leads_elsewhere_leaves_its_old_address() {
        let mut hosts = Hosts::new(1, true);
        hosts.learn(vec![good(0, 1)], Instant::now());
        hosts.learn(vec![good(0, 2)], Instant::now());
        assert!(hosts.has_left(&route(0, 1)) && !hosts.has_left(&route(0, 2)));
    }
}
