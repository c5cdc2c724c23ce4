//! Each way in which a statement can come is judged and entered, with the text that runs. (known faults K1, K2, K3, K6,
//! K8, K10, K12, K13, K15, K17, K18, K19, K20, J5)

use std::fs;

use pgmoat_tests::front::{b, c_statement, copy_data, d_portal, d_statement, e, function_call, p, q, s};
use pgmoat_tests::{Front, Login, Raw, Stack};
use serde_json::Value;

use crate::log_file::of_kind;
use crate::patience::eventually;
use crate::proxy::{READ, bodies, end, insert};

/// (known fault K1) One of the two protocols was not audited at all: here every message that runs or prepares something
/// has its line, whether it may or not.
#[test]
fn every_message_type_that_runs_something_has_its_line() {
    let denied = "SELECT id FROM app.orders";
    let ways: [Way<'_>; 12] = [
        (&[q(READ)], &[("query", "allow")]),
        (&[q(denied)], &[("query", "deny")]),
        (&[p("", READ), b("", "", &[]), e("", 0), s()], &[("parse", "allow"), ("bind", "allow")]),
        (&[p("", denied), s()], &[("parse", "deny")]),
        (&[p("n", READ), d_statement("n"), s(), c_statement("n"), s()], &[("parse", "allow")]),
        (
            &[p("", READ), b("x", "", &[]), d_portal("x"), e("x", 1), e("x", 0), s()],
            &[("parse", "allow"), ("bind", "allow")],
        ),
        (&[q("BEGIN; COMMIT")], &[("query", "allow")]),
        (&[q("PREPARE a AS SELECT id FROM app.orders WHERE tenant_id = 'acme'")], &[("query", "allow")]),
        (&[q("EXECUTE a"), q("DEALLOCATE a")], &[("query", "allow"), ("query", "allow")]),
        (
            &[
                q("BEGIN"),
                q("DECLARE c CURSOR FOR SELECT id FROM app.orders WHERE tenant_id = 'acme'"),
                q("FETCH 1 c"),
                q("END"),
            ],
            &[("query", "allow"), ("query", "allow"), ("query", "allow"), ("query", "allow")],
        ),
        (
            &[q("COPY (SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2) TO STDOUT")],
            &[("query", "allow")],
        ),
        (&[function_call(1)], &[("query", "deny")]),
    ];
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let log = proxied.proxy.audit_path();
    let mut before = 0;
    for (messages, expected) in ways {
        raw.send(messages).unwrap();
        let ready = messages.iter().filter(|message| matches!(tag(message), b'Q' | b'S' | b'F')).count();
        let heard = raw.read(ready).unwrap();
        let entered = of_kind(&log, "decision");
        let seen: Vec<(&str, &str)> = entered[before..]
            .iter()
            .map(|line| (line["phase"].as_str().unwrap(), line["verdict"].as_str().unwrap()))
            .collect();
        assert_eq!(seen, expected, "{heard}");
        before = entered.len();
    }
    let by_protocol = |phase: &str| if phase == "query" { "simple" } else { "extended" };
    for line in of_kind(&log, "decision") {
        assert_eq!(line["protocol"], by_protocol(line["phase"].as_str().unwrap()));
    }
    end(&mut proxied);
}

/// (known fault K2) Bind's first string is the portal, its second the statement: the line has the statement's text, also
/// where a portal and another statement share a name.
#[test]
fn a_bind_is_entered_with_the_text_that_runs() {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let (one, two) = (insert("swapped one"), insert("swapped two"));
    raw.send(&[p("one", &one), p("two", &two), s()]).unwrap();
    raw.expect("1 1 Z(I)").unwrap();
    for _ in 0..6 {
        raw.send(&[b("one", "two", &[]), e("one", 0), s()]).unwrap();
        raw.expect("2 C Z(I)").unwrap();
    }
    end(&mut proxied);
    let log = proxied.proxy.audit_path();
    let binds: Vec<Value> =
        of_kind(&log, "decision").into_iter().filter(|line| line["phase"] == "bind").collect();
    assert_eq!(binds.len(), 6);
    assert!(binds.iter().all(|line| line["statement"] == two.as_str()), "{binds:?}");
    assert_eq!(bodies(&proxied, "swapped %"), vec!["swapped two"; 6]);
}

