//! The comparison itself can fail: a difference of every kind, and behind every way of asking, is
//! seen for what it is.
//!
//! None of these statements is allowed; the judge is not asked. Beside each stands what is to be
//! seen, or nothing where the worlds agree.

use pgmoat_lab::Cluster;

use crate::bound::Bound;
use crate::client::{Effect, Worlds};
use crate::tree::Written;
use crate::verdict::{Outcome, compare};
use crate::worlds::{self, Universe};

/// Says which statements were seen as something else.
pub(crate) fn misread(cluster: &Cluster) -> Vec<String> {
    worlds::copy(cluster, Universe::Kept, WORKER);
    let mut worlds = Worlds::connect(cluster, Universe::Kept, WORKER, "5s").unwrap();
    let mut all: Vec<(Written, Effect, &str)> = Vec::new();
    for (effect, statements) in [(Reads, READS), (Writes, WRITES), (Locks, LOCKS)] {
        for (sql, seen) in statements {
            all.push((Written { sql: (*sql).to_owned(), values: Vec::new() }, effect, seen));
        }
    }
    let value = Bound { text: Some("globex".to_owned()), declared: None };
    for (sql, seen) in BOUND {
        all.push((Written { sql: (*sql).to_owned(), values: vec![value.clone()] }, Reads, seen));
    }
    let batch: Vec<(&Written, Effect)> = all.iter().map(|(written, effect, _)| (written, *effect)).collect();
    // All at once, as in a run: what one leaves behind would disturb the next.
    let answers = worlds.run(&batch).unwrap();
    let before = [0, 1, 2].map(|world| worlds.others_before(world));
    let mut misread = Vec::new();
    for ((written, _, seen), answers) in all.iter().zip(&answers) {
        let told = match compare(answers, &before) {
            Outcome::Different(what) | Outcome::Error(what) => what,
            Outcome::Same => String::new(),
            Outcome::Invalid(code) => format!("invalid {code}"),
            Outcome::Unfinished => "unfinished".to_owned(),
        };
        let right = if seen.is_empty() { told.is_empty() } else { told.contains(seen) };
        if !right {
            misread.push(format!("\"{told}\" for \"{seen}\": {}", written.sql));
        }
    }
    misread
}

use Effect::{Locks, Reads, Writes};

const ROWS: &str = "rows differ";
const TAGS: &str = "command tags differ";
const OWN: &str = "our own rows";
const OTHERS: &str = "others' rows";

const READS: &[(&str, &str)] = &[
    ("SELECT id FROM app.notes", ROWS),
    ("SELECT id FROM app.notes WHERE tenant_id = 'acme'", ""),
    // In whatever order they come.
    (
        "SELECT id FROM app.notes WHERE tenant_id = 'acme' ORDER BY (SELECT count(*) FROM app.notes) * id % 5",
        "",
    ),
    ("SELECT count(*) FROM app.notes WHERE tenant_id <> 'acme'", ROWS),
    // As often as they come.
    ("SELECT 1 FROM app.events WHERE tenant_id <> 'acme'", ROWS),
    ("TABLE app.\"Audit Trail\"", ROWS),
    ("VALUES ((SELECT count(*) FROM more.seats))", ROWS),
    ("COPY (SELECT id FROM app.notes) TO STDOUT", ROWS),
    ("DECLARE k CURSOR FOR SELECT id FROM app.notes; FETCH ALL FROM k; CLOSE k", ROWS),
    ("DECLARE k CURSOR FOR SELECT id FROM app.notes; MOVE ALL FROM k; CLOSE k", TAGS),
    ("PREPARE p AS SELECT id FROM app.notes; EXECUTE p; DEALLOCATE p", ROWS),
    (
        "PREPARE q(text) AS SELECT id FROM app.notes WHERE tenant_id = $1; EXECUTE q('globex'); DEALLOCATE q",
        ROWS,
    ),
    ("SELECT count(*) FROM app.notes WHERE more.tell(body)", "notices differ"),
    ("SELECT 1 / (count(*) - 10) FROM app.notes", "22012"),
    ("SELECT bool_or(body::int > 0) FROM app.notes WHERE tenant_id = 'acme'", ""),
    ("SELECT nothing FROM app.notes", "invalid 42703"),
];

