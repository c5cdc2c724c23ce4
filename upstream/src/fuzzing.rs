//! Entry point for fuzzers: a function that panics where a promise of [`crate::frame`] does not hold.

use bytes::BytesMut;

use crate::frame::{Phase, Piece, Scanner, peek, take, whole};

/// Any bytes as messages of either side: a frame is the exact slice that its length says, the same
/// whether the bytes come at once or one by one, and no length is believed over its cap.
///
/// # Panics
/// One of these does not hold.
pub fn frame(choice: u8, bytes: &[u8]) {
    let phase = match choice % 4 {
        0 => Phase::ClientLogin,
        1 => Phase::ClientSession { large_bytes: 65_536 },
        2 => Phase::ServerLogin,
        _ => Phase::ServerSession,
    };
    let mut rest = BytesMut::from(bytes);
    while let Ok(Some(frame)) = whole(&rest.clone(), phase) {
        let header = peek(&rest, phase);
        let total = frame.bytes.len();
        assert!(header.is_ok_and(|header| header.is_some_and(|header| header.total() == total)), "header");
        assert!(phase.cap_bytes(frame.tag).is_some_and(|cap| total <= cap + 1), "cap");
        let taken = take(&mut rest, phase);
        assert!(taken.is_ok_and(|taken| taken.is_some_and(|taken| taken == frame.bytes)), "slice");
    }
    assert_eq!(scanned(bytes, usize::from(choice) + 1), scanned(bytes, bytes.len().max(1)), "splits");
}

/// What a scanner reports of a stream that comes in pieces of this size: whole messages one by
/// one, opaque ones by tag, number and bytes.
fn scanned(bytes: &[u8], piece_bytes: usize) -> Vec<(u8, u64, usize)> {
    let (mut scanner, mut buffer, mut seen) = (Scanner::new(), BytesMut::new(), Vec::new());
    for piece in bytes.chunks(piece_bytes) {
        buffer.extend_from_slice(piece);
        while let Some(used) = report(&mut scanner, &buffer, &mut seen) {
            if used == 0 {
                return seen;
            }
            let _ = buffer.split_to(used);
        }
    }
    seen
}

/// Takes one piece: none where more bytes are needed, 0 where the stream is refused.
fn report(scanner: &mut Scanner, buffer: &[u8], seen: &mut Vec<(u8, u64, usize)>) -> Option<usize> {
    match scanner.next(buffer, u64::MAX) {
        Ok(Piece::Whole(frame)) => {
            seen.push((frame.tag, 1, frame.bytes.len()));
            Some(frame.bytes.len())
        }
        Ok(Piece::Run(run)) => {
            assert!(run.bytes > 0 && run.bytes <= buffer.len(), "a run has bytes");
            match seen.last_mut() {
                Some((tag, begun, length)) if *tag == run.tag => {
                    *begun += run.begun;
                    *length += run.bytes;
                }
                _ => seen.push((run.tag, run.begun, run.bytes)),
            }
            Some(run.bytes)
        }
        Ok(Piece::More { missing }) => {
            assert!(missing > 0, "what is missing has bytes");
            None
        }
        Err(_) => Some(0),
    }
}
