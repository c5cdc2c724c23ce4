//! What a client's bytes go over: TCP, TLS, a Unix socket.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pgmoat_upstream::tls_server_end_point;
use rustls::crypto::ring;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};

use crate::Identity;

/// How a client encrypts.
#[derive(Debug, Clone)]
pub struct TlsClient {
    config: Arc<ClientConfig>,
}

impl TlsClient {
    /// For servers called `localhost` with a certificate from this authority; a certificate is shown if there is one,
    /// and the protocols are named (ALPN).
    ///
    /// # Errors
    ///
    /// The files are not what they should be.
    pub fn new(authority: &Path, shows: Option<&Identity>, protocols: &[&[u8]]) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(authority).map_err(io::Error::other)? {
            roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots);
        let mut config = match shows {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let chain = CertificateDer::pem_file_iter(&identity.cert).map_err(io::Error::other)?;
                let chain = chain.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
                let key = PrivateKeyDer::from_pem_file(&identity.key).map_err(io::Error::other)?;
                builder.with_client_auth_cert(chain, key).map_err(io::Error::other)?
            }
        };
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(Self { config: Arc::new(config) })
    }
}

/// An open socket.
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Socket {
    /// The handshake, which waits no longer than any other read.
    pub(crate) fn encrypt(tcp: TcpStream, client: &TlsClient) -> io::Result<Self> {
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::clone(&client.config), name).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(connection, tcp);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Socket::Tls(Box::new(stream)))
    }

    pub(crate) fn wait_at_most(&self, limit: Duration) -> io::Result<()> {
        match self {
            Socket::Tcp(tcp) => limit_tcp(tcp, limit),
            Socket::Tls(tls) => limit_tcp(&tls.sock, limit),
            Socket::Unix(unix) => {
                unix.set_read_timeout(Some(limit))?;
                unix.set_write_timeout(Some(limit))
            }
        }
    }

    /// Ends the sending side only; a TLS one without saying so.
    pub(crate) fn end_of_input(&self) -> io::Result<()> {
        match self {
            Socket::Tcp(tcp) => tcp.shutdown(Shutdown::Write),
            Socket::Tls(tls) => tls.sock.shutdown(Shutdown::Write),
            Socket::Unix(unix) => unix.shutdown(Shutdown::Write),
        }
    }

    /// The TCP socket, under TLS too.
    pub(crate) fn tcp(&self) -> Option<&TcpStream> {
        match self {
            Socket::Tcp(tcp) => Some(tcp),
            Socket::Tls(tls) => Some(&tls.sock),
            Socket::Unix(_) => None,
        }
    }

    /// The TLS connection.
    pub(crate) fn tls(&mut self) -> Option<&mut StreamOwned<ClientConnection, TcpStream>> {
        match self {
            Socket::Tls(tls) => Some(tls),
            Socket::Tcp(_) | Socket::Unix(_) => None,
        }
    }

    /// What SCRAM binds to, if there is a certificate that has it.
    pub(crate) fn end_point(&self) -> Option<Vec<u8>> {
        match self {
            Socket::Tls(tls) => tls_server_end_point(tls.conn.peer_certificates()?.first()?),
            Socket::Tcp(_) | Socket::Unix(_) => None,
        }
    }
}

fn limit_tcp(tcp: &TcpStream, limit: Duration) -> io::Result<()> {
    tcp.set_read_timeout(Some(limit))?;
    tcp.set_write_timeout(Some(limit))
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(tcp) => tcp.read(buffer),
            Socket::Unix(unix) => unix.read(buffer),
            Socket::Tls(tls) => tls.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(tcp) => tcp.write(bytes),
            Socket::Unix(unix) => unix.write(bytes),
            // Each write is a record of its own, sent at once.
            Socket::Tls(tls) => {
                let written = tls.write(bytes)?;
                tls.flush()?;
                Ok(written)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Socket::Tcp(tcp) => tcp.flush(),
            Socket::Unix(unix) => unix.flush(),
            Socket::Tls(tls) => tls.flush(),
        }
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Socket::Tcp(_) => "Tcp",
            Socket::Unix(_) => "Unix",
            Socket::Tls(_) => "Tls",
        })
    }
}
