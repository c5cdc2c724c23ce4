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
    assert_eq!(play.upstream(), "P(,copy-in) B(,) E() S d S H c");
    // What comes behind its end waits for what has become of the others, which the server would keep for the Sync.
    assert!(play.session.awaits_copy_end() && play.send("S"));
    play.hear("C=COPY_1");
    assert!(play.session.is_unsynced());
    play.send("S");
    play.hear("Z(I)");
    assert_eq!(play.client(), "1 2 G C Z(I)");
    assert!(play.session.is_quiet());
}

#[test]
fn a_whole_copy_in_one_write() {
    let mut play = Play::new();
    assert!(play.send("P::copy-in B:: E: S d c S"));
    play.hear("1 2 G C=COPY_1");
    play.send("S");
    play.hear("Z(I)");
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

/// A Query that copies in, data and a Sync behind it; how the copy ends, and how often the server answers the Sync.
#[test]
fn a_sync_behind_data_is_counted_when_the_copy_has_failed() {
    for (answered, heard) in [("Z(I)", "G E(22P04) Z(I)"), ("Z(I) Z(I)", "G E(22P04) Z(I) Z(I)")] {
        let mut play = Play::new();
        assert!(!play.send("Q:copy-in d S"));
        // Who knows whether this will be read inside the copy.
        assert!(play.send("Q:select"));
        play.hear("G E=22P04 Z(I)");
        assert!(std::mem::take(&mut play.session.events().count_syncs));
        assert!(play.session.is_being_set_up());
        play.hear(&format!("{answered} 3 Z(I)"));
        assert_eq!(play.client(), heard);
        assert!(play.session.is_quiet());
    }
    let mut play = Play::new();
    play.send("Q:copy-in d S");
    play.hear("G E=22P04 Z(I) Z(I) Z(I)");
    assert_eq!(play.try_hear("Z(I)"), Err(Broken::Unasked(b'Z')));
}

/// The same behind an Execute: the server skips to a Sync, and if none was left to it, the proxy's has ended that. What
/// the client sends up to its own is dropped then.
#[test]
fn a_sync_behind_data_of_an_execute_is_counted_when_the_copy_has_failed() {
    let cases = [
        ("Z(T)", "", "S", "Z(E)", "1 2 G E(23505) Z(E)"),
        ("Z(E) Z(E)", "Q(select)", "", "E=25P02 Z(E)", "1 2 G E(23505) Z(E) E(25P02) Z(E)"),
        ("Z(E) Z(E) Z(E)", "Q(select)", "", "E=25P02 Z(E)", "1 2 G E(23505) Z(E) Z(E) E(25P02) Z(E)"),
    ];
    for (answered, sent, sync, last, heard) in cases {
        let mut play = Play::new();
        play.send("P::copy-in B:: E: d S d S c");
        play.hear("1 2 G E=23505");
        play.upstream();
        assert!(std::mem::take(&mut play.session.events().count_syncs));
        // What is to become of these is not known yet.
        assert!(play.send("Q:select") && play.send("S"));
        play.hear(&format!("{answered} 3 Z(E)"));
        play.send("Q:select");
        assert_eq!(play.upstream(), sent);
        play.send(sync);
        play.hear(last);
        assert_eq!(play.client(), heard);
        assert!(!play.session.is_unsynced() && play.session.owed() == 0);
    }
}

/// COPY into a view is refused behind CopyInResponse, before anything was read.
#[test]
fn a_sync_directly_behind_a_copy_counts_where_nothing_was_read() {
    let mut play = Play::new();
    play.send("P::copy-in B:: E: S");
    play.hear("1 2 G E=0A000");
    play.send("d c");
    play.hear("Z(I) Z(I) 3 Z(I)");
    assert_eq!(play.client(), "1 2 G E(0A000) Z(I)");
    assert!(play.session.is_quiet());
    // Where it was not even begun, each Sync counts.
    for (earlier, heard) in [("", "1 2 E=42P01"), ("P:x:select D:P:nobody", "1 E=34000")] {
        let mut play = Play::new();
        play.send(&format!("{earlier} P::copy-in B:: E: S S"));
        play.hear(&format!("{heard} Z(I) Z(I)"));
        assert!(play.session.is_quiet() && !play.session.events().count_syncs, "{earlier}");
    }
}

/// An error of what was sent before says nothing of the copy.
#[test]
fn a_sync_behind_data_is_not_counted_for_an_earlier_error() {
    let cases = [
        ("Q:select E:nobody S", "C=SELECT_1 Z(I) E=34000 Z(I)", "C Z(I) E(34000) Z(I)"),
        ("Q:select", "E=22012 Z(I)", "E(22012) Z(I)"),
    ];
    for (earlier, answers, heard) in cases {
        let mut play = Play::new();
        play.send(&format!("{earlier} Q:copy-in S c"));
        play.hear(&format!("{answers} G C=COPY_2 Z(I)"));
        assert_eq!(play.client(), format!("{heard} G C Z(I)"), "{earlier}");
        assert!(play.session.is_quiet() && !play.session.events().count_syncs);
    }
    // An Execute's: the server skips nothing behind a Query.
    let mut play = Play::new();
    play.send("Q:select P::copy-in B:: E: S c");
    play.hear("E=22012 Z(I) 1 2 G C=COPY_2");
    play.send("S");
    play.hear("Z(I)");
    assert_eq!(play.client(), "E(22012) Z(I) 1 2 G C Z(I)");
    assert!(play.session.is_quiet());
}

#[test]
fn a_sync_inside_a_copy_that_is_done_was_ignored() {
    let mut play = Play::new();
    play.send("Q:copy-in d S d S c");
    // What comes behind its end waits for that.
    assert!(play.send("S"));
    play.hear("G C=COPY_2 Z(I)");
    assert_eq!(play.client(), "G C Z(I)");
    assert!(play.session.is_quiet() && !play.session.events().count_syncs);
    play.send("Q:copy-in S");
    play.hear("E=42P01 Z(I) Z(I)");
    assert_eq!(play.client(), "E(42P01) Z(I) Z(I)");
    assert!(play.session.is_quiet());
}
