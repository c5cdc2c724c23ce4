//! What is harmless: what passes, and the table of what does not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use crate::{Case, Lab, cases, on_large_stack};

/// What applications, their libraries and reporting tools send, with the tenant's equality in it, and
/// what the sentences of policy 3 and 4 accept.
fn sent() -> Vec<Case> {
    let applications = cases(include_str!("../../../tests/corpus/benign-applications.jsonl"));
    let policy = cases(include_str!("../../../tests/corpus/benign-policy.jsonl"));
    applications.into_iter().chain(policy).collect()
}

#[test]
fn what_applications_send_passes() {
    on_large_stack(|| {
        let lab = Lab::new();
        let refused: Vec<String> = sent()
            .iter()
            .filter_map(|case| {
                let (code, _, message) = lab.refusal(case)?;
                Some(format!("{} {} {code} ({message}): {}", case.id, case.family, case.sql))
            })
            .collect();
        assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
    });
}

/// By construct and code, with the reason; `PGMOAT_BLESS=1` writes it anew.
#[test]
fn what_is_harmless_and_denied_is_written_down() {
    on_large_stack(|| {
        let lab = Lab::new();
        let mut table: BTreeMap<(String, String), (usize, String)> = BTreeMap::new();
        let denied = cases(include_str!("../../../tests/corpus/harmless-denied.jsonl"));
        for case in &denied {
            let (code, _, _) = lab.refusal(case).unwrap_or_else(|| panic!("{} is allowed now", case.sql));
            assert_eq!(case.codes, [code.as_str()], "{}", case.sql);
            let row = table.entry((case.family.clone(), code)).or_insert((0, case.why.clone()));
            row.0 += 1;
        }
        let mut now = format!(
            "{} harmless statements that applications send, or that the page names, pass.\n\
             {} are harmless, or may be meant so, and are denied:\n\n",
            sent().len(),
            denied.len()
        );
        for ((construct, code), (count, why)) in table {
            writeln!(now, "{count:4}  {construct} [{code}]\n      {why}").unwrap();
        }
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/results/precision.txt");
        if env::var_os("PGMOAT_BLESS").is_some() {
            fs::write(&file, &now).unwrap();
        }
        assert_eq!(fs::read_to_string(&file).unwrap_or_default(), now);
    });
}
