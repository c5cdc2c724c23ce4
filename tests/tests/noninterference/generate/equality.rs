//! Tenant equalities: forms that prove, and forms that look alike.

use super::Gen;
use crate::schema::{Class, Ty};
use crate::tree::{Sort, Tree, fill, node, scalar, text};

impl Class {
    pub(crate) fn ty(self) -> Ty {
        match self {
            Self::Tenant => Ty::Text,
            Self::Account => Ty::Int,
            Self::Owner => Ty::Uuid,
            Self::Realm => Ty::Realm,
        }
    }

    /// T, as a value.
    pub(crate) fn own(self) -> &'static str {
        match self {
            Self::Tenant | Self::Realm => "acme",
            Self::Account => "42",
            Self::Owner => "11111111-1111-1111-1111-111111111111",
        }
    }

    /// Values that are not T and look like it.
    pub(crate) fn others(self) -> &'static [&'static str] {
        match self {
            Self::Tenant => &["globex", "acme ", "ACME", "acme2", "", "ac", "Acme", " acme", "acme%"],
            Self::Account => &["77", "4", "420", "0", "-42", "43"],
            Self::Owner => &["11111111-1111-1111-1111-111111111113", "11111111-1111-1111-1111-111111111112"],
            Self::Realm => &["globex", "ACME", "acme2"],
        }
    }

    /// Casts that keep what T is.
    fn casts(self) -> &'static [&'static str] {
        match self {
            Self::Tenant => &["text", "varchar", "character varying", "pg_catalog.text"],
            Self::Account => &["int", "bigint", "integer", "int8", "smallint"],
            Self::Owner => &["uuid", "pg_catalog.uuid"],
            Self::Realm => &["more.realm"],
        }
    }

    /// Casts that a column may wear in an equality.
    fn relabels(self) -> &'static [&'static str] {
        match self {
            Self::Tenant => &["text", "varchar"],
            Self::Account => &["bigint"],
            Self::Owner => &["uuid"],
            Self::Realm => &["more.realm"],
        }
    }

    /// Casts that change what is compared, and never fail.
    fn other_casts(self) -> &'static [&'static str] {
        match self {
            Self::Tenant => {
                &["char(4)", "varchar(4)", "char(10)", "name", "\"char\"", "bpchar", "varchar(2)"]
            }
            Self::Account => &["numeric", "real", "text", "float8", "numeric(12,0)"],
            Self::Owner => &["text", "varchar(36)", "varchar(35)"],
            Self::Realm => &["text", "varchar(4)", "name"],
        }
    }

    pub(crate) fn quoted(self, value: &str) -> String {
        match self {
            Self::Account if !value.starts_with('-') => value.to_owned(),
            Self::Account => format!("({value})"),
            Self::Tenant | Self::Owner | Self::Realm => format!("'{value}'"),
        }
    }
}

impl Gen {
    /// A condition on a tenant column: most often one that proves.
    pub(super) fn equality(&mut self, c: Tree, class: Class) -> Tree {
        if self.rng.chance(WEAK_PERCENT) {
            self.saw("weak equality");
            return node(Sort::Equality, self.weak(c, class));
        }
        let made = self.strong(c, class);
        node(Sort::Equality, made)
    }

    /// T as it may be written.
    pub(super) fn own(&mut self, class: Class) -> Tree {
        if self.bound && self.rng.chance(60) {
            self.saw("bound T");
            let value = if self.rng.chance(6) { *self.rng.pick(class.others()) } else { class.own() };
            let param = self.tenant_param(class, value);
            return match self.rng.below(3) {
                0 => {
                    let cast = *self.rng.pick(class.casts());
                    node(Sort::Own(class), fill("{}::{}", [param, text(cast)]))
                }
                _ => node(Sort::Own(class), [param]),
            };
        }
        let own = class.own();
        let cast = *self.rng.pick(class.casts());
        let plain = class.quoted(own);
        let written = match self.rng.weighted(&[60, 10, 5, 5, 3, 3, 3]) {
            1 => format!("{plain}::{cast}"),
            2 => format!("CAST({plain} AS {cast})"),
            3 => format!("'{own}'"),
            4 if class == Class::Tenant => "E'acm\\x65'".to_owned(),
            5 if class == Class::Tenant => "U&'\\0061cme'".to_owned(),
            6 if class != Class::Account => format!("$${own}$$"),
            _ => plain,
        };
        node(Sort::Own(class), [text(written)])
    }

