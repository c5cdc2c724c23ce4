//! A thread that is deep enough for the judge.

use std::thread;

use pgmoat_policy::STACK_BYTES;
use tokio::sync::oneshot;

use crate::error::BenchError;

/// Runs it there, and leaves this thread free to hear signals.
///
/// # Errors
///
/// [`BenchError::Wrong`]: no thread, or it panicked.
pub(crate) async fn deep<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, BenchError> {
    let (tell, told) = oneshot::channel();
    let work = move || {
        // Whoever asked may be gone: an interrupted run.
        let _ = tell.send(work());
    };
    let builder = thread::Builder::new().name("judge".to_owned()).stack_size(STACK_BYTES);
    builder.spawn(work).map_err(BenchError::io("start a thread"))?;
    told.await.map_err(|_| BenchError::Wrong("the thread that judged broke off".to_owned()))
}
