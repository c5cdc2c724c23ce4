//! Functions of the built-in schemas, every signature, and which list has it.
//!
//! A line of the tables: name, arguments, result, majors, flags, with tabs between.
//! Arguments: `[variadic] [name] type [=]`, with commas between; `=` has a default. Result:
//! `[setof] type[(output columns)]`. Majors: `15-18`. Flags: `f`unction, `a`ggregate, `w`indow
//! function or `p`rocedure; `i`mmutable, `s`table or `v`olatile; `!` if NULL in is NULL out; then,
//! behind a space, the rule that a call obeys beside.

use std::sync::OnceLock;

use crate::catalog::{
    Argument, CallRule, Function, FunctionKind, INFORMATION_SCHEMA, Listing, Major, PG_CATALOG,
    QualifiedName, Volatility,
};

use super::table::{File, Row, Table, has_major};
use super::types;

/// The signatures of that name in that built-in schema, the listed ones first; none where there is
/// no such function.
pub fn lookup(major: Major, schema: &str, name: &str) -> &'static [Function] {
    match schema {
        PG_CATALOG => pg_catalog().get(major, name),
        INFORMATION_SCHEMA => information_schema().get(major, name),
        _ => &[],
    }
}

/// Every signature of a built-in schema, in no order.
pub fn all(major: Major, schema: &str) -> impl Iterator<Item = &'static Function> {
    let table = match schema {
        PG_CATALOG => Some(pg_catalog()),
        INFORMATION_SCHEMA => Some(information_schema()),
        _ => None,
    };
    table.into_iter().flat_map(move |table| table.keys().flat_map(move |key| table.get(major, key)))
}

fn pg_catalog() -> &'static Table<Function> {
    static TABLE: OnceLock<Table<Function>> = OnceLock::new();
    TABLE.get_or_init(|| Table::new(PG_CATALOG_FILES, |row, major| parse(PG_CATALOG, row, major)))
}

fn information_schema() -> &'static Table<Function> {
    static TABLE: OnceLock<Table<Function>> = OnceLock::new();
    TABLE.get_or_init(|| {
        Table::new(INFORMATION_SCHEMA_FILES, |row, major| parse(INFORMATION_SCHEMA, row, major))
    })
}

fn parse(schema: &str, row: Row, major: Major) -> Option<Function> {
    let mut fields = row.fields.split('\t');
    let (args, result, majors, flags) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    if !has_major(majors, major) {
        return None;
    }
    let (args, defaults, variadic) = arguments(args);
    let (returns_set, result) = match result.strip_prefix("setof ") {
        Some(result) => (true, result),
        None => (false, result),
    };
    let (returns, columns) = match result.split_once('(') {
        Some((ty, columns)) => (ty, arguments(columns.strip_suffix(')')?).0),
        None => (result, Box::default()),
    };
    let (flags, rule) = flags.split_once(' ').unwrap_or((flags, ""));
    let mut letters = flags.chars();
    Some(Function {
        name: QualifiedName { schema: schema.into(), name: row.key.into() },
        args,
        defaults,
        variadic,
        columns,
        returns: types::written(returns),
        returns_set,
        kind: kind(letters.next()?)?,
        volatility: volatility(letters.next()?)?,
        parallel_safe: false,
        strict: letters.next() == Some('!'),
        security_definer: false,
        listing: row.listing,
        rule: call_rule(rule)?,
    })
}

/// The arguments, how many have a default, and whether the last is variadic.
fn arguments(field: &str) -> (Box<[Argument]>, usize, bool) {
    let mut defaults = 0;
    let mut variadic = false;
    let argument = |field: &str| {
        let (field, default) = match field.strip_suffix(" =") {
            Some(field) => (field, true),
            None => (field, false),
        };
        let (field, is_variadic) = match field.strip_prefix("variadic ") {
            Some(field) => (field, true),
            None => (field, false),
        };
        defaults += usize::from(default);
        variadic |= is_variadic;
        match field.split_once(' ') {
            Some((name, ty)) => Argument { name: Some(name.into()), ty: types::written(ty) },
            None => Argument { name: None, ty: types::written(field) },
        }
    };
    let fields = field.split(", ").filter(|field| !field.is_empty());
    let list: Box<[Argument]> = fields.map(argument).collect();
    (list, defaults, variadic)
}

const fn kind(letter: char) -> Option<FunctionKind> {
    match letter {
        'f' => Some(FunctionKind::Plain),
        'a' => Some(FunctionKind::Aggregate),
        'w' => Some(FunctionKind::Window),
        'p' => Some(FunctionKind::Procedure),
        _ => None,
    }
}

const fn volatility(letter: char) -> Option<Volatility> {
    match letter {
        'i' => Some(Volatility::Immutable),
        's' => Some(Volatility::Stable),
        'v' => Some(Volatility::Volatile),
        _ => None,
    }
}

fn call_rule(word: &str) -> Option<CallRule> {
    match word {
        "" => Some(CallRule::Plain),
        "nextval" => Some(CallRule::Nextval),
        "random" => Some(CallRule::Random),
        "set_config" => Some(CallRule::SetConfig),
        "current_setting" => Some(CallRule::CurrentSetting),
        "letting_go" => Some(CallRule::LettingGo),
        _ => None,
    }
}

pub(super) const PG_CATALOG_FILES: &[File] = &[
    File { listing: Listing::Standard, text: include_str!("functions_standard.tsv") },
    File { listing: Listing::Introspection, text: include_str!("functions_introspection.tsv") },
    File { listing: Listing::Unlisted, text: include_str!("functions_unlisted.tsv") },
];

pub(super) const INFORMATION_SCHEMA_FILES: &[File] = &[
    File {
        listing: Listing::Introspection,
        text: include_str!("functions_information_schema_introspection.tsv"),
    },
    File { listing: Listing::Unlisted, text: include_str!("functions_information_schema_unlisted.tsv") },
];
