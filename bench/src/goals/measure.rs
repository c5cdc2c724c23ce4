//! The figure of a goal, from a row of pgmoat's and its peers among all rows of the run.

use super::promise::{NEW_LITERAL, Promise};
use super::{Figure, Wanted};
use crate::beside::{p50_added, p50_ratio, throughput_ratio};
use crate::row::Row;
use crate::target::Target;

/// A row of pgmoat's among all rows.
pub(super) struct Measured<'a> {
    pub(super) own: &'a Row,
    pub(super) rows: &'a [Row],
}

/// A figure, or why there is none.
type Told = Result<Figure, String>;

impl<'a> Measured<'a> {
    /// What the row says of the promise.
    ///
    /// # Errors
    ///
    /// Why it says nothing: mostly a peer that is not there.
    pub(super) fn figure(&self, promise: Promise) -> Told {
        match promise {
            Promise::OneClient => self.one_client(),
            Promise::ManyClients => self.many_clients(),
            Promise::NewLiteral => self.new_literal(),
            Promise::RangeScan => self.added("µs", 25.0, 1000.0),
            Promise::MillionRows => self.added("µs", 0.1, 1000.0 * 1e6),
            Promise::Masked => self.masked(),
            Promise::ConstantMemory => self.bytes("MiB", CONSTANT_MIB, f64::from(1 << 20)),
            Promise::Idle => self.bytes("MB", 200.0, 1e6),
            // 200 MB for 10,000, whatever the number.
            Promise::IdleEach => self.bytes("bytes", 20_000.0, 1.0),
            Promise::Denial => {
                let direct = self.find("proxy", "select_1/simple/1", Target::Direct)?;
                self.p50_of(direct, 1.0)
            }
            Promise::Cold => self.p50_of(self.peer(Target::Parser)?, 1.5),
            Promise::Rules => {
                let few = self.find("growth", "rules/10/cold", Target::Pgmoat)?;
                self.p50_of(few, RULES_RATIO)
            }
            Promise::WarmShort => self.warm(1.0),
            Promise::WarmLong => self.warm(4.0),
            Promise::BatchWarm => self.verdicts_a_second(200_000.0),
            Promise::BatchCold => self.verdicts_a_second(25_000.0),
            Promise::Http => self.http(),
            Promise::OneShot => self.one_shot(),
        }
    }

    fn one_client(&self) -> Told {
        let direct = self.peer(Target::Direct)?;
        let measured = p50_added(self.own, direct)? / 1000.0;
        let peer = self.least_added(direct)? / 1000.0;
        let beside = format!("direct {:.1} µs, PgBouncer adds {peer:.1} µs", us(direct));
        Ok(Figure { measured, unit: "µs", wanted: Wanted::AtMost(peer), beside })
    }

    fn many_clients(&self) -> Told {
        let peer = self.bouncers()?.into_iter().max_by(|a, b| per_second(a).total_cmp(&per_second(b)));
        let peer = peer.ok_or_else(|| NO_PGBOUNCER.to_owned())?;
        let measured = throughput_ratio(self.own, peer)?;
        let beside =
            format!("{} {:.0}/s, pgmoat {:.0}/s", peer.target, per_second(peer), per_second(self.own));
        Ok(Figure { measured, unit: "×", wanted: Wanted::AtLeast(1.0), beside })
    }

    fn new_literal(&self) -> Told {
        let same = self.own.name.replace(NEW_LITERAL, "");
        let of = |target| throughput_ratio(self.peer(target)?, self.find("proxy", &same, target)?);
        let measured = of(Target::Pgmoat)?;
        let beside = match of(Target::Direct) {
            Ok(ratio) => format!("{same}; direct {ratio:.2} ×"),
            Err(why) => format!("{same}; direct: {why}"),
        };
        Ok(Figure { measured, unit: "×", wanted: Wanted::AtLeast(0.95), beside })
    }

    /// `unit_ns` is what the unit has of nanoseconds.
    fn added(&self, unit: &'static str, most: f64, unit_ns: f64) -> Told {
        let direct = self.peer(Target::Direct)?;
        let measured = p50_added(self.own, direct)? / unit_ns;
        let beside = match self.least_added(direct) {
            Ok(peer) => format!("PgBouncer adds {:.3} {unit}", peer / unit_ns),
            Err(why) => why,
        };
        Ok(Figure { measured, unit, wanted: Wanted::AtMost(most), beside })
    }

