//! The check of a bound value: is it the session's own T, or what its role may set?
//!
//! The value is decoded by its own format, text or binary, and compared in the tenant column's
//! family. NULL, a wrong length and everything that is not understood is not T.

use super::{OwnValue, Policy, array};
use crate::rules::settings;
use crate::{BindCheck, Code, Denial, Family, Must, Oid, Principal, Rule, TextArgument};

/// How a bound value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Format code 0.
    Text,
    /// Format code 1.
    Binary,
}

/// A value that Bind brings, none for NULL, and how it is written.
pub type BoundValue<'v> = (Option<&'v [u8]>, Format);

/// Why a bound value is refused. It never holds the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindDenial {
    /// `$n`.
    pub param: u32,
    /// The tenant column, or what may be set.
    subject: Box<str>,
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
    /// Not a value that the role may write into the setting.
    Setting,
}

impl BindCheck {
    /// Whether the value of the parameter is the principal's own T (of arrays: every element), or
    /// one that its role may write into the setting. `values` are all that Bind brings, in their order; one
    /// that is missing is NULL.
    ///
    /// # Errors
    /// What is wrong with the value.
    pub fn holds(
        &self,
        policy: &Policy,
        principal: &Principal,
        values: &[BoundValue<'_>],
    ) -> Result<(), BindDenial> {
        match &self.must {
            Must::Setting { name, value } => {
                let texts = (text_of(name, values), text_of(value, values));
                let good = match (policy.role(&principal.role), texts) {
                    (Some(role), (Some(name), Some(value))) => {
                        settings::may_write_text(policy, role, name, value, None).is_none()
                    }
                    (_, _) => false,
                };
                let reason = Reason::Setting;
                let refused = || BindDenial { param: self.param, subject: settable(name, value), reason };
                good.then_some(()).ok_or_else(refused)
            }
            Must::Own { class, ty, many } => {
                let refuse =
                    |reason| BindDenial { param: self.param, subject: (&*class.column).into(), reason };
                let own = principal.tenant.as_deref().and_then(|tenant| policy.own(tenant, class));
                let own = own.ok_or(refuse(Reason::NoOwn))?;
                let (value, format) = bound(self.param, values);
                let value = value.ok_or(refuse(Reason::Null))?;
                match many {
                    false if own.equals(value, format, *ty) => Ok(()),
                    false => Err(refuse(Reason::NotOwn)),
                    true => own.equals_elements(value, format, &class.family, *ty).map_err(refuse),
                }
            }
        }
    }
}

fn bound<'v>(param: u32, values: &[BoundValue<'v>]) -> BoundValue<'v> {
    let at = usize::try_from(param).ok().and_then(|number| number.checked_sub(1));
    at.and_then(|at| values.get(at)).copied().unwrap_or((None, Format::Text))
}

/// None for NULL, which would let a setting go: another effect. Text is the same in both formats.
fn text_of<'v>(argument: &'v TextArgument, values: &[BoundValue<'v>]) -> Option<&'v str> {
    match argument {
        TextArgument::Constant(text) => Some(text),
        TextArgument::Bound(param) => bound(*param, values).0.and_then(|value| str::from_utf8(value).ok()),
    }
}

/// What a parameter has to be, without what is bound.
fn settable(name: &TextArgument, value: &TextArgument) -> Box<str> {
    match (name, value) {
        (TextArgument::Constant(name), _) => format!("value that setting \"{name}\" may be set to"),
        (TextArgument::Bound(name), TextArgument::Bound(_)) => {
            format!("value that the setting in parameter ${name} may be set to")
        }
        (TextArgument::Bound(_), TextArgument::Constant(_)) => {
            "setting that may be set to this value".to_owned()
        }
    }
    .into()
}

impl OwnValue {
    fn equals(&self, value: &[u8], format: Format, ty: Option<Oid>) -> bool {
        match format {
            Format::Binary => ty.is_none_or(|ty| array::fits(ty, value.len())) && self.equals_binary(value),
            Format::Text => str::from_utf8(value).is_ok_and(|text| self.equals_text(text)),
        }
    }

    fn equals_elements(
        &self,
        value: &[u8],
        format: Format,
        family: &Family,
        ty: Option<Oid>,
    ) -> Result<(), Reason> {
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
                let elements = array::binary(value, family, ty).ok_or(Reason::NotAnArray)?;
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
        let BindDenial { param, subject, reason } = self;
        let what = match reason {
            Reason::NoOwn => {
                format!("parameter ${param}: the session's tenant has no value for column \"{subject}\"")
            }
            Reason::Null => format!("parameter ${param} for tenant column \"{subject}\" is null"),
            Reason::NullElement => {
                format!("parameter ${param} for tenant column \"{subject}\" has a null element")
            }
            Reason::NotOwn => {
                format!("parameter ${param} for tenant column \"{subject}\" is not the session's tenant")
            }
            Reason::NotOwnElement => {
                format!(
                    "parameter ${param} for tenant column \"{subject}\" has an element that is not the session's tenant"
                )
            }
            Reason::NotAnArray | Reason::Setting => {
                format!(
                    "parameter ${param} for tenant column \"{subject}\" is not a plain one-dimensional array"
                )
            }
        };
        if *reason == Reason::Setting {
            let what = format!("parameter ${param} is no {subject}");
            return Denial::new(Rule::Settings, Code::SettingNotAllowed, None, what);
        }
        let hint = format!("bind the session's own tenant to parameter ${param}");
        Denial::new(Rule::Tenancy, Code::TenantMismatch, None, what).hint(hint)
    }
}
