//! Any first packet: whole or not, and never longer than PostgreSQL takes.

#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use pgmoat_upstream::frame::startup::{code, take};

fuzz_target!(|bytes: &[u8]| {
    let mut buffer = BytesMut::from(bytes);
    if let Ok(Some(packet)) = take(&mut buffer) {
        assert!((8..=10_004).contains(&packet.len()));
        let _ = code(&packet);
    }
});
