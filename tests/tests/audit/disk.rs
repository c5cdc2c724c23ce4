//! The disk of the audit log takes nothing: everything is refused, at once and by name, and everything is let through
//! again by itself. The chain is whole afterwards, and has no line of what was refused.

use std::collections::BTreeSet;

use pgmoat_lab::ProxyConfig;
use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Proxied, Raw};

use crate::faults::Faults;
use crate::locked::{self, Locked};
use crate::log_file::of_kind;
use crate::patience::eventually;
use crate::proxy::{READ, bodies, end, insert, told};

/// A file system that became read-only, a full one, a used-up quota, a dead one; a write that cannot be taken back too.
#[test]
fn whatever_a_write_says_everything_is_refused_until_it_succeeds() {
    for durability in ["os", "batched", "fsync"] {
        let faults = Faults::none();
        let mut proxied = faults.proxy(|config: &mut ProxyConfig| {
            config.audit = format!("path: audit.jsonl, durability: {durability}");
        });
        for (round, fault) in [
            "write errno 30",
            "write errno 28",
            "write errno 122",
            "write errno 5",
            "write errno 28\nftruncate errno 5",
        ]
        .into_iter()
        .enumerate()
        {
            fails_and_recovers(&proxied, &faults, fault, round);
        }
        end(&mut proxied);
        let entered: BTreeSet<String> = of_kind(&proxied.proxy.audit_path(), "decision")
            .iter()
            .filter_map(|line| Some(line["statement"].as_str()?.to_owned()))
            .collect();
        for body in bodies(&proxied, "disk %") {
            assert!(entered.contains(&insert(&body)), "{body} ran and was not entered");
        }
        assert!(!entered.iter().any(|text| text.contains("refused")));
    }
}

fn fails_and_recovers(proxied: &Proxied, faults: &Faults, fault: &str, round: usize) {
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let mut open = Raw::connect(&proxied.login("acme_app")).unwrap();
    open.send(&[q("BEGIN"), q(&insert(&format!("disk {round} early")))]).unwrap();
    open.expect("C Z(T) C Z(T)").unwrap();
    raw.send(&[p("ready", &insert(&format!("disk {round} prepared"))), s()]).unwrap();
    raw.expect("1 Z(I)").unwrap();

    faults.are(fault);
    let refused = insert(&format!("disk {round} refused"));
    for _ in 0..2 {
        let heard = raw.query(&refused).unwrap();
        assert_eq!(heard.to_string(), "E(58030) Z(I)", "{fault}");
        // Whose fault it is, not which disk: that is the operator's business.
        assert!(!heard.error_field(b'M').unwrap().contains("jsonl"));
        raw.send(&[b("", "ready", &[]), e("", 0), s()]).unwrap();
        raw.expect("E(58030) Z(I)").unwrap();
        raw.send(&[q("SELECT id FROM app.orders")]).unwrap();
        raw.expect("E(58030) Z(I)").unwrap();
    }
    open.send(&[q(&refused)]).unwrap();
    open.expect("E(58030) Z(E)").unwrap();
    let login = Raw::connect(&proxied.login("acme_app")).unwrap_err().to_string();
    assert!(login.contains("FATAL"), "{login}");
    assert_eq!(
        told(proxied, "every statement and login is refused"),
        round + 1,
        "once a change: {}",
        proxied.proxy.log()
    );

    faults.are_over();
    eventually("statements are let through again", || raw.query(READ).unwrap().codes().is_empty());
    open.send(&[q("COMMIT"), q(&insert(&format!("disk {round} late")))]).unwrap();
    open.expect("C Z(I) C Z(I)").unwrap();
    eventually("it is told", || told(proxied, "takes entries again") == round + 1);
    assert_eq!(bodies(proxied, &format!("disk {round} %")), [format!("disk {round} late")]);
}

/// Completions are nobody's wait: they are kept while nothing can be written, and written when it can.
#[test]
fn how_a_statement_ended_is_entered_after_the_disk_has_recovered() {
    let faults = Faults::none();
    let mut proxied = faults.proxy(|_| {});
    let locked = Locked::notes(&proxied.database);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(locked::READ)]).unwrap();
    locked.until_waiting(1);
    faults.are("write errno 28");
    locked.release();
    raw.expect("T D C Z(I)").unwrap();
    raw.send(&[q(READ)]).unwrap();
    raw.expect("E(58030) Z(I)").unwrap();
    drop(raw);
    faults.are_over();
    let log = proxied.proxy.audit_path();
    eventually("the logout is written", || of_kind(&log, "logout").len() == 1);
    end(&mut proxied);
    let (decided, done) = (of_kind(&log, "decision"), of_kind(&log, "completion"));
    assert_eq!((decided.len(), done.len()), (1, 1));
    assert_eq!((&done[0]["of"], &done[0]["executed"]), (&decided[0]["seq"], &true.into()));
}

/// A disk that does not answer: statements wait for it, and none runs before its entry is written.
#[test]
fn a_slow_disk_is_waited_for() {
    let faults = Faults::none();
    let mut proxied = faults.proxy(|_| {});
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    // Its login stands before all that comes.
    faults.are("write block");
    raw.send(&[q(&insert("disk slow"))]).unwrap();
    eventually("the write waits", || faults.blocked() > 0);
    assert_eq!(bodies(&proxied, "disk slow"), Vec::<String>::new());
    faults.are_over();
    raw.expect("C Z(I)").unwrap();
    assert_eq!(bodies(&proxied, "disk slow"), ["disk slow"]);
    end(&mut proxied);
}
