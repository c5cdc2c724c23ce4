//! Masked columns of kind null: the value does not leave, however it is asked for.

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::front::{Front, b, d_portal, d_statement, e, p, q, s};
use pgmoat_tests::{Proxied, Raw, Stack, Transcript};

use crate::{direct, run, says, superuser};

const SECRET: &str = "zqsecret";

fn proxy() -> Proxied {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    run(&mut superuser(&database), &format!("UPDATE app.customers SET phone = '{SECRET}' || id"));
    stack.proxy_before(&database, |_| {}).unwrap()
}

/// Statements whose second output is acme's phones.
const PLAIN: &[&str] = &[
    "SELECT id, phone FROM app.customers WHERE tenant_id = 'acme' ORDER BY id LIMIT 5",
    "SELECT id, phone, full_name FROM app.customers WHERE tenant_id = 'acme' ORDER BY id LIMIT 5",
    "SELECT id, c.phone AS p, phone FROM app.customers c WHERE tenant_id = 'acme' ORDER BY id LIMIT 5",
    "SELECT x.* FROM (SELECT id, phone FROM app.customers WHERE tenant_id = 'acme') x ORDER BY id LIMIT 5",
    "WITH c AS (SELECT id, phone FROM app.customers WHERE tenant_id = 'acme') SELECT id, phone FROM c ORDER BY id LIMIT 5",
    "SELECT id, phone FROM app.customers WHERE tenant_id = 'acme' AND id < 9 UNION ALL \
     SELECT 0, full_name FROM app.customers WHERE tenant_id = 'acme' AND id < 9 ORDER BY id",
    "SELECT id, (SELECT phone FROM app.customers i WHERE i.id = o.id AND i.tenant_id = 'acme') FROM app.customers o \
     WHERE o.tenant_id = 'acme' ORDER BY id LIMIT 5",
];

#[test]
fn the_second_column_is_null_and_the_others_are_as_they_are() {
    let proxied = proxy();
    let (mut direct, mut raw) =
        (direct(&proxied.database), Raw::connect(&proxied.login("acme_analyst")).unwrap());
    for sql in PLAIN {
        for ask in asks(sql) {
            let (said, read) = (direct.ask(&ask).unwrap(), raw.ask(&ask).unwrap());
            assert_eq!(read.to_string(), said.to_string(), "{sql} {:?}", read.error_field(b'M'));
            assert!(says_any(&said, SECRET), "{sql}");
            assert!(!says_any(&read, SECRET), "{sql}");
            assert_eq!(rows(&read), masked(&said), "{sql}");
            for (said, read) in said.messages.iter().zip(&read.messages).filter(|(said, _)| said.tag != b'D')
            {
                assert_eq!(said, read, "{sql}: what is no row is as it is");
            }
        }
    }
}

/// Simple; extended in text and in binary, with both kinds of Describe and with none; row by row.
fn asks(sql: &str) -> Vec<Vec<Front>> {
    let binary = || Front::Bind(String::new(), String::new(), Vec::new(), Vec::new(), vec![1]);
    vec![
        vec![q(sql)],
        vec![p("", sql), b("", "", &[]), d_portal(""), e("", 0), s()],
        vec![p("", sql), b("", "", &[]), e("", 0), s()],
        vec![p("", sql), d_statement(""), binary(), e("", 0), s()],
        vec![p("", sql), binary(), e("", 1), e("", 1), e("", 0), s()],
    ]
}

fn says_any(heard: &Transcript, words: &str) -> bool {
    heard.messages.iter().any(|message| says(message, words))
}

fn rows(heard: &Transcript) -> Vec<Vec<u8>> {
    heard.messages.iter().filter(|message| message.tag == b'D').map(|message| message.body.clone()).collect()
}

/// The rows with every column that is not the first and has the secret, or is the second, as NULL.
fn masked(heard: &Transcript) -> Vec<Vec<u8>> {
    let one = |body: Vec<u8>| {
        let mut out = body[..2].to_vec();
        let (mut at, mut column) = (2, 0);
        while at < body.len() {
            let length =
                usize::try_from(i32::from_be_bytes(body[at..at + 4].try_into().unwrap())).unwrap_or(0);
            let value = &body[at + 4..at + 4 + length];
            if column == 1 || value.starts_with(SECRET.as_bytes()) {
                out.extend((-1_i32).to_be_bytes());
            } else {
                out.extend(&body[at..at + 4 + length]);
            }
            (at, column) = (at + 4 + length, column + 1);
        }
        out
    };
    rows(heard).into_iter().map(one).collect()
}

