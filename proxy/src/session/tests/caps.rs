//! Row caps.

use super::*;

fn capped(max: u64, over: Over) -> Play {
    let mut play = Play::new();
    play.cap = Some(RowCap { max, over });
    play
}

#[test]
fn a_cut_result_ends_with_a_notice_and_the_servers_own_tag() {
    let mut play = capped(2, Over::Cut);
    play.send("Q:select");
    play.hear("T D*5 C=SELECT_5 Z(I)");
    assert_eq!(play.client(), "T D D N(01000) C Z(I)");
    assert!(!play.session.events().cancel);
    assert_eq!(std::mem::take(&mut play.session.events().done)[0].rows, 2);
    play.send("Q:select");
    play.hear("T D*2 C=SELECT_2 Z(I)");
    assert_eq!(play.client(), "T D D C Z(I)");
}

#[test]
fn rows_are_counted_over_all_executes_of_a_portal() {
    let mut play = capped(3, Over::Cut);
    play.send("P::select B:: E::2 E::2 E: S");
    play.hear("1 2 D*2 s D*2 s D*4 C Z(I)");
    assert_eq!(play.client(), "1 2 D D s D N(01000) s N(01000) C Z(I)");
}

#[test]
fn every_statement_of_a_query_has_its_own_count() {
    let mut play = capped(1, Over::Cut);
    play.send("Q:a;b");
    play.hear("T D*2 C T D C Z(I)");
    assert_eq!(play.client(), "T D N(01000) C T D C Z(I)");
}

#[test]
fn over_an_error_cap_the_statement_is_cancelled_and_the_client_gets_53400() {
    let mut play = capped(2, Over::Error);
    play.send("Q:select");
    play.hear("T D*3");
    assert!(std::mem::take(&mut play.session.events().cancel));
    play.hear("D*4");
    assert!(!play.session.events().cancel, "one cancel is enough");
    play.hear("E=57014 Z(I)");
    assert_eq!(play.client(), "T D D E(53400) Z(I)");
}

#[test]
fn a_statement_that_ended_before_the_cancel_fails_all_the_same() {
    let mut play = capped(2, Over::Error);
    play.send("Q:select");
    play.hear("T D*3 C Z(I)");
    assert_eq!(play.client(), "T D D E(53400) Z(I)");
    assert_eq!(play.upstream(), "Q(select)");
}

#[test]
fn in_a_transaction_it_makes_the_transaction_fail() {
    let mut play = capped(2, Over::Error);
    play.begin();
    play.send("Q:select");
    play.hear("T D*3 C Z(T)");
    assert_eq!(play.client(), "T D D E(53400)");
    assert_eq!(play.upstream(), "Q(select) Q(pgmoat fails this transaction: limit_rows)");
    play.hear("E=42601 Z(E)");
    assert_eq!(play.client(), "Z(E)");
    assert!(play.session.has_failed());
}

#[test]
fn in_a_batch_nothing_runs_behind_it_and_all_of_it_is_rolled_back() {
    let mut play = capped(1, Over::Error);
    assert!(play.send("P::change B:: E: P::select"), "what follows waits for the rows");
    play.hear("1 2 C=INSERT_0_1");
    assert!(play.send("P::select B:: E: S"));
    play.hear("1 2 D*2");
    assert!(play.send("S"));
    play.upstream();
    play.hear("C");
    assert_eq!(play.client(), "1 2 C 1 2 D E(53400)");
    assert_eq!(play.upstream(), "P(pgmoat_0000000100000001,pgmoat fails this transaction: limit_rows)");
    assert!(!play.send("P::late B:: E: S"), "what the server would skip is dropped");
    assert_eq!(play.upstream(), "S");
    play.hear("E=42601 Z(I)");
    assert_eq!(play.client(), "Z(I)");
}

#[test]
fn a_batch_within_its_cap_goes_on() {
    let mut play = capped(1, Over::Error);
    assert!(play.send("P::select B:: E: S"));
    play.hear("1 2 D C");
    assert!(!play.send("S"));
    play.hear("Z(I)");
    assert_eq!(play.client(), "1 2 D C Z(I)");
}

#[test]
fn what_is_done_for_good_is_cut_and_not_told_as_failed() {
    for text in ["change", "select;select"] {
        let mut play = capped(1, Over::Error);
        play.send(&format!("Q:{text}"));
        play.hear("T D*2 C");
        if text.contains(';') {
            play.hear("T D C");
        }
        play.hear("Z(I)");
        assert!(play.client().starts_with("T D N(01000) C"), "{text}");
    }
}

#[test]
fn in_a_block_what_follows_a_query_waits() {
    let mut play = capped(1, Over::Error);
    play.begin();
    play.send("Q:select");
    assert!(play.send("Q:commit"), "else it would be committed before it fails");
    play.hear("T D*2 C Z(T) E=42601 Z(E)");
    assert_eq!(play.client(), "T D E(53400) Z(E)");
    assert!(!play.send("Q:commit"));
}

#[test]
fn a_row_that_may_pass_is_finished_and_the_next_is_not_begun() {
    let mut play = capped(1, Over::Cut);
    play.send("Q:select");
    play.hear("T");
    assert_eq!(play.session.row_limit(false), 1);
    assert!(play.session.rows(b'D', 1).unwrap());
    // The row goes on in the next chunk: only up to its end.
    assert_eq!(play.session.row_limit(true), 0);
    assert!(play.session.rows(b'D', 0).unwrap());
    assert_eq!(play.session.row_limit(false), u64::MAX);
    assert!(!play.session.rows(b'D', 1).unwrap());
    assert!(!play.session.rows(b'D', 0).unwrap());
}

#[test]
fn copied_rows_count() {
    let mut play = capped(1, Over::Cut);
    play.send("Q:copy-out");
    play.hear("H d*3 c C=COPY_3 Z(I)");
    assert_eq!(play.client(), "H d c N(01000) C Z(I)");
}

#[test]
fn a_copy_over_an_error_cap_does_not_say_that_it_is_done() {
    let mut play = capped(1, Over::Error);
    play.send("Q:copy-out");
    play.hear("H d*3 c C=COPY_3 Z(I)");
    assert_eq!(play.client(), "H d E(53400) Z(I)");
}

#[test]
fn a_timeout_is_told_as_one() {
    let mut play = Play::new();
    play.send("Q:select");
    play.session.time_out();
    let mut own = BytesMut::new();
    let bytes = b"E\0\0\0\x20SERROR\0VERROR\0C57014\0Msecret\0\0";
    play.session.reply(Frame { tag: b'E', bytes }, &mut own).unwrap();
    let fields = Fields::decode(&own[5..]).unwrap();
    assert_eq!(fields.message(), Some("canceling statement due to statement timeout"));
}
