//! Sharing: nothing of one user reaches the next, never more connections than allowed, first come
//! first served.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pgmoat_upstream::{CheckoutError, NotClean};

use super::*;

#[tokio::test]
async fn a_connection_that_comes_back_is_as_after_the_login() {
    let database = lab_database();
    let pool = pool_of(1, &database);
    let mut lease = pool.checkout(soon()).await.unwrap();
    let pid = lease.backend_pid();
    for sql in [
        "SET TimeZone = 'Asia/Tokyo'",
        "SET app.current_tenant = 'acme'",
        "CREATE TEMP TABLE left_over AS SELECT 1 AS secret",
        "PREPARE left_over AS SELECT 1",
        "DECLARE left_over CURSOR WITH HOLD FOR SELECT 1",
        "LISTEN left_over",
        "SELECT pg_advisory_lock(7)",
    ] {
        let answer = run(&mut lease, sql).await;
        assert!(answer.error.is_none(), "{sql}: {:?}", answer.error);
    }
    let zone = lease.parameters()["TimeZone"].clone();
    give_back(lease).await;

    let mut lease = pool.checkout(soon()).await.unwrap();
    assert_eq!(lease.backend_pid(), pid);
    assert_ne!(lease.parameters()["TimeZone"], zone, "what was reported is followed back too");
    assert_eq!(cell(&mut lease, "SHOW search_path").await, "\"app\", \"public\"");
    let left = "SELECT (SELECT count(*) FROM pg_prepared_statements) + (SELECT count(*) FROM pg_cursors)
                + (SELECT count(*) FROM pg_listening_channels())
                + (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())
                + (SELECT count(*) FROM pg_class WHERE relname = 'left_over')
                + length(coalesce(current_setting('app.current_tenant', true), ''))";
    assert_eq!(cell(&mut lease, left).await, "0");
    assert_eq!(pool.stats().opened, 1);
    assert_eq!(pool.stats().reused, 1);
}

#[tokio::test]
async fn what_is_left_under_way_keeps_a_connection_out() {
    let database = lab_database();
    let pool = pool_of(2, &database);
    let mut lease = pool.checkout(soon()).await.unwrap();
    let pid = lease.backend_pid();
    let answer = run(&mut lease, "BEGIN; CREATE TABLE public.never (a int)").await;
    let open = Quiet { status: answer.status.unwrap(), ..QUIET };
    assert_eq!(lease.prove_clean(open), Err(NotClean::Transaction));
    lease.incoming.extend_from_slice(b"N");
    assert_eq!(lease.prove_clean(QUIET), Err(NotClean::Unread));
    drop(lease);
    assert_eq!(pool.stats().in_use, 0);
    assert_eq!(pool.stats().destroyed, 1);
    eventually("the dropped connection is closed and rolled back", async || {
        psql(&database, &format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {pid}")) == "0"
            && psql(&database, "SELECT count(*) FROM pg_class WHERE relname = 'never'") == "0"
    })
    .await;
}

#[tokio::test]
async fn a_proof_is_good_for_its_own_lease() {
    let database = lab_database();
    let pool = pool_of(2, &database);
    let (mut clean, mut dirty) = (pool.checkout(soon()).await.unwrap(), pool.checkout(soon()).await.unwrap());
    run(&mut dirty, "BEGIN").await;
    let proof = clean.prove_clean(QUIET).unwrap();
    dirty.give_back(proof).await;
    assert_eq!((pool.stats().idle, pool.stats().destroyed), (0, 1));
}

#[tokio::test]
async fn a_session_that_lied_about_being_clean_is_found_out() {
    let database = lab_database();
    let pool = pool_of(1, &database);
    let mut lease = pool.checkout(soon()).await.unwrap();
    run(&mut lease, "BEGIN").await;
    give_back(lease).await;
    assert_eq!((pool.stats().idle, pool.stats().destroyed), (0, 1), "DISCARD ALL fails in a transaction");
}

#[tokio::test]
async fn waiters_are_served_in_their_order_and_leave_when_dropped() {
    let database = lab_database();
    let pool = pool_of(1, &database);
    let lease = pool.checkout(soon()).await.unwrap();
    let served = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for number in 0..5 {
        let (waiter_pool, served) = (pool.clone(), Arc::clone(&served));
        tasks.push(tokio::spawn(async move {
            let lease = waiter_pool.checkout(soon()).await.unwrap();
            served.lock().unwrap().push(number);
            give_back(lease).await;
        }));
        eventually("the waiter stands in line", async || pool.stats().waiting == number + 1).await;
    }
    tasks.remove(1).abort();
    eventually("the dropped waiter has left", async || pool.stats().waiting == 4).await;
    give_back(lease).await;
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*served.lock().unwrap(), [0, 2, 3, 4]);
    assert_eq!(pool.stats().opened, 1);
}

