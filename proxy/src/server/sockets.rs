//! Where clients come from: TCP addresses and Unix sockets.
//!
//! A Unix socket appears under its name with its permissions already set, in one step. What is left of
//! a process that was killed is replaced; a socket that somebody listens on, and a file that is none, are
//! not.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream as Probe;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pgmoat_upstream::keep_alive;
use tokio::net::{TcpListener, UnixListener};

use crate::config::Listen;
use crate::link::ClientStream;
use crate::shared::Peer;

/// One place where clients connect.
pub(super) enum Socket {
    /// An address.
    Tcp(TcpListener),
    /// A file.
    Unix(UnixSocket),
}

/// A listening Unix socket; its file goes when this does.
pub(super) struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
    inode: u64,
}

impl Socket {
    /// Begins to listen; `mode` is for Unix sockets, `silent` for how long a TCP client may be so before the system
    /// asks after it.
    pub(super) async fn bind(listen: &Listen, mode: u32, silent: Duration) -> io::Result<Socket> {
        match listen {
            Listen::Tcp(address) => {
                let listener = TcpListener::bind(address).await?;
                // The sockets that come of it have it too (tcp(7)).
                keep_alive(&listener, silent)?;
                Ok(Socket::Tcp(listener))
            }
            Listen::Unix(path) => UnixSocket::bind(path, mode).map(Socket::Unix),
        }
    }

    /// Where it listens, with the port that it got.
    pub(super) fn local(&self) -> io::Result<Listen> {
        match self {
            Socket::Tcp(listener) => listener.local_addr().map(Listen::Tcp),
            Socket::Unix(socket) => Ok(Listen::Unix(socket.path.clone())),
        }
    }

    /// The next client. Cancel safe.
    pub(super) async fn accept(&self) -> io::Result<(ClientStream, Peer)> {
        match self {
            Socket::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                Ok(tcp(stream, peer))
            }
            Socket::Unix(socket) => {
                let (stream, _) = socket.listener.accept().await?;
                let uid = stream.peer_cred().ok().map(|credentials| credentials.uid());
                Ok((ClientStream::Unix(stream), Peer::Unix { uid }))
            }
        }
    }
}

fn tcp(stream: tokio::net::TcpStream, peer: SocketAddr) -> (ClientStream, Peer) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
    (ClientStream::Plain(stream), Peer::Tcp(peer))
}

impl UnixSocket {
    fn bind(path: &Path, mode: u32) -> io::Result<UnixSocket> {
        free(path)?;
        // Nobody connects to the name before the permissions are right.
        let mut new = path.as_os_str().to_owned();
        new.push(".new");
        let new = PathBuf::from(new);
        free(&new)?;
        let _ = fs::remove_file(&new);
        let listener = UnixListener::bind(&new)?;
        let named = fs::set_permissions(&new, fs::Permissions::from_mode(mode))
            .and_then(|()| fs::metadata(&new))
            .and_then(|metadata| fs::rename(&new, path).map(|()| metadata.ino()));
        match named {
            Ok(inode) => Ok(UnixSocket { listener, path: path.to_owned(), inode }),
            Err(error) => {
                let _ = fs::remove_file(&new);
                Err(error)
            }
        }
    }
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        // Another process may have taken the name since.
        if fs::metadata(&self.path).is_ok_and(|metadata| metadata.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether a socket may be put there: nothing is, or a socket that nobody listens on.
fn free(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            Err(io::Error::new(io::ErrorKind::AlreadyExists, "a file that is no socket is there"))
        }
        Ok(_) => match Probe::connect(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "somebody listens on it")),
            Err(error) => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[tokio::test]
    async fn a_socket_has_its_permissions_and_goes_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let socket = UnixSocket::bind(&path, 0o750).unwrap();
        assert_eq!(mode(&path), 0o750);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no other name is left");
        Probe::connect(&path).unwrap();
        drop(socket);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn what_a_killed_process_left_is_replaced_and_what_lives_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists(), "a stale socket");
        let socket = UnixSocket::bind(&path, 0o777).unwrap();
        let second = UnixSocket::bind(&path, 0o777).err().unwrap();
        assert_eq!(second.kind(), io::ErrorKind::AddrInUse);
        Probe::connect(&path).unwrap();
        drop(socket);
        fs::write(&path, "a file").unwrap();
        let refused = UnixSocket::bind(&path, 0o777).err().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"a file");
    }

    #[tokio::test]
    async fn a_name_that_another_has_taken_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let socket = UnixSocket::bind(&path, 0o777).unwrap();
        fs::remove_file(&path).unwrap();
        let other = UnixSocket::bind(&path, 0o777).unwrap();
        drop(socket);
        Probe::connect(&path).unwrap();
        drop(other);
    }
}
