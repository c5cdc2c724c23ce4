//! A verdict that is kept is given without an allocation, whatever the literals.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::hint::black_box;
use std::sync::Arc;

use allocation_counter::measure;
use pgmoat_policy::{Catalog, Given, Mode, NoNames, Policy, Principal, Recent, STACK_BYTES, Verdicts};

/// A principal, and a statement with `{n}` where a new literal stands each time.
const STATEMENTS: [(&str, &str); 14] = [
    ("ops", "SELECT abalance FROM public.pgbench_accounts WHERE aid = {n}"),
    ("app:acme", "SELECT id, status, total FROM app.orders WHERE tenant_id = 'acme' AND id = {n}"),
    ("app:acme", "SELECT id FROM app.orders WHERE tenant_id = $1 AND id = {n}"),
    (
        "app:acme",
        "SELECT id FROM app.orders WHERE tenant_id = ANY ('{ acme , \"acme\" }') AND id > {n}.5 LIMIT {n}",
    ),
    ("app:acme", "SELECT id FROM billing.invoices WHERE account_no = 42 AND order_id = {n}"),
    ("app:acme", "SELECT id FROM billing.invoices WHERE account_no = '42' AND order_id = {n}"),
    ("app:acme", "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'it''s {n}')"),
    ("app:acme", "UPDATE app.orders SET note = '{n}', total = -{n}99 WHERE tenant_id = 'acme' AND id = 1"),
    ("app:acme", "DELETE FROM app.notes WHERE tenant_id = 'acme' AND id IN ({n}, {n}, 7)"),
    ("app:acme", "BEGIN"),
    ("app:acme", "COMMIT"),
    ("analyst:acme", "SELECT email, full_name FROM app.customers WHERE tenant_id = 'acme' AND id = {n}"),
    (
        "analyst:acme",
        "WITH o AS (SELECT * FROM app.orders WHERE tenant_id = 'acme' AND total > {n}) \
         SELECT date_trunc('month', created_at), sum(total) FROM o GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
    ),
    ("app:o'brien", "SELECT id FROM app.orders WHERE tenant_id = 'o''brien' AND id = {n}"),
];

#[test]
fn a_verdict_that_is_kept_costs_no_allocation() {
    let run = || {
        let policy = Policy::load(include_str!("../../lab/policy.yaml"), "lab/policy.yaml").unwrap().policy;
        let catalog = Catalog::parse(include_str!("../golden/lab-catalog.json")).unwrap();
        let verdicts = Verdicts::new(Arc::new(policy), Arc::new(catalog), 32 << 20);
        let mut recent = Recent::default();
        for (principal, text) in STATEMENTS {
            let principal = Principal::parse(principal).unwrap();
            let mode = if text.contains("$1") { Mode::Extended { declared: &[25] } } else { Mode::Simple };
            let texts: Vec<String> = (100..200).map(|n| text.replace("{n}", &n.to_string())).collect();
            // The sign of a negative number belongs to it: each is another verdict.
            let (first, rest) = texts.split_first().unwrap();
            let fresh = verdicts.give(&mut recent, first, mode, &principal, &NoNames);
            assert!(matches!(&fresh, Given::Fresh(judgement) if judgement.denial().is_none()), "{fresh:?}");
            // The second finds it in the shared table, the others in the session's own.
            let rest = if text.contains('-') { &texts[..1] } else { rest };
            for text in rest.iter().chain(rest) {
                let mut kept = false;
                let spent = measure(|| {
                    let given = verdicts.give(&mut recent, text, mode, &principal, &NoNames);
                    kept = matches!(&given, Given::Kept(kept) if kept.judgement().statements.len() == 1);
                    black_box(given);
                });
                assert!(kept, "{text}");
                assert_eq!((spent.count_total, spent.bytes_total), (0, 0), "{text}");
            }
        }
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).unwrap().join().unwrap();
}
