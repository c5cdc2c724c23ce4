//! The client's half of the login (SCRAM-SHA-256, RFC 5802), up to the first ReadyForQuery.

use std::io;

use bytes::BytesMut;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::frontend;

use crate::{Message, Raw, Transcript};

/// Answers the server's demands and returns all that it said.
pub(crate) fn log_in(raw: &mut Raw, password: &[u8]) -> io::Result<Transcript> {
    let mut heard = Transcript::default();
    let mut scram = None;
    loop {
        let Some(message) = raw.next_message()? else {
            heard.closed = true;
            return Err(refused(&heard));
        };
        let mut answer = BytesMut::new();
        match (message.tag, demand(&message)) {
            (b'R', Some((SASL, offered))) => {
                let (mechanism, binding) = raw.choose(offered);
                let scram = scram.insert(ScramSha256::new(password, binding));
                frontend::sasl_initial_response(mechanism, scram.message(), &mut answer)?
            }
            (b'R', Some((SASL_CONTINUE, data))) => {
                let scram = scram.as_mut().ok_or_else(out_of_order)?;
                scram.update(data)?;
                frontend::sasl_response(scram.message(), &mut answer)?;
            }
            (b'R', Some((SASL_FINAL, data))) => scram.as_mut().ok_or_else(out_of_order)?.finish(data)?,
            (b'R', Some((OK, _))) => {}
            (b'R', other) => return Err(io::Error::other(format!("a login that is not SCRAM: {other:?}"))),
            _ => {}
        }
        let tag = message.tag;
        heard.messages.push(message);
        match tag {
            b'E' => return Err(refused(&heard)),
            b'Z' => return Ok(heard),
            _ => raw.send_bytes(&answer)?,
        }
    }
}

impl Raw {
    /// As libpq chooses: channel binding wherever both can, `y` where only we can.
    fn choose(&self, offered: &[u8]) -> (&'static str, ChannelBinding) {
        let plus = offered.split(|byte| *byte == 0).any(|name| name == SCRAM_SHA_256_PLUS.as_bytes());
        match self.socket.end_point() {
            Some(hash) if plus => (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash)),
            Some(_) => (SCRAM_SHA_256, ChannelBinding::unrequested()),
            None => (SCRAM_SHA_256, ChannelBinding::unsupported()),
        }
    }
}

fn out_of_order() -> io::Error {
    io::Error::other("a SCRAM message before the mechanisms")
}

fn demand(message: &Message) -> Option<(u32, &[u8])> {
    let (kind, data) = message.body.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*kind), data))
}

fn refused(heard: &Transcript) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{heard}{}", heard.complaints()))
}

const OK: u32 = 0;
const SASL: u32 = 10;
const SASL_CONTINUE: u32 = 11;
const SASL_FINAL: u32 = 12;
