//! Prepared statements on shared connections: what is made again, what the proxy answers itself, what is sent once more.

use std::collections::HashMap;

use super::*;

/// A session on shared connections, with an empty one.
fn sharing() -> Play {
    let mut play = Play::new();
    play.session.share(1);
    play.session.names_by(Namer::default(), 0);
    play.session.attach(pgmoat_upstream::Carried::default(), &[]);
    play
}

/// The session goes on with an empty connection.
fn move_on(play: &mut Play) {
    let loose = play.session.loose().unwrap();
    play.session.detach(&loose);
    play.session.attach(pgmoat_upstream::Carried::default(), &[]);
}

/// What went upstream, with `n1`, `n2`, … for names in the order in which they are seen.
fn sent(play: &mut Play) -> String {
    let upstream = play.upstream();
    let mut names = HashMap::new();
    let mut parts = upstream.split(UpstreamName::PREFIX);
    let mut words = parts.next().unwrap().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at(16);
        words += &match UpstreamName::read(&format!("{}{digits}", UpstreamName::PREFIX)).unwrap() {
            UpstreamName::TAKEN => "taken".to_owned(),
            UpstreamName::NEVER_GIVEN => "never".to_owned(),
            name @ (UpstreamName::Own(_) | UpstreamName::Unnamed) => {
                let next = names.len() + 1;
                format!("n{}", names.entry(name).or_insert(next))
            }
        };
        words += rest;
    }
    words
}

/// `a` and `b` of the same text `x`, on this connection.
fn with_two() -> Play {
    let mut play = sharing();
    play.prepare("a", "x");
    play.send("P:b:x S");
    play.hear("Z(I)");
    play.upstream();
    play.client();
    play
}

#[test]
fn a_parse_of_what_the_connection_has_is_answered_in_its_place() {
    let mut play = sharing();
    play.prepare("a", "x");
    play.send("P:b:x");
    assert_eq!((sent(&mut play), play.client()), (String::new(), "1".to_owned()));
    play.send("S");
    play.hear("Z(I)");
    play.client();
    play.send("C:S:b P:b:x B::b S");
    assert_eq!((sent(&mut play), play.client()), ("S C(Snever) B(,n1) S".to_owned(), String::new()));
    play.hear("3 2 Z(I)");
    assert_eq!(play.client(), "3 1 2 Z(I)");
}

#[test]
fn a_parse_in_a_batch_that_fails_is_not_answered() {
    let mut play = with_two();
    play.send("B::a D:S:nobody C:S:b P:b:x S");
    play.hear("2 E=26000 Z(I)");
    assert_eq!(play.client(), "2 E(26000) Z(I)");
}

#[test]
fn what_another_connection_lacks_is_made_again_once() {
    let mut play = with_two();
    move_on(&mut play);
    play.send("B::a E: B::b S");
    assert_eq!(sent(&mut play), "P(n1,x) B(,n1) E() B(,n1) S");
    play.hear("1 2 C 2 Z(I)");
    assert_eq!(play.client(), "2 C 2 Z(I)");
}

#[test]
fn what_cannot_be_made_again_is_the_error_of_what_uses_it() {
    let mut play = with_two();
    move_on(&mut play);
    play.send("B::a E: S");
    play.hear("E=42P01 Z(I)");
    assert_eq!(play.client(), "E(42P01) Z(I)");
    play.upstream();
    play.send("B::a S");
    assert_eq!(sent(&mut play), "P(n1,x) B(,n1) S", "it was not made");
}

/// The server skips what follows an error up to a Sync of the client's: one of the proxy's own would end that.
#[test]
fn no_sync_goes_before_a_query_where_the_server_may_be_skipping() {
    let mut play = with_two();
    move_on(&mut play);
    play.send("Q:execute-a");
    assert_eq!(sent(&mut play), "C(Sn1) P(n1,x) S Q(execute-a)");
    play.hear("3 1 Z(I) C Z(I)");
    assert_eq!(play.client(), "C Z(I)");
    move_on(&mut play);
    play.send("P:c:y Q:other Q:execute-a");
    assert_eq!(sent(&mut play), "P(n1,y) Q(other) C(Sn2) P(n2,x) Q(execute-a)");
    play.hear("E=42601");
    play.send("S");
    play.hear("Z(I)");
    assert_eq!(play.client(), "E(42601) Z(I)");
}

#[test]
fn whoever_gives_a_taken_name_meets_what_is_always_there() {
    let mut play = with_two();
    move_on(&mut play);
    play.send("P:a:y S");
    assert_eq!(sent(&mut play), "P(taken,) P(taken,y) S");
    play.hear("1 E=42P05 Z(I)");
    assert_eq!(play.client(), "E(42P05) Z(I)");
    play.send("Q:prepare-a");
    assert_eq!(sent(&mut play), "Q(prepare-a)", "it is there by now");
    play.hear("E=42P05 Z(I)");
    play.send("B::a S");
    assert_eq!(sent(&mut play), "P(n1,x) B(,n1) S", "and the name stands for what it stood for");
}

#[test]
fn a_stale_plan_is_made_anew_where_the_batch_has_done_nothing() {
    for before in ["", "P:c:x ", "C:S:c ", "C:S:b P:b:x "] {
        for used in ["B::a", "D:S:a"] {
            let mut play = with_two();
            play.send(&format!("{before}{used} S"));
            play.hear(if before.starts_with('C') { "3" } else { "" });
            play.upstream();
            play.client();
            play.hear("E=0A000");
            assert_eq!(sent(&mut play), "C(Sn1) P(n1,x) again", "{before}{used}");
            play.hear("Z(I) 3 1");
            play.hear(if used.starts_with('B') { "2" } else { "t n" });
            play.hear("Z(I)");
            assert_eq!(play.client(), if used.starts_with('B') { "2 Z(I)" } else { "t n Z(I)" });
        }
    }
}

#[test]
fn a_stale_plan_is_told_of_where_something_was_done_and_made_anew_for_the_next() {
    for (before, heard) in [("P:c:y ", "1"), ("B::b ", "2"), ("D:S:b ", "t n"), ("E: ", "E=34000")] {
        let mut play = with_two();
        if before == "E: " {
            // Inside a block.
            play.begin();
            play.send("B::a S");
        } else {
            play.send(&format!("{before}B::a S"));
            play.hear(heard);
        }
        play.upstream();
        play.hear("E=0A000");
        assert_eq!(sent(&mut play), "", "{before}");
        play.hear(if before == "E: " { "Z(E)" } else { "Z(I)" });
        assert!(play.client().contains("E(0A000)"), "{before}");
        if before != "E: " {
            play.send("C:S:a P:a:x S");
            assert_eq!(sent(&mut play), "C(Snever) C(Sn1) P(n1,x) S", "{before}");
        }
    }
}
