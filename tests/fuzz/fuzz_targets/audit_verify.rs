//! Any audit log, and any edit of a real one: verification never panics, and never calls a changed
//! log whole.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pgmoat_audit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    fuzzing::verify(bytes);
    fuzzing::verify_tampered(bytes);
});
