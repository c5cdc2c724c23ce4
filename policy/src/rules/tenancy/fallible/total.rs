//! What has a result for every value: casts, operators, functions, units of time.

use crate::catalog::TypeId;

/// Casts that have a result for every value, beside those to text.
pub(super) const WIDENING: [(TypeId, TypeId); 16] = [
    (TypeId::INT2, TypeId::INT4),
    (TypeId::INT2, TypeId::INT8),
    (TypeId::INT2, TypeId::NUMERIC),
    (TypeId::INT2, TypeId::FLOAT8),
    (TypeId::INT4, TypeId::INT8),
    (TypeId::INT4, TypeId::NUMERIC),
    (TypeId::INT4, TypeId::FLOAT8),
    (TypeId::INT4, TypeId::BOOL),
    (TypeId::INT8, TypeId::NUMERIC),
    (TypeId::INT8, TypeId::FLOAT8),
    (TypeId::FLOAT4, TypeId::FLOAT8),
    (TypeId::BOOL, TypeId::INT4),
    (TypeId::TIMESTAMP, TypeId::DATE),
    (TypeId::TIMESTAMP, TypeId::TIME),
    (TypeId::TIMESTAMPTZ, TypeId::DATE),
    (TypeId::TIMESTAMPTZ, TypeId::TIME),
];

/// Functions that have one value for a whole statement, whatever it reads.
pub(super) const FOLDED_FUNCTIONS: [&str; 4] =
    ["now", "transaction_timestamp", "statement_timestamp", "make_interval"];

/// Operators that have a result for every value.
pub(super) const TOTAL_OPERATORS: [&str; 19] = [
    "=", "<>", "!=", "<", "<=", ">", ">=", "->", "->>", "#>", "#>>", "@>", "<@", "?", "?|", "?&", "&&", "@@",
    "^@",
];

/// What sum and avg add up without an end that rows reach.
pub(super) const SUMMED: [TypeId; 4] = [TypeId::INT2, TypeId::INT4, TypeId::INT8, TypeId::NUMERIC];

/// Functions of `pg_catalog` that have a result for every value.
pub(super) const TOTAL_FUNCTIONS: [&str; 49] = [
    "array_length",
    "bit_length",
    "bool_and",
    "bool_or",
    "btrim",
    "cardinality",
    "ceil",
    "ceiling",
    "char_length",
    "character_length",
    "concat",
    "concat_ws",
    "count",
    "cume_dist",
    "dense_rank",
    "every",
    "first_value",
    "floor",
    "initcap",
    "isfinite",
    "json_typeof",
    "jsonb_typeof",
    "lag",
    "last_value",
    "lead",
    "left",
    "length",
    "lower",
    "ltrim",
    "max",
    "md5",
    "min",
    "num_nonnulls",
    "num_nulls",
    "octet_length",
    "percent_rank",
    "rank",
    "reverse",
    "right",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "string_agg",
    "to_json",
    "to_jsonb",
    "translate",
    "unnest",
    "upper",
];

/// What both timestamps have, for date_trunc and for date_part.
pub(super) const UNITS: [&str; 8] = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"];
