//! From the JSON form to the indexed model: checks what serde cannot, and links names.
//!
//! Types come first, for everything else names them. A type that nobody describes (a row type of a
//! system catalog as a function's argument) is [`TypeId::NONE`], which proves nothing.

use std::collections::HashMap;
use std::sync::Arc;

use super::format::*;
use super::types::{Types, type_id};
use super::*;

/// The longest text that is taken, in bytes.
pub const CATALOG_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The most relations, functions, types and so on, of each.
pub const CATALOG_OBJECTS_MAX: usize = 200_000;
/// The most columns of one relation: PostgreSQL's `MaxTupleAttributeNumber`.
pub const RELATION_COLUMNS_MAX: usize = 1_664;
/// The most arguments of one function, output ones too: PostgreSQL's `FUNC_MAX_ARGS` for input,
/// as many columns as a relation's for output.
pub const FUNCTION_ARGUMENTS_MAX: usize = 100 + RELATION_COLUMNS_MAX;

pub(super) fn build(json: &str) -> Result<Catalog, CatalogError> {
    if json.len() > CATALOG_BYTES_MAX {
        return Err(CatalogError::TooLong { bytes: json.len() });
    }
    let raw = read(json)?;
    if raw.format != FORMAT {
        return Err(CatalogError::Format { format: raw.format });
    }
    let Some(major) = Major::of_version_num(raw.server_version_num) else {
        return Err(CatalogError::Server { version_num: raw.server_version_num });
    };
    if raw.server_encoding != "UTF8" {
        return Err(CatalogError::Encoding { encoding: raw.server_encoding });
    }
    bounded(&raw)?;

    let mut names = Names::default();
    let (types, types_by_id) = types::build(raw.types, &mut names)?;
    let mut relations = relations(raw.relations, &types, &mut names)?;
    unique_keys(raw.unique_keys, &mut relations, &mut names)?;
    foreign_keys(raw.foreign_keys, &mut relations, &mut names)?;
    rules(raw.rules, &mut relations, &mut names)?;
    triggers(raw.triggers, &mut relations, &mut names)?;
    Ok(Catalog {
        version: CatalogVersion::of(json),
        database: raw.database.into(),
        major,
        server_version_num: raw.server_version_num,
        schemas: raw.schemas.into_iter().map(Into::into).collect(),
        relations,
        functions: functions(raw.functions, &types, &mut names)?,
        operators: operators(raw.operators, &types, &mut names)?,
        casts: casts(raw.casts, &types, &mut names)?,
        types,
        types_by_id,
        extensions: raw
            .extensions
            .into_iter()
            .map(|raw| Extension {
                name: QualifiedName { schema: names.intern(raw.schema), name: names.intern(raw.name) },
                version: raw.version.into(),
            })
            .collect(),
    })
}

/// The names of a catalog, each held once: thousands of columns are called `id`.
#[derive(Default)]
pub(super) struct Names(std::collections::HashSet<Arc<str>>);

impl Names {
    pub(super) fn intern(&mut self, name: String) -> Arc<str> {
        match self.0.get(name.as_str()) {
            Some(known) => Arc::clone(known),
            None => {
                let name: Arc<str> = name.into();
                self.0.insert(Arc::clone(&name));
                name
            }
        }
    }

    pub(super) fn qualified(&mut self, raw: RawName) -> QualifiedName {
        QualifiedName { schema: self.intern(raw.schema), name: self.intern(raw.name) }
    }

    fn list(&mut self, raw: Vec<RawName>) -> Box<[QualifiedName]> {
        raw.into_iter().map(|name| self.qualified(name)).collect()
    }

    fn interned(&mut self, raw: Vec<String>) -> Box<[Arc<str>]> {
        raw.into_iter().map(|name| self.intern(name)).collect()
    }

    pub(super) fn checks(&mut self, raw: Vec<RawCheck>) -> Box<[Check]> {
        raw.into_iter()
            .map(|check| Check {
                name: self.intern(check.name),
                expression: check.expression.into(),
                functions: self.list(check.functions),
            })
            .collect()
    }
}

fn read(json: &str) -> Result<RawCatalog, CatalogError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let form =
        |path: String, error: &serde_json::Error| CatalogError::Form { path, message: error.to_string() };
    let raw = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| form(error.path().to_string(), error.inner()))?;
    reader.end().map_err(|error| form(".".to_owned(), &error))?;
    Ok(raw)
}

