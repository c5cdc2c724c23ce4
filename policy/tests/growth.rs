//! What judging costs grows no faster than the text, or its square where each part meets each other:
//! counted in steps of the proof, which are the same on every machine.

#![expect(clippy::unwrap_used, clippy::string_slice, reason = "tests fail by panicking")]

use pgmoat_policy::{Catalog, Mode, NoNames, Policy, Principal, STACK_BYTES, explain, judge};

struct Lab {
    policy: Policy,
    catalog: Catalog,
}

/// The lab's, with limits above what is asked here.
fn lab() -> Lab {
    let limits = "\nlimits: { depth: 500, relations: 1000, set_operations: 1000, in_list: 100000, conditions: 100000 }\n";
    let text = include_str!("../../lab/policy.yaml").to_owned() + limits;
    let policy = Policy::load(&text, "lab/policy.yaml").unwrap().policy;
    Lab { policy, catalog: Catalog::parse(include_str!("../golden/lab-catalog.json")).unwrap() }
}

impl Lab {
    fn steps(&self, sql: &str) -> usize {
        let who = Principal::parse("app:acme").unwrap();
        let explained = explain(sql, Mode::Simple, &who, &self.policy, &self.catalog, &NoNames);
        assert!(explained.judgement.denial().is_none(), "{:?}", explained.judgement.denial());
        explained.steps
    }
}

fn repeat(count: usize, join: &str, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect::<Vec<_>>().join(join)
}

/// The forms that are known to blow up in judges that ask a thing again for each place.
fn forms(count: usize) -> Vec<(&'static str, String)> {
    let joins = repeat(count, " ", |n| {
        format!("JOIN app.orders o{n} ON o{n}.tenant_id = o.tenant_id AND o{n}.id = o.id")
    });
    let keys = repeat(count, " ", |n| format!("JOIN app.warehouses w{n} ON w{n}.id = s.warehouse_id"));
    let ctes = repeat(count, ", ", |n| format!("c{n} AS (SELECT * FROM app.orders)"));
    let twice = repeat(count, " UNION ALL ", |n| {
        format!(
            "SELECT a.id FROM c{n} a JOIN c{n} b USING (id) WHERE a.tenant_id = 'acme' AND b.tenant_id = 'acme'"
        )
    });
    let chained = repeat(count, ", ", |n| match n {
        0 => "c0 AS (SELECT * FROM app.orders WHERE tenant_id = 'acme')".to_owned(),
        n => format!("c{n} AS (SELECT a.* FROM c{} a JOIN c{} b USING (id))", n - 1, n - 1),
    });
    let (open, close) = ("(SELECT * FROM ".repeat(count), ") x".repeat(count));
    let within = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id IN (".repeat(count);
    let members = "SELECT warehouse_id FROM app.shipments WHERE tenant_id = 'acme' AND warehouse_id IN (";
    vec![
        ("joins", format!("SELECT o.id FROM app.orders o {joins} WHERE o.tenant_id = 'acme'")),
        ("joins by key", format!("SELECT s.id FROM app.shipments s {keys} WHERE s.tenant_id = 'acme'")),
        ("derived tables", format!("SELECT id FROM {open}app.orders{close} WHERE tenant_id = 'acme'")),
        ("sub-selects", format!("{within}SELECT 1{}", ")".repeat(count))),
        (
            "keys in sub-selects",
            format!("{}SELECT id FROM app.warehouses{}", members.repeat(count), ")".repeat(count)),
        ),
        (
            "tenants",
            format!(
                "SELECT id FROM app.orders WHERE tenant_id IN ({})",
                repeat(count, ", ", |_| "'acme'".to_owned())
            ),
        ),
        (
            "unions",
            format!(
                "SELECT * FROM ({}) x WHERE tenant_id = 'acme'",
                repeat(count, " UNION ALL ", |_| "SELECT id, tenant_id FROM app.orders".to_owned())
            ),
        ),
        ("CTEs twice", format!("WITH {ctes} {twice}")),
        ("CTEs over the last", format!("WITH {chained} SELECT count(*) FROM c{}", count - 1)),
        (
            "ORs",
            format!(
                "SELECT id FROM app.orders WHERE {}",
                repeat(count, " OR ", |n| format!("tenant_id = 'acme' AND id = {n}"))
            ),
        ),
    ]
}

#[test]
fn steps_grow_with_the_text() {
    let test = || {
        let lab = lab();
        for ((name, once), (_, twice)) in forms(30).into_iter().zip(forms(60)) {
            let (once, twice) = (lab.steps(&once), lab.steps(&twice));
            assert!(once > 30, "{name}: {once} steps are too few to be counted");
            assert!(twice * 10 <= once * 25, "{name}: {once} steps for 30, {twice} for 60");
        }
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test).unwrap().join().unwrap();
}

/// Recursion within recursion: what the inner one yields is asked anew for each guess of the outer one, up
/// to a number for the whole statement.
#[test]
fn recursion_within_recursion_is_bounded() {
    const WIDTH: usize = 30;
    let steps = |depth: usize| {
        let columns = repeat(WIDTH, ", ", |n| format!("c{n}"));
        let first = repeat(WIDTH, ", ", |_| "'acme'".to_owned());
        let nested = (0..depth).rev().fold("SELECT 1".to_owned(), |within, level| {
            let passed = repeat(WIDTH - 1, ", ", |n| format!("r{level}.c{}", n + 1));
            format!(
                "WITH RECURSIVE r{level}({columns}) AS (SELECT {first} UNION ALL \
                 SELECT {passed}, 'x' || 'y' FROM r{level}, ({within}) q WHERE false) SELECT 1 FROM r{level}"
            )
        });
        lab().steps(&nested)
    };
    std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let (four, eight) = (steps(4), steps(8));
            assert!(eight < 4 * four.max(1), "{four} {eight}");
        })
        .unwrap()
        .join()
        .unwrap();
}

