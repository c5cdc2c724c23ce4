//! Bound tenancy through the proxy: each value is looked at in its own format, before anything of it goes upstream.

use pgmoat_tests::front::{e, s};
use pgmoat_tests::{Front, Raw, Stack};

/// A text, declared types, and values that pass or do not.
struct Bound {
    sql: &'static str,
    types: &'static [u32],
    own: Vec<Values>,
    foreign: Vec<Values>,
}

/// Formats and values of one Bind.
type Values = (Vec<i16>, Vec<Option<Vec<u8>>>);

#[test]
fn a_value_is_the_sessions_own_in_every_format_or_refused() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let mut wrong = Vec::new();
    for Bound { sql, types, own, foreign } in all() {
        raw.send(&[Front::Parse("n".into(), sql.into(), types.into()), s()]).unwrap();
        raw.expect("1 Z(I)").map_err(|error| format!("{sql}: {error}")).unwrap();
        for (values, wanted) in own
            .into_iter()
            .map(|values| (values, "rows"))
            .chain(foreign.into_iter().map(|values| (values, "42501")))
        {
            let (formats, values) = values;
            let bind = Front::Bind(String::new(), "n".into(), values.clone(), formats.clone(), Vec::new());
            let heard = raw.ask(&[bind, e("", 3), s()]).unwrap();
            let said = if heard.codes().is_empty() { "rows".to_owned() } else { heard.codes().join(" ") };
            if said != wanted {
                wrong.push(format!("{sql}: {formats:?} {values:?}: {said}, wanted {wanted}"));
            }
        }
        raw.send(&[pgmoat_tests::front::c_statement("n"), s()]).unwrap();
        raw.expect("3 Z(I)").unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn all() -> Vec<Bound> {
    vec![
        Bound {
            sql: "SELECT id FROM app.orders WHERE tenant_id = $1",
            types: &[],
            own: vec![text(&["acme"]), formats(&[0], &[b"acme"]), formats(&[1], &[b"acme"])],
            foreign: vec![
                text(&["globex"]),
                text(&["acme "]),
                text(&["ACME"]),
                text(&[""]),
                formats(&[1], &[b"globex"]),
                formats(&[1], &[b"acme\0"]),
                (vec![], vec![None]),
                (vec![1], vec![None]),
            ],
        },
        Bound {
            sql: "SELECT id FROM app.orders WHERE id > $1 AND tenant_id = $2",
            types: &[20, 25],
            own: vec![
                text(&["7", "acme"]),
                formats(&[1, 0], &[&[0, 0, 0, 0, 0, 0, 0, 7], b"acme"]),
                formats(&[0, 1], &[b"7", b"acme"]),
                formats(&[1], &[&[0, 0, 0, 0, 0, 0, 0, 7], b"acme"]),
            ],
            foreign: vec![
                text(&["7", "globex"]),
                formats(&[1, 0], &[&[0, 0, 0, 0, 0, 0, 0, 7], b"globex"]),
                formats(&[1], &[b"acme\0\0\0\0", b"globex"]),
            ],
        },
        Bound {
            sql: "SELECT set_config($1, $2, true)",
            types: &[],
            own: vec![text(&["application_name", "x"]), formats(&[1], &[b"TimeZone", b"UTC"])],
            foreign: vec![
                text(&["role", "postgres"]),
                formats(&[1, 0], &[b"work_mem", b"1GB"]),
                text(&["search_path", "internal"]),
                (vec![], vec![Some(b"application_name".to_vec()), None]),
                (vec![], vec![None, Some(b"x".to_vec())]),
            ],
        },
        Bound {
            sql: "SELECT id FROM billing.invoices WHERE account_no = $1",
            types: &[],
            own: vec![text(&["42"]), text(&[" 42 "]), text(&["+42"]), formats(&[1], &[&[0, 0, 0, 42]])],
            foreign: vec![
                text(&["77"]),
                text(&["042.0"]),
                text(&["4e1"]),
                formats(&[1], &[&[0, 0, 0, 77]]),
                formats(&[1], &[b"42"]),
                formats(&[0], &[&[0, 0, 0, 42]]),
            ],
        },
        Bound {
            sql: "SELECT id FROM app.orders WHERE tenant_id = ANY ($1)",
            types: &[],
            own: vec![
                text(&["{acme}"]),
                text(&["{\"acme\",acme}"]),
                text(&["{}"]),
                formats(&[1], &[&array(25, &[b"acme"])]),
                formats(&[1], &[&array(25, &[b"acme", b"acme"])]),
            ],
            foreign: vec![
                text(&["{globex}"]),
                text(&["{acme,globex}"]),
                text(&["{acme,NULL}"]),
                text(&["{{acme,globex}}"]),
                text(&["acme"]),
                formats(&[1], &[&array(25, &[b"acme", b"globex"])]),
                formats(&[1], &[b"{acme}"]),
                (vec![1], vec![None]),
            ],
        },
        Bound {
            sql: "INSERT INTO app.notes (tenant_id, body) VALUES ($1, $2)",
            types: &[],
            own: vec![text(&["acme", "bound"]), formats(&[1, 1], &[b"acme", b"bound"])],
            foreign: vec![text(&["globex", "bound"]), formats(&[1], &[b"globex", b"acme"])],
        },
    ]
}

/// No format codes: all are text.
fn text(values: &[&str]) -> Values {
    formats(&[], &values.iter().map(|value| value.as_bytes()).collect::<Vec<_>>())
}

fn formats(formats: &[i16], values: &[&[u8]]) -> Values {
    (formats.to_vec(), values.iter().map(|value| Some(value.to_vec())).collect())
}

/// The binary format of a one-dimensional array.
fn array(element: u32, values: &[&[u8]]) -> Vec<u8> {
    let count = u32::try_from(values.len()).unwrap();
    let mut bytes: Vec<u8> =
        [1_u32, 0, element, count, 1].iter().flat_map(|word| word.to_be_bytes()).collect();
    for value in values {
        bytes.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
        bytes.extend(*value);
    }
    bytes
}
