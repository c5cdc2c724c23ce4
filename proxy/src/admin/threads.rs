//! HTTP's own threads: verdicts that programs ask for must not hold up the sessions of those who wait for rows.
//!
//! Requests are read, and short ones judged, by the runtime's workers. What may take long, the chunks of batches and long
//! statements, is judged by a thread a core beside them, so that a request for `/healthz` waits for none of it.

use std::io;
use std::net::TcpListener;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

use super::Admin;
use super::listen::serve;

/// The listener while it serves; dropping this ends it, in the middle of whatever it does.
pub(crate) struct Serving(Option<Runtime>);

/// Serves until that is dropped.
///
/// # Errors
/// The system gives no threads.
pub(crate) fn start(listener: TcpListener, admin: Arc<Admin>) -> io::Result<Serving> {
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .thread_name("pgmoat-http")
        // They judge: the parser's tree is decoded recursively.
        .thread_stack_size(pgmoat_policy::STACK_BYTES)
        .max_blocking_threads(available_parallelism().map_or(1, NonZero::get))
        .build()?;
    let entered = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener)?;
    drop(entered);
    runtime.spawn(serve(listener, admin));
    Ok(Serving(Some(runtime)))
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // Dropped inside the sessions' runtime, where nobody may wait for threads.
            runtime.shutdown_background();
        }
    }
}
