//! Other tenants' rows hold a word, and hundreds of statements fail on them: it stands in nothing that a tenant reads.

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::front::{b, e, p, s};
use pgmoat_tests::{Proxied, Raw, Stack, Transcript};

use crate::{direct, run, says, superuser};

const CANARY: &str = "zqcanary";
/// The same as a number.
const NUMBER: &str = "998877665544";

/// Puts the words into every column of other tenants' rows that takes them.
const PLANT: &str = "
    UPDATE app.customers SET full_name = 'zqcanary ' || id, email = 'zqcanary' || id || '@x', ssn = 'zqcanary',
        phone = 'zqcanary', segment = 'zqcanary', profile = '{\"k\": \"zqcanary\", \"n\": 998877665544}',
        tags = '{zqcanary}' WHERE tenant_id <> 'acme';
    UPDATE app.products SET name = 'zqcanary', sku = '998877665544' || id WHERE tenant_id <> 'acme';
    UPDATE app.orders SET note = 'zqcanary \\' WHERE tenant_id <> 'acme';
    UPDATE app.notes SET body = CASE WHEN id % 2 = 0 THEN 'zqcanary' ELSE '998877665544' END WHERE tenant_id <> 'acme';
    UPDATE app.events SET kind = 'zqcanary', payload = '{\"k\": \"zqcanary\"}' WHERE tenant_id <> 'acme';";

/// Writes acme's rows behind the others: a scan meets those first.
const BEHIND: &str = "
    UPDATE app.customers SET segment = segment WHERE tenant_id = 'acme';
    UPDATE app.products SET name = name WHERE tenant_id = 'acme';
    UPDATE app.orders SET note = note WHERE tenant_id = 'acme';
    UPDATE app.notes SET body = body WHERE tenant_id = 'acme';
    UPDATE app.events SET kind = kind WHERE tenant_id = 'acme';";

/// Tables with their columns of text.
const COLUMNS: &[(&str, &[&str])] = &[
    ("app.customers", &["full_name", "segment", "profile ->> 'k'", "tags[1]", "profile ->> 'n'"]),
    ("app.products", &["name", "sku"]),
    ("app.orders", &["note"]),
    ("app.notes", &["body"]),
    ("app.events", &["kind", "payload ->> 'k'"]),
];

/// Expressions that fail on some text, with `$` where the column stands.
const FAILING: &[&str] = &[
    "($)::int = 1",
    "($)::bigint = 1",
    "($)::smallint = 1",
    "($)::numeric = 1",
    "($)::numeric(3, 1) = 1",
    "($)::float8 = 1",
    "($)::money = '1'",
    "($)::date = '2026-01-01'",
    "($)::time = '10:00'",
    "($)::timestamp = '2026-01-01'",
    "($)::timestamptz = '2026-01-01'",
    "($)::interval = '1 day'",
    "($)::uuid IS NULL",
    "($)::json IS NULL",
    "($)::jsonb IS NULL",
    "($)::jsonpath IS NULL",
    "($)::inet IS NULL",
    "($)::cidr IS NULL",
    "($)::macaddr IS NULL",
    "($)::bool",
    "($)::int[] IS NULL",
    "($)::text[] IS NULL",
    "($)::int4range IS NULL",
    "($)::daterange IS NULL",
    "($)::tsquery IS NULL",
    "($ || ' & & !')::tsquery IS NULL",
    "($ || ' '':')::tsvector IS NULL",
    "($)::point IS NULL",
    "($)::box IS NULL",
    "($)::bit(3) IS NULL",
    "($)::app.order_status = 'new'",
    "replace($, '@', '')::app.email IS NULL",
    "('\\x' || $)::bytea IS NULL",
    "'x' LIKE ($ || '\\')",
    "$ LIKE ($ || '\\')",
    "'x' ILIKE ($ || '\\')",
    "'x' LIKE 'y' ESCAPE $",
    "'x' SIMILAR TO ('(' || $)",
    "'x' ~ ('(' || $)",
    "regexp_replace('x', '[' || $, '') = ''",
    "regexp_match('x', 'x', $) IS NULL",
    "to_date($, 'YYYY-MM-DD') IS NULL",
    "to_timestamp($, 'YYYY-MM-DD') IS NULL",
    "to_number($, '999') IS NULL",
    "to_tsquery($ || ' & & !') IS NULL",
    "decode($, 'hex') IS NULL",
    "decode($, 'base64') IS NULL",
    "decode('00', $) IS NULL",
    "encode('\\x00', $) IS NULL",
    "now() AT TIME ZONE $ IS NULL",
    "date_trunc($, now()) IS NULL",
    "date_part($, now()) IS NULL",
    "extract(epoch FROM ($)::interval) IS NULL",
    "1 / (length($) - length($)) = 1",
    "chr(length($) - 10000) IS NULL",
    "substring($ FROM 1 FOR -1) IS NULL",
    "repeat($, 1000000000) IS NULL",
    "format($ || '%', 1) IS NULL",
    "format('%' || $, 1) IS NULL",
    "jsonb_path_exists('{}', ($)::jsonpath)",
    "jsonb_set('{}', ARRAY[$], NULL) IS NULL",
    "('{\"k\": 1}'::jsonb #> ($)::text[]) IS NULL",
    "array_fill(1, ARRAY[length($) - 10000]) IS NULL",
    "width_bucket(1, 2, 2, length($)) IS NULL",
    "sqrt(-length($)::float8) = 1",
    "ln(length($) - length($)) = 1",
    "power(-length($)::float8, 0.5) = 1",
    "10::numeric ^ (length($) * 100000) = 1",
    "normalize($, NFC)::int = 1",
    "make_date(length($), 99, 1) IS NULL",
    "make_interval(secs => length($) * 1e300) IS NULL",
    "set_bit('\\x00'::bytea, length($) + 100, 1) IS NULL",
    "convert_from(('\\xff' || $)::bytea, 'UTF8') IS NULL",
    "string_to_array($, ',')::int[] IS NULL",
    "json_populate_record(NULL::record, ($)::json) IS NULL",
];

