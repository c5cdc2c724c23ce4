//! Statements that are judged by their kind alone: which kind, which relations they name, and
//! whether they hold what nobody looks at.

use pg_query::protobuf as pb;
use pg_query::protobuf::ObjectType;
use pg_query::protobuf::node::Node as N;

use super::{Lower, list, tag};
use crate::Kind;
use crate::ir::{RelationRef, Utility};

impl Lower<'_> {
    /// A statement that is judged by its kind.
    pub(super) fn other(&mut self, other: Other<'_>) -> Utility {
        let mut relations: Vec<RelationRef> =
            other.relations.iter().map(|relation| self.relation(relation)).collect();
        for names in other.dropped {
            self.counter.relation();
            let path = self.path(names, None);
            relations.push(RelationRef { path, only: false, alias: None, sample: None });
        }
        // What it reaches is not known where it names no relation (a schema, a role, all tables).
        let nameless = relations.is_empty() && !other.alone;
        let opaque = other.opaque || nameless;
        Utility::Other { kind: other.kind, what: other.what, relations, call: None, opaque }
    }
}

/// A statement that is judged by its kind.
pub(super) struct Other<'t> {
    kind: Option<Kind>,
    what: &'static str,
    relations: Vec<&'t pb::RangeVar>,
    /// Relations that DROP and COMMENT name.
    dropped: Vec<&'t [pb::Node]>,
    opaque: bool,
    /// It reaches nothing that exists.
    alone: bool,
}

