//! Two tenants side by side on one proxy: nobody sees, counts or changes a row of the other.

use std::ops::AddAssign;
use std::thread;
use std::time::{Duration, Instant};

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Front, Proxied, Raw, Stack, Transcript, length};

const CONNECTIONS: u64 = 50;

#[test]
fn every_row_is_the_sessions_own_tenants() {
    let proxied = Stack::get().proxy().unwrap();
    let until = Instant::now() + Duration::from_secs(length(15, 60));
    let results: Vec<Result<Done, String>> = thread::scope(|scope| {
        let proxied = &proxied;
        let run = |number| scope.spawn(move || Tenant::numbered(proxied, number)?.run(until));
        let running: Vec<_> = (0..CONNECTIONS).map(run).collect();
        running.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let mut all = Done::default();
    let mut wrong = Vec::new();
    for result in results {
        match result {
            Ok(done) => all += done,
            Err(error) => wrong.push(error),
        }
    }
    println!("{all:?}");
    assert!(wrong.is_empty(), "{} of {CONNECTIONS} clients:\n{}", wrong.len(), wrong.join("\n"));
    assert!(all.rows > 0 && all.refused > 0 && all.committed > 0, "{all:?}");
    let strangers = "SELECT count(*) FROM app.notes WHERE body LIKE 'side %' AND body NOT LIKE 'side ' || tenant_id || ' %'";
    assert_eq!(count(&proxied, strangers), 0);
    assert_eq!(count(&proxied, "SELECT count(*) FROM app.notes WHERE body LIKE 'side %'"), all.committed);
}

fn count(proxied: &Proxied, sql: &str) -> u64 {
    Stack::get().cluster().psql(&proxied.database, sql).unwrap().trim().parse().unwrap()
}

#[derive(Debug, Default)]
struct Done {
    rows: u64,
    refused: u64,
    committed: u64,
}

impl AddAssign for Done {
    fn add_assign(&mut self, more: Self) {
        self.rows += more.rows;
        self.refused += more.refused;
        self.committed += more.committed;
    }
}

/// One client.
struct Tenant {
    raw: Raw,
    own: &'static str,
    other: &'static str,
    /// Its orders have even or odd numbers.
    odd: u64,
    number: u64,
    random: u64,
    done: Done,
}

impl Tenant {
    fn numbered(proxied: &Proxied, number: u64) -> Result<Self, String> {
        let (user, own, other, odd) = match number % 2 {
            0 => ("acme_app", "acme", "globex", 0),
            _ => ("globex_app", "globex", "acme", 1),
        };
        let raw = Raw::connect(&proxied.login(user)).map_err(|error| format!("{number}: {error}"))?;
        let random = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Ok(Self { raw, own, other, odd, number, random, done: Done::default() })
    }

    fn run(mut self, until: Instant) -> Result<Done, String> {
        let point = "SELECT tenant_id, id FROM app.orders WHERE tenant_id = $1 AND id = $2";
        self.ask(&[p("point", point), s()], "1 Z(I)")?;
        let mut round = 0;
        while Instant::now() < until {
            round += 1;
            match self.below(8) {
                0 => self.simple_point()?,
                1 => self.prepared_points()?,
                2 => self.unnamed_point()?,
                3 => self.simple_range()?,
                4 => self.range_in_portions()?,
                5 => self.transaction(round)?,
                6 => self.refused_alone()?,
                _ => self.refused_in_a_transaction(round)?,
            }
        }
        Ok(self.done)
    }

    fn simple_point(&mut self) -> Result<(), String> {
        let id = self.any_order();
        let own = self.own;
        let heard = self.hear(&[q(&format!(
            "SELECT tenant_id, id FROM app.orders WHERE tenant_id = '{own}' AND id = {id}"
        ))])?;
        self.own_rows(&heard, self.own_of(id))
    }

    fn prepared_points(&mut self) -> Result<(), String> {
        let ids = [self.any_order(), self.any_order(), self.any_order()];
        let mut batch = Vec::new();
        for id in ids {
            batch.extend([b("", "point", &[self.own, &id.to_string()]), e("", 0)]);
        }
        batch.push(s());
        let heard = self.hear(&batch)?;
        self.own_rows(&heard, ids.into_iter().map(|id| self.own_of(id)).sum())
    }

    fn unnamed_point(&mut self) -> Result<(), String> {
        let id = self.any_order();
        let own = self.own;
        let sql = format!("SELECT tenant_id, id FROM app.orders WHERE id = $1 AND tenant_id = '{own}'");
        let heard = self.hear(&[p("", &sql), b("", "", &[&id.to_string()]), e("", 0), s()])?;
        self.own_rows(&heard, self.own_of(id))
    }

    fn simple_range(&mut self) -> Result<(), String> {
        let from = self.below(19_000) + 1;
        let (own, to) = (self.own, from + 99);
        let heard = self.hear(&[q(&format!(
            "SELECT tenant_id, id, note FROM app.orders WHERE tenant_id = '{own}' AND id BETWEEN {from} AND {to}"
        ))])?;
        self.own_rows(&heard, 50)
    }

    fn range_in_portions(&mut self) -> Result<(), String> {
        let from = self.below(19_000) + 1;
        let sql = "SELECT tenant_id, id FROM app.orders WHERE tenant_id = $1 AND id >= $2 AND id < $3";
        let bounds = [from.to_string(), (from + 60).to_string()];
        let heard = self.hear(&[
            p("", sql),
            b("", "", &[self.own, &bounds[0], &bounds[1]]),
            e("", 7),
            e("", 13),
            e("", 0),
            s(),
        ])?;
        self.own_rows(&heard, 30)
    }

    fn transaction(&mut self, round: u64) -> Result<(), String> {
        let (own, number) = (self.own, self.number);
        let body = format!("side {own} {number} {round}");
        self.ask(&[q("BEGIN")], "C Z(T)")?;
        let insert = "INSERT INTO app.notes (tenant_id, body) VALUES ($1, $2)";
        self.ask(&[p("", insert), b("", "", &[own, &body]), e("", 0), s()], "1 2 C Z(T)")?;
        let heard = self.hear(&[q(&format!(
            "SELECT tenant_id, id FROM app.notes WHERE tenant_id = '{own}' AND body = '{body}'"
        ))])?;
        self.own_rows(&heard, 1)?;
        let heard = self.hear(&[q(&format!(
            "UPDATE app.notes SET body = '{body} changed' WHERE tenant_id = '{own}' AND body = '{body}'"
        ))])?;
        self.commands(&heard, &["UPDATE 1"])?;
        if self.below(3) == 0 {
            return self.ask(&[q("ROLLBACK")], "C Z(I)").map(drop);
        }
        let heard = self.hear(&[q("COMMIT")])?;
        self.commands(&heard, &["COMMIT"])?;
        self.done.committed += 1;
        Ok(())
    }

    /// What reads the other tenant, everybody, or binds the other's name, is refused, and nothing else is.
    fn refused_alone(&mut self) -> Result<(), String> {
        let (other, id) = (self.other, self.any_order());
        match self.below(3) {
            0 => {
                let sql =
                    format!("SELECT tenant_id FROM app.orders WHERE tenant_id = '{other}' AND id = {id}");
                self.ask(&[q(&sql)], "E(42501) Z(I)")?;
            }
            1 => {
                let sql = format!("SELECT tenant_id FROM app.orders WHERE id = {id}");
                self.ask(&[p("", &sql), b("", "", &[]), e("", 0), s()], "E(42501) Z(I)")?;
            }
            _ => {
                self.ask(&[b("", "point", &[other, &id.to_string()]), e("", 0), s()], "E(42501) Z(I)")?;
            }
        }
        self.done.refused += 1;
        Ok(())
    }

    fn refused_in_a_transaction(&mut self, round: u64) -> Result<(), String> {
        let (own, other, number) = (self.own, self.other, self.number);
        self.ask(&[q("BEGIN")], "C Z(T)")?;
        let body = format!("side {own} {number} {round} never");
        self.ask(
            &[q(&format!("INSERT INTO app.notes (tenant_id, body) VALUES ('{own}', '{body}')"))],
            "C Z(T)",
        )?;
        let theft = format!("UPDATE app.notes SET body = 'side {own} theft' WHERE tenant_id = '{other}'");
        self.ask(&[q(&theft)], "E(42501) Z(E)")?;
        let heard = self.hear(&[q("COMMIT")])?;
        self.commands(&heard, &["ROLLBACK"])?;
        self.done.refused += 1;
        Ok(())
    }

    /// Fails unless there are `wanted` rows and each is the session's own.
    fn own_rows(&mut self, heard: &Transcript, wanted: u64) -> Result<(), String> {
        let rows = heard.rows();
        let stranger = rows.iter().find(|row| row.first().and_then(Option::as_deref) != Some(self.own));
        if let Some(stranger) = stranger {
            return Err(format!("{}: {} was shown {stranger:?}", self.number, self.own));
        }
        if !heard.codes().is_empty() || rows.len() as u64 != wanted {
            return Err(format!("{}: {wanted} rows wanted, {} in {heard}", self.number, rows.len()));
        }
        self.done.rows += wanted;
        Ok(())
    }

    fn commands(&self, heard: &Transcript, wanted: &[&str]) -> Result<(), String> {
        if heard.commands() == wanted {
            return Ok(());
        }
        Err(format!("{}: {wanted:?} wanted, {:?} in {heard}", self.number, heard.commands()))
    }

    fn ask(&mut self, messages: &[Front], wanted: &str) -> Result<Transcript, String> {
        let heard = self.hear(messages)?;
        if heard.to_string() == wanted {
            return Ok(heard);
        }
        Err(format!("{}: {wanted} wanted, {heard}: {:?}", self.number, heard.error_field(b'M')))
    }

    fn hear(&mut self, messages: &[Front]) -> Result<Transcript, String> {
        self.raw.ask(messages).map_err(|error| format!("{}: {error}", self.number))
    }

    /// One of the 20,000 orders that belong to either tenant.
    fn any_order(&mut self) -> u64 {
        self.below(20_000) + 1
    }

    /// 1 if the order is the session's own, else 0.
    fn own_of(&self, id: u64) -> u64 {
        u64::from(id % 2 == self.odd)
    }

    /// A number below a bound (xorshift: the same on every run).
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % bound
    }
}
