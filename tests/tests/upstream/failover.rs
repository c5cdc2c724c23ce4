//! Several servers: which one a connection goes to, and what becomes of the others when the primary changes.

use std::net::{Ipv4Addr, SocketAddr};

use pgmoat_lab::{Cluster, Options, SUPERUSER};
use pgmoat_upstream::{Cause, CheckoutError, ConnectError, connect};
use tokio::net::TcpListener;

use super::*;

/// A primary, a standby that follows it, and the way to both.
struct Pair {
    primary: Cluster,
    standby: Cluster,
}

impl Pair {
    fn start() -> Self {
        let primary = Cluster::start(Options::default()).unwrap();
        let standby = primary.standby().unwrap();
        Pair { primary, standby }
    }

    /// The standby stands first, so that whoever takes the first that answers is found out.
    fn target(&self, attributes: SessionAttributes) -> Target {
        let mut target = target_at(&self.standby, SUPERUSER, "postgres");
        target.password = Some(Secret::new(self.primary.password(SUPERUSER).to_owned()));
        target.fallbacks = vec![Address::new("127.0.0.1", self.primary.port())];
        target.attributes = attributes;
        target
    }

    fn pool(&self, attributes: SessionAttributes) -> Pool {
        let config = PoolConfig { wait_timeout: PATIENCE, backoff_max: BACKOFF, ..PoolConfig::default() };
        Pool::new(self.target(attributes), config)
    }

    fn promote(&self) {
        let promoted = self.standby.psql("postgres", "SELECT pg_promote(true, 60)").unwrap();
        assert_eq!(promoted.trim(), "t");
    }
}

const BACKOFF: Duration = Duration::from_millis(200);

async fn port(connection: &mut Connection) -> u16 {
    cell(connection, "SELECT current_setting('port')").await.parse().unwrap()
}

#[tokio::test]
async fn each_word_leads_to_its_server() {
    let pair = Pair::start();
    let (primary, standby) = (pair.primary.port(), pair.standby.port());
    for (attributes, expected) in [
        (SessionAttributes::Any, standby),
        (SessionAttributes::ReadWrite, primary),
        (SessionAttributes::ReadOnly, standby),
        (SessionAttributes::Primary, primary),
        (SessionAttributes::Standby, standby),
        (SessionAttributes::PreferStandby, standby),
    ] {
        let mut connection = connect(&pair.target(attributes)).await.unwrap();
        assert_eq!(port(&mut connection).await, expected, "{}", attributes.name());
    }
    // A primary that is read-only by default is one, and takes no writes.
    pair.primary.psql("postgres", "ALTER DATABASE postgres SET default_transaction_read_only = on").unwrap();
    eventually("the standby has it, too", async || {
        let set = "SELECT count(*) FROM pg_db_role_setting";
        pair.standby.psql("postgres", set).unwrap().trim() == "1"
    })
    .await;
    assert!(connect(&pair.target(SessionAttributes::Primary)).await.is_ok());
    let error = connect(&pair.target(SessionAttributes::ReadWrite)).await.unwrap_err().to_string();
    assert!(error.contains("is a standby") && error.contains("is read-only"), "each is told: {error}");
    assert!(error.contains(&standby.to_string()) && error.contains("read-write"), "{error}");
}

#[tokio::test]
async fn a_standby_is_preferred_and_not_demanded() {
    let mut pair = Pair::start();
    pair.standby.stop();
    let mut connection = connect(&pair.target(SessionAttributes::PreferStandby)).await.unwrap();
    assert_eq!(port(&mut connection).await, pair.primary.port());
    let error = connect(&pair.target(SessionAttributes::Standby)).await.unwrap_err();
    assert!(matches!(&error, ConnectError::NoneOf(all) if all.len() == 2), "{error}");
}

#[tokio::test]
async fn when_the_primary_stops_the_pool_goes_to_the_promoted_standby() {
    let mut pair = Pair::start();
    let pool = pair.pool(SessionAttributes::ReadWrite);
    let mut used = pool.checkout(soon()).await.unwrap();
    let resting = pool.checkout(soon()).await.unwrap();
    give_back(resting).await;
    assert_eq!(port(&mut used).await, pair.primary.port());
    pair.primary.stop();
    assert!(run(&mut used, "SELECT 1").await.status.is_none(), "whoever used it hears of it");
    drop(used);
    eventually("nobody will do", async || {
        matches!(pool.checkout(soon()).await, Err(CheckoutError::Connect(_) | CheckoutError::Down(_)))
    })
    .await;
    assert_eq!(pool.stats().destroyed_for(Cause::Dead), 1, "the one at rest was found closed");

    pair.promote();
    eventually("the pool finds it by itself", async || !pool.stats().down).await;
    let mut lease = pool.checkout(soon()).await.unwrap();
    assert_eq!(port(&mut lease).await, pair.standby.port());
    assert_eq!(run(&mut lease, "CREATE TABLE written (a int)").await.sqlstate(), "00000");
}