const BOUND: &[(&str, &str)] = &[
    ("SELECT id FROM app.notes WHERE tenant_id = $1", ROWS),
    ("SELECT id FROM app.notes WHERE tenant_id = 'acme' AND body <> $1", ""),
];

const WRITES: &[(&str, &str)] = &[
    ("UPDATE app.notes SET body = 'x' WHERE tenant_id = 'acme'", ""),
    ("UPDATE app.notes SET body = 'x'", TAGS),
    // The same tag and no row: ours is written in one world, theirs in another.
    ("UPDATE app.orders SET note = 'x' WHERE id = (SELECT max(id) FROM app.orders)", OWN),
    (
        "UPDATE app.orders SET note = (SELECT count(*) FROM app.orders) WHERE tenant_id = 'acme' AND id = 1",
        OWN,
    ),
    ("INSERT INTO app.notes (id, tenant_id, body) VALUES (901, 'globex', 'x')", OTHERS),
    ("INSERT INTO app.notes (id, tenant_id, body) VALUES (901, 'acme', 'x')", ""),
    ("INSERT INTO app.events VALUES ('globex', '2026-05-01', 'x', '{}')", OTHERS),
    ("INSERT INTO app.pinned_notes (id, tenant_id, body) VALUES (901, 'globex', 'x')", OTHERS),
    ("INSERT INTO app.plans VALUES ('x', 'x', 1)", OTHERS),
    ("INSERT INTO billing.invoices (account_no, amount, id) VALUES (77, 1, md5('x')::uuid)", OTHERS),
    ("INSERT INTO more.devices (id, owner, label) VALUES (901, md5('x')::uuid, 'x')", OTHERS),
    ("UPDATE more.tickets SET tenant_id = 'globex', id = 901 WHERE tenant_id = 'acme' AND id = 1", OTHERS),
    (
        "INSERT INTO app.notes (id, tenant_id, body) VALUES (901, 'acme', 'x') RETURNING (SELECT count(*) FROM app.notes)",
        ROWS,
    ),
    ("DELETE FROM app.notes WHERE tenant_id = 'acme' RETURNING id, (SELECT max(id) FROM app.orders)", ROWS),
    ("DELETE FROM app.order_items", TAGS),
    ("MERGE INTO app.notes t USING (SELECT 1) s ON t.tenant_id <> 'acme' WHEN MATCHED THEN DELETE", TAGS),
    (
        "MERGE INTO app.notes t USING (SELECT count(*)::int AS k FROM app.orders) s ON t.id = 900 + s.k \
         WHEN NOT MATCHED THEN INSERT (id, tenant_id, body) VALUES (900 + s.k, 'acme', 'x')",
        OWN,
    ),
    (
        "INSERT INTO app.warehouses AS w VALUES (101, 'acme', 'x') ON CONFLICT (id) DO UPDATE SET name = 'x'",
        OWN,
    ),
    ("WITH gone AS (DELETE FROM app.order_items WHERE tenant_id = 'acme') SELECT 1", ""),
    ("WITH gone AS (DELETE FROM app.order_items WHERE tenant_id <> 'acme') SELECT 1", OTHERS),
    ("PREPARE w AS DELETE FROM app.events; EXECUTE w; DEALLOCATE w", TAGS),
    // A key of theirs: an error in two worlds.
    ("INSERT INTO app.notes (id, tenant_id, body) VALUES (101, 'acme', 'x')", "23505"),
];

const LOCKS: &[(&str, &str)] = &[
    ("SELECT id FROM app.notes WHERE tenant_id = 'acme' FOR UPDATE", ""),
    (
        "SELECT d.id FROM (SELECT tenant_id, id FROM app.orders ORDER BY id) AS d \
         JOIN (VALUES ('acme'::text), ('acme')) AS v(t) ON v.t = d.tenant_id FOR SHARE OF d",
        OTHERS,
    ),
];

/// No worker of a run has this number.
const WORKER: u64 = 90;
