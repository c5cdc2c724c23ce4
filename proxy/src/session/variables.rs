//! A client's settings: what it wants, what its connection has, what the transaction alone has.
//!
//! All three move together with what the client runs, and back with ROLLBACK and ROLLBACK TO, as the server's own do.
//! What is wanted and not there is given by the proxy itself: on another connection, and after a RESET or DISCARD ALL,
//! which makes the start-up settings go back to the service's own, where a direct connection's would go back to what its
//! client had asked for.
//!
//! INVARIANT (there): `there` is what the connection has beside its start-up values, at the session's level; what is
//! not known to be so is never tracked but pins (see [`super::sharing`]). Without a connection nothing is missing.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use super::date_style;
use super::lasting::{Assignment, Lasting, Leaving, SettingText};

/// Settings by their folded names.
pub(super) type Values = Arc<BTreeMap<Box<str>, Box<str>>>;

/// A setting and the value to give it; none for its default.
pub type Change = (Box<str>, Option<Box<str>>);

/// The settings of a session.
#[derive(Debug)]
pub(super) struct Variables {
    /// What the client has set at start-up, which is where it goes back to.
    initial: Values,
    followed: Followed,
    now: State,
    /// Before the transaction.
    before: State,
    savepoints: Vec<(Box<str>, State)>,
    /// Something differs from before the transaction.
    touched: bool,
    /// Statements under way that may move settings.
    under_way: usize,
    /// Those among them that may let start-up settings go.
    letting_go: usize,
    /// Those among them that may move what a text means.
    moving_meaning: usize,
}

/// Which settings are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Followed {
    /// Those that the client has set at start-up: no other is ever given.
    StartUp,
    /// Every one, since the connection changes.
    Every,
}

#[derive(Debug, Clone, Default)]
struct State {
    wanted: Values,
    there: Values,
    local: Values,
}

/// What the server has now is not known: a savepoint that nobody knows of, a value that depends on others.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lost;