    fn masked(&self) -> Told {
        let measured = p50_added(self.own, self.peer(Target::Direct)?)? / 1e6;
        let plain = self.own.name.replace("/masked", "/plain");
        let find = |target| self.find("masking", &plain, target);
        let plain = p50_added(find(Target::Pgmoat)?, find(Target::Direct)?)? / 1e6;
        let beside = format!("without a mask {plain:.3} ms");
        Ok(Figure { measured, unit: "ms", wanted: Wanted::AtMost(2.0), beside })
    }

    fn bytes(&self, unit: &'static str, most: f64, unit_bytes: f64) -> Told {
        let of = |row: &Row| row.p50 as f64 / unit_bytes;
        let beside = match self.bouncers()?.first() {
            Some(peer) => format!("PgBouncer {:.*} {unit}", usize::from(unit_bytes > 1.0), of(peer)),
            None => NO_PGBOUNCER.to_owned(),
        };
        Ok(Figure { measured: of(self.own), unit, wanted: Wanted::AtMost(most), beside })
    }

    fn p50_of(&self, peer: &Row, most: f64) -> Told {
        let measured = p50_ratio(self.own, peer)?;
        let beside = format!("{:.1} µs beside {:.1} µs", us(self.own), us(peer));
        Ok(Figure { measured, unit: "×", wanted: Wanted::AtMost(most), beside })
    }

    fn warm(&self, most_us: f64) -> Told {
        let cold = self.find("library", &self.own.name.replace("/warm", "/cold"), Target::Pgmoat)?;
        let beside = format!("cold {:.1} µs", us(cold));
        Ok(Figure { measured: us(self.own), unit: "µs", wanted: Wanted::AtMost(most_us), beside })
    }

    fn verdicts_a_second(&self, least: f64) -> Told {
        let one = self.find("cli", &self.own.name.replace("/jobs_2", "/jobs_1"), Target::Pgmoat)?;
        let beside = format!("one job {:.0}", per_second(one));
        let measured = per_second(self.own);
        Ok(Figure { measured, unit: "verdicts/s", wanted: Wanted::AtLeast(least), beside })
    }

    fn one_shot(&self) -> Told {
        let spawn = self.peer(Target::Spawn)?;
        let beside = format!("a process that does nothing {:.2} ms", us(spawn) / 1000.0);
        Ok(Figure { measured: us(self.own) / 1000.0, unit: "ms", wanted: Wanted::AtMost(10.0), beside })
    }

    fn http(&self) -> Told {
        let health = self.peer(Target::Healthz)?;
        if self.own.errors > 0 {
            return Err(format!("{} requests failed", self.own.errors));
        }
        let beside = format!("GET /healthz {:.0}", per_second(health));
        let measured = per_second(self.own);
        Ok(Figure { measured, unit: "requests/s", wanted: Wanted::AtLeast(25_000.0), beside })
    }

    /// What the better one of PgBouncer's modes adds to direct.
    fn least_added(&self, direct: &Row) -> Result<f64, String> {
        let added: Result<Vec<f64>, String> =
            self.bouncers()?.into_iter().map(|row| p50_added(row, direct)).collect();
        added?.into_iter().min_by(f64::total_cmp).ok_or_else(|| NO_PGBOUNCER.to_owned())
    }

    fn find(&self, suite: &str, name: &str, target: Target) -> Result<&'a Row, String> {
        let found =
            self.rows.iter().find(|row| row.suite == suite && row.name == name && row.target == target);
        found.ok_or_else(|| format!("{name} has no figure of {target} in this run"))
    }

    fn peer(&self, target: Target) -> Result<&'a Row, String> {
        self.find(&self.own.suite, &self.own.name, target)
    }

    /// Its modes that can do the workload at all; none where it is not installed. One that did nothing is a fault.
    fn bouncers(&self) -> Result<Vec<&'a Row>, String> {
        let modes = [Target::PgbouncerSession, Target::PgbouncerTransaction];
        let rows: Vec<&Row> = modes.into_iter().filter_map(|mode| self.peer(mode).ok()).collect();
        let dead = rows.iter().find(|row| row.samples == 0 || row.errors > 0);
        dead.map_or(Ok(rows.clone()), |row| Err(format!("{} was not well", row.target)))
    }
}

fn per_second(row: &Row) -> f64 {
    row.throughput_per_s.unwrap_or_default()
}

fn us(row: &Row) -> f64 {
    row.p50 as f64 / 1000.0
}

const NO_PGBOUNCER: &str = "no PgBouncer in this run";
/// What a relay's buffers may come to, whatever the length of a result.
const CONSTANT_MIB: f64 = 8.0;
/// "The same time", with what two measurements of one thing differ by.
const RULES_RATIO: f64 = 1.1;
