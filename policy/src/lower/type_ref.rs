//! Types as written.

use pg_query::protobuf as pb;
use pg_query::protobuf::node::Node as N;

use super::{Lower, place};
use crate::ir::{Name, Path, TypeRef};

impl Lower<'_> {
    /// A type that has to be there.
    pub(super) fn type_ref(&mut self, node: Option<&pb::TypeName>) -> TypeRef {
        let Some(node) = node else {
            self.refuse("a type that is missing", None);
            let path = Path { parts: vec![Name::default()], at: None };
            return TypeRef { path, typmods: true, array: true, setof: true, pct_type: true };
        };
        let at = place(node.location);
        // PostgreSQL itself takes only these two for a modifier; anything else would be an
        // expression that nobody looks at.
        let plain = node.typmods.iter().all(|modifier| {
            matches!(&modifier.node, Some(N::AConst(_)))
                || matches!(&modifier.node, Some(N::ColumnRef(column)) if column.fields.len() == 1)
        });
        if !plain {
            self.refuse("an expression as a type's modifier", at);
        }
        TypeRef {
            path: self.path(&node.names, at),
            typmods: !node.typmods.is_empty(),
            array: !node.array_bounds.is_empty(),
            setof: node.setof,
            pct_type: node.pct_type,
        }
    }

    /// Types in a list: those of PREPARE.
    pub(super) fn type_list(&mut self, nodes: &[pb::Node]) -> Vec<TypeRef> {
        let types = nodes.iter().map(|node| match &node.node {
            Some(N::TypeName(node)) => self.type_ref(Some(node)),
            _ => self.type_ref(None),
        });
        types.collect()
    }
}
