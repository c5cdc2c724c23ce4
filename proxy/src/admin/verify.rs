//! `POST /v1/verify`: an object in, an object out, as a line of `pgmoat verify --batch`.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::Admin;
use super::body;
use super::caller::{Caller, Client};
use super::judge::Judge;
use super::refused::{JSON, Refused};
use super::tally::Tally;

/// A denial is an answer: its status is 200, too.
pub(super) async fn one(
    State(admin): State<Arc<Admin>>,
    Extension(client): Extension<Client>,
    request: Request,
) -> Response {
    match admin.answer(&client, request).await {
        Ok(line) => {
            let mut response = line.into_response();
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
            response
        }
        Err(refused) => refused.into_response(),
    }
}

impl Admin {
    async fn answer(&self, client: &Client, request: Request) -> Result<Bytes, Refused> {
        let (head, body) = request.into_parts();
        let caller = self.caller(&head.headers, client)?;
        let _place = self.place()?;
        let limit = self.limits.request_bytes;
        let object = match body::fits(&head.headers, limit) {
            Ok(()) => body::whole(body, limit, self.limits.patience).await,
            Err(refused) => Err(refused),
        };
        let (answered, tally) = match object {
            Ok(object) => self.judge_one(caller.clone(), object).await,
            Err(refused) => (Err(refused), Tally::of_nothing()),
        };
        self.enter(&caller, &tally).await?;
        answered
    }

    /// A long object is judged where requests that are waiting do not wait for it; a short one costs less than going
    /// there.
    async fn judge_one(&self, caller: Caller, object: Bytes) -> (Result<Bytes, Refused>, Tally) {
        let judge = Judge::new(&self.front, caller);
        if object.len() <= JUDGED_HERE_BYTES {
            return judge.only(&object);
        }
        let judged = tokio::task::spawn_blocking(move || judge.only(&object)).await;
        judged.unwrap_or_else(|_| (Err(Refused::unjudged()), Tally::of_nothing()))
    }
}

/// What costs no more than some hundred microseconds.
const JUDGED_HERE_BYTES: usize = 8 << 10;
