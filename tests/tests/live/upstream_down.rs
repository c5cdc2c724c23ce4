//! The server is not there, goes away, comes back: who is told what, and that nobody has to do anything.

use std::time::{Duration, Instant};

use pgmoat_lab::{Cluster, Options, Proxy, ProxyConfig, User};
use pgmoat_tests::front::q;
use pgmoat_tests::{Login, Raw, pgmoat_binary};

use crate::log_file::of_kind;
use crate::patience::eventually;

#[test]
fn a_proxy_before_a_server_that_is_down_runs_says_so_and_recovers_by_itself() {
    let (mut cluster, database) = server();
    cluster.stop();
    let proxy = Proxy::start(&pgmoat_binary().unwrap(), &ProxyConfig::lab(&cluster, &database)).unwrap();
    for _ in 0..3 {
        let started = Instant::now();
        let refused = Raw::connect(&login(&proxy, "acme_app")).unwrap_err().to_string();
        assert!(refused.contains("E(57P03,FATAL)"), "{refused}");
        // The login itself takes a moment; a connect timeout or a queue would take seconds.
        assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    }
    assert!(
        Raw::connect(&Login { password: "wrong".into(), ..login(&proxy, "acme_app") })
            .unwrap_err()
            .to_string()
            .contains("28P01")
    );
    cluster.start_again().unwrap();
    eventually("the proxy finds the server", || {
        Raw::connect(&login(&proxy, "acme_app"))
            .is_ok_and(|mut raw| raw.query(ONE).is_ok_and(|said| said.codes().is_empty()))
    });
}

#[test]
fn a_server_that_restarts_ends_the_sessions_it_had_and_no_others() {
    let (mut cluster, database) = server();
    let proxy = Proxy::start(&pgmoat_binary().unwrap(), &ProxyConfig::lab(&cluster, &database)).unwrap();
    let mut attached = Raw::connect(&login(&proxy, "acme_app")).unwrap();
    attached.send(&[q("BEGIN"), q(ONE)]).unwrap();
    attached.expect("C Z(T) T D C Z(T)").unwrap();
    let mut resting = Raw::connect(&login(&proxy, "acme_app")).unwrap();
    cluster.restart().unwrap();

    let heard = attached.read(1).unwrap();
    assert!(heard.closed, "{heard}");
    let codes = heard.codes();
    assert!(codes.iter().all(|code| code.starts_with("57P0") || code == "08006"), "{heard}");
    assert!(heard.to_string().contains(",FATAL)"), "the client is told: {heard}");
    // One that had no connection has lost none.
    resting.send(&[q(ONE)]).unwrap();
    resting.expect("T D C Z(I)").unwrap();
    let mut fresh = Raw::connect(&login(&proxy, "globex_app")).unwrap();
    fresh.send(&[q("SELECT id FROM app.orders WHERE tenant_id = 'globex' AND id = 1")]).unwrap();
    fresh.expect("T D C Z(I)").unwrap();
}

#[test]
fn a_backend_that_dies_ends_its_own_session_alone() {
    let (cluster, database) = server();
    let proxy = Proxy::start(&pgmoat_binary().unwrap(), &ProxyConfig::lab(&cluster, &database)).unwrap();
    let mut first = Raw::connect(&login(&proxy, "acme_app")).unwrap();
    let mut second = Raw::connect(&login(&proxy, "acme_app")).unwrap();
    for raw in [&mut first, &mut second] {
        raw.send(&[q("BEGIN"), q(ONE)]).unwrap();
        raw.expect("C Z(T) T D C Z(T)").unwrap();
    }
    let oldest = "SELECT pid FROM pg_stat_activity WHERE usename = 'pgmoat_service' AND state = 'idle in transaction' \
                  ORDER BY xact_start LIMIT 1";
    let pid = cluster.psql(&database, oldest).unwrap();
    cluster.psql(&database, &format!("SELECT pg_terminate_backend({pid})")).unwrap();
    let heard = first.read(1).unwrap();
    assert!(heard.closed && heard.to_string().contains(",FATAL)"), "{heard}");
    second.send(&[q(ONE), q("COMMIT")]).unwrap();
    second.expect("T D C Z(T) C Z(I)").unwrap();
}

/// As the pool's: else it would stay with a server that the clients' connections have left. A catalog that is the same is
/// no news.
#[test]
fn the_catalogs_connection_is_renewed_and_the_same_catalog_is_not_told_twice() {
    let (cluster, database) = server();
    let mut config = ProxyConfig::lab(&cluster, &database);
    config.databases[0].pool = "mode: session, size: 2, lifetime_ms: 500".to_owned();
    config.extra = "limits: { catalog_refresh_ms: 50 }\n".to_owned();
    let proxy = Proxy::start(&pgmoat_binary().unwrap(), &config).unwrap();
    // Nobody has logged in: the catalog's is the only one.
    let backend = || {
        let sql = "SELECT max(pid) FROM pg_stat_activity WHERE usename = 'pgmoat_service'";
        cluster.psql(&database, sql).unwrap().trim().to_owned()
    };
    let mut seen = std::collections::BTreeSet::new();
    eventually("three have served", || {
        seen.insert(backend());
        seen.iter().filter(|pid| !pid.is_empty()).count() >= 3
    });
    assert_eq!(of_kind(&proxy.audit_path(), "catalog").len(), 1);
    cluster.psql(&database, "CREATE TABLE app.news (tenant_id text)").unwrap();
    eventually("a change is seen by the one that serves now", || {
        of_kind(&proxy.audit_path(), "catalog").len() == 2
    });
    assert!(!proxy.log().contains("no statement is let through"), "{}", proxy.log());
}

fn server() -> (Cluster, String) {
    let cluster = Cluster::start(Options::default()).unwrap();
    let database = cluster.fresh_lab_database().unwrap();
    (cluster, database)
}

fn login<'a>(proxy: &Proxy, user: &'a str) -> Login<'a> {
    let password = User::named(user).unwrap().password();
    Login { port: proxy.port(), user, password, database: "lab", more: &[] }
}

const AT_ONCE: Duration = Duration::from_secs(4);
const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
