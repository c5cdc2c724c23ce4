//! The measuring harness: direct, PgBouncer and pgmoat in one run.

fn main() {}
