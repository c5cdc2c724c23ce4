//! The same for statements that are made up: constants of every syntax where one of another could be
//! mistaken for it, odd spacing, comments, places where a constant is structure; and tenants whose
//! values stand to each other in different ways.

use std::sync::Arc;

use pgmoat_policy::{Given, Mode, NoNames, Policy, Principal, Recent, Verdicts, judge};

use super::dice::Dice;
use super::{deep, lab};

/// Tenant columns of every family. `segment` and `sku` have one value for one tenant and two for another,
/// `product_id` and `account_no` likewise; `hooli` has none in most.
const POLICY: &str = r#"
version: 1
search_path: [app, public]
tenancy:
  proof: [literal, bound]
  errors: ERRORS
  tables:
    - { match: "billing.invoices", column: id }
    - { match: "billing.payments", column: account_no }
    - { match: "app.orders", column: status }
    - { match: "app.customers", column: segment }
    - { match: "app.products", column: sku }
    - { match: "app.order_items", column: product_id }
    - { match: "app.plans", shared: true }
    - { match: "app.countries", shared: true }
    - { match: "app.*", column: tenant_id }
tenants:
  acme: { segment: ent, sku: ent, status: new, account_no: 1, product_id: 1, id: a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 }
  globex: { segment: smb, sku: mid, status: paid, account_no: 2, product_id: 1000000000000, id: a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12 }
  1: { segment: 1, sku: 1, status: shipped, account_no: 3, product_id: 3 }
  hooli: { account_no: 4 }
roles:
  app:
    tenant: required
    statements: [select, insert, update, delete, merge, transaction, set, show, prepare, cursor, copy_to, copy_from, ddl, temp]
    relations: { allow: ["app.*", "billing.*"] }
    functions: { preset: standard, allow: ["app.net_price"] }
    masks:
      - { column: app.customers.phone, kind: "null" }
      - { column: app.orders.note, kind: fixed, value: x }
    limits: { rows: { max: 10, over: cut }, in_list: 6 }
    explain: plain
  ops:
    tenant: exempt
    statements: [select, insert, update, delete, transaction, set, show, copy_to, copy_from, ddl, temp, call, lock]
    relations: { allow: ["app.*", "billing.*"] }
    functions: { preset: standard }
    columns: { deny: ["app.customers.ssn"] }
    explain: analyze
"#;

const PRINCIPALS: [&str; 6] = ["app:acme", "app:globex", "app:1", "app:hooli", "app:nobody", "ops"];