impl Variables {
    pub(super) fn new<'a>(initial: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut values = BTreeMap::new();
        for (name, value) in initial {
            let name = folded(name);
            let before: Option<&Box<str>> = values.get(&name);
            let value = come_to(before.map(AsRef::as_ref), &name, value).unwrap_or_else(|_| value.into());
            values.insert(name, value);
        }
        let initial: Values = Arc::new(values);
        let now = State { wanted: Arc::clone(&initial), there: Arc::clone(&initial), ..State::default() };
        Variables {
            initial,
            followed: Followed::StartUp,
            before: now.clone(),
            now,
            savepoints: Vec::new(),
            touched: false,
            under_way: 0,
            letting_go: 0,
            moving_meaning: 0,
        }
    }

    /// The session's connections change.
    pub(super) fn follow_every(&mut self) {
        self.followed = Followed::Every;
    }

    /// The session has a connection that has these.
    pub(super) fn attach(&mut self, there: Values) {
        self.now.there = there;
        self.touched = true;
        self.commit();
    }

    /// What the connection has, for whoever gets it next.
    pub(super) fn detach(&mut self) -> Values {
        let wanted = Arc::clone(&self.now.wanted);
        let there = std::mem::replace(&mut self.now.there, wanted);
        self.touched = true;
        self.commit();
        there
    }

    /// What becomes of the connection by what is set on it. The next client is first given its own settings, by a statement
    /// that must not be ended, nor wait, by what this one has set.
    pub(super) fn leaving(&self) -> Leaving {
        let by = |name: &str, value: &str| match name {
            "statement_timeout" | "transaction_timeout" if is_short(value) => Leaving::Reset,
            // A read-only transaction waits for others to end before its first snapshot.
            "default_transaction_deferrable" if !is_off(value) => Leaving::Reset,
            _ => Leaving::AsItIs,
        };
        self.now.there.iter().map(|(name, value)| by(name, value)).max().unwrap_or_default()
    }

    /// Whether something that is wanted is not there.
    pub(super) fn misses(&self) -> bool {
        self.now.wanted != self.now.there
    }

    /// Whether this is.
    pub(super) fn lacks(&self, name: &str) -> bool {
        let name = folded(name);
        self.now.wanted.contains_key(&name) && !self.now.there.contains_key(&name)
    }

    /// Whether start-up settings have gone, or may go by what was sent.
    pub(super) fn lets_go(&self) -> bool {
        self.letting_go > 0 || self.misses()
    }

    /// What the connection has to be given; it has it from now on.
    pub(super) fn give_missing(&mut self) -> Vec<Change> {
        let State { wanted, there, .. } = &self.now;
        if wanted == there {
            // One of the two, so that they are found alike by their address from now on.
            self.now.there = Arc::clone(wanted);
            return Vec::new();
        }
        let gone = there.keys().filter(|name| !wanted.contains_key(*name)).map(|name| (name.clone(), None));
        let other = || wanted.iter().filter(|(name, value)| there.get(*name) != Some(value));
        // Another's half of it would stay.
        let halved = other().filter(|(name, _)| ***name == *date_style::NAME && there.contains_key(*name));
        let changes = gone
            .chain(halved.map(|(name, _)| (name.clone(), None)))
            .chain(other().map(|(name, value)| (name.clone(), Some(value.clone()))))
            .collect();
        self.now.there = Arc::clone(wanted);
        self.before.there = Arc::clone(&self.now.there);
        changes
    }

    pub(super) fn wanted(&self, name: &str) -> Option<&str> {
        self.now.wanted.get(name).map(|value| &**value)
    }

    /// It is set, to its default where there is no value.
    ///
    /// # Errors
    /// What the value comes to is not known.
    pub(super) fn set(&mut self, name: &str, value: Option<&str>, local: bool) -> Result<(), Lost> {
        let name = folded(name);
        if self.followed == Followed::StartUp && !self.initial.contains_key(&name) {
            return Ok(());
        }
        let State { there, local: locals, .. } = &self.now;
        let before = locals.get(&name).or_else(|| there.get(&name)).map(|before| &**before);
        let value = value.map(|value| come_to(before, &name, value)).transpose()?;
        self.touched = true;
        match value {
            Some(value) if local => drop(Arc::make_mut(&mut self.now.local).insert(name, value)),
            // To its default, which the session's own is hidden by until the transaction's end.
            None if local => drop(Arc::make_mut(&mut self.now.local).insert(name, UNKNOWN.into())),
            Some(value) => {
                self.forget_local(&name);
                Arc::make_mut(&mut self.now.wanted).insert(name.clone(), value.clone());
                Arc::make_mut(&mut self.now.there).insert(name, value);
            }
            None => {
                self.forget_local(&name);
                let wanted = Arc::make_mut(&mut self.now.wanted);
                match self.initial.get(&name) {
                    Some(value) => drop(wanted.insert(name.clone(), value.clone())),
                    None => drop(wanted.remove(&name)),
                }
                Arc::make_mut(&mut self.now.there).remove(&name);
            }
        }
        Ok(())
    }

    fn forget_local(&mut self, name: &str) {
        if self.now.local.contains_key(name) {
            Arc::make_mut(&mut self.now.local).remove(name);
        }
    }

    pub(super) fn reset_all(&mut self) {
        self.touched = true;
        self.now = State { wanted: Arc::clone(&self.initial), ..State::default() };
    }

    pub(super) fn commit(&mut self) {
        if !std::mem::take(&mut self.touched) {
            return;
        }
        if !self.now.local.is_empty() {
            self.now.local = Values::default();
        }
        self.before = self.now.clone();
        self.savepoints.clear();
    }

    pub(super) fn roll_back(&mut self) {
        if !std::mem::take(&mut self.touched) {
            return;
        }
        self.now = self.before.clone();
        self.savepoints.clear();
    }

    /// An error: the server goes back at once to where the block, or its last savepoint, has begun.
    pub(super) fn fail(&mut self) {
        if self.touched {
            self.now = self.savepoints.last().map_or(&self.before, |(_, state)| state).clone();
        }
    }

    pub(super) fn savepoint(&mut self, name: &str) -> Result<(), Lost> {
        if self.savepoints.len() >= SAVEPOINTS_MAX {
            return Err(Lost);
        }
        self.touched = true;
        self.savepoints.push((name.into(), self.now.clone()));
        Ok(())
    }

    pub(super) fn release(&mut self, name: Option<&str>) -> Result<(), Lost> {
        let at = self.find(name)?;
        self.savepoints.truncate(at);
        Ok(())
    }

    pub(super) fn roll_back_to(&mut self, name: Option<&str>) -> Result<(), Lost> {
        let at = self.find(name)?;
        self.savepoints.truncate(at + 1);
        if let Some((_, state)) = self.savepoints.last() {
            self.now = state.clone();
        }
        Ok(())
    }

    fn find(&self, name: Option<&str>) -> Result<usize, Lost> {
        let name = name.ok_or(Lost)?;
        self.savepoints.iter().rposition(|(known, _)| **known == *name).ok_or(Lost)
    }

    /// A statement that may move settings is under way, or has ended.
    pub(super) fn begin(&mut self, lasting: &Lasting) {
        self.under_way += 1;
        self.letting_go += usize::from(lasting.lets_settings_go());
        self.moving_meaning += usize::from(lasting.may_move_meaning());
    }

    pub(super) fn end(&mut self, lasting: &Lasting) {
        self.under_way = self.under_way.saturating_sub(1);
        self.letting_go = self.letting_go.saturating_sub(usize::from(lasting.lets_settings_go()));
        self.moving_meaning = self.moving_meaning.saturating_sub(usize::from(lasting.may_move_meaning()));
    }

    /// Whether this may move settings that the meaning of texts depends on.
    pub(super) fn meaning_moves_by(&self, assignment: &Assignment) -> bool {
        match assignment {
            Assignment::Set { name: SettingText::Is(name), .. } => gives_meaning(name),
            Assignment::Set { name: SettingText::Bound(_), .. } => true,
            // Drivers' pools reset connections on which nothing was set.
            Assignment::ResetAll | Assignment::DiscardAll => {
                let State { wanted, there, local } = &self.now;
                let mut all = [wanted, there, local].into_iter().flat_map(|values| values.keys());
                self.under_way > 0 || all.any(|name| gives_meaning(name))
            }
        }
    }

    /// Whether it is known what the meaning of a text depends on.
    pub(super) fn has_meaning(&self) -> bool {
        self.moving_meaning == 0
    }

    /// What the meaning of a text may depend on, as a number; none while that is not known.
    pub(super) fn meaning(&self) -> Option<u64> {
        if !self.has_meaning() {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        let State { there, local, .. } = &self.now;
        for (name, value) in there.iter().filter(|(name, _)| !local.contains_key(*name)).chain(local.iter()) {
            if gives_meaning(name) {
                (name, value).hash(&mut hasher);
            }
        }
        Some(hasher.finish())
    }
}

