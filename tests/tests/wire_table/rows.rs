//! The rows, in the order of the table.

use pgmoat_tests::Front;
use pgmoat_tests::front::{b, c_portal, c_statement, copy_data, d_portal, d_statement, e, h, p, q, s};

use crate::play::Step::{Beside, Say, Tags};
use crate::play::{Door, Row, Step, Through};

/// All rows that need a session.
pub(crate) fn rows(door: Door) -> Vec<Row> {
    let mut rows = refusals(door);
    rows.extend(statement_names(door));
    rows.extend(portals());
    rows.extend(empty_and_stray());
    rows.extend(copies());
    rows.extend(sql_level());
    rows.extend(in_words());
    rows
}

fn refusals(door: Door) -> Vec<Row> {
    let poison = door.poison;
    vec![
        row(
            "a poisoned Parse rolls the batch's INSERT back",
            0,
            vec![Say(
                vec![p("", NOTE), b("", "", &[]), e("", 0), p("", poison), b("", "", &[]), e("", 0), s()],
                "1 2 C E(@) Z(I)",
            )],
        ),
        row(
            "a poisoned Query fails the open transaction",
            0,
            vec![
                Say(vec![q("BEGIN")], "C Z(T)"),
                Say(vec![q(NOTE)], "C Z(T)"),
                Say(vec![q(poison)], "E(@) Z(E)"),
                Say(vec![q(ONE)], "E(25P02) Z(E)"),
                Say(vec![q("COMMIT")], "C Z(I)"),
                Tags(&["ROLLBACK"]),
            ],
        ),
        row(
            "a savepoint survives a poisoned Parse",
            1,
            vec![
                Say(vec![q("BEGIN")], "C Z(T)"),
                Say(vec![q("SAVEPOINT s")], "C Z(T)"),
                Say(vec![p("", poison), d_statement(""), s()], "E(@) Z(E)"),
                Say(vec![q("ROLLBACK TO s")], "C Z(T)"),
                Say(vec![q(NOTE)], "C Z(T)"),
                Say(vec![q("COMMIT")], "C Z(I)"),
                Tags(&["COMMIT"]),
            ],
        ),
        row(
            "a batch is answered in order around a poisoned Parse",
            0,
            vec![
                Say(vec![p("s0", ONE), s()], "1 Z(I)"),
                Say(vec![c_statement("s0"), s(), p("", poison), d_statement(""), s()], "3 Z(I) E(@) Z(I)"),
            ],
        ),
        row(
            "Queries are skipped up to the Sync after an error",
            0,
            vec![Say(vec![p("", poison), q(NOTE), q(NOTE), s(), q(ONE)], "E(@) Z(I) T D C Z(I)")],
        ),
        row(
            "a Query of several parts runs until one fails",
            1,
            vec![
                Say(vec![q(&format!("begin; {NOTE}; commit; select 1/0"))], "C C C E(22012) Z(I)"),
                Tags(&["BEGIN", "INSERT 0 1", "COMMIT"]),
            ],
        ),
    ]
}

fn statement_names(door: Door) -> Vec<Row> {
    vec![
        row(
            "Parse is not transactional",
            0,
            vec![
                Say(vec![p("a", ONE), b("", "unknown", &[]), e("", 0), s()], "1 E(26000) Z(I)"),
                Say(vec![b("", "a", &[]), e("", 0), s()], "2 D C Z(I)"),
            ],
        ),
        row(
            "a failed unnamed Parse drops the old one",
            0,
            vec![
                Say(vec![p("", ONE), s()], "1 Z(I)"),
                Say(vec![p("", door.poison), s()], "E(@) Z(I)"),
                Say(vec![b("", "", &[]), s()], "E(26000) Z(I)"),
            ],
        ),
        row(
            "any Query drops the unnamed statement",
            0,
            vec![
                Say(vec![p("", ONE), s()], "1 Z(I)"),
                Say(vec![q(ONE)], "T D C Z(I)"),
                Say(vec![b("", "", &[]), s()], "E(26000) Z(I)"),
                Say(vec![p("", ONE), s()], "1 Z(I)"),
                Say(vec![q(door.poison)], "E(@) Z(I)"),
                Say(vec![b("", "", &[]), s()], "E(26000) Z(I)"),
            ],
        ),
        row(
            "a failed named Parse leaves the old one",
            0,
            vec![
                Say(vec![p("n", ONE), s()], "1 Z(I)"),
                Say(vec![p("n", "selec 1"), s()], "E(42601) Z(I)"),
                Say(vec![b("", "n", &[]), e("", 0), s()], "2 D C Z(I)"),
            ],
        ),
        row(
            "a name is taken once",
            0,
            vec![
                Say(vec![p("n", ONE), p("n", ONE), s()], "1 E(42P05) Z(I)"),
                Say(vec![b("", "n", &[]), e("", 0), s()], "2 D C Z(I)"),
            ],
        ),
        row(
            "closing what is not there is fine, describing it is not",
            0,
            vec![
                Say(vec![c_statement("unknown"), c_portal("unknown"), s()], "3 3 Z(I)"),
                Say(vec![d_statement("unknown"), s()], "E(26000) Z(I)"),
                Say(vec![d_portal("unknown"), s()], "E(34000) Z(I)"),
            ],
        ),
    ]
}

