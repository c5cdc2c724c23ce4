//! Row caps: counted on the wire, for every way by which rows can leave (contracts 7).

use pgmoat_lab::{POLICY_YAML, ProxyConfig};
use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Proxied, Raw, Stack, Transcript};

/// acme has 10,000 orders.
const ALL: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme'";
const TWO: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 6";
const TEN: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id <= 20";
const ELEVEN: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id <= 22";

#[test]
fn surplus_rows_are_cut_with_a_notice_and_the_true_count() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    for heard in [raw.query(ALL).unwrap(), raw.ask(&[p("", ALL), b("", "", &[]), e("", 0), s()]).unwrap()] {
        assert_eq!(heard.rows().len(), 1000);
        assert_eq!(heard.commands(), ["SELECT 10000"]);
        assert_eq!(heard.codes(), Vec::<String>::new());
        assert!(notice(&heard).contains("1000"), "{}", notice(&heard));
        let order = heard.to_string().replace("D ", "");
        assert!(order == "T N C Z(I)" || order == "1 2 N C Z(I)", "{order}");
    }
    assert_untouched(&mut raw);
}

#[test]
fn each_statement_of_a_query_has_a_cap_of_its_own() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    let heard = raw.query(&format!("{ALL}; {TWO}; {ALL}")).unwrap();
    assert_eq!(heard.rows().len(), 1000 + 2 + 1000);
    assert_eq!(heard.commands(), ["SELECT 10000", "SELECT 2", "SELECT 10000"]);
    assert_eq!(heard.messages.iter().filter(|message| message.tag == b'N').count(), 2);
}

#[test]
fn a_portal_is_counted_over_all_its_executes() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    raw.send(&[q("BEGIN")]).unwrap();
    raw.expect("C Z(T)").unwrap();
    let mut heard = raw.ask(&[p("", ALL), b("c", "", &[]), s()]).unwrap();
    assert_eq!(heard.to_string(), "1 2 Z(T)");
    let (mut rows, mut portions) = (0, 0);
    while heard.commands().is_empty() {
        heard = raw.ask(&[e("c", 300), s()]).unwrap();
        assert_eq!(heard.codes(), Vec::<String>::new(), "{:?}", heard.error_field(b'M'));
        rows += heard.rows().len();
        portions += 1;
        assert!(portions <= 40, "{rows} rows");
    }
    assert_eq!(rows, 1000);
    // Another portal begins anew.
    let heard = raw.ask(&[b("", "", &[]), e("", 0), s()]).unwrap();
    assert_eq!(heard.rows().len(), 1000);
    raw.send(&[q("COMMIT")]).unwrap();
    raw.expect("C Z(I)").unwrap();
    assert_untouched(&mut raw);
}

#[test]
fn who_drains_too_long_is_cancelled() {
    let bound = |config: &mut ProxyConfig| config.extra = "limits: { drain_rows: 500 }\n".into();
    let proxied = Stack::get().proxy_with(bound).unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    let heard = raw.query(ALL).unwrap();
    assert_eq!(heard.rows().len(), 1000);
    assert!(heard.to_string().ends_with("E(53400) Z(I)"), "{}", heard.to_string().replace("D ", ""));
    assert_untouched(&mut raw);
    // In a transaction block a cancel would undo what came before: there it is drained to the end.
    raw.send(&[q("BEGIN")]).unwrap();
    raw.expect("C Z(T)").unwrap();
    let heard = raw.query(ALL).unwrap();
    assert_eq!((heard.rows().len(), heard.commands()), (1000, vec!["SELECT 10000".to_owned()]));
    raw.send(&[q("COMMIT")]).unwrap();
    raw.expect("C Z(I)").unwrap();
}

#[test]
fn over_error_ends_the_statement_at_the_row_after_the_cap() {
    for rows in ["rows: { max: 10, over: error }", "rows: 10"] {
        let proxied = capped(rows);
        let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
        let heard = raw.query(TEN).unwrap();
        assert_eq!((heard.rows().len(), heard.codes().len()), (10, 0), "{heard}");
        for sql in [ELEVEN, ALL] {
            let heard = raw.query(sql).unwrap();
            assert_eq!(heard.rows().len(), 10, "{heard}");
            assert!(heard.to_string().ends_with("D E(53400) Z(I)"), "{heard}");
            assert!(heard.error_field(b'M').unwrap().contains("10"), "{:?}", heard.error_field(b'M'));
            let heard = raw.ask(&[p("", sql), b("", "", &[]), e("", 4), e("", 0), s()]).unwrap();
            assert_eq!(heard.rows().len(), 10, "{heard}");
            assert!(heard.to_string().ends_with("D E(53400) Z(I)"), "{heard}");
        }
        assert_untouched(&mut raw);
        raw.send(&[q("BEGIN")]).unwrap();
        raw.expect("C Z(T)").unwrap();
        assert!(raw.query(ELEVEN).unwrap().to_string().ends_with("E(53400) Z(E)"));
        raw.send(&[q("ROLLBACK")]).unwrap();
        raw.expect("C Z(I)").unwrap();
        assert_untouched(&mut raw);
    }
}

