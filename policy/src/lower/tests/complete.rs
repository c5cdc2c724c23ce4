//! Nothing is dropped: every name and constant of a query's tree stands in the statement.

use std::collections::BTreeMap;

use super::*;

/// Keys of the parser's nodes whose strings a query means.
const MEANT: &[&str] = &[
    "sval",
    "fval",
    "bsval",
    "relname",
    "schemaname",
    "catalogname",
    "aliasname",
    "name",
    "refname",
    "ctename",
    "colname",
    "cursor_name",
    "conname",
    "search_seq_column",
    "cycle_mark_column",
    "cycle_path_column",
    "value",
    "portalname",
    "savepoint_name",
];

/// How often each string stands behind one of these keys in a printed value; every key, if none.
fn strings(printed: &str, keys: Option<&[&str]>) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let mut rest = printed;
    while let Some(quote) = rest.find('"') {
        let (before, string) = rest.split_at(quote);
        let mut end = 1;
        while !string.get(end..).unwrap().starts_with('"') {
            end += if string.get(end..).unwrap().starts_with('\\') { 2 } else { 1 };
            while !string.is_char_boundary(end) {
                end += 1;
            }
        }
        let key = before.rsplit([' ', '{']).find(|word| word.ends_with(':')).unwrap_or_default();
        let direct = before.ends_with(&format!("{key} "));
        let meant = keys.is_none_or(|keys| direct && keys.contains(&key.trim_end_matches(':')));
        let value = string.get(1..end).unwrap();
        if meant && !value.is_empty() {
            *found.entry(value.to_owned()).or_default() += 1;
        }
        rest = string.get(end + 1..).unwrap();
    }
    found
}

/// The printed tree without what stands in a type's brackets, which the statement keeps as a flag.
fn without_modifiers(printed: &str) -> String {
    let mut kept = String::new();
    let mut rest = printed;
    while let Some(start) = ["typmods: [", "array_bounds: ["].iter().filter_map(|key| rest.find(key)).min() {
        let (before, after) = rest.split_at(start);
        kept += before;
        let (mut depth, mut end) = (0_usize, after.find('[').unwrap());
        loop {
            match after.as_bytes().get(end).unwrap() {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            end += 1;
            if depth == 0 {
                break;
            }
        }
        rest = after.get(end..).unwrap();
    }
    kept + rest
}

fn count(printed: &str, what: &str) -> usize {
    printed.matches(what).count()
}

/// What stands in the parser's tree more often than in the statements.
fn lost(text: &str) -> Vec<String> {
    let Ok(tree) = pg_query::parse(text, 0) else { return Vec::new() };
    let printed = without_modifiers(&format!("{:?}", tree.protobuf.stmts));
    let statements = lower(text, tree.protobuf, &[]);
    let covered = |statement: &Statement| {
        statement.unsupported.is_empty() && !matches!(&statement.body, Body::Utility(_))
    };
    if !statements.iter().all(covered) {
        return Vec::new();
    }
    let lowered = format!("{statements:?}");
    let kept = strings(&lowered, None);
    let mut lost: Vec<String> = strings(&printed, Some(MEANT))
        .into_iter()
        .filter(|(string, times)| kept.get(string).is_none_or(|kept| kept < times))
        .map(|(string, times)| format!("{string:?}, {times} times"))
        .collect();
    for (node, ir) in [
        ("FuncCall(FuncCall {", "Call(Call {"),
        ("ColumnRef(ColumnRef {", "Column(ColumnRef {"),
        ("ParamRef(ParamRef {", "Param {"),
        ("SubLink(SubLink {", "Sublink(Sublink {"),
        ("TypeCast(TypeCast {", "Cast {"),
        ("AExpr(AExpr {", "Op(Op {"),
        ("isnull: true", "value: Null"),
        ("Ival(Integer {", "value: Integer("),
        ("Boolval(Boolean {", "value: Bool("),
        ("SetToDefault(SetToDefault {", "Default("),
        ("RangeVar(RangeVar {", "RelationRef {"),
        ("SelectStmt(SelectStmt {", "Query {"),
    ] {
        let (before, after) = (count(&printed, node), count(&lowered, ir));
        let otherwise = match node {
            "Ival(Integer {" => count(&lowered, "value: Number("),
            "SelectStmt(SelectStmt {" => count(&lowered, "source: Values("),
            _ => 0,
        };
        if before > after + otherwise {
            lost.push(format!("{node} {before} times, {ir} {after} times"));
        }
    }
    lost
}

#[test]
fn nothing_of_the_corpus_is_lost() {
    let mut texts = 0;
    for file in ["attack", "benign"] {
        let path = format!("{}/../tests/corpus/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = case.get("sql").unwrap().as_str().unwrap().to_owned();
            let lost = std::thread::Builder::new()
                .stack_size(crate::STACK_BYTES)
                .spawn({
                    let text = text.clone();
                    move || lost(&text)
                })
                .unwrap()
                .join()
                .unwrap();
            assert!(lost.is_empty(), "{text}\n{lost:?}");
            texts += 1;
        }
    }
    assert!(texts > 700);
}

#[test]
fn nothing_of_the_table_is_lost() {
    for (text, _) in super::table::TABLE {
        // A `(a, b) = source` stands in the tree once a column; the labels of PASSING and XML
        // name nothing in the database; of a column's part the statement says that it is one.
        if [") = (SELECT 5", "(e, f) = (1, 2)", "PASSING", "XML", "b.c, d[1]"]
            .iter()
            .any(|it| text.contains(it))
        {
            continue;
        }
        assert_eq!(lost(text), Vec::<String>::new(), "{text}");
    }
}
