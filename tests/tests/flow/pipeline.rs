//! Many messages before the first answer is read.

use pgmoat_tests::front::{b, d_portal, e, h, p, q, s};
use pgmoat_tests::{Front, Login, Raw, Rng, Stack, length};

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

/// A Flush is answered whatever else goes on, on connections that are new and on those that are not, however the bytes
/// are split. Nothing else asks for the replies: one that is lost or kept back is waited for in vain.
#[test]
fn each_flush_is_answered_among_many_clients() {
    let proxied = Stack::get().proxy().unwrap();
    let (port, password) = (proxied.login("ops").port, proxied.login("ops").password);
    std::thread::scope(|scope| {
        for client in 0..8 {
            let password = password.clone();
            scope.spawn(move || {
                let mut rng = Rng::new(31, client);
                for _ in 0..length(15, 1_200) {
                    let login =
                        Login { port, user: "ops", password: password.clone(), database: "lab", more: &[] };
                    let mut raw = Raw::connect(&login).unwrap();
                    for number in 0..10 {
                        let sql = format!("SELECT {number}");
                        raw.write_at_most(if rng.chance(50) { 1 + rng.below(9) } else { usize::MAX });
                        raw.send(&[p("", &sql), b("", "", &[]), h()]).unwrap();
                        if rng.chance(50) {
                            raw.expect("1 2").unwrap();
                            raw.send(&[e("", 0), h()]).unwrap();
                            raw.expect("D C").unwrap();
                        } else {
                            raw.send(&[e("", 0), h()]).unwrap();
                            raw.expect("1 2 D C").unwrap();
                        }
                        if rng.chance(50) {
                            raw.send(&[s()]).unwrap();
                            raw.expect("Z(I)").unwrap();
                        }
                    }
                }
            });
        }
    });
}
