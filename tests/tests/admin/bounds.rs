//! What bounds it: bytes, lines, requests, connections, time.

use std::io::{ErrorKind, Read as _, Write as _};
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

/// Nobody times out here: who leaves has made room.
const NO_HURRY: &str = "timeout_ms: 3600000, unauthenticated_ms: 3600000";

#[test]
fn whoever_is_silent_makes_room_for_who_watches_the_process() {
    let proxied = proxied(&format!("connections: 2, {NO_HURRY}"));
    let mut known = http(&proxied);
    assert_eq!(known.verify(&asked()).unwrap().status, 200);
    // More than there is room for by far, with nothing asked or half of it.
    let silent: Vec<Http> = (0..60)
        .map(|number| {
            let mut http = http(&proxied);
            // It may have had to leave already.
            let _ = http.write(["", "GET /healthz HTTP/1.1\r\nhost"][number % 2].as_bytes());
            http
        })
        .collect();
    for path in ["/healthz", "/readyz"] {
        assert_eq!(http(&proxied).ask(&format!("GET {path}"), None, b"").unwrap().status, 200, "{path}");
    }
    assert_closed(&silent[0]);
    assert_eq!(known.verify(&asked()).unwrap().status, 200, "who is known stays");
}

#[test]
fn those_who_are_known_leave_room_for_who_watches_the_process() {
    let proxied = proxied(&format!("connections: 3, {NO_HURRY}"));
    let mut known: Vec<Http> = (0..3)
        .map(|_| {
            let mut http = http(&proxied);
            assert_eq!(http.verify(&asked()).unwrap().status, 200);
            http
        })
        .collect();
    let mut another = http(&proxied);
    let reply = another.verify(&asked()).unwrap();
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")), "{}", reply.text());
    assert!(reply.text().contains("too many connections"), "{}", reply.text());
    for path in ["/healthz", "/readyz"] {
        assert_eq!(http(&proxied).ask(&format!("GET {path}"), None, b"").unwrap().status, 200, "{path}");
    }
    // Whoever shows a wrong one is known no more, and its place is free; so is that of who leaves.
    assert_eq!(known[0].ask("GET /metrics", Some("x"), b"").unwrap().status, 401);
    assert_eq!(http(&proxied).get("/metrics").unwrap().status, 200);
    known.truncate(1);
    eventually("there is room again", || http(&proxied).verify(&asked()).unwrap().status == 200);
}

/// Not the patience that those who are known may count on.
#[test]
fn a_stranger_that_is_silent_loses_its_connection_soon() {
    let proxied = proxied("timeout_ms: 3600000, unauthenticated_ms: 300");
    let mut known = http(&proxied);
    assert_eq!(known.verify(&asked()).unwrap().status, 200);
    for begun in ["", "GET /heal", "GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: "] {
        let mut http = http(&proxied);
        http.write(begun.as_bytes()).unwrap();
        assert_closed(&http);
    }
    let mut asked_once = http(&proxied);
    assert_eq!(asked_once.ask("GET /healthz", None, b"").unwrap().status, 200);
    assert_closed(&asked_once);
    assert_eq!(known.verify(&asked()).unwrap().status, 200, "who is known stays");
}

/// Known from slow-read attacks: a byte now and then keeps a connection, and what is to be sent by it, for ever.
#[test]
fn whoever_takes_an_answer_by_the_byte_loses_its_connection() {
    let proxied = proxied("timeout_ms: 500, connections: 1");
    let padding = "x".repeat(8000);
    let line = json!({ "id": padding, "sql": OWN, "as": "app:acme" }).to_string();
    let mut slow = http(&proxied);
    slow.begin_batch().unwrap();
    let mut writer = slow.tcp().try_clone().unwrap();
    let chunk = format!("{:x}\r\n{line}\n\r\n", line.len() + 1);
    // More than sockets hold: what ends it is that the other side is gone.
    let asking = thread::spawn(move || {
        loop {
            if let Err(error) = writer.write_all(chunk.as_bytes()) {
                return error.kind();
            }
        }
    });
    let mut reader = slow.tcp().try_clone().unwrap();
    while !asking.is_finished() {
        let _ = reader.read(&mut [0]);
        thread::sleep(Duration::from_millis(5));
    }
    let ended = asking.join().unwrap();
    assert!(matches!(ended, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{ended}");
    // What it has not taken is not kept for it.
    eventually("its place is free", || http(&proxied).verify(&asked()).unwrap().status == 200);
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
    assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
}
