//! Any bytes as messages of either side.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| pgmoat_upstream::fuzzing::frame(input.0, input.1));
