//! Who asks, and what is theirs.

/// A user, and a tenant whose rows are another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) user: &'static str,
    pub(crate) tenant: &'static str,
    pub(crate) other: &'static str,
    pub(crate) writes: bool,
}

/// Two tenants and an analyst, in turn.
pub(crate) fn person(number: usize) -> Person {
    PEOPLE[number % PEOPLE.len()]
}

const PEOPLE: [Person; 3] = [
    Person { user: "acme_app", tenant: "acme", other: "globex", writes: true },
    Person { user: "globex_app", tenant: "globex", other: "acme", writes: true },
    Person { user: "acme_analyst", tenant: "acme", other: "globex", writes: false },
];
