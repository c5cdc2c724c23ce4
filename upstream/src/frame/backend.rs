//! Strict decoders for the small messages of a server that a session looks at.

use super::cursor::{Cursor, DecodeError};

/// What ReadyForQuery says about the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// `I`: outside a transaction block.
    Idle,
    /// `T`: inside one.
    InTransaction,
    /// `E`: inside one that has failed.
    Failed,
}

impl TransactionStatus {
    /// The status that stands for this byte, if one does.
    pub fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            b'I' => Some(TransactionStatus::Idle),
            b'T' => Some(TransactionStatus::InTransaction),
            b'E' => Some(TransactionStatus::Failed),
            _ => None,
        }
    }

    /// The byte on the wire.
    pub fn byte(self) -> u8 {
        match self {
            TransactionStatus::Idle => b'I',
            TransactionStatus::InTransaction => b'T',
            TransactionStatus::Failed => b'E',
        }
    }
}

/// ReadyForQuery's status.
pub fn ready_for_query(body: &[u8]) -> Result<TransactionStatus, DecodeError> {
    let mut cursor = Cursor::new(body);
    let byte = cursor.u8("transaction status")?;
    cursor.finish("ReadyForQuery")?;
    TransactionStatus::from_byte(byte).ok_or(DecodeError::BadValue { what: "transaction status" })
}

/// ParameterStatus: the setting's name and its value.
pub fn parameter_status(body: &[u8]) -> Result<(&str, &str), DecodeError> {
    let mut cursor = Cursor::new(body);
    let pair = (cursor.text("parameter name")?, cursor.text("parameter value")?);
    cursor.finish("ParameterStatus")?;
    Ok(pair)
}

/// CommandComplete's tag, such as `INSERT 0 1`.
pub fn command_complete(body: &[u8]) -> Result<&str, DecodeError> {
    let mut cursor = Cursor::new(body);
    let tag = cursor.text("command tag")?;
    cursor.finish("CommandComplete")?;
    Ok(tag)
}

/// BackendKeyData: the process id and the cancel key (4 to 256 bytes; longer than 4 from protocol
/// 3.2 on).
pub fn backend_key_data(body: &[u8]) -> Result<(i32, &[u8]), DecodeError> {
    let mut cursor = Cursor::new(body);
    let pid = cursor.i32("process id")?;
    match cursor.rest().len() {
        4..=256 => Ok((pid, cursor.rest())),
        _ => Err(DecodeError::BadValue { what: "cancel key" }),
    }
}

/// NegotiateProtocolVersion in answer to a start-up packet of version `asked` without protocol options: the version
/// that is spoken, of the same major and no newer, and no option that is not known.
pub fn negotiated_version(body: &[u8], asked: u32) -> Result<u32, DecodeError> {
    let mut cursor = Cursor::new(body);
    let version = cursor.u32("protocol version")?;
    let options = cursor.u32("option count")?;
    cursor.finish("NegotiateProtocolVersion")?;
    if version > asked || version >> 16 != asked >> 16 {
        return Err(DecodeError::BadValue { what: "protocol version" });
    }
    if options != 0 {
        return Err(DecodeError::BadValue { what: "option count" });
    }
    Ok(version)
}

