//! Messages by chance, from a client that remembers a little of what it has said: mostly right, often wrong.

use std::collections::{HashMap, HashSet};

use pgmoat_tests::front::{
    b, c_portal, c_statement, d_portal, d_statement, e, framed, function_call, h, p, q, s,
};
use pgmoat_tests::{Front, Rng};

use super::malformed;
use super::texts::{Text, VAULT, copy_in_text, parsed_text, text};
use crate::script::{Role, Say};

/// What the client remembers.
#[derive(Debug)]
pub(super) struct Client {
    role: Role,
    /// How many parameters the text that it last parsed under a name has.
    parsed: HashMap<&'static str, usize>,
    /// The names whose text speaks of statements or cursors. Such a text is run as soon as it is bound, in no portal that
    /// it may name itself, and is not described: PostgreSQL asks what it speaks of at each step, the proxy at Bind.
    speaking: HashSet<&'static str>,
    /// Whether it has bound the unnamed portal since its last Query. A Query makes that portal go (wire 2); what
    /// PostgreSQL leaves behind of one that is empty or fails cannot be run, and is not looked at here.
    has_unnamed_portal: bool,
    /// Whether all that it has asked is answered.
    pub(super) settled: bool,
}

impl Client {
    pub(super) fn new(role: Role) -> Self {
        Self {
            role,
            parsed: HashMap::new(),
            speaking: HashSet::new(),
            has_unnamed_portal: false,
            settled: true,
        }
    }

    /// Adds a message, or a few that belong together.
    pub(super) fn say(&mut self, rng: &mut Rng, say: &mut Vec<Say>) {
        match rng.weighted(&[18, 14, 12, 14, 7, 6, 10, 3, 4, 2, 1, 3, 1, 16, 3]) {
            0 => self.query(text(rng, self.role), say),
            1 => self.parse(rng, say),
            2 => self.bind(rng, say),
            3 => say.push(Say::Same(e(self.open_portal(rng), rows(rng)))),
            4 => say.push(Say::Same(self.describe(rng))),
            5 => say.push(Say::Same(close(rng))),
            6 => say.push(Say::Same(s())),
            7 => say.push(Say::Same(h())),
            8 => say.push(Say::Same(copy_data(rng))),
            9 => say.push(Say::Same(Front::CopyDone)),
            10 => say.push(Say::Same(Front::CopyFail("enough".into()))),
            // What ends a session comes alone: PostgreSQL answers first what came before it.
            11 if self.settled && say.is_empty() && rng.chance(10) => {
                say.push(Say::Same(malformed::last_message(rng)))
            }
            11 => say.push(Say::Same(malformed::message(rng))),
            // Refused to everybody: what PostgreSQL refuses stands in its place.
            12 => {
                self.has_unnamed_portal = false;
                say.push(Say::Denied { proxied: function_call(ABS_INT4), direct: q(VAULT) });
                // What stands for it at the other door makes the unnamed statement go.
                say.push(Say::Same(q("")));
            }
            13 => self.batch(rng, say),
            _ => self.copy(rng, say),
        }
    }

    fn parse(&mut self, rng: &mut Rng, say: &mut Vec<Say>) {
        let name = *rng.pick(&STATEMENTS);
        self.parse_as(name, parsed_text(rng, self.role, name), say);
    }

    fn parse_as(&mut self, name: &'static str, text: Text, say: &mut Vec<Say>) {
        self.parsed.insert(name, text.parameters);
        if text.speaks_of_names() {
            self.speaking.insert(name);
        }
        say.push(match text.direct {
            None => Say::Same(p(name, &text.proxied)),
            Some(direct) => Say::Denied { proxied: p(name, &text.proxied), direct: p(name, &direct) },
        });
    }

    fn bind(&mut self, rng: &mut Rng, say: &mut Vec<Say>) {
        if self.role == Role::Tenant && rng.chance(20) {
            return self.bound_tenant(rng, say);
        }
        let statement = *rng.pick(&STATEMENTS);
        let portal = self.portal_for(rng, statement);
        self.bind_as(rng, portal, statement, say);
        if self.speaking.contains(statement) {
            say.push(Say::Same(e(portal, rows(rng))));
        }
    }

