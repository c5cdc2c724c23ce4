//! What is answered where.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::refused::Refused;
use super::{Admin, batch, metrics, ready, verify};

pub(super) fn router(admin: Arc<Admin>) -> Router {
    Router::new()
        .route("/healthz", get(ready::healthy))
        .route("/readyz", get(ready::ready))
        .route("/metrics", get(metrics::page))
        .route("/v1/verify", post(verify::one))
        .route("/v1/verify/batch", post(batch::many))
        .fallback(nothing)
        .method_not_allowed_fallback(other_method)
        .with_state(admin)
}

async fn nothing() -> Response {
    let error = "there are /healthz, /readyz, /metrics, /v1/verify and /v1/verify/batch";
    Refused::new(StatusCode::NOT_FOUND, error).into_response()
}

async fn other_method() -> Response {
    let error = "verdicts are asked for by POST, all else by GET";
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, error).into_response()
}
