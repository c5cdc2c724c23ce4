//! Scalars and conditions over what is in scope; none of them can fail unless the statement's
//! stream allows it.

use super::Gen;
use super::query::Want;
use crate::schema::Ty;
use crate::tree::{Tree, condition, fill, scalar, text};

impl Gen {
    /// A column or a constant.
    pub(super) fn simple(&mut self, ty: Ty) -> Tree {
        if self.rng.chance(88)
            && let Some(place) = self.column(|column| column.ty == ty)
        {
            return self.refer(&place);
        }
        self.constant(ty)
    }

    pub(super) fn constant(&mut self, ty: Ty) -> Tree {
        let from: &[&'static str] = match ty {
            Ty::Text | Ty::Any => {
                &["'acme'", "'gift'", "''", "'Ann'", "'note 1'", "'label 2'", "NULL::text", "'globex'"]
            }
            Ty::Int => &["0", "1", "2", "3", "42", "11", "1", "2", "NULL::int"],
            Ty::Num => &["0.00", "10.50", "99.99", "42.00", "NULL::numeric"],
            Ty::Bool => &["TRUE", "FALSE", "NULL::boolean", "TRUE"],
            Ty::Time => &["timestamptz '2026-01-02 00:00+00'", "timestamptz '2026-01-01 07:00+00'"],
            Ty::Date => &["date '2026-01-02'", "date '2026-01-01'"],
            Ty::Uuid => &["'11111111-1111-1111-1111-111111111111'::uuid", "md5('inv1')::uuid"],
            Ty::Status => &["'new'::app.order_status", "'paid'::app.order_status"],
            Ty::Json => &["'{\"score\": 1}'::jsonb", "'{}'::jsonb", "'{\"n\": 2}'::jsonb"],
            Ty::Tags => &["'{all,t1}'::text[]", "ARRAY['t0']"],
            Ty::Fixed => &["'DE'::char(2)", "'acme'::char(10)"],
            Ty::Realm => &["'acme'::more.realm", "'ACME'::more.realm"],
        };
        scalar([text(*self.rng.pick(from))])
    }

    /// A scalar of a type.
    pub(super) fn value(&mut self, ty: Ty, depth: usize) -> Tree {
        if depth == 0 || ty == Ty::Any || self.rng.chance(45) {
            return self.simple(ty);
        }
        if self.fallible && self.rng.chance(25) {
            return scalar(self.fallible_value(ty, depth - 1));
        }
        let depth = depth - 1;
        match self.rng.weighted(&[50, 12, 8, 6, 12, 4]) {
            0 => scalar(self.operation(ty, depth)),
            1 => {
                let (p, a, b) = (self.predicate(depth), self.value(ty, depth), self.value(ty, depth));
                scalar(fill("CASE WHEN {} THEN {} ELSE {} END", [p, a, b]))
            }
            2 => {
                let (a, b) = (self.value(ty, depth), self.constant(ty));
                scalar(fill("COALESCE({}, {})", [a, b]))
            }
            3 => {
                let (a, b) = (self.value(ty, depth), self.constant(ty));
                scalar(fill("NULLIF({}, {})", [a, b]))
            }
            4 if self.may_nest(ty) => self.scalar_subselect(ty, depth),
            _ => self.simple(ty),
        }
    }

    /// Whether an aggregate can yield this type.
    fn may_nest(&self, ty: Ty) -> bool {
        self.budget > 0 && !matches!(ty, Ty::Uuid | Ty::Fixed | Ty::Any | Ty::Realm)
    }

    /// A sub-select of one row.
    pub(super) fn scalar_subselect(&mut self, ty: Ty, depth: usize) -> Tree {
        self.saw("scalar sub-select");
        let made = self.query(depth, Want { types: Some(vec![ty]), one_row: true, ..Want::default() });
        scalar(fill("({})", [made.tree]))
    }

