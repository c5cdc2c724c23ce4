//! Any bytes as messages of either side: a frame is the exact slice that its length says, the same
//! whether the bytes come at once or one by one, and no length is believed over its cap.

#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use pgmoat_upstream::frame::{Phase, Piece, Scanner, peek, take, whole};

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, bytes) = input;
    let phase = match choice % 4 {
        0 => Phase::ClientLogin,
        1 => Phase::ClientSession { large_bytes: 65_536 },
        2 => Phase::ServerLogin,
        _ => Phase::ServerSession,
    };
    let mut rest = BytesMut::from(bytes);
    while let Ok(Some(frame)) = whole(&rest.clone(), phase) {
        let header = peek(&rest, phase).expect("a frame has a header").expect("a whole one");
        assert_eq!(header.total(), frame.bytes.len());
        assert!(phase.cap_bytes(frame.tag).is_some_and(|cap| frame.bytes.len() <= cap + 1));
        let expected = frame.bytes.to_vec();
        let taken = take(&mut rest, phase).expect("as before").expect("as before");
        assert_eq!(taken, expected);
    }
    assert_eq!(scanned(bytes, usize::from(choice) + 1), scanned(bytes, bytes.len().max(1)));
});

/// What a scanner reports of a stream that comes in pieces of this size: whole messages one by
/// one, opaque ones by tag, number and bytes.
fn scanned(bytes: &[u8], piece_bytes: usize) -> Vec<(u8, u64, usize)> {
    let (mut scanner, mut buffer, mut seen) = (Scanner::new(), BytesMut::new(), Vec::new());
    for piece in bytes.chunks(piece_bytes) {
        buffer.extend_from_slice(piece);
        loop {
            let used = match scanner.next(&buffer, u64::MAX) {
                Ok(Piece::Whole(frame)) => {
                    seen.push((frame.tag, 1, frame.bytes.len()));
                    frame.bytes.len()
                }
                Ok(Piece::Run(run)) => {
                    match seen.last_mut() {
                        Some((tag, begun, length)) if *tag == run.tag => {
                            *begun += run.begun;
                            *length += run.bytes;
                        }
                        _ => seen.push((run.tag, run.begun, run.bytes)),
                    }
                    run.bytes
                }
                Ok(Piece::More { missing }) => {
                    assert!(missing > 0);
                    break;
                }
                Err(_) => return seen,
            };
            assert!(used > 0 && used <= buffer.len());
            let _ = buffer.split_to(used);
        }
    }
    seen
}
