#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::collections::{HashMap, HashSet};

use crate::Family;
use crate::catalog::*;

use super::table::{File, has_major, rows};
use super::{functions, operators, relations, types};

/// Every line means something for each of its majors: none is dropped for a misspelt field.
#[test]
fn every_line_of_every_table_is_read() {
    for major in Major::ALL {
        let lines = |files: &[File], majors_field: usize| {
            files
                .iter()
                .flat_map(|file| rows(*file))
                .filter(|row| has_major(row.fields.split('\t').nth(majors_field).unwrap(), major))
                .count()
        };
        assert_eq!(functions::all(major, PG_CATALOG).count(), lines(functions::PG_CATALOG_FILES, 2));
        assert_eq!(
            functions::all(major, INFORMATION_SCHEMA).count(),
            lines(functions::INFORMATION_SCHEMA_FILES, 2)
        );
        assert_eq!(operators::all(major).count(), lines(operators::FILES, 4));
        assert_eq!(relations::all(major, PG_CATALOG).count(), lines(relations::PG_CATALOG_FILES, 2));
        assert_eq!(
            relations::all(major, INFORMATION_SCHEMA).count(),
            lines(relations::INFORMATION_SCHEMA_FILES, 2)
        );
    }
}

#[test]
fn keys_lines_are_neighbours() {
    let tables = [
        functions::PG_CATALOG_FILES,
        functions::INFORMATION_SCHEMA_FILES,
        operators::FILES,
        relations::PG_CATALOG_FILES,
        relations::INFORMATION_SCHEMA_FILES,
    ];
    for file in tables.into_iter().flatten() {
        let mut keys: Vec<&str> = rows(*file).map(|row| row.key).collect();
        keys.dedup();
        let count = keys.len();
        assert_eq!(keys.into_iter().collect::<HashSet<_>>().len(), count);
    }
}

/// A signature stands on one list only, and its types are known (but for catalogs' row types).
#[test]
fn signatures_are_there_once() {
    for major in Major::ALL {
        let mut seen: HashMap<(String, Vec<TypeId>), Listing> = HashMap::new();
        for function in functions::all(major, PG_CATALOG) {
            let args: Vec<TypeId> = function.args.iter().map(|argument| argument.ty).collect();
            let known = !args.contains(&TypeId::NONE) && function.returns != TypeId::NONE;
            assert!(known, "{} {args:?}", function.name);
            let before = seen.insert((function.name.to_string(), args), function.listing);
            assert_eq!(before, None, "{}", function.name);
        }
    }
}

/// What `standard` takes and gives is allowed in every place, or is the literal of a regconfig; the
/// exceptions are nextval's sequence, pg_typeof's answer, and max and min, which take what they give.
#[test]
fn standard_functions_touch_allowed_types_only() {
    for major in Major::ALL {
        for function in functions::all(major, PG_CATALOG) {
            if function.listing != Listing::Standard {
                continue;
            }
            let types = function.args.iter().chain(&*function.columns).map(|argument| argument.ty);
            for id in types.chain([function.returns]) {
                let ty = types::by_id(id).unwrap();
                let fine = ty.allowance == Allowance::Allowed
                    || id.is_polymorphic()
                    || [TypeId::RECORD, TypeId::VOID].contains(&id)
                    || ["regconfig", "regdictionary"].contains(&&*ty.name.name)
                    || ["nextval", "pg_typeof", "max", "min"].contains(&&*function.name.name);
                assert!(fine, "{} has {}", function.name, ty.name);
            }
            assert_ne!(function.kind, FunctionKind::Procedure);
        }
    }
}

