#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use super::*;

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend_from_slice(&i32::try_from(body.len() + 4).unwrap().to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// What a relay must learn from a stream, however it is cut.
#[derive(Debug, PartialEq, Default)]
struct Seen {
    events: Vec<(u8, Vec<u8>)>,
    relayed: Vec<u8>,
}

/// A relay in small: reads chunk by chunk, scans in place, writes one block a chunk.
fn relay(chunks: &[&[u8]], limit: u64) -> Seen {
    let (mut seen, mut scanner, mut buffer) = (Seen::default(), Scanner::new(), Vec::new());
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        let mut at = 0;
        loop {
            match scanner.next(&buffer[at..], limit).unwrap() {
                Piece::Run(run) => {
                    assert!(run.bytes > 0, "no progress");
                    assert!(run.begun <= limit.max(1));
                    assert_eq!(run.open, scanner.is_open());
                    seen.events.extend((0..run.begun).map(|_| (run.tag, Vec::new())));
                    at += run.bytes;
                }
                Piece::Whole(frame) => {
                    assert_eq!(frame.bytes.len(), frame.body().len() + 5);
                    seen.events.push((frame.tag, frame.body().to_vec()));
                    at += frame.bytes.len();
                }
                Piece::More { missing } => {
                    assert!(missing > 0);
                    break;
                }
            }
        }
        seen.relayed.extend(buffer.drain(..at));
    }
    assert_eq!(buffer, b"", "everything relayed at the end");
    seen
}

fn stream() -> Vec<u8> {
    [
        message(b'T', b"\0\x01columns"),
        message(b'D', b"\0\x01\0\0\0\x03abc"),
        message(b'D', b""),
        message(b'D', &[b'D'; 23]),
        message(b'C', b"SELECT 3\0"),
        message(b'd', b"copy D row"),
        message(b'd', b""),
        message(b'D', b"row"),
        message(b'c', b""),
        message(b'Z', b"I"),
    ]
    .concat()
}

fn expected() -> Vec<u8> {
    b"TDDDCddDcZ".to_vec()
}

#[test]
fn every_cut_in_two_and_in_three_reports_the_same() {
    let bytes = stream();
    let whole = relay(&[&bytes], u64::MAX);
    assert_eq!(whole.events.iter().map(|(tag, _)| *tag).collect::<Vec<_>>(), expected());
    assert_eq!(whole.relayed, bytes);
    for first in 0..=bytes.len() {
        for second in first..=bytes.len() {
            let cut = [&bytes[..first], &bytes[first..second], &bytes[second..]];
            for limit in [0, 1, 2, u64::MAX] {
                assert_eq!(relay(&cut, limit), whole, "cut at {first} and {second}, limit {limit}");
            }
        }
    }
}

#[test]
fn one_byte_at_a_time() {
    let bytes = stream();
    let chunks: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(relay(&chunks, u64::MAX), relay(&[&bytes], u64::MAX));
}

#[test]
fn a_run_is_one_piece_and_stops_at_its_limit() {
    let bytes =
        [message(b'D', b"one"), message(b'D', b"two"), message(b'D', b"three"), message(b'Z', b"I")].concat();
    let mut scanner = Scanner::new();
    let all = Run { tag: b'D', bytes: 26, begun: 3, open: false };
    assert_eq!(scanner.next(&bytes, u64::MAX), Ok(Piece::Run(all)));
    let two = Run { tag: b'D', bytes: 16, begun: 2, open: false };
    assert_eq!(scanner.next(&bytes, 2), Ok(Piece::Run(two)));
}

#[test]
fn no_limit_left_ends_the_open_row_and_begins_none() {
    let bytes = [message(b'D', b"begun"), message(b'D', b"surplus")].concat();
    let mut scanner = Scanner::new();
    assert!(matches!(scanner.next(&bytes[..7], 1), Ok(Piece::Run(Run { begun: 1, open: true, .. }))));
    let end = Run { tag: b'D', bytes: 3, begun: 0, open: false };
    assert_eq!(scanner.next(&bytes[7..], 0), Ok(Piece::Run(end)));
}

#[test]
fn a_row_of_a_gigabyte_needs_no_buffer() {
    let mut head = vec![b'D'];
    head.extend_from_slice(&(1i32 << 30).to_be_bytes());
    let mut scanner = Scanner::new();
    let Piece::Run(run) = scanner.next(&head, 1).unwrap() else { panic!("a run") };
    assert_eq!((run.begun, run.open), (1, true));
    let block = vec![b'Z'; 1 << 20];
    let mut left = (1usize << 30) - 4;
    while left > 0 {
        let Piece::Run(run) = scanner.next(&block[..left.min(block.len())], 1).unwrap() else {
            panic!("a run")
        };
        assert_eq!(run.begun, 0);
        left -= run.bytes;
    }
    assert!(!scanner.is_open());
}

#[test]
fn a_bad_header_behind_rows_is_an_error_after_them() {
    for (bad, error) in [
        (b"D\0\0\0\x03".to_vec(), FrameError::TooShort { tag: b'D', len: 3 }),
        (b"D\xff\xff\xff\xff".to_vec(), FrameError::TooShort { tag: b'D', len: -1 }),
        (b"D\x7f\0\0\0".to_vec(), FrameError::TooLong { tag: b'D', len: 0x7f00_0000, cap: OPAQUE }),
        (b"Z\0\0\0\x06".to_vec(), FrameError::TooLong { tag: b'Z', len: 6, cap: 5 }),
        (b"R\0\0\0\x08".to_vec(), FrameError::UnknownTag { tag: b'R' }),
        (b"HTTP/".to_vec(), FrameError::TooLong { tag: b'H', len: 0x5454_502f, cap: 16 << 20 }),
    ] {
        let bytes = [message(b'D', b"good"), bad].concat();
        let mut scanner = Scanner::new();
        assert!(matches!(scanner.next(&bytes, u64::MAX), Ok(Piece::Run(Run { bytes: 9, begun: 1, .. }))));
        assert_eq!(scanner.next(&bytes[9..], u64::MAX), Err(error));
    }
}

const OPAQUE: usize = crate::frame::OPAQUE_CAP_BYTES;
