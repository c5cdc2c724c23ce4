//! Any two messages of a SCRAM login.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| pgmoat::fuzzing::scram(bytes));
