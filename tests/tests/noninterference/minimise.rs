//! Makes a statement that shows a difference smaller while it still shows one.

use std::io;

use crate::client::{Answer, Worlds};
use crate::generate::Statement;
use crate::judge::{Court, Ruling};
use crate::tree::{Tree, Written};
use crate::verdict::compare;

/// A difference.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    pub(crate) statement: Statement,
    /// The statement as small as it became.
    pub(crate) written: Written,
    pub(crate) what: String,
    pub(crate) answers: [Answer; 3],
}

impl Difference {
    /// As a line of the corpus, and what each world answered.
    pub(crate) fn case(&self) -> String {
        let Written { sql, values } = &self.written;
        let number = self.statement.number;
        let case = serde_json::json!({
            "id": format!("noninterference-{number}"),
            "family": "noninterference",
            "principal": "acme_app",
            "protocol": if values.is_empty() { "simple" } else { "extended" },
            "sql": sql,
            "params": values.iter().map(|value| value.text.clone()).collect::<Vec<_>>(),
            "expect": "deny",
            "codes": ["tenant_unproven"],
            "why": self.what,
        });
        let answers: String = self.answers.iter().map(|answer| format!("\n    {}", answer.brief())).collect();
        let (name, universe) = (self.statement.name(), self.statement.universe.name());
        format!("{case}\n  {name} in the {universe} universe:{answers}")
    }
}

/// Tries ever smaller trees; the first that is allowed and differs is taken on.
pub(crate) fn minimise(
    court: &Court,
    worlds: &mut Worlds,
    statement: &Statement,
    found: (String, [Answer; 3]),
) -> io::Result<Difference> {
    let mut tree = statement.tree.clone();
    let (mut what, mut answers) = found;
    let mut left = MOST_TRIES;
    'again: loop {
        for mut smaller in tree.smaller() {
            left -= 1;
            smaller.rename("m");
            if left == 0 {
                break 'again;
            }
            if let Some((why, heard)) = differs(court, worlds, statement, &smaller)? {
                (tree, what, answers) = (smaller, why, heard);
                continue 'again;
            }
        }
        break;
    }
    Ok(Difference { statement: statement.clone(), written: tree.written(), what, answers })
}

fn differs(
    court: &Court,
    worlds: &mut Worlds,
    statement: &Statement,
    tree: &Tree,
) -> io::Result<Option<(String, [Answer; 3])>> {
    let written = tree.written();
    if court.rule(&written, statement.universe) != Ruling::Allowed {
        return Ok(None);
    }
    let answers = worlds.run(&[(&written, statement.effect)])?.pop().unwrap();
    let before = [0, 1, 2].map(|world| worlds.others_before(world));
    let what = compare(&answers, &before).leak(statement);
    Ok(what.map(|what| (what, answers)))
}

const MOST_TRIES: usize = 2000;
