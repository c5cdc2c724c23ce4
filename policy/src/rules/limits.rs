//! Limits after parsing (policy 4.2).

use crate::ir::Size;
use crate::policy::Limits;
use crate::{Code, Denial, LimitName, Rule};

/// Compares a statement's sizes; `at` is where it starts.
pub(crate) fn check(size: &Size, limits: &Limits, at: u32, denials: &mut Vec<Denial>) {
    let sizes = [
        (LimitName::Depth, size.depth, "levels of nesting"),
        (LimitName::Relations, size.relations, "relation references"),
        (LimitName::InList, size.in_list, "elements in one list"),
        (LimitName::InsertRows, size.insert_rows, "inserted rows"),
        (LimitName::SetOperations, size.set_operations, "set operations"),
        (LimitName::Conditions, size.conditions, "terms of AND and OR"),
        (LimitName::Parameters, size.parameters, "parameters"),
    ];
    for (name, value, what) in sizes {
        let limit = limits.get(name);
        if value > limit {
            denials.push(
                Denial::new(
                    Rule::LimitsAfterParse,
                    Code::Limit(name),
                    Some(at),
                    format!("the statement has {value} {what}, the limit is {limit}"),
                )
                .hint(format!("keep it at {limit} or below, or raise limits.{}", name.name())),
            );
        }
    }
}