/// What a server asks for during login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authentication<'a> {
    /// Nothing (any more).
    Ok,
    /// The password in clear text.
    CleartextPassword,
    /// The password hashed with MD5 and this salt.
    Md5Password([u8; 4]),
    /// One of these mechanisms, each ended by a NUL, the list by another.
    Sasl(&'a [u8]),
    /// The next step of a SASL exchange.
    SaslContinue(&'a [u8]),
    /// The last step of a SASL exchange.
    SaslFinal(&'a [u8]),
    /// Kerberos, GSSAPI, SSPI or something of tomorrow.
    Other(i32),
}

/// An authentication request.
pub fn authentication(body: &[u8]) -> Result<Authentication<'_>, DecodeError> {
    let mut cursor = Cursor::new(body);
    let request = match cursor.i32("authentication request")? {
        0 => Authentication::Ok,
        3 => Authentication::CleartextPassword,
        5 => {
            let salt = cursor.bytes(4, "salt")?;
            Authentication::Md5Password(*salt.first_chunk().ok_or(DecodeError::Truncated { what: "salt" })?)
        }
        10 => return Ok(Authentication::Sasl(cursor.rest())),
        11 => return Ok(Authentication::SaslContinue(cursor.rest())),
        12 => return Ok(Authentication::SaslFinal(cursor.rest())),
        other => return Ok(Authentication::Other(other)),
    };
    cursor.finish("authentication request")?;
    Ok(request)
}

/// The mechanisms of [`Authentication::Sasl`].
pub fn sasl_mechanisms(list: &[u8]) -> Result<Vec<&str>, DecodeError> {
    let (mut cursor, mut mechanisms) = (Cursor::new(list), Vec::new());
    loop {
        match cursor.text("SASL mechanism")? {
            "" => break,
            name => mechanisms.push(name),
        }
    }
    cursor.finish("SASL mechanisms")?;
    Ok(mechanisms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_for_query_is_one_of_three_bytes() {
        for status in [TransactionStatus::Idle, TransactionStatus::InTransaction, TransactionStatus::Failed] {
            assert_eq!(ready_for_query(&[status.byte()]), Ok(status));
        }
        for body in [&b""[..], b"X", b"II", b"\0"] {
            assert!(ready_for_query(body).is_err(), "{body:?}");
        }
    }

    #[test]
    fn pairs_and_tags_leave_nothing_over() {
        assert_eq!(parameter_status(b"TimeZone\0UTC\0"), Ok(("TimeZone", "UTC")));
        assert_eq!(command_complete(b"SELECT 1\0"), Ok("SELECT 1"));
        for body in [&b"TimeZone\0UTC"[..], b"TimeZone\0UTC\0\0", b"TimeZone\0", b"", b"a\0\xff\0"] {
            assert!(parameter_status(body).is_err(), "{body:?}");
        }
        for body in [&b"SELECT 1"[..], b"SELECT 1\0x", b"\xff\0", b""] {
            assert!(command_complete(body).is_err(), "{body:?}");
        }
    }

    #[test]
    fn cancel_keys_are_4_to_256_bytes() {
        assert_eq!(backend_key_data(b"\0\0\0\x07keys"), Ok((7, &b"keys"[..])));
        for length in [0, 3, 257] {
            assert!(backend_key_data(&vec![0; 4 + length]).is_err(), "{length}");
        }
    }

    #[test]
    fn a_negotiated_version_is_at_most_the_one_asked_for() {
        let said = |version: u32, options: u32| [version.to_be_bytes(), options.to_be_bytes()].concat();
        for version in [3 << 16, 3 << 16 | 1, 3 << 16 | 2] {
            assert_eq!(negotiated_version(&said(version, 0), 3 << 16 | 2), Ok(version));
        }
        for wrong in [said(3 << 16 | 3, 0), said(2 << 16, 0), said(0, 0), said(3 << 16, 1), vec![0, 3, 0, 0]]
        {
            assert!(negotiated_version(&wrong, 3 << 16 | 2).is_err(), "{wrong:?}");
        }
        assert!(negotiated_version(&[said(3 << 16, 0), vec![0]].concat(), 3 << 16 | 2).is_err());
    }

    #[test]
    fn mechanisms_end_in_an_empty_one() {
        assert_eq!(authentication(b"\0\0\0\x0aA\0B\0\0"), Ok(Authentication::Sasl(b"A\0B\0\0")));
        assert_eq!(sasl_mechanisms(b"A\0B\0\0"), Ok(vec!["A", "B"]));
        for list in [&b""[..], b"A\0", b"A", b"A\0\0B\0"] {
            assert!(sasl_mechanisms(list).is_err(), "{list:?}");
        }
    }

    #[test]
    fn authentication_requests_are_exact() {
        assert_eq!(authentication(b"\0\0\0\0"), Ok(Authentication::Ok));
        assert_eq!(authentication(b"\0\0\0\x05salt"), Ok(Authentication::Md5Password(*b"salt")));
        for body in [&b""[..], b"\0\0\0", b"\0\0\0\0x", b"\0\0\0\x05sal", b"\0\0\0\x05salty"] {
            assert!(authentication(body).is_err(), "{body:?}");
        }
        assert_eq!(authentication(b"\0\0\0\x07"), Ok(Authentication::Other(7)));
    }
}
