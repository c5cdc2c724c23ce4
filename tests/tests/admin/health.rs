//! `/healthz` and `/readyz`.

use pgmoat_lab::{Cluster, Options, Proxy, ProxyConfig};
use pgmoat_tests::{Http, Raw, Stack, pgmoat_binary};
use serde_json::json;

use crate::patience::{PATIENCE, eventually};
use crate::{UNHURRIED, http, object, proxied, ready, until_ready};

#[test]
fn a_proxy_that_serves_says_so_to_everybody() {
    let proxied = proxied("");
    let mut http = http(&proxied);
    let alive = http.ask("GET /healthz", None, b"").unwrap();
    assert_eq!((alive.status, object(&alive.body)), (200, json!({ "alive": true })));
    let ready = http.ask("GET /readyz", None, b"").unwrap();
    assert_eq!((ready.status, object(&ready.body)), (200, json!({ "ready": true })));
    let told = http.get("/readyz").unwrap();
    assert_eq!((told.status, object(&told.body)), (200, json!({ "ready": true, "reasons": [] })));
}

#[test]
fn it_is_not_ready_while_its_server_is_not_there() {
    let mut cluster = Cluster::start(Options::default()).unwrap();
    let database = cluster.fresh_lab_database().unwrap();
    let mut config = ProxyConfig::lab(&cluster, &database);
    Http::configure(&mut config, UNHURRIED);
    let proxy = Proxy::start(&pgmoat_binary().unwrap(), &config).unwrap();
    until_ready(&proxy);
    let mut http = Http::connect(&proxy).unwrap();
    cluster.stop();
    eventually("it is not ready", || http.get("/readyz").unwrap().status == 503);
    let told = http.get("/readyz").unwrap();
    let reason = "database \"lab\": the server is not reached";
    assert_eq!(object(&told.body), json!({ "ready": false, "reasons": [reason] }));
    assert_eq!(told.header("content-type"), Some("application/json"));
    let quiet = http.ask("GET /readyz", None, b"").unwrap();
    assert_eq!(
        (quiet.status, object(&quiet.body)),
        (503, json!({ "ready": false })),
        "no names without a token"
    );
    assert!(http.get("/metrics").unwrap().text().contains("pgmoat_database_up{database=\"lab\"} 0\n"));
    assert_eq!(http.get("/healthz").unwrap().status, 200, "it is alive all the same");
    cluster.start_again().unwrap();
    eventually("it is ready again", || http.get("/readyz").unwrap().status == 200);
}

#[test]
fn one_of_several_databases_is_enough_and_the_other_is_told() {
    let proxied = Stack::get()
        .proxy_with(|config| {
            let mut gone = config.databases[0].clone();
            gone.name = "gone".to_owned();
            gone.dbname = "there_is_none".to_owned();
            config.databases.push(gone);
            Http::configure(config, UNHURRIED);
        })
        .unwrap();
    let proxied = ready(proxied);
    let mut http = http(&proxied);
    let told = http.get("/readyz").unwrap();
    let reason = "database \"gone\": the server is not reached";
    assert_eq!((told.status, object(&told.body)), (200, json!({ "ready": true, "reasons": [reason] })));
    let mut ask = |database: Option<&str>| {
        let mut asked = json!({ "sql": "SELECT 1", "as": "app:acme" });
        if let Some(database) = database {
            asked["database"] = json!(database);
        }
        http.verify(&asked.to_string()).unwrap()
    };
    assert_eq!((ask(None).status, ask(Some("lab")).status), (400, 200));
    let gone = ask(Some("gone"));
    assert_eq!((gone.status, gone.header("retry-after")), (503, Some("1")));
}

#[test]
fn one_that_ends_is_alive_and_not_ready() {
    let mut proxied = proxied("");
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.query("BEGIN").unwrap();
    let mut http = http(&proxied);
    proxied.proxy.terminate().unwrap();
    eventually("it is not ready", || http.get("/readyz").unwrap().status == 503);
    assert_eq!(http.get("/healthz").unwrap().status, 200);
    assert!(
        object(&http.get("/readyz").unwrap().body)["reasons"][0].as_str().unwrap().contains("shutting down")
    );
    raw.query("COMMIT").unwrap();
    assert!(proxied.proxy.wait(PATIENCE).unwrap().success());
}
