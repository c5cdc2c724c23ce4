//! What has no alias is called as PostgreSQL calls it: the names of outputs and of functions' columns in
//! FROM are asked of the server, and the judge must know each by that name and by no other.
//!
//! A name that is wrong on either side lets an unqualified reference slip to another level.

use pgmoat_lab::SUPERUSER;
use pgmoat_policy::{Code, Mode, NoNames, judge};
use pgmoat_tests::{Raw, Transcript};

use crate::worlds::{Known, Universe};
use crate::{known, on_large_stack};

#[test]
fn outputs_are_called_as_the_server_calls_them() {
    let texts = OUTPUTS.map(|expr| format!("SELECT {expr} FROM app.orders AS o WHERE o.tenant_id = 'acme'"));
    on_large_stack(move || {
        let asked =
            texts.iter().filter(|text| Question::new().holds(text, &format!("({text}) AS q"))).count();
        assert!(asked >= OUTPUTS.len() - VERSION_BOUND, "{asked}");
    });
}

#[test]
fn columns_of_functions_are_called_as_the_server_calls_them() {
    on_large_stack(|| {
        let mut question = Question::new();
        let mut asked = 0;
        for function in FUNCTIONS {
            for alias in ["", " AS q", " AS q(n)", " WITH ORDINALITY AS q"] {
                let from = format!("{function}{alias}");
                asked += usize::from(question.holds(&format!("SELECT * FROM {from}"), &from));
            }
        }
        assert!(asked >= FUNCTIONS.len() * 4 - VERSION_BOUND * 4, "{asked}");
        assert!(question.open.len() <= 16, "{:?}", question.open);
    });
}

struct Question {
    raw: Raw,
    known: &'static Known,
    open: Vec<String>,
}

impl Question {
    fn new() -> Question {
        let (stack, known) = known();
        let raw = Raw::connect(&stack.direct(SUPERUSER, Universe::Kept.name())).unwrap();
        Question { raw, known: &known[Universe::Kept as usize], open: Vec::new() }
    }

    /// Whether the server takes `text`; if so, `from` has columns of its outputs' names, and no others.
    fn holds(&mut self, text: &str, from: &str) -> bool {
        let Some(names) = names(&self.raw.query(text).unwrap()) else { return false };
        for name in &names {
            let said = self.code(&format!("SELECT \"{name}\" FROM {from}"));
            assert!(!matches!(said, Some(Code::ColumnUnknown)), "{name:?} is not known in {from}");
        }
        if self.code(&format!("SELECT no_such_name FROM {from}")).is_none() {
            // Known not to be known: any name is looked for further out, too.
            self.open.push(from.to_owned());
            return true;
        }
        for name in NAMES {
            let sql = format!("SELECT \"{name}\" FROM {from}");
            // A name may also stand for a whole row.
            let refused = !self.raw.query(&sql).unwrap().codes().is_empty();
            assert!(!refused || self.code(&sql).is_some(), "{name:?} is no column of {from}: {names:?}");
        }
        true
    }

    fn code(&self, sql: &str) -> Option<Code> {
        let Known { policy, catalog, principal } = self.known;
        let judgement = judge(sql, Mode::Simple, principal, policy, catalog, &NoNames);
        judgement.denial().map(|(_, denial)| denial.code)
    }
}

/// The names in the first RowDescription; none where the server refuses the text.
fn names(transcript: &Transcript) -> Option<Vec<String>> {
    if !transcript.codes().is_empty() {
        return None;
    }
    let description = transcript.messages.iter().find(|message| message.tag == b'T')?;
    let mut rest = description.body.get(2..)?;
    let mut names = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == 0)?;
        names.push(String::from_utf8_lossy(rest.get(..end)?).into_owned());
        rest = rest.get(end + 1 + FIELD_BYTES..)?;
    }
    Some(names)
}

/// Of a field in a RowDescription, behind its name.
const FIELD_BYTES: usize = 18;

