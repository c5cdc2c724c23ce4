//! The proxy dies at each message: its clients hear the beginning, the server rolls back, the log goes on where it ended.

use std::time::Duration;

use pgmoat_tests::{Mode, Stack};

use crate::afterwards::{House, assert_beginning, rest};
use crate::scripts::moments;

#[test]
fn a_killed_proxy_leaves_nothing_behind_and_its_log_is_whole() {
    for mode in Mode::PROXIED {
        leaves_nothing(House::with_pool(Stack::get(), *mode));
    }
}

fn leaves_nothing(mut house: House<'_>) {
    for (number, moment) in moments(110).into_iter().enumerate() {
        let whole = house.undisturbed(moment.script);
        let mut raw = house.client();
        raw.query("SELECT 1").unwrap();
        raw.send_bytes(&moment.bytes()).unwrap();
        if number % 2 == 0 {
            std::thread::sleep(Duration::from_millis(3));
        }
        house.proxied.proxy.kill9();
        let heard = rest(&mut raw, Duration::from_secs(10));
        assert_beginning(&heard, &whole, &format!("{moment:?}"));
        house.is_quiet();
        house.proxied.proxy.start_again().unwrap();
        house.audit_is_whole();
        // It has the catalog to read first.
        house.answers();
        house.invite();
        house.look_around();
    }
}
