//! Two rows of one run, round by round: the one in the middle of all rounds counts.
//!
//! What disturbs the machine hits both sides of a round. What cannot be paired is not compared: a peer that did
//! nothing would make anything beside it look fast, and rounds without a partner are no pairs.

use crate::percentile::median;
use crate::row::Row;

/// How often a row's throughput is its peer's.
///
/// # Errors
///
/// Why there is no such figure, in words for a reader of the report.
pub(crate) fn throughput_ratio(own: &Row, peer: &Row) -> Result<f64, String> {
    let pairs = pairs(own, peer, &own.throughput_of_rounds, &peer.throughput_of_rounds)?;
    middle(pairs.map(|(own, peer)| own / peer))
}

/// How often a row's p50 is its peer's.
///
/// # Errors
///
/// As [`throughput_ratio`].
pub(crate) fn p50_ratio(own: &Row, peer: &Row) -> Result<f64, String> {
    let (own_p50, peer_p50) = (p50_of_rounds(own), p50_of_rounds(peer));
    middle(pairs(own, peer, &own_p50, &peer_p50)?.map(|(own, peer)| own / peer))
}

/// What a row's p50 has beyond its peer's, in the row's unit.
///
/// # Errors
///
/// As [`throughput_ratio`].
pub(crate) fn p50_added(own: &Row, peer: &Row) -> Result<f64, String> {
    let (own_p50, peer_p50) = (p50_of_rounds(own), p50_of_rounds(peer));
    middle(pairs(own, peer, &own_p50, &peer_p50)?.map(|(own, peer)| own - peer))
}

fn pairs<'a>(
    own: &Row,
    peer: &Row,
    own_rounds: &'a [f64],
    peer_rounds: &'a [f64],
) -> Result<impl Iterator<Item = (f64, f64)> + use<'a>, String> {
    let (count, of_peer) = (own_rounds.len(), peer_rounds.len());
    if count != of_peer {
        return Err(format!("{count} rounds of {} beside {of_peer} of {}", own.target, peer.target));
    }
    for (row, rounds) in [(own, own_rounds), (peer, peer_rounds)] {
        if row.errors > 0 {
            return Err(format!("{} requests of {} failed", row.errors, row.target));
        }
        if rounds.iter().any(|value| !(value.is_finite() && *value > 0.0)) {
            return Err(format!("{} did nothing in one of the rounds", row.target));
        }
    }
    Ok(own_rounds.iter().copied().zip(peer_rounds.iter().copied()))
}

fn middle(values: impl Iterator<Item = f64>) -> Result<f64, String> {
    median(values.collect()).ok_or_else(|| "no round was measured".to_owned())
}

fn p50_of_rounds(row: &Row) -> Vec<f64> {
    row.p50_of_rounds.iter().map(|p50| *p50 as f64).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::percentile::Summary;
    use crate::row::Unit;
    use crate::target::Target;

    fn row(target: Target, rounds: &[u64]) -> Row {
        let summary = Summary { samples: 1, p50: 0, p90: 0, p99: 0, p99_9: 0, max: 0, mean: 0.0 };
        let mut row = Row::new("proxy", "x".to_owned(), target, Unit::Nanoseconds, summary);
        row.throughput_of_rounds = rounds.iter().map(|value| *value as f64).collect();
        row.p50_of_rounds = rounds.to_vec();
        row
    }

    #[test]
    fn the_round_in_the_middle_counts() {
        let (own, peer) = (row(Target::Pgmoat, &[22, 22, 40]), row(Target::Direct, &[20, 20, 80]));
        assert_eq!(throughput_ratio(&own, &peer).unwrap(), 1.1);
        assert_eq!(p50_ratio(&own, &peer).unwrap(), 1.1);
        assert_eq!(p50_added(&own, &peer).unwrap(), 2.0);
    }

    #[test]
    fn rounds_without_a_partner_are_no_pairs() {
        let (own, peer) = (row(Target::Pgmoat, &[22, 22, 40]), row(Target::Direct, &[20, 20]));
        for compared in [throughput_ratio(&own, &peer), p50_ratio(&own, &peer), p50_added(&own, &peer)] {
            assert_eq!(compared.unwrap_err(), "3 rounds of pgmoat beside 2 of direct");
        }
        assert!(p50_added(&row(Target::Pgmoat, &[]), &row(Target::Direct, &[])).is_err());
    }

    #[test]
    fn beside_the_dead_nothing_is_fast() {
        let (own, dead) = (row(Target::Pgmoat, &[22, 22]), row(Target::PgbouncerSession, &[20, 0]));
        assert!(throughput_ratio(&own, &dead).unwrap_err().starts_with("PgBouncer, session did nothing"));
        assert!(throughput_ratio(&dead, &own).is_err());
        let mut failing = row(Target::Direct, &[20, 20]);
        failing.errors = 3;
        assert_eq!(p50_ratio(&own, &failing).unwrap_err(), "3 requests of direct failed");
    }
}