    fn portal_for(&self, rng: &mut Rng, statement: &str) -> &'static str {
        let portal = portal(rng);
        if self.speaking.contains(statement) { "" } else { portal }
    }

    fn bind_as(&mut self, rng: &mut Rng, portal: &str, statement: &str, say: &mut Vec<Say>) {
        self.has_unnamed_portal |= portal.is_empty();
        let right = self.parsed.get(statement).copied().unwrap_or(0);
        let count = if rng.chance(95) { right } else { rng.below(3) };
        let values = (0..count).map(|_| value(rng)).collect();
        let results = if rng.chance(10) { vec![1] } else { Vec::new() };
        say.push(Say::Same(Front::Bind(portal.into(), statement.into(), values, Vec::new(), results)));
    }

    /// As drivers do it, mostly with its Sync.
    fn batch(&mut self, rng: &mut Rng, say: &mut Vec<Say>) {
        let statement = *rng.pick(&STATEMENTS);
        if rng.chance(30) {
            say.push(Say::Same(c_statement(statement)));
        }
        if rng.chance(80) {
            self.parse_as(statement, parsed_text(rng, self.role, statement), say);
        }
        if rng.chance(20) && !self.speaking.contains(statement) {
            say.push(Say::Same(d_statement(statement)));
        }
        let portal = self.portal_for(rng, statement);
        self.bind_as(rng, portal, statement, say);
        if rng.chance(40) {
            say.push(Say::Same(d_portal(portal)));
        }
        say.push(Say::Same(e(portal, rows(rng))));
        if rng.chance(25) {
            say.push(Say::Same(e(portal, rows(rng))));
        }
        if rng.chance(75) {
            say.push(Say::Same(s()));
        }
    }

    /// A copy-in with what belongs to it, and with what does not.
    fn copy(&mut self, rng: &mut Rng, say: &mut Vec<Say>) {
        let text = copy_in_text(self.role);
        let by_query = rng.chance(50);
        if by_query {
            self.query(text, say);
        } else {
            self.parse_as("", text, say);
            self.has_unnamed_portal = true;
            say.extend([Say::Same(b("", "", &[])), Say::Same(e("", 0))]);
            if rng.chance(50) {
                say.push(Say::Same(s()));
            }
        }
        // What comes behind data may be read inside the copy or not, as the server has failed it yet or not: a Query there may
        // end the session here.
        let data = rng.below(4);
        for _ in 0..data {
            say.push(Say::Same(match rng.below(20) {
                0..16 => copy_data(rng),
                16..18 => s(),
                _ => h(),
            }));
        }
        let end = match rng.below(10) {
            0 => Front::CopyFail("no".into()),
            1 if data == 0 => q("SELECT 1"),
            _ => Front::CopyDone,
        };
        say.push(Say::Same(end));
        if rng.chance(70) {
            say.push(Say::Same(s()));
        }
    }

    fn query(&mut self, text: Text, say: &mut Vec<Say>) {
        self.has_unnamed_portal = false;
        say.push(match text.direct {
            None => Say::Same(q(&text.proxied)),
            Some(direct) => Say::Denied { proxied: q(&text.proxied), direct: q(&direct) },
        });
    }

    fn describe(&self, rng: &mut Rng) -> Front {
        let statement = STATEMENTS[rng.below(STATEMENTS.len())];
        if rng.chance(50) && !self.speaking.contains(statement) {
            d_statement(statement)
        } else {
            d_portal(PORTALS[1 + rng.below(PORTALS.len() - 1)])
        }
    }

    fn open_portal(&self, rng: &mut Rng) -> &'static str {
        let portal = portal(rng);
        if portal.is_empty() && !self.has_unnamed_portal { PORTALS[1] } else { portal }
    }

    /// A tenant that comes with the Bind: one's own, or another's. The name has this text alone, ever; at the other door a
    /// value that is no text stands for the refused one.
    fn bound_tenant(&mut self, rng: &mut Rng, say: &mut Vec<Say>) {
        const BOUND: &str = "SELECT body FROM notes WHERE tenant_id = $1 ORDER BY id";
        let portal = portal(rng);
        self.has_unnamed_portal |= portal.is_empty();
        let bind = |value: &[u8]| {
            Front::Bind(portal.into(), "t".into(), vec![Some(value.to_vec())], Vec::new(), Vec::new())
        };
        if rng.chance(60) {
            say.push(Say::Same(p("t", BOUND)));
        }
        if rng.chance(50) {
            say.push(Say::Same(bind(b"acme")));
        } else {
            say.push(Say::Denied { proxied: bind(b"globex"), direct: bind(b"\xff") });
        }
        say.push(Say::Same(e(portal, rows(rng))));
        if rng.chance(70) {
            say.push(Say::Same(s()));
        }
    }
}

fn close(rng: &mut Rng) -> Front {
    if rng.chance(50) { c_statement(STATEMENTS[rng.below(STATEMENTS.len())]) } else { c_portal(portal(rng)) }
}

fn portal(rng: &mut Rng) -> &'static str {
    PORTALS[rng.weighted(&[60, 15, 10, 15])]
}

fn rows(rng: &mut Rng) -> i32 {
    [0, 1, 2, 5, -1][rng.weighted(&[60, 15, 10, 10, 5])]
}

fn value(rng: &mut Rng) -> Option<Vec<u8>> {
    let text = *rng.pick(&["3", "0", "2", "7", "-1", "no number", "it's", ""]);
    rng.chance(90).then(|| text.as_bytes().to_vec())
}

fn copy_data(rng: &mut Rng) -> Front {
    let rows = [
        "acme\tcopied\n",
        "acme\tone\nacme\ttwo\n",
        "acme\thal",
        "f\n",
        "no columns\n",
        "\\N\tx\n",
        "\\.\n",
        "",
    ];
    match rng.weighted(&[50, 10, 8, 8, 8, 8, 4, 4, 4]) {
        8 => framed(b'd', b"\xff\xfe\n"),
        at => Front::CopyData(rows[at].as_bytes().to_vec()),
    }
}

/// Names that the wire and SQL share: `"B"` keeps its case, and the longest is as long as PostgreSQL's are.
const STATEMENTS: [&str; 5] =
    ["", "a", "b", "B", "x23456789_123456789_123456789_123456789_123456789_123456789_123"];
const PORTALS: [&str; 4] = ["", "a", "Q", "c"];
const ABS_INT4: u32 = 1397;