impl<'t> Other<'t> {
    fn new(kind: Option<Kind>, what: &'static str) -> Other<'t> {
        Other { kind, what, relations: Vec::new(), dropped: Vec::new(), opaque: false, alone: false }
    }

    pub(super) fn ddl(what: &'static str) -> Other<'t> {
        Other::new(Some(Kind::Ddl), what)
    }

    pub(super) fn grant(what: &'static str) -> Other<'t> {
        Other::new(Some(Kind::Grant), what)
    }

    pub(super) fn listen(what: &'static str) -> Other<'t> {
        Other::new(Some(Kind::Listen), what).alone()
    }

    pub(super) fn lock(what: &'static str) -> Other<'t> {
        Other::new(Some(Kind::Lock), what)
    }

    pub(super) fn maintenance(what: &'static str) -> Other<'t> {
        Other::new(Some(Kind::Maintenance), what)
    }

    /// Only for `unrestricted` roles.
    pub(super) fn never(what: &'static str) -> Other<'t> {
        Other::new(None, what).opaque()
    }

    /// It holds a query or expressions that are not kept.
    pub(super) fn opaque(mut self) -> Other<'t> {
        self.opaque = true;
        self
    }

    /// It reaches nothing that exists: it names no relation because it needs none.
    pub(super) fn alone(mut self) -> Other<'t> {
        self.alone = true;
        self
    }

    fn opaque_if(mut self, opaque: bool) -> Other<'t> {
        self.opaque |= opaque;
        self
    }

    /// It makes or drops a temporary object.
    fn temp_if(mut self, relation: Option<&pb::RangeVar>) -> Other<'t> {
        let temporary = relation.is_some_and(|relation| {
            relation.relpersistence == RELPERSISTENCE_TEMP
                || relation.schemaname.starts_with(TEMPORARY_SCHEMA)
        });
        if temporary {
            self.kind = Some(Kind::Temp);
        }
        self
    }

    /// It names this relation.
    pub(super) fn on(mut self, relation: Option<&'t pb::RangeVar>) -> Other<'t> {
        self.relations.extend(relation);
        self
    }

    /// It names these relations.
    pub(super) fn all(mut self, nodes: &'t [pb::Node]) -> Other<'t> {
        for node in nodes {
            match &node.node {
                Some(N::RangeVar(relation)) => self.relations.push(relation),
                Some(N::VacuumRelation(vacuum)) => self.relations.extend(&vacuum.relation),
                _ => self.opaque = true,
            }
        }
        self
    }
}

pub(super) fn create_table(node: &pb::CreateStmt) -> Other<'_> {
    let relation = node.relation.as_ref();
    let mut other = Other::ddl("CREATE TABLE").on(relation).temp_if(relation);
    // A foreign key tells which keys the other table has.
    let columns = node.table_elts.iter().filter_map(|element| match &element.node {
        Some(N::ColumnDef(column)) => Some(&column.constraints),
        _ => None,
    });
    let constraints = node.table_elts.iter().chain(&node.constraints).chain(columns.flatten());
    other.relations.extend(constraints.filter_map(|constraint| match &constraint.node {
        Some(N::Constraint(constraint)) => constraint.pktable.as_ref(),
        _ => None,
    }));
    other.opaque_if(!is_plain_table(node))
}

/// Columns of a name, a type, a collation, keys and NOT NULL, and nothing that is evaluated or
/// taken over from elsewhere.
fn is_plain_table(node: &pb::CreateStmt) -> bool {
    let plain = |constraint: &pb::Node| {
        use pb::ConstrType as C;
        matches!(&constraint.node, Some(N::Constraint(constraint))
            if matches!(constraint.contype(), C::ConstrNull | C::ConstrNotnull | C::ConstrPrimary
                | C::ConstrUnique | C::ConstrForeign | C::ConstrAttrDeferrable
                | C::ConstrAttrNotDeferrable | C::ConstrAttrDeferred | C::ConstrAttrImmediate))
    };
    let elements = node.table_elts.iter().all(|element| match &element.node {
        Some(N::ColumnDef(column)) => column.raw_default.is_none() && column.constraints.iter().all(plain),
        Some(N::Constraint(_)) => plain(element),
        _ => false,
    });
    elements
        && node.constraints.iter().all(plain)
        && node.inh_relations.is_empty()
        && node.partspec.is_none()
        && node.partbound.is_none()
        && node.of_typename.is_none()
}

pub(super) fn create_foreign_table(node: &pb::CreateForeignTableStmt) -> Other<'_> {
    let relation = node.base_stmt.as_ref().and_then(|base| base.relation.as_ref());
    Other::ddl("CREATE FOREIGN TABLE").opaque().on(relation)
}

pub(super) fn create_table_as(node: &pb::CreateTableAsStmt) -> Other<'_> {
    let relation = node.into.as_deref().and_then(|into| into.rel.as_ref());
    let view = node.objtype() == ObjectType::ObjectMatview;
    let what = if view { "CREATE MATERIALIZED VIEW" } else { "CREATE TABLE AS" };
    Other::ddl(what).opaque().on(relation).temp_if(relation)
}

pub(super) fn create_sequence(node: &pb::CreateSeqStmt) -> Other<'_> {
    let sequence = node.sequence.as_ref();
    Other::ddl("CREATE SEQUENCE").on(sequence).temp_if(sequence)
}

pub(super) fn create_schema(node: &pb::CreateSchemaStmt) -> Other<'_> {
    Other::ddl("CREATE SCHEMA").alone().opaque_if(!node.schema_elts.is_empty())
}

pub(super) fn create_function(node: &pb::CreateFunctionStmt) -> Other<'_> {
    Other::ddl(if node.is_procedure { "CREATE PROCEDURE" } else { "CREATE FUNCTION" }).opaque()
}

pub(super) fn create_view(node: &pb::ViewStmt) -> Other<'_> {
    let view = node.view.as_ref();
    Other::ddl("CREATE VIEW").opaque().on(view).temp_if(view)
}

pub(super) fn create_index(node: &pb::IndexStmt) -> Other<'_> {
    let plain = node.where_clause.is_none()
        && node
            .index_params
            .iter()
            .all(|element| matches!(&element.node, Some(N::IndexElem(element)) if element.expr.is_none()));
    Other::ddl("CREATE INDEX").on(node.relation.as_ref()).opaque_if(!plain)
}

