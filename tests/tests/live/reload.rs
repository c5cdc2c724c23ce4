//! SIGHUP and changed files: whole or not at all, without dropping anybody who may stay (wire 7).

use std::fs;

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::front::{b, e, h, p, q, s};
use pgmoat_tests::{Login, Raw, Stack};

use crate::locked::{Locked, READ};
use crate::log_file::{assert_whole, of_kind};
use crate::patience::eventually;
use crate::reloaded::{edit, edit_user, outcomes, policy, proxied, reload};

/// Known fault K17: what was prepared under one policy is judged anew under the next, at Bind and at Execute.
#[test]
fn what_was_prepared_is_judged_by_the_policy_in_force() {
    let mut proxied = proxied("");
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[p("n", ORDERS), b("", "n", &[]), e("", 0), s()]).unwrap();
    raw.expect("1 2 D D D C Z(I)").unwrap();
    raw.send(&[q("BEGIN"), b("portal", "n", &[]), e("portal", 1), s()]).unwrap();
    raw.expect("C Z(T) 2 D s Z(T)").unwrap();

    edit(&policy(&proxied), "version: 1\n", "version: 2\n");
    edit(&policy(&proxied), APP_KINDS, "    statements: [insert, transaction]\n");
    assert!(reload(&mut proxied), "{}", proxied.proxy.log());
    // The portal was bound under the old one.
    raw.send(&[e("portal", 1), s()]).unwrap();
    raw.expect("E(42501) Z(E)").unwrap();
    raw.send(&[q("ROLLBACK"), b("", "n", &[]), e("", 0), s(), q(ORDERS)]).unwrap();
    raw.expect("C Z(I) E(42501) Z(I) E(42501) Z(I)").unwrap();

    fs::write(policy(&proxied), POLICY_YAML.replace("version: 1\n", "version: 3\n")).unwrap();
    assert!(reload(&mut proxied), "{}", proxied.proxy.log());
    raw.send(&[b("", "n", &[]), e("", 0), s()]).unwrap();
    raw.expect("2 D D D C Z(I)").unwrap();
    let decisions = of_kind(&proxied.proxy.audit_path(), "decision");
    let versions: Vec<_> = decisions.iter().map(|line| line["policy"].as_u64().unwrap()).collect();
    assert!(versions.is_sorted() && versions.contains(&2) && versions.last() == Some(&3), "{versions:?}");
    let reloads = of_kind(&proxied.proxy.audit_path(), "reload");
    let told: Vec<_> =
        reloads.iter().map(|line| (line["policy"].as_u64(), line["refused"].is_null())).collect();
    assert_eq!(told, [(Some(2), true), (Some(3), true)]);
    assert_whole(&proxied.proxy.audit_path());
}

#[test]
fn what_cannot_be_taken_changes_nothing() {
    let mut proxied = proxied("");
    let (good, whole) = (fs::read_to_string(proxied.proxy.config_path()).unwrap(), POLICY_YAML);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let config = proxied.proxy.config_path();
    let second = whole.replace("version: 1\n", "version: 2\n");
    let (file, version) = ("policy.yaml", "version");
    for (policy_text, config_text, says) in [
        (second.replace("tenancy:\n", "tenancy: [\n"), good.clone(), file),
        (second.replace("  app:\n", "  app:\n    tenantt: required\n"), good.clone(), "tenantt"),
        (second.replace(APP_KINDS, "    statements: [select, fly]\n"), good.clone(), "fly"),
        // The database has no such table: the policy does not fit its catalog.
        (second.replace("ssn\"", "no_such_column\""), good.clone(), "columns.deny"),
        (whole.replace(APP_KINDS, "    statements: [select]\n"), good.clone(), version),
        (whole.replace("version: 1\n", "version: 0\n"), good.clone(), version),
        (second.replace("[app, public]", "[public, app]"), good.clone(), "search_path"),
        (second.clone(), good.replace("size: 64", "size: 65"), "databases"),
        (second.clone(), good.replace("durability: batched", "durability: os"), "audit"),
        (second.clone(), good.replace("role: ops }", "role: nobody }"), "nobody"),
        (second.clone(), good.replace("listen: ", "listne: "), "listne"),
    ] {
        assert!(policy_text != whole || config_text != good, "{says}");
        fs::write(policy(&proxied), &policy_text).unwrap();
        fs::write(&config, &config_text).unwrap();
        assert!(!reload(&mut proxied), "{says} was taken");
        let reloads = of_kind(&proxied.proxy.audit_path(), "reload");
        let last = reloads.last().unwrap();
        assert!(last["refused"].as_str().unwrap().contains(says), "{last} without {says}");
        assert_eq!(last["policy"], 1, "the version in force");
        assert!(proxied.proxy.log().contains(says));
        raw.send(&[q(ORDERS)]).unwrap();
        raw.expect("T D D D C Z(I)").unwrap();
        Raw::connect(&proxied.login("ops")).unwrap();
    }
    fs::write(policy(&proxied), &second).unwrap();
    fs::write(&config, &good).unwrap();
    assert!(reload(&mut proxied), "what is mended is taken");
    assert_eq!(outcomes(&proxied), (1, 11));
}

