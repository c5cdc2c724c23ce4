//! Functions, operators and casts that are not built in.

use super::super::format::{
    RawArgumentMode, RawCast, RawCastContext, RawCastMethod, RawFunction, RawFunctionKind, RawOperator,
    RawParallel, RawVolatility,
};
use super::super::{
    Argument, CallRule, Cast, CastContext, CastMethod, CatalogError, Function, FunctionKind, Index, Listing,
    Operator, QualifiedName, TypeId, Volatility,
};
use super::types::{Types, type_id};
use super::{Names, meaning};
use crate::keyed::HashMap;

pub(super) fn functions(
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
        parallel_safe: raw.parallel == RawParallel::Safe,
        strict: raw.strict,
        security_definer: raw.security_definer,
        listing: Listing::User,
        rule: CallRule::Plain,
    }
}

pub(super) fn operators(
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

pub(super) fn casts(
    raw: Vec<RawCast>,
    types: &Types,
    names: &mut Names,
) -> Result<HashMap<(TypeId, TypeId), Cast>, CatalogError> {
    let mut casts = HashMap::default();
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