fn bounded(raw: &RawCatalog) -> Result<(), CatalogError> {
    let lists = [
        ("casts", raw.casts.len()),
        ("extensions", raw.extensions.len()),
        ("foreign_keys", raw.foreign_keys.len()),
        ("functions", raw.functions.len()),
        ("operators", raw.operators.len()),
        ("relations", raw.relations.len()),
        ("rules", raw.rules.len()),
        ("schemas", raw.schemas.len()),
        ("triggers", raw.triggers.len()),
        ("types", raw.types.len()),
        ("unique_keys", raw.unique_keys.len()),
    ];
    for (path, count) in lists {
        at_most(count, CATALOG_OBJECTS_MAX, || path.to_owned())?;
    }
    for (at, relation) in raw.relations.iter().enumerate() {
        at_most(relation.columns.len(), RELATION_COLUMNS_MAX, || format!("relations[{at}].columns"))?;
    }
    for (at, function) in raw.functions.iter().enumerate() {
        let path = || format!("functions[{at}].arguments");
        at_most(function.arguments.len(), FUNCTION_ARGUMENTS_MAX, path)?;
    }
    Ok(())
}

fn at_most(count: usize, max: usize, path: impl Fn() -> String) -> Result<(), CatalogError> {
    if count > max { Err(CatalogError::TooMany { path: path(), count, max }) } else { Ok(()) }
}

pub(super) fn meaning(list: &str, at: usize, message: impl Into<String>) -> CatalogError {
    CatalogError::Meaning { path: format!("{list}[{at}]"), message: message.into() }
}

fn relations(
    raw: Vec<RawRelation>,
    types: &Types,
    names: &mut Names,
) -> Result<Index<Relation>, CatalogError> {
    let mut relations = Index::default();
    for (at, raw) in raw.into_iter().enumerate() {
        let relation = relation(raw, types, names);
        let width = relation.columns.len();
        if relation.columns.distinct() != width {
            return Err(meaning("relations", at, "two columns have one name"));
        }
        let name = relation.name.clone();
        let there = relations.entry(&name, || relation).is_none_or(|(_, there)| there);
        if there {
            return Err(meaning("relations", at, format!("{name} is there twice")));
        }
    }
    Ok(relations)
}

fn relation(raw: RawRelation, types: &Types, names: &mut Names) -> Relation {
    let columns = raw.columns.into_iter().map(|raw| column(raw, types, names)).collect();
    Relation {
        id: RelationId(raw.oid),
        name: QualifiedName { schema: names.intern(raw.schema), name: names.intern(raw.name) },
        kind: match raw.kind {
            RawRelationKind::Table => RelationKind::Table,
            RawRelationKind::PartitionedTable => RelationKind::PartitionedTable,
            RawRelationKind::View => RelationKind::View,
            RawRelationKind::MaterializedView => RelationKind::MaterializedView,
            RawRelationKind::ForeignTable => RelationKind::ForeignTable,
            RawRelationKind::Sequence => RelationKind::Sequence,
        },
        listing: Listing::User,
        columns: Columns::new(columns),
        has_children: raw.has_children,
        is_partition: raw.is_partition,
        parents: names.list(raw.inherits),
        row_security: raw.row_security,
        view_definition: raw.view_definition.map(Into::into),
        checks: names.checks(raw.checks),
        owned_by: raw
            .owned_by
            .map(|raw| OwnedBy { relation: names.qualified(raw.relation), column: names.intern(raw.column) }),
        index_leads: names.interned(raw.index_leads),
        unique_keys: Vec::new(),
        foreign_keys: Vec::new(),
        rules: Vec::new(),
        triggers: Vec::new(),
    }
}

fn column(raw: RawColumn, types: &Types, names: &mut Names) -> Column {
    let type_name = names.qualified(raw.ty);
    let ty = type_id(types, &type_name);
    Column {
        name: names.intern(raw.name),
        number: raw.number,
        family: types::family(types, &type_name),
        ty: if ty == TypeId::NONE { TypeId(raw.type_oid) } else { ty },
        type_name,
        typmod: raw.typmod,
        not_null: raw.not_null,
        default: raw.default.map(Into::into),
        default_functions: names.list(raw.default_functions),
        generated: raw.generated.is_some(),
        identity: raw.identity.map(|identity| match identity {
            RawIdentity::Always => Identity::Always,
            RawIdentity::ByDefault => Identity::ByDefault,
        }),
        collation: raw.collation.map(|name| names.qualified(name)),
        collation_deterministic: raw.collation_deterministic,
        listing: Listing::User,
    }
}

/// The relation that entry `at` of a list hangs on.
fn owner<'a>(
    relations: &'a mut Index<Relation>,
    name: &QualifiedName,
    list: &str,
    at: usize,
) -> Result<&'a mut Relation, CatalogError> {
    relations.get_mut(name).ok_or_else(|| meaning(list, at, format!("there is no relation {name}")))
}

