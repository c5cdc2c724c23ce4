//! Protocol 3.2 with real servers: 18 speaks it, earlier ones say so, and cancels work with either's key.

use pgmoat_lab::Postgres;
use pgmoat_tests::other_servers;
use pgmoat_upstream::connect;

use super::*;

#[tokio::test]
async fn cancels_reach_servers_of_each_major() {
    cancel_on(Stack::get().cluster()).await;
    for postgres in other_servers() {
        cancel_on(&started(postgres)).await;
    }
}

fn started(postgres: Postgres) -> Cluster {
    Cluster::start(pgmoat_lab::Options { postgres: Some(postgres), ..pgmoat_lab::Options::default() })
        .unwrap()
}

async fn cancel_on(cluster: &Cluster) {
    let target = target_at(cluster, pgmoat_lab::SUPERUSER, "postgres");
    drop(connect(&target).await.unwrap());
    let pool = Pool::new(target, PoolConfig::default());
    let mut lease = pool.checkout(soon()).await.unwrap();
    let (pid, canceller) = (lease.backend_pid(), lease.canceller());
    send(&mut lease, "SELECT pg_sleep(600)").await;
    let (answer, cancelled) = tokio::join!(receive(&mut lease), async {
        eventually("the query runs", async || {
            let sql =
                format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {pid} AND wait_event = 'PgSleep'");
            cluster.psql("postgres", &sql).unwrap().trim() == "1"
        })
        .await;
        canceller.cancel(PATIENCE).await
    });
    cancelled.unwrap();
    assert_eq!(answer.sqlstate(), "57014", "PostgreSQL {}", cluster.postgres().major());
}