/// What reads, writes, waits, signals or runs a text stays out, whatever the tables become.
#[test]
fn what_reaches_is_on_no_list() {
    let out = [
        "query_to_xml",
        "table_to_xml",
        "schema_to_xml",
        "database_to_xml",
        "cursor_to_xml",
        "query_to_xmlschema",
        "query_to_xml_and_xmlschema",
        "table_to_xml_and_xmlschema",
        "xpath",
        "ts_stat",
        "pg_sleep",
        "pg_sleep_for",
        "pg_sleep_until",
        "pg_read_file",
        "pg_ls_dir",
        "pg_stat_file",
        "pg_read_binary_file",
        "lo_import",
        "lo_export",
        "lo_get",
        "lo_put",
        "loread",
        "lowrite",
        "pg_terminate_backend",
        "pg_cancel_backend",
        "pg_reload_conf",
        "pg_advisory_lock",
        "pg_try_advisory_lock",
        "pg_advisory_xact_lock",
        "pg_advisory_unlock",
        "currval",
        "lastval",
        "setval",
        "setseed",
        "pg_notify",
        "txid_current",
        "pg_current_xact_id",
        "pg_current_snapshot",
        "pg_export_snapshot",
        "pg_relation_size",
        "pg_total_relation_size",
        "pg_table_size",
        "pg_indexes_size",
        "pg_database_size",
        "pg_tablespace_size",
        "pg_sequence_last_value",
        "pg_get_sequence_data",
        "pg_stat_get_activity",
        "pg_stat_get_live_tuples",
        "pg_show_all_settings",
        "pg_show_all_file_settings",
        "pg_hba_file_rules",
        "pg_lock_status",
        "pg_blocking_pids",
        "pg_listening_channels",
        "pg_prepared_statement",
        "pg_cursor",
        "pg_logical_emit_message",
        "pg_switch_wal",
        "pg_create_restore_point",
        "pg_promote",
        "pg_input_is_valid",
        "pg_input_error_info",
        "pg_xact_commit_timestamp",
        "pg_relation_filepath",
        "pg_tablespace_location",
        "pg_column_toast_chunk_id",
        "satisfies_hash_partition",
        "binary_upgrade_set_next_pg_type_oid",
        "textin",
        "byteain",
        "record_recv",
        "int4send",
        "currtid2",
        "pg_extension_config_dump",
        "brin_summarize_new_values",
        "pg_filenode_relation",
    ];
    for major in Major::ALL {
        for name in out {
            let there = functions::lookup(major, PG_CATALOG, name);
            assert!(there.iter().all(|f| f.listing == Listing::Unlisted), "{name} in {major}");
            assert!(!there.is_empty() || major != Major::V18 && NEWER.contains(&name), "{name} {major}");
        }
    }
}

/// So that a call with an argument of an unknown type is not refused for an overload that is only
/// forgotten: these two must be off the list, and no other of their names.
#[test]
fn listed_names_have_listed_overloads_but_two() {
    for major in Major::ALL {
        let mut off: Vec<String> = functions::all(major, PG_CATALOG)
            .filter(|function| function.listing == Listing::Unlisted)
            .filter(|function| {
                let all = functions::lookup(major, PG_CATALOG, &function.name.name);
                all.iter().any(|other| other.listing != Listing::Unlisted)
            })
            .map(|function| {
                let args = function.args.iter().map(|a| types::by_id(a.ty).unwrap().name.name.clone());
                format!("{}({})", function.name.name, args.collect::<Vec<_>>().join(", "))
            })
            .collect();
        off.sort();
        assert_eq!(off, ["age(xid)", "ts_rewrite(tsquery, text)"]);
    }
}

/// Those of the list above that 15 does not have.
const NEWER: &[&str] =
    &["pg_get_sequence_data", "pg_input_is_valid", "pg_input_error_info", "pg_column_toast_chunk_id"];

#[test]
fn standard_has_what_applications_call() {
    let names = "abs round lower concat format substring regexp_replace to_char date_trunc now age \
        jsonb_build_object jsonb_set json_agg row_to_json jsonb_to_recordset array_agg unnest \
        array_length string_agg count sum row_number lag rank percentile_cont generate_series md5 \
        sha256 encode gen_random_uuid to_tsvector plainto_tsquery ts_rank host enum_range pg_typeof \
        version pg_backend_pid pg_is_in_recovery random nextval set_config current_setting timezone \
        extract overlaps position btrim array_cat starts_with int4range lower_inc make_interval";
    for major in Major::ALL {
        for name in names.split_whitespace() {
            let found = functions::lookup(major, PG_CATALOG, name);
            assert!(found.iter().any(|f| f.listing == Listing::Standard), "{name} in {major}");
        }
    }
}

