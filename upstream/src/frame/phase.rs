//! How long a message may be: a cap for each tag, by who speaks and how far the session is.
//!
//! All figures count as the wire does: the four length bytes and the body, not the tag.

/// Who speaks, and whether the session is past its login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A client that has not logged in yet: it may only answer the authentication request.
    ClientLogin,
    /// A client that has logged in.
    ClientSession {
        /// Cap for messages that carry statements and values (Query, Parse, Bind, FunctionCall,
        /// CopyData).
        large_bytes: usize,
    },
    /// A server up to its first ReadyForQuery.
    ServerLogin,
    /// A server after that.
    ServerSession,
}

impl Phase {
    /// The greatest length a message with this tag may announce in this phase, in bytes; `None` if
    /// there is no such message here.
    pub fn cap_bytes(self, tag: u8) -> Option<usize> {
        match self {
            Phase::ClientLogin => client_login(tag),
            Phase::ClientSession { large_bytes } => client_session(tag, large_bytes),
            Phase::ServerLogin => server_login(tag),
            Phase::ServerSession => server_session(tag),
        }
    }
}

fn client_login(tag: u8) -> Option<usize> {
    match tag {
        b'p' => Some(SASL_CAP_BYTES),
        _ => None,
    }
}

fn client_session(tag: u8, large_bytes: usize) -> Option<usize> {
    match tag {
        b'Q' | b'P' | b'B' | b'F' | b'd' => Some(large_bytes),
        b'C' | b'D' | b'E' | b'H' | b'S' | b'X' | b'c' | b'f' => Some(SMALL_CLIENT_CAP_BYTES),
        _ => None,
    }
}

fn server_login(tag: u8) -> Option<usize> {
    match tag {
        b'R' | b'v' => Some(AUTHENTICATION_CAP_BYTES),
        b'K' => Some(KEY_CAP_BYTES),
        b'E' | b'N' | b'S' => Some(SMALL_SERVER_CAP_BYTES),
        b'Z' => Some(READY_BYTES),
        _ => None,
    }
}

fn server_session(tag: u8) -> Option<usize> {
    match tag {
        b'D' | b'd' => Some(OPAQUE_CAP_BYTES),
        b'E' | b'N' | b'A' | b'T' | b't' | b'V' | b'G' | b'H' | b'W' => Some(WHOLE_CAP_BYTES),
        b'S' | b'C' => Some(SMALL_SERVER_CAP_BYTES),
        b'1' | b'2' | b'3' | b'n' | b's' | b'I' | b'c' => Some(EMPTY_BYTES),
        b'Z' => Some(READY_BYTES),
        // K, R and v belong to the login alone.
        _ => None,
    }
}

/// DataRow and CopyData: PostgreSQL's own limit is one byte below 1 GiB (MaxAllocSize). They are
/// streamed, so this bounds no memory.
pub const OPAQUE_CAP_BYTES: usize = 1 << 30;

/// PostgreSQL's PG_MAX_SASL_MESSAGE_LENGTH.
const SASL_CAP_BYTES: usize = 1_024;
/// PostgreSQL's PQ_SMALL_MESSAGE_LIMIT.
const SMALL_CLIENT_CAP_BYTES: usize = 10_000;
/// libpq's cap for authentication requests and NegotiateProtocolVersion.
const AUTHENTICATION_CAP_BYTES: usize = 2_000;
/// Process id and a cancel key of at most 256 bytes (protocol 3.2).
const KEY_CAP_BYTES: usize = 4 + 4 + 256;
/// libpq's cap for messages that are not one of VALID_LONG_MESSAGE_TYPE.
const SMALL_SERVER_CAP_BYTES: usize = 30_000;
/// Messages of the server that are looked at as a whole and may be long: errors and notices with a
/// statement inside, row descriptions. A server that sends more is cut off.
const WHOLE_CAP_BYTES: usize = 16 << 20;
const EMPTY_BYTES: usize = 4;
const READY_BYTES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_admits_next_to_nothing() {
        let clients: Vec<u8> = (0..=u8::MAX).filter(|t| Phase::ClientLogin.cap_bytes(*t).is_some()).collect();
        assert_eq!(clients, b"p");
        let servers: Vec<u8> = (0..=u8::MAX).filter(|t| Phase::ServerLogin.cap_bytes(*t).is_some()).collect();
        assert_eq!(servers, b"EKNRSZv");
    }

    #[test]
    fn large_goes_by_the_configured_cap_and_small_does_not() {
        let phase = Phase::ClientSession { large_bytes: 1 << 20 };
        assert_eq!(phase.cap_bytes(b'Q'), Some(1 << 20));
        assert_eq!(phase.cap_bytes(b'S'), Some(10_000));
        assert_eq!(phase.cap_bytes(b'p'), None);
        assert_eq!(phase.cap_bytes(0), None);
    }
}
