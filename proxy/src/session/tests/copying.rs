//! COPY.

use super::*;

#[test]
fn copy_in_by_query() {
    let mut play = Play::new();
    play.send("Q:copy-in");
    play.hear("G");
    play.send("d d c");
    assert_eq!(play.upstream(), "Q(copy-in) d d c");
    play.hear("C=COPY_2 Z(I)");
    assert_eq!(play.client(), "G C Z(I)");
    assert!(play.session.is_quiet());
}

#[test]
fn copy_data_outside_a_copy_is_dropped() {
    let mut play = Play::new();
    play.send("d c f");
    assert_eq!(play.upstream(), "");
    assert!(play.session.is_quiet());
}

#[test]
fn sync_and_flush_inside_a_copy_do_not_count() {
    // wire 2: `P(copy in) B E S d H c`, then `S`: `1 2 G`, then `C Z`.
    let mut play = Play::new();
    play.send("P::copy-in B:: E: S");
    play.hear("1 2 G");
    play.send("d S H c");
    assert_eq!(play.upstream(), "P(,copy-in) B(,) E() S d H c");
    play.send("S");
    play.hear("C=COPY_1 Z(I)");
    assert_eq!(play.client(), "1 2 G C Z(I)");
    assert!(play.session.is_quiet());
}

#[test]
fn a_whole_copy_in_one_write() {
    let mut play = Play::new();
    play.send("P::copy-in B:: E: S d c S");
    play.hear("1 2 G C=COPY_1 Z(I)");
    assert_eq!(play.client(), "1 2 G C Z(I)");
    assert!(play.session.is_quiet());
}

#[test]
fn data_of_a_failed_copy_meets_no_other_statement() {
    // wire 2: copy-in with a bad row, late `d c`, then Q: `E Z`, then only Q's answer.
    let mut play = Play::new();
    play.send("Q:copy-in");
    play.hear("G E=22P02 Z(I)");
    play.upstream();
    play.send("d c Q:select");
    assert_eq!(play.upstream(), "Q(select)");
    play.hear("T D C Z(I)");
    assert_eq!(play.client(), "G E(22P02) Z(I) T D C Z(I)");
}

#[test]
fn another_message_inside_a_copy_ends_the_session() {
    let mut play = Play::new();
    play.send("Q:copy-in");
    play.hear("G");
    let bytes = encode("Q:select");
    assert!(play.session.step(Frame { tag: b'Q', bytes: &bytes }, 0).is_err());
}

#[test]
fn a_copy_in_that_nobody_let_through_is_broken() {
    let mut play = Play::new();
    play.send("Q:select");
    assert!(play.try_hear("G").is_err());
}

#[test]
fn copy_out_is_relayed() {
    let mut play = Play::new();
    play.send("Q:copy-out");
    play.hear("H d*2 c C=COPY_2 Z(I)");
    assert_eq!(play.client(), "H d d c C Z(I)");
}
