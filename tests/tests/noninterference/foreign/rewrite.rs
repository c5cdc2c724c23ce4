//! A statement of SQLsmith's with every scoped relation restricted, and without SQL's own freedom.
//!
//! Where a relation is read, `(SELECT * FROM it WHERE c = T)` takes its place; where one is written,
//! the equality goes into the condition, and T into the tenant column. LIMIT without a total order,
//! samples, clocks and defaults go. SQLsmith's only constants are small numbers and NULL: most of the NULLs
//! become values as the worlds have them, so that conditions hold now and then.

use std::collections::BTreeMap;

use crate::client::Effect;
use crate::rng::Rng;
use crate::schema::Class;

use super::token::{Kind, Token, clause_end, tokens, written};

/// What is known of the relations that SQLsmith is shown, by `schema.name`.
pub(crate) type Relations = BTreeMap<String, Relation>;

#[derive(Debug)]
pub(crate) struct Relation {
    /// All columns in order.
    pub(crate) columns: Vec<String>,
    /// None of what is shared.
    pub(crate) tenant: Option<(String, Class)>,
}

/// What is wrong with one of the restrictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    Dropped,
    Weakened,
}

#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) sql: String,
    pub(crate) effect: Effect,
    /// How many restrictions there are, the flawed one among them.
    pub(crate) restrictions: usize,
}

/// Rewrites; of the restrictions, the one of that number has that flaw.
pub(crate) fn rewrite(sql: &str, relations: &Relations, rng: Rng, flaw: Option<(usize, Flaw)>) -> Rewritten {
    let mut made = Rewriter { tokens: tokens(sql), relations, rng, flaw, restrictions: 0 };
    made.take_freedom();
    made.give_values();
    made.turn_conditions();
    made.restrict_sources();
    let verb = made.verb();
    let effect = if verb.is_some() { Effect::Writes } else { Effect::Reads };
    if let Some(verb) = verb {
        made.restrict_target(verb);
    }
    Rewritten { sql: written(&made.tokens), effect, restrictions: made.restrictions }
}

struct Rewriter<'t> {
    tokens: Vec<Token<'t>>,
    relations: &'t Relations,
    rng: Rng,
    flaw: Option<(usize, Flaw)>,
    restrictions: usize,
}

