//! The lab's own command, behind `lab/up`, `lab/down` and `lab/psql`.

fn main() {}
