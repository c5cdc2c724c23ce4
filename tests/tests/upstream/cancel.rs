//! Cancel requests and the leases that they are about.

use pgmoat_upstream::CancelError;

use super::*;

async fn sleeping(database: &str, pid: i32) {
    eventually("the query runs", async || {
        let sql =
            format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {pid} AND wait_event = 'PgSleep'");
        psql(database, &sql) == "1"
    })
    .await;
}

#[tokio::test]
async fn a_cancel_stops_what_runs_and_the_connection_goes_back() {
    let database = lab_database();
    let pool = pool_of(1, &database);
    let mut lease = pool.checkout(soon()).await.unwrap();
    let (pid, canceller) = (lease.backend_pid(), lease.canceller());
    send(&mut lease, "SELECT pg_sleep(600)").await;
    let (answer, cancelled) = tokio::join!(receive(&mut lease), async {
        sleeping(&database, pid).await;
        canceller.cancel(PATIENCE).await
    });
    cancelled.unwrap();
    assert_eq!(answer.sqlstate(), "57014");
    give_back(lease).await;
    assert_eq!(pool.stats().idle, 1);
}

#[tokio::test]
async fn a_cancel_after_the_lease_is_gone_and_the_next_user_is_left_alone() {
    let database = lab_database();
    let pool = pool_of(1, &database);
    let lease = pool.checkout(soon()).await.unwrap();
    let late = lease.canceller();
    give_back(lease).await;
    let mut next = pool.checkout(soon()).await.unwrap();
    assert!(matches!(late.cancel(PATIENCE).await, Err(CancelError::Gone)));
    assert_eq!(cell(&mut next, "SELECT pg_sleep(0.1), 1").await, "");
    let dropped = next.canceller();
    drop(next);
    assert!(matches!(dropped.cancel(PATIENCE).await, Err(CancelError::Gone)));
}