/// What took minutes, all memory or the stack once: each text is some ten or hundred kilobytes.
#[test]
fn long_texts_of_one_thing_are_judged_at_once() {
    let doubled = repeat(40, ", ", |n| match n {
        0 => "c0 AS (SELECT * FROM app.orders WHERE tenant_id = 'acme')".to_owned(),
        n => format!("c{n} AS (SELECT * FROM c{} a, c{} b)", n - 1, n - 1),
    });
    let rows = repeat(40, ", ", |n| match n {
        0 => "c0 AS (SELECT o.* FROM app.orders o WHERE tenant_id = 'acme')".to_owned(),
        n => format!("c{n} AS (SELECT * FROM (SELECT 1) x, c{} a, LATERAL (VALUES (a.*, a.*)) v)", n - 1),
    });
    let columns = repeat(1600, ", ", |n| format!("tenant_id AS c{n}"));
    let chain = repeat(1599, " AND ", |n| format!("d.c{n} = d.c{}", n + 1));
    let windows = repeat(5000, ", ", |n| match n {
        0 => "w0 AS (PARTITION BY tenant_id)".to_owned(),
        n => format!("w{n} AS (w{})", n - 1),
    });
    let natural = repeat(60, " NATURAL JOIN ", |n| format!("c a{n}"));
    let level = format!("SELECT 1 FROM {}", repeat(7, " NATURAL JOIN ", |n| format!("c a{n}")));
    let levels = repeat(40, " UNION ALL ", |_| level.clone());
    let cases = [
        (
            "unsupported",
            format!("WITH c AS (SELECT {columns} FROM app.orders WHERE tenant_id = 'acme') {levels}"),
        ),
        (
            "unsupported",
            format!(
                "WITH c AS (SELECT {columns} FROM app.orders WHERE tenant_id = 'acme') SELECT 1 FROM {natural}"
            ),
        ),
        ("unsupported", format!("WITH {doubled} SELECT 1 FROM c39")),
        ("unsupported", format!("WITH {rows} SELECT 1 FROM c39")),
        (
            "ok",
            format!(
                "SELECT 1 FROM (SELECT {columns} FROM app.orders) d WHERE ({chain} AND d.c1599 = 'acme') OR ({chain} AND d.c0 = 'acme')"
            ),
        ),
        (
            "ok",
            format!(
                "SELECT 1 FROM (SELECT tenant_id t, count(*) OVER w4999 FROM app.orders WINDOW {windows}) d WHERE t = 'acme'"
            ),
        ),
        ("limit_depth", format!("SELECT (a){} FROM (SELECT 1 AS a) x", ".b".repeat(100_000))),
        ("limit_depth", format!("SELECT (a){} FROM (SELECT 1 AS a) x", "[1].b".repeat(40_000))),
    ];
    std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let Lab { policy, catalog } = lab();
            let who = Principal::parse("app:acme").unwrap();
            for (expected, sql) in cases {
                let judgement = judge(&sql, Mode::Simple, &who, &policy, &catalog, &NoNames);
                let code = judgement.denial().map_or("ok".to_owned(), |(_, denial)| denial.code.to_string());
                assert_eq!(code, expected, "{}", &sql[..200]);
            }
        })
        .unwrap()
        .join()
        .unwrap();
}
