//! By psql: its output is the same, byte for byte.

use std::path::Path;
use std::process::Command;

use pgmoat_lab::SERVICE_USER;
use pgmoat_tests::Stack;

use crate::statements::{doors, everywhere, files};

#[test]
fn psql_prints_the_same() {
    everywhere(prints_the_same);
}

fn prints_the_same(stack: &Stack) {
    let (direct, proxied) = doors(stack);
    for file in files() {
        let direct = psql(&stack.cluster().dsn(SERVICE_USER, &direct), &file);
        let proxied = psql(&proxied.dsn("ops"), &file);
        for (number, (direct, proxied)) in direct.lines().zip(proxied.lines()).enumerate() {
            assert_eq!(direct, proxied, "{}: line {} of the output", file.display(), number + 1);
        }
        assert_eq!(direct, proxied);
        assert!(direct.lines().count() > 40, "{direct}");
    }
}

/// Both of psql's outputs in one, with the statements in between.
fn psql(dsn: &str, file: &Path) -> String {
    let mut command = Command::new("sh");
    // The same client for all servers.
    let psql = Stack::get().cluster().postgres().tool("psql");
    command.args(["-c", "exec \"$0\" -X -a -f \"$1\" -d \"$2\" 2>&1"]).arg(psql).arg(file).arg(dsn);
    // What the proxy pins.
    let pins = if dsn.contains(SERVICE_USER) { "-c search_path=app,public" } else { "" };
    let output = command.env("PGOPTIONS", pins).env("PAGER", "").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}
