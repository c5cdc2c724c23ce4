//! Expressions.

use pg_query::protobuf as pb;
use pg_query::protobuf::node::Node as N;
use pg_query::protobuf::{
    AExprKind, BoolExprType, BoolTestType, MinMaxOp, NullTestType, SqlValueFunctionOp, SubLinkType,
};

use super::node::{Class, ExprNode, classify};
use super::{Lower, list, name, place, string};
use crate::ir::{
    At, BoolOp, ColumnRef, Expr, IsTest, Op, OpForm, OpRight, SpecialForm, Sublink, SublinkKind,
};

impl Lower<'_> {
    /// An expression, a level deeper.
    pub(super) fn expr(&mut self, node: &pb::Node) -> Expr {
        self.nested(|lower| match classify(node) {
            Class::Expr(node) => lower.expr_here(node),
            Class::From(_) => lower.unsupported("an item of FROM as an expression", None),
            Class::Statement(_) => lower.unsupported("a statement as an expression", None),
            Class::Part(what) | Class::Analysed(what) => lower.unsupported(what, None),
            Class::Nothing => lower.unsupported("a missing expression", None),
        })
    }

    /// An expression that has to be there.
    pub(super) fn required(&mut self, node: Option<&pb::Node>, at: At) -> Expr {
        match node {
            Some(node) => self.expr(node),
            None => self.unsupported("a missing expression", at),
        }
    }

    fn boxed(&mut self, node: Option<&pb::Node>, at: At) -> Box<Expr> {
        Box::new(self.required(node, at))
    }

    /// Expressions in a list.
    pub(super) fn expr_list(&mut self, nodes: &[pb::Node]) -> Vec<Expr> {
        nodes.iter().map(|node| self.expr(node)).collect()
    }

    fn expr_here(&mut self, node: ExprNode<'_>) -> Expr {
        match node {
            ExprNode::Const(node) => Expr::Const(self.constant(node)),
            ExprNode::Param(node) => self.param(node),
            ExprNode::Column(node) => Expr::Column(self.column_ref(node)),
            ExprNode::Call(node) => Expr::Call(Box::new(self.call(node, false))),
            ExprNode::Op(node) => self.operator(node),
            ExprNode::Bool(node) => self.bool_expr(node),
            ExprNode::NullTest(node) => self.null_test(node),
            ExprNode::BooleanTest(node) => self.boolean_test(node),
            ExprNode::Cast(node) => self.cast(node),
            ExprNode::Collate(node) => self.collate(node),
            ExprNode::Sublink(node) => self.sublink(node),
            ExprNode::Case(node) => self.case(node),
            ExprNode::Coalesce(node) => self.special(SpecialForm::Coalesce, &node.args, node.location),
            ExprNode::MinMax(node) => self.min_max(node),
            ExprNode::Grouping(node) => self.special(SpecialForm::Grouping, &node.args, node.location),
            ExprNode::ValueFunction(node) => self.value_function(node),
            ExprNode::MergeAction(node) => self.special(SpecialForm::MergeAction, &[], node.location),
            ExprNode::Row(node) => Expr::Row(self.expr_list(&node.args), place(node.location)),
            ExprNode::Array(node) => {
                self.counter.list(node.elements.len());
                Expr::Array(self.expr_list(&node.elements), place(node.location))
            }
            ExprNode::Indirection(node) => self.indirection(node),
            ExprNode::Default(node) => Expr::Default(place(node.location)),
            ExprNode::Xml(node) => self.xml(node),
            ExprNode::XmlSerialize(node) => self.xml_serialize(node),
            ExprNode::JsonValue(node) => self.json_value(node),
            ExprNode::JsonParse(node) => self.json_parse(node),
            ExprNode::JsonScalar(node) => self.json_scalar(node),
            ExprNode::JsonSerialize(node) => self.json_serialize(node),
            ExprNode::JsonObject(node) => self.json_object(node),
            ExprNode::JsonArray(node) => self.json_array(node),
            ExprNode::JsonArrayQuery(node) => self.json_array_query(node),
            ExprNode::JsonObjectAgg(node) => self.json_object_agg(node),
            ExprNode::JsonArrayAgg(node) => self.json_array_agg(node),
            ExprNode::JsonQuery(node) => self.json_query(node),
            ExprNode::IsJson(node) => {
                let at = place(node.location);
                let args = vec![self.required(node.expr.as_deref(), at)];
                Expr::Special { form: SpecialForm::IsJson, args, at }
            }
        }
    }

    fn special(&mut self, form: SpecialForm, args: &[pb::Node], location: i32) -> Expr {
        Expr::Special { form, args: self.expr_list(args), at: place(location) }
    }

    /// The parser's grammar has one more parameter than PostgreSQL's, `?`, as number 0.
    fn param(&mut self, node: &pb::ParamRef) -> Expr {
        let at = place(node.location);
        match u32::try_from(node.number) {
            Ok(number) if number > 0 => {
                self.counter.parameter(number);
                Expr::Param { number, at }
            }
            Ok(_) | Err(_) => self.unsupported("? as a parameter", at),
        }
    }

    fn column_ref(&mut self, node: &pb::ColumnRef) -> ColumnRef {
        let at = place(node.location);
        let (fields, star) = match node.fields.split_last() {
            Some((pb::Node { node: Some(N::AStar(_)) }, fields)) => (fields, true),
            Some(_) | None => (node.fields.as_slice(), false),
        };
        let mut parts = Vec::with_capacity(fields.len());
        for field in fields {
            match string(field) {
                Some(part) => parts.push(name(part)),
                None => self.refuse("* inside a name", at),
            }
        }
        ColumnRef { parts, star, at }
    }

    fn operator(&mut self, node: &pb::AExpr) -> Expr {
        let at = place(node.location);
        let path = self.path(&node.name, at);
        let (form, is_list) = match node.kind() {
            AExprKind::AexprOp => (OpForm::Plain, false),
            AExprKind::AexprOpAny => (OpForm::Any, false),
            AExprKind::AexprOpAll => (OpForm::All, false),
            AExprKind::AexprDistinct => (OpForm::Distinct, false),
            AExprKind::AexprNotDistinct => (OpForm::NotDistinct, false),
            AExprKind::AexprNullif => (OpForm::NullIf, false),
            AExprKind::AexprIn => (OpForm::In, true),
            AExprKind::AexprLike => (OpForm::Like, false),
            AExprKind::AexprIlike => (OpForm::ILike, false),
            AExprKind::AexprSimilar => (OpForm::Similar, false),
            AExprKind::AexprBetween => (OpForm::Between, true),
            AExprKind::AexprNotBetween => (OpForm::NotBetween, true),
            AExprKind::AexprBetweenSym => (OpForm::BetweenSymmetric, true),
            AExprKind::AexprNotBetweenSym => (OpForm::NotBetweenSymmetric, true),
            AExprKind::Undefined => {
                return self.unsupported("an operator of an unknown kind", at);
            }
        };
        let left = node.lexpr.as_deref().map(|left| self.left_operand(node, left));
        let right = match node.rexpr.as_deref() {
            Some(right) if is_list => match list(right) {
                Some(items) => {
                    self.counter.list(items.len());
                    OpRight::List(self.expr_list(items))
                }
                None => OpRight::List(vec![self.unsupported("a list that is none", at)]),
            },
            Some(right) => OpRight::One(self.right_operand(form, right, node.location)),
            None => OpRight::One(self.unsupported("an operator without a right operand", at)),
        };
        Expr::Op(Box::new(Op { form, name: path, left, right, at }))
    }

    /// A chain `a || b || c` of one binary operator is one level.
    fn left_operand(&mut self, node: &pb::AExpr, left: &pb::Node) -> Expr {
        match &left.node {
            Some(N::AExpr(left))
                if left.kind == node.kind && left.name == node.name && left.lexpr.is_some() =>
            {
                self.operator(left)
            }
            _ => self.expr(left),
        }
    }

    /// ESCAPE and SIMILAR TO put a call of the grammar's own there, at the operator's place.
    fn right_operand(&mut self, form: OpForm, right: &pb::Node, location: i32) -> Expr {
        let may_escape = matches!(form, OpForm::Like | OpForm::ILike | OpForm::Similar);
        match &right.node {
            Some(N::FuncCall(call)) if may_escape && call.location == location => {
                self.nested(|lower| Expr::Call(Box::new(lower.call(call, true))))
            }
            _ => self.expr(right),
        }
    }

    fn bool_expr(&mut self, node: &pb::BoolExpr) -> Expr {
        let at = place(node.location);
        let op = match node.boolop() {
            BoolExprType::AndExpr => BoolOp::And,
            BoolExprType::OrExpr => BoolOp::Or,
            BoolExprType::NotExpr => {
                return match node.args.as_slice() {
                    [arg] => Expr::Not(Box::new(self.expr(arg)), at),
                    _ => self.unsupported("NOT of other than one operand", at),
                };
            }
            BoolExprType::Undefined => {
                return self.unsupported("a boolean operator of an unknown kind", at);
            }
        };
        let mut args = Vec::with_capacity(node.args.len());
        self.bool_args(node, &mut args);
        self.counter.conditions(args.len());
        Expr::Bool { op, args, at }
    }

    /// AND below AND and OR below OR are taken apart.
    fn bool_args(&mut self, node: &pb::BoolExpr, args: &mut Vec<Expr>) {
        for arg in &node.args {
            match &arg.node {
                Some(N::BoolExpr(inner)) if inner.boolop == node.boolop => {
                    self.bool_args(inner, args);
                }
                _ => args.push(self.expr(arg)),
            }
        }
    }

    fn null_test(&mut self, node: &pb::NullTest) -> Expr {
        let at = place(node.location);
        let positive = match node.nulltesttype() {
            NullTestType::IsNull => true,
            NullTestType::IsNotNull => false,
            NullTestType::Undefined => return self.unsupported("IS of an unknown kind", at),
        };
        let arg = self.boxed(node.arg.as_deref(), at);
        Expr::Is { test: IsTest::Null, positive, arg, at }
    }

    fn boolean_test(&mut self, node: &pb::BooleanTest) -> Expr {
        let at = place(node.location);
        let (test, positive) = match node.booltesttype() {
            BoolTestType::IsTrue => (IsTest::True, true),
            BoolTestType::IsNotTrue => (IsTest::True, false),
            BoolTestType::IsFalse => (IsTest::False, true),
            BoolTestType::IsNotFalse => (IsTest::False, false),
            BoolTestType::IsUnknown => (IsTest::Unknown, true),
            BoolTestType::IsNotUnknown => (IsTest::Unknown, false),
            BoolTestType::Undefined => return self.unsupported("IS of an unknown kind", at),
        };
        Expr::Is { test, positive, arg: self.boxed(node.arg.as_deref(), at), at }
    }

    fn cast(&mut self, node: &pb::TypeCast) -> Expr {
        let at = place(node.location);
        let arg = self.boxed(node.arg.as_deref(), at);
        Expr::Cast { arg, ty: self.type_ref(node.type_name.as_ref()), at }
    }

    fn collate(&mut self, node: &pb::CollateClause) -> Expr {
        let at = place(node.location);
        let arg = self.boxed(node.arg.as_deref(), at);
        Expr::Collate { arg, collation: self.path(&node.collname, at), at }
    }

    fn sublink(&mut self, node: &pb::SubLink) -> Expr {
        let at = place(node.location);
        let kind = match node.sub_link_type() {
            SubLinkType::ExistsSublink => SublinkKind::Exists,
            SubLinkType::AllSublink => SublinkKind::All,
            SubLinkType::AnySublink => SublinkKind::Any,
            SubLinkType::RowcompareSublink | SubLinkType::MultiexprSublink => SublinkKind::Row,
            SubLinkType::ExprSublink => SublinkKind::Scalar,
            SubLinkType::ArraySublink => SublinkKind::Array,
            SubLinkType::Undefined | SubLinkType::CteSublink => {
                return self.unsupported("a sub-select of an unknown kind", at);
            }
        };
        let test = node.testexpr.as_deref().map(|test| self.expr(test));
        let op = self.optional_path(&node.oper_name, at);
        let query = self.query_node(node.subselect.as_deref());
        Expr::Sublink(Box::new(Sublink { kind, test, op, query, at }))
    }

    fn case(&mut self, node: &pb::CaseExpr) -> Expr {
        let at = place(node.location);
        let operand = node.arg.as_deref().map(|arg| Box::new(self.expr(arg)));
        let mut whens = Vec::with_capacity(node.args.len());
        for when in &node.args {
            let Some(N::CaseWhen(when)) = &when.node else {
                self.refuse("WHEN that is none", at);
                continue;
            };
            let at = place(when.location);
            let condition = self.required(when.expr.as_deref(), at);
            whens.push((condition, self.required(when.result.as_deref(), at)));
        }
        let otherwise = node.defresult.as_deref().map(|node| Box::new(self.expr(node)));
        Expr::Case { operand, whens, otherwise, at }
    }

    fn min_max(&mut self, node: &pb::MinMaxExpr) -> Expr {
        let form = match node.op() {
            MinMaxOp::IsGreatest => SpecialForm::Greatest,
            MinMaxOp::IsLeast => SpecialForm::Least,
            MinMaxOp::Undefined => {
                return self.unsupported("GREATEST or LEAST", place(node.location));
            }
        };
        self.special(form, &node.args, node.location)
    }

    fn value_function(&mut self, node: &pb::SqlValueFunction) -> Expr {
        use SqlValueFunctionOp as F;
        let form = match node.op() {
            F::SvfopCurrentDate => SpecialForm::Clock("current_date"),
            F::SvfopCurrentTime | F::SvfopCurrentTimeN => SpecialForm::Clock("current_time"),
            F::SvfopCurrentTimestamp | F::SvfopCurrentTimestampN => SpecialForm::Clock("current_timestamp"),
            F::SvfopLocaltime | F::SvfopLocaltimeN => SpecialForm::Clock("localtime"),
            F::SvfopLocaltimestamp | F::SvfopLocaltimestampN => SpecialForm::Clock("localtimestamp"),
            F::SvfopCurrentRole => SpecialForm::User("current_role"),
            F::SvfopCurrentUser => SpecialForm::User("current_user"),
            F::SvfopUser => SpecialForm::User("user"),
            F::SvfopSessionUser => SpecialForm::User("session_user"),
            F::SvfopCurrentCatalog => SpecialForm::Database,
            F::SvfopCurrentSchema => SpecialForm::Schema,
            F::SqlvalueFunctionOpUndefined => {
                return self.unsupported("a value function of an unknown kind", place(node.location));
            }
        };
        self.special(form, &[], node.location)
    }

    /// What follows an expression: fields and subscripts, outermost last.
    fn indirection(&mut self, node: &pb::AIndirection) -> Expr {
        let mut expr = self.required(node.arg.as_deref(), None);
        let at = expr_place(&expr);
        let mut rest = node.indirection.as_slice();
        // The parser's list is flat, what is made of it is nested.
        self.counter.within(rest.len());
        if rest.len() > MAX_INDIRECTIONS {
            return self.unsupported("so many fields and subscripts of one value", at);
        }
        while let Some((first, more)) = rest.split_first() {
            let arg = Box::new(expr);
            let subscripts = rest.iter().take_while(|node| matches!(node.node, Some(N::AIndices(_)))).count();
            if let Some(field) = string(first) {
                expr = Expr::Field { arg, field: name(field), at };
                rest = more;
            } else if let Some(N::AStar(_)) = &first.node {
                expr = Expr::FieldStar(arg, at);
                rest = more;
            } else if subscripts > 0 {
                let (indices, more) = rest.split_at(subscripts);
                let indices = self.subscripts(indices);
                expr = Expr::Subscript { arg, indices, at };
                rest = more;
            } else {
                return self.unsupported("an unknown form of subscript", at);
            }
        }
        expr
    }

    /// The bounds of every subscript in a list of fields and subscripts.
    pub(super) fn subscripts(&mut self, nodes: &[pb::Node]) -> Vec<Expr> {
        let mut bounds = Vec::new();
        for node in nodes {
            if let Some(N::AIndices(node)) = &node.node {
                let both = [node.lidx.as_deref(), node.uidx.as_deref()];
                bounds.extend(both.into_iter().flatten().map(|bound| self.expr(bound)));
            }
        }
        bounds
    }
}

/// The most fields and subscripts of one value: trees are walked and dropped by recursion.
const MAX_INDIRECTIONS: usize = 256;

/// Where an expression stands.
pub(super) fn expr_place(expr: &Expr) -> At {
    match expr {
        Expr::Const(constant) => constant.at,
        Expr::Column(column) => column.at,
        Expr::Call(call) => call.at,
        Expr::Op(op) => op.at,
        Expr::Sublink(sublink) => sublink.at,
        Expr::Param { at, .. }
        | Expr::Bool { at, .. }
        | Expr::Not(_, at)
        | Expr::Is { at, .. }
        | Expr::Cast { at, .. }
        | Expr::Collate { at, .. }
        | Expr::Case { at, .. }
        | Expr::Special { at, .. }
        | Expr::Row(_, at)
        | Expr::Array(_, at)
        | Expr::Field { at, .. }
        | Expr::FieldStar(_, at)
        | Expr::Subscript { at, .. }
        | Expr::Default(at)
        | Expr::Unsupported(at) => *at,
    }
}
