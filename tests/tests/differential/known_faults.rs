//! What other proxies have shipped, as scripts: at both doors, as the role to which nothing is refused and, where its
//! statements allow, as a tenant.

use pgmoat_tests::front::{b, c_statement, copy_data, d_portal, d_statement, e, framed, h, p, q, s};
use pgmoat_tests::{Front, Mode, Stack};

use crate::pair::Pair;
use crate::script::{Role, Say, Script, Step, Then, step};

/// Known faults, by their rows, and what a client says.
struct Case {
    rows: &'static str,
    role: Role,
    steps: Vec<Step>,
}

fn as_any(rows: &'static str, steps: Vec<Step>) -> Case {
    Case { rows, role: Role::Unrestricted, steps }
}

fn as_tenant(rows: &'static str, steps: Vec<Step>) -> Case {
    Case { rows, role: Role::Tenant, steps }
}

fn play(cases: Vec<Case>) {
    for mode in Mode::PROXIED {
        let mut pair = Pair::new(Stack::get(), *mode);
        let mut found = Vec::new();
        for Case { rows, role, steps } in &cases {
            for write_bytes in [usize::MAX, 1] {
                let steps = steps.iter().map(|step| Step { write_bytes, ..step.clone() }).collect();
                let script = Script { name: (*rows).to_owned(), role: *role, settings: &[], steps };
                found.extend(pair.difference(&script).map(|difference| format!("{script}{difference}\n")));
            }
        }
        found.extend(pair.complaints());
        assert!(found.is_empty(), "{mode}\n{}", found.join("\n"));
    }
}

fn peek(say: Vec<Front>) -> Step {
    Step { then: Then::Peek, ..step(say) }
}

/// Up to its ReadyForQuery, without the player's own messages behind it.
fn ready(say: Vec<Front>) -> Step {
    Step { then: Then::Ready, ..step(say) }
}

fn go(say: Vec<Front>) -> Step {
    Step { then: Then::Go, ..step(say) }
}

/// Messages with one among them that the proxy refuses.
fn denied(before: Vec<Front>, proxied: Front, direct: Front, after: Vec<Front>) -> Step {
    let mut all = step(before);
    all.say.push(Say::Denied { proxied, direct });
    all.say.extend(after.into_iter().map(Say::Same));
    all
}

fn run(sql: &str) -> Vec<Front> {
    vec![p("", sql), b("", "", &[]), e("", 0)]
}

/// A prepared statement as it is used.
fn as_bound(name: &str) -> Vec<Front> {
    vec![b("", name, &[]), e("", 0), s()]
}

fn join(parts: &[Vec<Front>]) -> Vec<Front> {
    parts.concat()
}

const ALL_ORDERS: &str = "SELECT id FROM orders";
const VAULT: &str = "SELECT * FROM vault.t";
const NOTE: &str = "INSERT INTO notes (tenant_id, body) VALUES ('acme', 'known')";
const MINE: &str = "SELECT body FROM notes WHERE tenant_id = 'acme' ORDER BY id";
const BAD: &str = "SELECT 1/0";

