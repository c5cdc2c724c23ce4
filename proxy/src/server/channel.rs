//! The bytes of one login: packets in, answers out, encrypted where the client asks for it.
//!
//! Encryption may be asked for as PostgreSQL allows it (`ProcessStartupPacket`): SSLRequest and
//! GSSENCRequest in either order, also in turns while the answer is `N`, neither once it was `S`; or
//! TLS is simply begun, which its first byte tells. Whatever stands behind a request was sent before
//! the handshake and may be anybody's: it ends the connection (CVE-2021-23214's kind).

use std::io::ErrorKind;

use bytes::{Buf as _, Bytes, BytesMut};
use pgmoat_upstream::frame::{self, Phase};
use pgmoat_upstream::in_words;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::front::Front;
use super::refusal::{End, failure};
use super::startup::{self, Opening, Refused, Startup};
use super::tls::{Encryption, ServerTls};
use crate::link::ClientStream;
use crate::session::error::ErrorFields;
use crate::shared::Peer;

/// Read ahead before anybody is known: the longest thing that may come.
const READ_BYTES: usize = 1024;

/// The first byte of a TLS handshake record; no length of a first packet begins with it.
const HANDSHAKE_RECORD: u8 = 0x16;

/// A client that has not logged in yet.
pub(super) struct Channel {
    /// None from the start of a handshake to its success.
    stream: Option<ClientStream>,
    received: BytesMut,
    encryption: Option<Encryption>,
}

/// What a client's first packets asked for.
pub(super) enum Asked {
    /// A session.
    Session(Startup),
    /// A cancel: process number and key.
    Cancel(i32, Vec<u8>),
}

/// Which requests for encryption would be answered now.
#[derive(Clone, Copy)]
enum Answerable {
    Both,
    Tls,
    Gss,
    Neither,
}

impl Channel {
    pub(super) fn new(stream: ClientStream) -> Channel {
        Channel { stream: Some(stream), received: BytesMut::new(), encryption: None }
    }

    /// What is known of the encryption, if there is one.
    pub(super) fn encryption(&self) -> Option<&Encryption> {
        self.encryption.as_ref()
    }

    /// The socket, and what was read of it and not used yet.
    pub(super) fn into_parts(self) -> Option<(ClientStream, BytesMut)> {
        Some((self.stream?, self.received))
    }

    /// Answers requests for encryption until one for a session or a cancel comes.
    pub(super) async fn asked(&mut self, peer: &Peer, front: &Front) -> Result<Asked, End> {
        if self.begins_with_tls().await? {
            let tls = front.tls.current().ok_or(End::Silent)?;
            self.handshake(&tls, peer, true).await?;
        }
        let mut answerable = Answerable::Both;
        loop {
            let packet = self.packet().await?;
            match (startup::decode(packet.get(4..).unwrap_or_default())?, answerable) {
                (Opening::Startup(startup), _) => return Ok(Asked::Session(startup)),
                (Opening::Cancel { pid, key }, _) => return Ok(Asked::Cancel(pid, key)),
                (Opening::Ssl, Answerable::Both | Answerable::Tls) => {
                    self.nothing_behind("received unencrypted data after SSL request")?;
                    let encrypted = self.answer_ssl(peer, front).await?;
                    answerable = if encrypted { Answerable::Neither } else { Answerable::Gss };
                }
                (Opening::Gss, Answerable::Both | Answerable::Gss) => {
                    self.nothing_behind("received unencrypted data after GSSAPI encryption request")?;
                    self.send(b"N").await?;
                    answerable = Answerable::Tls;
                }
                (Opening::Ssl, Answerable::Gss | Answerable::Neither) => {
                    return Err(startup::unsupported(startup::SSL_CODE).into());
                }
                (Opening::Gss, Answerable::Tls | Answerable::Neither) => {
                    return Err(startup::unsupported(startup::GSS_CODE).into());
                }
            }
        }
    }

    /// True if the connection is encrypted now. One that is already, and a Unix socket, get `N`.
    async fn answer_ssl(&mut self, peer: &Peer, front: &Front) -> Result<bool, End> {
        let offered = front.tls.current().filter(|_| matches!(self.stream, Some(ClientStream::Plain(_))));
        let Some(tls) = offered else {
            self.send(b"N").await?;
            return Ok(false);
        };
        self.send(b"S").await?;
        self.handshake(&tls, peer, false).await?;
        Ok(true)
    }

