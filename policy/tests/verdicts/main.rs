//! Verdicts by hand: each rule with statements that it lets pass and neighbours that it does not.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod by_kind;
mod casts;
mod columns_and_masks;
mod expansion;
mod fallible;
mod functions_and_types;
mod judgements;
mod lab;
mod parameters;
mod robustness;
mod tenancy_conditions;
mod tenancy_derived;
mod tenancy_joins;
mod tenancy_keys;
mod tenancy_writes;
mod titles;
mod traces;
