//! Parameters with declared types, right ones most often, and statements that are prepared.

use super::Gen;
use crate::bound::{Bound, Declared, INT2, INT4, INT8, TEXT, UUID, VARCHAR};
use crate::schema::Class;
use crate::tree::Tree;

impl Gen {
    /// A bound value.
    pub(super) fn param(&mut self, value: &str) -> Tree {
        self.params += 1;
        let value = Bound { text: Some(value.to_owned()), declared: None };
        Tree::Param { id: self.params, value }
    }

    /// A bound T, now and then with a type.
    pub(super) fn tenant_param(&mut self, class: Class, value: &str) -> Tree {
        self.params += 1;
        let declared = if self.rng.chance(40) { self.declared(class) } else { None };
        Tree::Param { id: self.params, value: Bound { text: Some(value.to_owned()), declared } }
    }

    fn declared(&mut self, class: Class) -> Option<Declared> {
        self.saw("declared type");
        let right: &[(&'static str, u32)] = match class {
            Class::Tenant => &[("text", TEXT), ("varchar", VARCHAR), ("text", TEXT)],
            Class::Account => &[("integer", INT4), ("bigint", INT8), ("smallint", INT2), ("int4", INT4)],
            Class::Owner => &[("uuid", UUID)],
            Class::Realm => &[("more.realm", 0)],
        };
        let wrong: &[(&'static str, u32)] = match class {
            Class::Tenant | Class::Realm => &[("\"char\"", 18), ("bpchar", 1042), ("name", 19)],
            Class::Account => &[("numeric", 1700), ("real", 700), ("float8", 701)],
            Class::Owner => &[("text", TEXT)],
        };
        if self.rng.chance(8) {
            self.saw("declared type of another family");
            let (name, oid) = *self.rng.pick(wrong);
            return Some(Declared { name, oid, binary: false });
        }
        let (name, oid) = *self.rng.pick(right);
        let binary = oid != 0 && self.rng.chance(60);
        if binary {
            self.saw("binary value");
        }
        Some(Declared { name, oid, binary })
    }

    /// PREPARE, EXECUTE, DEALLOCATE.
    pub(super) fn prepared(&mut self, query: Tree) -> Tree {
        self.saw("PREPARE and EXECUTE");
        let name = format!("p{:x}", self.rng.next());
        Tree::Prepared { name, query: Box::new(query) }
    }
}