#[test]
fn signatures_carry_names_defaults_columns_and_rules() {
    let one = |name: &str| &functions::lookup(Major::V15, PG_CATALOG, name)[0];
    let interval = one("make_interval");
    assert_eq!(interval.defaults, 7);
    assert_eq!(interval.args[3].name.as_deref(), Some("days"));
    assert!(interval.takes(0) && interval.takes(7) && !interval.takes(8));

    let each = one("jsonb_each");
    assert!(each.returns_set);
    let columns: Vec<_> = each.columns.iter().map(|c| (c.name.as_deref(), c.ty)).collect();
    assert_eq!(columns, [(Some("key"), TypeId::TEXT), (Some("value"), TypeId::JSONB)]);

    let path = one("jsonb_extract_path");
    assert!(path.variadic && path.takes(2) && path.takes(9) && !path.takes(1));
    assert_eq!(path.args[1].ty, TypeId::TEXT_ARRAY);

    assert_eq!(one("nextval").rule, CallRule::Nextval);
    assert_eq!(one("nextval").args[0].ty, TypeId::REGCLASS);
    assert_eq!(one("random").rule, CallRule::Random);
    assert_eq!(one("pg_advisory_unlock_all").rule, CallRule::LettingGo);
    assert_eq!(one("row_number").kind, FunctionKind::Window);
    assert_eq!(one("sum").kind, FunctionKind::Aggregate);
    assert!(functions::lookup(Major::V15, PG_CATALOG, "any_value").is_empty());
    assert_eq!(functions::lookup(Major::V16, PG_CATALOG, "any_value").len(), 1);
    assert_eq!(functions::lookup(Major::V15, INFORMATION_SCHEMA, "_pg_expandarray").len(), 1);
    assert!(functions::lookup(Major::V15, "public", "abs").is_empty());
}

#[test]
fn types_have_families_arrays_and_allowances() {
    let named = |name| types::by_name(PG_CATALOG, name).unwrap();
    assert_eq!(named("text").family, Family::Text);
    assert_eq!(named("varchar").family, Family::Text);
    assert_eq!(named("int2").family, Family::Integer);
    assert_eq!(named("uuid").family, Family::Uuid);
    assert_eq!(named("bool").family, Family::Boolean);
    for name in ["bpchar", "name", "char", "numeric", "bytea", "float8", "oid"] {
        assert!(matches!(named(name).family, Family::Other(..)), "{name}");
    }
    assert_eq!(named("_text").kind, TypeKind::Array { element: TypeId::TEXT });
    assert_eq!(named("text").array, Some(TypeId::TEXT_ARRAY));
    assert_eq!(named("int4range").kind, TypeKind::Range { subtype: TypeId::INT4 });
    assert_eq!(named("tstzmultirange").kind, TypeKind::Multirange { subtype: TypeId::TIMESTAMPTZ });
    for name in ["text", "_text", "int4range", "jsonb", "oid", "name", "tsvector", "interval"] {
        assert_eq!(named(name).allowance, Allowance::Allowed, "{name}");
    }
    for name in ["regclass", "regtype", "regproc", "regrole", "regconfig"] {
        assert_eq!(named(name).allowance, Allowance::Reg, "{name}");
    }
    for name in [
        "_regclass",
        "aclitem",
        "_aclitem",
        "refcursor",
        "xid",
        "xid8",
        "tid",
        "cid",
        "pg_lsn",
        "internal",
        "cstring",
        "record",
        "anyelement",
        "pg_snapshot",
        "unknown",
    ] {
        assert_eq!(named(name).allowance, Allowance::Denied, "{name}");
    }
    let yes_or_no = types::by_name(INFORMATION_SCHEMA, "yes_or_no").unwrap();
    assert!(matches!(yes_or_no.kind, TypeKind::Domain { base: TypeId::VARCHAR, typmod: 7, .. }));
    assert_eq!(types::by_id(yes_or_no.id).unwrap().name, yes_or_no.name);
    let ids: HashSet<TypeId> = types::all().iter().map(|ty| ty.id).collect();
    assert_eq!(ids.len(), types::all().len());
}

