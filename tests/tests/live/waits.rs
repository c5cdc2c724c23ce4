//! How long a session may stand still: the proxy's own timeouts, each with PostgreSQL's SQLSTATE.

use std::fs;

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::front::{Front, b, copy_data, e, h, p, q, s};
use pgmoat_tests::{Proxied, Raw, Stack};

use crate::locked::{Locked, READ};
use crate::log_file::of_kind;
use crate::patience::eventually;

/// Known fault H4 among them: a batch without its Sync is active to the server, whose own timeout does not see it.
#[test]
fn what_is_left_open_is_ended_and_rolled_back() {
    let proxied = limited("idle_in_transaction_timeout_ms: 700");
    let run = |sql: &str| [p("", sql), b("", "", &[]), e("", 0)];
    let open: [(Vec<Front>, &str); 5] = [
        (vec![q("BEGIN"), q(UPDATE)], "C Z(T) C Z(T)"),
        (vec![q("BEGIN"), q(UPDATE), q("SELECT 1/0")], "C Z(T) C Z(T) E(22012) Z(E)"),
        ([&run("BEGIN")[..], &run(UPDATE), &[h()]].concat(), "1 2 C 1 2 C"),
        // Nobody has asked for the replies: the proxy does, to know whether something runs.
        ([&run("BEGIN")[..], &run(UPDATE)].concat(), "1 2 C 1 2 C"),
        (vec![q("BEGIN"), q(UPDATE), p("", "SELECT 1")], "C Z(T) C Z(T) 1"),
    ];
    for (messages, heard) in open {
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        raw.send(&messages).unwrap();
        raw.expect(&format!("{heard} E(25P03,FATAL) closed")).unwrap();
        // The same row: its lock is gone.
        let mut next = Raw::connect(&proxied.login("acme_app")).unwrap();
        next.send(&[q(UPDATE)]).unwrap();
        next.expect("C Z(I)").unwrap();
    }
    let logouts = of_kind(&proxied.proxy.audit_path(), "logout");
    assert_eq!(logouts.iter().filter(|line| line["reason"] == "idle_in_transaction_timeout").count(), 5);
}

/// What is no whole message, or asks for nothing, does not hold it off.
#[test]
fn a_trickle_of_bytes_keeps_no_transaction_open() {
    let proxied = limited("idle_in_transaction_timeout_ms: 900");
    let mut unfinished = Vec::new();
    q("SELECT 1").encode(&mut unfinished).unwrap();
    let stray = [(copy_data("stray"), 1), (h(), 1), (Front::Bytes(unfinished), 0)];
    for (message, whole) in stray {
        let mut bytes = Vec::new();
        message.encode(&mut bytes).unwrap();
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        raw.send(&[q("BEGIN"), q(UPDATE)]).unwrap();
        raw.expect("C Z(T) C Z(T)").unwrap();
        let mut socket = raw.tcp().unwrap().try_clone().unwrap();
        // Byte by byte up to the last but one, or again and again; the socket is closed before that has an end.
        let pieces: Vec<&[u8]> = match whole {
            0 => bytes[..bytes.len() - 1].chunks(1).collect(),
            _ => std::iter::repeat_n(&bytes[..], 200).collect(),
        };
        let trickle = std::thread::spawn({
            let pieces: Vec<Vec<u8>> = pieces.into_iter().map(<[u8]>::to_vec).collect();
            move || {
                for piece in pieces {
                    if std::io::Write::write_all(&mut socket, &piece).is_err() {
                        return;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(150));
                }
            }
        });
        raw.expect("E(25P03,FATAL) closed").unwrap();
        trickle.join().unwrap();
    }
}

#[test]
fn a_copy_without_its_end_is_ended() {
    let may = "    explain: analyze\n    unrestricted: true\n";
    let policy = POLICY_YAML.replacen("    explain: analyze\n", may, 1);
    assert_ne!(policy, POLICY_YAML);
    let proxied = Stack::get()
        .proxy_with(|config| {
            config.policy = policy;
            config.extra = "limits: { idle_in_transaction_timeout_ms: 700 }\n".into();
        })
        .unwrap();
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    raw.send(&[q("COPY app.notes (tenant_id, body) FROM STDIN"), copy_data("acme\tone\n")]).unwrap();
    raw.expect("G E(25P03,FATAL) closed").unwrap();
    let sql = "SELECT count(*) FROM app.notes WHERE body = 'one'";
    assert_eq!(Stack::get().cluster().psql(&proxied.database, sql).unwrap().trim(), "0");
}

