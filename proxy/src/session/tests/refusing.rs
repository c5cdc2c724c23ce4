//! Refusal by answer and by substitution.

use super::*;

/// What stands in for a refused text.
const POISON: &str = "pgmoat refused this statement: tenant_unproven";

#[test]
fn an_idle_session_answers_itself_and_upstream_is_not_touched() {
    let mut play = Play::new();
    play.send("Q:denied");
    assert_eq!((play.client(), play.upstream()), ("E(42501) Z(I)".into(), String::new()));
    play.send("P::denied B:: D:P: E: H");
    assert_eq!((play.client(), play.upstream()), ("E(42501)".into(), String::new()));
    play.send("Q:select S");
    assert_eq!((play.client(), play.upstream()), ("Z(I)".into(), String::new()));
    play.send("Q:select");
    assert_eq!(play.upstream(), "Q(select)");
}

#[test]
fn in_a_transaction_a_text_that_cannot_parse_takes_its_place() {
    let mut play = Play::new();
    play.begin();
    play.send("Q:denied");
    assert_eq!(play.upstream(), format!("Q({POISON})"));
    play.hear("E=42601 Z(E)");
    assert_eq!(play.client(), "E(42501) Z(E)");
    // Now the transaction has failed: as any statement, 25P02.
    play.send("Q:denied");
    play.hear("E=42601 Z(E)");
    assert_eq!(play.client(), "E(25P02) Z(E)");
}

#[test]
fn in_a_batch_the_earlier_statement_is_rolled_back_by_the_server() {
    // wire 2: `P(INSERT) B E P(poison) B E S`: `1 2 C E Z(I)`.
    let mut play = Play::new();
    play.send("P::insert B:: E: P::denied B:: E: S");
    let poison = "B(,pgmoat refused: name_unknown) E()";
    assert_eq!(play.upstream(), format!("P(,insert) B(,) E() P(,{POISON}) {poison} S"));
    play.hear("1 2 C=INSERT_0_1 E=42601 Z(I)");
    assert_eq!(play.client(), "1 2 C E(42501) Z(I)");
}

#[test]
fn a_refusal_waits_for_its_place_in_the_order_of_replies() {
    // wire 2: `C(s0) S P(poison) D S` in one write: `3 Z(I) E Z(I)`.
    let mut play = Play::new();
    play.send("C:S:s0 S P::denied D:S: S");
    assert_eq!(play.client(), "");
    play.hear("3 Z(I) E=42601 Z(I)");
    assert_eq!(play.client(), "3 Z(I) E(42501) Z(I)");
}

#[test]
fn a_refused_query_among_others_has_its_own_error() {
    let mut play = Play::new();
    play.send("Q:a Q:denied Q:b");
    play.hear("T D C Z(I) E=42601 Z(I) T D C Z(I)");
    assert_eq!(play.client(), "T D C Z(I) E(42501) Z(I) T D C Z(I)");
}

#[test]
fn function_calls_are_refused_in_order() {
    let mut play = Play::new();
    play.send("F");
    assert_eq!((play.client(), play.upstream()), ("E(42501) Z(I)".into(), String::new()));
    play.send("Q:a F");
    play.hear("C Z(I) E=42601 Z(I)");
    assert_eq!(play.client(), "C Z(I) E(42501) Z(I)");
}

#[test]
fn a_poison_that_does_not_fail_is_broken() {
    for (batch, reply) in [("P::denied", "1"), ("Q:denied", "C"), ("Q:denied", "T"), ("Q:denied", "Z(T)")] {
        let mut play = Play::new();
        play.begin();
        play.send(batch);
        assert!(play.try_hear(reply).is_err(), "{reply} for {batch}");
    }
}

#[test]
fn a_value_that_is_not_the_tenants_is_refused_at_bind() {
    let mut play = Play::new();
    play.prepare("a", "select$1");
    play.send("B::a:globex E: S");
    assert_eq!((play.client(), play.upstream()), ("E(42501) Z(I)".into(), String::new()));
    play.send("B::a:acme E: S");
    play.hear("2 D C Z(I)");
    assert_eq!(play.client(), "2 D C Z(I)");
    play.begin();
    play.send("B::a:globex E: S");
    play.hear("E=26000 Z(E)");
    assert_eq!(play.client(), "E(42501) Z(E)");
}

