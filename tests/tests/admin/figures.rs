//! `/metrics`: OpenMetrics, moving, and with nothing in it that is anybody's.

use std::collections::{BTreeMap, BTreeSet};

use pgmoat_tests::{Http, Login, Raw};
use serde_json::json;

use crate::log_file::lines;
use crate::patience::eventually;
use crate::{ALL, OWN, http, proxied};

/// Figures by name and labels, as written.
type Figures = BTreeMap<String, f64>;

fn figures(http: &mut Http) -> Figures {
    let reply = http.get("/metrics").unwrap();
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!((reply.status, reply.header("content-type")), (200, Some(kind)));
    parse(&reply.text())
}

/// The text format's grammar (OpenMetrics 1.0, ABNF), as far as the page uses it.
fn parse(text: &str) -> Figures {
    let body = text.strip_suffix("# EOF\n").expect("it ends with its mark");
    let (mut types, mut figures) = (BTreeMap::new(), Figures::new());
    let mut current = String::new();
    for line in body.lines() {
        if let Some(line) = line.strip_prefix("# ") {
            let mut words = line.splitn(3, ' ');
            let (word, name, rest) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            match word {
                "TYPE" => {
                    assert!(types.insert(name.to_owned(), rest.to_owned()).is_none(), "{name} has one type");
                    current = name.to_owned();
                }
                "UNIT" => assert!(name.ends_with(&format!("_{rest}")), "{line}"),
                "HELP" => assert!(!rest.is_empty(), "{line}"),
                other => panic!("{other}: {line}"),
            }
            continue;
        }
        let (series, exemplar) = line.split_once(" # ").unwrap_or((line, ""));
        let (series, value) = series.rsplit_once(' ').expect(line);
        let name = series.split('{').next().unwrap();
        let family = name.strip_prefix(&*current).unwrap_or_else(|| panic!("{line} is not of {current}"));
        let suffixes: &[&str] = match types[&current].as_str() {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_bucket", "_sum", "_count"],
            other => panic!("{other}"),
        };
        assert!(suffixes.contains(&family), "{line}");
        assert!(exemplar.is_empty() || exemplar.starts_with("{hash=\""), "{line}");
        assert!(name.starts_with("pgmoat_"), "{line}");
        let value = value.parse().unwrap_or_else(|_| panic!("{line}"));
        assert!(figures.insert(series.to_owned(), value).is_none(), "{series} stands twice");
    }
    figures
}

#[test]
fn what_clients_do_is_counted() {
    let proxied = proxied("");
    let mut http = http(&proxied);
    let before = figures(&mut http);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for _ in 0..5 {
        raw.query(OWN).unwrap();
    }
    for _ in 0..3 {
        raw.query(ALL).unwrap();
    }
    raw.query("SELEC 1").unwrap();
    Raw::connect(&Login { password: "wrong".into(), ..proxied.login("acme_app") }).unwrap_err();
    for sql in [OWN, ALL, ALL] {
        http.verify(&json!({ "sql": sql, "as": "app:acme" }).to_string()).unwrap();
    }
    http.batch("x\ny\n").unwrap();
    let now = figures(&mut http);
    let of = |figures: &Figures, series: &str| {
        figures.get(&format!("pgmoat_{series}")).copied().unwrap_or_default()
    };
    let grown = |series: &str| of(&now, series) - of(&before, series);
    for (series, count) in [
        ("statements_total{role=\"app\",verdict=\"allow\",code=\"\"}", 5.0),
        ("statements_total{role=\"app\",verdict=\"deny\",code=\"tenant_unproven\"}", 3.0),
        ("statements_total{role=\"app\",verdict=\"deny\",code=\"syntax_error\"}", 1.0),
        ("logins_total{outcome=\"ok\"}", 1.0),
        ("logins_total{outcome=\"failed\"}", 1.0),
        ("verify_total{verdict=\"allow\"}", 1.0),
        ("verify_total{verdict=\"deny\"}", 2.0),
        ("verify_total{verdict=\"unreadable\"}", 2.0),
        ("admission_seconds_count", 9.0),
        ("sessions", 1.0),
        ("pool_connections{database=\"lab\",state=\"in_use\"}", 1.0),
        ("pool_opened_total{database=\"lab\"}", 1.0),
        ("verdict_cache_entries{database=\"lab\"}", 1.0),
    ] {
        assert_eq!(grown(series), count, "{series}");
    }
    assert!(
        grown("statement_duration_seconds_sum") > 0.0 && grown("statement_duration_seconds_count") >= 5.0
    );
    assert!(grown("verdict_cache_lookups_total{database=\"lab\",outcome=\"hit\"}") >= 1.0);
    assert!(grown("verdict_cache_bytes{database=\"lab\"}") > 0.0);
    assert_eq!(of(&now, "database_up{database=\"lab\"}"), 1.0);
    assert_eq!(of(&now, "policy_version{database=\"lab\"}"), 1.0);
    assert_eq!(of(&now, "audit_up"), 1.0);
    assert_eq!(of(&now, "admission_seconds_bucket{le=\"+Inf\"}"), of(&now, "admission_seconds_count"));
    drop(raw);
    eventually("the session is gone", || of(&figures(&mut http), "sessions") == 0.0);
}

/// The head that contracts 4 wants kept elsewhere.
#[test]
fn the_head_of_the_chain_is_there() {
    let proxied = proxied("");
    let mut http = http(&proxied);
    Raw::connect(&proxied.login("acme_app")).unwrap();
    eventually("it is the last line of the log", || {
        let text = http.get("/metrics").unwrap().text();
        let line = text.lines().find(|line| line.starts_with("pgmoat_audit_entries_total")).unwrap();
        let last = lines(&proxied.proxy.audit_path()).pop().unwrap();
        let expected = format!("{} # {{hash={}}}", last["seq"], last["hash"]);
        line.contains(&expected)
    });
}

#[test]
fn nothing_in_it_is_anybodys() {
    let proxied = proxied("");
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.query("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND note = 'a-very-secret-word'").unwrap();
    raw.query("SELECT a_very_secret_name FROM nowhere.at_all").unwrap();
    let mut http = http(&proxied);
    http.verify(&json!({ "sql": "SELECT a_very_secret_name", "as": "app:acme" }).to_string()).unwrap();
    let text = http.get("/metrics").unwrap().text();
    for word in
        ["secret", "acme", "SELECT", "nowhere", "tests", "127.0.0.1", "pgmoat_a-token", &*proxied.database]
    {
        assert!(!text.contains(word), "{word} is in {text}");
    }
    let labels: BTreeSet<&str> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Some(line.split_once('{')?.1.split_once('}')?.0))
        .flat_map(|labels| labels.split("\",").filter_map(|label| label.split('=').next()))
        .collect();
    let known = [
        "cause", "code", "database", "hash", "le", "outcome", "reason", "role", "state", "verdict", "version",
    ];
    assert!(labels.iter().all(|label| known.contains(label)), "{labels:?}");
    let series = text.lines().filter(|line| !line.starts_with('#')).count();
    assert!(series < 200, "{series}");
}
