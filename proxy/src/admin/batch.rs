//! `POST /v1/verify/batch`: a line in, a line out, in order, streaming, on all cores.
//!
//! The body is cut into chunks of whole lines; each is judged by a task of its own, and a bounded queue of these tasks, in
//! the order of the lines, is what is answered from. So nothing is sorted, no more is held than the queue's chunks, and a
//! client that does not read is not read from. What came last is judged as soon as the body pauses.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::{io, mem};

use axum::Extension;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::caller::{Caller, Client};
use super::judge::Judge;
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
    tokio::spawn(run(Batch { admin: Arc::clone(admin), caller: Arc::new(caller) }, body, answers));
    Ok(Answers(taken))
}

#[derive(Clone)]
struct Batch {
    admin: Arc<Admin>,
    caller: Arc<Caller>,
}

type Judging = JoinHandle<(Bytes, Tally)>;
type Said = Result<Bytes, io::Error>;

async fn run(batch: Batch, body: Body, answers: mpsc::Sender<Said>) {
    let place = Place(Arc::clone(&batch.admin));
    let (judging, judged) = mpsc::channel(CHUNKS_AHEAD);
    let reader = Reader { batch: batch.clone(), lines: Lines::new(&batch.admin), judging };
    let reading = tokio::spawn(reader.run(body));
    let end = answer(&batch, judged, &answers).await;
    // Whoever answers no more needs no more.
    reading.abort();
    if let Err(error) = end {
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

/// Says what was judged, in order, and enters the request, whatever became of it.
async fn answer(
    batch: &Batch,
    mut judged: mpsc::Receiver<Judging>,
    answers: &mpsc::Sender<Said>,
) -> Result<(), io::Error> {
    let mut tally = Tally::default();
    let mut end = Ok(());
    while let Some(judging) = judged.recv().await {
        let Ok((lines, more)) = judging.await else {
            end = Err(io::Error::other("a chunk was not judged"));
            break;
        };
        tally.and(more);
        match timeout(batch.admin.limits.patience, answers.send(Ok(lines))).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => {
                end = Err(io::ErrorKind::BrokenPipe.into());
                break;
            }
            Err(_) => {
                end = Err(io::ErrorKind::TimedOut.into());
                break;
            }
        }
    }
    let entered = batch.admin.enter(&batch.caller, &tally).await;
    end.and(entered.map_err(|_| io::Error::other("the audit log takes no entry")))
}

/// Cuts the body into chunks and has them judged.
struct Reader {
    batch: Batch,
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
            let fault = match more {
                Ok(Some(bytes)) => self.take(&bytes).await,
                Ok(None) => {
                    self.lines.end();
                    let _ = self.judge().await;
                    return;
                }
                Err(refused) => Err(Some(refused.error.into_owned())),
            };
            if let Err(fault) = fault {
                if let Some(fault) = fault {
                    self.lines.break_off(fault);
                    let _ = self.judge().await;
                }
                return;
            }
        }
    }

    /// Takes a piece of the body.
    ///
    /// # Errors
    /// Why no more is taken; nothing where nobody listens any more.
    async fn take(&mut self, bytes: &[u8]) -> Result<(), Option<String>> {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = self.lines.take(rest).map_err(Some)?;
            if self.lines.is_full() {
                self.judge().await.map_err(|Gone| None)?;
            }
        }
        Ok(())
    }

    async fn judge(&mut self) -> Result<(), Gone> {
        let Some(chunk) = self.lines.chunk() else { return Ok(()) };
        // Room first: what is judged beyond it would have to be kept.
        let room = self.judging.reserve().await.map_err(|_| Gone)?;
        room.send(tokio::spawn(judge(self.batch.clone(), chunk)));
        Ok(())
    }
}

/// Nobody listens any more.
struct Gone;

/// Whole lines, and what of the next one there is.
struct Lines {
    chunk: Chunk,
    /// The bytes of the line that is still open.
    open_bytes: usize,
    taken_bytes: usize,
    limits: crate::config::AdminLimits,
}

/// Some lines of the body.
#[derive(Default)]
struct Chunk {
    /// The number of its first line.
    first: usize,
    bytes: Vec<u8>,
    /// Where lines end, their newline left out.
    ends: Vec<usize>,
    /// What stands in the place of the line after them.
    fault: Option<String>,
}

