//! A killed owner leaves nothing behind: no `Drop` runs, and the server and its folder are gone all the same.
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests fail by panicking")]

use std::env;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pgmoat_lab::{Cluster, Options};

#[test]
fn a_killed_owner_leaves_no_server_and_no_folder() {
    if env::var_os(OWNER).is_some() {
        own_a_cluster();
    }
    let test = "a_killed_owner_leaves_no_server_and_no_folder";
    let mut owner = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(OWNER, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.find_map(|line| line.strip_prefix(MARK).map(str::to_owned)).unwrap();
    let (port, folder) = said.split_once(' ').unwrap();
    let address = format!("127.0.0.1:{port}");
    assert!(TcpStream::connect(&address).is_ok() && Path::new(folder).exists());

    owner.kill().unwrap();
    owner.wait().unwrap();
    let killed = Instant::now();
    while TcpStream::connect(&address).is_ok() || Path::new(folder).exists() {
        assert!(killed.elapsed() < Duration::from_secs(60), "{folder} and its server outlived their owner");
        sleep(Duration::from_millis(100));
    }
}

/// The killed process's part.
fn own_a_cluster() -> ! {
    let cluster = Cluster::start(Options::default()).unwrap();
    println!("\n{MARK}{} {}", cluster.port(), cluster.folder().display());
    sleep(Duration::from_secs(600));
    panic!("nobody killed the owner");
}

const OWNER: &str = "PGMOAT_LAB_TEST_OWNER";
const MARK: &str = "the owner's cluster: ";
