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
                ("function_not_allowed", "SELECT tenant_id, max(nextval('app.notes_id_seq')) FROM app.orders GROUP BY ROLLUP (tenant_id) HAVING tenant_id = 'acme'"),
                ("function_not_allowed", "SELECT max(nextval('app.notes_id_seq')) FROM app.orders GROUP BY tenant_id HAVING (tenant_id = 'acme' AND count(*) > 0) IS TRUE"),
                ("function_not_allowed", "SELECT nextval('app.notes_id_seq') FROM app.orders GROUP BY GROUPING SETS ((1), (tenant_id)) HAVING tenant_id = 'acme'"),
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
                ("type_not_allowed", "SELECT ('internal.api_keys'::text).regclass"),
                ("type_not_allowed", "SELECT (x).regtype FROM (SELECT '16385'::text AS x) y"),
                ("type_not_allowed", "SELECT (x).aclitem FROM (SELECT 'a'::text AS x) y"),
                ("ok", "SELECT (note).length, (note).varchar FROM app.orders WHERE tenant_id = 'acme'"),
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
fn names_in_disguise_are_in_reach() {
    on_large_stack(|| {
        let lab = Lab::new();
        lab.expect(
            "app:acme",
            &[
                ("ok", "SELECT 'app.net_price'::regproc, 'net_price'::regproc, 'lower'::regproc, 'pg_catalog.now'::regproc"),
                ("ok", "SELECT 'app.net_price(numeric, numeric)'::regprocedure, 'net_price(numeric(9,2),app.email)'::regprocedure, 'now()'::regprocedure"),
                ("ok", "SELECT pg_get_functiondef('app.net_price'::regproc)"),
                ("ok", "SELECT 'timestamp with time zone'::regtype, 'integer[]'::regtype, 'numeric(10,2)'::regtype, '\"char\"'::regtype, 'double precision'::regtype"),
                ("ok", "SELECT 'app.order_status'::regtype, 'order_status[]'::regtype, 'app.orders'::regtype, 'interval day to second'::regtype"),
                ("ok", "SELECT to_tsvector('english'::regconfig, note), plainto_tsquery('pg_catalog.english'::regconfig, 'x') FROM app.orders WHERE tenant_id = 'acme'"),
                ("ok", "SELECT 'english_stem'::regdictionary, ts_lexize('simple'::regdictionary, 'x')"),
                ("ok", "SELECT 'app'::regnamespace, 'pg_catalog'::regnamespace, 'public'::regnamespace, 'billing'::regnamespace"),
                ("ok", "SELECT '\"C\"'::regcollation, 'pg_catalog.\"default\"'::regcollation, 'pgmoat_service'::regrole"),
                ("ok", "SELECT 'app.mine'::regconfig"),
                ("type_not_allowed", "SELECT 'internal.mine'::regconfig"),
                ("type_not_allowed", "SELECT 'app.get_secret'::regproc"),
                ("type_not_allowed", "SELECT 'app.every_order'::regproc, 1"),
                ("type_not_allowed", "SELECT 'every_order()'::regprocedure"),
                ("type_not_allowed", "SELECT 'app.nope'::regproc"),
                ("type_not_allowed", "SELECT 'net_price(internal.api_keys)'::regprocedure"),
                ("type_not_allowed", "SELECT pg_get_functiondef('app.every_order'::regproc)"),
                ("type_not_allowed", "SELECT 'internal.api_keys'::regtype"),
                ("type_not_allowed", "SELECT 'int, (SELECT 1)'::regtype"),
                ("type_not_allowed", "SELECT 'int FROM app.orders'::regtype"),
                ("type_not_allowed", "SELECT 'int; SELECT 1'::regtype"),
                ("type_not_allowed", "SELECT 'setof int'::regtype"),
                ("type_not_allowed", "SELECT 'app.orders.tenant_id%type'::regtype"),
                ("type_not_allowed", "SELECT 'internal'::regnamespace"),
                ("type_not_allowed", "SELECT '=(text,text)'::regoperator"),
                ("type_not_allowed", "SELECT '1'::regrole"),
                ("type_not_allowed", "SELECT '1'::regconfig"),
                ("type_not_allowed", "SELECT note::regconfig FROM app.orders WHERE tenant_id = 'acme'"),
                ("type_not_allowed", "SELECT $$app$$::regnamespace::oid::regclass"),
                ("type_not_allowed", "SELECT 'orders'::regtype::text::regclass"),
                ("type_not_allowed", "SELECT 'orders'::regtype::regclass"),
                ("type_not_allowed", "SELECT 'plans'::varchar(3)::regclass"),
            ],
        );
        let bound = |sql| lab.bound("app:acme", &[], sql, &[Some("pg_class")]);
        assert_eq!(
            bound("SELECT description FROM pg_description WHERE classoid = CAST($1 AS regclass)"),
            "ok"
        );
        assert_eq!(bound("SELECT $1::regclass"), "type_not_allowed");
        assert_eq!(bound("SELECT $1::regclass FROM app.plans"), "type_not_allowed");
        let secret = Lab::with_policy(
            &include_str!("../../../lab/policy.yaml")
                .replace("system_catalogs: introspection", "system_catalogs: deny"),
        );
        secret.expect(
            "app:acme",
            &[
                ("ok", "SELECT 'english'::regconfig, 'simple'::regdictionary, '\"C\"'::regcollation, 'app.net_price'::regproc"),
                ("type_not_allowed", "SELECT 'mine'::regconfig"),
                ("type_not_allowed", "SELECT 'pgmoat_service'::regrole"),
                ("type_not_allowed", "SELECT 'pg_read_file'::regproc"),
                ("type_not_allowed", "SELECT 'de_DE'::regcollation"),
            ],
        );
    });
}

