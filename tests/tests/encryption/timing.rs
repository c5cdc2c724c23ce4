//! How long a refused login takes, for a user that exists and for one that does not.
//!
//! In every run only the messages are compared; the time is measured in full lengths, on a machine that does little
//! else, and written to `tests/results/login-timing.txt`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use pgmoat_tests::{Login, Proxied, Raw, Stack, is_long};

#[test]
fn a_wrong_password_and_an_unknown_user_take_the_same_time() {
    let proxied = Stack::get().proxy().unwrap();
    assert_eq!(said(&proxied, "acme_app"), said(&proxied, "nobody_h"));
    if !is_long() {
        return;
    }
    for user in ["acme_app", "nobody_h"] {
        measure(&proxied, user, WARM_UP);
    }
    // In turns, so that whatever else the machine does happens to both.
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for turn in 0..TRIES {
        let first_known = turn % 2 == 0;
        for user_is_known in [first_known, !first_known] {
            let (user, times) =
                if user_is_known { ("acme_app", &mut known) } else { ("nobody_h", &mut unknown) };
            times.extend(measure(&proxied, user, 1));
        }
    }
    let (known, unknown) = (Distribution::of(known), Distribution::of(unknown));
    let p = rank_test(&known.times, &unknown.times);
    let mut report = format!(
        "A refused login, from the start-up packet to the error, the client's own rounds of the hash included, in\nmicroseconds; {TRIES} tries each, in turns.\n\n"
    );
    for (name, of) in [("wrong password", &known), ("unknown user", &unknown)] {
        let [low, median, high] = of.quartiles();
        let _ = writeln!(
            report,
            "{name:15} first quartile {low:7.1}  median {median:7.1}  third quartile {high:7.1}"
        );
    }
    let _ = writeln!(report, "\nMann-Whitney, two-sided: p = {p:.3}");
    println!("{report}");
    let results = concat!(env!("CARGO_MANIFEST_DIR"), "/results/login-timing.txt");
    std::fs::write(results, report).unwrap();
    assert!(p > 0.001, "the two can be told apart: p = {p}");
}

/// The words of a refusal, without the name.
fn said(proxied: &Proxied, user: &str) -> String {
    Raw::connect(&wrong(proxied, user)).unwrap_err().to_string().replace(user, "USER")
}

fn wrong<'a>(proxied: &Proxied, user: &'a str) -> Login<'a> {
    Login { password: "wrong".into(), ..proxied.login(user) }
}

/// The whole of the server's part is inside; the client's own work (4,096 rounds of a hash) is the same for both.
fn measure(proxied: &Proxied, user: &str, tries: usize) -> Vec<Duration> {
    let login = wrong(proxied, user);
    let attempt = |_| {
        let mut raw = Raw::open(login.port).unwrap();
        let begun = Instant::now();
        assert!(raw.log_in(&login).is_err());
        begun.elapsed()
    };
    (0..tries).map(attempt).collect()
}

struct Distribution {
    /// Microseconds, in order.
    times: Vec<f64>,
}

impl Distribution {
    fn of(times: Vec<Duration>) -> Distribution {
        let mut times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e6).collect();
        times.sort_by(f64::total_cmp);
        Distribution { times }
    }

    fn quartiles(&self) -> [f64; 3] {
        [1, 2, 3].map(|quarter| self.times[self.times.len() * quarter / 4])
    }
}

/// Mann and Whitney's test by the normal approximation: how likely such a difference of ranks is by chance.
#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn rank_test(a: &[f64], b: &[f64]) -> f64 {
    let wins = |x: &f64| {
        b.iter()
            .map(|y| {
                if x > y {
                    1.0
                } else if x == y {
                    0.5
                } else {
                    0.0
                }
            })
            .sum::<f64>()
    };
    let u: f64 = a.iter().map(wins).sum();
    let (n, m) = (a.len() as f64, b.len() as f64);
    let z = (u - n * m / 2.0) / (n * m * (n + m + 1.0) / 12.0).sqrt();
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// Abramowitz and Stegun 7.1.26; off by at most 1.5e-7.
fn erfc(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let sum = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    sum * (-x * x).exp()
}

#[test]
fn the_rank_test_tells_what_differs_from_what_does_not() {
    let line = |from: u32| (0..500).map(|x| f64::from(x + from)).collect::<Vec<_>>();
    assert!(rank_test(&line(0), &line(0)) > 0.99);
    assert!(rank_test(&line(0), &line(60)) < 1e-6);
}

const TRIES: usize = 1_000;
const WARM_UP: usize = 50;
