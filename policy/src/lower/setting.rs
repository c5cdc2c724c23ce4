//! SET and RESET.

use pg_query::protobuf as pb;
use pg_query::protobuf::VariableSetKind as K;
use pg_query::protobuf::node::Node as N;

use super::{Lower, name, place};
use crate::ir::{Const, ConstValue, Set, SetAction};

impl Lower<'_> {
    /// SET, SET LOCAL, RESET.
    pub(super) fn set(&mut self, node: &pb::VariableSetStmt) -> Set {
        let action = match node.kind() {
            K::VarSetValue => SetAction::To { name: name(&node.name), values: self.values(node) },
            K::VarSetDefault | K::VarReset => SetAction::Default(name(&node.name)),
            K::VarSetCurrent => SetAction::FromCurrent(name(&node.name)),
            K::VarResetAll => SetAction::ResetAll,
            K::VarSetMulti => match node.name.as_str() {
                "TRANSACTION" | "SESSION CHARACTERISTICS" => SetAction::TransactionCharacteristics,
                "TRANSACTION SNAPSHOT" => SetAction::Snapshot,
                _ => self.unknown_set(node),
            },
            K::Undefined => self.unknown_set(node),
        };
        Set { local: node.is_local, action }
    }

    fn values(&mut self, node: &pb::VariableSetStmt) -> Vec<Const> {
        let mut values = Vec::with_capacity(node.args.len());
        for argument in &node.args {
            match &argument.node {
                Some(N::AConst(constant)) => values.push(self.constant(constant)),
                Some(N::TypeCast(cast)) => values.extend(self.interval(cast)),
                _ => self.refuse("a setting's value that is no constant", place(node.location)),
            }
        }
        values
    }

    /// SET TIME ZONE INTERVAL '…', in the words that PostgreSQL keeps as the setting's value. It
    /// keeps no fields (HOUR), so with them only a value that means the same without.
    fn interval(&mut self, cast: &pb::TypeCast) -> Option<Const> {
        let at = place(cast.location);
        let fields = cast.type_name.as_ref().is_none_or(|ty| !ty.typmods.is_empty());
        if let Some(Some(N::AConst(constant))) = cast.arg.as_deref().map(|arg| &arg.node)
            && let Some(pb::a_const::Val::Sval(pb::String { sval: text })) = &constant.val
            && !text.contains('\'')
            && (!fields || text.contains(':'))
        {
            let value = ConstValue::String(format!("INTERVAL '{text}'").into());
            return Some(Const::new(value, at, None));
        }
        self.refuse("SET TIME ZONE with an interval", at);
        None
    }

    fn unknown_set(&mut self, node: &pb::VariableSetStmt) -> SetAction {
        self.refuse("SET of an unknown kind", place(node.location));
        SetAction::Snapshot
    }
}
