//! `POST /v1/verify/batch`: a line in, a line out, in order, streaming, on all cores.
//!
//! The body is cut into chunks of whole lines; each is judged as a piece of work of its own, and a bounded queue of these,
//! in the order of the lines, is what is answered from. So nothing is sorted, no more is held than the queue's chunks, and
//! a client that does not read is not read from. What came last is judged as soon as the body pauses.
//!
//! INVARIANT (nothing goes on): the line in the audit log has every verdict that was given, and none is given after it,
//! also where the client has left.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::Extension;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::Instant;

use super::caller::Client;
use super::judge::Judge;
use super::lines::{Chunk, Fault, Lines};
use super::refused::Refused;
use super::tally::Tally;
use super::{Admin, body};

/// What cannot be judged is answered in its place, with the line's number.
pub(super) async fn many(
    State(admin): State<Arc<Admin>>,
    Extension(client): Extension<Client>,
    request: Request,
) -> Response {
    match begin(&admin, &client, request) {
        Ok(answers) => {
            let mut response = Body::new(answers).into_response();
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON_LINES));
            response
        }
        Err(refused) => refused.into_response(),
    }
}

fn begin(admin: &Arc<Admin>, client: &Client, request: Request) -> Result<Answers, Refused> {
    let (head, body) = request.into_parts();
    let caller = admin.caller(&head.headers, client)?;
    body::fits(&head.headers, admin.limits.batch_bytes)?;
    // The line comes last: a log that takes nothing now would be found out too late.
    if !admin.audit_takes() {
        return Err(Refused::unaudited());
    }
    // The place goes with the task.
    admin.place()?.forget();
    let (answers, taken) = mpsc::channel(ANSWERS_AHEAD);
    let judge = Judge::new(&admin.front, caller);
    let batch = Batch { admin: Arc::clone(admin), judge, unheard: AtomicBool::new(false) };
    tokio::spawn(run(Arc::new(batch), body, answers));
    Ok(Answers(taken))
}

struct Batch {
    admin: Arc<Admin>,
    judge: Judge,
    /// Nobody wants the rest.
    unheard: AtomicBool,
}

type Judging = JoinHandle<(Bytes, Tally)>;
type Said = Result<Bytes, io::Error>;

async fn run(batch: Arc<Batch>, body: Body, answers: mpsc::Sender<Said>) {
    let place = Place(Arc::clone(&batch.admin));
    let (judging, judged) = mpsc::channel(CHUNKS_AHEAD);
    let reader = Reader { batch: Arc::clone(&batch), lines: Lines::new(batch.admin.limits), judging };
    let reading = tokio::spawn(reader.run(body));
    let mut speaker = Speaker { judged, next: None, tally: Tally::default() };
    let said = tokio::select! {
        said = speaker.run(&answers) => said,
        () = answers.closed() => Err(io::ErrorKind::BrokenPipe.into()),
    };
    if said.is_err() {
        reading.abort();
        batch.unheard.store(true, Ordering::Relaxed);
        speaker.end().await;
    }
    let entered = batch.admin.enter(&batch.judge.caller, &speaker.tally).await;
    if let Err(error) = said.and(entered.map_err(|_| io::Error::other("the audit log takes no entry"))) {
        // Without it the client would take what there is for all of it.
        let _ = answers.send(Err(error)).await;
    }
    drop(place);
}

/// A place among the requests; free again when this is dropped.
struct Place(Arc<Admin>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.places.add_permits(1);
    }
}

/// Says what was judged, in order.
struct Speaker {
    judged: mpsc::Receiver<Judging>,
    /// What is said next.
    next: Option<Judging>,
    tally: Tally,
}