/// (known faults K3, K17) What was prepared under one policy is judged anew under the next, by its own version.
#[test]
fn a_prepared_statement_is_judged_anew_after_a_reload() {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[p("w", &insert("reloaded")), b("", "w", &[]), e("", 0), s()]).unwrap();
    raw.expect("1 2 C Z(I)").unwrap();
    let policy = fs::read_to_string(proxied.proxy.policy_path()).unwrap();
    let stricter =
        policy.replacen("version: 1", "version: 2", 1).replacen("[select, insert, ", "[select, ", 1);
    assert_ne!(policy, stricter);
    fs::write(proxied.proxy.policy_path(), stricter).unwrap();
    proxied.proxy.hang_up().unwrap();
    let log = proxied.proxy.audit_path();
    eventually("the policy is read", || of_kind(&log, "reload").iter().any(|line| line["refused"].is_null()));
    let mut heard = String::new();
    eventually("the reload reaches the session", || {
        raw.send(&[b("", "w", &[]), e("", 0), s()]).unwrap();
        heard = raw.read(1).unwrap().to_string();
        heard == "E(42501) Z(I)"
    });
    end(&mut proxied);
    let last = of_kind(&log, "decision").pop().unwrap();
    assert_eq!(
        (&last["phase"], &last["verdict"], &last["policy"]),
        (&"bind".into(), &"deny".into(), &2.into())
    );
    assert_eq!(last["statement"], insert("reloaded").as_str());
}

/// (known fault K6) No setting, comment or name of the client's turns judging off.
#[test]
fn nothing_that_a_client_says_turns_the_judge_off() {
    let mut proxied = Stack::get().proxy().unwrap();
    let more = &[("application_name", "pgmoat"), ("options", "-c pgmoat.enabled=off")];
    let refused = Raw::connect(&Login { more, ..proxied.login("acme_app") });
    let login = Login { more: &more[..1], ..proxied.login("acme_app") };
    let mut sessions = vec![Raw::connect(&login).unwrap()];
    sessions.extend(refused.ok());
    for raw in &mut sessions {
        for before in
            ["SET pgmoat.skip = on", "SET application_name = 'pgmoat_admin'", "SELECT 1 /* pgmoat:off */"]
        {
            raw.query(before).unwrap();
            for denied in
                ["/* pgmoat:off */ SELECT id FROM app.orders", "SELECT id FROM app.orders -- nolint pgmoat"]
            {
                assert_eq!(raw.query(denied).unwrap().codes(), ["42501"], "{before}; {denied}");
            }
        }
    }
    end(&mut proxied);
}

/// (known fault K8) A frame in pieces is one statement, and its line has all of it.
#[test]
fn a_statement_in_many_pieces_is_entered_whole() {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.write_at_most(7);
    let long = insert(&"é".repeat(4_500));
    raw.send(&[q(&long), p("", &long), b("", "", &[]), e("", 0), s()]).unwrap();
    raw.expect("C Z(I) 1 2 C Z(I)").unwrap();
    end(&mut proxied);
    let texts = of_kind(&proxied.proxy.audit_path(), "decision");
    let whole = texts.iter().filter(|line| line["statement"] == long.as_str()).count();
    assert_eq!(whole, 2, "Query and Parse; a Bind of a long text is named by its shape");
    assert!(texts[1]["shape"] == texts[2]["shape"] && texts[2]["statement"].is_null());
}

