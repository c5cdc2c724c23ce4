//! tokio-postgres: typed values in binary, statements that are kept and let go, pipelines, COPY.

use std::fmt::{Display, Write as _};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _, future, stream};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Error, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::doors::Door;

pub(crate) fn session(door: &Door) -> String {
    tokio::runtime::Runtime::new().unwrap().block_on(all(door))
}

async fn all(door: &Door) -> String {
    let (client, notices) = connect(&door.dsn).await;
    let mut said = String::new();
    let mut say = |item: &str, result: &dyn Display| {
        let _ = writeln!(said, "{item}\t{result}");
    };
    say("connect", &one(&connect(&door.dsn).await.0, "SELECT 1").await);
    say("tls", &tls(door).await);
    say("types", &types(&client).await);
    say("nulls", &nulls(&client).await);
    say("arrays", &arrays(&client).await);
    say("json", &json(&client).await);
    say("bytea", &bytea(&client).await);
    say("prepared", &prepared(&client).await);
    say("transaction", &transaction(&client).await);
    say("savepoint", &savepoint(&client).await);
    say("error", &code(&client, ZERO).await);
    say("syntax", &code(&client, "SELEC 1").await);
    say("failed transaction", &failed_transaction(&client).await);
    say("denied", &code(&client, "SELECT secret FROM internal.api_keys").await);
    say("refused", &code(&client, "SELECT id FROM app.orders WHERE id = 4242").await);
    say("cancel", &cancel(&client).await);
    say("timeout", &timeout(&client).await);
    say("setting", &setting(&client).await);
    notices.lock().unwrap().clear();
    client.batch_execute("ROLLBACK").await.unwrap();
    say("notice", &notices.lock().unwrap().join(" "));
    say("rows", &rows(&client).await);
    say("copy out", &copy_out(&client).await);
    say("copy in", &copy_in(door).await);
    say("pool", &pool(door).await);
    say("pipelined", &pipelined(&client).await);
    say("portal", &portal(door).await);
    say("statement dropped within", &dropped_within(&client).await);
    said
}

async fn connect(dsn: &str) -> (Client, Arc<Mutex<Vec<String>>>) {
    let (client, mut connection) = tokio_postgres::connect(dsn, NoTls).await.unwrap();
    let notices = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&notices);
    tokio::spawn(async move {
        let mut messages = stream::poll_fn(|context| connection.poll_message(context));
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notice(notice) = message {
                heard.lock().unwrap().push(notice.code().code().to_owned());
            }
        }
    });
    (client, notices)
}

