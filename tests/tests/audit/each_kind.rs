//! Every kind of line, through the binary: what makes it, and what is in it.
//!
//! | kind | made by | test |
//! |---|---|---|
//! | open | a start, the next file of a rotation | `a_life_of_the_proxy_has_every_kind_and_each_line_fits_the_schema` |
//! | recovered | a torn last line | the same |
//! | login, logout | a session | the same, `logins_and_their_ends_say_who_and_how` |
//! | login_failed | a refused login, whatever the reason | `each_refused_login_is_entered_with_its_reason` |
//! | decision | Query, Parse, Bind, Execute, allowed and denied | `each_message`, `a_denial_is_entered_as_the_client_read_it` |
//! | completion | the end of what was let through | `how_a_statement_ended_is_entered` |
//! | cancel | a CancelRequest | the first |
//! | reload | SIGHUP, applied and refused | the first |
//! | catalog | the first look, a changed schema | the first |
//! | verify | a request for verdicts over HTTP | the first |
//! | rotate | a finished file | the first, `rotation` |
//! | close | SIGTERM | the first |

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use pgmoat_audit::Kind;
use pgmoat_lab::{Cluster, Options, Proxy, ProxyConfig, SUPERUSER, User};
use pgmoat_tests::front::{b, c_statement, cancel_request, e, p, q, s};
use pgmoat_tests::{Http, Login, Proxied, Raw, Stack, pgmoat_binary};
use serde_json::Value;

use crate::locked::{self, Locked};
use crate::log_file::{lines, of_kind};
use crate::patience::eventually;
use crate::proxy::{READ, end, files, insert, verify_all};

#[test]
fn a_life_of_the_proxy_has_every_kind_and_each_line_fits_the_schema() {
    let mut proxied = Stack::get()
        .proxy_with(|config| {
            config.audit = "path: audit.jsonl, rotate_bytes: 65536".to_owned();
            Http::configure(config, "");
        })
        .unwrap();
    let log = proxied.proxy.audit_path();
    Raw::connect(&Login { password: "wrong".into(), ..proxied.login("acme_app") }).unwrap_err();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.query(READ).unwrap();
    raw.query("SELECT id FROM app.orders").unwrap();
    cancels(&proxied, &mut raw);
    let asked = r#"{ "sql": "SELECT 1", "as": "app:acme" }"#;
    assert_eq!(Http::connect(&proxied.proxy).unwrap().verify(asked).unwrap().status, 200);
    // A schema that changes under the proxy.
    let ddl = "CREATE TABLE app.later (tenant_id text NOT NULL, id int)";
    Stack::get().cluster().psql(&proxied.database, ddl).unwrap();
    eventually("the catalog is read again", || of_kind(&log, "catalog").len() == 2);
    reloads(&mut proxied);
    eventually("a file is finished", || {
        raw.query(READ).unwrap();
        files(proxied.proxy.folder()).len() == 2
    });
    drop(raw);
    eventually("the logout is written", || !of_kind(&log, "logout").is_empty());
    proxied.proxy.kill9();
    OpenOptions::new().append(true).open(&log).unwrap().write_all(b"{\"v\":1,\"seq\":").unwrap();
    proxied.proxy.start_again().unwrap();
    end(&mut proxied);

    let files = files(proxied.proxy.folder());
    let all: Vec<Value> = files.iter().flat_map(|file| lines(file)).collect();
    let kinds: BTreeSet<&str> = all.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    let every: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(kinds, every);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../audit/schema/line.json");
    let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for line in &all {
        assert!(validator.is_valid(line), "{line}");
    }
    let (status, said) = verify_all(&files);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("recovered: 1 times"), "{said}");

    let of = |kind: &str| all.iter().filter(|line| line["kind"] == kind).cloned().collect::<Vec<_>>();
    let outcomes: BTreeSet<String> = of("cancel").iter().map(|line| text(line, "outcome")).collect();
    assert_eq!(outcomes, ["forwarded", "idle", "unknown_key"].map(str::to_owned).into());
    let catalogs = of("catalog");
    assert_eq!(catalogs[1]["previous"], catalogs[0]["catalog"]);
    assert!(of("reload").iter().any(|line| line["refused"].is_null() && line["policy"] == 2));
    assert!(
        of("reload")
            .iter()
            .any(|line| line["refused"].as_str().is_some_and(|why| why.contains("policy.yaml"))),
        "{:?}",
        of("reload")
    );
}

