//! sqlx: one line on the standard output for each item of the checklist.

use std::env::var;
use std::error::Error;
use std::fmt::Display;
use std::future::Future;

use futures_util::{StreamExt as _, future};
use sqlx::postgres::{PgConnection, PgPoolOptions};
use sqlx::{Column as _, Connection as _, Executor as _, Row as _};

type Said<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Said<()> {
    let mut main = PgConnection::connect(&var("PGMOAT_DSN")?).await?;
    let main = &mut main;
    item("connect", briefly("PGMOAT_DSN")).await;
    item("tls", briefly("PGMOAT_TLS_DSN")).await;
    item("types", types(main)).await;
    item("nulls", nulls(main)).await;
    item("arrays", arrays(main)).await;
    item("json", json(main)).await;
    item("bytea", bytea(main)).await;
    item("prepared", prepared(main)).await;
    item("transaction", transaction(main)).await;
    item("savepoint", savepoint(main)).await;
    item("error", code(main, ZERO)).await;
    item("syntax", code(main, "SELEC 1")).await;
    item("failed transaction", failed_transaction(main)).await;
    item("denied", code(main, "SELECT secret FROM internal.api_keys")).await;
    item("refused", code(main, "SELECT id FROM app.orders WHERE id = 4242")).await;
    item("cancel", async { Ok("- it has no cancel") }).await;
    item("timeout", timeout(main)).await;
    item("setting", setting(main)).await;
    item("notice", async { Ok("- it only logs them") }).await;
    item("rows", rows(main)).await;
    item("copy out", copy_out(main)).await;
    item("copy in", copy_in()).await;
    item("pool", pool()).await;
    item("statements by the dozen", dozens(main)).await;
    item("described", described(main)).await;
    Ok(())
}

async fn item(name: &str, what: impl Future<Output = Said<impl Display>>) {
    match what.await {
        Ok(result) => println!("{name}\t{result}"),
        Err(error) => println!("{name}\tsurprise: {error:?}"),
    }
}

async fn briefly(variable: &str) -> Said<i32> {
    let mut connection = PgConnection::connect(&var(variable)?).await?;
    let one = sqlx::query_scalar("SELECT 1").fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(one)
}

async fn run(connection: &mut PgConnection, sql: &'static str) -> Said<u64> {
    Ok(sqlx::query(sql).execute(connection).await?.rows_affected())
}

async fn order(connection: &mut PgConnection, id: i64) -> Said<i64> {
    Ok(sqlx::query_scalar(ORDER).bind("acme").bind(id).fetch_one(connection).await?)
}

/// The SQLSTATE of what fails, or the number that comes back.
async fn code(connection: &mut PgConnection, sql: &'static str) -> Said<String> {
    match sqlx::query_scalar::<_, i64>(sql).fetch_one(connection).await {
        Ok(number) => Ok(number.to_string()),
        Err(sqlx::Error::Database(error)) => Ok(error.code().unwrap_or_default().into_owned()),
        Err(other) => Err(other.into()),
    }
}

async fn types(connection: &mut PgConnection) -> Said<String> {
    let row = sqlx::query(TYPES).fetch_one(connection).await?;
    let texts: Vec<String> = (5..10).map(|at| row.try_get(at)).collect::<Result<_, _>>()?;
    Ok(format!(
        "{} {} {} {} {} {}",
        row.try_get::<bool, _>(0)?,
        row.try_get::<i16, _>(1)?,
        row.try_get::<i32, _>(2)?,
        row.try_get::<i64, _>(3)?,
        row.try_get::<f64, _>(4)?,
        texts.join(" ")
    ))
}

async fn nulls(connection: &mut PgConnection) -> Said<String> {
    let query = sqlx::query("SELECT NULL::text, NULL::text, $1::text").bind(None::<&str>);
    let row = query.fetch_one(connection).await?;
    let texts: Vec<Option<String>> = (0..3).map(|at| row.try_get(at)).collect::<Result<_, _>>()?;
    Ok(texts.into_iter().map(|text| text.unwrap_or("null".into())).collect::<Vec<_>>().join(" "))
}

async fn arrays(connection: &mut PgConnection) -> Said<String> {
    let query =
        sqlx::query("SELECT $1::int[], $2::text[]").bind(vec![Some(1), Some(2), None]).bind(vec!["a", "b c"]);
    let row = query.fetch_one(connection).await?;
    let numbers: Vec<Option<i32>> = row.try_get(0)?;
    let numbers: Vec<String> =
        numbers.into_iter().map(|number| number.map_or("null".into(), |number| number.to_string())).collect();
    Ok(format!("{} {}", numbers.join(","), row.try_get::<Vec<String>, _>(1)?.join(",")))
}

