//! The client dies at each message. Known faults A10, C13, C21, D1, F6, H9, H11, I4, K2 as kinds: what it left
//! is not the next one's.

use std::io::Write as _;
use std::net::Shutdown;
use std::time::Duration;

use pgmoat_tests::{Mode, Stack};

use crate::afterwards::{House, assert_beginning, rest};
use crate::scripts::moments;

#[test]
fn the_next_client_never_sees_what_a_killed_one_has_left() {
    for mode in Mode::PROXIED {
        left_by_the_killed(&House::with_pool(Stack::get(), *mode));
    }
}

fn left_by_the_killed(house: &House<'_>) {
    for (number, moment) in moments(6).into_iter().enumerate() {
        let mut gone = house.client();
        gone.send_bytes(&moment.bytes()).unwrap();
        match number % 3 {
            // At once: some of it is still on its way.
            0 => {}
            // With replies that were never read: the kernel then resets the connection.
            1 => std::thread::sleep(Duration::from_millis(5)),
            _ => drop(rest(&mut gone, Duration::from_millis(10))),
        }
        drop(gone);
        house.look_around();
    }
    house.is_whole();
}

#[test]
fn a_client_that_ends_its_sending_side_is_answered_what_it_asked_and_goes() {
    for mode in Mode::PROXIED {
        answered_and_gone(&House::with_pool(Stack::get(), *mode));
    }
}

fn answered_and_gone(house: &House<'_>) {
    for moment in moments(36) {
        let whole = house.undisturbed(moment.script);
        let mut half = house.client();
        half.send_bytes(&moment.bytes()).unwrap();
        half.tcp().unwrap().shutdown(Shutdown::Write).unwrap();
        let heard = rest(&mut half, Duration::from_secs(5));
        assert_beginning(&heard, &whole, &format!("{moment:?}"));
        drop(half);
        house.look_around();
    }
    house.is_whole();
}

/// Killed before they have logged in, at each byte of the start-up packet.
#[test]
fn what_is_killed_during_its_login_leaves_nothing() {
    let house = House::with_pool(Stack::get(), Mode::Transaction);
    let packet = pgmoat_tests::front::startup(0x0003_0000, &[("user", "ops"), ("database", "lab")]);
    let mut bytes = Vec::new();
    packet.encode(&mut bytes).unwrap();
    for length in 0..=bytes.len() {
        let raw = pgmoat_tests::Raw::open(house.proxied.proxy.port()).unwrap();
        raw.tcp().unwrap().write_all(&bytes[..length]).unwrap();
    }
    house.is_whole();
}
