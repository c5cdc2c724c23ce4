//! More clients than connections: the minimum, the reserve, and a server that goes while many wait.

use std::sync::Arc;

use pgmoat_lab::{Cluster, Options, SUPERUSER};
use pgmoat_upstream::{Cause, CheckoutError};

use super::*;

fn live(database: &str) -> String {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'pgmoat_service' AND datname = current_database()";
    psql(database, count)
}

#[tokio::test]
async fn the_minimum_is_made_unasked_and_kept_by_sweeps_and_after_a_loss() {
    let database = lab_database();
    let config = PoolConfig {
        max_connections: 5,
        minimum: 3,
        idle_timeout: Duration::from_millis(50),
        ..PoolConfig::default()
    };
    let pool = Pool::new(target(&database), config);
    eventually("three are there before anybody has asked", async || pool.stats().idle == 3).await;
    let mut leases = Vec::new();
    for _ in 0..5 {
        leases.push(pool.checkout(soon()).await.unwrap());
    }
    for lease in leases {
        give_back(lease).await;
    }
    eventually("what is over the minimum is closed", async || {
        pool.stats().idle == 3 && live(&database) == "3"
    })
    .await;
    let stats = pool.stats();
    assert_eq!((stats.opened, stats.destroyed_for(Cause::Idle)), (5, 2), "no other came or went");
    // Twenty sweeps later they are the same ones.
    tokio::time::sleep(Duration::from_millis(1000)).await;
    assert_eq!(pool.stats().opened, 5);
    drop(pool.checkout(soon()).await.unwrap());
    eventually("one that was lost is made again", async || pool.stats().idle == 3).await;
    assert_eq!(pool.stats().opened, 6);
}

#[tokio::test]
async fn the_minimum_is_renewed_when_it_has_grown_old_and_not_all_at_once() {
    let config = PoolConfig {
        max_connections: 4,
        minimum: 4,
        lifetime: Duration::from_secs(2),
        ..PoolConfig::default()
    };
    let pool = Pool::new(target(&lab_database()), config);
    eventually("four are there", async || pool.stats().idle == 4).await;
    eventually("all are renewed", async || pool.stats().destroyed_for(Cause::Aged) >= 4).await;
    eventually("and there again", async || pool.stats().idle == 4).await;
    assert!(pool.stats().live <= 4);
}

#[tokio::test]
async fn the_reserve_is_for_those_who_have_waited_and_is_closed_when_nobody_waits() {
    let database = lab_database();
    let config = PoolConfig {
        max_connections: 1,
        reserve: 2,
        reserve_wait: Duration::from_millis(100),
        wait_timeout: Duration::from_millis(400),
        // Sweeps are four in one such time.
        idle_timeout: Duration::from_secs(2),
        ..PoolConfig::default()
    };
    let pool = Pool::new(target(&database), config);
    let first = pool.checkout(soon()).await.unwrap();
    let started = Instant::now();
    let second = pool.checkout(soon()).await.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(100), "not before its time");
    let third = pool.checkout(soon()).await.unwrap();
    assert!(matches!(pool.checkout(soon()).await, Err(CheckoutError::WaitTimeout)), "it has an end, too");
    assert_eq!((pool.stats().in_use, pool.stats().live), (3, 3));
    // One that comes back is for the first in line, who does not have to wait for the reserve's time.
    let waiter = tokio::spawn({
        let pool = pool.clone();
        async move { pool.checkout(soon()).await }
    });
    eventually("somebody waits", async || pool.stats().waiting == 1).await;
    give_back(first).await;
    let fourth = waiter.await.unwrap().unwrap();
    assert_eq!(pool.stats().opened, 3);
    for lease in [second, third, fourth] {
        give_back(lease).await;
    }
    eventually("the reserve is closed, and the pool's own one is not", async || {
        let stats = pool.stats();
        stats.destroyed_for(Cause::Surplus) == 2 && stats.idle == 1
    })
    .await;
    assert_eq!(pool.stats().destroyed_for(Cause::Idle), 0);
}