/// Whether what a text means may depend on this setting.
pub(super) fn gives_meaning(name: &str) -> bool {
    !MEANINGLESS.iter().any(|other| name.eq_ignore_ascii_case(other)) && !name.contains('.')
}

/// GUC names are compared without regard to case.
fn folded(name: &str) -> Box<str> {
    name.to_ascii_lowercase().into()
}

/// What a value comes to where the setting was this.
fn come_to(before: Option<&str>, name: &str, value: &str) -> Result<Box<str>, Lost> {
    match name == date_style::NAME {
        true => date_style::composed(before, value).ok_or(Lost),
        false => Ok(value.into()),
    }
}

/// Whether a time, as a setting has it, is not surely none or a second and more.
fn is_short(value: &str) -> bool {
    let value = value.trim();
    let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(digits);
    let long = match (number.parse::<u64>(), unit.trim()) {
        (Ok(0), "" | "ms" | "s" | "min" | "h" | "d") => true,
        (Ok(number), "" | "ms") => number >= SHORT_MS,
        (Ok(number), "s" | "min" | "h" | "d") => number > 0,
        (Ok(_) | Err(_), _) => false,
    };
    !long
}

fn is_off(value: &str) -> bool {
    ["off", "false", "no", "0", "f", "n"].iter().any(|off| value.trim().eq_ignore_ascii_case(off))
}

/// A set-up takes a fraction of it.
const SHORT_MS: u64 = 1_000;
/// A value that no setting has.
const UNKNOWN: &str = "\0";
/// Savepoints of one transaction that are told apart.
const SAVEPOINTS_MAX: usize = 4_096;
/// Settings that no text's meaning depends on, beside the custom ones: they say how long, how verbosely, how much. (How
/// values are printed is not among them: `'\x41'::bytea::text` is a constant to the planner.)
const MEANINGLESS: &[&str] = &[
    "application_name",
    "client_min_messages",
    "default_transaction_deferrable",
    "default_transaction_isolation",
    "default_transaction_read_only",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "jit",
    "lock_timeout",
    "plan_cache_mode",
    "statement_timeout",
    "synchronous_commit",
    "transaction_deferrable",
    "transaction_isolation",
    "transaction_read_only",
    "work_mem",
];

#[cfg(test)]
mod tests;