#[tokio::test]
async fn waiting_has_an_end() {
    let database = lab_database();
    let config =
        PoolConfig { max_connections: 1, wait_timeout: Duration::from_millis(30), ..PoolConfig::default() };
    let pool = Pool::new(target(&database), config);
    let _lease = pool.checkout(soon()).await.unwrap();
    assert!(matches!(pool.checkout(soon()).await, Err(CheckoutError::WaitTimeout)));
    let at_once = Instant::now();
    assert!(matches!(pool.checkout(at_once).await, Err(CheckoutError::WaitTimeout)));
    assert_eq!((pool.stats().timeouts, pool.stats().waiting), (2, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn never_more_connections_than_allowed_and_each_has_one_user_at_a_time() {
    const MAX: usize = 3;
    let database = lab_database();
    let pool = pool_of(MAX, &database);
    let users = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..24)
        .map(|number: usize| {
            let (pool, users) = (pool.clone(), Arc::clone(&users));
            tokio::spawn(async move {
                for round in 0..6 {
                    let mut lease = pool.checkout(soon()).await.unwrap();
                    assert!(users.fetch_add(1, Ordering::SeqCst) < MAX);
                    let mark = format!("u{number}r{round}");
                    run(&mut lease, &format!("SET app.mark = '{mark}'")).await;
                    assert_eq!(cell(&mut lease, "SHOW app.mark").await, mark);
                    users.fetch_sub(1, Ordering::SeqCst);
                    match (number + round) % 3 {
                        0 => drop(lease),
                        _ => give_back(lease).await,
                    }
                    let stats = pool.stats();
                    assert!(stats.idle <= MAX && stats.in_use <= MAX, "{stats:?}");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let stats = pool.stats();
    assert_eq!((stats.in_use, stats.waiting), (0, 0));
    assert_eq!(stats.destroyed, 48);
    assert_eq!(stats.opened, stats.destroyed + u64::try_from(stats.idle).unwrap());
}

#[tokio::test]
async fn a_connection_that_died_at_rest_is_not_handed_out() {
    let database = lab_database();
    let pool = pool_of(1, &database);
    let lease = pool.checkout(soon()).await.unwrap();
    let pid = lease.backend_pid();
    give_back(lease).await;
    psql(&database, &format!("SELECT pg_terminate_backend({pid}, 60000)"));
    // The socket's end is known to the runtime once it has looked.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut lease = pool.checkout(soon()).await.unwrap();
    assert_ne!(lease.backend_pid(), pid);
    assert_eq!(cell(&mut lease, "SELECT 1").await, "1");
}

#[tokio::test]
async fn rest_and_age_have_limits() {
    let database = lab_database();
    let short = Duration::from_millis(100);
    let resting = PoolConfig { idle_timeout: short, ..PoolConfig::default() };
    let aging = PoolConfig { lifetime: short, ..PoolConfig::default() };
    for config in [resting, aging] {
        let pool = Pool::new(target(&database), config);
        give_back(pool.checkout(soon()).await.unwrap()).await;
        eventually("the connection is closed at rest", async || pool.stats().idle == 0).await;
        assert_eq!(pool.stats().destroyed, 1);
    }
}

#[tokio::test]
async fn a_closed_pool_gives_nothing_and_takes_nothing_back() {
    let database = lab_database();
    let pool = pool_of(1, &database);
    let lease = pool.checkout(soon()).await.unwrap();
    let waiter = tokio::spawn({
        let pool = pool.clone();
        async move { pool.checkout(soon()).await.map(drop) }
    });
    eventually("somebody waits", async || pool.stats().waiting == 1).await;
    pool.close();
    assert!(matches!(waiter.await.unwrap(), Err(CheckoutError::Closed)));
    assert!(matches!(pool.checkout(soon()).await, Err(CheckoutError::Closed)));
    give_back(lease).await;
    assert_eq!(pool.stats().idle, 0);
}

#[tokio::test]
async fn pools_differ_by_what_is_pinned() {
    let pool = |others: &[(&str, &str)]| {
        let mut target = target("lab");
        target.settings = settings(others);
        Pool::new(target, PoolConfig::default())
    };
    assert_eq!(pool(&[]).key(), pool(&[]).key());
    assert_ne!(
        pool(&[("app.current_tenant", "acme")]).key(),
        pool(&[("app.current_tenant", "globex")]).key()
    );
}
