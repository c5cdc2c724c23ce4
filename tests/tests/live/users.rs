//! Who may log in: two passwords at once, until when, from where, to what, and how many at one time.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use pgmoat_lab::{User, scram_verifier, users};
use pgmoat_tests::front::{framed, startup};
use pgmoat_tests::{Login, Proxied, Raw, pgmoat_binary};

use crate::log_file::of_kind;
use crate::patience::eventually;
use crate::reloaded::{edit, edit_user, proxied, reload};

/// Known fault I11: a password is changed while clients have the old one.
#[test]
fn the_old_password_and_the_new_one_are_good_while_one_is_changed_for_the_other() {
    let mut proxied = proxied("");
    let old = User::named("acme_app").unwrap().verifier();
    let both = verifiers_beside(&old, "renewed");
    let config = proxied.proxy.config_path();
    edit(
        &config,
        &format!("\"{old}\", role: app, tenant: acme"),
        &format!("{both}, role: app, tenant: acme"),
    );
    assert!(reload(&mut proxied), "{}", proxied.proxy.log());
    let as_password = |password: &str| Login { password: password.into(), ..proxied.login("acme_app") };
    for good in ["acme_app-secret", "renewed"] {
        Raw::connect(&as_password(good)).unwrap();
    }
    for bad in ["renewed-secret", "acme_app", ""] {
        let refused = Raw::connect(&as_password(bad)).unwrap_err().to_string();
        assert!(refused.contains("28P01"), "{bad}: {refused}");
    }
    // A salt of its own cannot be shown beside the first.
    let other = User::named("ops").unwrap().verifier();
    edit(&config, &both, &format!("[\"{old}\", \"{other}\"]"));
    assert!(!reload(&mut proxied));
    assert!(proxied.proxy.log().contains("same salt"), "{}", proxied.proxy.log());
}

/// Known fault I3: a name that does not exist is asked as those are that do, also where their verifiers were made by
/// another program, with other salts than PostgreSQL's.
#[test]
fn a_made_up_user_is_asked_as_a_real_one_is() {
    let mut proxied = proxied("");
    let config = proxied.proxy.config_path();
    for (salt_bytes, iterations) in [(16, 4096), (12, 4096), (40, 5000), (100, 10_000)] {
        let salt = vec![b'x'; salt_bytes];
        let others = users().iter().map(|user| scram_verifier(&user.password(), &salt, iterations));
        let mut text = fs::read_to_string(&config).unwrap();
        for (user, other) in users().iter().zip(others) {
            let from = text.find(&format!("name: {},", user.name)).unwrap();
            let start = from + text[from..].find("SCRAM").unwrap();
            let end = start + text[start..].find('"').unwrap();
            text.replace_range(start..end, &other);
        }
        fs::write(&config, text).unwrap();
        assert!(reload(&mut proxied), "{}", proxied.proxy.log());
        let real = challenge(&proxied, "acme_app");
        assert_eq!(real, (salt_bytes, format!("i={iterations}")));
        assert_eq!(challenge(&proxied, "nobody_here"), real);
    }
    // Where users' verifiers differ in that, it is told.
    let salt = [b'y'; 16];
    let other = scram_verifier("ops-secret", &salt, 10_000);
    let text = fs::read_to_string(&config).unwrap();
    let start = text.rfind("SCRAM").unwrap();
    let end = start + text[start..].find('"').unwrap();
    fs::write(&config, [&text[..start], &other, &text[end..]].concat()).unwrap();
    assert!(reload(&mut proxied), "{}", proxied.proxy.log());
    assert!(proxied.proxy.log().contains("or salt length than the first user's"), "{}", proxied.proxy.log());
}