impl Speaker {
    /// Cancel safe: what was judged is in the tally, or still to be had. The time for a client that takes nothing is its
    /// socket's.
    async fn run(&mut self, answers: &mpsc::Sender<Said>) -> Result<(), io::Error> {
        loop {
            if self.next.is_none() {
                self.next = self.judged.recv().await;
            }
            let Some(judging) = &mut self.next else { return Ok(()) };
            let judged = judging.await;
            self.next = None;
            let (lines, more) = judged.map_err(|_| io::Error::other("a chunk was not judged"))?;
            self.tally.and(more);
            answers.send(Ok(lines)).await.map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
    }

    /// Waits for what is being judged, so that it is counted; what is not begun never is.
    async fn end(&mut self) {
        self.judged.close();
        loop {
            if self.next.is_none() {
                self.next = self.judged.recv().await;
            }
            let Some(judging) = self.next.take() else { return };
            judging.abort();
            if let Ok((_, more)) = judging.await {
                self.tally.and(more);
            }
        }
    }
}

/// Cuts the body into chunks and has them judged.
struct Reader {
    batch: Arc<Batch>,
    lines: Lines,
    judging: mpsc::Sender<Judging>,
}

impl Reader {
    async fn run(mut self, mut body: Body) {
        loop {
            let deadline = Instant::now() + self.batch.admin.limits.patience;
            let more = tokio::select! {
                biased;
                more = body::next(&mut body, deadline) => more,
                // The body pauses: whoever wrote the last line may wait for its answer.
                () = std::future::ready(()), if self.lines.has_whole_lines() => {
                    if self.judge().await.is_err() {
                        return;
                    }
                    continue;
                }
            };
            let ended = match more {
                Ok(Some(bytes)) => self.take(&bytes).await,
                Ok(None) => {
                    self.lines.end();
                    Err(Ended::Whole)
                }
                Err(broken) => {
                    self.lines.break_off(Fault::Body(broken.text()));
                    Err(Ended::Whole)
                }
            };
            match ended {
                Ok(()) => {}
                Err(Ended::Whole) => {
                    let _ = self.judge().await;
                    return;
                }
                Err(Ended::Unheard) => return,
            }
        }
    }

    /// Takes a piece of the body.
    ///
    /// # Errors
    /// No more of it is taken.
    async fn take(&mut self, bytes: &[u8]) -> Result<(), Ended> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.lines.take(rest) {
                Ok(more) => rest = more,
                Err(fault) => {
                    self.lines.break_off(Fault::Line(fault));
                    return Err(Ended::Whole);
                }
            }
            if self.lines.is_full() {
                self.judge().await?;
            }
        }
        Ok(())
    }

    /// Has the whole lines judged.
    ///
    /// # Errors
    /// Nobody listens any more.
    async fn judge(&mut self) -> Result<(), Ended> {
        let Some(chunk) = self.lines.chunk() else { return Ok(()) };
        // Room first: what is judged beyond it would have to be kept.
        let room = self.judging.reserve().await.map_err(|_| Ended::Unheard)?;
        let batch = Arc::clone(&self.batch);
        room.send(spawn_blocking(move || batch.judge(&chunk)));
        Ok(())
    }
}

/// Why no more of the body is taken.
enum Ended {
    /// What there is of it is still to be answered.
    Whole,
    /// Nobody listens any more.
    Unheard,
}

impl Batch {
    fn judge(&self, chunk: &Chunk) -> (Bytes, Tally) {
        let (mut out, mut tally) = (Vec::new(), Tally::default());
        for (number, line) in chunk.lines() {
            if self.unheard.load(Ordering::Relaxed) {
                return (Bytes::new(), tally);
            }
            if let Err(refused) = self.judge.judge(line, &mut out, &mut tally) {
                say_fault(&mut out, number, &refused.error);
            } else {
                out.push(b'\n');
            }
        }
        match &chunk.fault {
            Some(Fault::Line(fault)) => {
                tally.unreadable();
                say_fault(&mut out, chunk.next(), fault);
            }
            Some(Fault::Body(fault)) => say_fault(&mut out, chunk.next(), fault),
            None => {}
        }
        (out.into(), tally)
    }
}

fn say_fault(out: &mut Vec<u8>, number: usize, fault: &str) {
    out.extend_from_slice(json!({ "line": number, "error": fault }).to_string().as_bytes());
    out.push(b'\n');
}

/// The answers, as they come.
struct Answers(mpsc::Receiver<Said>);

impl HttpBody for Answers {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(cx).map(|said| said.map(|said| said.map(Frame::data)))
    }
}

/// One object a line.
const JSON_LINES: &str = "application/x-ndjson";
/// Chunks that are being judged, or were and wait.
const CHUNKS_AHEAD: usize = 8;
/// Answers of chunks that wait for the client to take them.
const ANSWERS_AHEAD: usize = 2;