impl<'t> Rewriter<'t> {
    fn is(&self, at: usize, word: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(word))
    }

    fn clear(&mut self, from: usize, count: usize) {
        self.tokens.iter_mut().skip(from).take(count).for_each(Token::clear);
    }

    /// LIMIT of one value gets an order; other LIMITs and samples go; so do clocks and defaults.
    fn take_freedom(&mut self) {
        for at in 0..self.tokens.len() {
            if self.is(at, "tablesample") {
                // tablesample system (8.6)
                self.clear(at, 5);
            } else if self.is(at, "limit") && self.is(at + 2, "offset") {
                let skipped: usize = self.tokens[at + 3].text.parse().unwrap_or(0);
                self.clear(at + 1, 3);
                self.tokens[at].replace(format!("order by 1 limit 1 offset {}", skipped % OWN_ROWS));
            } else if self.is(at, "limit") {
                self.clear(at, 2);
            } else if self.is(at, "default") && !self.is(at + 1, "values") {
                // A sequence's value, or a random one.
                self.tokens[at].replace("null");
            } else if CLOCKS.iter().any(|clock| self.is(at, clock)) {
                self.tokens[at].replace("cast('2026-01-02' as timestamptz)");
            }
        }
    }

    /// `cast(null as text)` is `cast('acme' as text)` most of the time.
    fn give_values(&mut self) {
        for at in 0..self.tokens.len() {
            if !(self.is(at, "null") && self.is(at + 1, "as") && at > 0 && self.is(at - 1, "(")) {
                continue;
            }
            let end = clause_end(&self.tokens, at, &[]);
            let ty: String =
                self.tokens[at + 2..end].iter().map(|token| token.text.trim_matches('"')).collect();
            let values = VALUES.iter().find(|(name, _)| *name == ty).map(|(_, values)| *values);
            if let Some(values) = values
                && self.rng.chance(VALUE_PERCENT)
            {
                let value = *self.rng.pick(values);
                self.tokens[at].replace(value);
            }
        }
    }

    /// `where (c) is not true`, `on (c) is not true`: most conditions of SQLsmith's are false or NULL.
    fn turn_conditions(&mut self) {
        for at in 0..self.tokens.len() {
            let (begin, end) = match (self.is(at, "where"), self.is(at, "on") && self.is(at + 1, "(")) {
                (true, _) => (at + 1, clause_end(&self.tokens, at + 1, AFTER_WHERE)),
                (_, true) => (at + 1, clause_end(&self.tokens, at + 2, &[]) + 1),
                (false, false) => continue,
            };
            if end > begin && self.rng.chance(TURNED_PERCENT) {
                self.tokens[begin].put_before("(");
                self.tokens[end - 1].put_behind(") is not true");
            }
        }
    }

    /// Every scoped relation that is read.
    fn restrict_sources(&mut self) {
        for at in 1..self.tokens.len() {
            let Some((name, relation)) = self.relation_at(at) else { continue };
            let reads = ["from", "join", "using", ","].iter().any(|word| self.is(at - 1, word));
            let deletes = self.is(at - 1, "from") && at > 1 && self.is(at - 2, "delete");
            let Some((column, class)) = &relation.tenant else { continue };
            if !reads || deletes {
                continue;
            }
            let condition = self.condition(column, *class);
            let alias = match self.is(at + 3, "as") {
                true => "",
                false => " as inside",
            };
            let source = match condition {
                Some(condition) => format!("(select * from {name} where {condition}){alias}"),
                None => format!("{name}{alias}"),
            };
            self.clear(at + 1, 2);
            self.tokens[at].replace(source);
        }
    }

    /// `schema.name` of a relation that is known, and not `schema.name.column`.
    fn relation_at(&self, at: usize) -> Option<(String, &'t Relation)> {
        if self.tokens[at].kind != Kind::Word || !self.is(at + 1, ".") || self.is(at + 3, ".") {
            return None;
        }
        let name = format!("{}.{}", self.tokens[at].text, self.tokens.get(at + 2)?.text);
        let relations = self.relations;
        relations.get(&name).map(|relation| (name, relation))
    }

    /// The next restriction; none where it is the one that is dropped.
    fn condition(&mut self, column: &str, class: Class) -> Option<String> {
        let number = self.restrictions;
        self.restrictions += 1;
        let own = own(class);
        match self.flaw {
            Some((flawed, Flaw::Dropped)) if flawed == number => None,
            Some((flawed, Flaw::Weakened)) if flawed == number => {
                let weak = *self.rng.pick(WEAK);
                Some(weak.replace("{c}", column).replace("{t}", &own))
            }
            Some(_) | None => Some(format!("{column} = {own}")),
        }
    }

    /// Where INSERT, UPDATE, DELETE or MERGE stands, if that is what the statement does.
    fn verb(&self) -> Option<usize> {
        let verb = clause_end(&self.tokens, 0, &["select", "insert", "update", "delete", "merge"]);
        (!self.is(verb, "select") && verb < self.tokens.len()).then_some(verb)
    }

    fn restrict_target(&mut self, verb: usize) {
        // `update it`, `insert into it`, `delete from it`, `merge into it`
        let at = verb + if self.is(verb, "update") { 1 } else { 2 };
        let Some((name, relation)) = self.tokens.get(at).and_then(|_| self.relation_at(at)) else { return };
        let Some((column, class)) = relation.tenant.clone() else { return };
        let position = relation.columns.iter().position(|name| *name == column);
        let own = own(class);
        self.write_tenant(at, &column, position, &own);
        let title = match self.is(at + 3, "as") {
            true => self.tokens[at + 4].text.to_string(),
            false => name,
        };
        let inserts = self.is(verb, "insert");
        let changes = clause_end(&self.tokens, at, &["do"]);
        if inserts && !self.is(changes + 1, "update") {
            // Only what is inserted counts.
            return;
        }
        let Some(condition) = self.condition(&format!("{title}.{column}"), class) else { return };
        let from = if inserts { changes } else { at };
        let (clause, stops): (_, &[&str]) = match self.is(verb, "merge") {
            true => ("on", &["when"]),
            false => ("where", &["returning"]),
        };
        let stops_or_clause: Vec<&str> = stops.iter().copied().chain([clause]).collect();
        let mut begin = clause_end(&self.tokens, from, &stops_or_clause);
        // MERGE's own ON comes after those of its source's joins.
        while self.is(verb, "merge") && self.is(begin, clause) {
            let next = clause_end(&self.tokens, begin + 1, &stops_or_clause);
            if !self.is(next, clause) {
                break;
            }
            begin = next;
        }
        if self.is(begin, clause) {
            let end = clause_end(&self.tokens, begin + 1, stops);
            self.tokens[begin].put_behind(&format!(" {condition} and ("));
            self.tokens[end - 1].put_behind(")");
        } else {
            self.tokens[begin - 1].put_behind(&format!(" {clause} {condition}"));
        }
    }

    /// T in the tenant column of each row of VALUES, and where it is assigned.
    fn write_tenant(&mut self, from: usize, column: &str, position: Option<usize>, own: &str) {
        let mut at = from;
        loop {
            at = clause_end(&self.tokens, at, &["values", "set"]) + 1;
            if at >= self.tokens.len() {
                return;
            }
            if self.is(at - 1, "set") {
                let end = clause_end(&self.tokens, at, &["from", "where", "returning", "when"]);
                for (begin, end) in self.items(at, end) {
                    if self.is(begin, column) && self.rng.chance(ASSIGNED_OWN_PERCENT) {
                        self.tokens[begin + 2].replace(own);
                        self.clear(begin + 3, end - begin - 3);
                    }
                }
            } else if let Some(position) = position {
                let end = clause_end(&self.tokens, at + 1, &[]);
                if let Some(&(begin, end)) = self.items(at + 1, end).get(position) {
                    self.tokens[begin].replace(own);
                    self.clear(begin + 1, end - begin - 1);
                }
            }
        }
    }

    /// The items of a list with commas.
    fn items(&self, from: usize, end: usize) -> Vec<(usize, usize)> {
        let mut items = Vec::new();
        let mut begin = from;
        while begin < end {
            let comma = clause_end(&self.tokens, begin, &[","]).min(end);
            items.push((begin, comma));
            begin = comma + 1;
        }
        items
    }
}

