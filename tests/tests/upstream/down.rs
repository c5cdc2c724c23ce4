//! A server that is down: everybody is told at once, and it is noticed when it is back.

use std::net::SocketAddr;

use pgmoat_lab::{Cluster, Options, SUPERUSER};
use pgmoat_upstream::{CheckoutError, ConnectError};
use tokio::net::TcpListener;

use super::*;

#[tokio::test]
async fn down_is_told_at_once_and_recovery_needs_nobody() {
    let mut cluster = Cluster::start(Options::default()).unwrap();
    let pool = Pool::new(target_at(&cluster, SUPERUSER, "postgres"), PoolConfig::default());
    give_back(pool.checkout(soon()).await.unwrap()).await;
    cluster.stop();
    eventually("the loss is noticed", async || pool.checkout(soon()).await.is_err()).await;
    assert!(matches!(pool.checkout(soon()).await, Err(CheckoutError::Down(_))));
    assert!(pool.stats().down);
    assert_eq!(pool.stats().in_use, 0);

    cluster.start_again().unwrap();
    eventually("the pool finds it by itself", async || !pool.stats().down).await;
    let mut lease = pool.checkout(soon()).await.unwrap();
    assert_eq!(cell(&mut lease, "SELECT 1").await, "1");
}

/// A host that accepts and never answers: one caller finds out, the others do not wait for it.
#[tokio::test]
async fn a_server_that_hangs_holds_up_one_caller_only() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let mut target = target("lab");
    target.endpoint.address = Address::Tcp { host: "127.0.0.1".to_owned(), port: address.port() };
    target.endpoint.connect_timeout = Duration::from_millis(200);
    let config = PoolConfig { backoff_initial: Duration::from_millis(1), ..PoolConfig::default() };
    let pool = Pool::new(target, config);
    let first = pool.checkout(soon()).await;
    assert!(
        matches!(&first, Err(CheckoutError::Connect(error)) if matches!(**error, ConnectError::Timeout { .. })),
        "{first:?}"
    );
    // From here on attempts are the background task's, and are under way nearly all the time.
    for _ in 0..200 {
        assert!(matches!(pool.checkout(soon()).await, Err(CheckoutError::Down(_))));
    }
    let failed = pool.stats().failed;
    assert!(failed < 100, "checkouts made {failed} attempts");
}
