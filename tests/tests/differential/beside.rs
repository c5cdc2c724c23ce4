//! Clients that work beside a script, on the same few connections: with the same names, and with settings of their own.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pgmoat_tests::front::{b, d_statement, e, p, q, s};
use pgmoat_tests::{Front, Proxied, Raw};

/// As long as it lives they work.
#[derive(Debug)]
pub(crate) struct Beside {
    stop: Arc<AtomicBool>,
    complaints: Arc<Mutex<Vec<String>>>,
    clients: Vec<JoinHandle<()>>,
}

impl Beside {
    pub(crate) fn new(proxied: &Proxied, clients: usize) -> Self {
        let (stop, complaints) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<String>>>::default());
        let connected = (0..clients).map(|_| Raw::connect(&proxied.login("ops")).unwrap());
        let clients = connected.enumerate().map(|(number, raw)| {
            let (stop, complaints) = (Arc::clone(&stop), Arc::clone(&complaints));
            thread::spawn(move || {
                if let Err(error) = work(raw, number, &stop) {
                    complaints.lock().unwrap().push(format!("client {number} beside: {error}"));
                }
            })
        });
        let clients = clients.collect();
        Self { stop, complaints, clients }
    }

    /// What was not as it should be for them.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.complaints.lock().unwrap().clone()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients.drain(..) {
            // Its complaint was looked at; a panic is the test's own.
            let _ = client.join();
        }
    }
}

/// One after the other, each in a write of its own, so that others come between.
fn work(mut raw: Raw, number: usize, stop: &AtomicBool) -> io::Result<()> {
    let zone = ["Asia/Tokyo", "Europe/Berlin", "America/Lima", "Australia/Perth"][number % 4];
    raw.wait_at_most(PATIENCE)?;
    ask(&mut raw, &[q(&format!("SET TimeZone = '{zone}'"))], "C S Z(I)", None)
        .or_else(|_| ask(&mut raw, &[q(&format!("SET TimeZone = '{zone}'"))], "C Z(I)", None))?;
    for name in NAMES {
        ask(&mut raw, &[p(name, &format!("SELECT {number}, $1::text")), s()], "1 Z(I)", None)?;
    }
    while !stop.load(Ordering::Relaxed) {
        ask(&mut raw, &[q("SHOW TimeZone")], "T D C Z(I)", Some(zone))?;
        for name in NAMES {
            let number = number.to_string();
            ask(&mut raw, &[b("", name, &["x"]), e("", 0), s()], "2 D C Z(I)", Some(&number))?;
            ask(&mut raw, &[d_statement(name), s()], "t T Z(I)", None)?;
        }
        ask(&mut raw, &[p("", "SELECT $1::int"), s()], "1 Z(I)", None)?;
        ask(&mut raw, &[b("", "", &["7"]), e("", 0), s()], "2 D C Z(I)", Some("7"))?;
        ask(&mut raw, &[q("BEGIN"), q("SET LOCAL TimeZone = 'UTC'")], "C Z(T)", None)?;
        raw.read(1)?;
        ask(&mut raw, &[q("SELECT 1/0")], "E(22012) S Z(E)", None)?;
        ask(&mut raw, &[q("ROLLBACK")], "C Z(I)", None)?;
        thread::sleep(PAUSE);
    }
    raw.send(&[Front::Terminate])
}

/// Sends, and reads up to the first ReadyForQuery.
fn ask(raw: &mut Raw, messages: &[Front], wanted: &str, first: Option<&str>) -> io::Result<()> {
    let heard = raw.ask(messages)?;
    let value = heard.rows().concat().into_iter().flatten().next();
    match heard.to_string() == wanted && (first.is_none() || value.as_deref() == first) {
        true => Ok(()),
        false => {
            let said = heard.error_field(b'M');
            let told = format!("{messages:?}: {heard} {value:?} {said:?}, not {wanted} {first:?}");
            Err(io::Error::other(told))
        }
    }
}

/// As the scripts' own.
const NAMES: [&str; 3] = ["a", "b", "s0"];

/// They wait for a connection as long as a script keeps one.
const PATIENCE: Duration = Duration::from_secs(60);

/// So that the machine is the script's for the most part.
const PAUSE: Duration = Duration::from_millis(3);
