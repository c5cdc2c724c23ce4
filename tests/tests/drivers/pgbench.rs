//! pgbench in its three protocols, as ops.

use std::process::{Command, Stdio};

use pgmoat_lab::User;
use pgmoat_tests::Stack;

#[test]
fn pgbench_reads_in_every_protocol() {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    stack.cluster().pgbench_init(&database, 1).unwrap();
    let proxied = stack.proxy_before(&database, |_| {}).unwrap();
    let ops = User::named("ops").unwrap();
    for protocol in ["simple", "extended", "prepared"] {
        let output = Command::new(stack.cluster().postgres().tool("pgbench"))
            .args(["-n", "-S", "-M", protocol, "-c", "4", "-t", "200", "-h", "127.0.0.1", "-U", ops.name])
            .args(["-p", &proxied.proxy.port().to_string(), "lab"])
            .env("PGPASSWORD", ops.password())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(output.status.success(), "{protocol}: {said}");
        assert!(said.contains("number of transactions actually processed: 800/800"), "{protocol}: {said}");
        assert!(!said.contains("ERROR"), "{protocol}: {said}");
    }
}