/// Expressions of every kind that FigureColname tells apart, and what may stand around them.
const OUTPUTS: [&str; 64] = [
    "o.id",
    "o.id + 1",
    "-o.id",
    "1",
    "'x'",
    "true",
    "NULL",
    "o.id::text",
    "(o.id + 1)::text",
    "1::int",
    "CAST('1' AS numeric(5,2))",
    "(1)::int[]",
    "lower('x')",
    "lower('x')::varchar",
    "pg_catalog.upper('x')",
    "count(*) OVER ()",
    "CASE WHEN true THEN 1 END",
    "CASE WHEN true THEN 1 ELSE o.id END",
    "CASE WHEN true THEN 1 ELSE 1::bigint END",
    "CASE WHEN true THEN '' ELSE lower('x') END::text",
    "CASE WHEN true THEN CURRENT_USER ELSE CURRENT_USER END",
    "coalesce(o.id, 1)",
    "coalesce(o.id, 1)::text",
    "greatest(1, 2)",
    "least(1, 2)",
    "nullif(1, 2)",
    "ARRAY[1]",
    "(ARRAY[1])[1]",
    "(ARRAY[o.id])[1:1]",
    "ROW(1, 2)",
    "(1, 2)",
    "EXISTS (SELECT 1)",
    "NOT EXISTS (SELECT 1)",
    "ARRAY(SELECT 1)",
    "1 IN (SELECT 1)",
    "1 = ANY (SELECT 1)",
    "(SELECT 1)",
    "(SELECT 1)::text",
    "(SELECT 1 AS a)",
    "(SELECT 1 AS a)::text",
    "(SELECT q.* FROM (SELECT 'x'::text AS tenant_id) q)",
    "(SELECT * FROM (SELECT 1 AS n) q)::bigint",
    "(TABLE app.plans LIMIT 0) IS NULL",
    "(SELECT o.id UNION ALL SELECT 2 LIMIT 1)",
    "(VALUES (1))",
    "(VALUES (1))::text",
    "(WITH w AS (SELECT 1 AS z) SELECT * FROM w)",
    "(SELECT (SELECT q.* FROM (SELECT 1 AS deep) q))",
    "CASE WHEN true THEN 1 ELSE (SELECT * FROM (SELECT 1 AS n) q) END",
    "'x' COLLATE \"C\"",
    "(SELECT q.* FROM (SELECT 'x' AS c) q) COLLATE \"C\"",
    "o.note || 'x'",
    "o.note LIKE 'x'",
    "o.id IS NULL",
    "o.id BETWEEN 1 AND 2",
    "CURRENT_DATE",
    "CURRENT_USER",
    "CURRENT_TIMESTAMP(0)",
    "extract(year FROM now())",
    "now() AT TIME ZONE 'UTC'",
    "trim('x')",
    "position('x' IN 'y')",
    "substring('x' FROM 1)",
    "overlay('x' PLACING 'y' FROM 1)",
];

/// Functions in FROM: scalars, sets, rows, OUT parameters, expressions with a function's look.
const FUNCTIONS: [&str; 22] = [
    "generate_series(1, 2)",
    "lower('x')",
    "coalesce('a', 'b')",
    "greatest(1, 2)",
    "least(1, 2)",
    "nullif(1, 2)",
    "unnest(ARRAY[1])",
    "unnest('{a}'::text[])",
    "jsonb_array_elements_text('[1]')",
    "jsonb_array_elements('[1]')",
    "json_array_elements('[1]')",
    "jsonb_each('{}')",
    "json_each_text('{}')",
    "jsonb_object_keys('{}')",
    "string_to_table('a', ',')",
    "regexp_split_to_table('a', 'b')",
    "regexp_matches('a', 'b')",
    "CAST(1 AS bigint)",
    "CAST(lower('x') AS varchar)",
    "trim('x')",
    "CURRENT_DATE",
    "ROWS FROM (generate_series(1, 2), jsonb_array_elements_text('[1]'))",
];

/// Names that something is called by, for asking whether another is called so, too.
const NAMES: [&str; 44] = [
    "?column?",
    "id",
    "text",
    "int4",
    "int8",
    "numeric",
    "bool",
    "lower",
    "upper",
    "count",
    "case",
    "coalesce",
    "greatest",
    "least",
    "nullif",
    "array",
    "row",
    "exists",
    "a",
    "n",
    "q",
    "tenant_id",
    "column1",
    "z",
    "deep",
    "c",
    "current_date",
    "current_user",
    "current_timestamp",
    "extract",
    "timezone",
    "btrim",
    "position",
    "substring",
    "overlay",
    "value",
    "key",
    "unnest",
    "generate_series",
    "ordinality",
    "varchar",
    "jsonb_array_elements_text",
    "regexp_matches",
    "pg_catalog",
];

/// What some servers may not take.
const VERSION_BOUND: usize = 2;
