//! Request bodies, with a bound in bytes and in time.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use tokio::time::{Instant, timeout_at};

use super::refused::Refused;

/// A body that says itself that it is too long.
pub(super) fn fits(headers: &HeaderMap, limit: usize) -> Result<(), Refused> {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    match length.map(usize::try_from) {
        None => Ok(()),
        Some(Ok(length)) if length <= limit => Ok(()),
        Some(Ok(_) | Err(_)) => Err(Refused::too_long(limit)),
    }
}

/// The whole body, which has to come within `patience`.
pub(super) async fn whole(body: Body, limit: usize, patience: Duration) -> Result<Bytes, Refused> {
    let (mut body, deadline) = (body, Instant::now() + patience);
    let Some(first) = next(&mut body, deadline).await? else { return Ok(Bytes::new()) };
    if first.len() > limit {
        return Err(Refused::too_long(limit));
    }
    // Nearly always all of it.
    if body.is_end_stream() {
        return Ok(first);
    }
    let mut all = Vec::from(first);
    while let Some(more) = next(&mut body, deadline).await? {
        if all.len().saturating_add(more.len()) > limit {
            return Err(Refused::too_long(limit));
        }
        all.extend_from_slice(&more);
    }
    Ok(all.into())
}

/// The next piece, by `deadline`; none at the end. Cancel safe.
pub(super) async fn next(body: &mut Body, deadline: Instant) -> Result<Option<Bytes>, Refused> {
    loop {
        let frame = timeout_at(deadline, poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx))).await;
        let frame =
            frame.map_err(|_| Refused::new(StatusCode::REQUEST_TIMEOUT, "the body came too slowly"))?;
        match frame {
            None => return Ok(None),
            // The client is gone, or broke off.
            Some(Err(_)) => return Err(Refused::bad("the body has no end")),
            // Trailers say nothing to us.
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) if data.is_empty() => {}
                Ok(data) => return Ok(Some(data)),
                Err(_) => {}
            },
        }
    }
}
