//! SQL over the features of PostgreSQL's manual, as a role to which nothing is refused: what comes back through the proxy
//! is what comes back directly. `tests/regression` has the statements, one a paragraph; psql plays them by simple Query,
//! the raw client by extended Query.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]

mod extended;
mod psql;
mod statements;
