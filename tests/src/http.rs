//! A client of the HTTP listener that says exactly what it is told.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use pgmoat_lab::{Proxy, ProxyConfig};
use sha2::{Digest as _, Sha256};

/// A connection.
#[derive(Debug)]
pub struct Http {
    reader: BufReader<TcpStream>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// Its status.
    pub status: u16,
    /// Names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// All of it, without chunks.
    pub body: Vec<u8>,
}

/// A token of the tests.
pub const TOKEN: &str = "pgmoat_a-token-of-the-tests";

impl Http {
    /// Connects to a proxy's HTTP listener, where it has announced it.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn connect(proxy: &Proxy) -> io::Result<Self> {
        let log = proxy.log();
        let announced = log.lines().rev().find_map(|line| line.strip_prefix("pgmoat admin listening on "));
        let address: Option<SocketAddr> = announced.and_then(|address| address.trim().parse().ok());
        let stream = TcpStream::connect(address.ok_or_else(|| io::Error::other("no listener for HTTP"))?)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::new(stream) })
    }

    /// The socket.
    #[must_use]
    pub fn tcp(&self) -> &TcpStream {
        self.reader.get_ref()
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    ///
    /// From the socket.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// Sends a request and reads the reply.
    ///
    /// # Errors
    ///
    /// From the socket; the reply has no end.
    pub fn ask(&mut self, request: &str, token: Option<&str>, body: &[u8]) -> io::Result<HttpReply> {
        let head = head(request, token, &format!("Content-Length: {}\r\n", body.len()));
        self.write(&[head.as_bytes(), body].concat())?;
        self.reply()
    }

    /// `GET` with the tests' token.
    ///
    /// # Errors
    ///
    /// As [`Http::ask`].
    pub fn get(&mut self, path: &str) -> io::Result<HttpReply> {
        self.ask(&format!("GET {path}"), Some(TOKEN), b"")
    }

    /// `POST /v1/verify` with the tests' token.
    ///
    /// # Errors
    ///
    /// As [`Http::ask`].
    pub fn verify(&mut self, object: &str) -> io::Result<HttpReply> {
        self.ask("POST /v1/verify", Some(TOKEN), object.as_bytes())
    }

    /// `POST /v1/verify/batch` with the tests' token.
    ///
    /// # Errors
    ///
    /// As [`Http::ask`].
    pub fn batch(&mut self, lines: &str) -> io::Result<HttpReply> {
        self.ask("POST /v1/verify/batch", Some(TOKEN), lines.as_bytes())
    }

    /// Begins a batch whose body comes in chunks.
    ///
    /// # Errors
    ///
    /// From the socket.
    pub fn begin_batch(&mut self) -> io::Result<()> {
        self.write(head("POST /v1/verify/batch", Some(TOKEN), "Transfer-Encoding: chunked\r\n").as_bytes())
    }

    /// A chunk of a body; an empty one is the end of it.
    ///
    /// # Errors
    ///
    /// From the socket.
    pub fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(&[format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat())
    }

    /// Reads a whole reply.
    ///
    /// # Errors
    ///
    /// From the socket; the reply has no end.
    pub fn reply(&mut self) -> io::Result<HttpReply> {
        let mut reply = self.reply_head()?;
        let field = |name: &str| reply.header(name).map(str::to_owned);
        if let Some(length) = field("content-length").and_then(|length| length.parse().ok()) {
            reply.body = vec![0; length];
            self.reader.read_exact(&mut reply.body)?;
        } else {
            while let Some(chunk) = self.reply_chunk()? {
                reply.body.extend_from_slice(&chunk);
            }
        }
        Ok(reply)
    }

    /// Reads the head of a reply alone.
    ///
    /// # Errors
    ///
    /// From the socket; it is not one.
    pub fn reply_head(&mut self) -> io::Result<HttpReply> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status: {first}")))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(HttpReply { status, headers, body: Vec::new() })
    }

    /// A chunk of a reply; none at its end.
    ///
    /// # Errors
    ///
    /// From the socket; the reply was cut.
    pub fn reply_chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let length = usize::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; length];
        self.reader.read_exact(&mut chunk)?;
        self.line()?;
        Ok((length > 0).then_some(chunk))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        match line.strip_suffix("\r\n") {
            Some(line) => Ok(line.to_owned()),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl HttpReply {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Http {
    /// Gives a proxy a listener with the tests' token and further keys, as in `requests: 1`.
    pub fn configure(config: &mut ProxyConfig, more: &str) {
        let hash: String = Sha256::digest(TOKEN).iter().map(|byte| format!("{byte:02x}")).collect();
        let more = if more.is_empty() { String::new() } else { format!(", {more}") };
        config.extra.push_str(&format!(
            "admin: {{ listen: 127.0.0.1:0, tokens: [{{ name: tests, hash: \"sha256:{hash}\" }}]{more} }}\n"
        ));
    }
}

fn head(request: &str, token: Option<&str>, more: &str) -> String {
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    format!("{request} HTTP/1.1\r\nHost: localhost\r\n{token}{more}\r\n")
}

const PATIENCE: Duration = Duration::from_secs(30);
