//! Verdicts: what a statement may do for a principal under a policy.
//!
//! A verdict is a pure function of the statement's text, the principal, the compiled policy, the
//! catalog, and what the names in the text stand for: no clock, no I/O, no state. Everything that
//! is not understood is denied.
//!
//! ```text
//! text ─(limits)─► pg_query tree ─lower─► ir ─resolve(catalog)─► bound ir ─rules─► Verdict
//! ```
//!
//! Threads that judge need a stack of [`STACK_BYTES`]: the parser's tree is decoded recursively.

#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

pub mod builtin;
mod cache;
pub mod catalog;
mod claims;
mod constant;
mod denial;
mod explain;
mod family;
pub mod ir;
mod judge;
mod judgement;
mod keyed;
mod kind;
pub mod lower;
#[cfg(feature = "mutants")]
pub mod mutants;
#[cfg(not(feature = "mutants"))]
mod mutants;
pub mod parse;
pub mod policy;
mod principal;
mod resolve;
mod rules;
pub mod shape;
mod shown;

pub use cache::{CacheStats, Given, Kept, Recent, Verdicts};
pub use catalog::{Catalog, CatalogVersion};
pub use claims::{Claims, Outputs, claims};
pub use denial::*;
pub use explain::{Explanation, Reached, Standing, explain};
pub use family::*;
pub use judge::{judge, renews_snapshot};
pub use judgement::*;
pub use kind::Kind;
pub use policy::Policy;
pub use principal::Principal;
pub use shape::Fingerprint;
pub use shown::{Shown, shown};

/// The stack, in bytes, that a thread needs to parse and judge any text within the limits: decoding
/// the parser's tree recurses, and an overflow would abort the process. Only what a text needs is ever
/// touched; what is not optimised needs several times as much for a level of the tree.
pub const STACK_BYTES: usize = if cfg!(debug_assertions) { 160 } else { 64 } * 1024 * 1024;
