//! A Query behind messages without a Sync.

use pgmoat_lab::ProxyConfig;
use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Mode, Raw, Stack, other_servers};

/// PostgreSQL 18 says behind the Sync that it is idle, and has the transaction open still: the next command fails
/// ("StartTransactionCommand: unexpected state STARTED"), and must not be another client's.
#[test]
fn a_transaction_that_the_server_leaves_open_is_nobody_elses() {
    holds(Stack::get());
    for postgres in other_servers() {
        holds(&Stack::of(postgres).unwrap());
    }
}

fn holds(stack: &Stack) {
    for mode in Mode::PROXIED {
        let change = |config: &mut ProxyConfig| config.databases[0].pool = mode.pool(1);
        let proxied = stack.proxy_with(change).unwrap();
        for text in ["SELECT 1", "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'left')"] {
            let mut first = Raw::connect(&proxied.login("acme_app")).unwrap();
            first.send(&[p("", text), b("", "", &[]), e("", 0), q("SELECT 2"), s()]).unwrap();
            first.read(2).unwrap();
            if *mode == Mode::Session {
                drop(first);
            }
            let mut second = Raw::connect(&proxied.login("acme_app")).unwrap();
            for _ in 0..2 {
                assert_eq!(second.query("SELECT 3").unwrap().to_string(), "T D C Z(I)", "{mode}: {text}");
            }
        }
    }
}