/// `?` is a constant of any kind; `@` and a letter what a tenant may be called in that column; `#` an integer; a blank
/// may be any white space.
const TEMPLATES: &[&str] = &[
    "SELECT id FROM app.orders WHERE status = @o",
    "SELECT id, note FROM app.orders WHERE status = @o AND total > ? ORDER BY # LIMIT #",
    "SELECT id FROM app.orders WHERE @o = status OFFSET ? LIMIT ?",
    "SELECT id FROM app.orders WHERE status IN ( @o , @o )",
    "SELECT id FROM app.orders WHERE status = ANY ( ? )",
    "SELECT id FROM app.orders WHERE status = ANY ( ARRAY [ @o , @o ] )",
    "SELECT c.phone, p.name FROM app.customers c JOIN app.products p ON p.sku = c.segment WHERE c.segment = @s",
    "SELECT c.phone FROM app.customers c, app.products p WHERE p.sku = @k AND c.segment = @s AND p.id = #",
    "SELECT i.qty FROM app.order_items i, billing.payments p WHERE i.product_id = @p AND p.account_no = i.product_id",
    "SELECT i.qty FROM app.order_items i WHERE i.product_id = @p AND i.qty > # AND i.qty < -#",
    "SELECT id FROM billing.invoices WHERE id = @i",
    "SELECT id FROM billing.invoices WHERE id = @i :: uuid AND issued_on > date ?",
    "SELECT id FROM billing.invoices WHERE id = uuid @i",
    "SELECT amount FROM billing.payments WHERE account_no = @a AND amount > ? :: numeric(#,#)",
    "SELECT amount FROM billing.payments WHERE account_no = CAST ( @a AS int )",
    "SELECT amount FROM billing.payments WHERE account_no = - # OR account_no = -#",
    "SELECT amount FROM billing.payments WHERE account_no IN ( @a,@a,@a,@a )",
    "SELECT amount / # FROM billing.payments WHERE account_no = @a GROUP BY #",
    "SELECT amount, sum(amount) FROM billing.payments WHERE account_no = @a GROUP BY # ORDER BY #",
    "SELECT body FROM app.notes WHERE tenant_id = @t AND body LIKE ?",
    "SELECT body FROM app.notes WHERE tenant_id = @t :: varchar(#)",
    "SELECT body FROM app.notes WHERE tenant_id = @t AND id = $1 AND body = ?",
    "SELECT * FROM (SELECT tenant_id AS a1, body AS b#x FROM app.notes) t3 WHERE a1 = @t",
    "SELECT count(*) FROM app.notes WHERE tenant_id = @t HAVING # = #",
    "SELECT count(*) FROM app.notes WHERE tenant_id = @t FETCH FIRST # ROWS ONLY",
    "SELECT body FROM app.notes WHERE tenant_id = @t UNION SELECT ? ORDER BY #",
    "SELECT DISTINCT ON ( # ) body FROM app.notes WHERE tenant_id = @t",
    "SELECT body FROM app.notes WHERE tenant_id = @t AND EXISTS (SELECT ? FROM app.plans LIMIT #)",
    "SELECT body FROM app.notes TABLESAMPLE bernoulli ( # ) WHERE tenant_id = @t",
    "SELECT date_trunc ( ? , created_at ) , extract ( year FROM created_at ) FROM app.orders WHERE status = @o",
    "SELECT interval ? year , interval ? , timestamp ? , ? :: date , now() + interval ?",
    "SELECT interval (#) ? , time (#) ? , bit (#) ? , ? :: bit(#) , ? :: float4",
    "SELECT ? :: regclass , ? :: regproc , to_regclass ( ? )",
    "SELECT current_setting ( ? )",
    "SELECT set_config ( ? , ? , true )",
    "SELECT nextval ( ? )",
    "SELECT ? , ? , ? + ? , - ? , ? . ?",
    "SELECT substring ( ? from # for # ) , overlay ( ? placing ? from # ) , ? COLLATE \"C\"",
    "SELECT jsonb_path_query ( profile , ? ) , profile -> ? , profile ->> # , tags [ # ] FROM app.customers WHERE segment = @s",
    "SELECT json_build_object ( ? , ? ) , xmlelement ( name a , ? ) , array [ ? , ? ] , row ( ? , ? )",
    "SELECT CASE ? WHEN ? THEN ? ELSE ? END",
    "SELECT * FROM generate_series ( # , # ) g ( x ) LIMIT #",
    "SELECT rank() OVER ( ORDER BY # ROWS BETWEEN # PRECEDING AND # FOLLOWING ) FROM app.plans",
    "SELECT percentile_cont ( ? ) WITHIN GROUP ( ORDER BY price_cents ) , ntile ( # ) OVER () FROM app.plans",
    "SELECT format ( ? , ? ) , repeat ( ? , # ) , lpad ( ? , # ) , chr ( # ) , 1 / # , power ( # , # )",
    "VALUES ( ? , # ) , ( ? , # ) ORDER BY # LIMIT #",
    "TABLE app.plans ORDER BY # LIMIT #",
    "INSERT INTO app.notes ( tenant_id , body ) VALUES ( @t , ? )",
    "INSERT INTO app.notes ( tenant_id , body ) VALUES ( @t , ? ) , ( @t , ? ) RETURNING id , ?",
    "INSERT INTO app.notes SELECT # , @t , ?",
    "INSERT INTO app.orders ( status , customer_id , note ) VALUES ( @o , # , ? )",
    "INSERT INTO app.customers ( segment , email , full_name ) VALUES ( @s , ? , ? ) ON CONFLICT DO NOTHING",
    "INSERT INTO app.customers ( email , full_name ) VALUES ( ? , ? )",
    "INSERT INTO app.orders ( customer_id ) VALUES ( # )",
    "INSERT INTO app.order_items VALUES ( ? , # , # , # , # , ? , ? )",
    "UPDATE app.notes SET body = ? WHERE tenant_id = @t AND id = #",
    "UPDATE app.notes SET tenant_id = @t , body = ? WHERE tenant_id = @t",
    "UPDATE app.notes SET ( body , tenant_id ) = ( ? , @t ) WHERE tenant_id = @t",
    "DELETE FROM app.notes WHERE tenant_id = @t RETURNING #",
    "DELETE FROM app.notes USING app.customers c WHERE tenant_id = @t AND c.segment = @s",
    "MERGE INTO app.notes n USING (SELECT ? AS x) s ON n.tenant_id = @t AND n.body = s.x \
     WHEN MATCHED THEN UPDATE SET body = ? WHEN NOT MATCHED THEN INSERT ( tenant_id , body ) VALUES ( @t , ? )",
    "WITH w AS (SELECT body FROM app.notes WHERE tenant_id = @t LIMIT #) SELECT ? FROM w",
    "WITH RECURSIVE w ( n ) AS (VALUES ( # ) UNION ALL SELECT n + # FROM w WHERE n < #) SELECT n FROM w LIMIT #",
    "SELECT p FROM app.tenant_totals p WHERE tenant_id = @t",
    "SELECT o FROM app.open_orders o WHERE tenant_id = @t AND id > #",
    "SELECT revenue FROM app.daily_revenue WHERE tenant_id = @t AND day > ?",
    "SET work_mem = ?",
    "SET LOCAL statement_timeout TO #",
    "SET search_path = ? , ?",
    "SET TIME ZONE ?",
    "SET TIME ZONE INTERVAL ? HOUR TO MINUTE",
    "SHOW work_mem",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
    "SAVEPOINT s1",
    "COPY (SELECT body FROM app.notes WHERE tenant_id = @t) TO STDOUT (FORMAT ? , DELIMITER ?)",
    "COPY (SELECT body FROM app.notes WHERE tenant_id = @t LIMIT #) TO STDOUT WITH CSV DELIMITER ?",
    "COPY app.notes FROM STDIN (FORMAT ? , NULL ?)",
    "EXPLAIN (ANALYZE ? , FORMAT ?) SELECT body FROM app.notes WHERE tenant_id = @t",
    "EXPLAIN SELECT body FROM app.notes WHERE tenant_id = @t LIMIT #",
    "CREATE TEMP TABLE t1 ( a varchar(#) DEFAULT ? , b numeric(#,#) CHECK ( b > # ) )",
    "CREATE TABLE app.t1 ( a int DEFAULT # ) WITH ( fillfactor = # )",
    "CREATE TEMP TABLE t2 AS SELECT body FROM app.notes WHERE tenant_id = @t LIMIT #",
    "ALTER TABLE app.notes ALTER body SET DEFAULT ?",
    "LOCK TABLE app.notes",
    "DO ?",
    "CALL app.purge_orders ()",
    "LISTEN a1",
    "SELECT pg_sleep ( # ) , pg_advisory_lock ( # ) , pg_notify ( ? , ? )",
    "SELECT body FROM app.notes WHERE tenant_id = @t ; SELECT ?",
    "SELECT body FROM app.notes WHERE tenant_id = @t ;",
    "; SELECT body FROM app.notes WHERE tenant_id = @t",
];