async fn one(client: &Client, sql: &str) -> i32 {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

fn sqlstate<T>(result: Result<T, Error>) -> String {
    result
        .err()
        .and_then(|error| Some(error.code()?.code().to_owned()))
        .unwrap_or_else(|| "no error".to_owned())
}

/// The SQLSTATE of what fails, or the number that comes back.
async fn code(client: &Client, sql: &str) -> String {
    match client.query(sql, &[]).await {
        Ok(rows) => rows.first().map(|row| row.get::<_, i64>(0).to_string()).unwrap_or_default(),
        failed => sqlstate(failed),
    }
}

async fn order(client: &Client, id: i64) -> i64 {
    client.query_one(ORDER, &[&"acme", &id]).await.unwrap().get(0)
}

async fn tls(door: &Door) -> i32 {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(&door.ca).unwrap() {
        roots.add(certificate.unwrap()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    // It knows `require` alone; the certificate is verified all the same.
    let dsn = door.tls_dsn.split_once('?').unwrap().0.to_owned() + "?sslmode=require";
    let (client, connection) = tokio_postgres::connect(&dsn, MakeRustlsConnect::new(config)).await.unwrap();
    tokio::spawn(connection);
    one(&client, "SELECT 1").await
}

async fn types(client: &Client) -> String {
    let row = client.query_one(TYPES, &[]).await.unwrap();
    format!(
        "{} {} {} {} {} {} {} {} {} {}",
        row.get::<_, bool>(0),
        row.get::<_, i16>(1),
        row.get::<_, i32>(2),
        row.get::<_, i64>(3),
        row.get::<_, f64>(4),
        row.get::<_, &str>(5),
        row.get::<_, &str>(6),
        row.get::<_, &str>(7),
        row.get::<_, &str>(8),
        row.get::<_, &str>(9),
    )
}

async fn nulls(client: &Client) -> String {
    let row = client.query_one("SELECT NULL::int, NULL::text, $1::text", &[&None::<&str>]).await.unwrap();
    let texts = [
        row.get::<_, Option<i32>>(0).map(|_| ""),
        row.get::<_, Option<&str>>(1),
        row.get::<_, Option<&str>>(2),
    ];
    texts.map(|text| text.unwrap_or("null")).join(" ")
}

async fn arrays(client: &Client) -> String {
    let values: [&(dyn ToSql + Sync); 2] = [&vec![Some(1), Some(2), None], &vec!["a", "b c"]];
    let row = client.query_one("SELECT $1::int[], $2::text[]", &values).await.unwrap();
    let numbers = row.get::<_, Vec<Option<i32>>>(0).into_iter();
    let numbers: Vec<_> =
        numbers.map(|number| number.map_or("null".to_owned(), |number| number.to_string())).collect();
    format!("{} {}", numbers.join(","), row.get::<_, Vec<String>>(1).join(","))
}

async fn json(client: &Client) -> String {
    let row = client.query_one(r#"SELECT '{"a": [1, 2]}'::jsonb"#, &[]).await.unwrap();
    row.get::<_, serde_json::Value>(0)["a"][1].to_string()
}

async fn bytea(client: &Client) -> String {
    let bytes: Vec<u8> = (0..1 << 20).map(|byte: u32| byte.to_le_bytes()[0]).collect();
    let back = client.query_one("SELECT $1::bytea", &[&bytes]).await.unwrap().get::<_, Vec<u8>>(0);
    format!("{} {}", back.len(), if back == bytes { "same" } else { "other" })
}

async fn prepared(client: &Client) -> i64 {
    let statement = client.prepare(ORDER).await.unwrap();
    let mut sum = 0;
    for id in (2..42_i64).step_by(2) {
        sum += client.query_one(&statement, &[&"acme", &id]).await.unwrap().get::<_, i64>(0);
    }
    sum
}

async fn transaction(client: &Client) -> String {
    client.batch_execute("BEGIN").await.unwrap();
    client.execute(NOTE, &[]).await.unwrap();
    client.batch_execute("ROLLBACK").await.unwrap();
    let rolled_back = client.query_one(NOTES, &[]).await.unwrap().get::<_, i64>(0);
    client.batch_execute("BEGIN").await.unwrap();
    client.execute(NOTE, &[]).await.unwrap();
    client.batch_execute("COMMIT").await.unwrap();
    format!("{rolled_back} {}", client.execute(FORGET, &[]).await.unwrap())
}

async fn savepoint(client: &Client) -> u64 {
    for sql in ["BEGIN", NOTE, "SAVEPOINT s", NOTE, "ROLLBACK TO s", "COMMIT"] {
        client.execute(sql, &[]).await.unwrap();
    }
    client.execute(FORGET, &[]).await.unwrap()
}

async fn failed_transaction(client: &Client) -> String {
    client.batch_execute("BEGIN").await.unwrap();
    let codes = [sqlstate(client.query(ZERO, &[]).await), sqlstate(client.query("SELECT 1", &[]).await)];
    client.batch_execute("ROLLBACK").await.unwrap();
    format!("{} {}", codes.join(" "), one(client, "SELECT 1").await)
}

async fn cancel(client: &Client) -> String {
    let token = client.cancel_token();
    let (running, _) = tokio::join!(client.query(LONG, &[]), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        token.cancel_query(NoTls).await.unwrap();
    });
    format!("{} {}", sqlstate(running), one(client, "SELECT 1").await)
}

async fn timeout(client: &Client) -> String {
    client.batch_execute("SET statement_timeout = 100").await.unwrap();
    let running = client.query(LONG, &[]).await;
    client.batch_execute("RESET statement_timeout").await.unwrap();
    format!("{} {}", sqlstate(running), one(client, "SELECT 1").await)
}

async fn setting(client: &Client) -> String {
    let hour = async || client.query_one(HOUR, &[]).await.unwrap().get::<_, String>(0);
    client.batch_execute("SET TimeZone = 'Asia/Tokyo'").await.unwrap();
    let hours = [hour().await, hour().await];
    client.batch_execute("RESET TimeZone").await.unwrap();
    format!("{} {}", hours.join(" "), hour().await)
}

async fn rows(client: &Client) -> String {
    let none: [&str; 0] = [];
    let rows = client.query_raw(MANY, none).await.unwrap();
    let ids: Vec<i64> = rows.map(|row| row.unwrap().get::<_, i64>(0)).collect().await;
    format!("{} {}", ids.len(), ids.iter().sum::<i64>())
}

async fn copy_out(client: &Client) -> usize {
    let lines = client.copy_out(COPY_OUT).await.unwrap();
    let lines: Vec<Bytes> = lines.map(Result::unwrap).collect().await;
    lines.concat().split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count()
}

async fn copy_in(door: &Door) -> u64 {
    let (client, _) = connect(&door.ops_dsn).await;
    let mut lines = pin!(client.copy_in("COPY app.notes (tenant_id, body) FROM STDIN").await.unwrap());
    for _ in 0..2 {
        lines.send(Bytes::from_static(b"acme\ttokio\n")).await.unwrap();
    }
    lines.finish().await.unwrap();
    client.execute(FORGET, &[]).await.unwrap()
}

async fn pool(door: &Door) -> usize {
    let client = async |id: i64| {
        let (client, _) = connect(&door.dsn).await;
        let mut right = 0;
        for _ in 0..10 {
            right += usize::from(order(&client, id).await == id);
        }
        right
    };
    future::join_all((1..=20).map(|number| client(2 * number))).await.into_iter().sum()
}

/// Several at once: they go in one write.
async fn pipelined(client: &Client) -> String {
    let (two, four, six) = tokio::join!(order(client, 2), order(client, 4), order(client, 6));
    format!("{two} {four} {six}")
}

async fn portal(door: &Door) -> String {
    let (mut client, _) = connect(&door.dsn).await;
    let transaction = client.transaction().await.unwrap();
    let query = "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 20";
    let portal = transaction.bind(query, &[]).await.unwrap();
    let mut counts = Vec::new();
    for most in [5, 5, 0] {
        counts.push(transaction.query_portal(&portal, most).await.unwrap().len().to_string());
    }
    transaction.commit().await.unwrap();
    counts.join(" ")
}

/// A Close and its Sync go before the next batch, unasked for.
async fn dropped_within(client: &Client) -> String {
    let statement = client.prepare(ORDER).await.unwrap();
    let two = client.query_one(&statement, &[&"acme", &2_i64]).await.unwrap().get::<_, i64>(0);
    drop(statement);
    let denied = sqlstate(client.prepare("SELECT secret FROM internal.api_keys").await);
    assert_eq!(denied, "42501");
    format!("{two} {}", order(client, 4).await)
}

const ORDER: &str = "SELECT id FROM app.orders WHERE tenant_id = $1 AND id = $2";
const NOTE: &str = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'tokio')";
const NOTES: &str = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'tokio'";
const FORGET: &str = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'tokio'";
const ZERO: &str = "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
const LONG: &str = "SELECT count(*) FROM generate_series(1, 2000000000)";
const HOUR: &str = "SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI')";
const MANY: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 5000";
const COPY_OUT: &str = "COPY (SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 8) TO STDOUT";
const TYPES: &str = "SELECT true, 7::int2, (-2147483648)::int4, 9007199254740993::int8, 1.5::float8,
    12.50::numeric(10,2)::text, 'Grüße'::text, (date '2026-01-31')::text, (time '12:30:00')::text,
    '00000000-0000-0000-0000-000000000042'::uuid::text";
