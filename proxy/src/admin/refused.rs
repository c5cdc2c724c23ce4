//! An answer that is none: status, reason, and what to do.

use std::borrow::Cow;

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Why there is no answer.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) error: Cow<'static, str>,
}

impl Refused {
    /// With a reason for the client.
    pub(super) fn new(status: StatusCode, error: impl Into<Cow<'static, str>>) -> Refused {
        Refused { status, error: error.into() }
    }

    /// The request is not what it should be.
    pub(super) fn bad(error: impl Into<Cow<'static, str>>) -> Refused {
        Refused::new(StatusCode::BAD_REQUEST, error)
    }

    /// No token, or not one that is known: which of the two is not told.
    pub(super) fn unauthorized() -> Refused {
        Refused::new(
            StatusCode::UNAUTHORIZED,
            "a token is needed, as in Authorization: Bearer pgmoat_…; pgmoat admin token NAME makes one",
        )
    }

    /// Too many at one time.
    pub(super) fn busy() -> Refused {
        Refused::new(StatusCode::SERVICE_UNAVAILABLE, "too many requests at one time: try again")
    }

    /// Too many connections at one time.
    pub(super) fn crowded() -> Refused {
        Refused::new(StatusCode::SERVICE_UNAVAILABLE, "too many connections at one time: try again")
    }

    /// A fault of ours.
    pub(super) fn unjudged() -> Refused {
        Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "it could not be judged: pgmoat's log says why")
    }

    /// The audit log takes no line. Its path and fault are for the operator.
    pub(super) fn unaudited() -> Refused {
        Refused::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the audit log takes no entry, so nothing is answered: try again",
        )
    }

    /// The body, or what of it one request may have, is too long.
    pub(super) fn too_long(limit: usize) -> Refused {
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, format!("longer than {limit} bytes"))
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Refused { status, error } = self;
        let mut line = json!({ "error": error }).to_string();
        line.push('\n');
        let mut response = (status, line).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS));
        }
        response
    }
}

/// One object.
pub(super) const JSON: &str = "application/json";
const RETRY_AFTER_SECONDS: &str = "1";
