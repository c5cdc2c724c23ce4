//! Bound values: text and binary, one and many; what is not understood is not T.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use pgmoat_policy::policy::Format::{self, Binary, Text};
use pgmoat_policy::{BindCheck, Code, Family, Must, Policy, Principal, Rule, TenantColumnClass};

const POLICY: &str = "
version: 1
roles: { app: { tenant: required } }
tenancy: { tables: [{ match: 'app.*', column: tenant_id }] }
tenants:
  acme: { account_no: 42, org: a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 }
  globex: { account_no: 77 }
";

struct Asked {
    policy: Policy,
    principal: Principal,
    check: BindCheck,
}

impl Asked {
    fn new(who: &str, column: &str, family: Family, many: bool) -> Asked {
        Asked {
            policy: Policy::load(POLICY, "policy.yaml").unwrap().policy,
            principal: Principal::parse(who).unwrap(),
            check: BindCheck {
                param: 2,
                must: Must::Own {
                    class: TenantColumnClass { column: column.into(), family },
                    ty: None,
                    many,
                },
            },
        }
    }

    /// The same for a parameter of a known type.
    fn of_type(mut self, oid: u32) -> Asked {
        if let Must::Own { ty, .. } = &mut self.check.must {
            *ty = Some(oid);
        }
        self
    }

    fn holds(&self, value: Option<&[u8]>, format: Format) -> bool {
        let values = [(None, Text), (value, format)];
        self.check.holds(&self.policy, &self.principal, &values).is_ok()
    }
}

fn status() -> Family {
    Family::Enum("app".into(), "tenant".into())
}

#[test]
fn one_value_is_compared_in_its_family() {
    let text = Asked::new("app:acme", "tenant_id", Family::Text, false);
    for format in [Text, Binary] {
        assert!(text.holds(Some(b"acme"), format));
        for other in [&b"globex"[..], b"acme ", b"ACME", b"", b"acme\0", b"\xff"] {
            assert!(!text.holds(Some(other), format), "{other:?}");
        }
        assert!(!text.holds(None, format));
    }
    let integer = Asked::new("app:acme", "account_no", Family::Integer, false);
    assert!(integer.holds(Some(b" 42 "), Text));
    assert!(integer.holds(Some(&[0, 0, 0, 42]), Binary));
    for (other, format) in
        [(&b"42"[..], Binary), (&[0, 0, 0, 42][..], Text), (b"77", Text), (b"0x2a", Text), (b"", Binary)]
    {
        assert!(!integer.holds(Some(other), format), "{other:?}");
    }
    let uuid = Asked::new("app:acme", "org", Family::Uuid, false);
    assert!(uuid.holds(Some(b"{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}"), Text));
    let bytes =
        [0xa0, 0xee, 0xbc, 0x99, 0x9c, 0x0b, 0x4e, 0xf8, 0xbb, 0x6d, 0x6b, 0xb9, 0xbd, 0x38, 0x0a, 0x11];
    assert!(uuid.holds(Some(&bytes), Binary));
    assert!(!uuid.holds(Some(&bytes[..15]), Binary));
    let label = Asked::new("app:acme", "tenant_id", status(), false);
    assert!(label.holds(Some(b"acme"), Text) && label.holds(Some(b"acme"), Binary));
}

/// A tenant without a mapping has no T where others have one, and none in a family that has none.
#[test]
fn without_an_own_value_nothing_holds() {
    for (who, column, family) in [
        ("app:initech", "account_no", Family::Integer),
        ("app:globex", "org", Family::Uuid),
        ("app:acme", "account_no", Family::Boolean),
        ("app:acme", "tenant_id", Family::Integer),
        ("app:acme", "tenant_id", Family::Unknown),
        ("app", "tenant_id", Family::Text),
    ] {
        let asked = Asked::new(who, column, family, false);
        for value in [&b"42"[..], b"acme", b"initech", b"77", b""] {
            assert!(!asked.holds(Some(value), Text), "{who} {column} {value:?}");
        }
    }
    // A mapped integer in a text column is compared as PostgreSQL writes it.
    assert!(Asked::new("app:acme", "account_no", Family::Text, false).holds(Some(b"42"), Text));
}

#[test]
fn every_element_of_a_text_array_is_compared() {
    let text = Asked::new("app:acme", "tenant_id", Family::Text, true);
    for array in ["{}", "{ }", "{acme}", "{\"acme\"}", "{acme,acme}", " { acme , \"acme\" } ", "{\"ac\\me\"}"]
    {
        assert!(text.holds(Some(array.as_bytes()), Text), "{array}");
    }
    for array in [
        "",
        "{",
        "}",
        "{acme",
        "acme",
        "{acme,}",
        "{,acme}",
        "{acme,globex}",
        "{acme,NULL}",
        "{null}",
        "{{acme}}",
        "[1:1]={acme}",
        "{acme}x",
        "{acme}{acme}",
        "{\"acme}",
        "{\"acme\"x}",
        "{\"acme\" \"acme\"}",
        "{a\"cme\"}",
        "{ac\\me}",
        "{\"acme \"}",
        "{\"\"}",
        "{acme acme}",
        "{\"NULL\"}",
    ] {
        assert!(!text.holds(Some(array.as_bytes()), Text), "{array}");
    }
    let integer = Asked::new("app:acme", "account_no", Family::Integer, true);
    assert!(integer.holds(Some(b"{42,\" 42\",042}"), Text));
    assert!(!integer.holds(Some(b"{42,77}"), Text));
    assert!(!integer.holds(Some(b"{42,NULL}"), Text));
}

