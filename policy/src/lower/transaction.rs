//! Transaction control.

use pg_query::protobuf as pb;
use pg_query::protobuf::TransactionStmtKind as K;

use super::{Lower, name};
use crate::ir::Transaction;

impl Lower<'_> {
    /// BEGIN, COMMIT and kin. The characteristics of BEGIN are those of SET TRANSACTION, which
    /// everybody may set who may begin.
    pub(super) fn transaction(&mut self, node: &pb::TransactionStmt) -> Transaction {
        match node.kind() {
            K::TransStmtBegin | K::TransStmtStart => Transaction::Begin,
            K::TransStmtCommit => Transaction::Commit { chain: node.chain },
            K::TransStmtRollback => Transaction::Rollback { chain: node.chain },
            K::TransStmtSavepoint => Transaction::Savepoint(name(&node.savepoint_name)),
            K::TransStmtRelease => Transaction::Release(name(&node.savepoint_name)),
            K::TransStmtRollbackTo => Transaction::RollbackTo(name(&node.savepoint_name)),
            K::TransStmtPrepare | K::TransStmtCommitPrepared | K::TransStmtRollbackPrepared => {
                Transaction::TwoPhase
            }
            K::Undefined => {
                self.refuse("transaction control of an unknown kind", None);
                Transaction::TwoPhase
            }
        }
    }
}
