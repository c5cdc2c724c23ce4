//! What a statement names, as the resolver claims it.
//!
//! A verdict is only as good as the names that it rests on: what the resolver misses, no rule
//! judges. So a test holds these claims against what PostgreSQL itself records of the same
//! statement; they serve nothing else.

use std::collections::BTreeSet;

use crate::catalog::{Catalog, Relation, TypeId};
use crate::constant::Constants;
use crate::resolve::{Bound, Declared, Root, SourceColumn, UsedColumn, World, resolve};
use crate::{Mode, Policy, Principal, parse};

/// The names of one statement. Views count by their own name and by what they read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    /// `schema.relation`.
    pub relations: BTreeSet<String>,
    /// `schema.relation.column`.
    pub columns: BTreeSet<String>,
    /// `schema.function(oids of the argument types)`: every one that a call can mean.
    pub functions: BTreeSet<String>,
    /// `schema.operator(oid, oid)`, 0 for what is not there: every one that an operator can mean.
    pub operators: BTreeSet<String>,
    /// What the rows have that the statement answers with; none where a name in it is not known (a denial), and
    /// of utility statements.
    pub outputs: Option<Outputs>,
}

/// The columns of a statement's answer, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outputs {
    /// Name and type, that of a domain being what it is over (as a row's description says it); 0 where the
    /// type is not certain.
    pub columns: Vec<(String, u32)>,
    /// Not all of the names, or not their number, are known.
    pub open: bool,
}

/// The claims of each statement of a text with rows (a query or a change); none where the text is
/// no SQL or the policy has no such role.
pub fn claims(
    text: &str,
    mode: Mode<'_>,
    principal: &Principal,
    policy: &Policy,
    catalog: &Catalog,
) -> Option<Vec<Claims>> {
    let role = policy.role(&principal.role)?;
    let constants = Constants::default();
    let world = World { policy, catalog, role, constants: &constants };
    let statements = parse::parse(text, &role.limits).ok()?;
    let bound = statements.iter().map(|it| resolve(&it.body, world, &Declared::of(mode)));
    Some(bound.map(|bound| claimed(&bound, catalog)).collect())
}

fn claimed(bound: &Bound<'_>, catalog: &Catalog) -> Claims {
    let mut claims = Claims { outputs: outputs(bound, catalog), ..Claims::default() };
    for used in &bound.uses.relations {
        claims.relations.insert(used.relation.name.to_string());
    }
    for used in &bound.uses.columns {
        let column = |name: &str| format!("{}.{name}", used.relation.name);
        match used.column {
            UsedColumn::At(place) => {
                claims.columns.extend(named(used.relation, place).map(column));
            }
            UsedColumn::System(name) => {
                claims.columns.insert(column(name));
            }
            UsedColumn::WholeRow => {
                claims.columns.extend(used.relation.columns.iter().map(|it| column(&it.name)));
            }
        }
    }
    for function in bound.uses.functions.iter().flat_map(|used| &used.candidates) {
        let args: Vec<String> = function.args.iter().map(|arg| arg.ty.0.to_string()).collect();
        claims.functions.insert(format!("{}({})", function.name, args.join(" ")));
    }
    for operator in bound.uses.operators.iter().flat_map(|used| used.candidates.iter()) {
        let (left, right) = (operator.left.unwrap_or(TypeId::NONE), operator.right);
        claims.operators.insert(format!("{}({} {})", operator.name, left.0, right.0));
    }
    claims
}

fn outputs(bound: &Bound<'_>, catalog: &Catalog) -> Option<Outputs> {
    let (columns, open): (&[SourceColumn], bool) = match &bound.root {
        Root::Query(query) => (&query.outputs, query.open),
        Root::Insert(insert) => (&insert.outputs, insert.open),
        Root::Update(update) => (&update.outputs, update.open),
        Root::Delete(delete) => (&delete.outputs, delete.open),
        Root::Merge(merge) => (&merge.outputs, merge.open),
        Root::Nothing => return None,
    };
    let certain = |ty| match without_domain(ty, catalog) {
        // A row: of which type is not kept.
        TypeId::RECORD => TypeId::NONE,
        ty => ty,
    };
    let columns = columns.iter().map(|column| (column.name.to_string(), certain(column.ty.ty).0));
    bound.denials.is_empty().then(|| Outputs { columns: columns.collect(), open })
}

/// What a domain is over, at last.
fn without_domain(ty: TypeId, catalog: &Catalog) -> TypeId {
    let base = catalog.type_of(ty).and_then(|known| known.kind.base());
    base.map_or(ty, |base| without_domain(base, catalog))
}

fn named(relation: &Relation, place: u32) -> Option<&str> {
    relation.columns.get(place as usize).map(|column| &*column.name)
}