/// T as it is written.
fn own(class: Class) -> String {
    match class {
        Class::Account => class.own().to_owned(),
        Class::Tenant | Class::Owner | Class::Realm => format!("'{}'", class.own()),
    }
}

/// Conditions that hold for other rows as well, or for others only.
const WEAK: &[&str] = &[
    "{c} <> {t}",
    "{c} = {t} or true",
    "{c} is not null",
    "{c} in ({t}) is not false",
    "coalesce({c}, {t}) = {t}",
    "{c} = {c}",
];

/// Values by type: as the worlds' own rows have them, and some that they have not.
const VALUES: &[(&str, &[&str])] = &[
    ("text", &["'acme'", "'note 1'", "'user1@x'", "''", "'7'", "'Ann'", "'globex'"]),
    ("varchar", &["'acme'", "'note 1'", "''"]),
    ("bpchar", &["'DE'", "'US'"]),
    ("int2", &["1", "2", "42", "0"]),
    ("int4", &["1", "2", "3", "42", "0"]),
    ("int8", &["1", "2", "3", "42", "77", "0"]),
    ("numeric", &["10.50", "0", "99.99", "2"]),
    ("bool", &["true", "false"]),
    ("timestamptz", &["'2026-01-02 00:00+00'", "'2026-01-01 07:00+00'"]),
    ("timestamp", &["'2026-01-02 00:00'"]),
    ("date", &["'2026-01-02'", "'2026-01-01'"]),
    ("interval", &["'1 day'", "'7 hours'"]),
    ("uuid", &["'11111111-1111-1111-1111-111111111111'", "'11111111-1111-1111-1111-111111111113'"]),
    ("jsonb", &["'{\"score\": 1}'", "'{\"n\": 2}'", "'[1]'"]),
    ("_text", &["'{t1,all}'", "'{}'"]),
    ("app.order_status", &["'paid'", "'new'"]),
    ("more.realm", &["'acme'", "'globex'"]),
];

const CLOCKS: &[&str] = &["current_timestamp", "current_date", "current_time", "localtimestamp", "localtime"];
const AFTER_WHERE: &[&str] = &["order", "returning", "union", "except", "intersect"];
const TURNED_PERCENT: usize = 80;
const VALUE_PERCENT: usize = 75;
const ASSIGNED_OWN_PERCENT: usize = 90;
/// As many as most of the worlds' tables have of our own.
const OWN_ROWS: usize = 7;