    fn other(&mut self, class: Class) -> Tree {
        let value = *self.rng.pick(class.others());
        scalar([text(class.quoted(value))])
    }

    fn strong(&mut self, c: Tree, class: Class) -> Vec<Tree> {
        let own = self.own(class);
        match self.rng.weighted(&[40, 8, 6, 5, 3, 4, 5, 4, 3, 3, 3, 3, 3, 4, 4, 5, 3, 7, 3]) {
            0 => fill("{} = {}", [c, own]),
            1 => fill("{} = {}", [own, c]),
            2 => fill("{} IN ({})", [c, own]),
            3 if matches!(class, Class::Owner | Class::Realm) => {
                let cast = text(*self.rng.pick(class.relabels()));
                fill("{} = ANY (ARRAY[{}::{}])", [c, own, cast])
            }
            3 => fill("{} = ANY (ARRAY[{}])", [c, own]),
            4 if class != Class::Realm => {
                // Spaces that the array's reader skips.
                let form = *self.rng.pick(&["'{{}}'", "'{{}}'", "'{ {} }'", "' {\t{}} '", "'{\"{}\"}'"]);
                let list = text(form.replacen("{}", class.own(), 1));
                fill("{} = ANY ({})", [c, list])
            }
            5 => fill("{} IS NOT DISTINCT FROM {}", [c, own]),
            6 => {
                let row = self.simple(Ty::Int);
                let other = self.simple(Ty::Int);
                match self.rng.below(3) {
                    0 => fill("({}, {}) = ({}, {})", [c, row, own, other]),
                    1 => {
                        let (again, third) = (self.own(class), self.simple(Ty::Int));
                        fill("({}, {}) IN (({}, {}), ({}, {}))", [c, row, own, other, again, third])
                    }
                    _ => fill("({}, {}) IN (({}, {}))", [c, row, own, other]),
                }
            }
            7 => fill("NOT ({} <> {})", [c, own]),
            8 => fill("NOT ({} IS DISTINCT FROM {})", [c, own]),
            9 => fill("NOT ({} NOT IN ({}))", [c, own]),
            10 => fill("({} = {}) IS TRUE", [c, own]),
            11 => fill("({} = {}) = TRUE", [c, own]),
            12 => {
                let again = self.own(class);
                fill("{} IN ({}, {})", [c, own, again])
            }
            13 => {
                let (p, again) = (self.predicate(0), self.own(class));
                let q = self.predicate(0);
                fill("({} = {} AND {} OR {} = {} AND {})", [c.clone(), own, p, c, again, q])
            }
            14 => {
                let never = *self.rng.pick(&["FALSE", "1 = 0", "2 < 1", "'f'::boolean"]);
                fill("({} = {} OR {})", [c, own, text(never)])
            }
            15 => self.of_subselect(c, own, class),
            16 => {
                let cast = *self.rng.pick(class.relabels());
                fill("{}::{} = {}", [c, text(cast), own])
            }
            17 => self.chained(c, own, class),
            _ if class == Class::Tenant => fill("{} COLLATE \"C\" = {}", [c, own]),
            _ => fill("{} = {}", [c, own]),
        }
    }

    /// T from a sub-select whose output is T, or from a CTE of that kind.
    fn of_subselect(&mut self, c: Tree, own: Tree, class: Class) -> Vec<Tree> {
        self.saw("T from a sub-select");
        let cast = text(*self.rng.pick(class.relabels()));
        match self.rng.below(8) {
            6 => {
                let p = self.predicate(0);
                let operator = text(*self.rng.pick(&["=", "IS NOT DISTINCT FROM"]));
                fill("{} {} (SELECT {}::{} WHERE {})", [c, operator, own, cast, p])
            }
            0 => fill("{} = (SELECT {}::{})", [c, own, cast]),
            1 => fill("{} IN (SELECT {}::{})", [c, own, cast]),
            2 => fill("{} = ANY (SELECT v FROM (VALUES ({}::{})) AS v(v))", [c, own, cast]),
            3 => {
                let other = self.other(class);
                fill("{} IN (SELECT v FROM (VALUES ({}::{}), ({})) AS v(v))", [c, own, cast, other])
            }
            4 => fill("{} = (WITH me AS (SELECT {}::{} AS t) SELECT t FROM me)", [c, own, cast]),
            5 => fill("{} IN (SELECT {}::{} UNION ALL SELECT NULL)", [c, own, cast]),
            _ => {
                let row = self.rng.pick(&["IN", "= ANY", "= SOME"]);
                fill("{} {} (SELECT {}::{})", [c, text(*row), own, cast])
            }
        }
    }