/// (known fault J5) A FunctionCall of any size is read to its end, refused, and entered.
#[test]
fn a_function_call_of_any_size_is_refused_and_entered() {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for bytes in [10, 100_000, 3_000_000] {
        raw.send(&[pgmoat_tests::front::framed(b'F', &vec![0; bytes]), q(READ)]).unwrap();
        raw.expect("E(42501) Z(I) T D C Z(I)").unwrap();
    }
    end(&mut proxied);
    let denied = of_kind(&proxied.proxy.audit_path(), "decision");
    assert_eq!(denied.iter().filter(|line| line["verdict"] == "deny").count(), 3);
}

/// (known fault K10) A text that is deeper or longer than a parser stands is an error of its own session.
#[test]
fn texts_that_exhaust_parsers_are_refused_and_the_proxy_lives() {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    for text in [
        format!("SELECT {}1", "1+".repeat(64_000)),
        format!("SELECT {}1{}", "(".repeat(30_000), ")".repeat(30_000)),
        format!("SELECT {}1", "- ".repeat(60_000)),
        format!("SELECT {}1{}", "ARRAY[".repeat(10_000), "]".repeat(10_000)),
    ] {
        for messages in [vec![q(&text)], vec![p("", &text), s()]] {
            let heard = raw.ask(&messages).unwrap();
            let codes = heard.codes();
            assert!(
                !heard.closed && codes.len() == 1 && ["42501", "54001", "54000"].contains(&&*codes[0]),
                "{heard}"
            );
        }
    }
    assert!(raw.query("SELECT 1").unwrap().codes().is_empty());
    end(&mut proxied);
    let lines = of_kind(&proxied.proxy.audit_path(), "decision");
    assert_eq!(lines.iter().filter(|line| line["verdict"] == "deny").count(), 8);
}

/// (known fault K12) What a backslash means cannot be changed, by no way in.
#[test]
fn parser_and_server_cannot_be_made_to_disagree() {
    let mut proxied = Stack::get().proxy().unwrap();
    for more in [
        &[("standard_conforming_strings", "off")][..],
        &[("options", "-c standard_conforming_strings=off")],
        &[("client_encoding", "SJIS")],
        &[("options", "-c client_encoding=GBK")],
    ] {
        Raw::connect(&Login { more, ..proxied.login("acme_app") }).unwrap_err();
    }
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for text in [
        "SET standard_conforming_strings = off",
        "SET LOCAL standard_conforming_strings TO 'off'",
        "SELECT set_config('standard_conforming_strings', 'off', false)",
        "UPDATE pg_settings SET setting = 'off' WHERE name = 'standard_conforming_strings'",
        "SET client_encoding = 'SJIS'",
        "SET NAMES 'GBK'",
        "ALTER ROLE pgmoat_service SET standard_conforming_strings = off",
        "SET backslash_quote = on",
        "SET SESSION AUTHORIZATION postgres",
        "RESET standard_conforming_strings; SET standard_conforming_strings = off",
    ] {
        let heard = raw.query(text).unwrap();
        assert_eq!(heard.codes(), ["42501"], "{text}");
    }
    // Read one way by a parser with the setting on, another way with it off.
    let text =
        "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND note = '\\' OR tenant_id = 'globex' --'";
    let heard = raw.query(text).unwrap();
    assert_eq!(heard.codes(), ["42501"], "{heard}");
    end(&mut proxied);
}

/// (known fault K13) Where a statement stands in its text does not matter: behind comments, behind others, in pieces.
#[test]
fn a_statement_is_judged_wherever_it_stands_in_the_text() {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let comment = "/*".to_owned() + &"x".repeat(2_000) + "*/";
    for text in [
        format!("{comment} SET ROLE postgres"),
        format!("SELECT 1; {comment} SET ROLE postgres"),
        "SELECT 1;;;; SET ROLE postgres".to_owned(),
        "-- SELECT 1\nSET ROLE postgres".to_owned(),
        "/* /* nested */ */ SET ROLE postgres".to_owned(),
        format!("{}; SET ROLE postgres", insert("hidden")),
    ] {
        let heard = raw.query(&text).unwrap();
        assert_eq!(heard.to_string(), "E(42501) Z(I)", "{text}");
    }
    assert_eq!(bodies(&proxied, "hidden"), Vec::<String>::new());
    end(&mut proxied);
    let lines = of_kind(&proxied.proxy.audit_path(), "decision");
    assert!(lines.len() == 6 && lines.iter().all(|line| line["verdict"] == "deny"));
}

