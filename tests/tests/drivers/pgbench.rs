//! pgbench: its own transactions in each protocol, by several clients.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use pgmoat_tests::Stack;

use crate::checklist::items;
use crate::doors::Door;

pub(crate) fn session(door: &Door) -> String {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("pipeline.sql");
    fs::write(&script, PIPELINE).unwrap();
    let script = script.display().to_string();
    let tls = door.tls_dsn.split_once("//").zip(door.ops_dsn.split_once('@'));
    let tls = tls.map(|((_, tls), (user, _))| format!("{user}@{}", tls.split_once('@').unwrap().1)).unwrap();
    let mut said = String::new();
    for (item, dsn, arguments) in [
        ("-M simple", &door.ops_dsn, vec!["-S", "-M", "simple"]),
        ("-M extended", &door.ops_dsn, vec!["-S", "-M", "extended"]),
        ("-M prepared", &door.ops_dsn, vec!["-S", "-M", "prepared"]),
        ("pipeline", &door.ops_dsn, vec!["-f", &script, "-M", "prepared"]),
        ("connect", &door.ops_dsn, vec!["-S", "-c", "1", "-t", "1"]),
        ("tls", &tls, vec!["-S", "-c", "1", "-t", "1"]),
        ("pool", &door.ops_dsn, vec!["-S", "-c", "20", "-t", "10"]),
    ] {
        let _ = writeln!(said, "{item}\t{}", processed(dsn, &arguments));
    }
    for item in items("pgbench").iter().filter(|item| !item.own) {
        if !said.lines().any(|line| line.starts_with(&format!("{}\t", item.name))) {
            let _ = writeln!(said, "{}\t- its transactions are its own", item.name);
        }
    }
    said
}

/// How many transactions it has done; all that it says, where it says of an error.
fn processed(dsn: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(Stack::get().cluster().postgres().tool("pgbench"));
    command.args(["-n", "-c", "4", "-t", "50"]).args(arguments).arg(dsn);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let all = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let all = String::from_utf8_lossy(&all);
    let count = all.lines().find_map(|line| line.strip_prefix("number of transactions actually processed: "));
    match count.and_then(|counts| counts.split_once('/')) {
        Some((count, _)) if output.status.success() && !all.contains("ERROR") => count.to_owned(),
        _ => format!("surprise: {all:?}"),
    }
}

const PIPELINE: &str = r"\set aid random(1, 100000)
\startpipeline
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
SELECT 1;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
\endpipeline
";