#[test]
fn who_is_gone_or_another_ends_at_the_next_statement_and_the_others_stay() {
    let mut proxied = proxied("");
    let locked = Locked::notes(&proxied.database);
    let connect = |user| Raw::connect(&proxied.login(user)).unwrap();
    let mut idle = connect("globex_app");
    let mut open = connect("globex_app");
    open.send(&[q("BEGIN"), q("SELECT 1")]).unwrap();
    open.expect("C Z(T) T D C Z(T)").unwrap();
    let mut batch = connect("globex_app");
    batch.send(&[p("", "SELECT 1"), b("", "", &[]), e("", 0), h()]).unwrap();
    batch.expect("1 2 D C").unwrap();
    let mut busy = connect("globex_app");
    busy.send(&[q(&READ.replace("acme", "globex")), q("SELECT 1")]).unwrap();
    let mut analyst = connect("acme_analyst");
    let mut stays = connect("acme_app");
    stays.send(&[q("BEGIN")]).unwrap();
    stays.expect("C Z(T)").unwrap();
    locked.until_waiting(1);

    let config = proxied.proxy.config_path();
    let text = fs::read_to_string(&config).unwrap();
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("name: globex_app,")).collect();
    fs::write(&config, format!("{}\n", without.join("\n"))).unwrap();
    // Another tenant under the same name is another principal.
    edit(&config, "role: analyst, tenant: acme", "role: analyst, tenant: initech");
    assert!(reload(&mut proxied), "{}", proxied.proxy.log());
    for raw in [&mut idle, &mut open, &mut batch, &mut analyst] {
        raw.expect("E(57P01,FATAL) closed").unwrap();
    }
    assert_eq!(locked.waiting(), 1, "what runs is not cut off");
    locked.release();
    // What was sent before is answered; nothing more is taken.
    let heard = busy.read(9).unwrap().to_string();
    assert!(heard.starts_with("T C Z(I)") || heard.starts_with("T D C Z(I)"), "{heard}");
    assert!(heard.ends_with("E(57P01,FATAL) closed"), "{heard}");
    let refused = Raw::connect(&proxied.login("globex_app")).unwrap_err().to_string();
    assert!(refused.contains("28P01"), "{refused}");
    Raw::connect(&proxied.login("acme_analyst")).unwrap();
    stays.send(&[q(ORDERS), q("COMMIT")]).unwrap();
    stays.expect("T D D D C Z(T) C Z(I)").unwrap();
    eventually("all five are told of in the audit log", || {
        let logouts = of_kind(&proxied.proxy.audit_path(), "logout");
        logouts.iter().filter(|line| line["reason"] == "user_changed").count() == 5
    });
}

#[test]
fn a_new_user_and_a_new_password_are_there_at_once() {
    let mut proxied = proxied("");
    let config = proxied.proxy.config_path();
    edit(
        &config,
        "users:\n",
        &format!("users:\n  - {{ name: newcomer, verifier: \"{VERIFIER}\", role: ops }}\n"),
    );
    let login = Login { user: "newcomer", password: "pencil".into(), ..proxied.login("ops") };
    assert!(Raw::connect(&login).is_err());
    assert!(reload(&mut proxied), "{}", proxied.proxy.log());
    Raw::connect(&login).unwrap();
    edit_user(&proxied, "newcomer", "max_connections: 0");
    assert!(reload(&mut proxied));
    let refused = Raw::connect(&login).unwrap_err().to_string();
    assert!(refused.contains("53300"), "{refused}");
}

/// Without a signal: a file that has changed and rests is read.
#[test]
fn changed_files_are_seen() {
    let watch =
        |config: &mut pgmoat_lab::ProxyConfig| config.extra = "limits: { reload_watch_ms: 50 }\n".into();
    let proxied = Stack::get().proxy_with(watch).unwrap();
    edit(&policy(&proxied), "version: 1\n", "version: 2\n");
    eventually("the policy is in force", || {
        of_kind(&proxied.proxy.audit_path(), "reload").iter().any(|line| line["policy"] == 2)
    });
    fs::remove_file(policy(&proxied)).unwrap();
    eventually("a file that is gone is told", || outcomes(&proxied).1 > 0);
    Raw::connect(&proxied.login("acme_app")).unwrap();
}

const ORDERS: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 3";
const APP_KINDS: &str = "    statements: [select, insert, update, delete, merge, transaction, set, show, prepare, cursor, copy_to]\n";
/// Of "pencil", with the salt of RFC 7677's example.
const VERIFIER: &str = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
