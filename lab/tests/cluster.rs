//! The lab on a real PostgreSQL.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::net::TcpStream;

use pgmoat_lab::{Cluster, Options, SERVICE_USER};

#[test]
fn a_cluster_has_the_lab_and_vanishes_with_its_owner() {
    let mut cluster = Cluster::start(Options::default()).unwrap();
    cluster.create_lab_database("one").unwrap();
    let two = cluster.fresh_lab_database().unwrap();
    cluster.pgbench_init(&two, 1).unwrap();

    assert_eq!(cluster.psql("one", "SELECT count(*) FROM app.orders").unwrap(), "21000\n");
    assert_eq!(cluster.psql(&two, "SHOW server_encoding").unwrap(), "UTF8\n");
    let granted =
        format!("SELECT has_table_privilege('{SERVICE_USER}', 'public.pgbench_accounts', 'select')");
    assert_eq!(cluster.psql(&two, &granted).unwrap(), "t\n");

    let port = cluster.port();
    cluster.stop();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    assert!(cluster.psql("one", "SELECT 1").is_err());
    cluster.restart().unwrap();
    assert_eq!((cluster.port(), cluster.psql("one", "SELECT 1").unwrap().as_str()), (port, "1\n"));

    let folder = cluster.folder().to_owned();
    assert!(folder.exists());
    drop(cluster);
    assert!(!folder.exists());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}