/// Known faults A1, A2, A3, A5, A6, K19, K20: a refusal has its place in the order of replies, fails the transaction, tells the
/// true status, is skipped where PostgreSQL skips, and comes at once.
#[test]
fn refusals_look_like_postgresqls() {
    let bad = || (p("", ALL_ORDERS), p("", VAULT));
    let query = || (q(ALL_ORDERS), q(VAULT));
    let with = |before: Vec<Front>, (proxied, direct): (Front, Front), after: Vec<Front>| {
        denied(before, proxied, direct, after)
    };
    play(vec![
        as_tenant(
            "A1",
            vec![
                step(vec![p("s0", "SELECT 1"), s()]),
                with(vec![c_statement("s0"), s()], bad(), vec![d_statement(""), s()]),
            ],
        ),
        as_tenant(
            "A2, A3, K20",
            vec![
                step(vec![q("BEGIN"), q(NOTE)]),
                with(vec![], query(), vec![]),
                step(vec![q("SELECT 1"), q("COMMIT")]),
                step(vec![q(MINE)]),
            ],
        ),
        as_tenant(
            "A2 in one write",
            vec![with(vec![q("BEGIN"), q(NOTE)], query(), vec![q("SELECT 1"), q("COMMIT"), q(MINE)])],
        ),
        as_tenant(
            "A5",
            vec![with(vec![], bad(), vec![b("", "", &[]), e("", 0), q("SELECT 1"), q(NOTE), s(), q(MINE)])],
        ),
        as_tenant("A6", vec![peek_of(with(vec![q("BEGIN")], bad(), vec![])), step(vec![s()])]),
        as_tenant("K19", vec![with(vec![], bad(), vec![p("", "SELECT 1"), b("", "", &[]), e("", 0), s()])]),
        as_tenant(
            "A2 to a savepoint",
            vec![
                step(vec![q("BEGIN"), q(NOTE), q("SAVEPOINT s")]),
                with(vec![], bad(), vec![s()]),
                step(vec![q("ROLLBACK TO s"), q(NOTE), q("COMMIT"), q(MINE)]),
            ],
        ),
    ]);
}

fn peek_of(step: Step) -> Step {
    Step { then: Then::Peek, ..step }
}

/// Known faults A5, A6, A8, A9, A10, A12, A18, I16: batches and pipelines are neither split, nor synced, nor given back early.
#[test]
fn batches_are_left_as_they_are() {
    play(vec![
        as_any(
            "A5",
            vec![step(vec![p("", "selec"), b("", "", &[]), e("", 0), q("SELECT 1"), s(), q("SELECT 2")])],
        ),
        as_any("A6", vec![peek(join(&[vec![q("BEGIN")], run(BAD)])), step(vec![s(), q("ROLLBACK")])]),
        as_any(
            "A8",
            vec![step(join(&[
                run("SELECT 1"),
                vec![p("", "SELECT 2"), b("", "", &[]), e("", 0), d_portal(""), s()],
            ]))],
        ),
        as_any("A9", vec![step(join(&[run(NOTE), run(BAD), vec![s()]])), step(vec![q(MINE)])]),
        as_any(
            "A10",
            vec![step(join(&[
                run("SELECT 1"),
                vec![s()],
                run("SELECT pg_sleep(0.05)"),
                vec![s()],
                run("SELECT 3"),
                vec![s()],
            ]))],
        ),
        as_any(
            "A12",
            vec![
                step(join(&[run("SELECT 1"), vec![s()], run(BAD), vec![s()], run("SELECT 3"), vec![s()]])),
                step(vec![q("SELECT 4")]),
            ],
        ),
        as_any(
            "A18",
            vec![
                step(vec![q("BEGIN")]),
                step(vec![p("", "SELECT $1::int"), b("", "", &["1"]), d_portal(""), s()]),
                step(vec![b("", "", &["2"]), e("", 0), s(), q("COMMIT")]),
            ],
        ),
        as_any(
            "I16",
            vec![
                step(join(&[
                    vec![p("a", "SELECT 1"), s()],
                    run("DISCARD ALL"),
                    vec![p("b", "SELECT 2"), b("", "b", &[]), e("", 0), s()],
                ])),
                step(vec![b("", "a", &[]), s(), b("", "b", &[]), e("", 0), s()]),
            ],
        ),
    ]);
}

