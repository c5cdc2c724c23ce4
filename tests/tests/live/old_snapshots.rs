//! A transaction that keeps its snapshot sees what others have deleted since, beside its own new rows: two rows under one
//! unique key. What is proven by unique keys is refused there, and nowhere else.

use std::io;

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Login, Proxied, Raw, Stack};

/// Warehouses of the other tenant's, one for each try.
const FIRST: u32 = 5_000;
const BY_KEY: [&str; 4] = [
    "SELECT w.name FROM shipments s JOIN warehouses w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
    "SELECT w.name FROM warehouses w WHERE w.id IN (SELECT warehouse_id FROM shipments WHERE tenant_id = 'acme')",
    "SELECT name FROM (SELECT tenant_id, id, string_agg(name, '+') OVER (PARTITION BY id) AS name FROM warehouses) w \
     WHERE tenant_id = 'acme'",
    "UPDATE shipments s SET shipped_at = now() FROM warehouses w WHERE w.id = s.warehouse_id AND s.tenant_id = 'acme'",
];
const BY_TENANT: &str = "SELECT w.name FROM shipments s JOIN warehouses w ON w.id = s.warehouse_id AND w.tenant_id = s.tenant_id \
                         WHERE s.tenant_id = 'acme'";

/// How a transaction comes to keep its snapshot: by these statements, and by what is set at start-up.
type Way = (&'static [&'static str], &'static [(&'static str, &'static str)]);

const WAYS: [Way; 9] = [
    (&["BEGIN ISOLATION LEVEL REPEATABLE READ"], &[]),
    (&["start transaction read write, isolation level serializable"], &[]),
    (&["BEGIN", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"], &[]),
    (&["BEGIN", "SET LOCAL transaction_isolation = 'Repeatable Read'"], &[]),
    (&["BEGIN", "SET TRANSACTION READ WRITE, ISOLATION LEVEL SERIALIZABLE"], &[]),
    (&["SET default_transaction_isolation = 'serializable'", "BEGIN"], &[]),
    (&["SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ", "BEGIN"], &[]),
    (&["SELECT set_config('default_transaction_isolation', 'repeatable read', false)", "BEGIN"], &[]),
    (&["BEGIN"], &[("options", "-c default_transaction_isolation=serializable")]),
];

/// A client of acme's, and the other tenant's row that is deleted while its transaction is open.
struct Try<'p> {
    proxied: &'p Proxied,
    raw: Raw,
    id: u32,
}

impl Try<'_> {
    fn new<'p>(proxied: &'p Proxied, number: usize, more: &[(&str, &str)]) -> io::Result<Try<'p>> {
        let id = FIRST + u32::try_from(number).unwrap();
        let raw = Raw::connect(&Login { more, ..proxied.login("acme_app") })?;
        let tried = Try { proxied, raw, id };
        tried.as_other(&format!("INSERT INTO app.warehouses VALUES ({id}, 'globex', 'SECRET')"));
        Ok(tried)
    }

    fn as_other(&self, sql: &str) {
        Stack::get().cluster().psql(&self.proxied.database, sql).unwrap();
    }

    fn ask(&mut self, sql: &str) -> io::Result<String> {
        let heard = self.raw.query(sql)?;
        assert!(!format!("{heard:?}").contains("SECRET"), "{sql}: the row of another tenant");
        Ok(heard.codes().join(" "))
    }

    /// Portals that were bound before anything changed: what has not begun takes its rows when it is executed.
    fn bound_before(&mut self) -> io::Result<()> {
        self.as_other(&format!(
            "DELETE FROM app.shipments WHERE warehouse_id = {0}; DELETE FROM app.warehouses WHERE id = {0}",
            self.id
        ));
        self.id += 50;
        self.as_other(&format!("INSERT INTO app.warehouses VALUES ({}, 'globex', 'SECRET')", self.id));
        let texts = [
            "EXECUTE k2".to_owned(),
            format!("DECLARE c CURSOR FOR {}", BY_KEY[0]),
            format!("COPY ({}) TO STDOUT", BY_KEY[0]),
            BY_KEY[0].to_owned(),
        ];
        assert_eq!(self.ask("BEGIN ISOLATION LEVEL REPEATABLE READ")?, "");
        let mut batch = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            batch.extend([
                p(&format!("s{number}"), text),
                b(&format!("p{number}"), &format!("s{number}"), &[]),
            ]);
        }
        // One that has begun goes on.
        batch.extend([b("begun", "s3", &[]), e("begun", 1), s()]);
        let heard = self.raw.ask(&batch)?;
        assert!(heard.codes().is_empty(), "{heard:?}");
        self.take_its_place()?;
        let heard = self.raw.ask(&[e("begun", 1), s()])?;
        assert!(heard.codes().is_empty() && heard.rows().len() == 1, "{heard:?}");
        for (number, text) in texts.iter().enumerate() {
            assert_eq!(self.ask("SAVEPOINT b")?, "");
            let heard = self.raw.ask(&[e(&format!("p{number}"), 0), s()])?;
            assert_eq!(heard.codes(), ["42501"], "{text}: {heard:?}");
            assert_eq!(self.ask("ROLLBACK TO b")?, "");
        }
        assert_eq!(self.ask("ROLLBACK")?, "");
        Ok(())
    }

    /// The snapshot is taken, the row goes, and one of the client's own takes its place.
    fn take_its_place(&mut self) -> io::Result<()> {
        let id = self.id;
        assert_eq!(self.ask("SELECT 1 FROM orders WHERE tenant_id = 'acme' LIMIT 1")?, "");
        self.as_other(&format!("DELETE FROM app.warehouses WHERE id = {id}"));
        assert_eq!(self.ask(&format!("INSERT INTO warehouses VALUES ({id}, 'acme', 'mine')"))?, "");
        let shipment = format!(
            "INSERT INTO shipments (id, tenant_id, warehouse_id, order_id) SELECT {id} + 1000000, 'acme', {id}, min(id) \
             FROM orders WHERE tenant_id = 'acme'"
        );
        assert_eq!(self.ask(&shipment)?, "");
        Ok(())
    }
}