pub(super) fn define(node: &pb::DefineStmt) -> Other<'_> {
    Other::ddl(tag::create(node.kind())).opaque()
}

pub(super) fn drop(node: &pb::DropStmt) -> Other<'_> {
    use ObjectType as O;
    let mut other = Other::ddl(tag::drop(node.remove_type()));
    let relations = matches!(
        node.remove_type(),
        O::ObjectTable | O::ObjectView | O::ObjectMatview | O::ObjectForeignTable | O::ObjectSequence
    );
    if relations {
        other.dropped = node.objects.iter().filter_map(list).collect();
    }
    other.opaque_if(node.behavior() == pb::DropBehavior::DropCascade)
}

pub(super) fn truncate(node: &pb::TruncateStmt) -> Other<'_> {
    let cascades = node.behavior() == pb::DropBehavior::DropCascade;
    Other::ddl("TRUNCATE TABLE").all(&node.relations).opaque_if(cascades)
}

/// COMMENT ON TABLE and COLUMN name their relation.
pub(super) fn comment(node: &pb::CommentStmt) -> Other<'_> {
    use ObjectType as O;
    let names = node.object.as_deref().and_then(list);
    let relations =
        [O::ObjectTable, O::ObjectView, O::ObjectMatview, O::ObjectForeignTable, O::ObjectSequence];
    let relation = if relations.contains(&node.objtype()) {
        names
    } else if node.objtype() == O::ObjectColumn {
        names.and_then(|names| names.split_last()).map(|(_, relation)| relation)
    } else {
        None
    };
    let mut other = Other::ddl("COMMENT");
    other.dropped = relation.into_iter().filter(|names| !names.is_empty()).collect();
    other
}

/// GRANT and REVOKE name relations among many other things.
pub(super) fn grant(node: &pb::GrantStmt) -> Other<'_> {
    Other::grant(if node.is_grant { "GRANT" } else { "REVOKE" }).all(&node.objects)
}

pub(super) fn rename(node: &pb::RenameStmt) -> Other<'_> {
    let part = [ObjectType::ObjectColumn, ObjectType::ObjectAttribute].contains(&node.rename_type());
    let object = if part { node.relation_type() } else { node.rename_type() };
    // The catalog has no indexes: whose one is, is not known.
    let index = object == ObjectType::ObjectIndex;
    Other::ddl(tag::alter(object)).on(node.relation.as_ref()).opaque_if(index)
}

pub(super) fn alter_table(node: &pb::AlterTableStmt) -> Other<'_> {
    Other::ddl(tag::alter(node.objtype())).opaque().on(node.relation.as_ref())
}

pub(super) fn alter_schema(node: &pb::AlterObjectSchemaStmt) -> Other<'_> {
    Other::ddl(tag::alter(node.object_type())).on(node.relation.as_ref())
}

pub(super) fn alter_depends(node: &pb::AlterObjectDependsStmt) -> Other<'_> {
    Other::ddl(tag::alter(node.object_type())).on(node.relation.as_ref())
}

/// The tag of an ALTER that names no relation.
pub(super) fn alter_tag(object: i32) -> &'static str {
    tag::alter(ObjectType::try_from(object).unwrap_or(ObjectType::Undefined))
}

/// ANALYZE of an expression index evaluates it; what is evaluated is the table's own.
pub(super) fn vacuum(node: &pb::VacuumStmt) -> Other<'_> {
    let what = if node.is_vacuumcmd { "VACUUM" } else { "ANALYZE" };
    Other::maintenance(what).all(&node.rels)
}

/// pg_class.h.
const RELPERSISTENCE_TEMP: &str = "t";
/// The alias, and the schemas behind it.
const TEMPORARY_SCHEMA: &str = "pg_temp";
