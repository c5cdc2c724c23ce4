//! One client after the other on one upstream connection.

use std::collections::BTreeMap;
use std::thread;

use pgmoat_tests::front::{copy_data, q};
use pgmoat_tests::{Mode, Raw, front};

use crate::house::{House, ask, backend_pid, random_after_seed, reported, told};
use crate::rows::{Lives, Row, Stays, rows};
use crate::ways::{End, Way, Within, ways};

#[test]
fn the_next_client_sees_nothing_of_the_last_one() {
    let random = random_after_seed();
    for mode in Mode::PROXIED {
        let all: Vec<_> = rows(&random).into_iter().enumerate().collect();
        let leaks: Vec<String> = thread::scope(|scope| {
            let parts: Vec<_> = all
                .chunks(all.len().div_ceil(HOUSES))
                .map(|part| scope.spawn(move || Chain::new(*mode).play(part)))
                .collect();
            parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
        });
        assert!(leaks.is_empty(), "{mode}: {} leaks\n{}", leaks.len(), leaks.join("\n"));
    }
}

/// The clients of one connection.
struct Chain {
    house: House,
    beside: Raw,
    greeting: BTreeMap<String, String>,
    mode: Mode,
}

/// What a client leaves to the next one.
struct Left {
    pid: String,
    reusable: bool,
}

impl Chain {
    fn new(mode: Mode) -> Self {
        let house = House::new(mode, 1);
        let beside = house.beside();
        let greeting = reported(&house.client(&[]));
        Self { house, beside, greeting, mode }
    }

    /// Every row in every way; says what was seen that should not be.
    fn play(mut self, rows: &[(usize, Row)]) -> Vec<String> {
        rows.iter().flat_map(|(number, row)| self.row(*number, row)).collect()
    }

    fn row(&mut self, number: usize, row: &Row) -> Vec<String> {
        let mut leaks = Vec::new();
        let unseen = told(&ask(&mut self.house.client(&[]), &row.look));
        for way in ways(number) {
            let Some(left) = self.leave(row, way, &unseen, &mut leaks) else { continue };
            let mut next = self.house.client(&[]);
            let greeting = reported(&next);
            if greeting != self.greeting {
                leaks.push(format!("{}, {way:?}: greeting {greeting:?}", row.name));
            }
            let pid = backend_pid(&mut next);
            let seen = told(&ask(&mut next, &row.look));
            if seen != unseen {
                leaks.push(format!("{}, {way:?}: {seen}, not {unseen}", row.name));
            }
            // Else there would be nothing to see.
            if left.reusable && pid != left.pid {
                leaks.push(format!("{}, {way:?}: the connection was not used again", row.name));
            }
        }
        leaks
    }

    /// A client comes, makes the state, and leaves.
    fn leave(&mut self, row: &Row, way: Way, unseen: &str, leaks: &mut Vec<String>) -> Option<Left> {
        let script = way.script(row)?;
        let mut raw = self.house.client(row.startup);
        let pid = backend_pid(&mut raw);
        if way.end == End::Unread {
            raw.send(&[script.before, script.set, script.after, vec![q("SELECT pg_sleep(0.01)")]].concat())
                .unwrap();
            return Some(Left { pid, reusable: false });
        }
        ask(&mut raw, &script.before);
        if way.within == Within::OpenBatch {
            raw.send(&script.set).unwrap();
            // Until the statement has run: the last answer before the silence is its own.
            while raw.next_message().is_ok_and(|message| {
                message.is_some_and(|message| !matches!(message.tag, b'C' | b'E' | b'I'))
            }) {}
        } else {
            ask(&mut raw, &script.set);
        }
        if way.shows(row, self.mode) {
            let seen = told(&ask(&mut raw, &row.look));
            if seen == unseen {
                leaks.push(format!("{}, {way:?}: it was never there: {seen}", row.name));
            }
        }
        // An answer that ends the session is as good.
        ask(&mut raw, &script.after);
        self.end(raw, way, &pid);
        let reusable = way.leaves_in_peace()
            && matches!(row.stays, Stays::Pooled | Stays::Forgotten)
            && row.lives != Lives::Never;
        Some(Left { pid, reusable: reusable && self.mode != Mode::Direct })
    }

    fn end(&mut self, mut raw: Raw, way: Way, pid: &str) {
        // What the server has ended already takes no more.
        match way.end {
            End::Terminate => drop(raw.send(&[front::Front::Terminate])),
            End::Gone | End::Unread => {}
            End::Torn => drop(raw.send_bytes(b"Q\0\0\0\x20SELECT")),
            End::Asleep => drop(raw.send(&[q("SELECT pg_sleep(30)")])),
            End::Cancelled => {
                let _ = raw.send(&[q("SELECT pg_sleep(30)")]);
                self.cancel(&mut raw);
                drop(raw.send(&[front::Front::Terminate]));
            }
            End::Killed => {
                self.beside.query(&format!("SELECT pg_terminate_backend({pid}, 20000)")).unwrap();
                // Only whose connection it is hears of it.
                if self.mode == Mode::Session {
                    while raw.read(1).is_ok_and(|heard| !heard.closed) {}
                }
            }
            End::Copying => {
                let _ = raw
                    .send(&[q("COPY app.notes (tenant_id, body) FROM STDIN"), copy_data("acme\tleft\nacme")]);
                // Behind an error in a batch it is never heard of.
                if way.within != Within::OpenBatch {
                    let _ = raw.next_message();
                }
            }
        }
    }

    /// Until the statement has ended: a request that comes before it begins is in vain.
    fn cancel(&self, raw: &mut Raw) {
        let key = raw.cancel_key();
        thread::scope(|scope| {
            let answer = scope.spawn(|| raw.read(1));
            while !answer.is_finished() {
                let mut request = Raw::open(self.house.proxied.proxy.port()).unwrap();
                request.send(&[front::cancel_request(&key)]).unwrap();
                let _ = request.next_message();
                thread::sleep(BETWEEN_CANCELS);
            }
            drop(answer.join().unwrap());
        });
    }
}

/// Two are as many as two cores can serve.
const HOUSES: usize = 3;

/// Within the limit of the requests that are looked at.
const BETWEEN_CANCELS: std::time::Duration = std::time::Duration::from_millis(25);
