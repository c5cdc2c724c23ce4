//! Scripts by chance: the same seed and number give the same script for ever.

mod malformed;
mod messages;
mod texts;

use pgmoat_tests::Rng;

use crate::script::{Role, Script, Step, Then};
use messages::Client;

/// The `number`th script of a run.
pub(crate) fn script(seed: u64, number: u64) -> Script {
    let mut rng = Rng::new(seed, number);
    let role = if number.is_multiple_of(2) { Role::Unrestricted } else { Role::Tenant };
    let settings: &[(&str, &str)] = match rng.below(8) {
        0 => &[("TimeZone", "Asia/Tokyo")],
        1 => &[("application_name", "differential"), ("DateStyle", "ISO, DMY")],
        _ => &[],
    };
    let mut client = Client::new(role);
    let steps = (0..2 + rng.below(6)).map(|_| step(&mut rng, &mut client)).collect();
    Script { name: format!("seed {seed}, number {number}"), role, settings, steps }
}

fn step(rng: &mut Rng, client: &mut Client) -> Step {
    let mut say = Vec::new();
    for _ in 0..1 + rng.below(8) {
        client.say(rng, &mut say);
    }
    let then = match rng.below(10) {
        0 => Then::Peek,
        1 => Then::Go,
        _ => Then::Settle,
    };
    client.settled = then == Then::Settle;
    let write_bytes = match rng.below(8) {
        0 => 1,
        1 => 1 + rng.below(7),
        2 => 1 + rng.below(64),
        _ => usize::MAX,
    };
    Step { say, write_bytes, then }
}
