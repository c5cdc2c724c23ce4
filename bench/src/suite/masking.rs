//! A result of 5,000 rows with one column masked: direct, and through pgmoat; and the same without a mask.

use std::time::Instant;

use postgres_protocol::message::frontend;

use crate::calibration::Calibration;
use crate::client::Connection;
use crate::error::BenchError;
use crate::load::Until;
use crate::plan::Plan;
use crate::row::Row;
use crate::series::{Series, nanoseconds};
use crate::site::Site;
use crate::target::{Endpoint, Target};

/// Checks that masks mask, then measures.
pub(crate) async fn run(
    plan: &Plan,
    site: &Site,
    calibration: &mut Calibration,
) -> Result<Vec<Row>, BenchError> {
    calibration.measure();
    // The lab's analyst may have 1,000 rows and five seconds: neither is to be met on a busy machine.
    let (_proxy, pgmoat) = site
        .start_pgmoat_as(|config| {
            config.policy = config
                .policy
                .replace("    masks:\n", "    masks:\n      - { column: app.people.email, kind: \"null\" }\n")
                .replace("rows: { max: 1000, over: cut }", "rows: { max: 10000, over: cut }")
                .replace("timeout_ms: 5000", "timeout_ms: 60000");
        })
        .await?;
    let direct = site.direct()?;
    let mut rows = Vec::new();
    for result in [MASKED, PLAIN] {
        let mut lanes = vec![Lane::open(&direct, result).await?, Lane::open(&pgmoat, result).await?];
        check(result, &mut lanes).await?;
        for round in 0..plan.rounds as usize {
            lanes.rotate_left(round % 2);
            for lane in &mut lanes {
                lane.take_turn(plan.turn).await?;
            }
            lanes.rotate_right(round % 2);
        }
        for lane in lanes {
            rows.push(lane.series.into_row("masking", result.name.to_owned(), lane.target)?);
        }
    }
    Ok(rows)
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    name: &'static str,
    sql: &'static str,
    masked: bool,
}

struct Lane {
    connection: Connection,
    asked: Asked,
    target: Target,
    series: Series,
}

/// The first column of each row, side by side: masked is never the server's value, plain always is.
async fn check(asked: Asked, lanes: &mut [Lane]) -> Result<(), BenchError> {
    let mut columns = Vec::new();
    for lane in lanes {
        lane.ask().await?;
        columns.push(lane.connection.first_values()?);
    }
    let [direct, pgmoat] = columns.as_slice() else { return Ok(()) };
    let alike = direct.iter().zip(pgmoat).filter(|(direct, pgmoat)| direct == pgmoat).count();
    let wanted = if asked.masked { 0 } else { direct.len() };
    if alike == wanted && direct.len() == pgmoat.len() {
        return Ok(());
    }
    let (name, count) = (asked.name, direct.len());
    Err(BenchError::Wrong(format!(
        "wrong verdict: masking, {name}: {alike} of {count} values are the server's, instead of {wanted}"
    )))
}

impl Lane {
    async fn open(endpoint: &Endpoint, asked: Asked) -> Result<Self, BenchError> {
        let login = endpoint.login(USER)?;
        let connection = Connection::open(endpoint.address(), &login, &endpoint.database).await?;
        Ok(Self { connection, asked, target: endpoint.target, series: Series::default() })
    }

    async fn ask(&mut self) -> Result<(), BenchError> {
        frontend::query(self.asked.sql, &mut self.connection.out)
            .map_err(BenchError::io("write a message"))?;
        let reply = self.connection.exchange().await?;
        if reply.rows == ROWS && reply.error.is_none() {
            return Ok(());
        }
        let error = reply.error.map(|error| error.to_string()).unwrap_or_default();
        Err(BenchError::Wrong(format!("{}, {}: {} rows {error}", self.asked.name, self.target, reply.rows)))
    }

    async fn take_turn(&mut self, until: Until) -> Result<(), BenchError> {
        let (mut samples, started) = (Vec::new(), Instant::now());
        loop {
            let before = Instant::now();
            self.ask().await?;
            samples.push(nanoseconds(before.elapsed()));
            let over = match until {
                Until::Elapsed(limit) => started.elapsed() >= limit,
                Until::Requests(requests) => samples.len() as u64 >= requests,
            };
            if over {
                let done = samples.len() as u64;
                self.series.add_round(samples, done, started.elapsed());
                return Ok(());
            }
        }
    }
}

const MASKED: Asked = Asked {
    name: "people_5000/masked",
    sql: "SELECT email, id, full_name, city FROM app.people WHERE tenant_id = 'acme' ORDER BY id",
    masked: true,
};
const PLAIN: Asked = Asked {
    name: "people_5000/plain",
    sql: "SELECT full_name, id, city, city FROM app.people WHERE tenant_id = 'acme' ORDER BY id",
    masked: false,
};
const ROWS: u64 = 5000;
const USER: &str = "acme_analyst";
