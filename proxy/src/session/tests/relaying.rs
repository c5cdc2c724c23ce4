//! What is allowed passes as on a direct connection.

use super::*;

#[test]
fn simple_queries_pass_one_reply_each() {
    let mut play = Play::new();
    play.send("Q:select");
    assert_eq!(play.upstream(), "Q(select)");
    play.hear("T D*2 C Z(I)");
    assert_eq!(play.client(), "T D D C Z(I)");
    let done = std::mem::take(&mut play.session.events().done);
    assert_eq!((done[0].of, done[0].rows, done[0].tag), (1, 2, Some(Tag::new("SELECT 1"))));
    assert!(play.session.is_quiet());
}

#[test]
fn a_batch_passes_in_order_and_the_unnamed_stays_unnamed() {
    let mut play = Play::new();
    play.send("P::select B:: D:P: E: S");
    assert_eq!(play.upstream(), "P(,select) B(,) D(P) E() S");
    play.hear("1 2 T D C Z(I)");
    assert_eq!(play.client(), "1 2 T D C Z(I)");
    assert!(play.session.is_quiet());
}

#[test]
fn an_error_reaches_to_the_next_sync_and_the_skipped_query_has_no_reply() {
    // wire 2: `P(bad) Q Q S Q` in one write: `E Z(I)`, then only the last Q's answer.
    let mut play = Play::new();
    play.send("P::bad Q:a Q:b S Q:c");
    play.hear("E=42601 Z(I)");
    assert_eq!(play.client(), "E(42601) Z(I)");
    play.hear("T D C Z(I)");
    assert_eq!(play.client(), "T D C Z(I)");
    assert!(play.session.is_quiet());
}

#[test]
fn after_an_error_without_a_sync_what_the_server_would_skip_is_not_sent() {
    let mut play = Play::new();
    play.send("P::bad H");
    play.hear("E=42601");
    assert_eq!(play.client(), "E(42601)");
    play.upstream();
    play.send("B:: E: Q:select H");
    assert_eq!(play.upstream(), "");
    play.send("S");
    assert_eq!(play.upstream(), "S");
    play.hear("Z(I)");
    assert_eq!(play.client(), "Z(I)");
}

#[test]
fn portal_suspended_ends_an_execute() {
    let mut play = Play::new();
    play.begin();
    play.send("P::select B:: E::1 E::1 E::1 S");
    play.hear("1 2 D s D s D C Z(T)");
    assert_eq!(play.client(), "1 2 D s D s D C Z(T)");
}

#[test]
fn describe_of_a_statement_has_two_parts() {
    let mut play = Play::new();
    play.send("P::select D:S: S");
    play.hear("1 t n Z(I)");
    assert_eq!(play.client(), "1 t n Z(I)");
    play.send("D:S: S");
    assert_eq!(play.try_hear("T"), Err(Broken::Unasked(b'T')));
}

#[test]
fn notices_parameters_and_notifications_come_anywhere() {
    let mut play = Play::new();
    play.errors = ErrorPosture::Pass;
    play.hear("S A");
    play.send("Q:select");
    play.hear("N=00000 T S D C S S Z(I) A");
    assert_eq!(play.client(), "S A N(00000) T S D C S S Z(I) A");
}

#[test]
fn what_fits_no_request_is_broken() {
    for unasked in
        ["1", "2", "3", "T", "t", "n", "C", "I", "s", "Z(I)", "E=42601", "G", "H", "c", "D", "d", "V", "W"]
    {
        assert!(Play::new().try_hear(unasked).is_err(), "{unasked} with nothing owed");
    }
    for (sent, unasked) in [("P::select", "2"), ("Q:select", "1"), ("Q:select", "s"), ("P::select S", "Z(I)")]
    {
        let mut play = Play::new();
        play.send(sent);
        assert!(play.try_hear(unasked).is_err(), "{unasked} for {sent}");
    }
}

#[test]
fn another_number_of_statements_than_were_judged_is_broken() {
    let mut play = Play::new();
    play.send("Q:a;b");
    play.hear("T D C");
    assert_eq!(play.try_hear("Z(I)"), Err(Broken::Statements { judged: 2, ran: 1 }));
    let mut play = Play::new();
    play.send("Q:a");
    play.hear("T D C");
    assert_eq!(play.try_hear("C"), Err(Broken::Unasked(b'C')));
}

#[test]
fn a_fatal_error_of_the_server_is_told_once_and_ends_the_session() {
    let mut play = Play::new();
    play.hear("E=57P01!");
    assert_eq!(play.client(), "E(57P01)");
    assert!(play.session.events().ended);
}

#[test]
fn errors_lose_their_values_unless_the_posture_says_pass() {
    for (errors, text) in [(ErrorPosture::Redact, "division by zero"), (ErrorPosture::Pass, "secret")] {
        let mut play = Play::new();
        play.errors = errors;
        play.send("Q:select");
        let mut own = BytesMut::new();
        let bytes = b"E\0\0\0\x20SERROR\0VERROR\0C22012\0Msecret\0\0";
        play.session.reply(Frame { tag: b'E', bytes }, &mut own).unwrap();
        assert_eq!(Fields::decode(&own[5..]).unwrap().message(), Some(text));
    }
}

#[test]
fn what_was_owed_when_upstream_went_away_is_of_unknown_end() {
    let mut play = Play::new();
    play.send("Q:a Q:b P::c B:: E:");
    play.hear("C");
    let ends: Vec<(u64, Reached)> =
        play.session.abandon().iter().map(|done| (done.of, done.reached)).collect();
    assert_eq!(ends, [(1, Reached::Unknown), (2, Reached::Unknown), (4, Reached::Unknown)]);
}

#[test]
fn a_settings_replay_that_fails_ends_the_session() {
    let mut play = Play::new();
    play.session.inject(0);
    play.hear("E=22023");
    assert_eq!(play.client(), "E(22023)");
    assert!(play.session.events().ended);
}