    fn operation(&mut self, ty: Ty, depth: usize) -> Vec<Tree> {
        let form = self.rng.below(5);
        let mut v = |ty: Ty| self.value(ty, depth);
        match (ty, form) {
            (Ty::Text, 0) => fill("upper({})", [v(Ty::Text)]),
            (Ty::Text, 1) => fill("concat({}, '-', {})", [v(Ty::Text), v(Ty::Int)]),
            (Ty::Text, 2) => fill("{}::text", [v(Ty::Int)]),
            (Ty::Text, 3) => fill("({} ->> 'ref')", [v(Ty::Json)]),
            (Ty::Text, _) => fill("substr({}, 1, 3)", [v(Ty::Text)]),
            (Ty::Int, 0) => fill("({} + {})", [v(Ty::Int), v(Ty::Int)]),
            (Ty::Int, 1) => fill("length({})", [v(Ty::Text)]),
            (Ty::Int, 2) => fill("abs({} - {})", [v(Ty::Int), v(Ty::Int)]),
            (Ty::Int, 3) => fill("cardinality({})", [v(Ty::Tags)]),
            (Ty::Int, _) => fill("({} % 3)", [v(Ty::Int)]),
            (Ty::Num, 0) => fill("({} + {})", [v(Ty::Num), v(Ty::Num)]),
            (Ty::Num, 1) => fill("app.net_price({}, 0.10)", [v(Ty::Num)]),
            (Ty::Num, _) => fill("greatest({}, {})", [v(Ty::Num), v(Ty::Num)]),
            (Ty::Time, 0) => fill("date_trunc('day', {})", [v(Ty::Time)]),
            (Ty::Time, _) => fill("({} + interval '1 day')", [v(Ty::Time)]),
            (Ty::Date, 0) => fill("({} + 1)", [v(Ty::Date)]),
            (Ty::Date, _) => fill("{}::date", [v(Ty::Time)]),
            (Ty::Json, 0) => fill("jsonb_build_object('v', {})", [v(Ty::Text)]),
            (Ty::Json, 1) => fill("to_jsonb({})", [v(Ty::Int)]),
            (Ty::Json, _) => fill("({} - 'score')", [v(Ty::Json)]),
            (Ty::Tags, _) => fill("array_append({}, {})", [v(Ty::Tags), v(Ty::Text)]),
            (Ty::Bool, _) => vec![self.predicate(depth)],
            (Ty::Uuid | Ty::Status | Ty::Fixed | Ty::Realm | Ty::Any, _) => vec![self.simple(ty)],
        }
    }

    /// A condition that is no tenant equality.
    pub(super) fn predicate(&mut self, depth: usize) -> Tree {
        if depth > 0 && self.rng.chance(55) {
            let depth = depth - 1;
            let made = match self.rng.weighted(&[10, 10, 8, 6, 26, 26, 8, 6]) {
                0 => {
                    let (a, b) = (self.predicate(depth), self.predicate(depth));
                    fill("({} AND {})", [a, b])
                }
                1 => {
                    let (a, b) = (self.predicate(depth), self.predicate(depth));
                    fill("({} OR {})", [a, b])
                }
                2 => {
                    let a = self.predicate(depth);
                    fill("NOT ({})", [a])
                }
                3 => {
                    let test = text(*self.rng.pick(&["IS TRUE", "IS NOT FALSE", "IS NOT TRUE", "IS NULL"]));
                    let a = self.predicate(depth);
                    fill("({}) {}", [a, test])
                }
                4 if self.budget > 0 => self.exists(depth),
                5 if self.budget > 0 => self.in_subselect(depth),
                6 if self.budget > 0 => self.all_subselect(depth),
                _ => vec![self.comparison(depth)],
            };
            return condition(made);
        }
        self.comparison(depth)
    }

