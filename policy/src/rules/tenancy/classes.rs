//! Tenant column classes: which T a column is compared with.
//!
//! Two classes of one family in which the tenant has the same value are one (policy 3.1: both
//! sides' T are the same value).

use std::cell::RefCell;

use super::super::Context;
use crate::catalog::{Relation, RelationId, RelationKind, TypeId};
use crate::constant::Group;
use crate::ir::At;
use crate::keyed::HashMap;
use crate::mutants::mutant;
use crate::policy::{Entry, OwnValue};
use crate::resolve::{ParamUse, RelationUse};
use crate::{BindCheck, Code, Denial, Family, Must, Rule, TenantColumnClass};

use super::Prover;

/// A class within the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ClassId(usize);

impl ClassId {
    /// As the pins of a verdict call it.
    pub(super) fn group(self) -> Group {
        Group(self.0)
    }
}

#[derive(Debug)]
struct Class {
    column: TenantColumnClass,
    own: OwnValue,
}

/// The classes of a statement's relations, and what each relation is to them.
#[derive(Debug, Default)]
pub(super) struct Classes(Vec<Class>, RefCell<HashMap<RelationId, Scope>>);

/// What a relation is to tenancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Rows belong to tenants: its tenant column's place and class.
    Scoped { column: u32, class: ClassId },
    /// The tenant has no T in its column.
    NoOwn,
    /// Not scoped, or refused by another rule.
    Free,
}

impl Classes {
    pub(super) fn of(cx: &Context<'_, '_>, tenant: &str) -> Classes {
        let mut classes = Classes::default();
        cx.constants().begin();
        for RelationUse { relation, .. } in &cx.bound.uses.relations {
            let Some((_, class)) = tenant_column(cx, relation) else { continue };
            let Some(own) = cx.policy().own(tenant, &class) else {
                cx.constants().has_none(&class);
                continue;
            };
            let known = |known: &Class| known.column.family == class.family && known.own == own;
            let known = classes.0.iter().position(known);
            cx.constants().is_of(&class, Group(known.unwrap_or(classes.0.len())));
            if known.is_none() {
                classes.0.push(Class { column: class, own });
            }
        }
        classes
    }

    pub(super) fn scope(&self, cx: &Context<'_, '_>, relation: &Relation) -> Scope {
        if let Some(known) = self.1.borrow().get(&relation.id) {
            return *known;
        }
        let scope = self.scope_of(cx, relation);
        self.1.borrow_mut().insert(relation.id, scope);
        scope
    }

    fn scope_of(&self, cx: &Context<'_, '_>, relation: &Relation) -> Scope {
        let Some((column, class)) = tenant_column(cx, relation) else { return Scope::Free };
        let child = !relation.parents.is_empty();
        let freed = [
            child && relation.is_partition && mutant!(PartitionFree),
            child && !relation.is_partition && mutant!(ChildFree),
            relation.kind == RelationKind::MaterializedView && mutant!(MaterializedFree),
        ];
        if freed.contains(&true) {
            return Scope::Free;
        }
        let own = cx.tenant.and_then(|tenant| cx.policy().own(tenant, &class));
        let found =
            self.ids().find(|id| self.family(*id) == Some(&class.family) && self.own(*id) == own.as_ref());
        match (own.is_some(), found) {
            (true, Some(id)) => {
                cx.constants().is_of(&class, id.group());
                Scope::Scoped { column, class: id }
            }
            (true, None) => {
                cx.constants().is_of_none(&class);
                Scope::NoOwn
            }
            (false, _) => {
                cx.constants().has_none(&class);
                Scope::NoOwn
            }
        }
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.0.len()).map(ClassId)
    }

    /// The classes of a family.
    pub(super) fn of_family(&self, family: &Family) -> impl Iterator<Item = ClassId> {
        self.ids().filter(move |id| self.family(*id) == Some(family))
    }

    pub(super) fn family(&self, class: ClassId) -> Option<&Family> {
        self.0.get(class.0).map(|class| &class.column.family)
    }

    pub(super) fn own(&self, class: ClassId) -> Option<&OwnValue> {
        self.0.get(class.0).map(|class| &class.own)
    }

    pub(super) fn column(&self, class: ClassId) -> Option<&TenantColumnClass> {
        self.0.get(class.0).map(|class| &class.column)
    }
}