/// Known faults B1, B3, B4, B5, B6, B7, B9, B13, B14: portals, Flush and Describe.
#[test]
fn portals_live_and_die_as_postgresqls() {
    let many = "SELECT g FROM generate_series(1, 2500) g";
    play(vec![
        as_any(
            "B1",
            vec![
                peek(vec![p("", many), b("", "", &[]), d_portal(""), h()]),
                peek(vec![e("", 100), h()]),
                step(vec![e("", 100), s()]),
            ],
        ),
        as_tenant(
            "B1",
            vec![peek(vec![p("", MINE), b("", "", &[]), d_portal(""), h()]), step(vec![e("", 1), s()])],
        ),
        as_any(
            "B3",
            vec![step(vec![
                q("COPY notes (tenant_id, body) FROM STDIN"),
                h(),
                copy_data("acme\tx\n"),
                h(),
                Front::CopyDone,
            ])],
        ),
        as_any(
            "B4",
            vec![step(vec![
                q("BEGIN"),
                p("", "VALUES (1), (2), (3)"),
                b("", "", &[]),
                e("", 1),
                e("", 1),
                e("", 1),
                e("", 1),
                s(),
            ])],
        ),
        as_any(
            "B5",
            vec![step(vec![
                q("BEGIN"),
                p("", many),
                b("c", "", &[]),
                e("c", 1023),
                e("c", 2),
                e("c", 0),
                s(),
                q("COMMIT"),
            ])],
        ),
        as_any(
            "B6",
            vec![
                step(vec![p("", "BEGIN"), d_statement(""), s()]),
                step(vec![p("", "BEGIN"), b("", "", &[]), d_portal(""), e("", 0), s()]),
            ],
        ),
        as_tenant(
            "B7",
            vec![step(join(&[run("BEGIN"), run(NOTE), vec![s()]])), step(join(&[run("COMMIT"), vec![s()]]))],
        ),
        as_tenant(
            "B9",
            vec![
                step(vec![
                    p("", ""),
                    b("", "", &[]),
                    d_portal(""),
                    e("", 0),
                    s(),
                    p("", "-- x"),
                    b("", "", &[]),
                    e("", 0),
                    s(),
                ]),
                step(vec![q(""), q(";"), q("/* x */")]),
            ],
        ),
        as_any(
            "B13",
            vec![
                step(vec![p("", many), b("", "", &[]), e("", 2), s()]),
                step(vec![e("", 2), s()]),
                step(vec![q("BEGIN"), b("", "", &[]), b("named", "", &[]), e("named", 2), s()]),
                step(vec![q("COMMIT"), e("named", 2), s()]),
            ],
        ),
        as_any(
            "B14",
            vec![
                step(vec![
                    q("BEGIN"),
                    p("n", "SELECT g FROM generate_series(1, $1::int) g"),
                    b("", "n", &["9"]),
                    e("", 1),
                    s(),
                ]),
                step(vec![q("SAVEPOINT s"), b("", "n", &["9"]), e("", 1), b("", "n", &["none"]), s()]),
                step(vec![e("", 1), s()]),
            ],
        ),
        as_tenant(
            "B14, denied",
            vec![
                step(vec![
                    q("BEGIN"),
                    p("t", "SELECT body FROM notes WHERE tenant_id = $1 ORDER BY id"),
                    b("", "t", &["acme"]),
                    e("", 1),
                    p("sp", "SAVEPOINT s"),
                    b("x", "sp", &[]),
                    e("x", 0),
                    s(),
                ]),
                denied(
                    vec![],
                    b("", "t", &["globex"]),
                    Front::Bind(String::new(), "t".into(), vec![Some(vec![0xff])], vec![], vec![]),
                    vec![s()],
                ),
                step(vec![p("rb", "ROLLBACK TO s"), s()]),
                step(vec![q("ROLLBACK"), e("", 1), s()]),
            ],
        ),
    ]);
}

/// Known fault C1: what the server says of a statement whose result has changed, and a client's next batch. Where
/// connections are shared the statement is made anew for it ([`crate::anew`]), at once where it is waited for.
#[test]
fn a_statement_whose_result_has_changed_is_as_a_new_one_or_an_error() {
    // Of a union no number of the table's is told.
    let grows = "SELECT * FROM public.grows WHERE x >= $1 UNION ALL SELECT * FROM public.grows WHERE false";
    let script = |then: fn(Vec<Front>) -> Step| {
        let uses = |values: &[&str], rows| vec![b("", "a", values), d_portal(""), e("", rows), s()];
        vec![
            step(vec![q("CREATE TABLE public.grows (x int); INSERT INTO public.grows VALUES (1), (2)")]),
            step(vec![p("a", grows), s()]),
            then(uses(&["1"], 0)),
            then(vec![q("ALTER TABLE public.grows ADD y text DEFAULT 'new'")]),
            then(uses(&["2"], 0)),
            then(vec![d_statement("a"), s()]),
            then(vec![q("ALTER TABLE public.grows DROP y, ADD z int")]),
            then(uses(&["2"], 1)),
            step(vec![q("DROP TABLE public.grows")]),
            step(uses(&["2"], 0)),
        ]
    };
    play(vec![as_any("C1", script(step)), as_any("C1", script(ready))]);
}

