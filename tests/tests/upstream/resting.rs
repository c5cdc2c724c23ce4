//! What a server does to a connection at rest: it is looked at before anybody gets it.

use pgmoat_upstream::Cause;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::*;

/// Says these bytes on a connection at rest; whether it is handed out again, and why not.
async fn said(bytes: &'static [u8]) -> Result<Lease, Cause> {
    let (server, mut clients) = Scripted::start().await;
    let pool = Pool::new(server, PoolConfig::default());
    let lease = pool.checkout(soon()).await.unwrap();
    let mut client = clients.recv().await.unwrap();
    rest(lease);
    client.write_all(bytes).await.unwrap();
    // By then it has crossed the loopback.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let opened = pool.stats().opened;
    let lease = pool.checkout(soon()).await.unwrap();
    if pool.stats().opened == opened {
        return Ok(lease);
    }
    let stats = pool.stats();
    assert_eq!(stats.destroyed, 1);
    Err(Cause::ALL.into_iter().find(|cause| stats.destroyed_for(*cause) == 1).unwrap())
}

fn rest(mut lease: Lease) {
    let proof = lease.prove_clean(QUIET).unwrap();
    lease.give_back_as_it_is(proof);
}

#[tokio::test]
async fn notices_and_settings_are_read_and_the_connection_is_good() {
    let lease = said(b"N\0\0\0\x0dSNOTICE\0\0S\0\0\0\x11TimeZone\0GMT\0").await.unwrap();
    assert_eq!(lease.parameters()["TimeZone"], "GMT");
    assert!(lease.incoming.is_empty());
}

#[tokio::test]
async fn anything_else_closes_it() {
    for (bytes, cause) in [
        (&b"E\0\0\0\x13SFATAL\0C57P01\0\0"[..], Cause::Dead),
        (b"N\0\0\0\x0dSNOTICE\0\0E\0\0\0\x13SFATAL\0C57P01\0\0", Cause::Dead),
        // Somebody still listens.
        (b"A\0\0\0\x0c\0\0\0\x07c\0p\0", Cause::Unasked),
        (b"Z\0\0\0\x05I", Cause::Unasked),
        // Half a message, and what is none.
        (b"N\0\0\0\x0dSNOT", Cause::Unasked),
        (b"\0\0\0\0\0\0", Cause::Unasked),
        // A pinned setting has moved.
        (b"S\0\0\0\x1eclient_encoding\0SQL_ASCII\0", Cause::Unasked),
    ] {
        assert_eq!(said(bytes).await.map(drop), Err(cause), "{}", bytes.escape_ascii());
    }
}

/// The socket is closed on the server's side while the runtime is not looking: the system is asked.
#[tokio::test]
async fn an_end_is_seen_before_the_runtime_has_heard_of_it() {
    let (server, mut clients) = Scripted::start().await;
    let pool = Pool::new(server, PoolConfig::default());
    let lease = pool.checkout(soon()).await.unwrap();
    let client = clients.recv().await.unwrap().into_std().unwrap();
    rest(lease);
    // No await between the end and the checkout's look.
    std::thread::sleep(Duration::from_millis(20));
    drop(client);
    std::thread::sleep(Duration::from_millis(20));
    let _lease = pool.checkout(soon()).await.unwrap();
    assert_eq!(pool.stats().destroyed_for(Cause::Dead), 1);
}

/// As it is: nothing is sent on the way back, and what it carries is there for the next.
#[tokio::test]
async fn without_a_reset_the_session_stays_and_with_one_it_does_not() {
    let pool = pool_of(1, &lab_database());
    let mut lease = pool.checkout(soon()).await.unwrap();
    run(&mut lease, "PREPARE kept AS SELECT 7").await;
    rest(lease);
    let mut lease = pool.checkout(soon()).await.unwrap();
    assert_eq!(cell(&mut lease, "EXECUTE kept").await, "7");
    give_back(lease).await;
    let mut lease = pool.checkout(soon()).await.unwrap();
    assert_eq!(run(&mut lease, "EXECUTE kept").await.sqlstate(), "26000");
    let proof = lease.prove_clean(QUIET).unwrap();
    let other = pool_of(1, &lab_database());
    let mut others = other.checkout(soon()).await.unwrap();
    let _ = others.prove_clean(QUIET);
    lease.give_back_as_it_is(proof);
    assert_eq!((pool.stats().idle, pool.stats().opened, pool.stats().reused), (1, 1, 2));
}

/// A server that lets everybody in and hands their sockets to the test.
struct Scripted;

impl Scripted {
    async fn start() -> (Target, mpsc::UnboundedReceiver<TcpStream>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, clients) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let _ = client.read(&mut [0; 4096]).await;
                client.write_all(WELCOME).await.unwrap();
                let _ = sender.send(client);
            }
        });
        let mut target = target("lab");
        target.endpoint.address = Address::new("127.0.0.1", port);
        (target, clients)
    }
}

const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0\
    S\0\0\0\x18server_version\x0016.2\0\
    S\0\0\0\x19server_encoding\0UTF8\0\
    S\0\0\0\x19client_encoding\0UTF8\0\
    S\0\0\0\x23standard_conforming_strings\0on\0\
    K\0\0\0\x0c\0\0\0\x07\0\0\0\x09\
    Z\0\0\0\x05I";