    /// By another column, whose equality stands beside it.
    fn chained(&mut self, c: Tree, own: Tree, class: Class) -> Vec<Tree> {
        // varchar = char(n) is char(n)'s comparison: 'acme ' is 'acme' there.
        let fixed = class == Class::Tenant && self.rng.chance(40);
        let fits = |ty: Ty| if fixed { ty == Ty::Fixed } else { ty == class.ty() };
        match self.column(|column| fits(column.ty)) {
            Some(place) => {
                self.saw("chain through a column");
                let (x, y) = (self.refer(&place), self.refer(&place));
                fill("({} = {} AND {} = {})", [c, x, y, own])
            }
            None => fill("{} = {}", [c, own]),
        }
    }

    fn weak(&mut self, c: Tree, class: Class) -> Vec<Tree> {
        let own = self.own(class);
        let other = self.other(class);
        let cast = text(*self.rng.pick(class.other_casts()));
        match self.rng.below(34) {
            30 => fill("{} NOT IN ({})", [c, own]),
            31 => fill("{} IS DISTINCT FROM {}", [c, own]),
            32 => fill("{} <> ALL (ARRAY[{}])", [c, own]),
            33 => {
                let cast = text(*self.rng.pick(class.relabels()));
                let operator = text(*self.rng.pick(&["NOT IN", "<> ALL", ">= ALL", "<= ANY"]));
                fill("{} {} (SELECT {}::{})", [c, operator, own, cast])
            }
            0 => fill("{} <> {}", [c, own]),
            1 => fill("{} = {}", [c, other]),
            2 => fill("{} IN ({}, {})", [c, own, other]),
            3 => fill("{} = ANY (ARRAY[{}, {}])", [c, own, other]),
            4 => fill("{} <> ALL (ARRAY[{}])", [c, other]),
            5 => fill("{} NOT IN ({})", [c, other]),
            6 => fill("({} = {}) IS NOT FALSE", [c, own]),
            7 => fill("({} = {}) IS NOT NULL", [c, own]),
            8 | 9 => {
                let p = self.predicate(1);
                fill("({} = {} OR {})", [c, own, p])
            }
            10 => {
                let p = self.predicate(0);
                fill("CASE WHEN {} THEN {} = {} ELSE TRUE END", [p, c, own])
            }
            11 => fill("NOT ({} = {})", [c, own]),
            12 => fill("COALESCE({}, {}) = {}", [c, own.clone(), own]),
            13 => fill("NULLIF({}, {}) IS NULL", [c, own]),
            14 => fill("{} >= {}", [c, own]),
            15 => fill("{} IS DISTINCT FROM {}", [c, other]),
            16 | 17 => fill("{}::{} = {}", [c, cast, own]),
            18 => {
                let plain = class.quoted(class.own());
                fill("{} = {}::{}", [c, text(plain), cast])
            }
            19 => {
                let p = self.predicate(0);
                fill("({} = {}) = {}", [c, own, p])
            }
            20 => fill("{}::text LIKE {}::text || '%'", [c, own]),
            21 => fill("lower({}::text) = lower({}::text)", [c, own]),
            22 => fill("{} = {}", [c.clone(), c]),
            23 => fill("{} = {}", [own.clone(), own]),
            24 if class == Class::Tenant => fill("{} OPERATOR(app.=) {}", [c, own]),
            25 => {
                let p = self.predicate(0);
                fill("(({} = {}) IS TRUE) >= ({})", [c, own, p])
            }
            26 => fill("{} IN (SELECT {} UNION ALL SELECT {})", [c, own, other]),
            27 => {
                let p = self.predicate(0);
                fill("NOT ({} <> {} AND {})", [c, own, p])
            }
            28 => {
                let (x, y) = (self.simple(Ty::Int), self.simple(Ty::Int));
                fill("({}, {}) < ({}, {})", [c, x, own, y])
            }
            _ => {
                let own_again = own.clone();
                fill("{} BETWEEN {} AND {}", [c, own, own_again])
            }
        }
    }
}

const WEAK_PERCENT: usize = 9;
