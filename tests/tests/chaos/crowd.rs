//! Very many clients at one time.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::Duration;

use pgmoat_tests::{Mode, Raw, Stack, front, length};

use crate::afterwards::{House, eventually};

/// Two thousand connections, as fast as they can be made: some are served, some turned away, none hurts.
#[test]
fn two_thousand_connections_at_once_leave_the_proxy_as_it_was() {
    let house = House::with_pool(Stack::get(), Mode::Transaction);
    let pid = house.proxied.proxy.pid().unwrap();
    let files = || fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let before = files();
    let port = house.proxied.proxy.port();
    let mut packet = Vec::new();
    front::startup(0x0003_0000, &[("user", "ops"), ("database", "lab")]).encode(&mut packet).unwrap();
    let mut crowd = Vec::new();
    for _ in 0..2_000 {
        let Ok(mut socket) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { continue };
        socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        // Turned away before this is written: as good.
        let _ = socket.write_all(&packet);
        crowd.push(socket);
    }
    let mut answered = 0;
    for socket in crowd.iter_mut().take(200) {
        let mut tag = [0];
        answered += usize::from(matches!(socket.read(&mut tag), Ok(1) if matches!(tag, [b'R' | b'E'])));
    }
    assert!(answered > 0, "nobody was answered");
    drop(crowd);
    eventually("they are gone", || files() <= before + 8, || files().to_string());
    house.is_whole();
}

/// Whole sessions, many at a time: each client gets its own answers, whoever had the connection before.
#[test]
fn clients_in_a_rush_get_their_own_answers() {
    in_a_rush("mode: session, size: 8");
    in_a_rush(&Mode::Transaction.pool(3));
}

fn in_a_rush(pool: &str) {
    let proxied = Stack::get().proxy_with(|config| config.databases[0].pool = pool.into()).unwrap();
    let threads: Vec<_> = (0..8)
        .map(|thread: usize| {
            let login = proxied.login("acme_app");
            let (port, password) = (login.port, login.password.clone());
            thread::spawn(move || {
                for number in 0..length(6, 150) {
                    let login = pgmoat_tests::Login {
                        port,
                        user: "acme_app",
                        password: password.clone(),
                        database: "lab",
                        more: &[],
                    };
                    let mut raw = Raw::connect(&login).unwrap();
                    let mine = format!("{thread}-{number}");
                    let heard = raw.query(&format!("SELECT '{mine}'")).unwrap();
                    assert_eq!(heard.rows()[0][0].as_deref(), Some(mine.as_str()), "{heard}");
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