#[test]
fn xml_is_computed() {
    on_large_stack(|| {
        Lab::new().expect(
            "app:acme",
            &[
                ("ok", "SELECT xmlelement(name a, xmlattributes(o.id AS i), o.note), xmlforest(o.id, o.total AS t), xmlconcat('<a/>'::xml, '<b/>'::xml), xmlpi(name php, 'x'), xmlroot('<a/>'::xml, version '1.0'), xmlcomment('x') FROM app.orders o WHERE o.tenant_id = 'acme'"),
                ("ok", "SELECT xmlagg(xmlelement(name a, note) ORDER BY id) FROM app.orders WHERE tenant_id = 'acme'"),
                ("ok", "SELECT xmlserialize(content xmlparse(content '<a/>') AS text), '<a/>'::xml IS DOCUMENT, xml_is_well_formed('<a/>')"),
                ("function_not_allowed", "SELECT xpath('/a', '<a/>'::xml)"),
                ("function_not_allowed", "SELECT xmlexists('/a' PASSING BY VALUE xmlparse(content '<a/>'))"),
                ("tenant_unproven", "SELECT xmlelement(name a, xmlattributes((SELECT max(id) FROM app.orders) AS i))"),
                ("tenant_unproven", "SELECT xmlforest((SELECT max(id) FROM app.orders) AS i)"),
                ("tenant_unproven", "SELECT xmlagg(xmlelement(name a, note)) FROM app.orders"),
                ("function_not_allowed", "SELECT xmlelement(name a, pg_read_file('x'))"),
                ("function_not_allowed", "SELECT query_to_xml('SELECT 1', true, false, '')"),
                ("function_not_allowed", "SELECT table_to_xml('app.plans', true, false, '')"),
                ("type_not_allowed", "SELECT xmlserialize(content '<a/>'::xml AS regclass)"),
            ],
        );
        let analyst = "analyst:acme";
        Lab::new().expect(analyst, &[
            ("masked_column_use", "SELECT xmlforest(email) FROM app.customers WHERE tenant_id = 'acme'"),
            ("column_not_allowed", "SELECT xmlelement(name a, xmlattributes(ssn)) FROM app.customers WHERE tenant_id = 'acme'"),
        ]);
    });
}

