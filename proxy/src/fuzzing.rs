//! Entry points for fuzzers: functions that panic where a decoder's promise does not hold.

use pgmoat_policy::ErrorPosture;
use pgmoat_upstream::frame::startup::PROTOCOL_3_2;
use pgmoat_upstream::frame::{Fields, Phase, backend, whole};

use crate::server::{first_packet, scram_messages};
use crate::session::{Session, SessionLimits, Step};

/// Any first packet: decoded whole or refused, and what is refused is refused in words or silence.
///
/// # Panics
/// A packet within PostgreSQL's bounds was taken for longer or shorter than it is, or a setting
/// has no name.
pub fn startup(bytes: &[u8]) {
    first_packet(bytes);
}

/// Any bytes as the two messages of a SCRAM login: nobody gets in by them.
///
/// # Panics
/// Somebody did.
pub fn scram(bytes: &[u8]) {
    scram_messages(bytes);
}

/// Any bytes as a client's frames in a session, and as the body of each message of a server's:
/// decoded whole or refused.
///
/// # Panics
/// What was decoded and encoded again is not what it was.
pub fn decode(bytes: &[u8]) {
    client(bytes);
    server(bytes);
}

/// Frames up to the first that has to be judged.
fn client(mut bytes: &[u8]) {
    let phase = Phase::ClientSession { large_bytes: LARGE_BYTES };
    let limits = SessionLimits {
        statements: 10,
        statement_bytes: LARGE_BYTES,
        portals: 10,
        message_bytes: LARGE_BYTES,
        drain_rows: 10,
    };
    let mut session = Session::new(1, ErrorPosture::Redact, limits);
    while let Ok(Some(frame)) = whole(bytes, phase) {
        match session.step(frame, 0) {
            Ok(Step::Judge(_) | Step::Wait | Step::End) | Err(_) => return,
            Ok(_) => bytes = bytes.get(frame.bytes.len()..).unwrap_or_default(),
        }
    }
}

fn server(body: &[u8]) {
    // Each may refuse: what counts is that none panics.
    let _ = backend::ready_for_query(body);
    let _ = backend::parameter_status(body);
    let _ = backend::command_complete(body);
    let _ = backend::backend_key_data(body);
    let _ = backend::negotiated_version(body, PROTOCOL_3_2);
    if let Ok(backend::Authentication::Sasl(list)) = backend::authentication(body) {
        let _ = backend::sasl_mechanisms(list);
    }
    if let Ok(fields) = Fields::decode(body) {
        let mut encoded = bytes::BytesMut::new();
        if fields.encode_error(&mut encoded).is_ok() {
            let again = Fields::decode(encoded.get(5..).unwrap_or_default());
            assert!(again.is_ok_and(|again| fields.iter().eq(again.iter())), "encoded and decoded again");
        }
    }
}

const LARGE_BYTES: usize = 65_536;
