//! The table, directly against PostgreSQL: what the proxy is measured by.

use pgmoat_lab::SERVICE_USER;
use pgmoat_tests::Stack;

use crate::play::{DIRECT, play};
use crate::rows::rows;

#[test]
fn every_row_is_what_postgresql_answers() {
    let stack = Stack::get();
    let mut wrong = Vec::new();
    for row in rows(DIRECT) {
        let database = stack.database().unwrap();
        let login = stack.direct(SERVICE_USER, &database);
        if let Err(error) = play(&row, DIRECT, &login, stack.cluster(), &database) {
            wrong.push(error.to_string());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
