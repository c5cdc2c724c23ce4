//! Start-up and SCRAM-SHA-256.

use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use super::{Connection, ServerError};
use crate::error::BenchError;

impl Connection {
    /// From the start-up packet to ReadyForQuery. Other ways to log in than SCRAM are a fault: the columns of a report
    /// are to be alike.
    pub(super) async fn log_in(
        &mut self,
        user: &str,
        password: &str,
        database: &str,
    ) -> Result<(), BenchError> {
        frontend::startup_message([("user", user), ("database", database)], &mut self.out).map_err(talk)?;
        let mut scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        let mut proven = false;
        loop {
            match self.next_message().await? {
                Message::AuthenticationSasl(_) => {
                    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut self.out)
                        .map_err(talk)?;
                }
                Message::AuthenticationSaslContinue(body) => {
                    scram.update(body.data()).map_err(talk)?;
                    frontend::sasl_response(scram.message(), &mut self.out).map_err(talk)?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    scram.finish(body.data()).map_err(talk)?;
                    proven = true;
                }
                Message::AuthenticationOk
                | Message::ParameterStatus(_)
                | Message::BackendKeyData(_)
                | Message::NoticeResponse(_) => {}
                Message::ReadyForQuery(_) if proven => return Ok(()),
                Message::ErrorResponse(body) => {
                    return Err(BenchError::Login { user: user.to_owned(), error: ServerError::of(&body) });
                }
                _ => return Err(BenchError::Wrong(format!("{user} is not asked for SCRAM-SHA-256"))),
            }
        }
    }

    /// Sends what is waiting, and reads one message.
    async fn next_message(&mut self) -> Result<Message, BenchError> {
        use tokio::io::AsyncWriteExt as _;
        if !self.out.is_empty() {
            self.stream.write_all(&self.out).await.map_err(talk)?;
            self.out.clear();
        }
        loop {
            if let Some(message) = Message::parse(&mut self.received).map_err(talk)? {
                return Ok(message);
            }
            self.read().await?;
        }
    }
}

fn talk(error: std::io::Error) -> BenchError {
    BenchError::io("log in")(error)
}
