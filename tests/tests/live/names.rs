//! A name never means a text other than the one that was judged, in whatever order the messages come.
//!
//! Each script tries to make the proxy and the server disagree about a name: one of them has a text whose `$1` must be
//! the session's own tenant, the other one whose `$1` may be anything. Then `globex` is bound to it. These orders of
//! messages were leaks against a proxy that only mirrors what it forwards.

use pgmoat_tests::front::{b, c_portal, c_statement, e, h, p, q, s};
use pgmoat_tests::{Front, Raw, Stack};

/// `$1` is checked at Bind.
const CHECKED: &str = "SELECT tenant_id FROM app.orders WHERE tenant_id = $1 AND id < 20";
/// `$1` is the client's own business.
const FREE: &str = "SELECT tenant_id FROM app.orders WHERE tenant_id = 'acme' AND note = $1";
/// What everybody is refused.
const ALL: &str = "SELECT tenant_id FROM app.orders";
const BAD: &str = "no statement";

/// Messages, and what is heard for them.
type Said = (Vec<Front>, &'static str);

#[test]
fn no_order_of_messages_makes_a_name_mean_another_text() {
    let proxied = Stack::get().proxy().unwrap();
    let mut wrong = Vec::new();
    for (name, script) in scripts() {
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        for (at, (messages, wanted)) in script.iter().enumerate() {
            raw.send(messages).unwrap();
            match raw.expect(wanted) {
                Ok(heard) => {
                    let strange = heard.rows().iter().any(|row| row[0].as_deref() != Some("acme"));
                    assert!(!strange, "{name}, step {}: another tenant's rows", at + 1);
                }
                Err(error) => {
                    wrong.push(format!("{name}, step {}: {error}", at + 1));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_longer_than_the_servers_is_refused() {
    let proxied = Stack::get().proxy().unwrap();
    let longest = "n".repeat(63);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[p(&longest, CHECKED), b(&longest, &longest, &["acme"]), e(&longest, 1), s()]).unwrap();
    raw.expect("1 2 D s Z(I)").unwrap();
    // Two names that the server would take for one.
    for end in ["x", "y"] {
        let long = format!("{longest}{end}");
        for messages in [vec![p(&long, FREE), s()], vec![b(&long, &longest, &["acme"]), s()]] {
            raw.send(&messages).unwrap();
            let heard = raw.read(1).unwrap();
            assert_eq!(heard.codes().len(), 1, "{heard}");
            assert!(heard.to_string().ends_with("Z(I)"), "{heard}");
        }
    }
    raw.send(&[b("", &longest, &["globex"]), s()]).unwrap();
    raw.expect("E(42501) Z(I)").unwrap();
}

#[test]
fn names_are_bounded() {
    let few = |config: &mut pgmoat_lab::ProxyConfig| {
        config.extra = "limits: { statements_per_client: 10 }\n".into()
    };
    let proxied = Stack::get().proxy_with(few).unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for number in 0..10 {
        raw.send(&[p(&number.to_string(), CHECKED), s()]).unwrap();
        raw.expect("1 Z(I)").unwrap();
    }
    raw.send(&[p("one too many", CHECKED), s()]).unwrap();
    raw.expect("E(53400) Z(I)").unwrap();
    raw.send(&[c_statement("3"), s()]).unwrap();
    raw.expect("3 Z(I)").unwrap();
    raw.send(&[p("another", CHECKED), s()]).unwrap();
    raw.expect("1 Z(I)").unwrap();
}

fn scripts() -> Vec<(&'static str, Vec<Said>)> {
    let globex = |statement: &str| vec![b("", statement, &["globex"]), e("", 0), s()];
    let checked = || (vec![p("n", CHECKED), s()], "1 Z(I)");
    let still_checked = || vec![(globex("n"), "E(42501) Z(I)"), (acme(), NINE)];
    let with = |first: Vec<Said>, last: Vec<Said>| first.into_iter().chain(last).collect::<Vec<_>>();
    vec![
        (
            "a second Parse of a live name",
            with(vec![checked(), (vec![p("n", FREE), s()], "E(42P05) Z(I)")], still_checked()),
        ),
        (
            "a second Parse in the same batch",
            with(vec![(vec![p("n", CHECKED), p("n", FREE), s()], "1 E(42P05) Z(I)")], still_checked()),
        ),
        (
            "Close and Parse that the server skips",
            with(
                vec![checked(), (vec![p("", BAD), c_statement("n"), p("n", FREE), s()], "E(42601) Z(I)")],
                still_checked(),
            ),
        ),
        (
            "Close and Parse skipped after a refusal",
            with(
                vec![checked(), (vec![p("", ALL), c_statement("n"), p("n", FREE), s()], "E(42501) Z(I)")],
                still_checked(),
            ),
        ),
        (
            "Close and Parse skipped after a refusal within a batch",
            with(
                vec![
                    checked(),
                    (vec![p("o", FREE), p("", ALL), c_statement("n"), p("n", FREE), s()], "1 E(42501) Z(I)"),
                ],
                still_checked(),
            ),
        ),
        (
            "Close and Parse skipped after an error at run time",
            with(
                vec![
                    checked(),
                    (
                        vec![
                            p("", "SELECT 1 / 0"),
                            b("", "", &[]),
                            e("", 0),
                            c_statement("n"),
                            p("n", FREE),
                            s(),
                        ],
                        "1 E(22012) Z(I)",
                    ),
                ],
                still_checked(),
            ),
        ),
        (
            "a DEALLOCATE that the server skips",
            with(
                vec![
                    checked(),
                    (
                        vec![p("", BAD), q("DEALLOCATE n"), q("DISCARD ALL"), p("n", FREE), s()],
                        "E(42601) Z(I)",
                    ),
                ],
                still_checked(),
            ),
        ),
        (
            "a DEALLOCATE in a transaction that is rolled back",
            vec![
                checked(),
                (vec![q("BEGIN"), q("DEALLOCATE n"), q("ROLLBACK")], "C Z(T) C Z(T) C Z(I)"),
                (globex("n"), "E(26000) Z(I)"),
                (vec![p("n", FREE), s()], "1 Z(I)"),
                (globex("n"), "2 C Z(I)"),
            ],
        ),
        (
            "a DEALLOCATE before an error in the same Query",
            vec![
                checked(),
                (vec![q("DEALLOCATE n; SELECT 1 / 0")], "C E(22012) Z(I)"),
                (globex("n"), "E(26000) Z(I)"),
            ],
        ),
        (
            "a DEALLOCATE after an error in the same Query",
            with(vec![checked(), (vec![q("SELECT 1 / 0; DEALLOCATE n")], "E(22012) Z(I)")], still_checked()),
        ),
        (
            "a Parse in a failed transaction",
            with(
                vec![
                    checked(),
                    (vec![q("BEGIN"), q("SELECT 1 / 0")], "C Z(T) E(22012) Z(E)"),
                    (vec![c_statement("n"), p("n", FREE), s()], "3 E(25P02) Z(E)"),
                    (vec![q("ROLLBACK")], "C Z(I)"),
                    (globex("n"), "E(26000) Z(I)"),
                ],
                vec![checked()].into_iter().chain(still_checked()).collect(),
            ),
        ),
        (
            "one batch that changes the name twice",
            vec![(
                vec![p("n", FREE), c_statement("n"), p("n", CHECKED), b("", "n", &["globex"]), e("", 0), s()],
                "1 3 1 E(42501) Z(I)",
            )],
        ),
        (
            "one batch that changes the name back",
            vec![(
                vec![p("n", CHECKED), c_statement("n"), p("n", FREE), b("", "n", &["globex"]), e("", 0), s()],
                "1 3 1 2 C Z(I)",
            )],
        ),
        (
            "the unnamed statement after a failed Parse",
            vec![
                (vec![p("", CHECKED), s()], "1 Z(I)"),
                (vec![p("", BAD), p("", FREE), s()], "E(42601) Z(I)"),
                (globex(""), "E(26000) Z(I)"),
            ],
        ),
        (
            "the unnamed statement after a Parse that was skipped",
            vec![
                (vec![p("", CHECKED), s()], "1 Z(I)"),
                (vec![b("", "not there", &[]), p("", FREE), s()], "E(26000) Z(I)"),
                (globex(""), "E(42501) Z(I)"),
            ],
        ),
        (
            "the unnamed statement after a Query that was skipped",
            vec![
                (vec![p("", CHECKED), s()], "1 Z(I)"),
                (vec![b("", "not there", &[]), q("SELECT 1"), s()], "E(26000) Z(I)"),
                (globex(""), "E(42501) Z(I)"),
            ],
        ),
        (
            "the unnamed statement after a refused Query",
            vec![
                (vec![p("", FREE), s()], "1 Z(I)"),
                (vec![q(ALL)], "E(42501) Z(I)"),
                (globex(""), "E(26000) Z(I)"),
            ],
        ),
        (
            "a portal that is open",
            vec![
                checked(),
                (vec![p("f", FREE), q("BEGIN")], "1 C Z(T)"),
                (vec![b("c", "n", &["acme"]), e("c", 1), s()], "2 D s Z(T)"),
                (vec![b("c", "n", &["globex"]), s()], "E(42501) Z(E)"),
                (vec![q("ROLLBACK")], "C Z(I)"),
            ],
        ),
        (
            "the unnamed portal after a refused Bind",
            vec![
                checked(),
                (vec![q("BEGIN")], "C Z(T)"),
                (vec![b("", "n", &["acme"]), e("", 1), s()], "2 D s Z(T)"),
                (
                    vec![p("x", "SAVEPOINT x"), b("x", "x", &[]), e("x", 0), c_portal("x"), s()],
                    "1 2 C 3 Z(T)",
                ),
                (vec![b("", "n", &["globex"]), e("", 1), s()], "E(42501) Z(E)"),
                (
                    vec![p("y", "ROLLBACK TO x"), b("y", "y", &[]), e("y", 0), c_portal("y"), s()],
                    "1 2 C 3 Z(T)",
                ),
                // PostgreSQL drops it at the start of a Bind; so it is gone here too.
                (vec![e("", 1), s()], "E(34000) Z(E)"),
                (vec![q("ROLLBACK")], "C Z(I)"),
            ],
        ),
        (
            "a Flush between a refusal and the Sync",
            with(
                vec![
                    checked(),
                    (vec![p("", ALL), h(), c_statement("n"), h(), p("n", FREE), s()], "E(42501) Z(I)"),
                ],
                still_checked(),
            ),
        ),
        (
            "stray copy messages",
            with(
                vec![
                    checked(),
                    (
                        vec![
                            Front::CopyData(b"x".to_vec()),
                            Front::CopyDone,
                            Front::CopyFail("x".into()),
                            s(),
                        ],
                        "Z(I)",
                    ),
                ],
                still_checked(),
            ),
        ),
    ]
}

fn acme() -> Vec<Front> {
    vec![b("", "n", &["acme"]), e("", 0), s()]
}

/// acme's orders below 20.
const NINE: &str = "2 D D D D D D D D D C Z(I)";