/// (known fault K15) Functions and statements that escape a judge of texts are refused, to the role with most rights too.
#[test]
fn what_runs_other_text_or_reaches_other_places_is_refused() {
    let mut proxied = Stack::get().proxy().unwrap();
    for user in ["acme_app", "ops"] {
        let mut raw = Raw::connect(&proxied.login(user)).unwrap();
        for text in [
            "SELECT * FROM dblink('dbname=lab', 'SELECT 1') AS t(x int)",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT lo_import('/etc/passwd')",
            "SELECT lo_export(1, '/tmp/x')",
            "SELECT query_to_xml('SELECT 1', true, true, '')",
            "SELECT table_to_xml('app.orders', true, true, '')",
            "SELECT pg_ls_dir('/')",
            "SELECT pg_catalog.pg_terminate_backend(1)",
            "DO $$ BEGIN PERFORM 1; END $$",
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw",
            "COPY app.notes FROM PROGRAM 'id'",
            "COPY (SELECT 1) TO PROGRAM 'cat > /tmp/x'",
            "COPY (SELECT 1) TO '/tmp/x'",
            "LOAD 'x'",
            "SELECT pg_temp.f()",
            "CALL app.p()",
        ] {
            let heard = raw.query(text).unwrap();
            assert!(matches!(&*heard.codes()[0], "42501" | "42883" | "42P01"), "{user}: {text}: {heard}");
        }
    }
    end(&mut proxied);
    let lines = of_kind(&proxied.proxy.audit_path(), "decision");
    assert!(lines.iter().all(|line| line["verdict"] == "deny" && line["backend"].is_null()));
}

/// (known fault K18) EXECUTE, DECLARE and FETCH run another text than their own: that one is judged, before it is there.
#[test]
fn what_runs_by_name_is_judged_by_its_body() {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for text in [
        "PREPARE x AS SELECT id FROM app.orders",
        "DECLARE y CURSOR WITH HOLD FOR SELECT id FROM app.orders",
        "PREPARE x (text) AS SELECT id FROM app.orders WHERE tenant_id = $1; EXECUTE x ('globex')",
        "EXPLAIN ANALYZE SELECT id FROM app.orders",
        "CREATE TABLE z AS SELECT id FROM app.orders",
        "COPY (SELECT id FROM app.orders) TO STDOUT",
    ] {
        assert_eq!(raw.query(text).unwrap().codes(), ["42501"], "{text}");
    }
    raw.query("PREPARE x (text) AS SELECT id FROM app.orders WHERE tenant_id = $1").unwrap();
    assert!(raw.query("EXECUTE x ('acme')").unwrap().codes().is_empty());
    assert_eq!(raw.query("EXECUTE x ('globex')").unwrap().codes(), ["42501"]);
    end(&mut proxied);
    let last = of_kind(&proxied.proxy.audit_path(), "decision").pop().unwrap();
    assert_eq!((&last["verdict"], &last["statement"]), (&"deny".into(), &"EXECUTE x ('globex')".into()));
}