/// Statements that fail by keys and checks, with values of acme's own or of nobody's.
const WRITING: &[&str] = &[
    "INSERT INTO app.products (id, tenant_id, sku, name, price) SELECT 1, 'acme', 'new', 'x', 1",
    "INSERT INTO app.products (id, tenant_id, sku, name, price) VALUES (1, 'acme', 'new', 'x', 1)",
    "INSERT INTO app.customers (id, tenant_id, email, full_name) VALUES (1, 'acme', 'a@b', 'x')",
    "INSERT INTO app.orders (tenant_id, customer_id) VALUES ('acme', -1)",
    "INSERT INTO app.order_items VALUES ('acme', 1, 1, 1, 1, 1, 0)",
    "INSERT INTO app.warehouses VALUES (1, 'acme', 'x')",
    "INSERT INTO app.shipments VALUES (424242, 'acme', 1, 2, now())",
    "UPDATE app.products SET price = price * 100000000 WHERE tenant_id = 'acme'",
    "UPDATE app.products SET id = 1 WHERE tenant_id = 'acme' AND id = 3",
    "UPDATE app.customers SET segment = repeat('x', 30) WHERE tenant_id = 'acme'",
    "UPDATE app.customers SET email = 'nobody' WHERE tenant_id = 'acme'",
    "UPDATE app.customers SET country = 'XX' WHERE tenant_id = 'acme'",
    "DELETE FROM app.customers WHERE tenant_id = 'acme'",
    "DELETE FROM app.products WHERE tenant_id = 'acme'",
    "UPDATE app.orders SET note = (note::int)::text WHERE tenant_id = 'acme' AND note::int = 1",
    "DELETE FROM app.notes WHERE body::int = 1 AND tenant_id = 'acme'",
    "INSERT INTO app.notes (tenant_id, body) SELECT 'acme', body::int::text FROM app.notes WHERE body::int = 1 AND tenant_id = 'acme'",
];

fn statements() -> Vec<String> {
    let mut all: Vec<String> = WRITING.iter().map(|sql| (*sql).to_owned()).collect();
    // PostgreSQL looks at cheap conditions first: this one is dear, and each row meets the others before it. (From nine
    // elements on it hashes, and is cheap again.)
    let arms = (2..9).map(|count| format!("tenant_id IN ({})", vec!["'acme'"; count].join(", ")));
    let own = format!("({})", arms.collect::<Vec<_>>().join(" OR "));
    for (table, columns) in COLUMNS {
        for column in *columns {
            for expr in FAILING {
                let expr = expr.replace('$', &format!("({column})"));
                all.push(format!("SELECT count(*) FROM {table} WHERE {expr} AND {own}"));
                all.push(format!("SELECT {expr} FROM {table} WHERE tenant_id = 'acme' LIMIT 3"));
            }
        }
    }
    // Through an equivalence class, where the tenant equality is looked at last.
    for expr in FAILING {
        let expr = expr.replace('$', "o.note");
        all.push(format!(
            "SELECT count(*) FROM app.orders o JOIN app.notes n ON n.tenant_id = o.tenant_id \
             WHERE n.tenant_id = 'acme' AND n.id < 9 AND {expr}"
        ));
    }
    all
}

fn proxy() -> Proxied {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    run(&mut superuser(&database), PLANT);
    run(&mut superuser(&database), BEHIND);
    let policy = POLICY_YAML.replace("tenancy:\n", "tenancy:\n  error_budget: 1000000\n");
    assert_ne!(policy, POLICY_YAML);
    stack.proxy_before(&database, |config| config.policy = policy).unwrap()
}

fn speaks(heard: &Transcript) -> bool {
    heard.messages.iter().any(|message| says(message, CANARY) || says(message, NUMBER))
}

#[test]
fn no_word_of_another_tenants_row_is_read_in_any_message() {
    let proxied = proxy();
    let mut direct = direct(&proxied.database);
    run(&mut direct, "SET search_path = app, public; SET statement_timeout = '20s'");
    for user in ["acme_app", "acme_analyst"] {
        let mut raw = Raw::connect(&proxied.login(user)).unwrap();
        let (mut oracle, mut failed, mut refused) = (0, 0, 0);
        for sql in statements() {
            for extended in [false, true] {
                let read = match extended {
                    true => raw.ask(&[p("", &sql), b("", "", &[]), e("", 0), s()]),
                    false => raw.query(&sql),
                };
                let read = read.unwrap_or_else(|error| panic!("{user}: {sql}: {error}"));
                assert!(!speaks(&read), "{user}: {sql}: {:?}", read.error_field(b'M'));
                match read.error_field(b'C').as_deref() {
                    None => {}
                    Some("42501" | "42883" | "42703") => refused += 1,
                    Some(_) => {
                        failed += 1;
                        if !extended && user == "acme_app" {
                            run(&mut direct, "BEGIN");
                            oracle += usize::from(speaks(&direct.query(&sql).unwrap()));
                            run(&mut direct, "ROLLBACK");
                        }
                    }
                }
            }
        }
        println!(
            "{user}: {failed} failed, {refused} were refused; directly {oracle} told of other tenants' rows"
        );
        assert!(failed > 200, "{user}: {failed}");
        assert!(user != "acme_app" || oracle >= 90, "directly only {oracle} tell anything");
    }
}