#[test]
fn introspection_shows_names_and_no_data() {
    for major in Major::ALL {
        let listed = |schema, name| {
            let relation = relations::lookup(major, schema, name).unwrap_or_else(|| panic!("{name}"));
            relation.listing == Listing::Introspection
        };
        for name in ["pg_class", "pg_attribute", "pg_roles", "pg_constraint", "pg_proc", "pg_type"] {
            assert!(listed(PG_CATALOG, name), "{name}");
        }
        for name in ["columns", "tables", "key_column_usage", "referential_constraints"] {
            assert!(listed(INFORMATION_SCHEMA, name), "{name}");
        }
        for name in [
            "pg_statistic",
            "pg_stats",
            "pg_stats_ext",
            "pg_stats_ext_exprs",
            "pg_statistic_ext_data",
            "pg_stat_activity",
            "pg_stat_user_tables",
            "pg_authid",
            "pg_shadow",
            "pg_largeobject",
            "pg_largeobject_metadata",
            "pg_file_settings",
            "pg_hba_file_rules",
            "pg_settings",
            "pg_prepared_statements",
            "pg_cursors",
            "pg_locks",
            "pg_replication_slots",
            "pg_subscription",
            "pg_user_mapping",
            "pg_user_mappings",
            "pg_db_role_setting",
            "pg_prepared_xacts",
            "pg_config",
            "pg_stat_ssl",
            "pg_shdepend",
        ] {
            assert!(!listed(PG_CATALOG, name), "{name}");
        }
        for name in ["user_mapping_options", "foreign_server_options", "user_mappings"] {
            assert!(!listed(INFORMATION_SCHEMA, name), "{name}");
        }
        let column = |relation, column| {
            relations::lookup(major, PG_CATALOG, relation).unwrap().column(column).unwrap().listing
        };
        assert_eq!(column("pg_class", "relname"), Listing::Introspection);
        assert_eq!(column("pg_proc", "prosrc"), Listing::Introspection);
        for (relation, name) in [
            ("pg_class", "reltuples"),
            ("pg_class", "relpages"),
            ("pg_class", "relallvisible"),
            ("pg_class", "relfrozenxid"),
            ("pg_attribute", "attmissingval"),
            ("pg_sequences", "last_value"),
            ("pg_foreign_server", "srvoptions"),
            ("pg_roles", "rolpassword"),
            ("pg_roles", "rolconfig"),
            ("pg_user", "passwd"),
        ] {
            assert_eq!(column(relation, name), Listing::Unlisted, "{relation}.{name}");
        }
    }
}

#[test]
fn columns_keep_each_majors_order() {
    let position = |major, relation, column| {
        relations::lookup(major, PG_CATALOG, relation).unwrap().columns.position(column)
    };
    assert_eq!(position(Major::V15, "pg_attribute", "attstattarget"), Some(3));
    assert!(position(Major::V18, "pg_attribute", "attstattarget") > Some(3));
    assert_eq!(position(Major::V15, "pg_collation", "colllocale"), None);
    assert!(position(Major::V17, "pg_collation", "colllocale").is_some());
    let ids: HashSet<RelationId> = [PG_CATALOG, INFORMATION_SCHEMA]
        .into_iter()
        .flat_map(|schema| relations::all(Major::V18, schema))
        .map(|relation| relation.id)
        .collect();
    assert_eq!(ids.len(), 124 + 69 + 20);
}

#[test]
fn operators_are_found_by_name() {
    let equals = operators::lookup(Major::V15, "=");
    assert!(equals.iter().any(|o| o.left == Some(TypeId::TEXT) && o.right == TypeId::TEXT));
    assert!(equals.iter().all(|o| o.result == TypeId::BOOL));
    assert!(operators::lookup(Major::V15, "-").iter().any(|o| o.left.is_none()));
    assert!(operators::lookup(Major::V15, "<=>").is_empty());
    assert!(!operators::lookup(Major::V15, "#").is_empty());
    assert!(!operators::lookup(Major::V15, "#>>").is_empty());
    let acl = operators::lookup(Major::V15, "@>").iter();
    let acl: Vec<_> = acl.filter(|o| o.listing != Listing::Standard).collect();
    assert_eq!(acl.len(), 1);
}