/// (known fault K19) Several Parses in one batch have a verdict each, whichever is the last.
#[test]
fn each_message_of_a_batch_has_a_verdict_of_its_own() {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let denied = "SELECT id FROM app.orders";
    raw.send(&[p("a", denied), p("b", READ), b("", "b", &[]), e("", 0), s()]).unwrap();
    raw.expect("E(42501) Z(I)").unwrap();
    raw.send(&[p("b", READ), p("a", denied), b("", "b", &[]), e("", 0), s()]).unwrap();
    raw.expect("1 E(42501) Z(I)").unwrap();
    raw.send(&[b("", "a", &[]), e("", 0), s()]).unwrap();
    raw.expect("E(26000) Z(I)").unwrap();
    raw.send(&[q("BEGIN"), q(denied), q(READ), q("ROLLBACK")]).unwrap();
    raw.expect("C Z(T) E(42501) Z(E) E(25P02) Z(E) C Z(I)").unwrap();
    end(&mut proxied);
    let verdicts: Vec<String> = of_kind(&proxied.proxy.audit_path(), "decision")
        .iter()
        .filter(|line| line["statement"] == denied)
        .map(|line| line["verdict"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(verdicts, ["deny"; 3]);
}

/// What might run and is refused for want of a connection or of room for its name is entered as well.
#[test]
fn what_is_refused_for_want_of_room_has_its_line() {
    let mut proxied = Stack::get()
        .proxy_with(|config| {
            config.databases[0].pool = "mode: session, size: 1, wait_timeout_ms: 50".to_owned();
            config.extra = "limits: { statements_per_client: 2 }\n".to_owned();
        })
        .unwrap();
    let mut first = Raw::connect(&proxied.login("acme_app")).unwrap();
    for name in ["a", "b"] {
        first.send(&[q(&format!("PREPARE {name} AS {READ}"))]).unwrap();
        first.expect("C Z(I)").unwrap();
    }
    first.send(&[q(&format!("PREPARE c AS {READ}"))]).unwrap();
    first.expect("E(53400) Z(I)").unwrap();
    let mut second = Raw::connect(&proxied.login("acme_app")).unwrap();
    second.send(&[q(READ)]).unwrap();
    second.expect("E(53300) Z(I)").unwrap();
    second.send(&[p("", READ), b("", "", &[]), e("", 0), s()]).unwrap();
    second.expect("E(53300) Z(I)").unwrap();
    drop((first, second));
    let log = proxied.proxy.audit_path();
    eventually("the logouts are written", || of_kind(&log, "logout").len() == 2);
    end(&mut proxied);
    let denied: Vec<_> =
        of_kind(&log, "decision").into_iter().filter(|line| line["verdict"] == "deny").collect();
    let codes: Vec<_> = denied.iter().map(|line| line["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["names", "pool", "pool"]);
    assert!(denied[1]["statement"] == READ && denied[1]["shape"] == denied[2]["shape"]);
    for logout in of_kind(&log, "logout") {
        let of_session = |line: &&Value| line["session"] == logout["session"];
        assert_eq!(logout["denied"], denied.iter().filter(of_session).count());
        assert_eq!(logout["statements"], of_kind(&log, "decision").iter().filter(of_session).count());
    }
}

/// (known fault K20) A refusal inside a transaction fails it: what came before cannot be committed.
#[test]
fn a_refusal_in_a_transaction_fails_it() {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q("BEGIN"), q(&insert("before the refusal")), q("SELECT id FROM app.orders"), q("COMMIT")])
        .unwrap();
    raw.expect("C Z(T) C Z(T) E(42501) Z(E) C Z(I)").unwrap();
    assert_eq!(bodies(&proxied, "before the refusal"), Vec::<String>::new());
    // A copy that nobody asked for says nothing and does nothing.
    raw.send(&[copy_data("1\tx\n"), q(READ)]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    end(&mut proxied);
}

/// A policy that cannot be loaded is no policy: the proxy does not serve without. (known fault K20)
#[test]
fn without_a_policy_that_loads_there_is_no_service() {
    let started = Stack::get().proxy_with(|config| config.policy = "version: 1\nroles: 7\n".to_owned());
    let said = started.map(|_| ()).unwrap_err().to_string();
    assert!(said.contains("policy.yaml"), "{said}");
}

/// Messages, and the phases and verdicts of the lines that they make.
type Way<'a> = (&'a [Front], &'a [(&'a str, &'a str)]);

fn tag(message: &Front) -> u8 {
    let mut bytes = Vec::new();
    message.encode(&mut bytes).unwrap();
    bytes[0]
}
