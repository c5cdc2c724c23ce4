//! What becomes of a client's start-up settings: `zone`, which is given when the session has got its connection.

use super::*;

/// A session that has its connection.
fn attached() -> Play {
    let mut play = Play::new();
    play.session.starts_with(&[("zone".into(), "own".into())]);
    assert_eq!(play.session.attach(pgmoat_upstream::Carried::default(), &[]).len(), 1);
    play
}

/// What is given again now: names, with `=own` where that is what the client has started with.
fn given(play: &mut Play) -> String {
    if !play.session.owes_settings() {
        return String::new();
    }
    let changes = play.session.give_missing();
    let word = |(name, value): &Change| match value.as_deref() {
        Some("own") => format!("{name}=own"),
        Some(_) | None => name.to_string(),
    };
    changes.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn they_are_given_back_after_a_letting_go_outside_a_transaction() {
    let mut play = attached();
    play.send("Q:reset-all");
    assert!(play.session.loses_settings(), "what comes next waits");
    play.hear("C=RESET Z(I)");
    assert_eq!(given(&mut play), "zone=own");
    play.session.inject(0);
    play.client();
    play.hear("1 2");
    assert_eq!(play.try_hear("D"), Ok(()));
    assert!(play.session.is_being_set_up());
    play.hear("C 3 Z(I)");
    assert_eq!(play.client(), "");
    assert!(play.session.is_quiet() && !play.session.is_being_set_up() && !play.session.loses_settings());
}

#[test]
fn the_unnamed_statement_outlives_the_replay_of_settings() {
    let mut play = attached();
    play.send("P::reset-all B:: E: S");
    play.hear("1 2 C=RESET Z(I)");
    assert_eq!(given(&mut play), "zone=own");
    play.session.inject(0);
    play.hear("1 2 D C 3 Z(I)");
    play.upstream();
    play.send("B:: E: S");
    assert_eq!(play.upstream(), "B(,) E() S");
}

#[test]
fn a_letting_go_that_is_undone_is_none() {
    for (sent, heard) in [
        ("Q:reset-all;b", "C=RESET E=22012 Z(I)"),
        ("P::reset-all B:: E: P::b S", "1 2 C=RESET E=42601 Z(I)"),
        ("Q:reset-zone;b", "C=RESET E=22012 Z(I)"),
        ("Q:reset-all", "E=57014 Z(I)"),
        ("Q:begin Q:reset-all Q:rollback", "C=BEGIN Z(T) C=RESET Z(T) C=ROLLBACK Z(I)"),
        ("Q:begin Q:reset-all Q:b Q:commit", "C=BEGIN Z(T) C=RESET Z(T) E=22012 Z(E) C=ROLLBACK Z(I)"),
        (
            "Q:begin;savepoint;reset-all;rollback-to;commit",
            "C=BEGIN C=SAVEPOINT C=RESET C=ROLLBACK C=COMMIT Z(I)",
        ),
    ] {
        let mut play = attached();
        play.send(sent);
        play.hear(heard);
        assert!(play.session.is_quiet());
        assert_eq!(given(&mut play), "", "{sent}");
        assert!(!play.session.loses_settings(), "{sent}");
    }
}

#[test]
fn a_letting_go_that_stays_is_one_whatever_fails_or_is_undone_beside_it() {
    for (sent, heard) in [
        (
            "Q:begin;reset-all;savepoint;rollback-to;commit",
            "C=BEGIN C=RESET C=SAVEPOINT C=ROLLBACK C=COMMIT Z(I)",
        ),
        ("Q:begin;reset-all;commit;b", "C=BEGIN C=RESET C=COMMIT E=22012 Z(I)"),
        ("P::discard-all B:: E: P::b S", "1 2 C=DISCARD_ALL E=42601 Z(I)"),
        ("Q:reset-zone Q:b", "C=RESET Z(I) E=22012 Z(I)"),
        ("Q:set-zone Q:reset-zone", "C=SET Z(I) C=RESET Z(I)"),
    ] {
        let mut play = attached();
        play.send(sent);
        play.hear(heard);
        assert_eq!(given(&mut play), "zone=own", "{sent}");
    }
}

#[test]
fn what_the_client_has_set_since_is_left_alone() {
    let mut play = attached();
    play.send("Q:set-zone Q:reset-all;b");
    play.hear("C=SET Z(I) C=RESET E=22012 Z(I)");
    assert_eq!(play.session.wants("zone"), Some("client's"));
    play.send("Q:reset-all;set-zone");
    play.hear("C=RESET C=SET Z(I)");
    assert_eq!(given(&mut play), "");
    assert_eq!(play.session.wants("zone"), Some("client's"));
}

#[test]
fn while_one_is_open_nothing_is_given_and_nothing_waits_but_for_its_answer() {
    let mut play = attached();
    play.send("Q:begin Q:reset-all");
    play.hear("C=BEGIN Z(T) C=RESET Z(T)");
    assert!(play.session.lacks("zone") && !play.session.owes_settings() && !play.session.loses_settings());
    play.send("Q:commit");
    assert!(play.session.loses_settings());
    play.hear("C=COMMIT Z(I)");
    assert_eq!(given(&mut play), "zone=own");
}
