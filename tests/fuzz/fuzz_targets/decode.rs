//! Any bytes as a client's frames, and as the body of each message of a server's.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| pgmoat::fuzzing::decode(bytes));
