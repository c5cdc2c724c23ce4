//! Near misses: an allowed statement with one tenant equality dropped, weakened, moved, turned to
//! another tenant or to another relation, or with the join around it changed.
//!
//! The tree says where equalities are. Most near misses are denied; what the judge still allows runs
//! like any other statement.

use crate::generate::Statement;
use crate::rng::Rng;
use crate::tree::{Sort, Tree, condition, fill, node, text};

/// The `nth` near miss of a statement, or none where it has no place for a change.
pub(crate) fn miss(statement: &Statement, seed: u64, nth: u64) -> Option<Statement> {
    let mut rng = Rng::new(seed ^ (SALT + nth), statement.number);
    (0..TRIES).find_map(|_| {
        let (kind, _, change) = KINDS[rng.weighted(&KINDS.map(|(_, weight, _)| weight))];
        // Where several rows match one that is updated, PostgreSQL takes any: the keys in ON and WHERE must stay.
        if kind == OR_NEIGHBOUR && statement.constructs.contains("UPDATE FROM, DELETE USING") {
            return None;
        }
        let mut changed = statement.clone();
        change(&mut rng, &mut changed.tree)?;
        changed.tree.rename(&format!("n{nth}"));
        changed.near = Some((kind, nth));
        Some(changed)
    })
}

/// Not every statement has a place for every change.
const TRIES: usize = 5;

/// The choices of near misses are not those of the statements.
const SALT: u64 = 0x6e65_6172;

type Change = fn(&mut Rng, &mut Tree) -> Option<()>;

const OR_NEIGHBOUR: &str = "OR with its neighbour";

const KINDS: [(&str, usize, Change); 8] = [
    ("equality dropped", 22, drop_one),
    ("equality weakened", 22, weaken),
    (OR_NEIGHBOUR, 8, or_neighbour),
    ("equality moved", 20, move_one),
    ("another operator", 6, another_operator),
    ("another relation's column", 10, another_relation),
    ("another tenant", 10, another_tenant),
    ("another join", 10, another_join),
];

fn is_equality(tree: &Tree) -> bool {
    matches!(tree, Tree::Node { sort: Sort::Equality, parts } if !parts.is_empty())
}

fn is_own(tree: &Tree) -> bool {
    matches!(tree, Tree::Node { sort: Sort::Own(_), .. })
}

/// Conditions that all hold: WHERE, ON, HAVING.
fn is_conjunction(tree: &Tree) -> bool {
    matches!(tree, Tree::List { between: " AND ", .. })
}

fn is_text(tree: &Tree) -> bool {
    matches!(tree, Tree::Text(_))
}

fn is_join(tree: &Tree) -> bool {
    matches!(tree, Tree::Text(text) if JOINS.contains(&text.as_ref()))
}

/// A join whose ON has an equality.
fn is_restricting_join(tree: &Tree) -> bool {
    let restricts = |part: &Tree| is_conjunction(part) && part.parts().iter().any(is_equality);
    tree.parts().iter().any(is_join) && tree.parts().iter().any(restricts)
}

/// One of the parts that are wanted.
fn any<'t>(rng: &mut Rng, tree: &'t mut Tree, wanted: &dyn Fn(&Tree) -> bool) -> Option<&'t mut Tree> {
    let count = tree.count(wanted);
    if count == 0 {
        return None;
    }
    tree.find(wanted, &mut rng.below(count))
}

fn drop_one(rng: &mut Rng, tree: &mut Tree) -> Option<()> {
    *any(rng, tree, &is_equality)? = condition([text("TRUE")]);
    Some(())
}

fn weaken(rng: &mut Rng, tree: &mut Tree) -> Option<()> {
    let place = any(rng, tree, &is_equality)?;
    let template = *rng.pick(&WEAKER);
    *place = condition(fill(template, [place.clone()]));
    Some(())
}

/// `a AND t = T` becomes `(a OR t = T)`.
fn or_neighbour(rng: &mut Rng, tree: &mut Tree) -> Option<()> {
    let wanted =
        |tree: &Tree| is_conjunction(tree) && tree.parts().len() > 1 && tree.parts().iter().any(is_equality);
    let Tree::List { items, .. } = any(rng, tree, &wanted)? else { return None };
    let equality = items.remove(items.iter().position(is_equality)?);
    let neighbour = items.remove(rng.below(items.len()));
    items.push(condition(fill("({} OR {})", [equality, neighbour])));
    Some(())
}