async fn json(connection: &mut PgConnection) -> Said<i32> {
    let query = sqlx::query_scalar(r#"SELECT ('{"a": [1, 2]}'::jsonb -> 'a' -> 1)::int"#);
    Ok(query.fetch_one(connection).await?)
}

async fn bytea(connection: &mut PgConnection) -> Said<String> {
    let bytes: Vec<u8> = (0..1 << 20).map(|byte: u32| byte.to_le_bytes()[0]).collect();
    let back: Vec<u8> = sqlx::query_scalar("SELECT $1::bytea").bind(&bytes).fetch_one(connection).await?;
    Ok(format!("{} {}", back.len(), if back == bytes { "same" } else { "other" }))
}

async fn prepared(connection: &mut PgConnection) -> Said<i64> {
    let mut sum = 0;
    for id in (2..42).step_by(2) {
        sum += order(connection, id).await?;
    }
    Ok(sum)
}

async fn transaction(connection: &mut PgConnection) -> Said<String> {
    let mut begun = connection.begin().await?;
    run(&mut begun, NOTE).await?;
    begun.rollback().await?;
    let rolled_back: i64 = sqlx::query_scalar(NOTES).fetch_one(&mut *connection).await?;
    let mut begun = connection.begin().await?;
    run(&mut begun, NOTE).await?;
    begun.commit().await?;
    Ok(format!("{rolled_back} {}", run(connection, FORGET).await?))
}

async fn savepoint(connection: &mut PgConnection) -> Said<u64> {
    let mut outer = connection.begin().await?;
    run(&mut outer, NOTE).await?;
    let mut inner = outer.begin().await?;
    run(&mut inner, NOTE).await?;
    inner.rollback().await?;
    outer.commit().await?;
    run(connection, FORGET).await
}

async fn failed_transaction(connection: &mut PgConnection) -> Said<String> {
    let mut begun = connection.begin().await?;
    let codes = [code(&mut begun, ZERO).await?, code(&mut begun, "SELECT 1::int8").await?];
    begun.rollback().await?;
    Ok(format!("{} {}", codes.join(" "), code(connection, "SELECT 1::int8").await?))
}

async fn timeout(connection: &mut PgConnection) -> Said<String> {
    run(connection, "SET statement_timeout = 100").await?;
    let codes = code(connection, "SELECT count(*) FROM generate_series(1, 2000000000)").await?;
    run(connection, "RESET statement_timeout").await?;
    Ok(format!("{codes} {}", code(connection, "SELECT 1::int8").await?))
}

async fn setting(connection: &mut PgConnection) -> Said<String> {
    let mut hours = Vec::new();
    run(connection, "SET TimeZone = 'Asia/Tokyo'").await?;
    for at in 0..3 {
        if at == 2 {
            run(connection, "RESET TimeZone").await?;
        }
        hours.push(sqlx::query_scalar::<_, String>(HOUR).fetch_one(&mut *connection).await?);
    }
    Ok(hours.join(" "))
}

async fn rows(connection: &mut PgConnection) -> Said<String> {
    let mut found = sqlx::query_scalar::<_, i64>(MANY).fetch(connection);
    let (mut count, mut sum) = (0, 0);
    while let Some(id) = found.next().await {
        (count, sum) = (count + 1, sum + id?);
    }
    Ok(format!("{count} {sum}"))
}

async fn copy_out(connection: &mut PgConnection) -> Said<usize> {
    let mut stream = connection.copy_out_raw(COPY_OUT).await?;
    let mut all = Vec::new();
    while let Some(some) = stream.next().await {
        all.extend(some?);
    }
    Ok(all.iter().filter(|byte| **byte == b'\n').count())
}

async fn copy_in() -> Said<u64> {
    let mut ops = PgConnection::connect(&var("PGMOAT_OPS_DSN")?).await?;
    let mut copy = ops.copy_in_raw("COPY app.notes (tenant_id, body) FROM STDIN").await?;
    copy.send(b"acme\tsqlx\nacme\tsqlx\n".as_slice()).await?;
    copy.finish().await?;
    run(&mut ops, FORGET).await
}

async fn pool() -> Said<usize> {
    let pool = PgPoolOptions::new().max_connections(20).connect(&var("PGMOAT_DSN")?).await?;
    let answers = (1..=20_i64).flat_map(|number| [2 * number; 10]).map(|id| {
        let pool = pool.clone();
        async move {
            let mut connection = pool.acquire().await?;
            Said::Ok(usize::from(order(&mut connection, id).await? == id))
        }
    });
    let right = future::join_all(answers).await.into_iter().sum::<Said<usize>>();
    pool.close().await;
    right
}

/// More than it keeps: it closes the oldest.
async fn dozens(connection: &mut PgConnection) -> Said<usize> {
    let mut right = 0;
    for number in 0..150_i32 {
        let sql = format!("SELECT {number}");
        right += usize::from(sqlx::query_scalar::<_, i32>(&sql).fetch_one(&mut *connection).await? == number);
    }
    Ok(right)
}

async fn described(connection: &mut PgConnection) -> Said<String> {
    match connection.describe("SELECT id, total FROM app.orders WHERE tenant_id = $1").await {
        Ok(described) => {
            Ok(described.columns().iter().map(|column| column.name()).collect::<Vec<_>>().join(" "))
        }
        Err(sqlx::Error::Database(error)) => Ok(error.code().unwrap_or_default().into_owned()),
        Err(other) => Err(other.into()),
    }
}

const ORDER: &str = "SELECT id FROM app.orders WHERE tenant_id = $1 AND id = $2";
const NOTE: &str = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'sqlx')";
const NOTES: &str = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'sqlx'";
const FORGET: &str = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'sqlx'";
const ZERO: &str = "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
const HOUR: &str = "SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI')";
const MANY: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 5000";
const COPY_OUT: &str = "COPY (SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 8) TO STDOUT";
const TYPES: &str = "SELECT true, 7::int2, (-2147483648)::int4, 9007199254740993::int8, 1.5::float8,
    12.50::numeric(10,2)::text, 'Grüße'::text, (date '2026-01-31')::text, (time '12:30:00')::text,
    '00000000-0000-0000-0000-000000000042'::uuid::text";