/// Known fault H13. Two hundred stand in line when the server goes: all are told soon, one attempt at a time is made for
/// all of them, and all are served when it is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_who_wait_are_told_at_once_and_served_when_it_is_back() {
    const CLIENTS: usize = 200;
    const SIZE: usize = 4;
    let mut cluster = Cluster::start(Options::default()).unwrap();
    let config = PoolConfig {
        max_connections: SIZE,
        wait_timeout: PATIENCE,
        backoff_initial: Duration::from_millis(50),
        ..PoolConfig::default()
    };
    let pool = Pool::new(target_at(&cluster, SUPERUSER, "postgres"), config);
    let mut leases = Vec::new();
    for _ in 0..SIZE {
        leases.push(pool.checkout(soon()).await.unwrap());
    }
    let ask = |pool: Pool| tokio::spawn(async move { pool.checkout(soon()).await.map(drop) });
    let waiters: Vec<_> = (0..CLIENTS).map(|_| ask(pool.clone())).collect();
    eventually("all stand in line", async || pool.stats().waiting == CLIENTS).await;
    cluster.stop();
    let told = Instant::now();
    drop(leases);
    for waiter in waiters {
        let error = waiter.await.unwrap().unwrap_err();
        assert!(matches!(error, CheckoutError::Down(_) | CheckoutError::Connect(_)), "{error}");
    }
    assert!(told.elapsed() < PATIENCE / 2, "nobody waited for the line's own limit: {:?}", told.elapsed());
    // Those who had a place at that moment have tried, and nobody since but the one who tries for all.
    let at_first = pool.stats().failed;
    assert!(at_first <= 2 * SIZE as u64, "{at_first} attempts");
    for waiter in (0..CLIENTS).map(|_| ask(pool.clone())).collect::<Vec<_>>() {
        assert!(matches!(waiter.await.unwrap(), Err(CheckoutError::Down(_))));
    }
    let (waited, more) = (told.elapsed(), pool.stats().failed - at_first);
    assert!(u128::from(more) <= waited.as_millis() / 50 + 1, "{more} attempts in {waited:?}");

    cluster.start_again().unwrap();
    eventually("it is found", async || !pool.stats().down).await;
    for waiter in (0..CLIENTS).map(|_| ask(pool.clone())).collect::<Vec<_>>() {
        waiter.await.unwrap().unwrap();
    }
    assert!(pool.stats().live <= SIZE);
}

/// The server has no room for one more connection, which is no reason to fail those who can wait for one of ours.
#[tokio::test]
async fn a_full_server_is_not_down() {
    let settings = vec![("superuser_reserved_connections".to_owned(), "1".to_owned())];
    let options = Options { max_connections: 4, settings, ..Options::default() };
    let cluster = Arc::new(Cluster::start(options).unwrap());
    cluster.psql("postgres", "CREATE ROLE guest LOGIN PASSWORD 'guest'").unwrap();
    let mut target = target_at(&cluster, "guest", "postgres");
    target.password = Some(Secret::new("guest".to_owned()));
    let config = PoolConfig { max_connections: 8, wait_timeout: PATIENCE, ..PoolConfig::default() };
    let pool = Pool::new(target, config);
    let mut leases = Vec::new();
    let refused = loop {
        match pool.checkout(soon()).await {
            Ok(lease) => leases.push(lease),
            Err(error) => break error,
        }
    };
    assert!(refused.to_string().contains("53300"), "{refused}");
    assert!(leases.len() >= 2);
    let waiter = tokio::spawn({
        let pool = pool.clone();
        async move { pool.checkout(soon()).await }
    });
    eventually("the next one waits", async || pool.stats().waiting == 1).await;
    let mut lease = leases.pop().unwrap();
    let proof = lease.prove_clean(QUIET).unwrap();
    lease.give_back_as_it_is(proof);
    // It is there, the one who waits has not run yet, and whoever comes now stands behind.
    let late = tokio::time::timeout(Duration::from_millis(100), pool.checkout(soon())).await;
    assert!(late.is_err(), "served before its turn");
    let lease = waiter.await.unwrap().unwrap();
    // With the last one gone there is nothing to wait for.
    let waiter = tokio::spawn({
        let pool = pool.clone();
        async move { pool.checkout(soon()).await.map(drop) }
    });
    eventually("another one waits", async || pool.stats().waiting == 1).await;
    drop(leases);
    drop(lease);
    let _ = waiter.await.unwrap();
    eventually("and with room it is as before", async || pool.checkout(soon()).await.is_ok()).await;
}
