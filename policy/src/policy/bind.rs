//! The check of a bound value: is it the session's own T?
//!
//! The value is decoded by its own format, text or binary, and compared in the tenant column's
//! family. NULL, a wrong length and everything that is not understood is not T.

use super::{OwnValue, Policy, array};
use crate::{BindCheck, Code, Denial, Family, Principal, Rule};

/// How a bound value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Format code 0.
    Text,
    /// Format code 1.
    Binary,
}

/// Why a bound value is refused. It never holds the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindDenial {
    /// `$n`.
    pub param: u32,
    column: Box<str>,
    reason: Reason,
}

/// What is wrong with a bound value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// The principal has no T in that column.
    NoOwn,
    Null,
    NullElement,
    NotOwn,
    NotOwnElement,
    /// No array that is understood.
    NotAnArray,
}

impl BindCheck {
    /// Whether the value of the parameter is the principal's own T, or, for arrays, every element
    /// of it is.
    ///
    /// # Errors
    /// What is wrong with the value.
    pub fn holds(
        &self,
        policy: &Policy,
        principal: &Principal,
        value: Option<&[u8]>,
        format: Format,
    ) -> Result<(), BindDenial> {
        let refuse = |reason| BindDenial { param: self.param, column: (&*self.own.column).into(), reason };
        let own = principal.tenant.as_deref().and_then(|tenant| policy.own(tenant, &self.own));
        let own = own.ok_or(refuse(Reason::NoOwn))?;
        let value = value.ok_or(refuse(Reason::Null))?;
        if !self.many {
            return own.equals(value, format).then_some(()).ok_or(refuse(Reason::NotOwn));
        }
        own.equals_elements(value, format, &self.own.family).map_err(refuse)
    }
}

impl OwnValue {
    fn equals(&self, value: &[u8], format: Format) -> bool {
        match format {
            Format::Binary => self.equals_binary(value),
            Format::Text => str::from_utf8(value).is_ok_and(|text| self.equals_text(text)),
        }
    }

    fn equals_elements(&self, value: &[u8], format: Format, family: &Family) -> Result<(), Reason> {
        match format {
            Format::Text => {
                let text = str::from_utf8(value).map_err(|_| Reason::NotAnArray)?;
                let elements = array::text(text).ok_or(Reason::NotAnArray)?;
                elements.iter().try_for_each(|element| {
                    let element = element.as_deref().ok_or(Reason::NullElement)?;
                    self.equals_text(element).then_some(()).ok_or(Reason::NotOwnElement)
                })
            }
            Format::Binary => {
                let elements = array::binary(value, family).ok_or(Reason::NotAnArray)?;
                elements.iter().try_for_each(|element| {
                    let element = element.ok_or(Reason::NullElement)?;
                    self.equals_binary(element).then_some(()).ok_or(Reason::NotOwnElement)
                })
            }
        }
    }
}

impl BindDenial {
    /// The denial that the wire answers with; it has no position.
    pub fn denial(&self) -> Denial {
        let BindDenial { param, column, reason } = self;
        let what = match reason {
            Reason::NoOwn => {
                format!("parameter ${param}: the session's tenant has no value for column \"{column}\"")
            }
            Reason::Null => format!("parameter ${param} for tenant column \"{column}\" is null"),
            Reason::NullElement => {
                format!("parameter ${param} for tenant column \"{column}\" has a null element")
            }
            Reason::NotOwn => {
                format!("parameter ${param} for tenant column \"{column}\" is not the session's tenant")
            }
            Reason::NotOwnElement => {
                format!(
                    "parameter ${param} for tenant column \"{column}\" has an element that is not the session's tenant"
                )
            }
            Reason::NotAnArray => {
                format!(
                    "parameter ${param} for tenant column \"{column}\" is not a plain one-dimensional array"
                )
            }
        };
        let hint = format!("bind the session's own tenant to parameter ${param}");
        Denial::new(Rule::Tenancy, Code::TenantMismatch, None, what).hint(hint)
    }
}