/// The old primary runs on, cut off from whoever decides: nobody may stay with it.
#[tokio::test]
async fn whoever_comes_back_from_an_old_primary_does_not_stay_with_it() {
    let pair = Pair::start();
    let mut target = pair.target(SessionAttributes::ReadWrite);
    // A way to the primary that can be cut for newcomers alone.
    let way = Way::to(pair.primary.port()).await;
    target.fallbacks = vec![Address::new("127.0.0.1", way.port)];
    let pool = Pool::new(target, PoolConfig { wait_timeout: PATIENCE, ..PoolConfig::default() });
    let mut used = pool.checkout(soon()).await.unwrap();
    let (at_rest, also) = (pool.checkout(soon()).await.unwrap(), pool.checkout(soon()).await.unwrap());
    give_back(at_rest).await;
    way.cut();
    pair.promote();
    assert_eq!(port(&mut used).await, pair.primary.port(), "the old one still answers");
    // Takes the one at rest; the next one has to be made, and finds the new primary.
    let old = pool.checkout(soon()).await.unwrap();
    let mut new = pool.checkout(soon()).await.unwrap();
    assert_eq!(port(&mut new).await, pair.standby.port());
    for lease in [used, old, also] {
        give_back(lease).await;
    }
    assert_eq!(pool.stats().destroyed_for(Cause::Moved), 3);
    give_back(new).await;
    let mut lease = pool.checkout(soon()).await.unwrap();
    assert_eq!(port(&mut lease).await, pair.standby.port());
    // One at rest is closed when another primary is found: here by a server that says what it is at the next statement.
    assert_eq!(pool.stats().idle, 0);
}

#[tokio::test]
async fn a_promoted_standby_is_no_standby() {
    let pair = Pair::start();
    let pool = pair.pool(SessionAttributes::Standby);
    let lease = pool.checkout(soon()).await.unwrap();
    pair.promote();
    give_back(lease).await;
    assert_eq!(
        pool.stats().destroyed_for(Cause::Moved),
        1,
        "it has reported what it is with the reset's answer"
    );
    let error = pool.checkout(soon()).await.unwrap_err().to_string();
    assert!(error.contains("is no standby"), "{error}");
}

/// As managed services do it: the server stays, and takes no writes any more.
#[tokio::test]
async fn a_primary_that_becomes_read_only_is_left() {
    let cluster = Cluster::start(Options::default()).unwrap();
    let mut target = target_at(&cluster, SUPERUSER, "postgres");
    target.attributes = SessionAttributes::ReadWrite;
    let pool = Pool::new(target, PoolConfig::default());
    let mut lease = pool.checkout(soon()).await.unwrap();
    cluster.psql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on").unwrap();
    cluster.psql("postgres", "SELECT pg_reload_conf()").unwrap();
    eventually("the server says so", async || {
        run(&mut lease, "SELECT 1").await;
        lease.parameters()["default_transaction_read_only"] == "on"
    })
    .await;
    assert_eq!(run(&mut lease, "CREATE TABLE never (a int)").await.sqlstate(), "25006");
    give_back(lease).await;
    assert_eq!((pool.stats().destroyed_for(Cause::Moved), pool.stats().idle), (1, 0));
    let error = pool.checkout(soon()).await.unwrap_err().to_string();
    assert!(error.contains("is read-only"), "{error}");
}

/// As libpq: what one server says of a password the others would say, too, and need not be told.
#[tokio::test]
async fn a_refused_login_ends_the_search() {
    let pair = Pair::start();
    let mut target = pair.target(SessionAttributes::ReadWrite);
    target.password = Some(Secret::new("wrong".to_owned()));
    let error = connect(&target).await.unwrap_err();
    assert!(matches!(&error, ConnectError::Server(_)), "one error, not two: {error}");
    assert_eq!(error.server().and_then(Fields::sqlstate), Some("28P01"));
}

/// A machine that answers nobody stands first: the first connection waits for it, the next ones do not.
#[tokio::test]
async fn a_host_that_hangs_is_tried_last_for_a_while() {
    let cluster = Stack::get().cluster();
    let silent = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let hanging: SocketAddr = silent.local_addr().unwrap();
    let mut target = target("postgres");
    target.endpoint.address = Address::new("127.0.0.1", hanging.port());
    target.endpoint.connect_timeout = Duration::from_millis(500);
    target.fallbacks = vec![Address::new("127.0.0.1", cluster.port())];
    let pool = Pool::new(target, PoolConfig::default());
    let first = pool.checkout(soon()).await.unwrap();
    assert!(silent.accept().await.is_ok(), "it was asked");
    let more = [pool.checkout(soon()).await.unwrap(), pool.checkout(soon()).await.unwrap()];
    assert!(tokio::time::timeout(Duration::from_millis(20), silent.accept()).await.is_err(), "and not again");
    assert_eq!((pool.stats().opened, pool.stats().failed, pool.stats().down), (3, 0, false));
    drop((first, more));
}

/// `localhost` has two addresses on many machines, and the server listens on one.
#[tokio::test]
async fn every_address_of_a_name_is_tried() {
    let mut target = target("postgres");
    target.endpoint.address = Address::new("localhost", Stack::get().cluster().port());
    let mut connection = connect(&target).await.unwrap();
    assert_eq!(cell(&mut connection, "SELECT 1").await, "1");
    target.endpoint.address = Address::new("no-such-name.invalid", 5432);
    target.fallbacks = vec![Address::new("localhost", Stack::get().cluster().port())];
    let mut connection = connect(&target).await.unwrap();
    assert_eq!(cell(&mut connection, "SELECT 1").await, "1");
}

/// A relay of bytes that can stop taking connections without ending those that it has.
struct Way {
    port: u16,
    listening: tokio::task::JoinHandle<()>,
}

impl Way {
    async fn to(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let listening = tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut far =
                        tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                });
            }
        });
        Way { port, listening }
    }

    fn cut(&self) {
        self.listening.abort();
    }
}
