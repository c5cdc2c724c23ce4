//! Bytes through the proxy: long pipelines, big rows, slow readers, settings, caps, COPY.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests fail by panicking")]

mod caps;
mod copying;
mod names;
#[path = "../live/patience.rs"]
mod patience;
mod pipeline;
mod results;
mod scripts;
mod settings;