#[test]
fn unique_keys_prove_nothing_to_a_transaction_that_keeps_its_snapshot_and_has_changed_rows() {
    for mode in ["session", "transaction"] {
        let proxied = Stack::get()
            .proxy_with(|config| {
                config
                    .databases
                    .iter_mut()
                    .for_each(|database| database.pool = format!("mode: {mode}, size: 3"));
            })
            .unwrap();
        for (number, (way, more)) in WAYS.iter().enumerate() {
            let mut tried = Try::new(&proxied, number, more).unwrap();
            way.iter().for_each(|sql| assert_eq!(tried.ask(sql).unwrap(), "", "{sql}"));
            for sql in BY_KEY.iter().filter(|sql| sql.starts_with("SELECT")) {
                assert_eq!(tried.ask(sql).unwrap(), "", "{way:?}, nothing is changed: {sql}");
            }
            tried.take_its_place().unwrap();
            for sql in BY_KEY {
                assert_eq!(tried.ask("SAVEPOINT a").unwrap(), "");
                assert_eq!(tried.ask(sql).unwrap(), "42501", "{way:?}: {sql}");
                assert_eq!(tried.ask("ROLLBACK TO a").unwrap(), "");
            }
            assert_eq!(tried.ask(BY_TENANT).unwrap(), "", "{way:?}");
            assert_eq!(tried.ask("ROLLBACK").unwrap(), "");
            assert_eq!(tried.ask(BY_KEY[0]).unwrap(), "", "{way:?}, behind it");
        }
    }
}

#[test]
fn a_statement_of_the_same_text_or_batch_counts() {
    let proxied = Stack::get().proxy().unwrap();
    let mut tried = Try::new(&proxied, 100, &[]).unwrap();
    // Prepared while nothing speaks against it, bound when something does.
    tried.raw.ask(&[p("k", BY_KEY[0]), s()]).unwrap();
    assert_eq!(tried.ask(&format!("PREPARE k2 AS {}", BY_KEY[0])).unwrap(), "");
    assert_eq!(tried.ask("BEGIN ISOLATION LEVEL REPEATABLE READ").unwrap(), "");
    tried.take_its_place().unwrap();
    for ask in [vec![b("", "k", &[]), e("", 0), s()], vec![q("EXECUTE k2")]] {
        assert_eq!(tried.ask("SAVEPOINT a").unwrap(), "");
        let heard = tried.raw.ask(&ask).unwrap();
        assert_eq!(heard.codes(), ["42501"], "{heard:?}");
        assert_eq!(tried.ask("ROLLBACK TO a").unwrap(), "");
    }
    assert_eq!(tried.ask("ROLLBACK").unwrap(), "");
    tried.bound_before().unwrap();
    let change = "UPDATE warehouses SET name = name WHERE tenant_id = 'acme'";
    let whole = format!("BEGIN ISOLATION LEVEL SERIALIZABLE; {change}; {}; COMMIT", BY_KEY[0]);
    assert_eq!(tried.ask(&whole).unwrap(), "42501");
    let batch = [
        p("", "BEGIN ISOLATION LEVEL REPEATABLE READ"),
        b("", "", &[]),
        e("", 0),
        p("", change),
        b("", "", &[]),
        e("", 0),
        b("", "k", &[]),
        e("", 0),
        s(),
    ];
    let heard = tried.raw.ask(&batch).unwrap();
    assert_eq!(heard.codes(), ["42501"], "{heard:?}");
    assert_eq!(tried.ask("ROLLBACK").unwrap(), "");
}