#[test]
fn what_runs_and_who_rests_are_left_alone() {
    let proxied = limited("idle_in_transaction_timeout_ms: 300");
    let locked = Locked::notes(&proxied.database);
    let mut idle = Raw::connect(&proxied.login("acme_app")).unwrap();
    let mut busy = Raw::connect(&proxied.login("acme_app")).unwrap();
    busy.send(&[q("BEGIN"), q(READ)]).unwrap();
    let mut batch = Raw::connect(&proxied.login("acme_app")).unwrap();
    batch.send(&[p("", READ), b("", "", &[]), e("", 0)]).unwrap();
    locked.until_waiting(2);
    // Longer than the limit.
    let mut other = Raw::connect(&proxied.login("acme_app")).unwrap();
    other.send(&[q("BEGIN")]).unwrap();
    other.expect("C Z(T) E(25P03,FATAL) closed").unwrap();
    assert_eq!(locked.waiting(), 2);
    locked.release();
    busy.expect("C Z(T) T D C Z(T)").unwrap();
    batch.send(&[s()]).unwrap();
    batch.expect("1 2 D C Z(I)").unwrap();
    idle.send(&[q("SELECT 1")]).unwrap();
    idle.expect("T D C Z(I)").unwrap();
}

#[test]
fn who_does_nothing_is_ended_where_that_is_asked_for() {
    let proxied = limited("idle_session_timeout_ms: 500");
    let mut silent = Raw::connect(&proxied.login("acme_app")).unwrap();
    let mut rested = Raw::connect(&proxied.login("acme_app")).unwrap();
    let mut open = Raw::connect(&proxied.login("acme_app")).unwrap();
    open.send(&[q("BEGIN")]).unwrap();
    open.expect("C Z(T)").unwrap();
    rested.send(&[q("SELECT 1")]).unwrap();
    rested.expect("T D C Z(I) E(57P05,FATAL) closed").unwrap();
    silent.expect("E(57P05,FATAL) closed").unwrap();
    open.send(&[q("COMMIT")]).unwrap();
    open.expect("C Z(I) E(57P05,FATAL) closed").unwrap();
}

/// Known fault F6: a send that stalls.
#[test]
fn who_does_not_read_is_ended_and_what_it_asked_for_too() {
    let proxied = limited("client_write_timeout_ms: 700");
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q("SELECT repeat('x', 1000) FROM generate_series(1, 300000)")]).unwrap();
    eventually("the session is ended", || {
        let logouts = of_kind(&proxied.proxy.audit_path(), "logout");
        logouts.iter().any(|line| line["reason"] == "client_write_timeout")
    });
    eventually("its statement is ended", || running(&proxied) == 0);
    // One that reads slowly goes on.
    let mut slow = Raw::connect(&proxied.login("acme_app")).unwrap();
    slow.send(&[q("SELECT n FROM generate_series(1, 2000) n")]).unwrap();
    assert_eq!(slow.read(1).unwrap().rows().len(), 2_000);
}

#[test]
fn a_statement_of_any_role_has_its_time() {
    let proxied = limited("statement_timeout_ms: 700");
    let locked = Locked::notes(&proxied.database);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(READ)]).unwrap();
    raw.expect("E(57014) Z(I)").unwrap();
    locked.release();
    raw.send(&[q(READ)]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
}

/// As the system shows it: the timer of an idle connection is the keepalive's (proc(5), tcp: `tr` 2).
#[test]
fn the_system_asks_after_silent_sides() {
    let proxied = limited("tcp_keepalive_ms: 30000");
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q("SELECT 1")]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    let (client, server) = (proxied.proxy.port(), Stack::get().cluster().port());
    eventually("both sides have a keepalive timer", || {
        let table = fs::read_to_string("/proc/net/tcp").unwrap();
        let timers = |at: usize, port: u16| {
            let end = format!(":{port:04X}");
            let fields = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            let of_port = fields.filter(|all| all.get(3) == Some(&"01") && all[at].ends_with(&end));
            of_port.map(|all| all[5].starts_with("02")).collect::<Vec<_>>()
        };
        // Local address: the proxy's end of the client's connection. Remote: its end of the server's.
        let all = |timers: Vec<bool>| !timers.is_empty() && timers.iter().all(|keeps| *keeps);
        all(timers(1, client)) && timers(2, server).contains(&true)
    });
}

fn limited(limits: &str) -> Proxied {
    Stack::get().proxy_with(|config| config.extra = format!("limits: {{ {limits} }}\n")).unwrap()
}

/// How many statements run for the proxy's clients.
fn running(proxied: &Proxied) -> usize {
    let sql = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' AND state = 'active' AND query LIKE '%repeat%' \
         AND usename = 'pgmoat_service'",
        proxied.database
    );
    Stack::get().cluster().psql("postgres", &sql).unwrap().trim().parse().unwrap()
}

const UPDATE: &str = "UPDATE app.notes SET body = 'open' WHERE tenant_id = 'acme' AND id = 3";
