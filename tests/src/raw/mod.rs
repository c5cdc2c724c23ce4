//! A client that says exactly what it is told, and keeps what it hears.
//!
//! Drivers repair, reorder and hide; a proxy must be right below them. Everything here blocks, with one limit on each
//! wait: a test that would hang fails with what came so far.

pub mod front;
pub(crate) mod message;
mod scram;
pub(crate) mod socket;

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use socket::{Socket, TlsClient};

use crate::{Front, Message, Transcript};

/// Where and as whom to log in.
#[derive(Debug, Clone)]
pub struct Login<'a> {
    /// A loopback port.
    pub port: u16,
    /// The user.
    pub user: &'a str,
    /// The password, for SCRAM-SHA-256.
    pub password: String,
    /// The database.
    pub database: &'a str,
    /// Further start-up parameters.
    pub more: &'a [(&'a str, &'a str)],
}

/// A connection.
#[derive(Debug)]
pub struct Raw {
    socket: Socket,
    buffer: Vec<u8>,
    greeting: Transcript,
    write_bytes: usize,
}

impl Raw {
    /// A bare connection to a loopback port; nothing is sent.
    ///
    /// # Errors
    ///
    /// From connect(2).
    pub fn open(port: u16) -> io::Result<Self> {
        let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        socket.set_nodelay(true)?;
        Self::over(Socket::Tcp(socket))
    }

    /// A bare connection to a Unix socket; nothing is sent.
    ///
    /// # Errors
    ///
    /// From connect(2).
    pub fn open_unix(path: &Path) -> io::Result<Self> {
        Self::over(Socket::Unix(UnixStream::connect(path)?))
    }

    /// A connection that was encrypted by SSLRequest; nothing else is sent.
    ///
    /// # Errors
    ///
    /// Encryption was declined, or the handshake failed.
    pub fn open_tls(port: u16, client: &TlsClient) -> io::Result<Self> {
        let mut raw = Self::open(port)?;
        raw.send(&[front::ssl_request()])?;
        match raw.next_byte()? {
            Some(b'S') => raw.encrypt(client),
            other => Err(io::Error::other(format!("SSLRequest was answered {other:?}"))),
        }
    }

    /// A connection that begins with TLS.
    ///
    /// # Errors
    ///
    /// The handshake failed.
    pub fn open_direct_tls(port: u16, client: &TlsClient) -> io::Result<Self> {
        Self::open(port)?.encrypt(client)
    }

    /// The handshake, now, on a connection in the clear.
    ///
    /// # Errors
    ///
    /// It failed.
    pub fn encrypt(self, client: &TlsClient) -> io::Result<Self> {
        match self.socket {
            Socket::Tcp(tcp) => Self::over(Socket::encrypt(tcp, client)?),
            Socket::Unix(_) | Socket::Tls(_) => Err(io::Error::other("only TCP is encrypted")),
        }
    }

    fn over(socket: Socket) -> io::Result<Self> {
        socket.wait_at_most(PATIENCE)?;
        Ok(Self { socket, buffer: Vec::new(), greeting: Transcript::default(), write_bytes: usize::MAX })
    }

    /// The TCP socket below, with whose bytes a test may do as it likes.
    #[must_use]
    pub fn tcp(&self) -> Option<&TcpStream> {
        self.socket.tcp()
    }

    /// The TLS connection, for what only its owner can do.
    pub fn tls(&mut self) -> Option<&mut rustls::ClientConnection> {
        self.socket.tls().map(|tls| &mut tls.conn)
    }

    /// Connects, logs in and reads up to the first ReadyForQuery.
    ///
    /// # Errors
    ///
    /// A refused login, with what was said; an exchange that is not SCRAM's.
    pub fn connect(login: &Login<'_>) -> io::Result<Self> {
        let mut raw = Self::open(login.port)?;
        raw.log_in(login)?;
        Ok(raw)
    }

