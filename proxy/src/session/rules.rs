//! What a session is judged by: it changes under a session's feet, between two of its messages.

use std::sync::Arc;

use pgmoat_policy::ErrorPosture;

use super::sight::Sight;
use super::{Portal, Session};

/// The rules in force.
#[derive(Debug)]
pub(super) struct InForce {
    pub(super) generation: u64,
    /// What becomes of errors that belong to no statement.
    pub(super) errors: ErrorPosture,
    /// What the principal may see of the database.
    pub(super) sight: Option<Arc<Sight>>,
    budget: Spending,
}

/// The principal's error budget (policy 3.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spending {
    Within,
    /// Too many errors: nothing about tenants' rows goes on unasked.
    Spent,
}

impl InForce {
    pub(super) fn new(errors: ErrorPosture) -> Self {
        InForce { generation: 0, errors, sight: None, budget: Spending::Within }
    }

    /// Whether a portal runs by the terms of its Bind.
    pub(super) fn still_hold(&self, portal: &Portal) -> bool {
        portal.generation == self.generation && (self.budget == Spending::Within || !portal.terms.scoped)
    }
}

impl Session {
    /// Says which rules are in force, and what becomes of errors that belong to no statement.
    pub fn judged_by(&mut self, generation: u64, errors: ErrorPosture) {
        (self.rules.generation, self.rules.errors) = (generation, errors);
    }

    /// Says what the principal may see of the database.
    pub fn sees(&mut self, sight: Arc<Sight>) {
        self.rules.sight = Some(sight);
    }

    /// Says whether the principal's error budget is spent: then portals that were bound before are judged again.
    pub fn budget_is_spent(&mut self, spent: bool) {
        self.rules.budget = if spent { Spending::Spent } else { Spending::Within };
    }

    /// What becomes of errors that belong to no statement.
    pub fn default_errors(&self) -> ErrorPosture {
        self.rules.errors
    }
}
