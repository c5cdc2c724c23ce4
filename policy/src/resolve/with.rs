//! WITH: names are lexical, never qualified, and not known to their own body unless RECURSIVE.

use super::bound::*;
use super::from::rename;
use super::{Resolver, Visible};
use crate::catalog::TypeId;
use crate::ir::{self, Name};
use crate::keyed::HashMap;
use crate::mutants::mutant;

impl<'c> Resolver<'c> {
    /// Binds the CTEs and brings their names into sight until `unwith`.
    pub(super) fn with(&mut self, with: Option<&ir::With>) -> With {
        let Some(with) = with else { return Vec::new() };
        let mut names = HashMap::default();
        if with.recursive {
            names.extend(with.ctes.iter().map(|cte| (cte.name.clone(), Visible::Later)));
        }
        self.with.push(names);
        with.ctes.iter().map(|cte| self.cte(cte, with.recursive)).collect()
    }

    pub(super) fn unwith(&mut self, with: Option<&ir::With>) {
        if with.is_some() {
            self.with.pop();
        }
    }

    pub(super) fn see(&mut self, name: &Name, visible: Visible) {
        if let Some(frame) = self.with.last_mut() {
            frame.insert(name.clone(), visible);
        }
    }

    pub(super) fn cte(&mut self, cte: &ir::Cte, recursive: bool) -> CteId {
        let id = CteId(self.ctes.len());
        self.ctes.push(Cte {
            body: CteBody::Pending,
            columns: Vec::new(),
            renames: cte.columns.clone(),
            open: true,
            width: 0,
            recursive: false,
            materialized: cte.materialized == Some(true),
            keys: Vec::new(),
        });
        if recursive || mutant!(CteSeesItself) {
            self.see(&cte.name, Visible::Cte(id));
        }
        let nesting = self.nesting;
        self.nesting += 1;
        let (body, outputs, open) = match &cte.body {
            ir::CteBody::Query(query) => {
                let query = self.query_of(query, Some(id));
                let (outputs, open) = (query.outputs.clone(), query.open);
                (CteBody::Query(Box::new(query)), outputs, open)
            }
            ir::CteBody::Insert(insert) => {
                let insert = self.insert(insert);
                let open = insert.open && !mutant!(ReturningIsKnown);
                let outputs = insert.outputs.clone();
                (CteBody::Insert(Box::new(insert)), outputs, open)
            }
            ir::CteBody::Update(update) => {
                let update = self.update(update);
                let (outputs, open) = (update.outputs.clone(), update.open);
                (CteBody::Update(Box::new(update)), outputs, open)
            }
            ir::CteBody::Delete(delete) => {
                let delete = self.delete(delete);
                let (outputs, open) = (delete.outputs.clone(), delete.open);
                (CteBody::Delete(Box::new(delete)), outputs, open)
            }
            ir::CteBody::Merge(merge) => {
                let merge = self.merge_into(merge);
                let (outputs, open) = (merge.outputs.clone(), merge.open);
                (CteBody::Merge(Box::new(merge)), outputs, open)
            }
        };
        self.nesting = nesting;
        if let Some(cycle) = &cte.cycle {
            self.expr(&cycle.value);
            self.expr(&cycle.default);
        }
        let mut columns = outputs;
        let width = columns.len();
        for (column, name) in columns.iter_mut().zip(&cte.columns) {
            column.name = name.clone();
        }
        let keys = self.keys(cte, &columns);
        let mut added: Vec<Name> = Vec::new();
        added.extend(cte.search.as_ref().map(|(_, sequence)| sequence.clone()));
        if let Some(cycle) = &cte.cycle {
            added.extend([cycle.mark.clone(), cycle.path.clone()]);
        }
        columns.extend(added.into_iter().map(|name| SourceColumn { name, ty: ColumnType::UNKNOWN }));
        if let Some(made) = self.ctes.get_mut(id.0) {
            made.body = body;
            made.columns = columns;
            made.width = width;
            made.open = open;
            made.keys = keys;
        }
        self.see(&cte.name, Visible::Cte(id));
        id
    }

    /// The places of the columns that SEARCH … BY and CYCLE name.
    fn keys(&mut self, cte: &ir::Cte, columns: &[SourceColumn]) -> Vec<usize> {
        let search = cte.search.iter().flat_map(|(keys, _)| keys);
        let cycle = cte.cycle.iter().flat_map(|cycle| &cycle.columns);
        let mut keys = Vec::new();
        for name in search.chain(cycle) {
            match columns.iter().position(|column| column.name == *name) {
                Some(at) => keys.push(at),
                None => {
                    self.unknown_column(cte.at, format!("column \"{name}\" not in WITH query column list"));
                }
            }
        }
        keys
    }
}

impl<'c> Cte<'c> {
    /// Takes over the columns that its first branch yields.
    pub(super) fn fill(&mut self, first: &Query<'c>) {
        self.columns = first.outputs.clone();
        for column in &mut self.columns {
            // The recursive branch may give a column another type: nothing is known of it yet,
            // but for what the proof by induction looks at (see `Cte::columns` after binding).
            if column.ty.ty == TypeId::UNKNOWN {
                column.ty.ty = TypeId::TEXT;
            }
        }
        let renames = ir::Alias { name: Name::default(), columns: self.renames.clone() };
        rename(&mut self.columns, Some(&renames));
        self.open = first.open;
    }
}
