//! What no catalog query may show: statistics, others' doings, secrets.

use pgmoat_tests::{Raw, Stack};

#[test]
fn what_tells_of_data_does_not_pass() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for (sql, code) in REFUSED {
        let answer = raw.query(sql).unwrap();
        let detail = answer.error_field(b'D').unwrap_or_default();
        assert!(detail.contains(&format!("code: {code},")), "{sql}: {answer} {detail}");
        assert!(answer.rows().is_empty(), "{sql}");
    }
}

const REFUSED: &[(&str, &str)] = &[
    ("SELECT * FROM pg_stats", "catalog_not_allowed"),
    ("SELECT * FROM pg_statistic", "catalog_not_allowed"),
    ("SELECT * FROM pg_stats_ext", "catalog_not_allowed"),
    ("SELECT most_common_vals FROM pg_catalog.pg_stats WHERE tablename = 'customers'", "catalog_not_allowed"),
    ("SELECT query FROM pg_stat_activity", "catalog_not_allowed"),
    ("SELECT * FROM pg_stat_user_tables", "catalog_not_allowed"),
    ("SELECT n_live_tup FROM pg_catalog.pg_stat_all_tables", "catalog_not_allowed"),
    ("SELECT * FROM pg_stat_database", "catalog_not_allowed"),
    ("SELECT * FROM pg_statio_user_tables", "catalog_not_allowed"),
    ("SELECT rolpassword FROM pg_authid", "catalog_not_allowed"),
    ("SELECT passwd FROM pg_shadow", "catalog_not_allowed"),
    ("SELECT * FROM pg_locks", "catalog_not_allowed"),
    ("SELECT * FROM pg_settings", "catalog_not_allowed"),
    ("SELECT setting FROM pg_settings WHERE name = 'data_directory'", "catalog_not_allowed"),
    ("SELECT * FROM pg_prepared_statements", "catalog_not_allowed"),
    ("SELECT * FROM pg_cursors", "catalog_not_allowed"),
    ("SELECT * FROM pg_replication_slots", "catalog_not_allowed"),
    ("SELECT * FROM pg_largeobject", "catalog_not_allowed"),
    ("SELECT * FROM pg_user_mappings", "catalog_not_allowed"),
    ("SELECT srvoptions || '{}' FROM pg_foreign_server", "column_not_allowed"),
    ("SELECT relname FROM pg_class WHERE reltuples > 1000", "column_not_allowed"),
    ("SELECT sum(relpages) FROM pg_class", "column_not_allowed"),
    ("SELECT relname FROM pg_class ORDER BY reltuples", "column_not_allowed"),
    ("SELECT last_value + 1 FROM pg_sequences", "column_not_allowed"),
    ("SELECT last_value FROM app.notes_id_seq", "relation_not_allowed"),
    ("SELECT pg_relation_size(oid) FROM pg_class", "function_not_allowed"),
    ("SELECT pg_total_relation_size('app.orders')", "function_not_allowed"),
    ("SELECT pg_sequence_last_value(oid) FROM pg_class", "function_not_allowed"),
    ("SELECT pg_stat_get_live_tuples(oid) FROM pg_class", "function_not_allowed"),
    ("SELECT pg_stat_get_activity(NULL)", "function_not_allowed"),
    ("SELECT pg_get_functiondef(p.oid) FROM pg_proc p, app.plans", "function_not_allowed"),
];
