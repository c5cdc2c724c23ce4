//! Names: the proxy's own upstream, changed only as the server says.

use super::*;

#[test]
fn a_named_statement_goes_under_a_name_of_the_proxys_own() {
    let mut play = Play::new();
    play.send("P:a:select B:p:a D:P:p E:p C:S:a C:P:p S");
    assert_eq!(
        play.upstream(),
        "P(pgmoat_0000000100000001,select) B(pgmoat_0000000100000002,pgmoat_0000000100000001) \
         D(Ppgmoat_0000000100000002) E(pgmoat_0000000100000002) C(Spgmoat_0000000100000001) \
         C(Ppgmoat_0000000100000002) S"
    );
}

#[test]
fn a_name_that_is_parsed_anew_never_means_the_old_text_upstream() {
    let mut play = Play::new();
    let first = play.prepare("a", "one");
    play.send("C:S:a S");
    play.hear("3 Z(I)");
    play.upstream();
    let second = play.prepare("a", "two");
    assert_ne!(first, second);
}

#[test]
fn a_second_parse_of_a_live_name_is_the_servers_to_refuse() {
    // wire 2: `P(n) P(n)`, both legal: `E 42P05`, and the old one lives.
    let mut play = Play::new();
    let name = play.prepare("n", "one");
    play.send("P:n:two B::n E: S");
    assert!(play.upstream().starts_with(&format!("P({name},two) B(,pgmoat refused: name_unknown)")));
    play.hear("E=42P05 Z(I)");
    assert_eq!(play.client(), "E(42P05) Z(I)");
    play.send("B::n E: S");
    assert_eq!(play.upstream(), format!("B(,{name}) E() S"));
}

#[test]
fn the_error_about_a_name_has_the_clients_name() {
    let mut play = Play::new();
    play.prepare("n", "one");
    play.send("P:n:two S");
    let mut own = BytesMut::new();
    let bytes = b"E\0\0\0\x31SERROR\0VERROR\0C42P05\0Mpgmoat_0 already exists\0\0";
    play.session.reply(Frame { tag: b'E', bytes }, &mut own).unwrap();
    let fields = Fields::decode(&own[5..]).unwrap();
    assert_eq!(fields.message(), Some("prepared statement \"n\" already exists"));
}

#[test]
fn close_and_parse_that_the_server_skips_change_nothing() {
    let mut play = Play::new();
    let old = play.prepare("a", "old");
    play.send("P::bad C:S:a P:a:new S");
    play.hear("E=42601 Z(I)");
    play.upstream();
    play.send("B::a E: S");
    assert_eq!(play.upstream(), format!("B(,{old}) E() S"));
}

#[test]
fn a_bind_across_batches_waits_for_the_servers_word_on_its_name() {
    let mut play = Play::new();
    let old = play.prepare("a", "old");
    play.send("P::bad C:S:a P:a:new S");
    play.upstream();
    assert!(play.send("B::a E: S"));
    assert_eq!(play.upstream(), "");
    play.hear("E=42601 Z(I)");
    assert!(!play.send("B::a E: S"));
    assert_eq!(play.upstream(), format!("B(,{old}) E() S"));
}

#[test]
fn an_unnamed_bind_across_batches_waits_too() {
    let mut play = Play::new();
    play.send("P::one S");
    play.hear("1 Z(I)");
    play.send("P:n:bad P::two$1 S");
    assert!(play.send("B::"));
    play.hear("E=42601 Z(I)");
    play.upstream();
    // It is the first one that is bound: no value is asked for.
    play.send("B:: E: S");
    assert_eq!(play.upstream(), "B(,) E() S");
}

