//! The server dies at any message, and the client goes on with its script: it hears the beginning of what it would have
//! heard, then of the death; and from there on each of its questions is answered, or its session ends. Never silence.
//! Known faults A14, H5.
//!
//! Where connections are shared a session outlives one that it is not on. So the rest of the script may be answered as if
//! nothing had happened, or with errors: PostgreSQL's rules hold for those too, and a Query or a Sync ends with
//! ReadyForQuery.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use pgmoat_lab::{Cluster, Options, Proxy, ProxyConfig, SUPERUSER};
use pgmoat_tests::front::{c_statement, q, s};
use pgmoat_tests::{Front, Login, Message, Mode, Raw, Transcript, length, pgmoat_binary};

use crate::afterwards::{eventually, one_connection, text};
use crate::killed_server::kill9;
use crate::scripts::{Moment, moments, scripts};

/// How a connection's other end may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    /// By an administrator's order: the backend says FATAL.
    Ordered,
    /// The backend is killed; the server ends all others, and recovers.
    Crash,
    /// The whole server is killed, and comes back when the script is over.
    Server,
}

#[test]
fn a_client_whose_backend_is_ended_is_answered_or_let_go() {
    let mut house = Server::start();
    house.each_is_answered(Death::Ordered, length(1, 3), 23);
}

#[test]
fn a_client_whose_server_crashes_is_answered_or_let_go() {
    let mut house = Server::start();
    house.each_is_answered(Death::Crash, 1, 97);
}

#[test]
fn a_client_whose_server_is_gone_is_answered_or_let_go() {
    let mut house = Server::start();
    house.each_is_answered(Death::Server, 1, 151);
}

/// A server of the test's own: others would not survive.
struct Server {
    cluster: Cluster,
    database: String,
}

impl Server {
    fn start() -> Self {
        let cluster = Cluster::start(Options::default()).unwrap();
        let database = cluster.fresh_lab_database().unwrap();
        cluster.psql(&database, "GRANT CREATE ON SCHEMA public TO pgmoat_service").unwrap();
        Self { cluster, database }
    }

    fn each_is_answered(&mut self, death: Death, rounds: usize, stride: usize) {
        for mode in Mode::PROXIED {
            let mut config = ProxyConfig::lab(&self.cluster, &self.database);
            one_connection(&mut config, *mode);
            let proxy = Proxy::start(&pgmoat_binary().unwrap(), &config).unwrap();
            // Once a script: where nobody dies its answer is always the same.
            let whole: Vec<_> = (0..scripts().len()).map(|script| self.undisturbed(&proxy, script)).collect();
            for (number, moment) in
                moments(stride).into_iter().cycle().take(rounds * moments(stride).len()).enumerate()
            {
                let of = format!("{mode} {death:?} {moment:?}, number {number}");
                let heard = self.dies_within(&proxy, death, moment, number);
                assert_answered(&heard, &whole[moment.script], &of);
            }
            assert!(!proxy.log().contains("panicked"), "{}", proxy.log());
        }
    }

    /// What a script hears, with the end of all that it asks.
    fn undisturbed(&self, proxy: &Proxy, script: usize) -> Transcript {
        let mut raw = client(proxy);
        raw.send(&scripts()[script]).unwrap();
        raw.send(&last_words()).unwrap();
        to_the_end(&mut raw).unwrap()
    }

    /// What a client hears whose server dies within its script. The number says when: before the client has heard
    /// anything or not, and before it says the rest or not.
    fn dies_within(&mut self, proxy: &Proxy, death: Death, moment: Moment, number: usize) -> Transcript {
        let mut raw = client(proxy);
        raw.query("SELECT 1").unwrap();
        let (said, mut rest) = said_and_rest(moment);
        for message in last_words() {
            message.encode(&mut rest).unwrap();
        }
        raw.send_bytes(&said).unwrap();
        if number.is_multiple_of(2) {
            sleep(A_MOMENT);
        }
        self.kill(death);
        if number.is_multiple_of(3) {
            sleep(A_MOMENT);
        }
        // A session that has ended takes no more.
        let _ = raw.send_bytes(&rest);
        let heard = to_the_end(&mut raw);
        drop(raw);
        if death == Death::Server {
            self.cluster.stop();
            eventually("the server is back", || self.cluster.start_again().is_ok(), || format!("{moment:?}"));
        }
        eventually("the next is served", || answers(proxy), || proxy.log());
        heard.unwrap_or_else(|silence| {
            panic!("{death:?} {moment:?}, number {number}: {silence}\n{}", proxy.log())
        })
    }

