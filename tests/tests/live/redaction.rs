//! Errors and notices of the server: a tenant reads what kind they are, and no value (policy 3.9).

use pgmoat_lab::{POLICY_YAML, SERVICE_USER};
use pgmoat_tests::front::{b, e, p, s};
use pgmoat_tests::{Message, Proxied, Raw, Stack, Transcript};

/// A statement of acme's that fails in the server, its SQLSTATE, and a word of the message that is nobody's business.
const FAILING: &[(&str, &str, &str)] = &[
    ("SELECT note::int FROM app.orders WHERE tenant_id = 'acme' AND note IS NOT NULL", "22P02", "gift for"),
    ("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND note::int = 1", "22P02", "gift for"),
    (
        "INSERT INTO app.products (tenant_id, sku, name, price) VALUES ('acme', 'SKU-3', 'x', 1)",
        "23505",
        "SKU-3",
    ),
    ("INSERT INTO app.orders (tenant_id, customer_id) VALUES ('acme', 424242)", "23503", "424242"),
    ("INSERT INTO app.notes (tenant_id, body) VALUES ('acme', NULL)", "23502", "Failing row contains"),
    ("UPDATE app.products SET price = 123456789012 WHERE tenant_id = 'acme' AND id = 3", "22003", "10^8"),
];

#[test]
fn a_tenant_reads_no_value_in_an_error() {
    let proxied = Stack::get().proxy().unwrap();
    let mut direct = Raw::connect(&Stack::get().direct(SERVICE_USER, &proxied.database)).unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for (sql, sqlstate, secret) in FAILING {
        let original = direct.query(sql).unwrap();
        assert_eq!(original.codes(), [*sqlstate], "{sql}: {original}");
        assert!(says(error(&original), secret), "{sql}: PostgreSQL itself says {secret}");
        for heard in [raw.query(sql).unwrap(), raw.ask(&[p("", sql), b("", "", &[]), e("", 0), s()]).unwrap()]
        {
            let read = error(&heard);
            assert_eq!(heard.codes(), [*sqlstate], "{sql}: {:?}", read.field(b'M'));
            assert!(!says(read, secret), "{sql}: {:?}", String::from_utf8_lossy(&read.body));
            assert!(!read.field(b'M').unwrap().is_empty());
            assert_eq!(read.field(b'V').as_deref(), Some("ERROR"));
            assert_eq!(
                read.field(b'P'),
                error(&original).field(b'P'),
                "{sql}: the position is the client's own"
            );
            for gone in *b"DHWpqFLR" {
                assert_eq!(read.field(gone), None, "{sql}: field {}", char::from(gone));
            }
            let order: Vec<_> = heard.messages.iter().map(|message| message.tag).collect();
            assert!(order.ends_with(b"EZ"), "{heard}");
        }
    }
}

#[test]
fn a_value_at_bind_is_no_ones_to_read_either() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let sql = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = $1";
    let heard = raw.ask(&[p("", sql), b("", "", &["a secret"]), e("", 0), s()]).unwrap();
    assert_eq!(heard.to_string(), "1 E(22P02) Z(I)");
    assert!(!says(error(&heard), "a secret"));
}

#[test]
fn who_is_no_tenant_reads_the_original() {
    let proxied = Stack::get().proxy().unwrap();
    let sql = "SELECT note::int FROM app.orders WHERE tenant_id = 'acme' AND note IS NOT NULL";
    let mut direct = Raw::connect(&Stack::get().direct(SERVICE_USER, &proxied.database)).unwrap();
    let mut ops = Raw::connect(&proxied.login("ops")).unwrap();
    let (original, heard) = (direct.query(sql).unwrap(), ops.query(sql).unwrap());
    assert_eq!(error(&heard).body, error(&original).body);
}

#[test]
fn notices_carry_no_row_to_a_tenant() {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    stack.cluster().psql(&database, TALKING_TRIGGER).unwrap();
    let ops_may_insert = POLICY_YAML.replace("    statements: [select, transaction, set, show]\n    relations: { allow: [\"app.*\", \"billing.*\", \"public", "    statements: [select, insert, transaction, set, show]\n    relations: { allow: [\"app.*\", \"billing.*\", \"public");
    assert_ne!(ops_may_insert, POLICY_YAML);
    let proxied = stack.proxy_before(&database, |config| config.policy = ops_may_insert).unwrap();
    let insert = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'a secret body')";
    let heard = ask(&proxied, "acme_app", insert);
    assert_eq!(heard.codes(), Vec::<String>::new(), "{heard}");
    assert!(heard.messages.iter().all(|message| !says(message, "a secret body")), "{heard}");
    let heard = ask(&proxied, "ops", insert);
    assert_eq!(heard.to_string(), "N C Z(I)");
    assert!(says(&heard.messages[0], "a secret body"));
}

const TALKING_TRIGGER: &str = "
    CREATE FUNCTION app.talk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE NOTICE 'new row: %', NEW.body USING DETAIL = NEW.body; RETURN NEW; END $$;
    CREATE TRIGGER talk BEFORE INSERT ON app.notes FOR EACH ROW EXECUTE FUNCTION app.talk();";

fn ask(proxied: &Proxied, user: &str, sql: &str) -> Transcript {
    Raw::connect(&proxied.login(user)).unwrap().query(sql).unwrap()
}

fn error(heard: &Transcript) -> &Message {
    heard.errors().next().unwrap_or_else(|| panic!("no error in {heard}"))
}

/// Whether any of a message's fields has the words.
fn says(message: &Message, words: &str) -> bool {
    String::from_utf8_lossy(&message.body).contains(words)
}
