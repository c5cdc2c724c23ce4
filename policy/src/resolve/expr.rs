//! Expressions: names to columns, calls to candidates.

use super::bound::*;
use super::names::Qualified;
use super::scope::{Found, Item, Target, What};
use super::uses::*;
use super::{Resolver, walk};
use crate::catalog::{
    Catalog, FunctionKind, Listing, Operator, PG_CATALOG, Relation, TypeId, TypeKind, Volatility,
    is_builtin_schema,
};
use crate::ir::{self, At, ConstValue, OpForm, OpRight};
use crate::{Code, Denial, Object, Rule, SqlState};

impl<'c> Resolver<'c> {
    /// Binds an expression.
    pub(super) fn expr(&mut self, expr: &ir::Expr) -> Expr<'c> {
        let whole = std::mem::replace(&mut self.place.whole, false);
        match expr {
            ir::Expr::Const(constant) => self.constant(constant),
            ir::Expr::Param { number, at } => self.param(*number, *at, None),
            ir::Expr::Column(column) => self.column(column),
            ir::Expr::Call(call) => {
                self.place.whole = whole;
                self.call(call)
            }
            ir::Expr::Op(op) => self.op(op),
            ir::Expr::Bool { op, args, at } => {
                let args = self.exprs(args);
                self.made(ExprNode::Bool { op: *op, args }, TypeId::BOOL, *at)
            }
            ir::Expr::Not(arg, at) => {
                let arg = Box::new(self.expr(arg));
                self.made(ExprNode::Not(arg), TypeId::BOOL, *at)
            }
            ir::Expr::Is { test, positive, arg, at } => {
                let arg = Box::new(self.expr(arg));
                let node = ExprNode::Is { test: *test, positive: *positive, arg };
                self.made(node, TypeId::BOOL, *at)
            }
            ir::Expr::Cast { arg, ty, at } => self.cast(arg, ty, *at),
            ir::Expr::Collate { arg, collation, at } => self.collate(arg, collation, *at),
            ir::Expr::Sublink(sublink) => self.sublink(sublink),
            ir::Expr::Case { operand, whens, otherwise, at } => {
                let mut args: Vec<Expr<'c>> = Vec::new();
                args.extend(operand.as_deref().map(|operand| self.expr(operand)));
                for (when, then) in whens {
                    args.push(self.expr(when));
                    args.push(self.expr(then));
                }
                args.extend(otherwise.as_deref().map(|otherwise| self.expr(otherwise)));
                if operand.is_some() {
                    // The simple form compares by `=`, wherever that is found.
                    self.case_equality(&args, *at);
                }
                self.made(ExprNode::Other(args), TypeId::NONE, *at)
            }
            ir::Expr::Special { form, args, at } => self.special(*form, args, *at),
            ir::Expr::Row(args, at) => {
                let args = self.row(args);
                self.made(ExprNode::Row(args), TypeId::RECORD, *at)
            }
            ir::Expr::Array(args, at) => {
                let args = self.exprs(args);
                self.made(ExprNode::Array(args), TypeId::NONE, *at)
            }
            ir::Expr::Field { arg, field, at } => self.field(arg, field, *at),
            ir::Expr::FieldStar(arg, at) => {
                let arg = self.expr(arg);
                self.made(ExprNode::Other(vec![arg]), TypeId::NONE, *at)
            }
            ir::Expr::Subscript { arg, indices, at } => {
                let mut args = vec![self.expr(arg)];
                args.extend(self.exprs(indices));
                self.made(ExprNode::Other(args), TypeId::NONE, *at)
            }
            ir::Expr::Default(at) => self.made(ExprNode::Default, TypeId::UNKNOWN, *at),
            ir::Expr::Unsupported(at) => self.made(ExprNode::Refused, TypeId::NONE, *at),
        }
    }

    pub(super) fn exprs(&mut self, exprs: &[ir::Expr]) -> Vec<Expr<'c>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    pub(super) fn maybe(&mut self, expr: Option<&ir::Expr>) -> Option<Expr<'c>> {
        expr.map(|expr| self.expr(expr))
    }

    pub(super) fn made(&self, node: ExprNode<'c>, ty: TypeId, at: At) -> Expr<'c> {
        Expr { node, ty, at: self.at(at) }
    }

    fn refused(&self, at: At) -> Expr<'c> {
        self.made(ExprNode::Refused, TypeId::NONE, at)
    }

    fn constant(&self, constant: &ir::Const) -> Expr<'c> {
        let ty = match &constant.value {
            ConstValue::Null | ConstValue::String(_) => TypeId::UNKNOWN,
            ConstValue::Bool(_) => TypeId::BOOL,
            ConstValue::Integer(_) => TypeId::INT4,
            ConstValue::Number(_) => TypeId::NONE,
            ConstValue::Bits(_) => TypeId::BIT,
        };
        self.made(ExprNode::Const(constant.clone()), ty, constant.at)
    }

    fn param(&mut self, number: u32, at: At, cast: Option<TypeId>) -> Expr<'c> {
        if !self.declared.allowed {
            let place = self.at(at);
            self.deny(
                Denial::new(
                    Rule::Columns,
                    Code::ParameterUnbound,
                    place,
                    format!("there is no parameter ${number}"),
                )
                .sqlstate(SqlState::UNDEFINED_PARAMETER),
            );
        }
        let place = self.at(at);
        self.uses.params.push(ParamUse { number, at: place, cast });
        let ty = self.declared.get(number).unwrap_or(TypeId::UNKNOWN);
        self.made(ExprNode::Param(number), ty, at)
    }

    fn cast(&mut self, arg: &ir::Expr, ty: &ir::TypeRef, at: At) -> Expr<'c> {
        if let ir::Expr::Param { number, at: param_at } = arg {
            let target = self.type_named(ty, Some(ArgValue::Param));
            let direct = (!ty.typmods && target != TypeId::NONE).then_some(target);
            let arg = Box::new(self.param(*number, *param_at, direct));
            return self.made(ExprNode::Cast { arg, typmods: ty.typmods }, target, at);
        }
        let arg = Box::new(self.expr(arg));
        let value = self.arg_value(&arg);
        let target = self.type_named(ty, Some(value));
        self.made(ExprNode::Cast { arg, typmods: ty.typmods }, target, at)
    }

    fn collate(&mut self, arg: &ir::Expr, collation: &ir::Path, at: At) -> Expr<'c> {
        let arg = Box::new(self.expr(arg));
        let builtin = match self.qualified(collation) {
            Qualified::Bare(name) => Some(name),
            Qualified::In { schema, name } if schema == PG_CATALOG => Some(name),
            Qualified::In { .. } | Qualified::Elsewhere => None,
        };
        let collation = match builtin {
            Some("C" | "POSIX" | "default") => Collation::Bytewise,
            Some(_) | None => Collation::Other,
        };
        let ty = arg.ty;
        self.made(ExprNode::Collate { arg, collation }, ty, at)
    }

    /// The fields of a row: `t.*` among them stands for the columns.
    fn row(&mut self, args: &[ir::Expr]) -> Vec<Expr<'c>> {
        let mut fields = Vec::with_capacity(args.len());
        for arg in args {
            if let ir::Expr::Column(column) = arg
                && column.star
            {
                fields.extend(self.star(column).into_iter().map(|(_, expr)| expr));
            } else {
                fields.push(self.expr(arg));
            }
        }
        fields
    }

    fn op(&mut self, op: &ir::Op) -> Expr<'c> {
        let left = op.left.as_ref().map(|left| self.expr(left));
        let right = match &op.right {
            OpRight::One(right) => Operand::One(self.expr(right)),
            OpRight::List(list) => Operand::List(self.exprs(list)),
        };
        let candidates = self.operators_named(&op.name, left.is_none());
        let operands = match &right {
            Operand::One(right) => vec![self.operand_type(right, op.form)],
            Operand::List(list) => {
                vec![one_known(list.iter().map(|expr| self.operand_type(expr, op.form)))]
            }
        };
        let builtin = match op.form {
            // The grammar writes the operators of BETWEEN itself; they are looked up all the same.
            OpForm::Between | OpForm::NotBetween | OpForm::BetweenSymmetric | OpForm::NotBetweenSymmetric => {
                self.between(left.as_ref(), &operands, op)
            }
            OpForm::Plain
            | OpForm::Any
            | OpForm::All
            | OpForm::Distinct
            | OpForm::NotDistinct
            | OpForm::NullIf
            | OpForm::In
            | OpForm::Like
            | OpForm::ILike
            | OpForm::Similar => {
                let left_ty = left.as_ref().map(|left| left.ty);
                self.operator_use(&op.name, &candidates, left_ty, operands.first().copied(), op.at)
            }
        };
        let ty = match op.form {
            OpForm::Plain => one_type(candidates.iter().map(|candidate| candidate.result)),
            OpForm::NullIf => left.as_ref().map_or(TypeId::NONE, |left| left.ty),
            OpForm::Any
            | OpForm::All
            | OpForm::Distinct
            | OpForm::NotDistinct
            | OpForm::In
            | OpForm::Like
            | OpForm::ILike
            | OpForm::Similar
            | OpForm::Between
            | OpForm::NotBetween
            | OpForm::BetweenSymmetric
            | OpForm::NotBetweenSymmetric => TypeId::BOOL,
        };
        let name = op.name.parts.last().cloned().unwrap_or_default();
        let operation = Operation { form: op.form, name, builtin, left, right };
        self.made(ExprNode::Op(Box::new(operation)), ty, op.at)
    }

    /// The type with which an operand meets the operator: of rows that is not one type, of an
    /// array after ANY it is the element's.
    fn operand_type(&self, expr: &Expr<'c>, form: OpForm) -> TypeId {
        match (&expr.node, form) {
            (ExprNode::Row(_) | ExprNode::WholeRow { .. }, _) => TypeId::NONE,
            (ExprNode::Array(items), OpForm::Any | OpForm::All) => {
                one_known(items.iter().map(|item| item.ty))
            }
            (_, OpForm::Any | OpForm::All) => match self.world.catalog.type_of(expr.ty).map(|ty| &ty.kind) {
                Some(TypeKind::Array { element }) => *element,
                _ if expr.ty == TypeId::UNKNOWN => TypeId::UNKNOWN,
                _ => TypeId::NONE,
            },
            (_, _) => expr.ty,
        }
    }

    /// The comparisons that BETWEEN stands for.
    fn between(&mut self, left: Option<&Expr<'c>>, operands: &[TypeId], op: &ir::Op) -> bool {
        let mut builtin = true;
        for name in [">=", "<=", "<", ">"] {
            let path = ir::Path { parts: vec![name.into()], at: op.at };
            let candidates = self.operators_named(&path, false);
            let left = left.map(|left| left.ty);
            builtin &= self.operator_use(&path, &candidates, left, operands.first().copied(), op.at);
        }
        builtin
    }

    /// Enters an operator into the uses; whether it can only be pg_catalog's own.
    fn operator_use(
        &mut self,
        path: &ir::Path,
        candidates: &[&'c crate::catalog::Operator],
        left: Option<TypeId>,
        right: Option<TypeId>,
        at: At,
    ) -> bool {
        let at = self.at(at);
        let right = right.unwrap_or(TypeId::NONE);
        // A user's candidate counts where the operands could reach it (policy 4.6).
        let foreign = candidates.iter().any(|candidate| {
            candidate.listing == Listing::User && operator_counts(self.world.catalog, candidate, left, right)
        });
        let own = !foreign && candidates.iter().any(|c| c.listing != Listing::User);
        self.uses.operators.push(OperatorUse {
            path: path.clone(),
            candidates: candidates.to_vec(),
            left,
            right,
            at,
        });
        own
    }

    /// An `=` or another comparison that the grammar implies.
    pub(super) fn implied_operator(&mut self, name: &str, left: TypeId, right: TypeId, at: At) -> bool {
        let path = ir::Path { parts: vec![name.into()], at };
        let candidates = self.operators_named(&path, false);
        self.operator_use(&path, &candidates, Some(left), Some(right), at)
    }

    fn case_equality(&mut self, args: &[Expr<'c>], at: At) {
        let left = args.first().map_or(TypeId::NONE, |arg| arg.ty);
        self.implied_operator("=", left, TypeId::NONE, at);
    }

    fn special(&mut self, form: ir::SpecialForm, args: &[ir::Expr], at: At) -> Expr<'c> {
        use ir::SpecialForm as Form;
        let args = self.exprs(args);
        let ty = match form {
            Form::Coalesce | Form::Greatest | Form::Least => one_type(args.iter().map(|arg| arg.ty)),
            Form::IsJson | Form::Normalized => TypeId::BOOL,
            Form::User | Form::Database | Form::Schema => TypeId::NAME,
            Form::Grouping => TypeId::INT4,
            Form::Clock | Form::JsonConstructor(_) | Form::JsonQuery(_) | Form::Xml(_) => TypeId::NONE,
            Form::MergeAction => TypeId::TEXT,
        };
        if matches!(form, Form::Greatest | Form::Least) {
            // They compare by the type's own btree operator class, not by a name.
        }
        // On an older server some of these are calls of a user's function (policy 4.6).
        let newer = match form {
            Form::MergeAction => Some("merge_action"),
            Form::JsonConstructor(name) | Form::JsonQuery(name) | Form::Xml(name) => Some(name),
            Form::IsJson => Some("is json"),
            Form::Coalesce
            | Form::Greatest
            | Form::Least
            | Form::Grouping
            | Form::Clock
            | Form::User
            | Form::Database
            | Form::Schema
            | Form::Normalized => None,
        };
        if let Some(name) = newer {
            self.special_call(&name.to_lowercase(), form, &args, at);
        }
        self.made(ExprNode::Other(args), ty, at)
    }

    /// A form of a newer grammar: judged as a call of that name, too.
    fn special_call(&mut self, name: &str, form: ir::SpecialForm, args: &[Expr<'c>], at: At) {
        let path = ir::Path { parts: vec![name.into()], at: self.at(at) };
        let candidates = self.functions_named(&path, false);
        let known = match form {
            ir::SpecialForm::JsonConstructor(_)
            | ir::SpecialForm::JsonQuery(_)
            | ir::SpecialForm::MergeAction
            | ir::SpecialForm::IsJson => self.world.catalog.server_version_num() >= 170_000,
            ir::SpecialForm::Xml(_)
            | ir::SpecialForm::Coalesce
            | ir::SpecialForm::Greatest
            | ir::SpecialForm::Least
            | ir::SpecialForm::Grouping
            | ir::SpecialForm::Clock
            | ir::SpecialForm::User
            | ir::SpecialForm::Database
            | ir::SpecialForm::Schema
            | ir::SpecialForm::Normalized => false,
        };
        if candidates.is_empty() && !known {
            let place = self.at(at);
            self.deny(Denial::new(
                Rule::Functions,
                Code::FunctionNotAllowed,
                place,
                format!("function {name} is not allowed"),
            ));
            return;
        }
        if !candidates.is_empty() {
            let args = self.args(args);
            let in_view = self.in_view();
            let place = self.place;
            self.uses.functions.push(FunctionUse { path, candidates, args, place, in_view, field: false });
        }
    }

    fn sublink(&mut self, sublink: &ir::Sublink) -> Expr<'c> {
        let test = sublink.test.as_ref().map(|test| self.expr(test));
        let query = self.query(&sublink.query);
        let output = query.outputs.first().map_or(TypeId::NONE, |column| column.ty.ty);
        let comparing = test.is_some();
        let equality = comparing && {
            let left = test.as_ref().map_or(TypeId::NONE, |test| test.ty);
            match &sublink.op {
                None => self.implied_operator("=", left, output, sublink.at),
                Some(path) => {
                    let candidates = self.operators_named(path, false);
                    let own = self.operator_use(path, &candidates, Some(left), Some(output), sublink.at);
                    own && path.parts.last().is_some_and(|name| **name == *"=")
                }
            }
        };
        let ty = match sublink.kind {
            ir::SublinkKind::Exists | ir::SublinkKind::Any | ir::SublinkKind::All => TypeId::BOOL,
            ir::SublinkKind::Scalar => output,
            ir::SublinkKind::Row => TypeId::RECORD,
            ir::SublinkKind::Array => TypeId::NONE,
        };
        let bound = Sublink { kind: sublink.kind, test, equality, query };
        self.made(ExprNode::Sublink(Box::new(bound)), ty, sublink.at)
    }

    // ---- names ----

    fn column(&mut self, column: &ir::ColumnRef) -> Expr<'c> {
        if column.star {
            // `t.*` outside a list of outputs is the whole row; a bare `*` there is an error.
            return match column.parts.is_empty() {
                true => {
                    self.unsupported(column.at, "* here");
                    self.refused(column.at)
                }
                false => match self.item_of(&column.parts, column.at) {
                    Some((depth, item)) => self.whole_row(depth, &item, column.at),
                    None => self.refused(column.at),
                },
            };
        }
        match column.parts.as_slice() {
            [] => self.refused(column.at),
            [name] => self.bare(name, column.at),
            [qualifier @ .., name] => match self.item_of(qualifier, column.at) {
                Some((depth, item)) => self.member(depth, &item, name, column.at),
                None => self.refused(column.at),
            },
        }
    }

    /// `name`: a column, then a whole row.
    fn bare(&mut self, name: &str, at: At) -> Expr<'c> {
        for depth in (0..self.scopes.len()).rev() {
            let Some(scope) = self.scopes.get(depth) else { continue };
            match scope.column(name) {
                Found::Nothing => {}
                Found::One(target) => return self.target(depth, &target, at),
                Found::Several => {
                    return self.ambiguous(at, format!("column reference \"{name}\" is ambiguous"));
                }
                Found::Forbidden => return self.forbidden(at, name),
            }
        }
        for depth in (0..self.scopes.len()).rev() {
            let Some(scope) = self.scopes.get(depth) else { continue };
            match scope.item(None, name) {
                Found::Nothing => {}
                Found::One(item) => {
                    let item = item.clone();
                    return self.whole_row(depth, &item, at);
                }
                Found::Several => {
                    return self.ambiguous(at, format!("table reference \"{name}\" is ambiguous"));
                }
                Found::Forbidden => return self.forbidden(at, name),
            }
        }
        self.unknown_column(at, format!("column \"{name}\" does not exist"))
    }

    /// The item that a qualifier names, with the depth of its scope.
    fn item_of(&mut self, qualifier: &[ir::Name], at: At) -> Option<(usize, Item<'c>)> {
        let (schema, name) = match qualifier {
            [name] => (None, name),
            [schema, name] => (Some(&**schema), name),
            [database, schema, name] if **database == *self.world.catalog.database() => {
                (Some(&**schema), name)
            }
            _ => {
                self.unsupported(at, "a name in another database");
                return None;
            }
        };
        for depth in (0..self.scopes.len()).rev() {
            let Some(scope) = self.scopes.get(depth) else { continue };
            match scope.item(schema, name) {
                Found::Nothing => {}
                Found::One(item) => return Some((depth, item.clone())),
                Found::Several => {
                    self.ambiguous(at, format!("table reference \"{name}\" is ambiguous"));
                    return None;
                }
                Found::Forbidden => {
                    self.forbidden(at, name);
                    return None;
                }
            }
        }
        let place = self.at(at);
        self.deny(
            Denial::new(
                Rule::Relations,
                Code::RelationUnknown,
                place,
                format!("missing FROM-clause entry for table \"{name}\""),
            )
            .sqlstate(SqlState::UNDEFINED_TABLE),
        );
        None
    }

    /// `item.name`: a column, else the function of that name over the whole row.
    fn member(&mut self, depth: usize, item: &Item<'c>, name: &str, at: At) -> Expr<'c> {
        let found = match self.scopes.get(depth) {
            Some(scope) => scope.columns_named(item, name),
            None => Vec::new(),
        };
        match found.as_slice() {
            [target] => self.target(depth, target, at),
            [] => {
                let row = self.whole_row(depth, item, at);
                let title = item.name.clone().unwrap_or_default();
                self.field_call(row, name, at, &format!("column {title}.{name} does not exist"))
            }
            _ => self.ambiguous(at, format!("column reference \"{name}\" is ambiguous")),
        }
    }

    /// The expression that a name's meaning stands for; enters the column into the uses.
    pub(super) fn target(&mut self, depth: usize, target: &Target, at: At) -> Expr<'c> {
        match target {
            Target::Missing => self.refused(at),
            Target::Column(col) => {
                let place = self.at(at);
                let source = self.scopes.get(depth).and_then(|scope| scope.source(col.rel));
                let ty = source.and_then(|source| source.column(col.column));
                let relation = source.and_then(rows_of);
                if let Some(relation) = source.and_then(Source::relation) {
                    self.rows.insert((col.level, col.rel), relation);
                }
                if let Some(relation) = relation {
                    let column = UsedColumn::At(col.column);
                    self.uses.columns.push(ColumnUse { relation, column, at: place });
                }
                if !ty.is_some_and(|ty| ty.deterministic) {
                    self.nondeterministic.insert(*col);
                }
                let ty = ty.map_or(TypeId::NONE, |ty| ty.ty);
                self.made(ExprNode::Column(*col), ty, at)
            }
            Target::System(rel, name) => {
                let place = self.at(at);
                let scope = self.scopes.get(depth);
                let relation = scope.and_then(|scope| scope.source(*rel)).and_then(rows_of);
                let Some(scope) = scope else { return self.refused(at) };
                let node = ExprNode::System { level: scope.level, rel: *rel, name };
                if let Some(relation) = relation {
                    let column = UsedColumn::System(name);
                    self.uses.columns.push(ColumnUse { relation, column, at: place });
                }
                self.made(node, TypeId::NONE, at)
            }
            Target::Merged(targets) => {
                let parts: Vec<Expr<'c>> =
                    targets.iter().map(|target| self.target(depth, target, at)).collect();
                let ty = one_type(parts.iter().map(|part| part.ty));
                self.made(ExprNode::Merged(parts), ty, at)
            }
        }
    }

    fn whole_row(&mut self, depth: usize, item: &Item<'c>, at: At) -> Expr<'c> {
        match &item.what {
            What::Unknown => self.refused(at),
            What::Source(rel) => {
                let place = self.at(at);
                let Some(scope) = self.scopes.get(depth) else { return self.refused(at) };
                let source = scope.source(*rel);
                if source.is_some_and(|source| matches!(source.kind, SourceKind::Missing)) {
                    return self.refused(at);
                }
                let level = scope.level;
                let relation = source.and_then(rows_of);
                if let Some(relation) = relation {
                    let column = UsedColumn::WholeRow;
                    self.uses.columns.push(ColumnUse { relation, column, at: place });
                }
                self.made(ExprNode::WholeRow { level, rel: *rel }, TypeId::RECORD, at)
            }
            What::Join(columns) => {
                let targets: Vec<Target> = columns.iter().map(|(_, target)| target.clone()).collect();
                let parts = targets.iter().map(|target| self.target(depth, target, at)).collect();
                self.made(ExprNode::Other(parts), TypeId::RECORD, at)
            }
        }
    }

    /// The columns that `*` or `t.*` stands for, with their names.
    pub(super) fn star(&mut self, column: &ir::ColumnRef) -> Vec<(ir::Name, Expr<'c>)> {
        let (depth, items) = if column.parts.is_empty() {
            let Some(depth) = self.scopes.len().checked_sub(1) else { return Vec::new() };
            let items = self
                .scopes
                .get(depth)
                .map(|scope| scope.items.iter().filter(|item| item.by_column).cloned().collect::<Vec<_>>());
            (depth, items.unwrap_or_default())
        } else {
            match self.item_of(&column.parts, column.at) {
                Some((depth, item)) => (depth, vec![item]),
                None => return vec![("?column?".into(), self.refused(column.at))],
            }
        };
        if items.is_empty() {
            self.unsupported(column.at, "SELECT * with no tables specified");
        }
        let mut outputs = Vec::new();
        for item in &items {
            let columns = self.scopes.get(depth).and_then(|scope| scope.all_columns(item));
            match columns {
                Some(columns) => {
                    for (name, target) in columns {
                        let expr = self.target(depth, &target, column.at);
                        outputs.push((name, expr));
                    }
                }
                None => outputs.push(("?column?".into(), self.refused(column.at))),
            }
        }
        outputs
    }

    /// `(x).field`.
    fn field(&mut self, arg: &ir::Expr, field: &str, at: At) -> Expr<'c> {
        // `(t).c` of a source is its column.
        if let ir::Expr::Column(column) = arg
            && let Some((depth, item)) = self.row_item(column)
        {
            return self.member(depth, &item, field, at);
        }
        let arg = self.expr(arg);
        let message = format!("column \"{field}\" not found in data type");
        self.field_call(arg, field, at, &message)
    }

    /// The item whose whole row a name is, where it is one.
    fn row_item(&self, column: &ir::ColumnRef) -> Option<(usize, Item<'c>)> {
        let [name] = column.parts.as_slice() else { return None };
        for depth in (0..self.scopes.len()).rev() {
            let scope = self.scopes.get(depth)?;
            if !column.star && !matches!(scope.column(name), Found::Nothing) {
                return None;
            }
        }
        for depth in (0..self.scopes.len()).rev() {
            match self.scopes.get(depth)?.item(None, name) {
                Found::Nothing => {}
                Found::One(item) => return Some((depth, item.clone())),
                Found::Several | Found::Forbidden => return None,
            }
        }
        None
    }

    /// A field that is not known: PostgreSQL may call the function of that name (policy 4.5).
    fn field_call(&mut self, row: Expr<'c>, name: &str, at: At, message: &str) -> Expr<'c> {
        if matches!(row.node, ExprNode::Refused) {
            return row;
        }
        let path = ir::Path { parts: vec![name.into()], at: self.at(at) };
        let candidates: Vec<_> =
            self.functions_named(&path, false).into_iter().filter(|function| function.takes(1)).collect();
        let known_row = matches!(row.node, ExprNode::WholeRow { .. });
        if candidates.is_empty() {
            if known_row {
                return self.unknown_column(at, message.to_owned());
            }
            return self.made(ExprNode::Other(vec![row]), TypeId::NONE, at);
        }
        self.note_nature(&candidates, false, &[&row]);
        let args = self.args(std::slice::from_ref(&row));
        let in_view = self.in_view();
        let place = self.place;
        self.uses.functions.push(FunctionUse { path, candidates, args, place, in_view, field: true });
        self.made(ExprNode::Other(vec![row]), TypeId::NONE, at)
    }

    // ---- calls ----

    fn call(&mut self, call: &ir::Call) -> Expr<'c> {
        let whole = std::mem::replace(&mut self.place.whole, false);
        let mut place = self.place;
        place.whole = whole;
        let args: Vec<Expr<'c>> = call.args.iter().map(|(_, arg)| self.expr(arg)).collect();
        let mut rest: Vec<Expr<'c>> = Vec::new();
        for key in &call.order_by {
            rest.push(self.expr(&key.expr));
            self.sort_operator(key, call.at);
        }
        rest.extend(call.filter.as_ref().map(|filter| self.expr(filter)));
        if let Some(over) = &call.over {
            let window = self.window(over);
            if let Some(scope) = self.scopes.last_mut() {
                scope.windows.push(window);
            }
        }
        let arity = args.len() + if call.within_group { call.order_by.len() } else { 0 };
        let named = self.functions_named(&call.name, call.sql_syntax);
        let fits: Vec<_> =
            named.iter().copied().filter(|function| function.takes(arity) || call.variadic).collect();
        let candidates = if fits.is_empty() { named } else { fits };
        let all: Vec<&Expr<'c>> = args.iter().chain(&rest).collect();
        self.note_nature(&candidates, call.over.is_some(), &all);
        let row_argument = match args.as_slice() {
            [arg] => matches!(arg.node, ExprNode::WholeRow { .. }),
            _ => false,
        };
        let mut path = call.name.clone();
        path.at = self.at(call.at.or(path.at));
        let builtin = !candidates.is_empty()
            && candidates
                .iter()
                .all(|function| &*function.name.schema == PG_CATALOG && function.listing != Listing::User);
        let ty =
            one_type(candidates.iter().map(|function| {
                if function.returns.is_polymorphic() { TypeId::NONE } else { function.returns }
            }));
        let infos = self.args(&args);
        let in_view = self.in_view();
        let is_cast = self.call_as_cast(call, &args);
        if is_cast && candidates.is_empty() {
            let bound = Call { name: "cast".into(), builtin: false, args, rest };
            return self.made(ExprNode::Call(Box::new(bound)), TypeId::NONE, call.at);
        }
        let field = row_argument && path.parts.len() == 1;
        self.uses.functions.push(FunctionUse { path, candidates, args: infos, place, in_view, field });
        let name = call.name.parts.last().cloned().unwrap_or_default();
        let bound = Call { name, builtin, args, rest };
        self.made(ExprNode::Call(Box::new(bound)), ty, call.at)
    }

    /// `regclass('x')`: a call of a type's name with one argument is a cast, where no function
    /// matches exactly. Whether it is one.
    fn call_as_cast(&mut self, call: &ir::Call, args: &[Expr<'c>]) -> bool {
        let [arg] = args else { return false };
        if call.sql_syntax || call.over.is_some() || call.star {
            return false;
        }
        let catalog = self.world.catalog;
        let exists = match self.qualified(&call.name) {
            Qualified::Bare(name) => {
                self.search_path().iter().any(|schema| catalog.type_named(schema, name).is_some())
            }
            Qualified::In { schema, name } => catalog.type_named(schema, name).is_some(),
            Qualified::Elsewhere => false,
        };
        if exists {
            let value = self.arg_value(arg);
            let ty = ir::TypeRef {
                path: call.name.clone(),
                typmods: false,
                array: false,
                setof: false,
                pct_type: false,
            };
            self.type_named(&ty, Some(value));
        }
        exists
    }

    pub(super) fn sort_operator(&mut self, key: &ir::SortKey, at: At) {
        if let Some(path) = &key.using {
            let candidates = self.operators_named(path, false);
            self.operator_use(path, &candidates, Some(TypeId::NONE), None, at);
        }
    }

    pub(super) fn window(&mut self, window: &ir::WindowDef) -> Window<'c> {
        let partition_by = self.exprs(&window.partition_by);
        let mut rest: Vec<Expr<'c>> = Vec::new();
        for key in &window.order_by {
            rest.push(self.expr(&key.expr));
            self.sort_operator(key, window.at);
        }
        rest.extend(self.exprs(&window.offsets));
        Window { name: window.name.clone(), base: window.base.clone(), partition_by, rest }
    }

    /// Marks what a call makes of its level: of the current one, and of every outer one whose
    /// columns it reads (an aggregate over an outer level's columns is that level's own).
    fn note_nature(&mut self, candidates: &[&'c crate::catalog::Function], over: bool, args: &[&Expr<'c>]) {
        let aggregate = candidates.iter().any(|f| f.kind == FunctionKind::Aggregate);
        let window = candidates.iter().any(|f| f.kind == FunctionKind::Window);
        let nature = Nature {
            aggregates: aggregate && !over,
            windows: over || window,
            set_returning: candidates.iter().any(|f| f.returns_set),
            volatile: candidates.iter().any(|f| f.volatility == Volatility::Volatile),
        };
        if nature == Nature::default() {
            return;
        }
        let mut levels = Vec::new();
        for arg in args {
            walk::columns(arg, &mut |col| levels.push(col.level));
        }
        let depth = self.scopes.len();
        for (at, scope) in self.scopes.iter_mut().enumerate() {
            if at + 1 == depth || levels.contains(&scope.level) {
                scope.nature.aggregates |= nature.aggregates;
                scope.nature.windows |= nature.windows;
                scope.nature.set_returning |= nature.set_returning;
                scope.nature.volatile |= nature.volatile;
            }
        }
    }

    fn args(&self, args: &[Expr<'c>]) -> Vec<Arg> {
        args.iter().map(|arg| Arg { ty: arg.ty, value: self.arg_value(arg) }).collect()
    }

    /// What an argument or a cast's operand is, as far as rules about calls look at it.
    pub(super) fn arg_value(&self, arg: &Expr<'c>) -> ArgValue {
        match &arg.node {
            ExprNode::Const(constant) => ArgValue::Const(constant.clone()),
            ExprNode::Cast { arg, .. } => self.arg_value(arg),
            ExprNode::Param(_) => ArgValue::Param,
            ExprNode::System { name: "tableoid", .. } => ArgValue::Tableoid,
            ExprNode::Column(col) => {
                let scope = self.scopes.iter().find(|scope| scope.level == col.level);
                let relation = scope.and_then(|scope| scope.source(col.rel)).and_then(Source::relation);
                match relation {
                    Some(relation) if crate::catalog::is_builtin_schema(&relation.name.schema) => {
                        ArgValue::CatalogColumn
                    }
                    Some(_) | None => ArgValue::Other,
                }
            }
            ExprNode::System { .. }
            | ExprNode::Merged(_)
            | ExprNode::WholeRow { .. }
            | ExprNode::Op(_)
            | ExprNode::Bool { .. }
            | ExprNode::Not(_)
            | ExprNode::Is { .. }
            | ExprNode::Collate { .. }
            | ExprNode::Sublink(_)
            | ExprNode::Row(_)
            | ExprNode::Array(_)
            | ExprNode::Call(_)
            | ExprNode::Default
            | ExprNode::Other(_)
            | ExprNode::Refused => ArgValue::Other,
        }
    }

    // ---- refusals ----

    pub(super) fn ambiguous(&mut self, at: At, message: String) -> Expr<'c> {
        let place = self.at(at);
        self.deny(Denial::new(Rule::Columns, Code::Ambiguous, place, message).sqlstate(SqlState("42702")));
        self.refused(at)
    }

    fn forbidden(&mut self, at: At, name: &str) -> Expr<'c> {
        let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
        let place = self.at(at);
        self.deny(
            Denial::new(Rule::Columns, Code::ColumnUnknown, place, message)
                .sqlstate(SqlState::UNDEFINED_TABLE),
        );
        self.refused(at)
    }

    pub(super) fn unknown_column(&mut self, at: At, message: String) -> Expr<'c> {
        let place = self.at(at);
        self.deny(
            Denial::new(Rule::Columns, Code::ColumnUnknown, place, message)
                .sqlstate(SqlState::UNDEFINED_COLUMN)
                .object(Object::default()),
        );
        self.refused(at)
    }
}