    /// From now on each byte is a write of its own.
    pub fn write_byte_by_byte(&mut self) {
        self.write_at_most(1);
    }

    /// From now on no write is longer than so many bytes.
    pub fn write_at_most(&mut self, bytes: usize) {
        self.write_bytes = bytes.max(1);
    }

    /// From now on a read or write waits for so long at most.
    ///
    /// # Errors
    ///
    /// From setsockopt(2).
    pub fn wait_at_most(&mut self, limit: Duration) -> io::Result<()> {
        self.socket.wait_at_most(limit)
    }

    /// Logs in on a bare connection and reads up to the first ReadyForQuery.
    ///
    /// # Errors
    ///
    /// As [`Raw::connect`].
    pub fn log_in(&mut self, login: &Login<'_>) -> io::Result<()> {
        self.log_in_by(PROTOCOL_3_0, login)
    }

    /// The same by another protocol version.
    ///
    /// # Errors
    ///
    /// As [`Raw::connect`].
    pub fn log_in_by(&mut self, version: u32, login: &Login<'_>) -> io::Result<()> {
        let mut parameters = vec![("user", login.user), ("database", login.database)];
        parameters.extend(login.more);
        self.send(&[front::startup(version, &parameters)])?;
        self.greeting = scram::log_in(self, login.password.as_bytes())?;
        Ok(())
    }

    /// What the server said during the login.
    #[must_use]
    pub fn greeting(&self) -> &Transcript {
        &self.greeting
    }

    /// What the server said for a CancelRequest (BackendKeyData): process number and key. Empty before the login.
    #[must_use]
    pub fn cancel_key(&self) -> Vec<u8> {
        let said = self.greeting.messages.iter().find(|message| message.tag == b'K');
        said.map(|message| message.body.clone()).unwrap_or_default()
    }

