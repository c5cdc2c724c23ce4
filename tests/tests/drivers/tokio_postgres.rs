//! tokio-postgres: typed parameters in binary, statements that are kept, SqlState.

use pgmoat_lab::SERVICE_USER;
use pgmoat_tests::Stack;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};

#[tokio::test]
async fn tokio_postgres_directly() {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    session(&connect(&stack.cluster().dsn(SERVICE_USER, &database)).await).await;
}

#[tokio::test]
async fn tokio_postgres_through_the_proxy() {
    let proxied = Stack::get().proxy().unwrap();
    let client = connect(&proxied.dsn("acme_app")).await;
    session(&client).await;
    let everyone = client.query("SELECT id FROM app.orders WHERE id = 4242", &[]).await.unwrap_err();
    assert_eq!(everyone.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE));
    assert!(everyone.as_db_error().unwrap().hint().unwrap().contains("tenant_id"));
    let other = client.query(ORDER, &[&"globex", &4241_i64]).await.unwrap_err();
    assert_eq!(other.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE));
    session(&client).await;
}

async fn connect(dsn: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(dsn, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// What works the same through both doors.
async fn session(client: &Client) {
    let order = client.prepare(ORDER).await.unwrap();
    for id in (2..42).step_by(2) {
        let row = client.query_one(&order, &[&"acme", &i64::from(id)]).await.unwrap();
        assert_eq!(row.get::<_, i64>(0), i64::from(id));
    }
    // Several at once: the client pipelines them on its one connection.
    let (two, four, six) = tokio::join!(
        client.query_one(&order, &[&"acme", &2_i64]),
        client.query_one(&order, &[&"acme", &4_i64]),
        client.query_one(&order, &[&"acme", &6_i64]),
    );
    let ids: Vec<i64> = [two, four, six].into_iter().map(|row| row.unwrap().get(0)).collect();
    assert_eq!(ids, [2, 4, 6]);
    client.batch_execute("BEGIN").await.unwrap();
    assert_eq!(client.execute(NOTE, &[&"acme", &"tokio"]).await.unwrap(), 1);
    let zero = client.query(ZERO, &[]).await.unwrap_err();
    assert_eq!(zero.code(), Some(&SqlState::DIVISION_BY_ZERO));
    let failed = client.query(&order, &[&"acme", &2_i64]).await.unwrap_err();
    assert_eq!(failed.code(), Some(&SqlState::IN_FAILED_SQL_TRANSACTION));
    client.batch_execute("ROLLBACK").await.unwrap();
    let syntax = client.batch_execute("SELEC 1").await.unwrap_err();
    assert_eq!(syntax.code(), Some(&SqlState::SYNTAX_ERROR));
    let denied = client.query("SELECT secret FROM internal.api_keys", &[]).await.unwrap_err();
    assert_eq!(denied.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE));
}

const ORDER: &str = "SELECT id FROM app.orders WHERE tenant_id = $1 AND id = $2";
const NOTE: &str = "INSERT INTO app.notes (tenant_id, body) VALUES ($1, $2)";
const ZERO: &str = "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
