//! What the server records of a statement.

use std::collections::BTreeSet;

use pgmoat_tests::Raw;

/// The names of one statement, spelled as `pgmoat_policy::Claims` spells them.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) relations: BTreeSet<String>,
    pub(crate) columns: BTreeSet<String>,
    pub(crate) functions: BTreeSet<String>,
    pub(crate) operators: BTreeSet<String>,
}

/// The names of a statement; none where no function can hold it. One message is one transaction:
/// an error leaves nothing behind.
pub(crate) fn recorded(raw: &mut Raw, sql: &str) -> Option<Recorded> {
    let statement = sql.trim_end().trim_end_matches(';');
    let message = format!(
        "{PREPARE}CREATE FUNCTION pg_temp.names() RETURNS void BEGIN ATOMIC\n{statement}\n;END;{ASK}"
    );
    let transcript = raw.query(&message).unwrap();
    if !transcript.codes().is_empty() {
        return None;
    }
    let mut recorded = Recorded::default();
    for row in transcript.rows() {
        let [Some(what), Some(name)] = row.as_slice() else { continue };
        let names = match what.as_str() {
            "relation" => &mut recorded.relations,
            "column" => &mut recorded.columns,
            "function" => &mut recorded.functions,
            "operator" => &mut recorded.operators,
            _ => continue,
        };
        names.insert(name.clone());
    }
    Some(recorded)
}

const PREPARE: &str = "SET LOCAL search_path = app, public; SET LOCAL check_function_bodies = on;";

/// The columns of views are left out: the judge claims what they are made of; so are composite types,
/// which have no rows and are judged as types. A function's node says whether it was written as a call
/// (0), as SQL's own syntax (3), or is a cast (1, 2), which is judged as a type; an operator is the same
/// in every node that has one.
const ASK: &str = r"
WITH body AS (
    SELECT oid, prosqlbody::text AS tree FROM pg_proc WHERE oid = 'pg_temp.names'::regproc
), written AS (
    SELECT d.refclassid, d.refobjid, d.refobjsubid FROM pg_depend d JOIN body ON d.objid = body.oid
    WHERE d.classid = 'pg_proc'::regclass
)
SELECT 'relation', n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind <> 'c' AND (c.oid IN (SELECT refobjid FROM written WHERE refclassid = 'pg_class'::regclass)
       OR c.oid IN (SELECT m[1]::oid FROM body, regexp_matches(tree, ':rtekind 0 :relid (\d+)', 'g') m))
UNION
SELECT 'column', n.nspname || '.' || c.relname || '.' || a.attname
    FROM written w JOIN pg_class c ON c.oid = w.refobjid AND w.refclassid = 'pg_class'::regclass
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = w.refobjsubid
    WHERE w.refobjsubid <> 0 AND c.relkind NOT IN ('v', 'c')
UNION
SELECT 'function', n.nspname || '.' || p.proname || '(' || p.proargtypes::text || ')'
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE p.oid IN (SELECT m[1]::oid FROM body, regexp_matches(tree, ':funcid (\d+) :funcresulttype \d+ :funcretset \w+ :funcvariadic \w+ :funcformat [03]', 'g') m)
       OR p.oid IN (SELECT m[1]::oid FROM body, regexp_matches(tree, ':(?:aggfnoid|winfnoid) (\d+)', 'g') m)
UNION
SELECT 'operator', n.nspname || '.' || o.oprname || '(' || o.oprleft || ' ' || o.oprright || ')'
    FROM pg_operator o JOIN pg_namespace n ON n.oid = o.oprnamespace
    WHERE o.oid IN (SELECT m[1]::oid FROM body, regexp_matches(tree, ':opno (\d+)', 'g') m);
DROP FUNCTION pg_temp.names()";