    /// The single byte that answers a request for encryption; none when the connection has ended.
    ///
    /// # Errors
    ///
    /// Nothing came in time.
    pub fn next_byte(&mut self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        match self.socket.read(&mut byte) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(byte.first().copied()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends messages in one write.
    ///
    /// # Errors
    ///
    /// From write(2).
    pub fn send(&mut self, messages: &[Front]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for message in messages {
            message.encode(&mut bytes)?;
        }
        self.send_bytes(&bytes)
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    ///
    /// From write(2).
    pub fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        bytes.chunks(self.write_bytes).try_for_each(|chunk| self.socket.write_all(chunk))
    }

    /// Ends the sending side only.
    ///
    /// # Errors
    ///
    /// From shutdown(2).
    pub fn end_of_input(&mut self) -> io::Result<()> {
        self.socket.end_of_input()
    }

    /// The next message; none when the connection has ended.
    ///
    /// # Errors
    ///
    /// Nothing came in time, or what came is no message.
    pub fn next_message(&mut self) -> io::Result<Option<Message>> {
        loop {
            if let Some(message) = Message::take(&mut self.buffer)? {
                return Ok(Some(message));
            }
            let mut bytes = [0; 8192];
            match self.socket.read(&mut bytes) {
                Ok(0) if self.buffer.is_empty() => return Ok(None),
                Ok(0) => return Err(io::Error::other("the connection ended within a message")),
                Ok(count) => self.buffer.extend(bytes.iter().take(count)),
                // A server that closes with our bytes unread resets the connection: an end like another.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// The next message's letter and the length of its body, which is read and not kept: it may be of any size.
    ///
    /// # Errors
    ///
    /// As [`Raw::next_message`].
    pub fn skim(&mut self) -> io::Result<Option<(u8, u64)>> {
        const HEADER_BYTES: usize = 5;
        let mut bytes = [0; 65_536];
        while self.buffer.len() < HEADER_BYTES {
            match self.socket.read(&mut bytes)? {
                0 if self.buffer.is_empty() => return Ok(None),
                0 => return Err(io::Error::other("the connection ended within a message")),
                count => self.buffer.extend(bytes.iter().take(count)),
            }
        }
        let header: Vec<u8> = self.buffer.drain(..HEADER_BYTES).collect();
        let length = header.iter().skip(1).fold(0_u64, |length, byte| length << 8 | u64::from(*byte));
        let body = length.saturating_sub(4);
        let mut left = body;
        while left > 0 {
            if self.buffer.is_empty() {
                match self.socket.read(&mut bytes)? {
                    0 => return Err(io::Error::other("the connection ended within a message")),
                    count => self.buffer.extend(bytes.iter().take(count)),
                }
            }
            let taken = usize::try_from(left).unwrap_or(usize::MAX).min(self.buffer.len());
            self.buffer.drain(..taken);
            left = left.saturating_sub(taken as u64);
        }
        Ok(header.first().map(|tag| (*tag, body)))
    }

    /// Sends messages in one write and reads up to the first ReadyForQuery, or to the end.
    ///
    /// # Errors
    ///
    /// As [`Raw::send`] and [`Raw::next_message`].
    pub fn ask(&mut self, messages: &[Front]) -> io::Result<Transcript> {
        self.send(messages)?;
        self.read(1)
    }

    /// Runs one Query.
    ///
    /// # Errors
    ///
    /// As [`Raw::ask`].
    pub fn query(&mut self, sql: &str) -> io::Result<Transcript> {
        self.ask(&[front::q(sql)])
    }

    /// Reads up to and with the `ready`th ReadyForQuery, or to the end of the connection.
    ///
    /// # Errors
    ///
    /// As [`Raw::next_message`], with what came before.
    pub fn read(&mut self, ready: usize) -> io::Result<Transcript> {
        let (mut heard, mut seen) = (Transcript::default(), 0);
        while seen < ready && !heard.closed {
            self.hear(&mut heard)?;
            seen += usize::from(!heard.closed && heard.messages.last().is_some_and(|last| last.tag == b'Z'));
        }
        Ok(heard)
    }

    /// Reads as many messages as `wanted` names (`1 2 D C Z(I)`, `closed` for the end) and compares.
    ///
    /// # Errors
    ///
    /// Something else came; both are in the text.
    pub fn expect(&mut self, wanted: &str) -> io::Result<Transcript> {
        let mut heard = Transcript::default();
        for word in wanted.split_whitespace() {
            self.hear(&mut heard).map_err(|error| io::Error::other(format!("wanted {wanted}: {error}")))?;
            // Stop at the first difference: what is wanted after it may never come.
            if heard.last_word() != word {
                break;
            }
        }
        if heard.to_string() == wanted {
            return Ok(heard);
        }
        Err(io::Error::other(format!("wanted {wanted}, heard {heard}{}", heard.complaints())))
    }

    /// Checks that nothing else was owed: a Sync gets its ReadyForQuery at once and nothing before it.
    ///
    /// # Errors
    ///
    /// Something came before it.
    pub fn expect_silence(&mut self) -> io::Result<()> {
        let heard = self.ask(&[front::s()])?;
        match heard.messages.as_slice() {
            [only] if only.tag == b'Z' => Ok(()),
            _ => Err(io::Error::other(format!("wanted nothing more, heard {heard}{}", heard.complaints()))),
        }
    }

    fn hear(&mut self, heard: &mut Transcript) -> io::Result<()> {
        match self.next_message() {
            Ok(Some(message)) => heard.messages.push(message),
            Ok(None) => heard.closed = true,
            Err(error) => return Err(io::Error::other(format!("{error} after {heard}"))),
        }
        Ok(())
    }
}

/// Protocol version 3.0 as a start-up packet carries it.
pub(crate) const PROTOCOL_3_0: u32 = 0x0003_0000;

/// The longest wait for one read or write. A right answer comes in milliseconds; only a wrong one waits for this.
const PATIENCE: Duration = Duration::from_secs(20);