/// Known faults C1, C2, C3, C4, C5, C7, C10, C11, C12, C14, C17, C19, C20, J6: names of statements.
#[test]
fn names_mean_what_they_mean_to_postgresql() {
    let typed = |name: &str, oid: u32| Front::Parse(name.into(), "SELECT $1".into(), vec![oid]);
    play(vec![
        as_any(
            "C1",
            vec![
                step(vec![
                    q("CREATE TABLE public.grows (x int)"),
                    p("a", "SELECT * FROM public.grows"),
                    b("", "a", &[]),
                    e("", 0),
                    s(),
                ]),
                step(vec![
                    q("ALTER TABLE public.grows ADD y int"),
                    b("", "a", &[]),
                    e("", 0),
                    s(),
                    b("", "a", &[]),
                    e("", 0),
                    s(),
                ]),
                step(vec![
                    c_statement("a"),
                    p("a", "SELECT * FROM public.grows"),
                    b("", "a", &[]),
                    e("", 0),
                    s(),
                    q("DROP TABLE public.grows"),
                ]),
            ],
        ),
        as_any(
            "C2",
            vec![step(join(&[
                vec![p("old", "SELECT 1"), s()],
                run("DEALLOCATE ALL"),
                vec![p("a", "SELECT 2"), s(), b("", "a", &[]), e("", 0), s(), b("", "old", &[]), s()],
            ]))],
        ),
        as_any(
            "C3",
            vec![step(vec![
                p("a", "SELECT 1"),
                s(),
                q("DISCARD ALL"),
                b("", "a", &[]),
                s(),
                p("a", "SELECT 2"),
                b("", "a", &[]),
                e("", 0),
                s(),
            ])],
        ),
        as_tenant(
            "C4, C14",
            vec![step(vec![
                p("a1", "SELECT 1"),
                s(),
                q("DEALLOCATE a1"),
                q("DEALLOCATE a1"),
                p("A1", "SELECT 2"),
                s(),
                q("EXECUTE a1"),
                q("EXECUTE \"A1\""),
            ])],
        ),
        as_any(
            "C5",
            vec![step(vec![
                p("a", "SELECT 1"),
                s(),
                p("a", "SELECT 2"),
                s(),
                p("a", "selec 2"),
                s(),
                b("", "a", &[]),
                e("", 0),
                s(),
            ])],
        ),
        as_any(
            "C7",
            vec![step(vec![
                p("", "SELECT 1"),
                s(),
                p("", "selec"),
                s(),
                b("", "", &[]),
                e("", 0),
                s(),
                p("", "SELECT 1"),
                s(),
                q("SELECT 2"),
                b("", "", &[]),
                s(),
            ])],
        ),
        as_tenant(
            "C7, denied",
            vec![
                step(vec![p("", "SELECT 1"), s()]),
                denied(vec![], p("", ALL_ORDERS), p("", VAULT), vec![s(), b("", "", &[]), e("", 0), s()]),
            ],
        ),
        as_tenant(
            "C7, denied Query",
            vec![
                step(vec![p("", "SELECT 1"), s()]),
                denied(vec![], q(ALL_ORDERS), q(VAULT), vec![b("", "", &[]), e("", 0), s()]),
            ],
        ),
        as_any(
            "C10, C11",
            vec![
                step(vec![p("", "SELECT $1::int"), s()]),
                step(vec![b("", "", &["7"]), e("", 0), s()]),
                step(vec![b("", "", &["8"]), e("", 0), s()]),
            ],
        ),
        as_any(
            "C17",
            vec![step(vec![
                typed("a", 23),
                typed("b", 20),
                typed("c", 25),
                d_statement("a"),
                d_statement("b"),
                d_statement("c"),
                s(),
            ])],
        ),
        as_any(
            "C19",
            vec![step(vec![
                p("__asyncpg_stmt_1__", "SELECT 1"),
                d_statement("__asyncpg_stmt_1__"),
                h(),
                s(),
                b("", "__asyncpg_stmt_1__", &[]),
                e("", 0),
                s(),
                c_statement("__asyncpg_stmt_1__"),
                s(),
            ])],
        ),
        as_any(
            "C20",
            vec![step(vec![p("a", "SELECT 1"), p("b", "SELECT nope"), s(), b("", "a", &[]), e("", 0), s()])],
        ),
        as_any(
            "C14, wire to SQL and back",
            vec![step(vec![
                q("PREPARE w AS SELECT 1"),
                b("", "w", &[]),
                e("", 0),
                s(),
                p("w", "SELECT 2"),
                s(),
                c_statement("w"),
                p("w", "SELECT 3"),
                s(),
                q("EXECUTE w"),
            ])],
        ),
        as_any(
            "J6",
            vec![step(vec![q(
                "SELECT set_config('DateStyle', 'German', false), set_config('TimeZone', 'Asia/Tokyo', false)",
            )])],
        ),
        as_any(
            "settings that go leave the unnamed statement",
            vec![
                step(vec![p("", "RESET ALL"), b("", "", &[]), e("", 0), s()]),
                step(vec![
                    b("", "", &[]),
                    e("", 0),
                    s(),
                    p("", "DISCARD ALL"),
                    b("", "", &[]),
                    e("", 0),
                    s(),
                ]),
                step(vec![b("", "", &[]), e("", 0), s()]),
            ],
        ),
        as_any(
            "names taken between Parse and Execute",
            vec![step(vec![
                p("x", "PREPARE a AS SELECT 1"),
                p("a", "SELECT 2"),
                b("", "x", &[]),
                e("", 0),
                s(),
                b("", "a", &[]),
                e("", 0),
                s(),
            ])],
        ),
        as_any(
            "names in a prepared text that are not there yet",
            vec![
                step(vec![
                    p("x", "EXECUTE a"),
                    p("y", "FETCH 2 FROM c"),
                    p("z", "DEALLOCATE a"),
                    p("w", "CLOSE c"),
                    s(),
                ]),
                step(join(&[as_bound("x"), as_bound("y"), as_bound("z"), as_bound("w")])),
                step(join(&[vec![q("PREPARE a AS SELECT 1")], as_bound("x"), as_bound("z"), as_bound("x")])),
                step(join(&[
                    vec![p("a", "SELECT 'another'"), s()],
                    as_bound("x"),
                    as_bound("z"),
                    as_bound("z"),
                ])),
                step(join(&[
                    vec![q("BEGIN"), q("DECLARE c CURSOR FOR VALUES (1), (2), (3)")],
                    as_bound("y"),
                    as_bound("y"),
                    as_bound("w"),
                    vec![q("DECLARE c CURSOR FOR VALUES ('another')")],
                    as_bound("y"),
                    vec![q("COMMIT")],
                    as_bound("y"),
                ])),
            ],
        ),
        as_tenant(
            "a prepared FETCH over many cursors of one name",
            vec![
                step(vec![p("f", "FETCH 2 FROM c"), s()]),
                step(join(&[
                    vec![q("BEGIN"), q(&format!("DECLARE c CURSOR FOR {MINE}"))],
                    as_bound("f"),
                    vec![q("COMMIT"), q("BEGIN"), q("DECLARE c CURSOR FOR SELECT 'no row of anybody'")],
                    as_bound("f"),
                    vec![q("COMMIT")],
                    as_bound("f"),
                ])),
            ],
        ),
        as_any(
            "a prepared DECLARE of a name that another portal has",
            vec![
                step(vec![p("d", "DECLARE c CURSOR FOR VALUES (1)"), s(), q("BEGIN")]),
                step(vec![p("", "SELECT 7"), b("c", "", &[]), b("", "d", &[]), e("", 0), s()]),
                step(join(&[
                    vec![q("ROLLBACK"), q("BEGIN")],
                    as_bound("d"),
                    vec![q("FETCH c")],
                    as_bound("d"),
                ])),
                step(join(&[vec![q("ROLLBACK"), q("BEGIN"), q("SAVEPOINT s")], as_bound("d")])),
                step(join(&[vec![q("ROLLBACK TO s")], as_bound("d"), vec![q("FETCH c"), q("COMMIT")]])),
            ],
        ),
        as_tenant(
            "EXECUTE of what is empty",
            vec![
                step(vec![p("b", ";"), s(), q("EXECUTE b"), q("EXECUTE b(1)")]),
                step(join(&[vec![p("x", "EXECUTE b"), s()], as_bound("x")])),
            ],
        ),
        as_any(
            "errors that quote a name",
            vec![
                step(vec![p("a", "SELECT $1::int"), b("", "a", &[]), s()]),
                step(vec![q("EXECUTE a"), q("EXECUTE a(1, 2)"), q("EXECUTE a('pgmoat_0000000000000001')")]),
                step(vec![q("BEGIN"), p("c", "COMMIT"), b("x", "c", &[]), e("x", 0), e("x", 0), s()]),
                step(vec![p("z", "SELECT 1/$1::int"), b("o", "z", &["0"]), e("o", 0), s()]),
            ],
        ),
        as_any(
            "unknown names in a failed transaction",
            vec![step(vec![
                q("BEGIN"),
                q(BAD),
                q("EXECUTE nobody"),
                q("FETCH nobody"),
                q("DEALLOCATE nobody"),
                b("", "nobody", &[]),
                s(),
                q("ROLLBACK"),
            ])],
        ),
    ]);
}