/// The length of the salt and the iterations that a login as that user is asked with.
fn challenge(proxied: &Proxied, user: &str) -> (usize, String) {
    let mut raw = Raw::open(proxied.proxy.port()).unwrap();
    let said = b"n,,n=,r=rOprNGfwEbeRWgbNEkqO";
    let initial = [&b"SCRAM-SHA-256\0"[..], &28_u32.to_be_bytes(), said].concat();
    raw.send(&[startup(0x0003_0000, &[("user", user), ("database", "lab")]), framed(b'p', &initial)])
        .unwrap();
    raw.next_message().unwrap().unwrap();
    let asked = raw.next_message().unwrap().unwrap();
    let text = String::from_utf8(asked.body[4..].to_vec()).unwrap();
    let fields: Vec<&str> = text.split(',').collect();
    let salt = fields[1].strip_prefix("s=").unwrap_or_else(|| panic!("{text}"));
    let padding = salt.bytes().rev().take_while(|byte| *byte == b'=').count();
    (salt.len() / 4 * 3 - padding, fields[2].to_owned())
}

/// Known fault I3, VALID UNTIL. None of these is told before the password is right: the words are those of a wrong
/// password, and the exchange is gone through to its end.
#[test]
fn too_late_and_from_elsewhere_are_wrong_passwords() {
    for (settings, reason) in [
        ("valid_until: 2020-01-01T00:00:00Z", "password has expired"),
        ("valid_until: \"2020-01-01\"", "password has expired"),
        ("networks: [10.0.0.0/8, \"::1\"]", "address is not allowed"),
        ("networks: []", "address is not allowed"),
        ("networks: [local]", "address is not allowed"),
    ] {
        let mut proxied = proxied("");
        edit_user(&proxied, "acme_app", settings);
        assert!(reload(&mut proxied), "{settings}: {}", proxied.proxy.log());
        let right = Raw::connect(&proxied.login("acme_app")).unwrap_err().to_string();
        let wrong = Login { password: "wrong".into(), ..proxied.login("acme_app") };
        assert_eq!(right, Raw::connect(&wrong).unwrap_err().to_string(), "{settings}");
        assert_eq!(right, "R R E(28P01,FATAL)\n  password authentication failed for user \"acme_app\"");
        let failed = of_kind(&proxied.proxy.audit_path(), "login_failed");
        assert!(failed.iter().all(|line| line["reason"] == reason), "{failed:?}");
        Raw::connect(&proxied.login("globex_app")).unwrap();
    }
}

#[test]
fn in_time_and_from_there_is_let_in() {
    let mut proxied = proxied("");
    edit_user(
        &proxied,
        "acme_app",
        "valid_until: 2999-12-31T23:59:59Z, networks: [\"::1\", 127.0.0.0/8], databases: [lab]",
    );
    assert!(reload(&mut proxied), "{}", proxied.proxy.log());
    Raw::connect(&proxied.login("acme_app")).unwrap();
}