    async fn handshake(&mut self, tls: &ServerTls, peer: &Peer, direct: bool) -> Result<(), End> {
        let stream = self.plain().ok_or(End::Silent)?;
        match tls.handshake(stream, direct).await {
            Ok((stream, encryption)) => {
                self.stream = Some(ClientStream::Tls(Box::new(stream)));
                self.encryption = Some(encryption);
                Ok(())
            }
            Err(error) => {
                match error.kind() {
                    // A probe, or a client that thought better of it.
                    ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
                        tracing::debug!(client = %peer, %error, "TLS handshake given up");
                    }
                    // One that trusts another authority, or shows a certificate that is not trusted here.
                    _ => tracing::info!(client = %peer, error = in_words(&error), "TLS handshake failed"),
                }
                Err(End::Silent)
            }
        }
    }

    /// Takes the socket out for a handshake.
    fn plain(&mut self) -> Option<TcpStream> {
        match self.stream.take() {
            Some(ClientStream::Plain(stream)) => Some(stream),
            other => {
                self.stream = other;
                None
            }
        }
    }

    /// Looks at the first byte without taking it.
    async fn begins_with_tls(&mut self) -> Result<bool, End> {
        let Some(ClientStream::Plain(stream)) = &self.stream else { return Ok(false) };
        let mut first = [0];
        Ok(stream.peek(&mut first).await? > 0 && first == [HANDSHAKE_RECORD])
    }

    fn nothing_behind(&self, otherwise: &str) -> Result<(), End> {
        if self.received.is_empty() {
            return Ok(());
        }
        Err(End::Fatal(failure("08P01", otherwise, "bytes before encryption")))
    }

    /// One packet without a tag, its length word included.
    async fn packet(&mut self) -> Result<Bytes, End> {
        loop {
            match frame::startup::take(&mut self.received) {
                Ok(Some(packet)) => return Ok(packet),
                Ok(None) => self.read().await?,
                Err(_) => return Err(End::Silent),
            }
        }
    }

    /// The body of one PasswordMessage-family message.
    pub(super) async fn sasl_message(&mut self) -> Result<Bytes, End> {
        loop {
            match frame::take(&mut self.received, Phase::ClientLogin) {
                Ok(Some(mut message)) if message.first() == Some(&b'p') => {
                    message.advance(5);
                    return Ok(message);
                }
                Ok(None) => self.read().await?,
                Ok(Some(_)) | Err(_) => {
                    let message = "expected SASL response";
                    return Err(End::Fatal(failure("08P01", message, "protocol violation")));
                }
            }
        }
    }

    async fn read(&mut self) -> Result<(), End> {
        let stream = self.stream.as_mut().ok_or(End::Silent)?;
        self.received.reserve(READ_BYTES);
        match stream.read_buf(&mut self.received).await? {
            0 => Err(End::Silent),
            _ => Ok(()),
        }
    }

    /// Writes all of it, through TLS too.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), End> {
        let stream = self.stream.as_mut().ok_or(End::Silent)?;
        stream.write_all(bytes).await?;
        Ok(stream.flush().await?)
    }

    /// The last words of a login, and the end. Within a handshake there is nothing that could be read.
    pub(super) async fn end(mut self, sqlstate: &str, message: &str) {
        let mut out = BytesMut::new();
        ErrorFields::fatal(sqlstate, message).encode(&mut out);
        // The client may be gone already; closing says the same.
        let _ = self.send(&out).await;
        self.close().await;
    }

    /// The end of it, said under TLS (close_notify).
    pub(super) async fn close(mut self) {
        if let Some(stream) = &mut self.stream {
            let _ = stream.shutdown().await;
        }
    }
}

impl From<Refused> for End {
    fn from(refused: Refused) -> End {
        match refused {
            Refused::Close => End::Silent,
            Refused::Fatal(sqlstate, message) => {
                End::Fatal(failure(sqlstate, &message, "startup packet refused"))
            }
        }
    }
}