/// Known faults D1, D3, D5, D6, B3: COPY in and out, and what does not belong to it.
#[test]
fn copies_end_as_postgresqls() {
    const IN: &str = "COPY notes (tenant_id, body) FROM STDIN";
    const WITH_KEY: &str = "COPY notes (id, tenant_id, body) FROM STDIN";
    // Refused behind CopyInResponse: the table is older than the transaction.
    const FREEZES: &str = "COPY notes (tenant_id, body) FROM STDIN (FREEZE)";
    let rows = |count: usize| (0..count).map(|_| copy_data("acme\tcopied\n")).collect::<Vec<_>>();
    play(vec![
        as_any(
            "D1",
            vec![
                go(vec![q(IN)]),
                peek(vec![copy_data("no columns\n")]),
                step(join(&[rows(200), vec![Front::CopyDone, q("SELECT 1")]])),
            ],
        ),
        as_any(
            "D3",
            vec![
                step(join(&[run(IN), vec![s()], rows(2), vec![Front::CopyDone, s()]])),
                step(vec![q("SELECT 1")]),
            ],
        ),
        as_any(
            "D3 in two writes",
            vec![peek(join(&[run(IN), vec![s()]])), step(join(&[rows(2), vec![Front::CopyDone, s()]]))],
        ),
        as_any(
            "D5",
            vec![
                peek(vec![q(IN)]),
                peek(vec![copy_data("\\N\tx\n")]),
                step(vec![Front::CopyDone, q("SELECT 1")]),
            ],
        ),
        as_any(
            "D6",
            vec![step(vec![
                Front::CopyFail("stray".into()),
                copy_data("stray"),
                Front::CopyDone,
                q("SELECT 1"),
            ])],
        ),
        as_any(
            "D1, Syncs behind data: what is read inside the copy is ignored",
            vec![
                step(vec![q(IN), copy_data("no columns\n"), s()]),
                step(vec![q(IN), copy_data("no columns\n"), s(), s(), Front::CopyDone, s(), q("SELECT 1")]),
                step(vec![
                    q(IN),
                    copy_data("acme\tx\n"),
                    s(),
                    copy_data("acme\ty\n"),
                    s(),
                    Front::CopyDone,
                    s(),
                ]),
                step(vec![
                    q(IN),
                    copy_data("acme\thal"),
                    s(),
                    copy_data("f\tmore\n"),
                    s(),
                    Front::CopyDone,
                    s(),
                ]),
                step(vec![
                    q(IN),
                    copy_data("\\N\tx\n"),
                    s(),
                    s(),
                    Front::CopyFail("no".into()),
                    q("SELECT 1"),
                ]),
                peek(vec![q(IN)]),
                peek(vec![copy_data("no columns\n"), s()]),
                step(vec![p("", "SELECT 2"), b("", "", &[]), e("", 0), s()]),
                step(vec![q("BEGIN"), q(IN), copy_data("no columns\n"), s(), Front::CopyDone, q("SELECT 1")]),
                step(vec![q("ROLLBACK")]),
                step(vec![q("COPY nowhere FROM STDIN"), s(), copy_data("x\n"), q("SELECT 1")]),
                step(vec![q(IN), s(), copy_data("acme\tz\n"), Front::CopyDone, q(MINE)]),
            ],
        ),
        as_any(
            "D3, Syncs behind data in a batch",
            vec![
                step(join(&[run(IN), vec![copy_data("no columns\n"), s()]])),
                step(join(&[run(IN), vec![s(), copy_data("no columns\n"), s(), s(), Front::CopyDone, s()]])),
                step(join(&[run(IN), vec![copy_data("acme\tx\n"), s(), s(), Front::CopyDone, s(), q(MINE)]])),
                step(join(&[
                    run(IN),
                    vec![copy_data("acme\thal"), s(), copy_data("f\tmore\n"), s(), Front::CopyDone, s()],
                ])),
                step(join(&[
                    run(IN),
                    vec![copy_data("\\N\tx\n"), s(), s(), Front::CopyFail("no".into()), e("", 0), q(MINE)],
                ])),
                peek(run(IN)),
                peek(vec![h()]),
                peek(vec![copy_data("no columns\n"), s()]),
                step(vec![p("", "SELECT 2"), b("", "", &[]), e("", 0), s()]),
                step(join(&[
                    vec![q("BEGIN")],
                    run(IN),
                    vec![copy_data("no columns\n"), s(), Front::CopyDone, q("SELECT 1")],
                ])),
                step(vec![q("ROLLBACK")]),
                step(join(&[
                    run("COPY nowhere FROM STDIN"),
                    vec![s(), copy_data("x\n"), s(), q("SELECT 1")],
                ])),
                step(join(&[vec![e("nobody", 0)], run(IN), vec![copy_data("x\n"), s(), s(), q("SELECT 1")]])),
            ],
        ),
        as_any(
            "D3, a copy that fails before it reads, and one that does when it has read all",
            vec![
                step(join(&[run(FREEZES), vec![s(), Front::CopyDone, q("SELECT 1")]])),
                step(join(&[run(FREEZES), vec![s(), copy_data("1\n"), Front::CopyDone, s(), q("SELECT 1")]])),
                peek(join(&[run(FREEZES), vec![h()]])),
                step(vec![copy_data("1\n"), s(), Front::CopyDone, s(), q("SELECT 1")]),
                step(join(&[
                    run(WITH_KEY),
                    vec![copy_data("900\tacme\tx\n"), s(), copy_data("900\tacme\tx\n"), s()],
                    vec![Front::CopyDone, p("", "SELECT 3"), s()],
                ])),
                step(join(&[
                    vec![q("BEGIN")],
                    run(WITH_KEY),
                    vec![s(), copy_data("900\tacme\tx\n900\tacme\tx\n"), s()],
                    vec![Front::CopyDone, e("", 0), s(), q("SELECT 1")],
                ])),
                step(vec![q("ROLLBACK"), q(MINE)]),
            ],
        ),
        as_any("D6, Query", vec![peek(vec![q(IN)]), step(vec![q("SELECT 1")])]),
        as_any("D6, Parse", vec![peek(join(&[run(IN), vec![h()]])), step(vec![p("", "SELECT 1")])]),
        as_any(
            "CopyFail",
            vec![
                step(vec![q(IN), copy_data("acme\tx\n"), Front::CopyFail("no".into())]),
                step(vec![q("SELECT count(*) FROM notes")]),
            ],
        ),
        as_any(
            "two in one batch",
            vec![step(join(&[
                run(IN),
                rows(1),
                vec![Front::CopyDone],
                run(IN),
                rows(2),
                vec![Front::CopyDone, s()],
            ]))],
        ),
        as_any(
            "another Execute of a copy's portal",
            vec![step(join(&[
                run(IN),
                vec![
                    Front::CopyDone,
                    s(),
                    p("b", "COMMIT"),
                    p("b", "SELECT 1"),
                    e("", 0),
                    b("c", "nobody", &[]),
                    s(),
                ],
            ]))],
        ),
        as_any(
            "out",
            vec![
                step(vec![q("COPY notes TO STDOUT"), q("COPY (SELECT 1/0) TO STDOUT")]),
                step(join(&[run("COPY notes TO STDOUT"), vec![s()]])),
            ],
        ),
        as_tenant(
            "D8",
            vec![
                denied(vec![], q("COPY (DELETE FROM notes RETURNING *) TO STDOUT"), q(VAULT), vec![]),
                denied(vec![], q("COPY notes TO PROGRAM 'true'"), q(VAULT), vec![q("SELECT 1")]),
            ],
        ),
    ]);
}