    fn kill(&self, death: Death) {
        match death {
            Death::Ordered => {
                drop(self.cluster.psql(&self.database, &format!("SELECT pg_terminate_backend(pid) {THEIRS}")))
            }
            Death::Crash => {
                let mut beside = Raw::connect(&self.superuser()).unwrap();
                kill9(&beside.query(&format!("SELECT pid {THEIRS}")).unwrap());
                // It is ended by the server, which from then on serves nobody until it has recovered.
                let mut ended = || beside.query("SELECT 1").map_or(true, |heard| heard.closed);
                eventually("the server has noticed", &mut ended, String::new);
            }
            Death::Server => {
                let pid = fs::read_to_string(self.cluster.folder().join("data/postmaster.pid")).unwrap();
                let killed = Command::new("kill").args(["-9", pid.lines().next().unwrap()]).status().unwrap();
                assert!(killed.success());
            }
        }
    }

    fn superuser(&self) -> Login<'_> {
        let password = self.cluster.password(SUPERUSER).to_owned();
        Login { port: self.cluster.port(), user: SUPERUSER, password, database: &self.database, more: &[] }
    }
}

fn client(proxy: &Proxy) -> Raw {
    Raw::connect(&ops(proxy)).unwrap()
}

fn ops(proxy: &Proxy) -> Login<'static> {
    let password = pgmoat_lab::User::named("ops").unwrap().password();
    Login { port: proxy.port(), user: "ops", password, database: "lab", more: &[] }
}

fn answers(proxy: &Proxy) -> bool {
    let Ok(mut raw) = Raw::connect(&ops(proxy)) else { return false };
    raw.query("SELECT 1").is_ok_and(|heard| heard.to_string() == "T D C Z(I)")
}

/// What is said before the death, and after it.
fn said_and_rest(moment: Moment) -> (Vec<u8>, Vec<u8>) {
    let mut all = Vec::new();
    for message in &scripts()[moment.script] {
        message.encode(&mut all).unwrap();
    }
    let said = moment.bytes();
    let rest = all[said.len()..].to_vec();
    (said, rest)
}

/// Whatever is open is ended, and then something asked whose answer is like no other.
fn last_words() -> Vec<Front> {
    let mut words = vec![Front::CopyDone, s(), q("SELECT 'the end'")];
    words.extend((0..LAST).map(|_| c_statement("nobody's")));
    words.push(s());
    words
}

/// All that comes up to the last words' answer, or to the session's end; in error where neither comes.
fn to_the_end(raw: &mut Raw) -> Result<Transcript, String> {
    let mut heard = Transcript::default();
    while !heard.closed && !is_the_last(&heard.messages) {
        match raw.next_message() {
            Ok(Some(message)) => heard.messages.push(message),
            Ok(None) => heard.closed = true,
            // The server dies within a row, too.
            Err(error) if error.to_string().contains("ended within a message") => heard.closed = true,
            Err(error) => return Err(format!("{error} after {heard}")),
        }
    }
    Ok(heard)
}

fn is_the_last(messages: &[Message]) -> bool {
    let tags: Vec<u8> = messages.iter().rev().take(LAST + 1).map(|message| message.tag).collect();
    tags.len() > LAST && tags[0] == b'Z' && tags[1..].iter().all(|tag| *tag == b'3')
}

/// The beginning is as without a death. The first that is not is an error which says of it.
fn assert_answered(heard: &Transcript, whole: &Transcript, of: &str) {
    let same = |(one, other): &(&Message, &Message)| (one.tag, text(one)) == (other.tag, text(other));
    let at = heard.messages.iter().zip(&whole.messages).take_while(same).count();
    let Some(first) = heard.messages.get(at) else { return };
    let told = first.field(b'C').unwrap_or_default();
    assert!(
        DEATHS.contains(&told.as_str()),
        "{of}: message {} is {first} {:?}, not {:?}\n  {heard}\n  {whole}",
        at + 1,
        text(first),
        whole.messages.get(at).map(Message::to_string),
    );
    let fatals = heard.errors().filter(|error| error.field(b'V').as_deref() == Some("FATAL"));
    assert!(fatals.count() <= 1, "{of}: {heard}");
}

/// An administrator's order, a crash, no server, a connection that has ended.
const DEATHS: [&str; 4] = ["57P01", "57P02", "57P03", "08006"];

/// So many CloseCompletes are in no script.
const LAST: usize = 5;

/// In which an answer comes, on a quiet machine.
const A_MOMENT: Duration = Duration::from_millis(8);

const THEIRS: &str = "FROM pg_stat_activity
    WHERE datname = current_database() AND usename = 'pgmoat_service' AND application_name LIKE 'pgmoat/%'";
