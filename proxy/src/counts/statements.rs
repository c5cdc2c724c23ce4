//! Decisions by role, verdict and code.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Counter;

/// The decisions of every role that has had a session.
#[derive(Debug, Default)]
pub struct StatementsByRole(Mutex<BTreeMap<Box<str>, Arc<Statements>>>);

/// The decisions of one role. A session holds its own role's.
#[derive(Debug, Default)]
pub struct Statements {
    allowed: Counter,
    denied: Mutex<BTreeMap<Box<str>, u64>>,
}

impl StatementsByRole {
    /// A role's.
    pub fn of(&self, role: &str) -> Arc<Statements> {
        let mut roles = self.0.lock();
        // Policies that follow one another may bring ever other names.
        let role = if roles.len() < ROLES_MAX || roles.contains_key(role) { role } else { OTHER };
        Arc::clone(roles.entry(role.into()).or_default())
    }

    /// All of them, by role.
    pub fn all(&self) -> Vec<(Box<str>, Arc<Statements>)> {
        self.0.lock().iter().map(|(role, statements)| (role.clone(), Arc::clone(statements))).collect()
    }
}

impl Statements {
    /// Counts a decision; a denial by its code.
    pub fn decided(&self, denial: Option<&str>) {
        let Some(code) = denial else { return self.allowed.add_one() };
        let mut denied = self.denied.lock();
        if let Some(count) = denied.get_mut(code) {
            *count += 1;
            return;
        }
        let code = if denied.len() < CODES_MAX { code } else { OTHER };
        *denied.entry(code.into()).or_default() += 1;
    }

    /// How many were let through.
    pub fn allowed(&self) -> u64 {
        self.allowed.get()
    }

    /// How many were denied, by code.
    pub fn denied(&self) -> BTreeMap<Box<str>, u64> {
        self.denied.lock().clone()
    }
}

/// Roles that are counted by name.
const ROLES_MAX: usize = 1000;
/// Codes that are counted by name: more than there are.
const CODES_MAX: usize = 128;
/// Those beyond.
const OTHER: &str = "other";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_codes_have_a_bound() {
        let roles = StatementsByRole::default();
        let app = roles.of("app");
        (0..2 * ROLES_MAX).for_each(|number| roles.of(&format!("role {number}")).decided(None));
        assert_eq!(roles.all().len(), ROLES_MAX + 1);
        assert_eq!(roles.of(OTHER).allowed(), 1001);
        assert!(Arc::ptr_eq(&app, &roles.of("app")), "who was there is still counted by name");
        (0..2 * CODES_MAX).for_each(|number| app.decided(Some(&format!("code_{number}"))));
        let denied = app.denied();
        assert_eq!((denied.len(), denied.get(OTHER)), (CODES_MAX + 1, Some(&128)));
        assert_eq!(denied.values().sum::<u64>(), 256, "none is forgotten");
    }
}