#[test]
fn every_element_of_a_binary_array_is_compared() {
    let text = Asked::new("app:acme", "tenant_id", Family::Text, true);
    let ok = [
        array(0, 25, &[], &[]),
        array(1, 25, &[(0, 1)], &[]),
        array(1, 25, &[(1, 1)], &[Some(b"acme")]),
        array(1, 1043, &[(2, 0)], &[Some(b"acme"), Some(b"acme")]),
    ];
    for value in &ok {
        assert!(text.holds(Some(value), Binary), "{value:?}");
        for cut in 0..value.len() {
            assert!(!text.holds(Some(&value[..cut]), Binary), "cut at {cut}: {value:?}");
        }
        let mut longer = value.clone();
        longer.push(0);
        assert!(!text.holds(Some(&longer), Binary), "a byte too long");
    }
    for value in [
        array(1, 25, &[(1, 1)], &[Some(b"globex")]),
        array(1, 25, &[(2, 1)], &[Some(b"acme"), None]),
        array(1, 25, &[(1, 1)], &[Some(b"acme"), Some(b"acme")]),
        array(1, 25, &[(i32::MAX, 1)], &[Some(b"acme")]),
        array(1, 25, &[(-1, 1)], &[]),
        array(2, 25, &[(1, 1), (1, 1)], &[Some(b"acme")]),
        array(-1, 25, &[], &[]),
        array(1, 19, &[(1, 1)], &[Some(b"acme")]),
        array(1, 18, &[(1, 1)], &[Some(b"acme")]),
        array(1, 20_000, &[(1, 1)], &[Some(b"acme")]),
        array(1, 0, &[(1, 1)], &[Some(b"acme")]),
    ] {
        assert!(!text.holds(Some(&value), Binary), "{value:?}");
    }
    let integer = Asked::new("app:acme", "account_no", Family::Integer, true);
    assert!(integer.holds(Some(&array(1, 23, &[(1, 1)], &[Some(&[0, 0, 0, 42])])), Binary));
    assert!(integer.holds(Some(&array(1, 20, &[(1, 1)], &[Some(&[0, 0, 0, 0, 0, 0, 0, 42])])), Binary));
    // The length is the element type's.
    assert!(!integer.holds(Some(&array(1, 20, &[(1, 1)], &[Some(&[0, 0, 0, 42])])), Binary));
    let label = Asked::new("app:acme", "tenant_id", status(), true);
    assert!(label.holds(Some(&array(1, 16_999, &[(1, 1)], &[Some(b"acme")])), Binary));
    assert!(!label.holds(Some(&array(1, 25, &[(1, 1)], &[Some(b"acme")])), Binary));
}

#[test]
fn the_denial_names_the_parameter_and_never_the_value() {
    let asked = Asked::new("app:acme", "tenant_id", Family::Text, false);
    let refused = asked
        .check
        .holds(&asked.policy, &asked.principal, &[(None, Text), (Some(b"hunter2"), Text)])
        .unwrap_err();
    assert!(!format!("{refused:?}").contains("hunter2"));
    let denial = refused.denial();
    assert_eq!((denial.rule, denial.code, denial.at), (Rule::Tenancy, Code::TenantMismatch, None));
    assert_eq!(denial.message, "parameter $2 for tenant column \"tenant_id\" is not the session's tenant");
}

fn array(dimensions: i32, element: u32, bounds: &[(i32, i32)], elements: &[Option<&[u8]>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(dimensions.to_be_bytes());
    bytes.extend(i32::from(elements.contains(&None)).to_be_bytes());
    bytes.extend(element.to_be_bytes());
    for (count, lower) in bounds {
        bytes.extend(count.to_be_bytes());
        bytes.extend(lower.to_be_bytes());
    }
    for element in elements {
        let length = element.map_or(-1, |element| i32::try_from(element.len()).unwrap());
        bytes.extend(length.to_be_bytes());
        bytes.extend(element.unwrap_or_default());
    }
    bytes
}

#[test]
fn an_integer_in_binary_has_the_length_of_its_type() {
    let one = |ty| Asked::new("app:acme", "account_no", Family::Integer, false).of_type(ty);
    for (ty, length) in [(21, 2), (23, 4), (20, 8)] {
        for bytes in [2_usize, 4, 8] {
            let value = [&[0; 8][..], &[42]].concat();
            let value = &value[value.len() - bytes..];
            assert_eq!(one(ty).holds(Some(value), Binary), bytes == length, "{ty} {bytes}");
        }
        assert!(one(ty).holds(Some(b"42"), Text));
    }
    let many = |ty| Asked::new("app:acme", "account_no", Family::Integer, true).of_type(ty);
    let array = |element: i32, value: &[u8]| -> Vec<u8> {
        let length = i32::try_from(value.len()).unwrap();
        let head = [1, 0, element, 1, 1, length].map(i32::to_be_bytes).concat();
        [&head, value].concat()
    };
    assert!(many(23).holds(Some(&array(23, &[0, 0, 0, 42])), Binary));
    assert!(!many(21).holds(Some(&array(23, &[0, 0, 0, 42])), Binary));
    assert!(!many(23).holds(Some(&array(23, &[0, 42])), Binary));
    let text = Asked::new("app:acme", "tenant_id", Family::Text, true).of_type(25);
    assert!(text.holds(Some(&array(1043, b"acme")), Binary));
}