/// The tenant column of a scoped relation, with its class.
fn tenant_column(cx: &Context<'_, '_>, relation: &Relation) -> Option<(u32, TenantColumnClass)> {
    let name = match cx.policy().entry(&relation.name.schema, &relation.name.name)? {
        Entry::Scoped { column } => column,
        Entry::Shared => return None,
    };
    let place = relation.columns.position(name)?;
    let column = relation.column(name)?;
    let class = TenantColumnClass { column: name.clone(), family: column.family.clone() };
    Some((u32::try_from(place).ok()?, class))
}

impl Prover<'_, '_> {
    /// Turns the parameters that the proof rests on into checks at Bind, if nothing else can have
    /// given them another type (policy 3, Bound).
    pub(super) fn settle_params(&self) -> Vec<BindCheck> {
        let used = self.used.borrow().clone();
        let mut binds = Vec::new();
        for (number, class, many) in used {
            let Some(column) = self.classes.column(class) else { continue };
            match self.cx.declared.get(number) {
                Some(ty) if self.is_of(ty, &column.family, many) => {}
                Some(_) => self.deny(Denial::new(
                    Rule::Tenancy,
                    Code::TypeNotAllowed,
                    self.first_use(number),
                    format!("parameter ${number} is declared with a type that is not the tenant column's"),
                )),
                None => {
                    if let Some(other) =
                        self.foreign_use(number, class, many).filter(|_| !mutant!(ParameterUsesIgnored))
                    {
                        self.deny(
                            Denial::new(
                                Rule::Tenancy,
                                Code::TypeNotAllowed,
                                other,
                                format!("parameter ${number} is used as something else than the tenant's value, too"),
                            )
                            .hint(format!("declare the type of ${number}, or use another parameter here")),
                        );
                    }
                }
            }
            if self.cx.arguments.is_none() && !mutant!(BindUnchecked) {
                let ty = self.resolved(number, many).map(|ty| ty.0);
                binds.push(BindCheck { param: number, must: Must::Own { class: column.clone(), ty, many } });
            }
        }
        binds
    }

    /// The type that PostgreSQL resolves for `$n`, where that is certain; of an array, the element's.
    fn resolved(&self, number: u32, many: bool) -> Option<TypeId> {
        let element = |ty: TypeId| self.cx.catalog().type_of(ty).and_then(|ty| ty.kind.element());
        let of = |ty: TypeId| if many { element(ty) } else { Some(ty) };
        if let Some(declared) = self.cx.declared.get(number) {
            return of(declared);
        }
        let uses = self.cx.bound.uses.params.iter().filter(|used| used.number == number);
        let mut types = uses.map(|used| match used.cast {
            Some(ty) => of(ty),
            None => used.meets,
        });
        let first = types.next()??;
        let known = first != TypeId::NONE && first != TypeId::UNKNOWN;
        (known && types.all(|ty| ty == Some(first))).then_some(first)
    }

    /// A use of `$n` that could fix another type than the class's.
    fn foreign_use(&self, number: u32, class: ClassId, many: bool) -> Option<At> {
        let family = self.classes.family(class)?;
        let good = self.good_params.borrow();
        let fixes = |used: &&ParamUse| match used.cast {
            Some(ty) => self.is_of(ty, family, many),
            None => good.iter().any(|(n, at, id)| {
                *n == number && *at == used.at && self.classes.family(*id) == Some(family)
            }),
        };
        self.cx
            .bound
            .uses
            .params
            .iter()
            .filter(|used| used.number == number)
            .find(|used| !fixes(used))
            .map(|used| used.at)
    }

    fn first_use(&self, number: u32) -> At {
        self.cx.bound.uses.params.iter().find(|used| used.number == number).and_then(|used| used.at)
    }

    /// Whether a type is of a family, or (`many`) an array over it.
    pub(super) fn is_of(&self, ty: TypeId, family: &Family, many: bool) -> bool {
        let catalog = self.cx.catalog();
        if !many {
            return catalog.family_of(ty) == family;
        }
        let element = catalog.type_of(ty).and_then(|ty| ty.kind.element());
        element.is_some_and(|element| catalog.family_of(element) == family)
    }
}