#[test]
fn deallocate_all_goes_for_older_names_only() {
    // wire 2: `E(DEALLOCATE ALL) P(a) B E S`: all succeed, `a` is alive.
    let mut play = Play::new();
    let old = play.prepare("a", "old");
    play.prepare("b", "old");
    play.send("P::deallocate-all B:: E: P:a:new B::a E: S");
    let sent = play.upstream();
    let new = sent.split("P(").nth(2).unwrap().split(',').next().unwrap().to_owned();
    assert_ne!(new, old);
    play.hear("1 2 C=DEALLOCATE_ALL 1 2 C Z(I)");
    assert_eq!(play.client(), "1 2 C 1 2 C Z(I)");
    play.send("B::a E: S");
    assert_eq!(play.upstream(), format!("B(,{new}) E() S"));
    play.hear("2 C Z(I)");
    play.client();
    play.send("B::b S");
    assert_eq!(play.client(), "E(26000) Z(I)");
}

#[test]
fn deallocate_of_one_name_makes_room_for_it_in_the_same_batch() {
    let mut play = Play::new();
    let old = play.prepare("a", "old");
    play.send("P::deallocate-a B:: E: P:a:new S");
    assert!(!play.upstream().contains(&format!("P({old}")));
    play.hear("1 2 C=DEALLOCATE 1 Z(I)");
    play.send("Q:deallocate-a");
    play.hear("C=DEALLOCATE Z(I)");
    play.client();
    play.send("B::a S");
    assert_eq!(play.client(), "E(26000) Z(I)");
}

#[test]
fn a_failed_parse_of_the_unnamed_statement_drops_it_and_of_a_named_one_does_not() {
    for (parse, statement, sent) in [("P::bad S", "", false), ("P:n:bad S", "n", true)] {
        let mut play = Play::new();
        play.prepare(statement, "good");
        play.send(parse);
        play.hear("E=42601 Z(I)");
        play.upstream();
        play.client();
        play.send(&format!("B::{statement} E: S"));
        assert_eq!(play.client().is_empty(), sent, "{parse}");
    }
}

#[test]
fn portals_die_with_their_transaction() {
    let mut play = Play::new();
    play.send("P:a:select B:p:a E:p:1 S");
    play.hear("1 2 D s Z(I)");
    play.client();
    play.upstream();
    play.send("E:p S");
    assert_eq!((play.client(), play.upstream()), ("E(34000) Z(I)".into(), String::new()));
    play.begin();
    play.send("B:p:a E:p:1 S");
    play.hear("2 D s Z(T)");
    play.upstream();
    play.send("E:p S");
    assert!(play.upstream().starts_with("E(pgmoat_"));
}

#[test]
fn a_bind_of_an_open_portal_keeps_the_first_binding() {
    let mut play = Play::new();
    play.prepare("a", "one$1");
    play.prepare("b", "two");
    play.begin();
    play.send("B:p:a:acme S");
    let portal = play.upstream().split(['(', ',']).nth(1).unwrap().to_owned();
    play.hear("2 Z(T)");
    play.send("B:p:b E:p S");
    assert!(play.upstream().starts_with(&format!("B({portal},")));
    play.hear("E=42P03 Z(E)");
    play.client();
    play.send("E:p S");
    assert_eq!(play.upstream(), format!("E({portal}) S"));
}

#[test]
fn closing_what_does_not_exist_succeeds() {
    let mut play = Play::new();
    play.send("C:S:x C:P:x S");
    assert_eq!(play.upstream(), "C(Spgmoat_0000000000000000) C(Ppgmoat_0000000000000000) S");
    play.hear("3 3 Z(I)");
    assert_eq!(play.client(), "3 3 Z(I)");
}

#[test]
fn names_are_bounded() {
    let mut play = Play::new();
    play.session.limits =
        SessionLimits { statements: 2, statement_bytes: 100, portals: 1, ..SessionLimits::default() };
    play.prepare("a", "one");
    play.prepare("b", "two");
    play.send("P:c:three S");
    assert_eq!(play.client(), "E(53400) Z(I)");
    play.send("C:S:a S");
    play.hear("3 Z(I)");
    play.client();
    play.send(&format!("P:c:{} S", "x".repeat(99)));
    assert_eq!(play.client(), "E(53400) Z(I)");
    play.prepare("c", "three");
    play.begin();
    play.send("B:p:c S");
    play.hear("2 Z(T)");
    play.send("B:q:c S");
    play.hear("E=26000 Z(E)");
    assert_eq!(play.client(), "2 Z(T) E(53400) Z(E)");
}

