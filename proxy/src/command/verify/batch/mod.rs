//! Many statements: a line in, a line out, in order, streaming.
//!
//! ```text
//! stdin ─chunks (whole lines, as they come)─► worker i mod n ─answers─► stdout, from worker i mod n
//! ```
//!
//! A chunk is what one read gave: many lines where they come fast, a single one where somebody waits for its answer.
//! So answers never wait for further lines, and the order needs no sorting. Memory is bounded by the queues' length
//! and by [`room`], whatever the length of lines.

mod chunks;
mod room;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use pgmoat_policy::{Principal, STACK_BYTES, Verdicts};
use serde_json::json;

use crate::command::failure::{Exit, Failure};
use crate::command::source::Source;
use crate::verify::{Basis, Request, answer};
use chunks::{Chunk, Chunks, MAX_LINE_BYTES, Text};
use room::{Place, Room};

/// Answers every line of standard input. Verdicts are kept by their statements' shape, unless `cold`.
pub(super) fn run(
    source: &Source,
    default: Option<&Principal>,
    jobs: usize,
    cold: bool,
) -> Result<Exit, Failure> {
    let kept = || {
        let (policy, catalog) = (Arc::clone(&source.policy), Arc::clone(&source.catalog));
        Verdicts::new(policy, catalog, KEPT_BYTES_MAX)
    };
    let verdicts = (!cold).then(kept);
    let verdicts = verdicts.as_ref().map(|kept: &Verdicts| kept as _);
    let basis = Basis { verdicts, ..source.basis() };
    let room = Room::new(WAITING_BYTES_MAX);
    thread::scope(|scope| {
        let (mut to_workers, mut from_workers) = (Vec::with_capacity(jobs), Vec::with_capacity(jobs));
        for _ in 0..jobs {
            let (to_worker, asked) = sync_channel(QUEUE_CHUNKS);
            let (answers, from_worker) = sync_channel(QUEUE_CHUNKS);
            let builder = thread::Builder::new().name("verify".to_owned()).stack_size(STACK_BYTES);
            builder
                .spawn_scoped(scope, move || work(&basis, default, &asked, &answers))
                .map_err(|error| Failure::Failed(format!("no thread could be started: {error}")))?;
            to_workers.push(to_worker);
            from_workers.push(from_worker);
        }
        let room = &room;
        let reader = scope.spawn(move || read(Chunks::new(io::stdin().lock()), room, &to_workers));
        let exit = write(&mut io::stdout().lock(), &from_workers);
        // Without readers of their answers the workers end, and with them the reader.
        drop(from_workers);
        let exit = exit?;
        match reader.join() {
            Ok(Ok(())) => Ok(exit),
            Ok(Err(error)) => Err(Failure::Failed(format!("standard input: {error}"))),
            Err(_panic) => Err(Failure::Failed("the reader of standard input failed".to_owned())),
        }
    })
}

/// A chunk that waits for its worker.
struct Asked<'r> {
    chunk: Chunk,
    /// Given back when the chunk is answered, or nobody wants it any more.
    _place: Place<'r>,
}

/// The lines that answer a chunk.
struct Answered {
    lines: Vec<u8>,
    /// Each of them: none could not be read.
    judged: bool,
}

fn work(
    basis: &Basis<'_>,
    default: Option<&Principal>,
    asked: &Receiver<Asked<'_>>,
    answers: &SyncSender<Answered>,
) {
    for Asked { chunk, _place } in asked {
        let mut answered = Answered { lines: Vec::with_capacity(chunk.bytes()), judged: true };
        match &chunk.text {
            Text::Lines(text) => {
                let text = text.strip_suffix(b"\n").unwrap_or(text);
                for (number, line) in (chunk.first..).zip(text.split(|byte| *byte == b'\n')) {
                    answered.respond(basis, default, number, Ok(line));
                }
            }
            Text::TooLong => {
                let error = format!("longer than {MAX_LINE_BYTES} bytes");
                answered.respond(basis, default, chunk.first, Err(error));
            }
        }
        if answers.send(answered).is_err() {
            break;
        }
    }
}

impl Answered {
    fn respond(
        &mut self,
        basis: &Basis<'_>,
        default: Option<&Principal>,
        number: u64,
        line: Result<&[u8], String>,
    ) {
        match line.and_then(|line| Request::read(line, basis, default)) {
            Ok(request) => answer(basis, &request, false).write_json(&mut self.lines),
            Err(error) => {
                self.judged = false;
                let line = json!({ "line": number, "error": error }).to_string();
                self.lines.extend_from_slice(line.as_bytes());
            }
        }
        self.lines.push(b'\n');
    }
}

fn read<'r>(
    mut chunks: Chunks<impl io::Read>,
    room: &'r Room,
    workers: &[SyncSender<Asked<'r>>],
) -> io::Result<()> {
    for worker in workers.iter().cycle() {
        let Some(chunk) = chunks.next()? else { break };
        let place = room.take(chunk.bytes());
        if worker.send(Asked { chunk, _place: place }).is_err() {
            break;
        }
    }
    Ok(())
}

fn write(out: &mut impl Write, workers: &[Receiver<Answered>]) -> io::Result<Exit> {
    let mut exit = Exit::Yes;
    for worker in workers.iter().cycle() {
        let Ok(Answered { lines, judged }) = worker.recv() else { break };
        // Whoever wrote these lines may wait for their answers.
        out.write_all(&lines)?;
        out.flush()?;
        if !judged {
            exit = Exit::No;
        }
    }
    Ok(exit)
}

/// Chunks that wait for a worker, and answers that wait to be written, of each worker.
const QUEUE_CHUNKS: usize = 4;
/// Lines that wait or are being judged, in bytes; a longer one is alone.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// What kept verdicts may take, as in the proxy.
const KEPT_BYTES_MAX: u64 = 64 << 20;
