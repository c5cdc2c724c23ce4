//! A moment, as people write one: RFC 3339 in UTC, or a day.

use std::time::{Duration, SystemTime};

/// Reads `2027-01-31T18:00:00Z`, or `2027-01-31`, the beginning of that day in UTC.
pub(super) fn parse(text: &str) -> Result<SystemTime, String> {
    read(text)
        .ok_or_else(|| "expected a moment as in 2027-01-31T18:00:00Z, or a day as in 2027-01-31".to_owned())
}

fn read(text: &str) -> Option<SystemTime> {
    let (day, time) = match text.split_once('T') {
        Some((day, time)) => (day, time.strip_suffix('Z')?),
        None => (text, "00:00:00"),
    };
    let [year, month, day] = numbers(day, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let whole = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    let seconds = (days_since_1970(year, month, day) * 24 + hour) * 3600 + minute * 60 + second;
    whole.then(|| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Three numbers of so many digits each.
fn numbers(text: &str, between: char, digits: [usize; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(between);
    let mut all = [0; 3];
    for (number, digits) in all.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != digits || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(all)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Proleptic Gregorian calendar (Howard Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`, for
/// years that are not negative).
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year.saturating_sub(1) } else { year };
    let of_era = year % 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day;
    let days = (year / 400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    // One day is counted in `of_year` that the epoch's number has not.
    days.saturating_sub(719_469)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn seconds(text: &str) -> u64 {
        parse(text).unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
    }

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (text, expected) in [
            ("1970-01-01", 0),
            ("1970-01-01T00:00:01Z", 1),
            ("2000-02-29T23:59:59Z", 951_868_799),
            ("2001-09-09T01:46:40Z", 1_000_000_000),
            ("2024-12-31", 1_735_603_200),
            ("2033-05-18T03:33:20Z", 2_000_000_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for bad in [
            "",
            "2027",
            "2027-1-31",
            "2027-02-29",
            "2100-02-29",
            "2027-13-01",
            "2027-00-01",
            "2027-01-32",
            "1969-12-31",
            "2027-01-31T18:00:00",
            "2027-01-31T24:00:00Z",
            "2027-01-31T18:60:00Z",
            "2027-01-31T18:00Z",
            "2027-01-31T18:00:00+01:00",
            "2027-01-31 18:00:00Z",
            "+027-01-31",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