#[test]
fn a_changed_policy_judges_an_open_portal_again() {
    let mut play = Play::new();
    play.prepare("a", "select");
    play.begin();
    play.send("B:p:a E:p:1 S");
    play.hear("2 D s Z(T)");
    play.session.judged_by(1, ErrorPosture::Redact);
    let bytes = encode("E:p");
    let step = play.session.step(Frame { tag: b'E', bytes: &bytes }, 0).unwrap();
    assert!(matches!(step, Step::Judge(Ask::Execute { .. })));
}

#[test]
fn a_name_whose_parse_may_have_failed_is_waited_for_before_it_is_given_again() {
    // `P(a,bad) S P(a,good) S` in one write: the second is the first that there is.
    let mut play = Play::new();
    play.send("P:a:bad S");
    assert!(play.send("P:a:good"));
    play.hear("E=42883 Z(I)");
    play.upstream();
    assert!(!play.send("P:a:good S B::a E: S"));
    assert_eq!(play.upstream(), "P(pgmoat_0000000100000002,good) S B(,pgmoat_0000000100000002) E() S");
}

#[test]
fn a_portal_that_went_with_a_savepoint_is_bound_anew_under_its_name() {
    let mut play = Play::new();
    play.begin();
    play.send("P::select B:p: S");
    play.hear("1 2 Z(T)");
    play.send("Q:rollback_to_s");
    play.hear("C=ROLLBACK Z(T)");
    play.upstream();
    play.send("P::select B:p: E:p S");
    let portal = "pgmoat_0000000100000001";
    assert_eq!(play.upstream(), format!("P(,select) B({portal},) E({portal}) S"));
    play.hear("1 2 D C Z(T)");
    play.send("E:p S");
    assert_eq!(play.upstream(), format!("E({portal}) S"));
}

#[test]
fn deallocate_all_keeps_the_unnamed_statement() {
    let mut play = Play::new();
    let _ = play.prepare("d", "deallocate-all");
    play.send("P::select S");
    play.hear("1 Z(I)");
    play.send("B:p:d E:p B:: E: S");
    play.hear("2 C=DEALLOCATE_ALL 2 D C Z(I)");
    play.upstream();
    play.send("B:: E: S");
    assert_eq!(play.upstream(), "B(,) E() S");
}

/// A session that keeps little.
fn bounded(statement_bytes: usize) -> Play {
    let mut play = Play::new();
    let limits = SessionLimits { statement_bytes, ..SessionLimits::default() };
    play.session = Session::new(1, ErrorPosture::Redact, limits);
    play
}

#[test]
fn closed_statements_count_as_long_as_portals_keep_them() {
    let mut play = bounded(25);
    play.begin();
    for name in ["a", "b"] {
        play.send(&format!("P:{name}:0123456789 B:{name}:{name} C:S:{name} S"));
        play.hear("1 2 3 Z(T)");
    }
    play.client();
    play.send("P:c:0123456789 S");
    play.hear("E=42601 Z(E)");
    assert_eq!(play.client(), "E(53400) Z(E)");
    play.send("Q:rollback");
    play.hear("C=ROLLBACK Z(I)");
    play.client();
    play.send("P:c:0123456789 S");
    play.hear("1 Z(I)");
    assert_eq!(play.client(), "1 Z(I)");
}

#[test]
fn unnamed_and_pending_statements_count_too() {
    let mut play = bounded(25);
    play.send("P::0123456789 S P::0123456789 S");
    assert!(play.send("P::0123456789"), "replies that are on their way make room");
    play.hear("1 Z(I) 1 Z(I)");
    assert!(!play.send("P::0123456789 S"));
    play.hear("1 Z(I)");
    play.client();
    // In one batch nothing is answered before its Sync.
    play.send("P::0123456789 P::0123456789 S");
    play.hear("1 E=42601 Z(I)");
    assert_eq!(play.client(), "1 E(53400) Z(I)");
}
