//! COPY through the proxy.

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::front::{b, copy_data, e, framed, p, q, s};
use pgmoat_tests::{Front, Login, Proxied, Raw, Stack};

const OUT: &str = "COPY (SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 7) TO STDOUT";
const IN: &str = "COPY app.notes (tenant_id, body) FROM STDIN";

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
    raw.send(&[q(IN)]).unwrap();
    raw.expect("E(42501) Z(I)").unwrap();
    raw.send(&[copy_data("globex\tx\n"), Front::CopyDone, q("SELECT 1")]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
}

#[test]
fn copy_in_of_a_role_that_may() {
    let proxied = unrestricted();
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    let copy = IN;
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

/// Behind a letting go of settings nothing is sent before they are back; the data of a copy is.
#[test]
fn copy_in_behind_a_letting_go() {
    let proxied = unrestricted();
    let more = [("TimeZone", "Asia/Tokyo")];
    let mut raw = Raw::connect(&Login { more: &more, ..proxied.login("ops") }).unwrap();
    let copy = [copy_data("acme\tbehind\n"), Front::CopyDone];
    let simple =
        [&[q("BEGIN"), q("RESET ALL"), q(IN)][..], &copy, &[q("COMMIT"), q("SHOW TimeZone")]].concat();
    raw.send(&simple).unwrap();
    let heard = raw.read(5).unwrap();
    assert_eq!(heard.commands(), ["BEGIN", "RESET", "COPY 1", "COMMIT", "SHOW"], "{heard}");
    assert_eq!(heard.rows()[0][0].as_deref(), Some("Asia/Tokyo"));
    let batch = [&[q("BEGIN"), q("RESET ALL"), p("", IN), b("", "", &[]), e("", 0), s()][..], &copy];
    raw.send(&[batch.concat(), vec![s(), q("COMMIT"), q("SHOW TimeZone")]].concat()).unwrap();
    let heard = raw.read(5).unwrap();
    assert_eq!(heard.commands(), ["BEGIN", "RESET", "COPY 1", "COMMIT", "SHOW"], "{heard}");
    assert_eq!(heard.rows()[0][0].as_deref(), Some("Asia/Tokyo"));
}

#[test]
fn a_good_bye_inside_a_copy_takes_nothing_in() {
    let proxied = unrestricted();
    let batch = vec![p("", IN), b("", "", &[]), e("", 0)];
    for begun in [vec![q(IN)], batch] {
        let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
        raw.send(&[q("SELECT 1")]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
        let insert = q("INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'before the copy')");
        raw.send(&[vec![insert], begun, vec![copy_data("acme\thalf\n"), framed(b'X', b"")]].concat())
            .unwrap();
        raw.read(2).unwrap();
    }
    let count = |body: &str| {
        let sql = format!("SELECT count(*) FROM app.notes WHERE body = '{body}'");
        Stack::get().cluster().psql(&proxied.database, &sql).unwrap().trim().to_owned()
    };
    assert_eq!(count("before the copy"), "2");
    assert_eq!(count("half"), "0");
}

fn unrestricted() -> Proxied {
    let policy =
        POLICY_YAML.replacen("    explain: analyze\n", "    explain: analyze\n    unrestricted: true\n", 1);
    assert_ne!(policy, POLICY_YAML);
    Stack::get().proxy_with(|config| config.policy = policy).unwrap()
}
