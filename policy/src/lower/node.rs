//! The one exhaustive match over the parser's nodes.
//!
//! Every kind of node is named here, once, and sorted by where it may stand: an expression, an
//! item of FROM, a statement, a part of another node, or nowhere in a raw tree (those are made by
//! PostgreSQL's later stages). There is no wildcard arm: a parser with a new node does not compile
//! until somebody has said what it is.

use pg_query::protobuf as pb;
use pg_query::protobuf::node::Node as N;

use super::other::{self, Other};

/// Where a node may stand, with the node.
pub(super) enum Class<'t> {
    Expr(ExprNode<'t>),
    From(FromNode<'t>),
    Statement(StatementNode<'t>),
    /// A part of another node, read by whoever reads that one; what it is in SQL's words.
    Part(&'static str),
    /// No raw tree holds one.
    Analysed(&'static str),
    /// A list's hole: the parser's NULL.
    Nothing,
}

/// What may stand as an expression.
pub(super) enum ExprNode<'t> {
    Const(&'t pb::AConst),
    Param(&'t pb::ParamRef),
    Column(&'t pb::ColumnRef),
    Call(&'t pb::FuncCall),
    Op(&'t pb::AExpr),
    Bool(&'t pb::BoolExpr),
    NullTest(&'t pb::NullTest),
    BooleanTest(&'t pb::BooleanTest),
    Cast(&'t pb::TypeCast),
    Collate(&'t pb::CollateClause),
    Sublink(&'t pb::SubLink),
    Case(&'t pb::CaseExpr),
    Coalesce(&'t pb::CoalesceExpr),
    MinMax(&'t pb::MinMaxExpr),
    Grouping(&'t pb::GroupingFunc),
    ValueFunction(&'t pb::SqlValueFunction),
    MergeAction(&'t pb::MergeSupportFunc),
    Row(&'t pb::RowExpr),
    Array(&'t pb::AArrayExpr),
    Indirection(&'t pb::AIndirection),
    Default(&'t pb::SetToDefault),
    Xml(&'t pb::XmlExpr),
    XmlSerialize(&'t pb::XmlSerialize),
    JsonValue(&'t pb::JsonValueExpr),
    JsonParse(&'t pb::JsonParseExpr),
    JsonScalar(&'t pb::JsonScalarExpr),
    JsonSerialize(&'t pb::JsonSerializeExpr),
    JsonObject(&'t pb::JsonObjectConstructor),
    JsonArray(&'t pb::JsonArrayConstructor),
    JsonArrayQuery(&'t pb::JsonArrayQueryConstructor),
    JsonObjectAgg(&'t pb::JsonObjectAgg),
    JsonArrayAgg(&'t pb::JsonArrayAgg),
    JsonQuery(&'t pb::JsonFuncExpr),
    IsJson(&'t pb::JsonIsPredicate),
}

/// What may stand in FROM.
pub(super) enum FromNode<'t> {
    Relation(&'t pb::RangeVar),
    Sample(&'t pb::RangeTableSample),
    Subquery(&'t pb::RangeSubselect),
    Function(&'t pb::RangeFunction),
    Join(&'t pb::JoinExpr),
    /// What the algebra has no word for.
    Other(&'static str, i32),
}

/// What may stand as a statement.
pub(super) enum StatementNode<'t> {
    Select(&'t pb::SelectStmt),
    Insert(&'t pb::InsertStmt),
    Update(&'t pb::UpdateStmt),
    Delete(&'t pb::DeleteStmt),
    Merge(&'t pb::MergeStmt),
    Transaction(&'t pb::TransactionStmt),
    Set(&'t pb::VariableSetStmt),
    Show(&'t pb::VariableShowStmt),
    SetConstraints,
    Discard(&'t pb::DiscardStmt),
    Prepare(&'t pb::PrepareStmt),
    Execute(&'t pb::ExecuteStmt),
    Deallocate(&'t pb::DeallocateStmt),
    Declare(&'t pb::DeclareCursorStmt),
    Fetch(&'t pb::FetchStmt),
    Close(&'t pb::ClosePortalStmt),
    Copy(&'t pb::CopyStmt),
    Explain(&'t pb::ExplainStmt),
    Unlisten(&'t pb::UnlistenStmt),
    Call(&'t pb::CallStmt),
    /// Judged by its kind alone.
    Other(Other<'t>),
}

/// Sorts a node.
#[expect(clippy::too_many_lines, reason = "the one exhaustive match: a line a kind of node")]
pub(super) fn classify(node: &pb::Node) -> Class<'_> {
    let Some(node) = &node.node else { return Class::Nothing };
    match node {
        // Expressions.
        N::AConst(node) => Class::Expr(ExprNode::Const(node)),
        N::ParamRef(node) => Class::Expr(ExprNode::Param(node)),
        N::ColumnRef(node) => Class::Expr(ExprNode::Column(node)),
        N::FuncCall(node) => Class::Expr(ExprNode::Call(node)),
        N::AExpr(node) => Class::Expr(ExprNode::Op(node)),
        N::BoolExpr(node) => Class::Expr(ExprNode::Bool(node)),
        N::NullTest(node) => Class::Expr(ExprNode::NullTest(node)),
        N::BooleanTest(node) => Class::Expr(ExprNode::BooleanTest(node)),
        N::TypeCast(node) => Class::Expr(ExprNode::Cast(node)),
        N::CollateClause(node) => Class::Expr(ExprNode::Collate(node)),
        N::SubLink(node) => Class::Expr(ExprNode::Sublink(node)),
        N::CaseExpr(node) => Class::Expr(ExprNode::Case(node)),
        N::CoalesceExpr(node) => Class::Expr(ExprNode::Coalesce(node)),
        N::MinMaxExpr(node) => Class::Expr(ExprNode::MinMax(node)),
        N::GroupingFunc(node) => Class::Expr(ExprNode::Grouping(node)),
        N::SqlvalueFunction(node) => Class::Expr(ExprNode::ValueFunction(node)),
        N::MergeSupportFunc(node) => Class::Expr(ExprNode::MergeAction(node)),
        N::RowExpr(node) => Class::Expr(ExprNode::Row(node)),
        N::AArrayExpr(node) => Class::Expr(ExprNode::Array(node)),
        N::AIndirection(node) => Class::Expr(ExprNode::Indirection(node)),
        N::SetToDefault(node) => Class::Expr(ExprNode::Default(node)),
        N::XmlExpr(node) => Class::Expr(ExprNode::Xml(node)),
        N::XmlSerialize(node) => Class::Expr(ExprNode::XmlSerialize(node)),
        N::JsonValueExpr(node) => Class::Expr(ExprNode::JsonValue(node)),
        N::JsonParseExpr(node) => Class::Expr(ExprNode::JsonParse(node)),
        N::JsonScalarExpr(node) => Class::Expr(ExprNode::JsonScalar(node)),
        N::JsonSerializeExpr(node) => Class::Expr(ExprNode::JsonSerialize(node)),
        N::JsonObjectConstructor(node) => Class::Expr(ExprNode::JsonObject(node)),
        N::JsonArrayConstructor(node) => Class::Expr(ExprNode::JsonArray(node)),
        N::JsonArrayQueryConstructor(node) => Class::Expr(ExprNode::JsonArrayQuery(node)),
        N::JsonObjectAgg(node) => Class::Expr(ExprNode::JsonObjectAgg(node)),
        N::JsonArrayAgg(node) => Class::Expr(ExprNode::JsonArrayAgg(node)),
        N::JsonFuncExpr(node) => Class::Expr(ExprNode::JsonQuery(node)),
        N::JsonIsPredicate(node) => Class::Expr(ExprNode::IsJson(node)),

        // FROM.
        N::RangeVar(node) => Class::From(FromNode::Relation(node)),
        N::RangeSubselect(node) => Class::From(FromNode::Subquery(node)),
        N::RangeFunction(node) => Class::From(FromNode::Function(node)),
        N::JoinExpr(node) => Class::From(FromNode::Join(node)),
        N::RangeTableSample(node) => Class::From(FromNode::Sample(node)),
        N::RangeTableFunc(node) => Class::From(FromNode::Other("XMLTABLE", node.location)),
        N::JsonTable(node) => Class::From(FromNode::Other("JSON_TABLE", node.location)),

        // Statements that are kept whole.
        N::SelectStmt(node) => Class::Statement(StatementNode::Select(node)),
        N::InsertStmt(node) => Class::Statement(StatementNode::Insert(node)),
        N::UpdateStmt(node) => Class::Statement(StatementNode::Update(node)),
        N::DeleteStmt(node) => Class::Statement(StatementNode::Delete(node)),
        N::MergeStmt(node) => Class::Statement(StatementNode::Merge(node)),
        N::TransactionStmt(node) => Class::Statement(StatementNode::Transaction(node)),
        N::VariableSetStmt(node) => Class::Statement(StatementNode::Set(node)),
        N::VariableShowStmt(node) => Class::Statement(StatementNode::Show(node)),
        N::ConstraintsSetStmt(_) => Class::Statement(StatementNode::SetConstraints),
        N::DiscardStmt(node) => Class::Statement(StatementNode::Discard(node)),
        N::PrepareStmt(node) => Class::Statement(StatementNode::Prepare(node)),
        N::ExecuteStmt(node) => Class::Statement(StatementNode::Execute(node)),
        N::DeallocateStmt(node) => Class::Statement(StatementNode::Deallocate(node)),
        N::DeclareCursorStmt(node) => Class::Statement(StatementNode::Declare(node)),
        N::FetchStmt(node) => Class::Statement(StatementNode::Fetch(node)),
        N::ClosePortalStmt(node) => Class::Statement(StatementNode::Close(node)),
        N::CopyStmt(node) => Class::Statement(StatementNode::Copy(node)),
        N::ExplainStmt(node) => Class::Statement(StatementNode::Explain(node)),
        N::UnlistenStmt(node) => Class::Statement(StatementNode::Unlisten(node)),
        N::CallStmt(node) => Class::Statement(StatementNode::Call(node)),

        // Statements that are judged by their kind.
        N::CreateStmt(node) => by_kind(other::create_table(node)),
        N::CreateForeignTableStmt(node) => by_kind(other::create_foreign_table(node)),
        N::CreateTableAsStmt(node) => by_kind(other::create_table_as(node)),
        N::CreateSeqStmt(node) => by_kind(other::create_sequence(node)),
        N::CreateSchemaStmt(node) => by_kind(other::create_schema(node)),
        N::CreateFunctionStmt(node) => by_kind(other::create_function(node)),
        N::ViewStmt(node) => by_kind(other::create_view(node)),
        N::IndexStmt(node) => by_kind(other::create_index(node)),
        N::DefineStmt(node) => by_kind(other::define(node)),
        N::DropStmt(node) => by_kind(other::drop(node)),
        N::RenameStmt(node) => by_kind(other::rename(node)),
        N::AlterTableStmt(node) => by_kind(other::alter_table(node)),
        N::AlterObjectSchemaStmt(node) => by_kind(other::alter_schema(node)),
        N::AlterOwnerStmt(node) => by_kind(Other::ddl(other::alter_tag(node.object_type))),
        N::AlterObjectDependsStmt(node) => by_kind(other::alter_depends(node)),
        N::AlterTableMoveAllStmt(node) => by_kind(Other::ddl(other::alter_tag(node.objtype))),
        N::AlterSeqStmt(node) => by_kind(Other::ddl("ALTER SEQUENCE").on(node.sequence.as_ref())),
        N::AlterCollationStmt(_) => by_kind(Other::ddl("ALTER COLLATION")),
        N::AlterDatabaseRefreshCollStmt(_) | N::AlterDatabaseSetStmt(_) | N::AlterDatabaseStmt(_) => {
            by_kind(Other::ddl("ALTER DATABASE"))
        }
        N::AlterDomainStmt(_) => by_kind(Other::ddl("ALTER DOMAIN").opaque()),
        N::AlterEnumStmt(_) | N::AlterTypeStmt(_) => by_kind(Other::ddl("ALTER TYPE")),
        N::AlterEventTrigStmt(_) => by_kind(Other::ddl("ALTER EVENT TRIGGER")),
        N::AlterExtensionStmt(_) | N::AlterExtensionContentsStmt(_) => {
            by_kind(Other::ddl("ALTER EXTENSION").opaque())
        }
        N::AlterFdwStmt(_) => by_kind(Other::ddl("ALTER FOREIGN DATA WRAPPER").opaque()),
        N::AlterForeignServerStmt(_) => by_kind(Other::ddl("ALTER SERVER").opaque()),
        N::AlterFunctionStmt(_) => by_kind(Other::ddl("ALTER FUNCTION").opaque()),
        N::AlterOpFamilyStmt(_) => by_kind(Other::ddl("ALTER OPERATOR FAMILY").opaque()),
        N::AlterOperatorStmt(_) => by_kind(Other::ddl("ALTER OPERATOR").opaque()),
        N::AlterPolicyStmt(node) => by_kind(Other::ddl("ALTER POLICY").opaque().on(node.table.as_ref())),
        N::AlterPublicationStmt(_) => by_kind(Other::ddl("ALTER PUBLICATION").opaque()),
        N::AlterStatsStmt(_) => by_kind(Other::ddl("ALTER STATISTICS")),
        N::AlterSubscriptionStmt(_) => by_kind(Other::ddl("ALTER SUBSCRIPTION").opaque()),
        N::AlterTableSpaceOptionsStmt(_) => by_kind(Other::ddl("ALTER TABLESPACE")),
        N::AlterTsconfigurationStmt(_) => by_kind(Other::ddl("ALTER TEXT SEARCH CONFIGURATION").opaque()),
        N::AlterTsdictionaryStmt(_) => by_kind(Other::ddl("ALTER TEXT SEARCH DICTIONARY").opaque()),
        N::AlterUserMappingStmt(_) => by_kind(Other::ddl("ALTER USER MAPPING").opaque()),
        N::CommentStmt(node) => by_kind(other::comment(node)),
        N::CompositeTypeStmt(_) | N::CreateEnumStmt(_) => by_kind(Other::ddl("CREATE TYPE").alone()),
        N::CreateRangeStmt(_) => by_kind(Other::ddl("CREATE TYPE").opaque()),
        N::CreateAmStmt(_) => by_kind(Other::ddl("CREATE ACCESS METHOD").opaque()),
        N::CreateCastStmt(_) => by_kind(Other::ddl("CREATE CAST").opaque()),
        N::CreateConversionStmt(_) => by_kind(Other::ddl("CREATE CONVERSION").opaque()),
        N::CreateDomainStmt(_) => by_kind(Other::ddl("CREATE DOMAIN").opaque()),
        N::CreateEventTrigStmt(_) => by_kind(Other::ddl("CREATE EVENT TRIGGER").opaque()),
        N::CreateExtensionStmt(_) => by_kind(Other::ddl("CREATE EXTENSION").opaque()),
        N::CreateFdwStmt(_) => by_kind(Other::ddl("CREATE FOREIGN DATA WRAPPER").opaque()),
        N::CreateForeignServerStmt(_) => by_kind(Other::ddl("CREATE SERVER").opaque()),
        N::CreateOpClassStmt(_) => by_kind(Other::ddl("CREATE OPERATOR CLASS").opaque()),
        N::CreateOpFamilyStmt(_) => by_kind(Other::ddl("CREATE OPERATOR FAMILY").opaque()),
        N::CreatePlangStmt(_) => by_kind(Other::ddl("CREATE LANGUAGE").opaque()),
        N::CreatePolicyStmt(node) => by_kind(Other::ddl("CREATE POLICY").opaque().on(node.table.as_ref())),
        N::CreatePublicationStmt(_) => by_kind(Other::ddl("CREATE PUBLICATION").opaque()),
        N::CreateStatsStmt(_) => by_kind(Other::ddl("CREATE STATISTICS").opaque()),
        N::CreateSubscriptionStmt(_) => by_kind(Other::ddl("CREATE SUBSCRIPTION").opaque()),
        N::CreateTableSpaceStmt(_) => by_kind(Other::ddl("CREATE TABLESPACE").opaque()),
        N::CreateTransformStmt(_) => by_kind(Other::ddl("CREATE TRANSFORM").opaque()),
        N::CreateTrigStmt(node) => by_kind(Other::ddl("CREATE TRIGGER").opaque().on(node.relation.as_ref())),
        N::CreateUserMappingStmt(_) => by_kind(Other::ddl("CREATE USER MAPPING").opaque()),
        N::CreatedbStmt(_) => by_kind(Other::ddl("CREATE DATABASE")),
        N::DropSubscriptionStmt(_) => by_kind(Other::ddl("DROP SUBSCRIPTION")),
        N::DropTableSpaceStmt(_) => by_kind(Other::ddl("DROP TABLESPACE")),
        N::DropUserMappingStmt(_) => by_kind(Other::ddl("DROP USER MAPPING")),
        N::DropdbStmt(_) => by_kind(Other::ddl("DROP DATABASE")),
        N::ImportForeignSchemaStmt(_) => by_kind(Other::ddl("IMPORT FOREIGN SCHEMA").opaque()),
        N::RefreshMatViewStmt(node) => {
            let refresh = Other::ddl("REFRESH MATERIALIZED VIEW").opaque();
            by_kind(refresh.on(node.relation.as_ref()))
        }
        N::RuleStmt(node) => by_kind(Other::ddl("CREATE RULE").opaque().on(node.relation.as_ref())),
        N::TruncateStmt(node) => by_kind(other::truncate(node)),
        N::AlterDefaultPrivilegesStmt(_) => by_kind(Other::grant("ALTER DEFAULT PRIVILEGES")),
        N::AlterRoleSetStmt(_) | N::AlterRoleStmt(_) => by_kind(Other::grant("ALTER ROLE")),
        N::CreateRoleStmt(_) => by_kind(Other::grant("CREATE ROLE")),
        N::DropOwnedStmt(_) => by_kind(Other::grant("DROP OWNED")),
        N::DropRoleStmt(_) => by_kind(Other::grant("DROP ROLE")),
        N::GrantRoleStmt(node) => {
            by_kind(Other::grant(if node.is_grant { "GRANT ROLE" } else { "REVOKE ROLE" }))
        }
        N::GrantStmt(node) => by_kind(other::grant(node)),
        N::ReassignOwnedStmt(_) => by_kind(Other::grant("REASSIGN OWNED")),
        N::SecLabelStmt(_) => by_kind(Other::grant("SECURITY LABEL")),
        N::ListenStmt(_) => by_kind(Other::listen("LISTEN")),
        N::NotifyStmt(_) => by_kind(Other::listen("NOTIFY")),
        N::LockStmt(node) => by_kind(Other::lock("LOCK TABLE").all(&node.relations)),
        N::CheckPointStmt(_) => by_kind(Other::maintenance("CHECKPOINT").alone()),
        N::ClusterStmt(node) => by_kind(Other::maintenance("CLUSTER").opaque().on(node.relation.as_ref())),
        N::ReindexStmt(node) => by_kind(Other::maintenance("REINDEX").opaque().on(node.relation.as_ref())),
        N::VacuumStmt(node) => by_kind(other::vacuum(node)),
        N::AlterSystemStmt(_) => by_kind(Other::never("ALTER SYSTEM")),
        N::DoStmt(_) => by_kind(Other::never("DO")),
        N::LoadStmt(_) => by_kind(Other::never("LOAD")),

        // Parts of the nodes above.
        N::AIndices(_) => Class::Part("a subscript"),
        N::AStar(_) => Class::Part("*"),
        N::AccessPriv(_) => Class::Part("a privilege"),
        N::Alias(_) => Class::Part("an alias"),
        N::AlterTableCmd(_) | N::AtalterConstraint(_) => Class::Part("an action of ALTER TABLE"),
        N::BitString(_)
        | N::Boolean(_)
        | N::Float(_)
        | N::Integer(_)
        | N::String(_)
        | N::IntList(_)
        | N::OidList(_)
        | N::List(_) => Class::Part("a bare list or value"),
        N::CaseWhen(_) => Class::Part("WHEN"),
        N::ColumnDef(_) => Class::Part("a column definition"),
        N::CommonTableExpr(_) | N::WithClause(_) => Class::Part("WITH"),
        N::Constraint(_) => Class::Part("a constraint"),
        N::CreateOpClassItem(_) => Class::Part("an item of an operator class"),
        N::CtecycleClause(_) => Class::Part("CYCLE"),
        N::CtesearchClause(_) => Class::Part("SEARCH"),
        N::CurrentOfExpr(_) => Class::Part("CURRENT OF"),
        N::DefElem(_) => Class::Part("an option"),
        N::FunctionParameter(_) => Class::Part("a parameter declaration"),
        N::GroupingSet(_) => Class::Part("a grouping set"),
        N::IndexElem(_) => Class::Part("an element of an index"),
        N::InferClause(_) | N::OnConflictClause(_) => Class::Part("ON CONFLICT"),
        N::IntoClause(_) => Class::Part("INTO"),
        N::JsonAggConstructor(_)
        | N::JsonArgument(_)
        | N::JsonBehavior(_)
        | N::JsonFormat(_)
        | N::JsonKeyValue(_)
        | N::JsonOutput(_)
        | N::JsonReturning(_)
        | N::JsonTableColumn(_)
        | N::JsonTablePathSpec(_) => Class::Part("a part of an SQL/JSON expression"),
        N::LockingClause(_) => Class::Part("a locking clause"),
        N::MergeWhenClause(_) => Class::Part("WHEN of MERGE"),
        N::MultiAssignRef(_) => Class::Part("an assignment to several columns"),
        N::NamedArgExpr(_) => Class::Part("a named argument"),
        N::ObjectWithArgs(_) => Class::Part("a function's or operator's signature"),
        N::PartitionBoundSpec(_)
        | N::PartitionCmd(_)
        | N::PartitionElem(_)
        | N::PartitionRangeDatum(_)
        | N::PartitionSpec(_) => Class::Part("a part of a partition's definition"),
        N::PublicationObjSpec(_) | N::PublicationTable(_) => Class::Part("a published object"),
        N::RangeTableFuncCol(_) => Class::Part("a column of XMLTABLE"),
        N::RawStmt(_) => Class::Part("a statement"),
        N::ReplicaIdentityStmt(_) => Class::Part("REPLICA IDENTITY"),
        N::ResTarget(_) => Class::Part("a target"),
        N::ReturnStmt(_) => Class::Part("RETURN"),
        N::ReturningClause(_) | N::ReturningOption(_) => Class::Part("RETURNING"),
        N::RoleSpec(_) => Class::Part("a role"),
        N::SortBy(_) => Class::Part("ORDER BY"),
        N::StatsElem(_) => Class::Part("an element of statistics"),
        N::TableLikeClause(_) => Class::Part("LIKE"),
        N::TriggerTransition(_) => Class::Part("REFERENCING"),
        N::TypeName(_) => Class::Part("a type"),
        N::VacuumRelation(_) => Class::Part("a relation of VACUUM"),
        N::WindowDef(_) => Class::Part("a window"),

        // Made by analysis, rewriting, planning or PL/pgSQL: never in a raw tree.
        N::Aggref(_)
        | N::AlternativeSubPlan(_)
        | N::ArrayCoerceExpr(_)
        | N::ArrayExpr(_)
        | N::CallContext(_)
        | N::CaseTestExpr(_)
        | N::CoerceToDomain(_)
        | N::CollateExpr(_)
        | N::CoerceToDomainValue(_)
        | N::CoerceViaIo(_)
        | N::ConvertRowtypeExpr(_)
        | N::DistinctExpr(_)
        | N::FieldSelect(_)
        | N::FieldStore(_)
        | N::FromExpr(_)
        | N::FuncExpr(_)
        | N::InferenceElem(_)
        | N::InlineCodeBlock(_)
        | N::JsonConstructorExpr(_)
        | N::JsonExpr(_)
        | N::JsonTablePath(_)
        | N::JsonTablePathScan(_)
        | N::JsonTableSiblingJoin(_)
        | N::MergeAction(_)
        | N::NextValueExpr(_)
        | N::NullIfExpr(_)
        | N::OnConflictExpr(_)
        | N::OpExpr(_)
        | N::Param(_)
        | N::PlassignStmt(_)
        | N::Query(_)
        | N::RangeTblEntry(_)
        | N::RangeTblFunction(_)
        | N::RangeTblRef(_)
        | N::RelabelType(_)
        | N::ReturningExpr(_)
        | N::RowCompareExpr(_)
        | N::RowMarkClause(_)
        | N::RtepermissionInfo(_)
        | N::ScalarArrayOpExpr(_)
        | N::SetOperationStmt(_)
        | N::SortGroupClause(_)
        | N::SubPlan(_)
        | N::SubscriptingRef(_)
        | N::TableFunc(_)
        | N::TableSampleClause(_)
        | N::TargetEntry(_)
        | N::Var(_)
        | N::WindowClause(_)
        | N::WindowFunc(_)
        | N::WindowFuncRunCondition(_)
        | N::WithCheckOption(_) => Class::Analysed("a node of the analysed tree"),
    }
}

fn by_kind(other: Other<'_>) -> Class<'_> {
    Class::Statement(StatementNode::Other(other))
}
