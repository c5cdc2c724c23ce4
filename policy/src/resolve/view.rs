//! Plain views: a view is its definition, bound in a scope of its own (policy 3.3).

use super::Resolver;
use super::bound::*;
use crate::catalog::Relation;
use crate::ir::{self, At};
use crate::policy::Limits;

/// A view's definition comes from the catalog, not from the client: it is long as it is.
const DEFINITION_LIMITS: Limits = Limits {
    statement_bytes: 1 << 20,
    statements: 1,
    depth: 1024,
    relations: 1024,
    in_list: 65_536,
    insert_rows: 0,
    set_operations: 1024,
    conditions: 65_536,
    parameters: 0,
    conflict_rows: 0,
};

impl<'c> Resolver<'c> {
    /// A view's definition, bound in a scope of its own.
    pub(super) fn expand(&mut self, view: &'c Relation, at: At) -> Option<Query<'c>> {
        self.expanded += 1;
        if self.views.len() >= MAX_VIEW_DEPTH
            || self.expanded > MAX_VIEW_EXPANSIONS
            || self.views.contains(&view.id)
        {
            self.unsupported(at, "a view over so many views");
            return None;
        }
        let Some(query) = view.view_definition.as_ref()?.query(read) else {
            self.unsupported(at, &format!("the definition of view \"{}\"", view.name.name));
            return None;
        };
        let outside = self.view_at.replace(self.at(at));
        let scopes = std::mem::take(&mut self.scopes);
        let with = std::mem::take(&mut self.with);
        self.views.push(view.id);
        let bound = self.query(query);
        self.views.pop();
        self.scopes = scopes;
        self.with = with;
        self.view_at = outside;
        if bound.open || bound.outputs.len() != view.columns.len() {
            self.unsupported(at, &format!("the definition of view \"{}\"", view.name.name));
            return None;
        }
        Some(bound)
    }
}

/// The query that a definition is; none where it is not understood.
fn read(definition: &str) -> Option<ir::Query> {
    let mut statements = crate::parse::parse(definition, &DEFINITION_LIMITS).ok()?.into_iter();
    match (statements.next(), statements.next()) {
        (Some(ir::Statement { body: ir::Body::Query(query), unsupported, .. }), None)
            if unsupported.is_empty() =>
        {
            Some(*query)
        }
        _ => None,
    }
}

/// How deep views may stand in views, and how many a statement may expand.
const MAX_VIEW_DEPTH: usize = 16;

const MAX_VIEW_EXPANSIONS: usize = 256;