/// Out of its conjunction and into another one, where its column may not be in scope.
fn move_one(rng: &mut Rng, tree: &mut Tree) -> Option<()> {
    let gone = || node(Sort::Equality, []);
    let is_gone =
        |tree: &Tree| matches!(tree, Tree::Node { sort: Sort::Equality, parts } if parts.is_empty());
    let equality = std::mem::replace(any(rng, tree, &is_equality)?, gone());
    let elsewhere = |tree: &Tree| {
        // An empty HAVING is that of a level without groups.
        let no_groups = matches!(tree, Tree::List { head: " HAVING ", items, .. } if items.is_empty());
        is_conjunction(tree) && !no_groups && !tree.parts().iter().any(is_gone)
    };
    let Tree::List { items, .. } = any(rng, tree, &elsewhere)? else { return None };
    items.push(equality);
    *any(rng, tree, &is_gone)? = condition([text("TRUE")]);
    Some(())
}

fn another_operator(rng: &mut Rng, tree: &mut Tree) -> Option<()> {
    let wanted = |tree: &Tree| is_equality(tree) && tree.parts().iter().any(has_equals);
    let place = any(rng, tree, &wanted)?.parts_mut().iter_mut().find(|part| has_equals(part))?;
    let operator = *rng.pick(&[" <> ", " >= ", " <= ", " IS DISTINCT FROM "]);
    let Tree::Text(old) = place else { return None };
    *place = text(old.replacen(" = ", operator, 1));
    Some(())
}

fn has_equals(tree: &Tree) -> bool {
    matches!(tree, Tree::Text(text) if text == " = ")
}

/// The equality is another source's: `b.tenant_id` for `a.tenant_id`.
fn another_relation(rng: &mut Rng, tree: &mut Tree) -> Option<()> {
    let mut names = Vec::new();
    columns(tree, &mut names);
    let place = any(rng, tree, &is_equality)?;
    let leaf = any(rng, place, &|part: &Tree| is_text(part) && qualified(part).is_some())?;
    let (alias, column) = qualified(leaf)?;
    let others: Vec<&String> = names
        .iter()
        .filter(|name| name.split_once('.').is_some_and(|(other, name)| other != alias && name == column))
        .collect();
    if others.is_empty() {
        return None;
    }
    *leaf = text((*rng.pick(&others)).clone());
    Some(())
}

/// Every column of the statement as it is written.
fn columns(tree: &Tree, into: &mut Vec<String>) {
    if let Some((alias, column)) = qualified(tree) {
        let name = format!("{alias}.{column}");
        if !into.contains(&name) {
            into.push(name);
        }
    }
    tree.parts().iter().for_each(|part| columns(part, into));
}

/// `alias.column`, and nothing else.
fn qualified(tree: &Tree) -> Option<(&str, &str)> {
    let Tree::Text(text) = tree else { return None };
    let (alias, column) = text.split_once('.')?;
    let plain = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    (plain(alias) && plain(column)).then_some((alias, column))
}

fn another_tenant(rng: &mut Rng, tree: &mut Tree) -> Option<()> {
    let place = any(rng, tree, &is_own)?;
    let Tree::Node { sort: Sort::Own(class), .. } = place else { return None };
    let class = *class;
    *place = node(Sort::Scalar, [text(class.quoted(rng.pick::<&str>(class.others())))]);
    Some(())
}

fn another_join(rng: &mut Rng, tree: &mut Tree) -> Option<()> {
    let join = any(rng, tree, &is_restricting_join)?.parts_mut().iter_mut().find(|part| is_join(part))?;
    *join = text(*rng.pick(&JOINS));
    Some(())
}

const JOINS: [&str; 5] = ["JOIN", "INNER JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"];

/// What an equality implies no more, and two forms (`OR NULL`, `AND TRUE`) in which it holds still.
const WEAKER: [&str; 15] = [
    "({} OR TRUE)",
    "({} OR NULL)",
    "({} AND TRUE)",
    "({} OR 1 = 1)",
    "({}) IS NOT FALSE",
    "({}) IS NOT NULL",
    "({}) IS NOT TRUE",
    "({}) IS NOT UNKNOWN",
    "({}) IS UNKNOWN",
    "NOT ({})",
    "COALESCE({}, TRUE)",
    "CASE WHEN {} THEN TRUE ELSE TRUE END",
    "({}) >= FALSE",
    "({}) IN (TRUE, FALSE)",
    "({} OR EXISTS (SELECT 1 FROM app.plans))",
];
