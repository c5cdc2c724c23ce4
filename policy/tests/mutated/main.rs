//! Whatever somebody else writes, made wrong: texts, policies, catalogs. Never a panic.
//!
//! With `PGMOAT_LONG` each goes on for ten minutes.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod files;
mod texts;

use std::time::{Duration, Instant};

/// A small generator of the same numbers every time (xorshift64*).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let rolled = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(rolled).unwrap() % sides
    }
}

/// So many rounds at least.
fn rounds(least: usize) -> impl Iterator<Item = usize> {
    let long = std::env::var_os("PGMOAT_LONG").is_some();
    let started = Instant::now();
    (0..).take_while(move |round| *round < least || (long && started.elapsed() < LONG))
}

const LONG: Duration = Duration::from_secs(600);