    fn comparison(&mut self, depth: usize) -> Tree {
        let (a, ty) = self.compared(depth);
        if self.fallible && self.rng.chance(8) {
            return condition(self.fallible_value(Ty::Bool, depth));
        }
        condition(match (ty, self.rng.weighted(&[34, 22, 8, 8, 4, 4])) {
            (Ty::Bool, _) => fill("{}", [a]),
            (Ty::Json, 0) => fill("{} @> '{\"score\": 1}'::jsonb", [a]),
            (_, 1) => fill("{} IS NOT NULL", [a]),
            (_, 2) => {
                let (b, c) = (self.constant(ty), self.constant(ty));
                fill("{} IN ({}, {})", [a, b, c])
            }
            (_, 3) => {
                let b = self.simple(ty);
                fill("{} IS NOT DISTINCT FROM {}", [a, b])
            }
            (Ty::Text, 4) => fill("{} LIKE 'a%'", [a]),
            (_, 5) => {
                let (b, c) = (self.constant(ty), self.simple(ty));
                fill("{} BETWEEN {} AND {}", [a, b, c])
            }
            _ => {
                let operator = text(*self.rng.pick(&["=", "<", ">=", ">=", "<>", "<>"]));
                let b = self.simple(ty);
                fill("{} {} {}", [a, operator, b])
            }
        })
    }

    /// What a comparison begins with: a column, where there is one.
    fn compared(&mut self, depth: usize) -> (Tree, Ty) {
        let fits = |ty: Ty| !matches!(ty, Ty::Any | Ty::Tags | Ty::Fixed | Ty::Uuid | Ty::Realm);
        if let Some(place) = self.column(|column| fits(column.ty) && column.class.is_none())
            && self.rng.chance(85)
        {
            return (self.refer(&place), place.column.ty);
        }
        let ty =
            *self.rng.pick(&[Ty::Int, Ty::Int, Ty::Text, Ty::Text, Ty::Num, Ty::Time, Ty::Status, Ty::Bool]);
        (self.value(ty, depth), ty)
    }

    fn exists(&mut self, depth: usize) -> Vec<Tree> {
        self.saw("EXISTS");
        let not = text(if self.rng.chance(35) { "NOT " } else { "" });
        let made = self.query(depth, Want::default());
        fill("{}EXISTS ({})", [not, made.tree])
    }

    /// `c IN (SELECT …)`; for a tenant column it may carry a restriction in or out.
    fn in_subselect(&mut self, depth: usize) -> Vec<Tree> {
        self.saw("IN sub-select");
        let operator = text(*self.rng.pick(&["IN", "IN", "IN", "NOT IN", "= ANY", "= SOME"]));
        if self.rng.chance(35)
            && let Some(place) = self.column(|column| column.class.is_some())
            && let Some(class) = place.column.class
        {
            self.saw("tenant column IN sub-select");
            let c = self.refer(&place);
            let want = Want { types: Some(vec![class.ty()]), class: Some(class), ..Want::default() };
            let made = self.query(depth, want);
            return fill("{} {} ({})", [c, operator, made.tree]);
        }
        if self.rng.chance(20)
            && let Some(place) = self.column(|column| column.class.is_some())
            && let Some(class) = place.column.class
        {
            self.saw("row IN sub-select");
            let (c, a) = (self.refer(&place), self.simple(Ty::Int));
            let want = Want { types: Some(vec![class.ty(), Ty::Int]), class: Some(class), ..Want::default() };
            let made = self.query(depth, want);
            return fill("({}, {}) {} ({})", [c, a, operator, made.tree]);
        }
        let ty = *self.rng.pick(&[Ty::Int, Ty::Int, Ty::Text]);
        let a = self.simple(ty);
        let made = self.query(depth, Want { types: Some(vec![ty]), ..Want::default() });
        fill("{} {} ({})", [a, operator, made.tree])
    }

    fn all_subselect(&mut self, depth: usize) -> Vec<Tree> {
        let operator = text(*self.rng.pick(&[">=", "<", "<>"]));
        let a = self.simple(Ty::Int);
        let made = self.query(depth, Want { types: Some(vec![Ty::Int]), ..Want::default() });
        fill("{} {} ALL ({})", [a, operator, made.tree])
    }
}