impl Lines {
    fn new(admin: &Admin) -> Lines {
        let chunk = Chunk { first: 1, ..Chunk::default() };
        Lines { chunk, open_bytes: 0, taken_bytes: 0, limits: admin.limits }
    }

    /// Takes bytes up to the end of a line, or of what there is; gives the rest.
    ///
    /// # Errors
    /// A bound is reached.
    fn take<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], String> {
        let at = bytes.iter().position(|byte| *byte == b'\n');
        let (line, rest) = bytes.split_at(at.unwrap_or(bytes.len()));
        let limits = self.limits;
        self.taken_bytes = self.taken_bytes.saturating_add(line.len() + usize::from(at.is_some()));
        if self.taken_bytes > limits.batch_bytes {
            return Err(format!("the batch is longer than {} bytes", limits.batch_bytes));
        }
        if self.open_bytes.saturating_add(line.len()) > limits.request_bytes {
            return Err(format!("longer than {} bytes", limits.request_bytes));
        }
        if self.next_number() > limits.batch_lines {
            return Err(format!("the batch has more than {} lines", limits.batch_lines));
        }
        self.chunk.bytes.extend_from_slice(line);
        self.open_bytes += line.len();
        if at.is_some() {
            self.close();
        }
        Ok(rest.get(usize::from(at.is_some())..).unwrap_or_default())
    }

    /// The number of the line that is open.
    fn next_number(&self) -> usize {
        self.chunk.first.saturating_add(self.chunk.ends.len())
    }

    fn close(&mut self) {
        self.chunk.ends.push(self.chunk.bytes.len());
        self.open_bytes = 0;
    }

    /// The body has ended: its last line needs no newline.
    fn end(&mut self) {
        if self.open_bytes > 0 {
            self.close();
        }
    }

    /// No more of the body is taken.
    fn break_off(&mut self, fault: String) {
        self.chunk.bytes.truncate(self.chunk.bytes.len() - self.open_bytes);
        self.open_bytes = 0;
        self.chunk.fault = Some(fault);
    }

    fn has_whole_lines(&self) -> bool {
        !self.chunk.ends.is_empty()
    }

    fn is_full(&self) -> bool {
        self.chunk.ends.len() >= CHUNK_LINES
            || (self.has_whole_lines() && self.chunk.bytes.len() >= CHUNK_BYTES)
    }

    /// The whole lines; what is open stays. None where there is nothing to answer.
    fn chunk(&mut self) -> Option<Chunk> {
        if self.chunk.ends.is_empty() && self.chunk.fault.is_none() {
            return None;
        }
        let open = self.chunk.bytes.split_off(self.chunk.bytes.len() - self.open_bytes);
        let next = Chunk { first: self.next_number(), bytes: open, ..Chunk::default() };
        Some(mem::replace(&mut self.chunk, next))
    }
}

async fn judge(batch: Batch, chunk: Chunk) -> (Bytes, Tally) {
    let Batch { admin, caller } = batch;
    let judge = Judge { front: &admin.front, caller: &caller, users: admin.front.users() };
    let (mut out, mut tally) = (Vec::new(), Tally::default());
    let starts = std::iter::once(0).chain(chunk.ends.iter().copied());
    let mut number = chunk.first;
    for (start, end) in starts.zip(&chunk.ends) {
        let line = chunk.bytes.get(start..*end).unwrap_or_default();
        if let Err(refused) = judge.judge(line, &mut out, &mut tally) {
            say_fault(&mut out, number, &refused.error);
        } else {
            out.push(b'\n');
        }
        number = number.saturating_add(1);
        if number.is_multiple_of(YIELD_LINES) {
            // Sessions have their turn on this thread.
            tokio::task::yield_now().await;
        }
    }
    if let Some(fault) = &chunk.fault {
        tally.unreadable();
        say_fault(&mut out, number, fault);
    }
    (out.into(), tally)
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
/// Lines of a chunk at most.
const CHUNK_LINES: usize = 64;
/// The same in bytes, if there is a whole line.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that are being judged, or were and wait.
const CHUNKS_AHEAD: usize = 8;
/// Answers of chunks that wait for the client to take them.
const ANSWERS_AHEAD: usize = 2;
/// After so many lines a chunk lets others have its thread.
const YIELD_LINES: usize = 8;