/// One that ends a statement, one that comes too late, one with a wrong key.
fn cancels(proxied: &Proxied, raw: &mut Raw) {
    let locked = Locked::notes(&proxied.database);
    raw.send(&[q(locked::READ)]).unwrap();
    locked.until_waiting(1);
    let key = raw.cancel_key();
    let mut wrong = key.clone();
    wrong[7] ^= 1;
    for key in [&wrong, &key] {
        cancel(proxied, key);
    }
    raw.expect("E(57014) Z(I)").unwrap();
    raw.query(READ).unwrap();
    cancel(proxied, &key);
    locked.release();
}

fn cancel(proxied: &Proxied, key: &[u8]) {
    let mut other = Raw::open(proxied.proxy.port()).unwrap();
    other.send(&[cancel_request(key)]).unwrap();
    other.expect("closed").unwrap();
}

/// A policy that is taken, and one that is not.
fn reloads(proxied: &mut Proxied) {
    let policy = fs::read_to_string(proxied.proxy.policy_path()).unwrap();
    let log = proxied.proxy.audit_path();
    for (at, text) in
        [policy.replacen("version: 1", "version: 2", 1), policy.replacen("tenancy:", "tenansy:", 1)]
            .iter()
            .enumerate()
    {
        fs::write(proxied.proxy.policy_path(), text).unwrap();
        proxied.proxy.hang_up().unwrap();
        eventually("the reload is entered", || of_kind(&log, "reload").len() > at);
    }
    // So that it can be started again.
    fs::write(proxied.proxy.policy_path(), policy.replacen("version: 1", "version: 2", 1)).unwrap();
}

#[test]
fn logins_and_their_ends_say_who_and_how() {
    let mut proxied = Stack::get().proxy().unwrap();
    let login = Login { more: &[("application_name", "the test")], ..proxied.login("globex_app") };
    let mut raw = Raw::connect(&login).unwrap();
    let own = raw.tcp().unwrap().local_addr().unwrap().to_string();
    raw.query("SELECT id FROM app.orders WHERE tenant_id = 'globex' AND id = 1").unwrap();
    raw.query("SELECT id FROM app.orders").unwrap();
    raw.send(&[pgmoat_tests::front::framed(b'X', b"")]).unwrap();
    raw.expect("closed").unwrap();
    let log = proxied.proxy.audit_path();
    eventually("the logout is written", || of_kind(&log, "logout").len() == 1);
    end(&mut proxied);
    let (login, logout) = (&of_kind(&log, "login")[0], &of_kind(&log, "logout")[0]);
    let expected = [
        ("user", "globex_app"),
        ("role", "app"),
        ("tenant", "globex"),
        ("database", "lab"),
        ("client", &own),
        ("application", "the test"),
        ("method", "scram-sha-256"),
    ];
    for (key, value) in expected {
        assert_eq!(text(login, key), value, "{login}");
    }
    assert!(login["tls"].is_null());
    assert_eq!(logout["session"], login["session"]);
    assert_eq!((text(logout, "user"), text(logout, "reason")), ("globex_app".into(), "terminate".into()));
    assert_eq!((&logout["statements"], &logout["denied"]), (&2.into(), &1.into()));
    for line in of_kind(&log, "decision") {
        assert_eq!((&line["session"], text(&line, "client")), (&login["session"], own.clone()));
    }
}