/// The relation whose rows, or whose shape of rows, a source has.
fn rows_of<'c>(source: &Source<'c>) -> Option<&'c Relation> {
    match &source.kind {
        SourceKind::Relation { relation, .. } | SourceKind::Excluded(relation) => Some(relation),
        SourceKind::View { .. }
        | SourceKind::Derived(_)
        | SourceKind::Cte(_)
        | SourceKind::Functions(_)
        | SourceKind::Missing => None,
    }
}

/// Whether an operator outside pg_catalog could be meant: always where its own types are all
/// pg_catalog's, else only where an operand has its type or one that is not known.
pub(crate) fn operator_counts(
    catalog: &Catalog,
    operator: &Operator,
    left: Option<TypeId>,
    right: TypeId,
) -> bool {
    let own = |ty: TypeId| match catalog.type_of(ty) {
        Some(ty) => !is_builtin_schema(&ty.name.schema),
        None => true,
    };
    let declared = [operator.left, Some(operator.right)];
    let foreign: Vec<TypeId> = declared.into_iter().flatten().filter(|ty| own(*ty)).collect();
    let operands = [left, Some(right)];
    foreign.is_empty()
        || operands
            .into_iter()
            .flatten()
            .any(|operand| operand == TypeId::NONE || foreign.contains(&operand) || own(operand))
}

/// The type on which all agree, untyped literals aside.
fn one_known(types: impl Iterator<Item = TypeId>) -> TypeId {
    let mut common = TypeId::UNKNOWN;
    for ty in types.filter(|ty| *ty != TypeId::UNKNOWN) {
        if common != TypeId::UNKNOWN && common != ty {
            return TypeId::NONE;
        }
        common = ty;
    }
    common
}

/// The type on which all agree.
pub(super) fn one_type(mut types: impl Iterator<Item = TypeId>) -> TypeId {
    let Some(first) = types.next() else { return TypeId::NONE };
    if types.all(|ty| ty == first) { first } else { TypeId::NONE }
}