fn unique_keys(
    raw: Vec<RawUniqueKey>,
    relations: &mut Index<Relation>,
    names: &mut Names,
) -> Result<(), CatalogError> {
    for (at, raw) in raw.into_iter().enumerate() {
        let relation = owner(relations, &names.qualified(raw.relation), "unique_keys", at)?;
        let columns = raw.columns.into_iter().map(|raw| KeyColumn {
            name: raw.name.map(|name| names.intern(name)),
            collation_deterministic: raw.collation_deterministic,
            collation_own: raw.collation_own,
            opclass_default: raw.opclass_default,
        });
        let columns: Box<[KeyColumn]> = columns.collect();
        let known = |column: &KeyColumn| {
            column.name.as_ref().is_none_or(|name| relation.columns.position(name).is_some())
        };
        if columns.is_empty() || !columns.iter().all(known) {
            return Err(meaning("unique_keys", at, "its columns are not the relation's"));
        }
        relation.unique_keys.push(UniqueKey {
            name: names.intern(raw.name),
            columns,
            constraint: raw.constraint,
            primary: raw.primary,
            valid: raw.valid,
            deferrable: raw.deferrable,
            partial: raw.partial,
            expressions: raw.expressions,
            nulls_not_distinct: raw.nulls_not_distinct,
        });
    }
    Ok(())
}

fn foreign_keys(
    raw: Vec<RawForeignKey>,
    relations: &mut Index<Relation>,
    names: &mut Names,
) -> Result<(), CatalogError> {
    for (at, raw) in raw.into_iter().enumerate() {
        let count = raw.columns.len();
        if count == 0 || raw.referenced_columns.len() != count || raw.operators.len() != count {
            return Err(meaning("foreign_keys", at, "its columns and operators are not paired"));
        }
        let key = foreign_key(raw, names);
        let referenced = owner(relations, &key.references, "foreign_keys", at)?;
        if !key.pairs.iter().all(|pair| referenced.column(&pair.referenced).is_some()) {
            return Err(meaning("foreign_keys", at, "it references columns that are not there"));
        }
        let relation = owner(relations, &key.relation, "foreign_keys", at)?;
        if !key.pairs.iter().all(|pair| relation.column(&pair.column).is_some()) {
            return Err(meaning("foreign_keys", at, "its columns are not the relation's"));
        }
        relation.foreign_keys.push(key);
    }
    Ok(())
}

fn foreign_key(raw: RawForeignKey, names: &mut Names) -> ForeignKey {
    let pairs = raw.columns.into_iter().zip(raw.referenced_columns).zip(raw.operators);
    ForeignKey {
        name: names.intern(raw.name),
        relation: names.qualified(raw.relation),
        references: names.qualified(raw.references),
        pairs: pairs
            .map(|((column, referenced), operator)| KeyPair {
                column: names.intern(column),
                referenced: names.intern(referenced),
                operator: names.qualified(operator),
            })
            .collect(),
        deferrable: raw.deferrable,
        validated: raw.validated,
        enforced: raw.enforced,
        period: raw.period,
        on_delete: key_action(raw.on_delete),
        on_update: key_action(raw.on_update),
    }
}

const fn key_action(raw: RawKeyAction) -> KeyAction {
    match raw {
        RawKeyAction::NoAction => KeyAction::NoAction,
        RawKeyAction::Restrict => KeyAction::Restrict,
        RawKeyAction::Cascade => KeyAction::Cascade,
        RawKeyAction::SetNull => KeyAction::SetNull,
        RawKeyAction::SetDefault => KeyAction::SetDefault,
    }
}

fn rules(raw: Vec<RawRule>, relations: &mut Index<Relation>, names: &mut Names) -> Result<(), CatalogError> {
    for (at, raw) in raw.into_iter().enumerate() {
        let relation = owner(relations, &names.qualified(raw.relation), "rules", at)?;
        relation.rules.push(RewriteRule {
            name: names.intern(raw.name),
            event: match raw.event {
                RawRuleEvent::Select => RuleEvent::Select,
                RawRuleEvent::Insert => RuleEvent::Insert,
                RawRuleEvent::Update => RuleEvent::Update,
                RawRuleEvent::Delete => RuleEvent::Delete,
            },
            instead: raw.instead,
            enabled: raw.enabled,
        });
    }
    Ok(())
}

fn triggers(
    raw: Vec<RawTrigger>,
    relations: &mut Index<Relation>,
    names: &mut Names,
) -> Result<(), CatalogError> {
    for (at, raw) in raw.into_iter().enumerate() {
        let relation = owner(relations, &names.qualified(raw.relation), "triggers", at)?;
        let events = raw.events.into_iter().map(|event| match event {
            RawTriggerEvent::Insert => TriggerEvent::Insert,
            RawTriggerEvent::Update => TriggerEvent::Update,
            RawTriggerEvent::Delete => TriggerEvent::Delete,
            RawTriggerEvent::Truncate => TriggerEvent::Truncate,
        });
        relation.triggers.push(Trigger {
            name: names.intern(raw.name),
            function: names.qualified(raw.function),
            events: events.collect(),
            row: match raw.level {
                RawTriggerLevel::Row => true,
                RawTriggerLevel::Statement => false,
            },
            timing: match raw.timing {
                RawTriggerTiming::Before => TriggerTiming::Before,
                RawTriggerTiming::After => TriggerTiming::After,
                RawTriggerTiming::Instead => TriggerTiming::Instead,
            },
            enabled: raw.enabled,
        });
    }
    Ok(())
}

