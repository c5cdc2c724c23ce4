//! Many messages before the first answer is read.

use pgmoat_tests::front::{b, d_portal, e, h, p, q, s};
use pgmoat_tests::{Front, Raw, Stack};

/// More than the proxy lets owe a reply at one time.
const MANY: usize = 6_000;

#[test]
fn a_long_pipeline_of_queries_is_answered_in_order() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    let all: Vec<Front> = (0..MANY).map(|number| q(&format!("SELECT {number}"))).collect();
    raw.send(&all).unwrap();
    let heard = raw.read(MANY).unwrap();
    let numbers: Vec<String> = heard.rows().into_iter().filter_map(|mut row| row[0].take()).collect();
    assert_eq!(numbers.len(), MANY);
    assert!(numbers.iter().enumerate().all(|(at, number)| *number == at.to_string()));
    raw.expect_silence().unwrap();
}

#[test]
fn refusals_stand_in_a_pipeline_where_their_batches_do() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let mut all = Vec::new();
    let mut wanted = Vec::new();
    for number in 0..300 {
        let refused = number % 3 == 1;
        let sql = if refused { "SELECT id FROM app.orders" } else { "SELECT 1" };
        all.extend([p("", sql), b("", "", &[]), d_portal(""), e("", 0), s()]);
        wanted.push(if refused { "E(42501) Z(I)" } else { "1 2 T D C Z(I)" });
    }
    raw.send(&all).unwrap();
    raw.expect(&wanted.join(" ")).unwrap();
    raw.expect_silence().unwrap();
}

#[test]
fn an_error_and_a_flush_are_answered_at_once() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[p("", "SELECT 1"), b("", "", &[]), d_portal(""), h()]).unwrap();
    raw.expect("1 2 T").unwrap();
    raw.send(&[e("", 0), h()]).unwrap();
    raw.expect("D C").unwrap();
    // A refusal in the batch needs neither Flush nor Sync to be told.
    raw.send(&[p("", "SELECT id FROM app.orders")]).unwrap();
    raw.expect("E(42501)").unwrap();
    raw.send(&[s()]).unwrap();
    raw.expect("Z(I)").unwrap();
}
