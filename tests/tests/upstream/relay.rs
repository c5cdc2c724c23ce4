//! A relay in small over a real server's bytes.

use pgmoat_upstream::connect;
use pgmoat_upstream::frame::Run;

use super::*;

/// What went through, and the most that was held at once.
#[derive(Default)]
struct Relayed {
    rows: u64,
    bytes: usize,
    tag: String,
    held_bytes: usize,
}

async fn relay(connection: &mut Connection, sql: &str) -> Relayed {
    send(connection, sql).await;
    let (mut relayed, mut scanner) = (Relayed::default(), Scanner::new());
    let (mut buffer, mut nothing) = (BytesMut::new(), BytesMut::new());
    loop {
        progress(&mut connection.stream, Some(&mut buffer), &mut nothing).await.unwrap();
        relayed.held_bytes = relayed.held_bytes.max(buffer.capacity());
        let (mut at, mut ready) = (0, false);
        loop {
            match scanner.next(&buffer[at..], u64::MAX).unwrap() {
                Piece::Run(Run { bytes, begun, .. }) => {
                    relayed.rows += begun;
                    at += bytes;
                }
                Piece::Whole(frame) => {
                    match frame.tag {
                        b'C' => backend::command_complete(frame.body()).unwrap().clone_into(&mut relayed.tag),
                        b'Z' => ready = true,
                        _ => {}
                    }
                    at += frame.bytes.len();
                }
                Piece::More { .. } => break,
            }
        }
        relayed.bytes += at;
        let _ = buffer.split_to(at);
        if ready {
            assert!(buffer.is_empty() && !scanner.is_open());
            return relayed;
        }
    }
}

#[tokio::test]
async fn rows_are_counted_without_being_read() {
    let database = lab_database();
    let mut connection = connect(&target(&database)).await.unwrap();
    for rows in [0, 1, 7, 50_000] {
        let relayed = relay(
            &mut connection,
            &format!("SELECT g, repeat('x', g % 50) FROM generate_series(1, {rows}) g"),
        )
        .await;
        assert_eq!(relayed.tag, format!("SELECT {rows}"));
        assert_eq!(relayed.rows, rows);
    }
    let copied = relay(&mut connection, "COPY (SELECT generate_series(1, 1000)) TO STDOUT").await;
    assert_eq!((copied.rows, copied.tag.as_str()), (1000, "COPY 1000"));
}

#[tokio::test]
async fn memory_does_not_grow_with_the_row() {
    const ROW_BYTES: usize = 64 << 20;
    let database = lab_database();
    let mut connection = connect(&target(&database)).await.unwrap();
    let relayed =
        relay(&mut connection, &format!("SELECT repeat('x', {ROW_BYTES}), 1 UNION ALL SELECT 'y', 2")).await;
    assert_eq!(relayed.rows, 2);
    assert!(relayed.bytes > ROW_BYTES);
    assert!(relayed.held_bytes <= 256 << 10, "{} bytes were held", relayed.held_bytes);
}