#[test]
fn samples_of_shared_relations() {
    on_large_stack(|| {
        let lab = Lab::new();
        lab.expect(
            "app:acme",
            &[
                ("ok", "SELECT * FROM app.plans TABLESAMPLE SYSTEM (100)"),
                ("ok", "SELECT p.code FROM plans AS p (code) TABLESAMPLE pg_catalog.bernoulli (10.5 + 1) REPEATABLE (3), orders o WHERE o.tenant_id = 'acme'"),
                ("unsupported", "SELECT * FROM app.orders TABLESAMPLE BERNOULLI (10) WHERE tenant_id = 'acme'"),
                ("unsupported", "SELECT * FROM app.plans p, LATERAL (SELECT 1 FROM app.events TABLESAMPLE SYSTEM (1) WHERE tenant_id = 'acme') x"),
                ("unsupported", "WITH c AS (SELECT 1) SELECT * FROM c TABLESAMPLE SYSTEM (1)"),
                ("unsupported", "SELECT * FROM app.plans TABLESAMPLE app.system (1)"),
                ("unsupported", "SELECT * FROM app.plans TABLESAMPLE system_rows (1)"),
                ("unsupported", "SELECT * FROM app.plans TABLESAMPLE SYSTEM ((SELECT 1))"),
                ("unsupported", "SELECT * FROM app.plans TABLESAMPLE SYSTEM (1) REPEATABLE (abs((SELECT 1)))"),
                ("function_not_allowed", "SELECT * FROM app.plans TABLESAMPLE SYSTEM (pg_backend_pid() + pg_relation_size('app.orders'))"),
                ("tenant_unproven", "SELECT * FROM (SELECT o.tenant_id FROM app.orders o, app.plans TABLESAMPLE SYSTEM (50)) x WHERE x.tenant_id = 'acme'"),
                ("relation_not_allowed", "SELECT * FROM internal.api_keys TABLESAMPLE SYSTEM (1)"),
            ],
        );
        lab.expect("ops", &[("ok", "SELECT count(*) FROM app.orders TABLESAMPLE BERNOULLI (1)")]);
        let bound = |sql| lab.bound("app:acme", &[], sql, &[Some("10")]);
        assert_eq!(bound("SELECT * FROM app.plans TABLESAMPLE SYSTEM ($1)"), "ok");
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
                ("ok", "SELECT setting FROM pg_catalog.pg_settings WHERE name='max_index_keys'"),
                ("catalog_not_allowed", "SELECT setting FROM pg_settings WHERE name = 'data_directory'"),
                ("catalog_not_allowed", "SELECT setting FROM pg_settings WHERE name = 'max_index_keys' OR true"),
                ("catalog_not_allowed", "SELECT setting FROM pg_settings WHERE setting = 'max_index_keys'"),
                ("catalog_not_allowed", "SELECT setting FROM pg_settings WHERE name <> 'max_index_keys'"),
                ("catalog_not_allowed", "SELECT setting FROM pg_settings WHERE name OPERATOR(app.=) 'max_index_keys'"),
                ("catalog_not_allowed", "SELECT b.setting FROM pg_settings a, pg_settings b WHERE a.name = 'max_index_keys'"),
                ("catalog_not_allowed", "SELECT (SELECT max(setting) FROM pg_settings b) FROM pg_settings a WHERE a.name = 'max_index_keys'"),
                ("catalog_not_allowed", "SELECT name FROM pg_settings WHERE name = 'max_index_keys' UNION SELECT 'x'"),
                ("column_not_allowed", "SELECT upper(sourcefile) FROM pg_settings WHERE name = 'max_index_keys'"),
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

#[test]
fn overloads_that_the_arguments_exclude_do_not_count() {
    on_large_stack(|| {
        Lab::new().expect(
            "app:acme",
            &[
                ("ok", "SELECT age(created_at) FROM app.orders WHERE tenant_id = 'acme'"),
                ("ok", "SELECT age(now()), age(timestamp '2026-01-01'), age(now()::timestamp)"),
                ("ambiguous", "SELECT age('1')"),
                ("ambiguous", "SELECT age(NULL)"),
            ],
        );
    });
}
