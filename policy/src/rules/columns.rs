//! Denied columns and system columns, wherever they appear (policy 4.5).

use super::Context;
use crate::catalog::{Relation, is_builtin_schema};
use crate::ir::At;
use crate::policy::ColumnRule;
use crate::resolve::{ColumnUse, UsedColumn};
use crate::{Code, Denial, Object, Rule};

pub(super) fn judge(cx: &Context<'_, '_>, denials: &mut Vec<Denial>) {
    let rules = cx.role.has_any_column_rules();
    for ColumnUse { relation, column, at } in &cx.bound.uses.columns {
        match column {
            UsedColumn::System(name) => denials.extend(system(cx, relation, name, *at)),
            UsedColumn::At(_) | UsedColumn::WholeRow if !rules => {}
            UsedColumn::At(place) => {
                let column = relation.columns.get(*place as usize);
                if let Some(column) = column.filter(|column| is_denied(cx, relation, &column.name)) {
                    denials.push(denied(relation, &column.name, *at));
                }
            }
            UsedColumn::WholeRow => {
                for column in relation.columns.iter() {
                    if is_denied(cx, relation, &column.name) {
                        denials.push(denied(relation, &column.name, *at));
                    }
                }
            }
        }
    }
}

/// `columns.deny` names it, or the column of that name of a child that is read with it.
fn is_denied(cx: &Context<'_, '_>, relation: &Relation, column: &str) -> bool {
    let own = |relation: &Relation| {
        let rule = cx.role.column(&relation.name.schema, &relation.name.name, column);
        matches!(rule, ColumnRule::Denied)
    };
    own(relation) || cx.catalog().descendants(relation).into_iter().any(own)
}

fn denied(relation: &Relation, column: &str, at: At) -> Denial {
    Denial::new(
        Rule::Columns,
        Code::ColumnNotAllowed,
        at,
        format!("column \"{column}\" of relation \"{}\" is not allowed", relation.name.name),
    )
    .hint(format!("leave \"{column}\" out; * and whole rows contain it"))
    .object(object(relation, column))
}

/// ctid, xmin and kin tell of other tenants' writes.
fn system(cx: &Context<'_, '_>, relation: &Relation, name: &str, at: At) -> Option<Denial> {
    let catalog = is_builtin_schema(&relation.name.schema) && name == "xmin";
    let allowed = name == "tableoid" || catalog || cx.tenant.is_none() || cx.role.system_column(name);
    (!allowed).then(|| {
        Denial::new(
            Rule::Columns,
            Code::ColumnNotAllowed,
            at,
            format!("system column \"{name}\" is not allowed"),
        )
        .object(object(relation, name))
    })
}

/// The error's object fields.
pub(super) fn object(relation: &Relation, column: &str) -> Object {
    Object {
        schema: Some(relation.name.schema.to_string()),
        table: Some(relation.name.name.to_string()),
        column: Some(column.to_owned()),
    }
}