/// A cursor is counted over all its FETCHes, whether they come by SQL or by the protocol.
#[test]
fn a_cursor_is_counted_over_all_its_fetches() {
    for (over, third) in [("cut", "T D N C Z(T)"), ("error", "T D E(53400) Z(E)")] {
        let proxied = capped_app(&format!("rows: {{ max: 5, over: {over} }}"));
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        raw.send(&[q("BEGIN"), q(&format!("DECLARE c CURSOR FOR {TEN}")), q("FETCH 2 FROM c")]).unwrap();
        raw.expect("C Z(T) C Z(T) T D D C Z(T)").unwrap();
        raw.send(&[e("c", 2), s()]).unwrap();
        raw.expect("D D s Z(T)").unwrap();
        raw.send(&[q("FETCH 2 FROM c")]).unwrap();
        raw.expect(third).unwrap();
        raw.send(&[q("FETCH ALL FROM c")]).unwrap();
        let heard = raw.read(1).unwrap();
        assert!(heard.rows().is_empty(), "{heard}");
        raw.send(&[q("ROLLBACK")]).unwrap();
        raw.expect("C Z(I)").unwrap();
        // Opened anew it begins anew.
        raw.send(&[q("BEGIN"), q(&format!("DECLARE c CURSOR FOR {TEN}")), q("FETCH 5 FROM c"), q("COMMIT")])
            .unwrap();
        raw.expect("C Z(T) C Z(T) T D D D D D C Z(T) C Z(I)").unwrap();
        assert_untouched(&mut raw);
    }
}

/// EXECUTE runs a text with a cap of its own, in each protocol and in the text of another.
#[test]
fn an_execute_is_counted_as_what_it_runs() {
    let proxied = capped_app("rows: { max: 5, over: error }");
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for prepare in [vec![p("a", TEN), s()], vec![q(&format!("PREPARE a AS {TEN}"))]] {
        raw.ask(&prepare).unwrap();
        raw.send(&[q("EXECUTE a")]).unwrap();
        raw.expect("T D D D D D E(53400) Z(I)").unwrap();
        raw.send(&[p("", "EXECUTE a"), b("", "", &[]), e("", 0), s()]).unwrap();
        raw.expect("1 2 D D D D D E(53400) Z(I)").unwrap();
        raw.send(&[q("BEGIN"), q("EXECUTE a"), q("DEALLOCATE a"), q("ROLLBACK"), q("DEALLOCATE a")]).unwrap();
        raw.expect("C Z(T) T D D D D D E(53400) Z(E) E(25P02) Z(E) C Z(I) C Z(I)").unwrap();
    }
    // What it has done for good is not told as failed.
    let done = "INSERT INTO app.notes (tenant_id, body) SELECT 'acme', 'kept' FROM generate_series(1, 6) RETURNING body";
    raw.send(&[q(&format!("PREPARE a AS {done}"))]).unwrap();
    raw.expect("C Z(I)").unwrap();
    let heard = raw.query("EXECUTE a").unwrap();
    let kept =
        raw.query("SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'kept'").unwrap();
    let failed = heard.codes() == ["53400"];
    assert_eq!(kept.rows()[0][0].as_deref(), Some(if failed { "0" } else { "6" }), "{heard}");
    assert_untouched(&mut raw);
}

/// COPY TO: each line is a row.
#[test]
fn copied_rows_are_counted() {
    let copy = format!("COPY ({TEN}) TO STDOUT");
    for options in ["", " (FORMAT csv)"] {
        let copy = format!("{copy}{options}");
        let proxied = capped_app("rows: { max: 5, over: cut }");
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        for heard in
            [raw.query(&copy).unwrap(), raw.ask(&[p("", &copy), b("", "", &[]), e("", 0), s()]).unwrap()]
        {
            assert_eq!(lines(&heard), 5, "{heard}");
            assert_eq!(heard.commands(), ["COPY 10"]);
            assert!(notice(&heard).contains("after 5 of 10 rows"), "{}", notice(&heard));
        }
        assert_untouched(&mut raw);
        let proxied = capped_app("rows: { max: 5, over: error }");
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        raw.send(&[q(&copy)]).unwrap();
        raw.expect("H d d d d d E(53400) Z(I)").unwrap();
        assert_untouched(&mut raw);
        raw.send(&[q(&format!("{copy} (FORMAT binary)").replace(options, ""))]).unwrap();
        raw.expect("E(42501) Z(I)").unwrap();
    }
}

fn lines(heard: &Transcript) -> usize {
    heard.messages.iter().filter(|message| message.tag == b'd').count()
}

#[test]
fn who_has_no_cap_reads_everything() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    let heard = raw.query("SELECT id FROM app.orders").unwrap();
    assert_eq!((heard.rows().len(), heard.commands()), (21_000, vec!["SELECT 21000".to_owned()]));
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    assert_eq!(raw.query(ALL).unwrap().rows().len(), 10_000);
}

fn capped(rows: &str) -> Proxied {
    let lab = "rows: { max: 1000, over: cut }";
    assert_eq!(POLICY_YAML.matches(lab).count(), 1);
    Stack::get().proxy_with(|config| config.policy = POLICY_YAML.replace(lab, rows)).unwrap()
}

/// The role `app`, which may copy and declare cursors, with a cap.
fn capped_app(rows: &str) -> Proxied {
    let functions = "    functions: { preset: standard, allow: [\"app.net_price\"] }\n";
    assert_eq!(POLICY_YAML.matches(functions).count(), 1);
    let limited = format!("{functions}    limits: {{ {rows} }}\n");
    Stack::get().proxy_with(|config| config.policy = POLICY_YAML.replace(functions, &limited)).unwrap()
}

/// The session works, and nothing is owed.
fn assert_untouched(raw: &mut Raw) {
    raw.send(&[q(TWO)]).unwrap();
    raw.expect("T D D C Z(I)").unwrap();
    raw.expect_silence().unwrap();
}

fn notice(heard: &Transcript) -> String {
    let notice = heard.messages.iter().find(|message| message.tag == b'N').expect("a notice");
    notice.field(b'M').unwrap()
}