/// What a tenant may be called, and what looks like it.
const TENANTS: &[&str] = &[
    "'acme'",
    "'globex'",
    "'hooli'",
    "'1'",
    "'ent'",
    "'mid'",
    "'smb'",
    "'new'",
    "'paid'",
    "'shipped'",
    "'ENT'",
    "'ent '",
    "' ent'",
    "'e''nt'",
    "1",
    "2",
    "3",
    "01",
    "+1",
    "' 1 '",
    "'+1'",
    "'01'",
    "'1.0'",
    "1000000000000",
    "'1000000000000'",
    "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
    "'{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'",
    "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'",
    "'{ent}'",
    "'{acme}'",
    "'{acme,acme}'",
    "'{1}'",
    "'{new}'",
    "'{}'",
];

const PLAIN: &[&str] = &[
    "'x'",
    "''",
    "''''",
    "'it''s'",
    "'2026-01-01'",
    "'day'",
    "'csv'",
    "'binary'",
    "'text'",
    "'64MB'",
    "'app.orders'",
    "'pg_class'",
    "'work_mem'",
    "'role'",
    "'search_path'",
    "'1'",
    "'0'",
    "'on'",
    "','",
    "'|'",
    "'app.notes_id_seq'",
    "'insert into x'",
    "'; DROP'",
    "'-- c'",
    "'/* c'",
    "'$1'",
    "'é'",
    "'\t\n'",
    "'%L'",
    "'$.a'",
    "'acme'",
    "'ent'",
    "'json'",
    "0",
    "1",
    "2",
    "7",
    "42",
    "2147483647",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999999",
    "1.5",
    "1.",
    ".5",
    "0.0",
    "1e5",
    "1e-5",
    "1E+5",
    "00",
    "007",
];

/// What is no plain constant, or none at all.
const ODD: &[&str] = &[
    "E'acme'",
    "e'a\\'b'",
    "E'\\x61cme'",
    "U&'acme'",
    "u&'\\0061cme'",
    "U&'!0061cme' UESCAPE '!'",
    "$$acme$$",
    "$t$acme$t$",
    "$t$'$t$",
    "N'acme'",
    "n'ent'",
    "B'1'",
    "X'1F'",
    "'ac' 'me'",
    "'ac'\n'me'",
    "'ac' -- c\n 'me'",
    "'a\\b'",
    "\"acme\"",
    "acme",
    "NULL",
    "true",
    "$1",
    "$2",
    "$1x",
    "-1",
    "- 1",
    "+ 1",
    "--1\n1",
    "0x1F",
    "0b1",
    "0o7",
    "1_000",
    "1_",
    "123abc",
    "1e",
    "1..2",
    "1.e5",
    "e5",
    "1 e5",
    "1 'x'",
    "'x' 1",
    "'acme'::text",
    "'acme'::varchar(3)",
    "'1'::int",
    "text 'acme'",
    "date '2026-01-01'",
    "interval '1' year",
    "'a' || 'b'",
    "(1)",
    "1.5.6",
    "é",
    "'a",
    "/* c */ 1",
    "1 -- c\n",
    "'x' AS y",
    "1 AS a1",
    "float(24) '1'",
];

