//! Functions, operators, types (policy 4.6), and calls whose place matters (3.10).

use crate::lab::{Lab, on_large_stack};

#[test]
fn functions_by_list_and_by_name() {
    on_large_stack(|| {
        let lab = Lab::new();
        lab.expect(
            "app:acme",
            &[
                ("ok", "SELECT lower('x'), now(), count(*), net_price(1, 0) FROM app.plans"),
                ("ok", "SELECT app.net_price(1, 0)"),
                ("ok", "SELECT pg_advisory_unlock_all()"),
                ("function_not_allowed", "SELECT pg_read_file('x')"),
                ("function_not_allowed", "SELECT pg_catalog.pg_sleep(1)"),
                ("function_not_allowed", "SELECT app.every_order()"),
                ("function_not_allowed", "SELECT * FROM every_order()"),
                ("function_not_allowed", "SELECT pg_advisory_lock(1)"),
                ("function_not_allowed", "SELECT currval('app.notes_id_seq')"),
                ("function_not_allowed", "SELECT merge_action()"),
                ("function_not_allowed", "SELECT json_value('{}', '$')"),
                ("function_unknown", "SELECT app.nope(1)"),
                ("operator_not_allowed", "SELECT 'a' OPERATOR(app.=) 'b'"),
                ("operator_not_allowed", "SELECT 1 @@@@ 2"),
            ],
        );
        lab.expect("analyst:acme", &[("function_not_allowed", "SELECT net_price(1, 0)")]);
        let denial = lab.denial("app:acme", "SELECT app.nope(1, 'x')").unwrap();
        assert_eq!(denial.message, "function app.nope(integer, unknown) does not exist");
        assert_eq!(denial.sqlstate.0, "42883");
    });
}

#[test]
fn calls_that_count_rows_have_their_places() {
    on_large_stack(|| {
        Lab::new().expect(
            "app:acme",
            &[
                ("ok", "SELECT nextval('app.notes_id_seq') FROM app.orders WHERE tenant_id = 'acme'"),
                ("ok", "UPDATE app.notes SET id = nextval('app.notes_id_seq') WHERE tenant_id = 'acme'"),
                ("ok", "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY random()"),
                ("ok", "SELECT set_config('application_name', 'x', false)"),
                ("ok", "SELECT current_setting('server_version')"),
                ("function_not_allowed", "SELECT 1 FROM app.orders WHERE tenant_id = 'acme' AND nextval('app.notes_id_seq') > 0"),
                ("function_not_allowed", "SELECT 1 FROM (SELECT nextval('app.notes_id_seq') FROM app.orders WHERE tenant_id = 'acme') x"),
                ("function_not_allowed", "SELECT nextval(note) FROM app.orders WHERE tenant_id = 'acme'"),
                ("function_not_allowed", "SELECT nextval('internal.nope')"),
                ("function_not_allowed", "SELECT 1 FROM app.orders WHERE tenant_id = 'acme' AND random() > 0.5"),
                ("function_not_allowed", "SELECT set_config('application_name', note, false) FROM app.orders WHERE tenant_id = 'acme'"),
                ("function_not_allowed", "SELECT upper(set_config('application_name', 'x', false))"),
                ("ok", "SELECT set_config('application_name', 'x', false), set_config('TimeZone', 'UTC', false)"),
                ("setting_not_allowed", "SELECT set_config('role', 'postgres', false)"),
                ("setting_not_allowed", "SELECT set_config('search_path', 'internal', false)"),
                ("ok", "SELECT set_config('search_path', 'app, public', false)"),
                ("setting_not_allowed", "SELECT current_setting('data_directory')"),
                ("unsupported", "DECLARE c CURSOR FOR SELECT set_config('application_name', 'x', false)"),
            ],
        );
    });
}

#[test]
fn types_are_names_too() {
    on_large_stack(|| {
        Lab::new().expect(
            "app:acme",
            &[
                ("ok", "SELECT '1'::int, 'new'::app.order_status, '{}'::jsonb, 'a@b'::app.email"),
                ("ok", "SELECT 'app.orders'::regclass, 'orders'::regclass"),
                ("type_not_allowed", "SELECT 'internal.api_keys'::regclass"),
                ("type_not_allowed", "SELECT regclass('internal.api_keys')"),
                ("type_not_allowed", "SELECT note::regclass FROM app.orders WHERE tenant_id = 'acme'"),
                ("type_not_allowed", "SELECT '16384'::regclass"),
                ("type_not_allowed", "SELECT NULL::app.orders"),
                ("type_not_allowed", "SELECT NULL::internal.api_keys[]"),
                ("type_not_allowed", "SELECT NULL::pg_catalog.pg_authid"),
                ("type_not_allowed", "SELECT * FROM json_to_record('{}') AS r(a regclass)"),
                ("type_unknown", "SELECT '1'::app.nope"),
                ("ok", "SELECT oid::regclass, '1'::regclass FROM pg_class"),
            ],
        );
    });
}

#[test]
fn catalogs_are_a_positive_list() {
    on_large_stack(|| {
        let lab = Lab::new();
        lab.expect(
            "app:acme",
            &[
                ("ok", "SELECT relname, format_type(a.atttypid, a.atttypmod) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"),
                ("ok", "SELECT table_name FROM information_schema.tables"),
                ("catalog_not_allowed", "SELECT * FROM pg_stats"),
                ("catalog_not_allowed", "SELECT * FROM pg_catalog.pg_authid"),
                ("catalog_not_allowed", "SELECT * FROM pg_settings"),
                ("catalog_not_allowed", "DELETE FROM pg_class"),
                ("catalog_not_allowed", "SELECT relname FROM pg_class FOR UPDATE"),
                ("column_not_allowed", "SELECT sum(reltuples) FROM pg_class"),
                ("function_not_allowed", "SELECT pg_get_viewdef('app.open_orders'::regclass) FROM app.orders WHERE tenant_id = 'acme'"),
                ("relation_unknown", "SELECT * FROM app.nope"),
                ("relation_not_allowed", "SELECT * FROM internal.api_keys"),
                ("relation_not_allowed", "SELECT * FROM app.notes_id_seq"),
            ],
        );
        let denial = lab.denial("app:acme", "SELECT * FROM app.nope").unwrap();
        assert_eq!(
            (denial.message.as_str(), denial.sqlstate.0, denial.at),
            ("relation \"app.nope\" does not exist", "42P01", Some(14))
        );
        let secret = Lab::with_policy(
            &include_str!("../../../lab/policy.yaml")
                .replace("system_catalogs: introspection", "system_catalogs: deny"),
        );
        let unknown = secret.denial("app:acme", "SELECT * FROM internal.nope").unwrap();
        let hidden = secret.denial("app:acme", "SELECT * FROM internal.api_keys").unwrap();
        assert_eq!(unknown.message.replace("nope", "api_keys"), hidden.message);
        assert_eq!((unknown.sqlstate, &unknown.object), (hidden.sqlstate, &hidden.object));
    });
}