#[test]
fn each_refused_login_is_entered_with_its_reason() {
    let mut proxied = Stack::get().proxy().unwrap();
    let known = || proxied.login("acme_app");
    let attempts = [
        (Login { password: "wrong".into(), ..known() }, "28P01"),
        (Login { user: "nobody_here", password: "wrong".into(), ..known() }, "28P01"),
        (Login { database: "nowhere", ..known() }, "3D000"),
        (Login { more: &[("search_path", "evil")], ..known() }, ""),
    ];
    for (login, _) in &attempts {
        Raw::connect(login).unwrap_err();
    }
    let failed = of_kind(&proxied.proxy.audit_path(), "login_failed");
    assert_eq!(failed.len(), attempts.len(), "{failed:?}");
    for (line, (login, code)) in failed.iter().zip(&attempts) {
        assert_eq!(text(line, "user"), login.user);
        assert_eq!(text(line, "database"), login.database);
        assert!(code.is_empty() || text(line, "code") == *code, "{line}");
        assert!(!text(line, "reason").is_empty());
        assert!(!line.to_string().contains("wrong\""), "no password: {line}");
    }
    let reasons: Vec<String> = failed.iter().take(2).map(|line| text(line, "reason")).collect();
    assert_eq!(reasons, ["wrong password", "unknown user"], "the log tells what the client is not told");
    end(&mut proxied);
}

#[test]
fn a_denial_is_entered_as_the_client_read_it() {
    let mut proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let denied = "SELECT 'é', id FROM app.orders";
    let heard = raw.query(denied).unwrap();
    let versions = (1, text(&of_kind(&proxied.proxy.audit_path(), "catalog")[0], "catalog"));
    end(&mut proxied);
    let line = &of_kind(&proxied.proxy.audit_path(), "decision")[0];
    assert_eq!((text(line, "verdict"), text(line, "statement")), ("deny".into(), denied.into()));
    assert_eq!(Some(text(line, "message")), heard.error_field(b'M'));
    assert_eq!(Some(line["position"].to_string()), heard.error_field(b'P'));
    let detail = heard.error_field(b'D').unwrap();
    assert!(detail.contains(&format!("code: {}", text(line, "code"))), "{detail}: {line}");
    assert_eq!((line["policy"].as_u64(), text(line, "catalog")), (Some(versions.0), versions.1));
    assert!(line["backend"].is_null(), "PostgreSQL was not touched");
}

/// What pgmoat refuses by a limit of its own is as much a decision as what the policy refuses: an answer here or in the
/// place of the message in a transaction, with its text as far as it was read.
#[test]
fn what_is_refused_by_a_limit_before_it_is_judged_is_entered() {
    let mut proxied = Stack::get()
        .proxy_with(|config| config.extra = "limits: { statements_per_client: 1 }\n".into())
        .unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    let too_long = format!("SELECT '{}'", "x".repeat(400 << 10));
    let long_name = "n".repeat(64);
    for open in [false, true] {
        if open {
            raw.send(&[q("BEGIN")]).unwrap();
            raw.expect("C Z(T)").unwrap();
        }
        for (messages, code) in [
            (vec![p("a", "SELECT 1"), p("b", "SELECT 2"), s()], "53400"),
            (vec![p(&long_name, "SELECT 3"), s()], "42622"),
            (vec![q(&too_long)], "42501"),
        ] {
            raw.ask(&[c_statement("a"), s()]).unwrap();
            let heard = raw.ask(&messages).unwrap();
            assert_eq!(heard.codes(), [code], "{heard}");
            if open {
                raw.ask(&[q("ROLLBACK")]).unwrap();
                raw.ask(&[q("BEGIN")]).unwrap();
            }
        }
    }
    drop(raw);
    end(&mut proxied);
    let denied: Vec<(String, Value)> = of_kind(&proxied.proxy.audit_path(), "decision")
        .iter()
        .filter(|line| line["verdict"] == "deny")
        .map(|line| (text(line, "code"), line["statement"].clone()))
        .collect();
    let expected = [
        ("names", "SELECT 2".into()),
        ("name_too_long", "SELECT 3".into()),
        ("limit_statement_bytes", Value::Null),
    ];
    let expected: Vec<(String, Value)> =
        expected.iter().cycle().take(6).map(|(code, text)| ((*code).to_owned(), text.clone())).collect();
    assert_eq!(denied, expected);
}

