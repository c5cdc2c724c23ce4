//! Whose move it is, and when what runs has its time anew.

use super::*;

#[test]
fn the_move_is_the_servers_while_it_owes_what_nobody_has_to_ask_for() {
    let mut play = Play::new();
    assert_eq!(play.session.whose_move(), Move::Clients);
    play.send("Q:select");
    assert_eq!(play.session.whose_move(), Move::Servers);
    play.hear("T D C Z(I)");
    assert_eq!(play.session.whose_move(), Move::Clients);
    play.begin();
    assert_eq!(play.session.whose_move(), Move::ClientsInside);
    // A batch that is not ended: its replies may be there and kept.
    play.send("P::select B:: E:");
    assert_eq!(play.session.whose_move(), Move::ClientsOrServers);
    play.hear("1 2 C");
    assert_eq!(play.session.whose_move(), Move::ClientsInside);
    play.send("S");
    assert_eq!(play.session.whose_move(), Move::Servers);
    play.hear("Z(T)");
    assert_eq!(play.session.whose_move(), Move::ClientsInside);
    // What was ended before is owed first.
    play.send("Q:select P::select");
    assert_eq!(play.session.whose_move(), Move::Servers);
}

#[test]
fn the_server_waits_for_a_copys_data() {
    let mut play = Play::new();
    play.send("Q:copy-in");
    assert_eq!(play.session.whose_move(), Move::Servers);
    play.hear("G");
    assert_eq!(play.session.whose_move(), Move::ClientsInside);
    play.send("d c");
    assert_eq!(play.session.whose_move(), Move::Servers);
}

/// As statement_timeout: each Execute of a batch has its own time.
#[test]
fn each_statement_of_a_batch_has_all_of_its_time() {
    let mut play = Play::new();
    play.send("P:a:select B::a E: B::a E: S");
    let mut next = |heard: &str| {
        play.hear(heard);
        std::mem::take(&mut play.session.events().next)
    };
    assert!(!next("1"));
    assert!(!next("2"));
    assert!(next("C"));
    assert!(!next("2"));
    assert!(next("C"));
    assert!(next("Z(I)"));
}

/// At the limit a Close makes room for what follows it in its batch: it comes to be only if the Close did.
#[test]
fn a_close_makes_room_in_its_own_batch() {
    let limits = SessionLimits { statements: 2, ..SessionLimits::default() };
    let mut play = Play { session: Session::new(1, ErrorPosture::Redact, limits), ..Play::new() };
    play.send("P:a:select P:b:select S");
    play.hear("1 1 Z(I)");
    play.client();
    play.upstream();
    play.send("C:S:a P:c:select S");
    let sent = play.upstream();
    assert!(sent.contains("C(") && sent.contains("select"), "{sent}");
    play.hear("3 1 Z(I)");
    assert_eq!(play.client(), "3 1 Z(I)");
    play.send("P:d:select S");
    assert!(play.client().contains("53400"));
}
