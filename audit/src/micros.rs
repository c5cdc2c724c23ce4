//! Points in time as the log writes them: RFC 3339, UTC, microseconds.
//!
//! The chain has no clock; whoever appends says when it is.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::json;

/// Microseconds since 1970-01-01T00:00:00Z. What lies past the year 9999 is written as its last microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub u64);

impl From<SystemTime> for Micros {
    /// A clock before 1970 counts as 1970.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }
}

impl Micros {
    /// Appends `2025-01-02T03:04:05.000006Z`: always [`RENDERED_BYTES`].
    pub(crate) fn render(self, out: &mut Vec<u8>) {
        let micros = self.0.min(LAST_OF_9999);
        let seconds = micros / 1_000_000;
        let (year, month, day) = civil(seconds / 86_400);
        let of_day = seconds % 86_400;
        json::digits::<4>(out, year);
        out.push(b'-');
        json::digits::<2>(out, month);
        out.push(b'-');
        json::digits::<2>(out, day);
        out.push(b'T');
        json::digits::<2>(out, of_day / 3_600);
        out.push(b':');
        json::digits::<2>(out, of_day / 60 % 60);
        out.push(b':');
        json::digits::<2>(out, of_day % 60);
        out.push(b'.');
        json::digits::<6>(out, micros % 1_000_000);
        out.push(b'Z');
    }
}

/// Renders the times of a log: those of one second share all but their last digits.
#[derive(Default)]
pub(crate) struct Seconds {
    second: u64,
    /// That second, up to the point; empty before the first.
    rendered: Vec<u8>,
}

impl Seconds {
    /// As [`Micros::render`].
    pub(crate) fn render(&mut self, time: Micros, out: &mut Vec<u8>) {
        let micros = time.0.min(LAST_OF_9999);
        let second = micros / 1_000_000;
        if second != self.second || self.rendered.is_empty() {
            self.rendered.clear();
            time.render(&mut self.rendered);
            self.rendered.truncate(TO_POINT_BYTES);
            self.second = second;
        }
        out.extend_from_slice(&self.rendered);
        json::digits::<6>(out, micros % 1_000_000);
        out.push(b'Z');
    }
}

impl Micros {
    /// Reads what [`Micros::render`] writes; none for a day that there is not.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let number = |range: std::ops::Range<usize>| -> Option<u64> {
            str::from_utf8(text.get(range)?).ok()?.parse().ok()
        };
        let days = days(number(0..4)?, number(5..7)?, number(8..10)?)?;
        let seconds = days * 86_400 + number(11..13)? * 3_600 + number(14..16)? * 60 + number(17..19)?;
        let micros = Self(seconds * 1_000_000 + number(20..26)?);
        // One spelling only.
        (micros.to_string().as_bytes() == text).then_some(micros)
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(RENDERED_BYTES);
        self.render(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

/// Year, month, day of a day number since 1970-01-01 in the proleptic Gregorian calendar (Howard Hinnant,
/// "chrono-compatible low-level date algorithms", `civil_from_days`, for days that are not negative).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

/// The inverse of [`civil`] (`days_from_civil`, from the same source); none before 1970.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let year_of_era = year % 400;
    let from_march = (month + 9) % 12;
    let of_year = (153 * from_march + 2) / 5 + day.checked_sub(1)?;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    (year / 400 * 146_097 + of_era).checked_sub(719_468)
}

pub(crate) const RENDERED_BYTES: usize = 27;
/// Of these, those that say the second, and the point behind them.
const TO_POINT_BYTES: usize = 20;

const LAST_OF_9999: u64 = 253_402_300_799_999_999;

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(micros: u64) -> String {
        let mut out = Vec::new();
        Micros(micros).render(&mut out);
        assert_eq!(out.len(), RENDERED_BYTES);
        assert_eq!(Micros::parse(&out), Some(Micros(micros.min(LAST_OF_9999))));
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn dates_agree_with_known_ones() {
        // Each from `date -u -d @SECONDS`.
        assert_eq!(rendered(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(rendered(951_782_399_999_999), "2000-02-28T23:59:59.999999Z");
        assert_eq!(rendered(951_782_400_000_000), "2000-02-29T00:00:00.000000Z");
        assert_eq!(rendered(1_709_210_096_000_007), "2024-02-29T12:34:56.000007Z");
        assert_eq!(rendered(1_735_689_599_000_000), "2024-12-31T23:59:59.000000Z");
        assert_eq!(rendered(4_107_542_400_000_000), "2100-03-01T00:00:00.000000Z");
        assert_eq!(rendered(LAST_OF_9999), "9999-12-31T23:59:59.999999Z");
        assert_eq!(rendered(u64::MAX), "9999-12-31T23:59:59.999999Z");
        for none in
            ["1969-12-31T23:59:59.999999Z", "2023-02-29T00:00:00.000000Z", "2023-00-01T00:00:00.000000Z", ""]
        {
            assert_eq!(Micros::parse(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn times_are_rendered_alike_whatever_came_before() {
        let mut seconds = Seconds::default();
        for micros in [0, 1, 999_999, 1_000_000, 1, 951_782_399_999_999, 951_782_400_000_000, u64::MAX] {
            let mut out = Vec::new();
            seconds.render(Micros(micros), &mut out);
            assert_eq!(String::from_utf8_lossy(&out), rendered(micros));
        }
    }
}
