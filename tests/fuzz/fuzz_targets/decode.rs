//! Any body as each message of the server's, and any frames as a client's session: decoded whole or
//! refused, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pgmoat::session::{Session, SessionLimits, Step};
use pgmoat_policy::ErrorPosture;
use pgmoat_upstream::frame::{Fields, Phase, backend, whole};

fuzz_target!(|body: &[u8]| {
    client(body);
    let _ = backend::ready_for_query(body);
    let _ = backend::parameter_status(body);
    let _ = backend::command_complete(body);
    let _ = backend::backend_key_data(body);
    if let Ok(fields) = Fields::decode(body) {
        let mut encoded = bytes::BytesMut::new();
        if fields.encode_error(&mut encoded).is_ok() {
            let again =
                Fields::decode(encoded.get(5..).unwrap_or_default()).expect("what was encoded decodes");
            assert!(fields.iter().eq(again.iter()));
        }
    }
    match backend::authentication(body) {
        Ok(backend::Authentication::Sasl(list)) => {
            let _ = backend::sasl_mechanisms(list);
        }
        Ok(_) | Err(_) => {}
    }
});

/// Frames up to the first that has to be judged.
fn client(mut bytes: &[u8]) {
    let phase = Phase::ClientSession { large_bytes: 65_536 };
    let limits = SessionLimits {
        statements: 10,
        statement_bytes: 65_536,
        portals: 10,
        message_bytes: 65_536,
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
