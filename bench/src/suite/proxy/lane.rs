//! One workload on one target: its clients stay logged in, and take turns with other lanes.

use crate::error::BenchError;
use crate::load::{self, Client, Until};
use crate::process::cpu_ns;
use crate::row::Row;
use crate::series::Series;
use crate::target::Endpoint;
use crate::workload::Workload;

/// The clients, and what was measured with them.
pub(crate) struct Lane<'a> {
    endpoint: &'a Endpoint,
    workload: Workload,
    clients: Vec<Client>,
    series: Series,
}

impl<'a> Lane<'a> {
    /// Logs all clients in.
    pub(crate) async fn open(endpoint: &'a Endpoint, workload: Workload) -> Result<Self, BenchError> {
        let mut clients = Vec::with_capacity(workload.clients);
        for number in 0..workload.clients {
            clients.push(Client::open(endpoint, workload, number).await?);
        }
        Ok(Self { endpoint, workload, clients, series: Series::default() })
    }

    /// One turn of all clients at once. A request that fails ends the run.
    pub(crate) async fn take_turn(&mut self, until: Until) -> Result<(), BenchError> {
        let cpu = || self.endpoint.pid.and_then(cpu_ns);
        let before = cpu();
        let (clients, turn) = load::run(std::mem::take(&mut self.clients), until).await?;
        let spent = cpu().zip(before).map(|(after, before)| after.saturating_sub(before));
        self.clients = clients;
        if let Some(failure) = turn.failure() {
            let (workload, target) = (self.workload, self.endpoint.target);
            return Err(BenchError::Wrong(format!("{workload}, {target}: {failure}")));
        }
        spent.into_iter().for_each(|spent| self.series.add_cpu(spent));
        let done = turn.latencies_ns.len() as u64;
        self.series.add_round(turn.latencies_ns, done, turn.elapsed);
        Ok(())
    }

    /// The row, in a suite and under a name.
    pub(crate) fn into_row(self, suite: &str, name: String) -> Result<Row, BenchError> {
        self.series.into_row(suite, name, self.endpoint.target)
    }
}

/// Every lane has a turn in each round, and another one begins.
pub(crate) async fn take_turns(lanes: &mut [Lane<'_>], rounds: u32, until: Until) -> Result<(), BenchError> {
    let count = lanes.len().max(1);
    for round in 0..rounds as usize {
        lanes.rotate_left(round % count);
        for lane in &mut *lanes {
            lane.take_turn(until).await?;
        }
        lanes.rotate_right(round % count);
    }
    Ok(())
}
