//! `/metrics`: what the process has done and how it stands, in the OpenMetrics text format.
//!
//! Everything is read when somebody asks. Labels are roles, databases, verdicts, codes, causes: nothing of users, tenants,
//! addresses or statements.

mod audit;
mod databases;
mod page;
mod process;

use std::fmt;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::registry::Registry;

use super::Admin;
use super::caller::Client;
use super::refused::Refused;
use crate::server::Front;
use page::Page;

pub(super) async fn page(
    State(admin): State<Arc<Admin>>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
) -> Response {
    if let Err(refused) = admin.caller(&headers, &client) {
        return refused.into_response();
    }
    let mut registry = Registry::with_prefix("pgmoat");
    registry.register_collector(Box::new(Everything(Arc::clone(&admin.front))));
    let mut figures = String::new();
    if text::encode(&mut figures, &registry).is_err() {
        let error = "the figures could not be written";
        return Refused::new(StatusCode::INTERNAL_SERVER_ERROR, error).into_response();
    }
    let mut response = figures.into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(OPEN_METRICS));
    response
}

struct Everything(Arc<Front>);

impl Collector for Everything {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Everything(front) = self;
        let mut page = Page(encoder);
        process::write(front, &mut page)?;
        databases::write(&front.shared, &mut page)?;
        audit::write(&front.shared.audit.stats(), &mut page)
    }
}

impl fmt::Debug for Everything {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Everything").finish_non_exhaustive()
    }
}

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
