//! COPY through the proxy.

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::front::{b, copy_data, e, p, q, s};
use pgmoat_tests::{Front, Raw, Stack};

const OUT: &str = "COPY (SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 7) TO STDOUT";

#[test]
fn copy_out_is_relayed_in_both_protocols() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(OUT)]).unwrap();
    raw.expect("H d d d c C Z(I)").unwrap();
    raw.send(&[p("", OUT), b("", "", &[]), e("", 0), s()]).unwrap();
    raw.expect("1 2 H d d d c C Z(I)").unwrap();
}

#[test]
fn copy_in_is_never_a_tenants() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q("COPY app.notes (tenant_id, body) FROM STDIN")]).unwrap();
    raw.expect("E(42501) Z(I)").unwrap();
    raw.send(&[copy_data("globex\tx\n"), Front::CopyDone, q("SELECT 1")]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
}

#[test]
fn copy_in_of_a_role_that_may() {
    let policy =
        POLICY_YAML.replacen("    explain: analyze\n", "    explain: analyze\n    unrestricted: true\n", 1);
    assert_ne!(policy, POLICY_YAML);
    let proxied = Stack::get().proxy_with(|config| config.policy = policy).unwrap();
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    let copy = "COPY app.notes (tenant_id, body) FROM STDIN";
    raw.send(&[q(copy)]).unwrap();
    raw.expect("G").unwrap();
    // One row in pieces that no message ends with, one in a message longer than a read.
    let long = "x".repeat(200_000);
    raw.send(&[copy_data("acme\tone\nac"), copy_data(&format!("me\t{long}\n")), Front::CopyDone]).unwrap();
    assert_eq!(raw.expect("C Z(I)").unwrap().commands(), ["COPY 2"]);
    // Syncs that the server reads inside the copy do not count.
    raw.send(&[p("", copy), b("", "", &[]), e("", 0), s(), copy_data("acme\tx\n"), Front::CopyDone, s()])
        .unwrap();
    raw.expect("1 2 G C Z(I)").unwrap();
    raw.send(&[q(copy)]).unwrap();
    raw.expect("G").unwrap();
    raw.send(&[copy_data("\\N\tx\n")]).unwrap();
    raw.send(&[Front::CopyDone]).unwrap();
    raw.expect("E(23502) Z(I)").unwrap();
    // Data behind a failed copy meets no other statement.
    raw.send(&[copy_data("acme\tlate\n"), Front::CopyDone, q("SELECT 1")]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    raw.send(&[q(copy), copy_data("acme\ty\n"), Front::CopyFail("no".into())]).unwrap();
    raw.expect("G E(57014) Z(I)").unwrap();
    raw.expect_silence().unwrap();
}