#[test]
fn each_statement_with_a_snapshot_of_its_own_is_let_through() {
    let proxied = Stack::get().proxy().unwrap();
    for (number, begin) in [
        "BEGIN",
        "BEGIN ISOLATION LEVEL READ COMMITTED",
        "START TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
    ]
    .into_iter()
    .enumerate()
    {
        let mut tried = Try::new(&proxied, 200 + number, &[]).unwrap();
        assert_eq!(tried.ask(begin).unwrap(), "");
        tried.take_its_place().unwrap();
        for sql in BY_KEY {
            assert_eq!(tried.ask(sql).unwrap(), "", "{begin}: {sql}");
        }
        assert_eq!(tried.ask("ROLLBACK").unwrap(), "");
    }
}

/// Also by the second statement of a shape, whose verdict is kept.
#[test]
fn rows_may_be_changed_by_other_kinds_of_statement() {
    let proxied = Stack::get().proxy().unwrap();
    let changes = [
        "WITH w AS (INSERT INTO warehouses VALUES ({id}, 'acme', 'mine') RETURNING id) SELECT id FROM w",
        "COPY (INSERT INTO warehouses VALUES ({id}, 'acme', 'mine') RETURNING id) TO STDOUT",
        "EXPLAIN ANALYZE INSERT INTO warehouses VALUES ({id}, 'acme', 'mine')",
    ];
    for (number, change) in changes.iter().chain(&changes).chain(&changes).enumerate() {
        let mut tried = Try::new(&proxied, 400 + number, &[]).unwrap();
        assert_eq!(tried.ask("BEGIN ISOLATION LEVEL REPEATABLE READ").unwrap(), "");
        assert_eq!(tried.ask("SELECT 1 FROM orders WHERE tenant_id = 'acme' LIMIT 1").unwrap(), "");
        let id = tried.id;
        tried.as_other(&format!("DELETE FROM app.warehouses WHERE id = {id}"));
        let said = tried.ask(&change.replace("{id}", &id.to_string())).unwrap();
        // Nothing else is sent that changes rows.
        assert_eq!(
            tried.ask(BY_KEY[0]).unwrap(),
            if said.is_empty() { "42501" } else { "25P02" },
            "{change}"
        );
        tried.ask("ROLLBACK").unwrap();
    }
}

#[test]
fn the_servers_own_default_counts() {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    let keeps =
        format!("ALTER DATABASE \"{database}\" SET default_transaction_isolation = 'repeatable read'");
    stack.cluster().psql(&database, &keeps).unwrap();
    let proxied = stack.proxy_before(&database, |_| {}).unwrap();
    let mut tried = Try::new(&proxied, 300, &[]).unwrap();
    assert_eq!(tried.ask("BEGIN").unwrap(), "");
    tried.take_its_place().unwrap();
    assert_eq!(tried.ask(BY_KEY[0]).unwrap(), "42501");
}

#[test]
fn a_default_that_is_set_while_the_proxy_runs_counts_within_seconds() {
    let stack = Stack::get();
    let proxied = stack
        .proxy_with(|config| {
            config
                .databases
                .iter_mut()
                .for_each(|database| database.pool = "mode: session, size: 1".to_owned());
        })
        .unwrap();
    let said = |number| {
        let mut tried = Try::new(&proxied, number, &[]).unwrap();
        assert_eq!(tried.ask("BEGIN").unwrap(), "");
        tried.take_its_place().unwrap();
        let said = tried.ask(BY_KEY[0]).unwrap();
        assert_eq!(tried.ask("ROLLBACK").unwrap(), "");
        said
    };
    assert_eq!(said(500), "");
    // Connections that are there go on by the old one, so that nothing is shown meanwhile.
    let keeps = format!(
        "ALTER DATABASE \"{}\" SET default_transaction_isolation = 'Repeatable Read'",
        proxied.database
    );
    stack.cluster().psql(&proxied.database, &keeps).unwrap();
    let refused = (501..531).any(|number| {
        std::thread::sleep(std::time::Duration::from_millis(200));
        said(number) == "42501"
    });
    assert!(refused, "it is not noticed");
}
