//! Who asks.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode};

use super::Admin;
use super::refused::Refused;
use super::seats::Seat;
use crate::shared::Peer;

/// Where a connection comes from.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) address: SocketAddr,
    /// The same, as the audit log writes it.
    pub(super) name: Arc<str>,
    pub(super) seat: Arc<Seat>,
}

/// Somebody who may ask.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) client: Client,
    /// The token's name, where one was shown.
    pub(super) token: Option<Arc<str>>,
    /// The roles that may be asked for; none where there is no such limit.
    roles: Option<Arc<[Box<str>]>>,
}

impl Caller {
    pub(super) fn may_ask_for(&self, role: &str) -> bool {
        self.roles.as_ref().is_none_or(|roles| roles.iter().any(|may| **may == *role))
    }
}

impl Admin {
    /// The caller, by its token. A token that is shown must be good, even where none is needed.
    ///
    /// # Errors
    /// There is none, where one is needed, or it is not known. A wrong one is entered in the audit log. Or there are as
    /// many connections of callers as there may be.
    pub(super) fn caller(&self, headers: &HeaderMap, client: &Client) -> Result<Caller, Refused> {
        match self.known(headers, client) {
            Ok(caller) => client.seat.know().map(|()| caller),
            Err(refused) => {
                client.seat.forget();
                Err(refused)
            }
        }
    }

    fn known(&self, headers: &HeaderMap, client: &Client) -> Result<Caller, Refused> {
        let Some(shown) = headers.get(AUTHORIZATION) else {
            return if self.require_token {
                Err(Refused::unauthorized())
            } else if is_loopback(headers) {
                Ok(Caller { client: client.clone(), token: None, roles: None })
            } else {
                let error = "without a token, ask 127.0.0.1, [::1] or localhost, by that name";
                Err(Refused::new(StatusCode::FORBIDDEN, error))
            };
        };
        let tokens = self.front.tokens();
        match shown.to_str().ok().and_then(bearer).and_then(|shown| tokens.known(shown)) {
            Some(token) => Ok(Caller {
                client: client.clone(),
                token: Some(Arc::clone(&token.name)),
                roles: token.roles.clone(),
            }),
            None => {
                self.front.audit_wrong_token(Peer::Tcp(client.address));
                Err(Refused::unauthorized())
            }
        }
    }
}

/// What is behind the word, in whatever case it is written (RFC 9110, 11.1).
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether it is this machine that is asked, by a name that is always its own: a page in a browser could let a name of
/// its own stand for 127.0.0.1 (DNS rebinding), but a browser says which name it has asked.
fn is_loopback(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    host.is_some_and(|host| {
        let name = host.host().trim_start_matches('[').trim_end_matches(']');
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    })
}
