//! What to do with a lab that is up.

use std::env;
use std::path::Path;

use pgmoat_lab::users;

use super::up::DATABASE;

/// Connection strings and things to try. `pgmoat` is the binary, wherever it was built.
pub(crate) fn hints(port: u16, pgmoat: &Path) -> String {
    let here = env::current_dir().ok();
    let pgmoat = here.and_then(|here| pgmoat.strip_prefix(here).ok()).unwrap_or(pgmoat).display();
    let dsns: String = users()
        .iter()
        .map(|user| {
            let (name, password, principal) = (user.name, user.password(), user.principal());
            format!("  {principal:<16} postgresql://{name}:{password}@127.0.0.1:{port}/{DATABASE}\n")
        })
        .collect();
    format!(
        "\nThe lab is up. Connect as\n{dsns}\nTry\n\
         \x20 lab/psql acme_app                                    orders, customers, invoices: acme's alone\n\
         \x20 lab/psql globex_app -c \"SELECT count(*) FROM app.orders WHERE tenant_id = 'acme'\"      refused\n\
         \x20 lab/psql ops -c 'SELECT count(*) FROM app.orders'    every tenant's, to read only\n\
         \x20 PGPASSWORD=ops-secret pgbench -n -S -M prepared -T 5 -h 127.0.0.1 -p {port} -U ops {DATABASE}\n\
         \x20 tail -n 2 lab/run/audit.jsonl                        what was decided, and why\n\
         \x20 {pgmoat} policy test lab/suite.yaml      what the policy must decide, statement by statement\n\
         \x20 {pgmoat} verify -p lab/policy.yaml --catalog policy/golden/lab-catalog.json --as app:acme --explain --sql \
         'SELECT id FROM app.orders'\n\
         The policy is lab/policy.yaml, the configuration lab/run/pgmoat.yaml.\n\
         lab/down ends it (Ctrl-C where it runs in the foreground).\n"
    )
}