fn functions(
    raw: Vec<RawFunction>,
    types: &Types,
    names: &mut Names,
) -> Result<Index<Vec<Function>>, CatalogError> {
    let mut functions = Index::default();
    for (at, raw) in raw.into_iter().enumerate() {
        let function = function(raw, types, names);
        if function.defaults > function.args.len() || function.variadic && function.args.is_empty() {
            return Err(meaning("functions", at, "it has too few arguments"));
        }
        let name = function.name.clone();
        if let Some((list, _)) = functions.entry(&name, Vec::new) {
            list.push(function);
        }
    }
    Ok(functions)
}

fn function(raw: RawFunction, types: &Types, names: &mut Names) -> Function {
    let mut args = Vec::new();
    let mut columns = Vec::new();
    for raw in raw.arguments {
        let ty = type_id(types, &names.qualified(raw.ty));
        let argument = Argument { name: raw.name.map(|name| names.intern(name)), ty };
        match raw.mode {
            RawArgumentMode::In | RawArgumentMode::Variadic => args.push(argument),
            RawArgumentMode::Out | RawArgumentMode::Table => columns.push(argument),
            RawArgumentMode::InOut => {
                args.push(argument.clone());
                columns.push(argument);
            }
        }
    }
    Function {
        name: QualifiedName { schema: names.intern(raw.schema), name: names.intern(raw.name) },
        args: args.into(),
        defaults: raw.defaults,
        variadic: raw.variadic,
        columns: columns.into(),
        returns: type_id(types, &names.qualified(raw.returns)),
        returns_set: raw.returns_set,
        kind: match raw.kind {
            RawFunctionKind::Plain => FunctionKind::Plain,
            RawFunctionKind::Procedure => FunctionKind::Procedure,
            RawFunctionKind::Aggregate => FunctionKind::Aggregate,
            RawFunctionKind::Window => FunctionKind::Window,
        },
        volatility: match raw.volatility {
            RawVolatility::Immutable => Volatility::Immutable,
            RawVolatility::Stable => Volatility::Stable,
            RawVolatility::Volatile => Volatility::Volatile,
        },
        strict: raw.strict,
        security_definer: raw.security_definer,
        listing: Listing::User,
        rule: CallRule::Plain,
    }
}

fn operators(
    raw: Vec<RawOperator>,
    types: &Types,
    names: &mut Names,
) -> Result<Index<Vec<Operator>>, CatalogError> {
    let mut operators = Index::default();
    for (at, raw) in raw.into_iter().enumerate() {
        let name = QualifiedName { schema: names.intern(raw.schema), name: names.intern(raw.name) };
        let operator = Operator {
            left: raw.left.map(|name| type_id(types, &names.qualified(name))),
            right: type_id(types, &names.qualified(raw.right)),
            result: type_id(types, &names.qualified(raw.result)),
            function: names.qualified(raw.function),
            listing: Listing::User,
            name,
        };
        let name = operator.name.clone();
        let Some((list, _)) = operators.entry(&name, Vec::new) else {
            return Err(meaning("operators", at, "it has no place"));
        };
        list.push(operator);
    }
    Ok(operators)
}

fn casts(
    raw: Vec<RawCast>,
    types: &Types,
    names: &mut Names,
) -> Result<HashMap<(TypeId, TypeId), Cast>, CatalogError> {
    let mut casts = HashMap::new();
    for (at, raw) in raw.into_iter().enumerate() {
        let function = raw.function.map(|name| names.qualified(name));
        let method = match (raw.method, function) {
            (RawCastMethod::Function, Some(function)) => CastMethod::Function(function),
            (RawCastMethod::InOut, None) => CastMethod::InOut,
            (RawCastMethod::Binary, None) => CastMethod::Binary,
            (RawCastMethod::Function, None) | (RawCastMethod::InOut | RawCastMethod::Binary, Some(_)) => {
                return Err(meaning("casts", at, "method and function do not fit"));
            }
        };
        let cast = Cast {
            source: type_id(types, &names.qualified(raw.source)),
            target: type_id(types, &names.qualified(raw.target)),
            context: match raw.context {
                RawCastContext::Explicit => CastContext::Explicit,
                RawCastContext::Assignment => CastContext::Assignment,
                RawCastContext::Implicit => CastContext::Implicit,
            },
            method,
        };
        casts.insert((cast.source, cast.target), cast);
    }
    Ok(casts)
}