fn portals() -> Vec<Row> {
    let mut gone = portal_and_savepoint("");
    gone.extend([
        Say(vec![b("", "n", &["no number"]), s()], "E(22P02) Z(E)"),
        aside("ROLLBACK TO s"),
        Say(vec![e("", 1), s()], "E(34000) Z(E)"),
    ]);
    vec![
        row("the unnamed portal is gone at the start of Bind", 0, gone),
        row(
            "rows come in the portions that were asked for, and a full portion is never the last",
            0,
            vec![
                Say(vec![q("BEGIN")], "C Z(T)"),
                Say(
                    vec![p("", BELOW), b("", "", &["7"]), e("", 1), e("", 1), e("", 1), e("", 1), s()],
                    "1 2 D s D s D s C Z(T)",
                ),
                Say(vec![b("", "", &["7"]), e("", 2), e("", 0), s()], "2 D D s D C Z(T)"),
            ],
        ),
    ]
}

fn empty_and_stray() -> Vec<Row> {
    vec![
        row(
            "no statement is answered, not refused",
            0,
            vec![
                Say(vec![p("", ""), b("", "", &[]), d_portal(""), e("", 0), s()], "1 2 n I Z(I)"),
                Say(vec![q("-- x")], "I Z(I)"),
                Say(vec![q(";")], "I Z(I)"),
            ],
        ),
        row(
            "copy messages outside COPY are ignored",
            0,
            vec![
                Say(vec![copy_data("x\n"), Front::CopyDone, Front::CopyFail("no".into()), s()], "Z(I)"),
                Say(vec![copy_data("x\n"), q(ONE)], "T D C Z(I)"),
            ],
        ),
        row(
            "reported settings follow the command's completion",
            0,
            vec![Say(
                vec![q(
                    "SELECT set_config('application_name', 'wire', false), set_config('TimeZone', 'Asia/Tokyo', false)",
                )],
                "T D C S S Z(I)",
            )],
        ),
    ]
}

fn copies() -> Vec<Row> {
    let copy = "COPY app.notes (tenant_id, body) FROM STDIN";
    vec![
        Row {
            through: Through::Unrestricted,
            ..row(
                "Sync and Flush inside copy-in are ignored",
                1,
                vec![
                    Say(
                        vec![
                            p("", copy),
                            b("", "", &[]),
                            e("", 0),
                            s(),
                            copy_data("acme\twire\n"),
                            h(),
                            Front::CopyDone,
                        ],
                        "1 2 G",
                    ),
                    Say(vec![s()], "C Z(I)"),
                ],
            )
        },
        Row {
            through: Through::Unrestricted,
            ..row(
                "what comes late after a failed copy-in is ignored",
                0,
                vec![
                    Say(vec![q(copy)], "G"),
                    Say(
                        vec![
                            copy_data("acme\twire\nno columns\n"),
                            copy_data("acme\twire\n"),
                            Front::CopyDone,
                        ],
                        "E(22P04) Z(I)",
                    ),
                    Say(vec![copy_data("acme\twire\n"), Front::CopyDone, q(ONE)], "T D C Z(I)"),
                ],
            )
        },
        Row {
            through: Through::Unrestricted,
            ..row(
                "a Query during copy-in ends the session",
                0,
                vec![Say(vec![q(copy)], "G"), Say(vec![q(ONE)], "E(08P01) E(08P01,FATAL) closed")],
            )
        },
    ]
}

