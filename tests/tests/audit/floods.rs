//! Who has no password may fail as often as it likes: that fills no disk, and none of it is invisible.

use std::path::Path;

use pgmoat_lab::ProxyConfig;
use pgmoat_tests::front::startup;
use pgmoat_tests::{Login, Proxied, Raw, Stack};

use crate::faults::Faults;
use crate::log_file::{assert_whole, of_kind};
use crate::patience::eventually;
use crate::proxy::{end, told};

#[test]
fn failed_logins_beyond_the_limit_share_a_line_that_has_their_count() {
    let mut proxied = Stack::get().proxy_with(few_lines).unwrap();
    let wrong = Login { password: "wrong".into(), ..proxied.login("acme_app") };
    for _ in 0..3 {
        Raw::connect(&wrong).unwrap_err();
    }
    flood(&proxied, 60);
    let log = proxied.proxy.audit_path();
    eventually("all are counted", || counted(&log) == 63);
    let failed = of_kind(&log, "login_failed");
    let shared: Vec<_> = failed.iter().filter(|line| line["count"] != 1).collect();
    assert!(!shared.is_empty() && failed.len() < 63, "{failed:#?}");
    for line in shared {
        assert_eq!((&line["session"], line["client"].as_str()), (&().into(), Some("127.0.0.1")), "{line}");
    }
    assert!(told(&proxied, "too many in a second for a line each") >= 1, "{}", proxied.proxy.log());
    assert!(told(&proxied, "login refused") < 63, "nor do they fill pgmoat's own log");

    // What is still owed at the end is written before it.
    flood(&proxied, 40);
    end(&mut proxied);
    assert_eq!(counted(&log), 103);
}

/// A failure whose line the disk does not take is entered with the next ones.
#[test]
fn failed_logins_on_a_full_disk_are_counted_when_there_is_room() {
    let faults = Faults::none();
    let mut proxied = faults.proxy(few_lines);
    faults.are("write errno 28");
    flood(&proxied, 10);
    let log = proxied.proxy.audit_path();
    assert_eq!(counted(&log), 0);
    faults.are_over();
    eventually("all are counted", || counted(&log) == 10);
    assert_whole(&log);
    end(&mut proxied);
}

/// Who is turned away for want of room is entered too.
#[test]
fn a_login_that_there_was_no_room_for_is_entered() {
    let mut proxied =
        Stack::get().proxy_with(|config| config.extra = "limits: { max_clients: 1 }\n".into()).unwrap();
    let raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let refused = Raw::connect(&proxied.login("globex_app")).unwrap_err().to_string();
    assert!(refused.starts_with("E(53300,FATAL)"), "{refused}");
    let failed = of_kind(&proxied.proxy.audit_path(), "login_failed");
    assert_eq!(failed.len(), 1);
    assert_eq!((&failed[0]["user"], &failed[0]["code"]), (&"globex_app".into(), &"53300".into()));
    drop(raw);
    end(&mut proxied);
}

fn few_lines(config: &mut ProxyConfig) {
    config.extra = "limits: { failed_logins_per_second_per_address: 4 }\n".into();
}

/// Logins that fail at once.
fn flood(proxied: &Proxied, count: usize) {
    for _ in 0..count {
        let mut raw = Raw::open(proxied.proxy.port()).unwrap();
        raw.send(&[startup(0x0003_0000, &[("user", "acme_app"), ("replication", "true")])]).unwrap();
        raw.expect("E(0A000,FATAL) closed").unwrap();
    }
}

/// How many failed logins the log knows of.
fn counted(log: &Path) -> u64 {
    of_kind(log, "login_failed").iter().map(|line| line["count"].as_u64().unwrap()).sum()
}
