//! Messages are told apart by their lengths, never by what their bytes look like; and nothing is told of what is usual.

use pgmoat_tests::front::{e, p, q, s};
use pgmoat_tests::{Front, Mode, Proxied, Raw, Stack};

use crate::log_file::of_kind;
use crate::patience::eventually;

/// Known fault H17: a row that ends in the bytes of a ReadyForQuery, at every place around the end of a server's buffer. A
/// connection that was taken for free would be another client's in the middle of the answer.
#[test]
fn a_row_that_looks_like_a_ready_is_a_row() {
    let proxied = proxied(Mode::Transaction);
    let (mut raw, mut other) = (connect(&proxied), connect(&proxied));
    for length in 8150..8200 {
        let sql = format!("SELECT decode(repeat('00', {length}), 'hex') || '\\x5a0000000549'::bytea");
        let bind = Front::Bind(String::new(), String::new(), Vec::new(), Vec::new(), vec![1]);
        raw.send(&[p("", &sql), bind, e("", 0), s()]).unwrap();
        other.send(&[q("SELECT 'mine'")]).unwrap();
        let heard = raw.expect("1 2 D C Z(I)").unwrap();
        let row = heard.messages.iter().find(|message| message.tag == b'D').unwrap();
        assert!(row.body.ends_with(b"Z\0\0\0\x05I") && row.body.len() > length, "{length}");
        other.expect("T D C Z(I)").unwrap();
    }
}

/// Known fault H15: clients that come and go, politely or not, are no news.
#[test]
fn clients_that_come_and_go_are_not_warned_of() {
    for mode in [Mode::Session, Mode::Transaction] {
        let proxied = proxied(mode);
        let mut polite = connect(&proxied);
        polite.query("SELECT 1").unwrap();
        polite.send(&[Front::Terminate]).unwrap();
        polite.expect("closed").unwrap();
        let mut idle = connect(&proxied);
        idle.query("SELECT 1").unwrap();
        drop(idle);
        drop(Raw::open(proxied.proxy.port()).unwrap());
        let logouts = || of_kind(&proxied.proxy.audit_path(), "logout").len();
        eventually("both have left", || logouts() == 2);
        let log = proxied.proxy.log();
        let loud: Vec<&str> =
            log.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).collect();
        // What the lab's policy and catalog are warned of at the start is another matter.
        let of_clients =
            |line: &&&str| line.contains("client") || line.contains("session") || line.contains("connection");
        assert_eq!(loud.iter().filter(of_clients).count(), 0, "{mode}: {loud:#?}");
    }
}

fn proxied(mode: Mode) -> Proxied {
    Stack::get().proxy_with(|config| config.databases[0].pool = mode.pool(1)).unwrap()
}

fn connect(proxied: &Proxied) -> Raw {
    Raw::connect(&proxied.login("acme_app")).unwrap()
}