/// A network that a session's address is not in any more ends it; a password that has run out does not.
#[test]
fn sessions_go_on_after_their_passwords_end_and_not_in_a_network_that_is_shut() {
    let mut proxied = proxied("");
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    edit_user(&proxied, "acme_app", "valid_until: 2020-01-01");
    assert!(reload(&mut proxied), "{}", proxied.proxy.log());
    raw.send(&[pgmoat_tests::front::q("SELECT 1")]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    edit(&proxied.proxy.config_path(), "valid_until: 2020-01-01", "networks: [10.0.0.1]");
    assert!(reload(&mut proxied), "{}", proxied.proxy.log());
    raw.expect("E(57P01,FATAL) closed").unwrap();
}

#[test]
fn other_databases_are_refused_after_the_password() {
    let mut proxied = proxied("");
    edit_user(&proxied, "acme_app", "databases: []");
    assert!(reload(&mut proxied), "{}", proxied.proxy.log());
    let refused = Raw::connect(&proxied.login("acme_app")).unwrap_err().to_string();
    assert_eq!(refused, "R R R R E(42501,FATAL)\n  permission denied for database \"lab\"");
    let wrong = Login { password: "wrong".into(), ..proxied.login("acme_app") };
    assert!(Raw::connect(&wrong).unwrap_err().to_string().contains("28P01"));
    edit(&proxied.proxy.config_path(), "databases: []", "databases: [labor]");
    assert!(!reload(&mut proxied), "a database that does not exist is an error");
}

#[test]
fn users_and_tenants_have_so_many_sessions_and_no_more() {
    let mut proxied = proxied("connections_per_tenant: 3");
    edit_user(&proxied, "acme_app", "max_connections: 2");
    assert!(reload(&mut proxied), "{}", proxied.proxy.log());
    let refusal = |user: &str| Raw::connect(&proxied.login(user)).unwrap_err().to_string();
    let first = Raw::connect(&proxied.login("acme_app")).unwrap();
    let _second = Raw::connect(&proxied.login("acme_app")).unwrap();
    assert_eq!(refusal("acme_app"), "R R R R E(53300,FATAL)\n  too many connections for role \"acme_app\"");
    let analyst = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    assert!(refusal("acme_analyst").contains("too many connections for the tenant"), "three of acme");
    Raw::connect(&proxied.login("globex_app")).unwrap();
    drop((first, analyst));
    eventually("the places are free again", || Raw::connect(&proxied.login("acme_analyst")).is_ok());
    eventually("the user's too", || Raw::connect(&proxied.login("acme_app")).is_ok());
}

/// Known fault I2: half-open logins of one address do not take all the room.
#[test]
fn connections_that_do_not_log_in_leave_room_for_others() {
    let proxied = proxied("unauthenticated_per_address: 3");
    let mut silent: Vec<Raw> = (0..3).map(|_| Raw::open(proxied.proxy.port()).unwrap()).collect();
    let refused = Raw::connect(&proxied.login("acme_app")).unwrap_err().to_string();
    assert!(refused.contains("53300"), "{refused}");
    drop(silent.pop());
    eventually("there is room again", || Raw::connect(&proxied.login("acme_app")).is_ok());
    // Who has logged in takes no room.
    let sessions: Vec<Raw> = (0..5)
        .map(|_| {
            let mut raw = None;
            eventually("another one logs in", || {
                raw = Raw::connect(&proxied.login("acme_app")).ok();
                raw.is_some()
            });
            raw.unwrap()
        })
        .collect();
    drop(sessions);
}

#[test]
fn connections_that_do_not_log_in_are_so_many_in_all() {
    let proxied = proxied("unauthenticated: 2");
    let _silent: Vec<Raw> = (0..2).map(|_| Raw::open(proxied.proxy.port()).unwrap()).collect();
    eventually("there is no room", || Raw::connect(&proxied.login("acme_app")).is_err());
}

/// Upstream each session goes by its user's name, whatever the client calls itself.
#[test]
fn upstream_says_whose_session_it_is() {
    let proxied = proxied("");
    let named = Login { more: &[("application_name", "my tool")], ..proxied.login("acme_app") };
    let mut one = Raw::connect(&named).unwrap();
    let mut two = Raw::connect(&proxied.login("ops")).unwrap();
    for raw in [&mut one, &mut two] {
        raw.send(&[pgmoat_tests::front::q("SELECT 1")]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }
    assert_eq!(names(&proxied), "pgmoat/acme_app\npgmoat/ops");
    // What the client itself says holds.
    one.send(&[pgmoat_tests::front::q("SET application_name = 'said'")]).unwrap();
    one.expect("C S Z(I)").unwrap();
    assert_eq!(names(&proxied), "pgmoat/ops\nsaid");
}

fn names(proxied: &Proxied) -> String {
    let sql = format!(
        "SELECT application_name FROM pg_stat_activity WHERE datname = '{}' AND usename = 'pgmoat_service' \
         AND application_name <> '' ORDER BY 1",
        proxied.database
    );
    pgmoat_tests::Stack::get().cluster().psql("postgres", &sql).unwrap().trim().to_owned()
}

/// The list that `pgmoat user add --beside` prints.
fn verifiers_beside(old: &str, password: &str) -> String {
    let mut child = Command::new(pgmoat_binary().unwrap())
        .args(["user", "add", "acme_app", "--role", "app", "--tenant", "acme", "--beside", old])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{password}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let line = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = line.split_once("verifier: ").unwrap();
    rest.split_once(", role:").unwrap().0.to_owned()
}