/// `true`, `false`, and `"unknown"` where the server died with it; never twice for one decision.
#[test]
fn how_a_statement_ended_is_entered() {
    let mut cluster = Cluster::start(Options::default()).unwrap();
    let database = cluster.fresh_lab_database().unwrap();
    let proxy = Proxy::start(&pgmoat_binary().unwrap(), &ProxyConfig::lab(&cluster, &database)).unwrap();
    let user = User::named("acme_app").unwrap();
    let login =
        Login { port: proxy.port(), user: user.name, password: user.password(), database: "lab", more: &[] };
    let mut raw = Raw::connect(&login).unwrap();
    raw.query("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id IN (2, 4)").unwrap();
    raw.query("SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme'").unwrap();
    raw.send(&[p("", &insert("x")), b("", "", &[]), e("", 0), s()]).unwrap();
    raw.expect("1 2 C Z(I)").unwrap();
    // Its batch has failed before it: the server skips it.
    raw.send(&[p("", "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme'"), b("", "", &[]), e("", 0)])
        .unwrap();
    raw.send(&[p("", &insert("skipped")), b("", "", &[]), e("", 0), s()]).unwrap();
    raw.expect("1 2 E(22012) Z(I)").unwrap();
    let mut holder = Raw::connect(&Login {
        port: cluster.port(),
        user: SUPERUSER,
        password: cluster.password(SUPERUSER).to_owned(),
        database: &database,
        more: &[],
    })
    .unwrap();
    holder.send(&[q("BEGIN"), q("LOCK TABLE app.notes")]).unwrap();
    holder.expect("C Z(T) C Z(T)").unwrap();
    raw.send(&[q(&insert("dies"))]).unwrap();
    let log = proxy.audit_path();
    eventually("it is decided", || {
        of_kind(&log, "decision").iter().any(|line| line["statement"] == insert("dies").as_str())
    });
    cluster.stop();
    raw.read(1).unwrap();
    eventually("the logout is written", || of_kind(&log, "logout").len() == 1);

    let ended = |of: &Value| {
        let all = of_kind(&log, "completion");
        let mut found = all.iter().filter(|line| line["of"] == of["seq"]);
        let line = found.next().cloned();
        assert!(found.next().is_none(), "twice: {of}");
        line
    };
    let told: Vec<Told> = of_kind(&log, "decision")
        .iter()
        .map(|line| {
            let done = ended(line)
                .map(|done| (done["executed"].clone(), done["tag"].clone(), done["sqlstate"].clone()));
            (text(line, "phase"), text(line, "statement"), done)
        })
        .collect();
    let of = |phase: &str, part: &str| {
        let found = told.iter().find(|(is, text, _)| is == phase && text.contains(part));
        found.unwrap_or_else(|| panic!("{phase} {part}: {told:?}")).2.clone()
    };
    let null = Value::Null;
    assert_eq!(of("query", "IN (2, 4)"), Some((true.into(), "SELECT 2".into(), null.clone())));
    let (_, tag, code) = of("query", "id / 0").unwrap();
    assert_eq!((tag, code), (null.clone(), "22012".into()));
    assert_eq!(of("bind", "'x'"), Some((true.into(), "INSERT 0 1".into(), null.clone())));
    assert_eq!(of("bind", "'skipped'").unwrap().0, Value::from(false));
    let (executed, ..) = of("query", "'dies'").unwrap();
    assert!(executed == "unknown" || executed == false, "{executed}");
}

/// Phase and text of a decision, and what its completion says: executed, tag, code.
type Told = (String, String, Option<(Value, Value, Value)>);

fn text(line: &Value, key: &str) -> String {
    line[key].as_str().unwrap_or_else(|| panic!("no text in {key}: {line}")).to_owned()
}
