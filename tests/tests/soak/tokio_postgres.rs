//! tokio-postgres: statements that it prepares under names of its own, kept for what is asked again.

use std::collections::HashMap;

use tokio::runtime::Handle;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, NoTls, Row, Statement};

use crate::client::{Answer, Session};

pub(crate) struct Typed {
    client: Client,
    kept: HashMap<String, Statement>,
    runtime: Handle,
}

pub(crate) fn connect(runtime: &Handle, dsn: &str) -> Result<Typed, Answer> {
    let connected = runtime.block_on(tokio_postgres::connect(dsn, NoTls));
    let (client, connection) = connected.map_err(|error| answer(&error, true))?;
    runtime.spawn(connection);
    Ok(Typed { client, kept: HashMap::new(), runtime: runtime.clone() })
}

impl Session for Typed {
    fn ask(&mut self, sql: &str, nonce: &str) -> Answer {
        let asked = self.runtime.block_on(ask(&self.client, &mut self.kept, sql, nonce));
        match asked {
            Ok(rows) => Answer::Rows(rows.iter().map(texts).collect()),
            Err(error) => answer(&error, self.client.is_closed()),
        }
    }
}

async fn ask(
    client: &Client,
    kept: &mut HashMap<String, Statement>,
    sql: &str,
    nonce: &str,
) -> Result<Vec<Row>, Error> {
    let values: &[&(dyn ToSql + Sync)] = if sql.contains("$1") { &[&nonce] } else { &[] };
    // Where there is a value the text is the same each time.
    if values.is_empty() {
        return client.query(sql, values).await;
    }
    if !kept.contains_key(sql) {
        let statement = client.prepare(sql).await?;
        kept.insert(sql.to_owned(), statement);
    }
    client.query(&kept[sql], values).await
}

fn texts(row: &Row) -> Vec<Option<String>> {
    (0..row.len()).map(|column| row.get(column)).collect()
}

fn answer(error: &Error, closed: bool) -> Answer {
    let code = error.code().map(|code| code.code().to_owned());
    let text = format!("{error}: {:?}", error.as_db_error().map(|error| error.message()));
    let fatal = error.as_db_error().is_some_and(|error| error.severity() == "FATAL");
    match code {
        code if closed || error.is_closed() || fatal => Answer::Gone { code, text },
        Some(code) => Answer::Error { code, text },
        // The socket's end, or what it could not read.
        None if text.contains("communicating with the server") => Answer::Gone { code: None, text },
        None => Answer::Protocol(text),
    }
}