#[test]
fn several_statements_of_a_query_have_their_own_masks() {
    let proxied = proxy();
    let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    let sql = "SELECT full_name FROM app.customers WHERE tenant_id = 'acme' AND id = 3; \
               SELECT phone FROM app.customers WHERE tenant_id = 'acme' AND id = 3; \
               SELECT id, full_name FROM app.customers WHERE tenant_id = 'acme' AND id = 3";
    let read = raw.query(sql).unwrap();
    assert_eq!(read.to_string(), "T D C T D C T D C Z(I)");
    let text = |text: &str| Some(text.to_owned());
    let name = text("Acme Person 3");
    assert_eq!(read.rows(), [vec![name.clone()], vec![None], vec![text("3"), name]]);
}

#[test]
fn cursors_and_prepared_statements_carry_their_masks() {
    let proxied = proxy();
    let (mut direct, mut raw) =
        (direct(&proxied.database), Raw::connect(&proxied.login("acme_analyst")).unwrap());
    let phones = "SELECT id, phone FROM app.customers WHERE tenant_id = 'acme' ORDER BY id";
    let one = "SELECT id, phone FROM app.customers WHERE tenant_id = 'acme' AND id = $1";
    for ask in [
        vec![
            q("BEGIN"),
            q(&format!("DECLARE c CURSOR FOR {phones}")),
            q("FETCH 2 FROM c"),
            q("FETCH FORWARD 3 FROM c"),
        ],
        vec![p("", "FETCH 1 FROM c"), b("", "", &[]), d_portal(""), e("", 0), s()],
        vec![p("", "FETCH 1 FROM c"), b("", "", &[]), e("", 0), s()],
        vec![d_portal("c"), e("c", 2), s()],
        vec![e("c", 2), s(), q("MOVE 1 IN c"), q("FETCH 1 FROM c"), q("CLOSE c"), q("COMMIT")],
        vec![q(&format!("PREPARE p (bigint) AS {one}")), q("EXECUTE p (3)")],
        vec![p("", "EXECUTE p (6)"), b("", "", &[]), d_portal(""), e("", 0), s()],
        vec![d_statement("p"), b("", "p", &["9"]), e("", 0), s(), q("DEALLOCATE p")],
        vec![
            q(&format!("BEGIN; DECLARE h CURSOR WITH HOLD FOR {phones}; COMMIT")),
            q("FETCH 2 FROM h"),
            q("CLOSE h"),
        ],
    ] {
        let ready = ask.iter().filter(|front| matches!(front, Front::Query(_) | Front::Sync)).count();
        let [said, read] = [&mut direct, &mut raw].map(|raw| {
            raw.send(&ask).unwrap();
            raw.read(ready).unwrap()
        });
        assert_eq!(read.to_string(), said.to_string(), "{ask:?} {:?}", read.error_field(b'M'));
        assert_eq!(rows(&read), masked(&said), "{ask:?}");
        assert!(!says_any(&read, SECRET), "{ask:?}");
    }
}

#[test]
fn other_kinds_of_masks_and_uses_that_look_are_refused() {
    let proxied = proxy();
    let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    for (code, sql) in [
        ("unsupported", "SELECT email FROM app.customers WHERE tenant_id = 'acme'"),
        ("unsupported", "SELECT phone, email FROM app.customers WHERE tenant_id = 'acme'"),
        ("masked_column_use", "SELECT id FROM app.customers WHERE tenant_id = 'acme' AND phone LIKE 'z%'"),
        ("masked_column_use", "SELECT phone || '' FROM app.customers WHERE tenant_id = 'acme'"),
        ("column_not_allowed", "SELECT * FROM app.customers WHERE tenant_id = 'acme'"),
    ] {
        let read = raw.query(sql).unwrap();
        assert_eq!(read.codes(), ["42501"], "{sql}");
        let detail = read.error_field(b'D').unwrap();
        assert!(detail.starts_with(&format!("code: {code},")), "{sql}: {detail}");
    }
}

#[test]
fn catalogs_show_null_where_a_column_is_not_listed() {
    let proxied = proxy();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let sql = "SELECT * FROM pg_catalog.pg_class WHERE relname = 'orders'";
    let (said, read) = (direct(&proxied.database).query(sql).unwrap(), raw.query(sql).unwrap());
    assert_eq!(read.codes(), Vec::<String>::new(), "{:?}", read.error_field(b'M'));
    let (said, read) = (&said.rows()[0], &read.rows()[0]);
    assert_eq!(said.len(), read.len());
    // oid, relname, relnamespace, reltype, reloftype, relowner, relam, relfilenode, reltablespace, relpages, reltuples
    assert_eq!(read[1], said[1]);
    assert!(said[9].is_some() && said[10].is_some());
    assert_eq!((&read[9], &read[10]), (&None, &None));
    let differ = read.iter().zip(said).filter(|(read, said)| read != said);
    assert!(differ.into_iter().all(|(read, _)| read.is_none()), "what differs is NULL");
}

