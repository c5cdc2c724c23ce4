//! Any first packet.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| pgmoat::fuzzing::startup(bytes));
