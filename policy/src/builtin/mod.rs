//! What every PostgreSQL has: compiled, reviewed tables for server majors 15 to 18.
//!
//! The tables are text files beside this module, one object a line, made from live servers and
//! reviewed by hand: what `standard` and `introspection` list (policy 4) is a positive list, and
//! what no line says is denied. They are read when first asked for, so that a process that judges
//! one statement starts at once, and never change. `tests/tests/builtin_tables.rs` holds every line
//! against live servers: for a new major, run it there, look at each line that it prints, and give
//! each a place in the file that it belongs to.

pub mod functions;
pub mod operators;
pub mod relations;
pub mod settings;
mod table;
pub mod text_search;
pub mod types;

#[cfg(test)]
mod tests;