/// Known faults I4, J1, J2, J5, J8, K8: what is not well formed inside, large, or comes by itself.
#[test]
fn messages_are_read_as_postgresql_reads_them() {
    let long = format!("SELECT 1 /* {} */", "x".repeat(9_000));
    play(vec![
        as_any("K8", vec![step(vec![q(&long), p("", &long), b("", "", &[]), e("", 0), s()])]),
        as_any(
            "J1, J2",
            vec![step(vec![
                q("LISTEN ch"),
                q("NOTIFY ch, 'a'"),
                q("BEGIN"),
                q("NOTIFY ch, 'b'"),
                q("SELECT 1"),
                q("COMMIT"),
                q("UNLISTEN ch"),
                q("NOTIFY ch"),
            ])],
        ),
        as_any(
            "J5",
            vec![Step {
                say: vec![
                    Say::Denied { proxied: framed(b'F', &[7; 9_000]), direct: q(VAULT) },
                    Say::Same(q("SELECT 1")),
                ],
                ..step(vec![])
            }],
        ),
        as_any(
            "J8",
            vec![step(vec![
                q("SET client_min_messages = 'debug1'"),
                q("DO $$BEGIN RAISE NOTICE 'n'; RAISE WARNING 'w'; END$$"),
            ])],
        ),
        as_any(
            "no text",
            vec![step(vec![
                framed(b'Q', b"SELECT 1"),
                framed(b'Q', b""),
                framed(b'Q', b"SELECT 1\0more\0"),
                framed(b'Q', b"SELECT '\xe9'\0"),
                q("SELECT 2"),
            ])],
        ),
        as_any(
            "no text, and the unnamed statement stays",
            vec![
                step(vec![p("", "SELECT 1"), s()]),
                step(vec![framed(b'Q', b"SELECT 2"), b("", "", &[]), e("", 0), s()]),
                step(vec![framed(b'Q', b"SELECT '\xe9'\0")]),
                step(vec![b("", "", &[]), e("", 0), s()]),
                step(vec![
                    q("BEGIN"),
                    p("", "SELECT 3"),
                    b("", "", &[]),
                    e("", 0),
                    framed(b'Q', b"SELECT 2"),
                ]),
                step(vec![q("ROLLBACK"), b("", "", &[]), s()]),
            ],
        ),
        as_any(
            "a Sync with something in it",
            vec![
                step(vec![framed(b'S', b"more"), q("SELECT 1")]),
                step(join(&[run(NOTE), vec![framed(b'S', b"more")], run("SELECT 2"), vec![s()]])),
                step(join(&[run(BAD), vec![framed(b'S', b"more")], run("SELECT 2"), vec![s()]])),
                step(vec![q("BEGIN"), framed(b'S', b"more"), q("SELECT 1"), q("COMMIT"), q(MINE)]),
                peek(vec![q("COPY notes (tenant_id, body) FROM STDIN")]),
                step(vec![framed(b'S', b"more"), framed(b'H', b"more"), copy_data("acme\tx\n")]),
            ],
        ),
    ]);
}