#[test]
fn long_values_stream_past_a_masked_column() {
    let proxied = proxy();
    let long = "UPDATE app.customers SET full_name = repeat('x', 30000000) WHERE id = 3";
    run(&mut superuser(&proxied.database), long);
    let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    let read =
        raw.query("SELECT phone, full_name FROM app.customers WHERE tenant_id = 'acme' AND id = 3").unwrap();
    let row = read.messages.iter().find(|message| message.tag == b'D').unwrap();
    assert_eq!(row.body.len(), 2 + 4 + 4 + 30_000_000);
    assert_eq!(row.body[..6], [0, 2, 0xff, 0xff, 0xff, 0xff]);
    // In front of it there is a bound: an error, and the session goes on.
    let read =
        raw.query("SELECT full_name, phone FROM app.customers WHERE tenant_id = 'acme' AND id = 3").unwrap();
    assert_eq!(read.codes(), ["54000"], "{read}");
    assert!(read.rows().is_empty());
    // In a transaction block that has failed the transaction, as any error has.
    run(&mut raw, "BEGIN");
    let long = "SELECT full_name, phone FROM app.customers WHERE tenant_id = 'acme' AND id = 3";
    assert_eq!(raw.query(long).unwrap().to_string(), "T E(54000) Z(E)");
    assert_eq!(raw.query("SELECT 1").unwrap().codes(), ["25P02"]);
    run(&mut raw, "ROLLBACK");
    let batch = [p("", long), b("", "", &[]), e("", 0), s()];
    assert_eq!(raw.ask(&batch).unwrap().to_string(), "1 2 E(54000) Z(I)");
    let read = raw.query("SELECT id, phone FROM app.customers WHERE tenant_id = 'acme' AND id = 6").unwrap();
    assert_eq!(read.to_string(), "T D C Z(I)");
}

/// The judge goes by a catalog that may be a second old. What PostgreSQL says of an output then disagrees, and the
/// session ends before a row leaves.
#[test]
fn where_the_two_proofs_disagree_the_session_ends() {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    run(&mut superuser(&database), &format!("UPDATE app.customers SET phone = '{SECRET}' || id"));
    let slow_refresh = "limits: { catalog_refresh_ms: 3600000 }\n";
    let proxied = stack.proxy_before(&database, |config| config.extra.push_str(slow_refresh)).unwrap();
    run(
        &mut superuser(&database),
        "ALTER TABLE app.customers RENAME phone TO was_phone; ALTER TABLE app.customers RENAME full_name TO phone; \
         ALTER TABLE app.customers RENAME was_phone TO full_name",
    );
    for sql in [
        "SELECT id, full_name FROM app.customers WHERE tenant_id = 'acme'",
        "SELECT id, phone FROM app.customers WHERE tenant_id = 'acme'",
    ] {
        let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
        let read = raw.query(sql).unwrap();
        assert!(!says_any(&read, SECRET), "{sql}: {read}");
        assert_eq!(read.to_string(), "E(08P01,FATAL) closed", "{sql}");
        let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
        let read = raw.ask(&[p("", sql), b("", "", &[]), d_portal(""), e("", 0), s()]).unwrap();
        assert!(!says_any(&read, SECRET), "{sql}: {read}");
        assert!(read.closed, "{sql}: {read}");
    }
}

#[test]
fn without_a_description_the_number_of_columns_must_be_the_judged_one() {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    let proxied = stack
        .proxy_before(&database, |config| {
            config.extra.push_str("limits: { catalog_refresh_ms: 3600000 }\n");
            config.policy = POLICY_YAML.replace("app.customers.phone", "app.notes.body");
        })
        .unwrap();
    run(&mut superuser(&database), "ALTER TABLE app.notes ADD COLUMN more text DEFAULT 'x'");
    let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    let sql = "SELECT * FROM app.notes WHERE tenant_id = 'acme'";
    let read = raw.ask(&[p("", sql), b("", "", &[]), e("", 0), s()]).unwrap();
    assert!(read.closed && read.rows().is_empty(), "{read}");
}