#[test]
fn after_a_denied_bind_the_old_unnamed_portal_does_not_run() {
    // PostgreSQL's unnamed portal survives the substitute's 26000 if it is older than the savepoint.
    let mut play = Play::new();
    play.prepare("a", "select$1");
    play.begin();
    play.send("B::a:acme E::1 S");
    play.hear("2 D s Z(T)");
    play.send("Q:savepoint");
    play.hear("C=SAVEPOINT Z(T)");
    // The Query made the unnamed portal go; bind it again, then deny.
    play.send("B::a:acme E::1 S");
    play.hear("2 D s Z(T)");
    play.send("B::a:globex S");
    play.hear("E=26000 Z(E)");
    play.upstream();
    play.client();
    play.send("E: S");
    assert_eq!(play.upstream(), "E(pgmoat refused: name_unknown) S");
    play.hear("E=34000 Z(E)");
    assert_eq!(play.client(), "E(34000) Z(E)");
}

#[test]
fn a_bind_of_an_unknown_statement_keeps_the_unnamed_portal() {
    let mut play = Play::new();
    play.begin();
    play.send("P::select B:: E::1 S");
    play.hear("1 2 D s Z(T)");
    play.send("B::nobody S");
    play.hear("E=26000 Z(E)");
    play.upstream();
    play.client();
    play.send("E: S");
    assert_eq!(play.upstream(), "E() S");
}

#[test]
fn a_refused_statement_makes_the_unnamed_statement_go_as_postgresql_does() {
    // wire 2: a failed unnamed Parse drops the old one, so does any Query; a failed named one keeps it.
    for (refused, survives) in [("P::denied S", false), ("Q:denied", false), ("P:n:denied S", true)] {
        for inside in [false, true] {
            let mut play = Play::new();
            play.send("P::select S");
            play.hear("1 Z(I)");
            if inside {
                play.send("P:keep:select S");
                play.hear("1 Z(I)");
                play.send("B:p:keep E:p:1");
                play.hear("2 D s");
            }
            play.send(refused);
            if inside {
                play.hear("E=42601 Z(I)");
                if !refused.ends_with('S') {
                    play.hear("");
                }
            }
            play.upstream();
            play.client();
            play.send("B:: E: S");
            let sent = play.upstream();
            if survives {
                assert_eq!(sent, "B(,) E() S", "{refused}, in a batch: {inside}");
            } else {
                assert_ne!(sent, "B(,) E() S", "{refused}, in a batch: {inside}");
            }
        }
    }
}

#[test]
fn unknown_names_fail_an_open_transaction_with_postgresqls_own_text() {
    let mut play = Play::new();
    play.send("B::nobody E: S");
    assert_eq!(play.client(), "E(26000) Z(I)");
    play.send("E:nobody S");
    assert_eq!(play.client(), "E(34000) Z(I)");
    play.send("D:S:nobody S");
    assert_eq!(play.client(), "E(26000) Z(I)");
    play.begin();
    play.send("D:P:nobody S");
    assert_eq!(play.upstream(), "D(Ppgmoat refused: name_unknown) S");
    play.hear("E=34000 Z(E)");
    assert_eq!(play.client(), "E(34000) Z(E)");
}

#[test]
fn long_names_are_refused() {
    let mut play = Play::new();
    let name = "n".repeat(64);
    play.send(&format!("P:{name}:select S"));
    assert_eq!(play.client(), "E(42622) Z(I)");
    play.send(&format!("P:{}:select S", "n".repeat(63)));
    assert!(play.upstream().starts_with("P(pgmoat_0000000100000001,select)"));
}

#[test]
fn after_rollback_in_the_same_batch_a_denial_is_a_denial_again() {
    let mut play = Play::new();
    play.begin();
    play.send("Q:bad");
    play.hear("E=42601 Z(E)");
    play.client();
    play.send("P::rollback B:: E: P::denied S");
    play.hear("1 2 C=ROLLBACK E=42601 Z(I)");
    assert_eq!(play.client(), "1 2 C E(42501) Z(I)");
}