fn sql_level() -> Vec<Row> {
    vec![
        row(
            "DEALLOCATE ALL in a batch spares what follows",
            0,
            vec![
                Say(
                    vec![
                        p("", "DEALLOCATE ALL"),
                        b("", "", &[]),
                        e("", 0),
                        p("a", ONE),
                        b("", "a", &[]),
                        e("", 0),
                        s(),
                    ],
                    "1 2 C 1 2 D C Z(I)",
                ),
                Say(vec![b("", "a", &[]), e("", 0), s()], "2 D C Z(I)"),
            ],
        ),
        Row {
            through: Through::DirectOnly("the proxy prepares again, once"),
            ..row(
                "a changed result type fails until a new Parse",
                0,
                vec![
                    Say(vec![p("a", NOTES), b("", "a", &[]), e("", 1), s()], "1 2 D s Z(I)"),
                    Beside("ALTER TABLE app.notes ADD COLUMN more text"),
                    Say(vec![b("", "a", &[]), e("", 1), s()], "E(0A000) Z(I)"),
                    Say(vec![b("", "a", &[]), e("", 1), s()], "E(0A000) Z(I)"),
                    Say(
                        vec![c_statement("a"), p("a", NOTES), b("", "a", &[]), e("", 1), s()],
                        "3 1 2 D s Z(I)",
                    ),
                ],
            )
        },
        row(
            "SQL PREPARE is not transactional",
            0,
            vec![
                Say(vec![q("BEGIN")], "C Z(T)"),
                Say(vec![q(&format!("PREPARE pp AS {ONE}"))], "C Z(T)"),
                Say(vec![q("ROLLBACK")], "C Z(I)"),
                Say(vec![q("EXECUTE pp")], "T D C Z(I)"),
            ],
        ),
        row(
            "the protocol and SQL share one name space",
            0,
            vec![
                Say(vec![p("pp", ONE), s()], "1 Z(I)"),
                Say(vec![q("EXECUTE pp")], "T D C Z(I)"),
                Say(vec![q("DEALLOCATE pp")], "C Z(I)"),
                Say(vec![b("", "pp", &[]), s()], "E(26000) Z(I)"),
            ],
        ),
    ]
}

/// Not in the table, but said beside it: what stays after a failed Bind, and what a failed transaction answers.
fn in_words() -> Vec<Row> {
    let mut stays = portal_and_savepoint("");
    stays.extend([
        Say(vec![b("", "unknown", &[]), s()], "E(26000) Z(E)"),
        aside("ROLLBACK TO s"),
        Say(vec![e("", 1), s()], "D s Z(T)"),
    ]);
    let mut first = portal_and_savepoint("c");
    first.extend([
        Say(vec![b("c", "n", &["3"]), s()], "E(42P03) Z(E)"),
        aside("ROLLBACK TO s"),
        Say(vec![e("c", 1), s()], "D s Z(T)"),
        Say(vec![c_portal("c"), b("c", "n", &["3"]), e("c", 0), s()], "3 2 D C Z(T)"),
    ]);
    vec![
        row("the unnamed portal outlives a Bind of an unknown statement", 0, stays),
        row("an open portal keeps its first binding", 0, first),
        row(
            "a failed transaction still reads syntax, closes names and ends",
            0,
            vec![
                Say(vec![p("n", ONE), q("BEGIN")], "1 C Z(T)"),
                Say(vec![q("SELECT 1/0")], "E(22012) Z(E)"),
                Say(vec![q("selec 1")], "E(42601) Z(E)"),
                Say(vec![q(ONE)], "E(25P02) Z(E)"),
                Say(vec![b("", "n", &[]), e("", 0), s()], "E(25P02) Z(E)"),
                Say(vec![c_statement("n"), s()], "3 Z(E)"),
                Say(vec![q("ROLLBACK")], "C Z(I)"),
            ],
        ),
    ]
}

/// An open portal of the statement `n`, with more rows to come, and a savepoint `s` after it.
fn portal_and_savepoint(portal: &str) -> Vec<Step> {
    vec![
        Say(vec![q("BEGIN")], "C Z(T)"),
        Say(vec![p("n", BELOW), b(portal, "n", &["30"]), e(portal, 1), s()], "1 2 D s Z(T)"),
        aside("SAVEPOINT s"),
    ]
}

/// A command in messages with names of their own: a Query would replace the unnamed portal.
fn aside(command: &str) -> Step {
    Say(
        vec![p(command, command), b("aside", command, &[]), e("aside", 0), c_portal("aside"), s()],
        "1 2 C 3 Z(T)",
    )
}

/// A row that both doors play.
fn row(name: &'static str, notes: u32, steps: Vec<Step>) -> Row {
    Row { name, through: Through::Both, steps, notes }
}

/// One row.
const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";

/// Orders 2, 4, … below a bound.
const BELOW: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < $1 ORDER BY id";

/// Whole rows of a table that can be altered.
const NOTES: &str = "SELECT * FROM app.notes WHERE tenant_id = 'acme'";

/// What a rolled back batch must not leave.
const NOTE: &str = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'wire')";
