//! From the server to the client (hop 5): found in place, written on at once.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, BytesMut};
use pgmoat_upstream::frame::backend::parameter_status;
use pgmoat_upstream::frame::{Frame, FrameError, Piece};
use tokio::io::AsyncWrite;

use super::audience::{Audience, Backlog};
use super::end::End;
use super::named::APPLICATION_NAME;
use super::{Link, scratch};
use crate::config::PoolMode;
use crate::session::{Broken, Relay};

impl Link {
    /// Reads the server once; true if anything came.
    pub(super) fn poll_server(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        scratch::with(|scratch| {
            let Some(upstream) = &mut self.upstream else { return Ok(false) };
            let bytes = match scratch::poll_fill(&mut upstream.lease.stream, cx, scratch) {
                Poll::Pending => return Ok(false),
                Poll::Ready(Ok([]) | Err(_)) => return Err(End::UpstreamGone),
                Poll::Ready(Ok(bytes)) => bytes,
            };
            let mut incoming = std::mem::take(&mut upstream.lease.incoming);
            self.tick();
            if incoming.is_empty() {
                let used = self.relay(bytes, cx)?;
                incoming.extend_from_slice(bytes.get(used..).unwrap_or_default());
            } else {
                incoming.extend_from_slice(bytes);
                let used = self.relay(&incoming, cx)?;
                incoming.advance(used);
                if incoming.is_empty() {
                    incoming = BytesMut::new();
                }
            }
            if let Some(upstream) = &mut self.upstream {
                upstream.lease.incoming = incoming;
            }
            if self.backlog == Backlog::ForReply {
                self.backlog = Backlog::Ready;
            }
            self.handle_events()?;
            Ok(true)
        })
    }

    /// Walks over what has come; returns how much of it is done with.
    fn relay(&mut self, chunk: &[u8], cx: &mut Context<'_>) -> Result<usize, End> {
        // [from, at) is for the client as it is.
        let (mut from, mut at) = (0, 0);
        loop {
            let rest = chunk.get(at..).unwrap_or_default();
            let Some(upstream) = &mut self.upstream else { return Ok(at) };
            let limit = self.session.row_limit(upstream.scanner.is_open());
            match upstream.scanner.next(rest, limit).map_err(End::odd_frame)? {
                Piece::More { .. } => break,
                Piece::Run(run) => {
                    let shown = self.session.rows(run.tag, run.begun)?;
                    let masked = shown && self.session.is_masked();
                    let end = at + run.bytes;
                    if masked {
                        self.keep(chunk.get(from..at));
                        let rows = chunk.get(at..end).unwrap_or_default();
                        self.session.mask(rows, &mut self.to_client)?;
                        from = end;
                    } else if !shown {
                        self.keep(chunk.get(from..at));
                        from = end;
                    }
                    at = end;
                }
                Piece::Whole(frame) => {
                    let end = at + frame.bytes.len();
                    let mut own = BytesMut::new();
                    match self.reply(frame, &mut own)? {
                        Relay::Same => {}
                        Relay::After => {
                            self.keep(chunk.get(from..at));
                            self.keep(Some(&own));
                            from = at;
                        }
                        Relay::Instead => {
                            self.keep(chunk.get(from..at));
                            self.keep(Some(&own));
                            from = end;
                        }
                        Relay::Nothing => {
                            self.keep(chunk.get(from..at));
                            from = end;
                        }
                    }
                    at = end;
                    if self.session.events().ended {
                        // Nothing comes behind a good-bye.
                        break;
                    }
                }
            }
        }
        self.hand_over(chunk.get(from..at).unwrap_or_default(), cx)?;
        Ok(at)
    }

    fn reply(&mut self, frame: Frame<'_>, own: &mut BytesMut) -> Result<Relay, End> {
        if frame.tag == b'S' {
            let (name, value) = parameter_status(frame.body()).map_err(Broken::from)?;
            if let Some(upstream) = &mut self.upstream {
                upstream.lease.note_parameter(name, value).map_err(End::PinMoved)?;
            }
            if self.database.mode == PoolMode::Transaction {
                return Ok(self.setting_reported(name, value, own));
            }
            if self.was_greeted(name, value) {
                return Ok(Relay::Nothing);
            }
            if name == APPLICATION_NAME {
                return Ok(self.name_reported(value, own));
            }
        }
        Ok(self.session.reply(frame, own)?)
    }

    /// Puts bytes behind what the client has not taken yet.
    fn keep(&mut self, bytes: Option<&[u8]>) {
        if self.audience.hears() {
            self.to_client.extend_from_slice(bytes.unwrap_or_default());
        }
    }

    /// Writes bytes to the client without a copy, if it takes them.
    fn hand_over(&mut self, mut bytes: &[u8], cx: &mut Context<'_>) -> Result<(), End> {
        if !self.audience.hears() {
            return Ok(());
        }
        while self.to_client.is_empty() && !bytes.is_empty() {
            match Pin::new(&mut self.client).poll_write(cx, bytes) {
                Poll::Ready(Ok(count)) if count > 0 => {
                    self.flush_client = true;
                    bytes = bytes.get(count..).unwrap_or_default();
                }
                Poll::Ready(Ok(_) | Err(_)) if self.audience == Audience::Parts => {
                    self.audience = Audience::Deaf;
                    return Ok(());
                }
                Poll::Ready(Ok(_) | Err(_)) => return Err(End::ClientGone),
                Poll::Pending => break,
            }
        }
        self.keep(Some(bytes));
        Ok(())
    }
}

impl From<Broken> for End {
    fn from(broken: Broken) -> Self {
        End::Broken(broken.to_string())
    }
}

impl End {
    fn odd_frame(error: FrameError) -> Self {
        End::Broken(format!("the server sent an invalid message: {error}"))
    }
}