fn malformed(play: &mut Play, tag: u8, body: &[u8]) {
    let length = u32::try_from(body.len() + 4).unwrap();
    let bytes = [&[tag], &length.to_be_bytes()[..], body].concat();
    match play.session.step(Frame { tag, bytes: &bytes }, 0).unwrap() {
        Step::Answer(answer) => play.answer(&answer),
        Step::Forward(pass) => {
            let mut out = BytesMut::new();
            pass.write(&mut out).unwrap();
            play.sent(out);
        }
        Step::Ignore => {}
        other @ (Step::Judge(_) | Step::Refuse(..) | Step::Wait | Step::End) => panic!("{other:?}"),
    }
}

#[test]
fn a_malformed_message_is_an_error_and_the_session_goes_on() {
    let mut play = Play::new();
    malformed(&mut play, b'Q', b"select '\xe9'\0");
    assert_eq!(play.client(), "E(22021) Z(I)");
    let _ = play.prepare("a", "select");
    malformed(&mut play, b'B', b"\0unknown\0\0\x01\0\x02");
    play.send("S");
    assert_eq!(play.client(), "E(26000) Z(I)");
    malformed(&mut play, b'B', b"\0a\0\0\x01\0\x02\0\0\0\0");
    play.send("E: S");
    assert_eq!((play.client(), play.upstream()), ("E(22023) Z(I)".to_owned(), String::new()));
    play.begin();
    malformed(&mut play, b'P', b"\0\xe9\0\0\0");
    malformed(&mut play, b'P', b"\xff");
    play.send("S");
    play.hear("E=42601 Z(E)");
    assert_eq!(play.client(), "E(22021) Z(E)");
    // Where the server skips to a Sync it does not look inside.
    play.send("P::denied");
    play.hear("E=42601");
    play.upstream();
    malformed(&mut play, b'P', b"\0\xe9\0\0\0");
    assert_eq!(play.upstream(), "");
}

/// A message with this body, and what comes of it.
fn send_malformed(play: &mut Play, tag: u8, body: &[u8]) {
    let length = u32::try_from(body.len() + 4).unwrap();
    let bytes = [&[tag], &length.to_be_bytes()[..], body].concat();
    match play.session.step(Frame { tag, bytes: &bytes }, 0).unwrap() {
        Step::Answer(answer) => play.answer(&answer),
        Step::Forward(pass) => {
            let mut out = BytesMut::new();
            pass.write(&mut out).unwrap();
            play.sent(out);
        }
        other @ (Step::Judge(_) | Step::Refuse(..) | Step::Ignore | Step::Wait | Step::End) => {
            panic!("{other:?}")
        }
    }
}

#[test]
fn a_malformed_query_leaves_the_unnamed_statement() {
    let mut play = Play::new();
    play.send("P::one S");
    play.hear("1 Z(I)");
    send_malformed(&mut play, b'Q', b"no NUL");
    assert_eq!(play.client(), "1 Z(I) E(08P01) Z(I)");
    play.begin();
    play.send("P::two S");
    play.hear("1 Z(T)");
    send_malformed(&mut play, b'Q', b"\xff\0");
    play.hear("E=08P01 Z(E)");
    play.upstream();
    play.client();
    play.send("B:: S");
    assert_eq!(play.upstream(), "B(,) S");
}

#[test]
fn a_malformed_sync_fails_its_batch_and_ends_it() {
    let mut play = Play::new();
    send_malformed(&mut play, b'S', b"x");
    assert_eq!((play.client().as_str(), play.upstream().as_str()), ("E(08P01) Z(I)", ""));
    play.send("P::denied");
    send_malformed(&mut play, b'S', b"x");
    assert_eq!((play.client().as_str(), play.upstream().as_str()), ("E(42501) E(08P01) Z(I)", ""));
    assert!(play.session.is_quiet());
    play.send("P::one B:: E:");
    send_malformed(&mut play, b'S', b"x");
    play.hear("1 2 D C E=08P01 Z(I)");
    assert_eq!(play.client(), "1 2 D C E(08P01) Z(I)");
    assert!(play.session.is_quiet());
    play.send("P::one");
    send_malformed(&mut play, b'S', b"x");
    play.hear("1");
    // It could not but fail.
    assert_eq!(play.try_hear("Z(I)"), Err(Broken::Unasked(b'Z')));
}