/// Between two words.
const BLANKS: &[&str] = &[
    "\n",
    "\t",
    "  ",
    " /* c */ ",
    " -- c\n",
    "\u{b}",
    "\r\n",
    "/**/",
    " /* ' */ ",
    "",
    " -- '\n",
    "\u{a0}",
];

/// What a tenant is called in the column of a letter.
fn own(tenant: &str, column: char) -> Option<&'static str> {
    Some(match (tenant, column) {
        ("acme", 's' | 'k') => "'ent'",
        ("acme", 'o') => "'new'",
        ("acme", 'a' | 'p') => "1",
        ("acme", 'i') => "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
        ("acme", _) => "'acme'",
        ("globex", 's') => "'smb'",
        ("globex", 'k') => "'mid'",
        ("globex", 'o') => "'paid'",
        ("globex", 'a') => "2",
        ("globex", 'p') => "1000000000000",
        ("globex", 'i') => "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'",
        ("globex", _) => "'globex'",
        ("1", 's' | 'k' | 't') => "'1'",
        ("1", 'o') => "'shipped'",
        ("1", _) => "3",
        ("hooli", 'a') => "4",
        ("hooli", 't') => "'hooli'",
        (_, _) => return None,
    })
}

fn constant(hole: char, own: Option<&'static str>, dice: &mut Dice) -> String {
    let one = match (hole, dice.below(24)) {
        (_, 0) => dice.one(ODD),
        ('?', _) | (_, 1) => dice.one(PLAIN),
        ('#', _) => dice.one(&["0", "1", "2", "3", "5", "10", "2147483647", "01"]),
        (_, 2..8) => dice.one(TENANTS),
        // The string of an integer, and the other way round.
        (_, 8) => return own.map_or_else(|| "'x'".to_owned(), |own| format!("'{}'", own.trim_matches('\''))),
        (_, _) => own.unwrap_or("'nobody'"),
    };
    one.to_owned()
}

fn statement(template: &str, tenant: &str, dice: &mut Dice) -> String {
    let odd = dice.below(8) == 0;
    let mut text = String::new();
    let mut parts = template.chars();
    while let Some(part) = parts.next() {
        match part {
            '?' | '#' => text.push_str(&constant(part, None, dice)),
            '@' => text.push_str(&constant(part, own(tenant, parts.next().unwrap()), dice)),
            ' ' if odd && dice.below(8) == 0 => text.push_str(dice.one(BLANKS)),
            other => text.push(other),
        }
    }
    text
}

#[test]
fn a_made_up_statement_gets_the_verdict_of_a_fresh_judgement() {
    for errors in ["redact", "deny"] {
        deep(move || {
            let policy = Policy::load(&POLICY.replace("ERRORS", errors), "policy.yaml").unwrap().policy;
            let (policy, catalog) = (Arc::new(policy), lab().1);
            let verdicts = Verdicts::new(Arc::clone(&policy), Arc::clone(&catalog), 64 << 20);
            let mut recent = Recent::default();
            let mut dice = Dice(11);
            let rounds = if std::env::var_os("PGMOAT_LONG").is_some() { 4_000 } else { 80 };
            let (mut told, mut found) = (0, 0);
            for template in (0..rounds).flat_map(|_| TEMPLATES) {
                let principal = Principal::parse(dice.one(&PRINCIPALS)).unwrap();
                let text = statement(template, principal.tenant.as_deref().unwrap_or("acme"), &mut dice);
                let mode = match dice.below(4) {
                    0 => Mode::Extended { declared: &[] },
                    1 => Mode::Extended { declared: &[25, 23] },
                    _ => Mode::Simple,
                };
                told += 1;
                let Given::Kept(kept) = verdicts.give(&mut recent, &text, mode, &principal, &NoNames) else {
                    continue;
                };
                found += 1;
                let fresh = judge(&text, mode, &principal, &policy, &catalog, &NoNames);
                assert_eq!(
                    format!("{:?}", kept.judgement_of(&text)),
                    format!("{fresh:?}"),
                    "{principal:?} {mode:?} {errors}\n{text}"
                );
            }
            println!("{told} statements, {found} found, {:?}", verdicts.stats());
            assert!(found * 6 > told, "{found} of {told}");
        });
    }
}
