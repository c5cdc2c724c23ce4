//! What bounds it: bytes, lines, requests, connections, time.

use std::io::Read as _;
use std::thread;
use std::time::Duration;

use pgmoat_tests::{Http, TOKEN};
use serde_json::json;

use crate::patience::eventually;
use crate::{OWN, http, object, objects, proxied};

fn asked() -> String {
    json!({ "sql": OWN, "as": "app:acme" }).to_string()
}

#[test]
fn a_long_body_is_refused_whether_or_not_it_says_so_itself() {
    let proxied = proxied("request_bytes: 2000, batch_bytes: 5000");
    let padded = |bytes: usize| {
        let asked = asked();
        format!("{asked}{}", " ".repeat(bytes - asked.len()))
    };
    assert_eq!(http(&proxied).verify(&padded(2000)).unwrap().status, 200);
    let reply = http(&proxied).verify(&padded(2001)).unwrap();
    assert_eq!((reply.status, object(&reply.body)["error"].as_str()), (413, Some("longer than 2000 bytes")));
    let mut chunked = http(&proxied);
    chunked
        .write(format!("POST /v1/verify HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\ntransfer-encoding: chunked\r\n\r\n").as_bytes())
        .unwrap();
    chunked.chunk(padded(1500).as_bytes()).unwrap();
    chunked.chunk(padded(1500).as_bytes()).unwrap();
    assert_eq!(chunked.reply().unwrap().status, 413);

    // A line, the lines together: what came before is answered.
    let line = padded(1000);
    let answers =
        objects(&http(&proxied).batch(&format!("{line}\n{}\n{line}\n", padded(2001))).unwrap().body);
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert_eq!(
        (&answers[0]["allowed"], &answers[1]),
        (&json!(true), &json!({ "line": 2, "error": "longer than 2000 bytes" }))
    );
    assert_eq!(http(&proxied).batch(&padded(1000).repeat(6)).unwrap().status, 413);
    let mut chunked = http(&proxied);
    chunked.begin_batch().unwrap();
    for _ in 0..6 {
        chunked.chunk(format!("{}\n", padded(999)).as_bytes()).unwrap();
    }
    let answers = objects(&chunked.reply().unwrap().body);
    assert_eq!(answers.len(), 6, "{answers:?}");
    assert_eq!(answers[5], json!({ "line": 6, "error": "the batch is longer than 5000 bytes" }));
}

#[test]
fn a_batch_has_so_many_lines() {
    let proxied = proxied("batch_lines: 100");
    let line = format!("{}\n", asked());
    assert_eq!(objects(&http(&proxied).batch(&line.repeat(100)).unwrap().body).len(), 100);
    let answers = objects(&http(&proxied).batch(&line.repeat(300)).unwrap().body);
    assert_eq!(answers.len(), 101);
    assert_eq!(answers[100], json!({ "line": 101, "error": "the batch has more than 100 lines" }));
}

#[test]
fn too_many_at_one_time_are_told_to_come_again() {
    let proxied = proxied("requests: 2");
    let mut busy: Vec<Http> = (0..2).map(|_| http(&proxied)).collect();
    for http in &mut busy {
        http.begin_batch().unwrap();
        http.chunk(format!("{}\n", asked()).as_bytes()).unwrap();
        assert_eq!(http.reply_head().unwrap().status, 200);
    }
    for request in ["POST /v1/verify", "POST /v1/verify/batch"] {
        let reply = http(&proxied).ask(request, Some(TOKEN), asked().as_bytes()).unwrap();
        assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    }
    // Who asks how it is does not stand in that line.
    assert_eq!(http(&proxied).get("/healthz").unwrap().status, 200);
    assert_eq!(http(&proxied).get("/metrics").unwrap().status, 200);
    let mut done = busy.pop().unwrap();
    done.chunk(b"").unwrap();
    while done.reply_chunk().unwrap().is_some() {}
    eventually("there is room again", || http(&proxied).verify(&asked()).unwrap().status == 200);
}

#[test]
fn more_connections_than_there_is_room_for_wait() {
    let proxied = proxied("connections: 3");
    let held: Vec<Http> = (0..3)
        .map(|_| {
            let mut http = http(&proxied);
            assert_eq!(http.get("/healthz").unwrap().status, 200);
            http
        })
        .collect();
    let mut waiting = http(&proxied);
    waiting.tcp().set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(waiting.get("/healthz").is_err(), "there is no room");
    drop(held);
    waiting.tcp().set_read_timeout(None).unwrap();
    assert_eq!(waiting.reply().unwrap().status, 200);
}

/// Nothing, half a head, half a body, an answer that is not taken: each ends.
#[test]
fn a_client_that_keeps_the_listener_waiting_loses_its_connection() {
    let proxied = proxied("timeout_ms: 500, connections: 10");
    let long = format!(
        "POST /v1/verify HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: 100\r\n\r\n{{"
    );
    for begun in ["", "GET /heal", "GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: "] {
        let mut http = http(&proxied);
        http.write(begun.as_bytes()).unwrap();
        assert_closed(&http);
    }
    let mut body = http(&proxied);
    body.write(long.as_bytes()).unwrap();
    let reply = body.reply().unwrap();
    assert_eq!(
        (reply.status, object(&reply.body)["error"].as_str()),
        (408, Some("the body came too slowly"))
    );
    // A trickle is no more welcome.
    let mut trickle = http(&proxied);
    trickle.write(&long.as_bytes()[..long.len() - 1]).unwrap();
    let mut writer = trickle.tcp().try_clone().unwrap();
    let drip = thread::spawn(move || {
        use std::io::Write as _;
        while writer.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    assert_eq!(trickle.reply().unwrap().status, 408);
    assert_closed(&trickle);
    drip.join().unwrap();
    // A batch that pauses for too long is told so at its end.
    let mut batch = http(&proxied);
    batch.begin_batch().unwrap();
    batch.chunk(format!("{}\n", asked()).as_bytes()).unwrap();
    let answers = objects(&batch.reply().unwrap().body);
    assert_eq!(answers[1], json!({ "line": 2, "error": "the body came too slowly" }));
    assert_eq!(http(&proxied).get("/healthz").unwrap().status, 200);
}

fn assert_closed(http: &Http) {
    let mut rest = Vec::new();
    let ended = http.tcp().try_clone().unwrap().read_to_end(&mut rest);
    assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset));
}
