//! The objects that an error names in its fields, and messages that are built of nothing but those names.

use pgmoat_policy::catalog::Relation;
use pgmoat_upstream::frame::Fields;

use crate::session::sight::Sight;

/// The objects of an error that are in reach.
#[derive(Debug, Default)]
pub(super) struct Named<'a> {
    sight: Option<&'a Sight>,
    relation: Option<&'a Relation>,
    column: Option<&'a str>,
    ty: Option<&'a str>,
    constraint: Option<&'a str>,
}

impl<'a> Named<'a> {
    /// Looks up the names of `s t c d n`.
    pub(super) fn of(fields: &'a Fields, sight: Option<&'a Sight>) -> Named<'a> {
        let (Some(sight), Some(schema)) = (sight, fields.text(b's')) else { return Named::default() };
        let relation = fields.text(b't').and_then(|table| sight.relation(schema, table));
        let column = fields.text(b'c').filter(|column| relation.is_some_and(|of| sight.column(of, column)));
        let ty = fields.text(b'd').filter(|ty| fields.get(b't').is_none() && sight.ty(schema, ty));
        let constraint = fields.text(b'n').filter(|_| relation.is_some() || ty.is_some());
        Named { sight: Some(sight), relation, column, ty, constraint }
    }

    /// Whether a field may stay.
    pub(super) fn keeps(&self, code: u8) -> bool {
        match code {
            b's' => self.relation.is_some() || self.ty.is_some(),
            b't' => self.relation.is_some(),
            b'c' => self.column.is_some(),
            b'd' => self.ty.is_some(),
            b'n' => self.constraint.is_some(),
            _ => false,
        }
    }

    /// PostgreSQL's message with the names, where all that belong into it are in reach. Of the original only the
    /// beginning is looked at, to tell which of two it is.
    pub(super) fn message(&self, sqlstate: &str, original: &str) -> Option<String> {
        Some(match sqlstate {
            "23505" => format!("duplicate key value violates unique constraint \"{}\"", self.constraint?),
            "23P01" => {
                format!("conflicting key value violates exclusion constraint \"{}\"", self.constraint?)
            }
            "23503" => self.foreign_key(original)?,
            "23514" => match self.ty {
                Some(ty) => {
                    format!("value for domain {ty} violates check constraint \"{}\"", self.constraint?)
                }
                None => format!(
                    "new row for relation \"{}\" violates check constraint \"{}\"",
                    self.relation?.name.name, self.constraint?
                ),
            },
            "23502" => match self.ty {
                Some(ty) => format!("domain {ty} does not allow null values"),
                None => format!(
                    "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
                    self.column?, self.relation?.name.name
                ),
            },
            _ => return None,
        })
    }

    /// The fields name the referencing table; which of the two was changed, the message's beginning says.
    fn foreign_key(&self, original: &str) -> Option<String> {
        let (relation, name) = (self.relation?, self.constraint?);
        let table = &relation.name.name;
        if original.starts_with("insert or update on table ") {
            return Some(format!(
                "insert or update on table \"{table}\" violates foreign key constraint \"{name}\""
            ));
        }
        let key = relation.foreign_keys.iter().find(|key| *key.name == *name)?;
        let referenced = self.sight?.relation(&key.references.schema, &key.references.name)?;
        Some(format!(
            "update or delete on table \"{}\" violates foreign key constraint \"{name}\" on table \"{table}\"",
            referenced.name.name
        ))
    }
}
