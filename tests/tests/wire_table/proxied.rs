//! The table through the proxy, for the rows whose statements the lab's policy allows: nothing looks different.

use pgmoat_tests::Stack;

use crate::play::{PROXY, Through, play};
use crate::rows::rows;

#[test]
fn every_allowed_row_looks_as_on_a_direct_connection() {
    let stack = Stack::get();
    let mut wrong = Vec::new();
    let mut played = 0;
    for row in rows(PROXY) {
        match row.through {
            Through::DirectOnly(_) => continue,
            Through::Both => played += 1,
        }
        let proxied = stack.proxy().unwrap();
        if let Err(error) = play(&row, PROXY, &proxied.login("acme_app"), stack.cluster(), &proxied.database)
        {
            wrong.push(error.to_string());
        }
    }
    assert!(wrong.is_empty(), "{} of {played} rows:\n{}", wrong.len(), wrong.join("\n"));
}
