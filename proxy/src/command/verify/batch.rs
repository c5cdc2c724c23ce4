//! Many statements: a line in, a line out, in order, streaming.
//!
//! Line number i goes to worker i mod n and is fetched from there, so the order needs no sorting
//! and nothing more is held than the queues' length.

use std::io::{self, BufRead, Read as _, Write};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;

use pgmoat_policy::{Principal, STACK_BYTES};
use serde_json::json;

use crate::command::failure::{Exit, Failure};
use crate::command::source::Source;
use crate::verify::{Request, answer};

/// An input line with its number.
struct Line {
    number: u64,
    text: Result<Vec<u8>, TooLong>,
}

struct TooLong;

/// An output line.
struct Answered {
    line: String,
    judged: bool,
}

/// Answers every line of standard input.
pub(super) fn run(source: &Source, default: Option<&Principal>, jobs: usize) -> Result<Exit, Failure> {
    thread::scope(|scope| {
        let mut to_workers = Vec::with_capacity(jobs);
        let mut from_workers = Vec::with_capacity(jobs);
        for _ in 0..jobs {
            let (to_worker, lines) = sync_channel::<Line>(QUEUE_LINES);
            let (answers, from_worker) = sync_channel::<Answered>(QUEUE_LINES);
            let work = move || {
                for line in lines {
                    if answers.send(respond(source, default, line)).is_err() {
                        break;
                    }
                }
            };
            let builder = thread::Builder::new().name("verify".to_owned()).stack_size(STACK_BYTES);
            builder
                .spawn_scoped(scope, work)
                .map_err(|error| Failure::Failed(format!("no thread could be started: {error}")))?;
            to_workers.push(to_worker);
            from_workers.push(from_worker);
        }
        let reader = scope.spawn(move || read(io::stdin().lock(), &to_workers));
        let exit = write(&mut io::BufWriter::new(io::stdout().lock()), &from_workers);
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

fn respond(source: &Source, default: Option<&Principal>, line: Line) -> Answered {
    let request = match &line.text {
        Ok(text) => Request::read(text, &source.basis(), default),
        Err(TooLong) => Err(format!("longer than {MAX_LINE_BYTES} bytes")),
    };
    match request {
        Ok(request) => {
            let mut line = Vec::new();
            answer(&source.basis(), &request, false).write_json(&mut line);
            Answered { line: String::from_utf8(line).unwrap_or_default(), judged: true }
        }
        Err(error) => {
            Answered { line: json!({ "line": line.number, "error": error }).to_string(), judged: false }
        }
    }
}

fn read(mut input: impl BufRead, workers: &[SyncSender<Line>]) -> io::Result<()> {
    for (number, worker) in (1..).zip(workers.iter().cycle()) {
        let Some(text) = next_line(&mut input)? else { break };
        if worker.send(Line { number, text }).is_err() {
            break;
        }
    }
    Ok(())
}

/// A line without its end. Of one that is too long, no more is kept than the bound.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, TooLong>>> {
    let mut line = Vec::new();
    if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") {
        line.pop();
        return Ok(Some(Ok(line)));
    }
    if u64::try_from(line.len()).is_ok_and(|length| length < MAX_LINE_BYTES) {
        return Ok(Some(Ok(line)));
    }
    loop {
        line.clear();
        if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 || line.ends_with(b"\n") {
            return Ok(Some(Err(TooLong)));
        }
    }
}

fn write(out: &mut impl Write, workers: &[Receiver<Answered>]) -> io::Result<Exit> {
    let mut exit = Exit::Yes;
    for worker in workers.iter().cycle() {
        let answered = match worker.try_recv() {
            Ok(answered) => Some(answered),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                // Whoever wrote the last line may wait for its answer.
                out.flush()?;
                worker.recv().ok()
            }
        };
        let Some(Answered { line, judged }) = answered else { break };
        writeln!(out, "{line}")?;
        if !judged {
            exit = Exit::No;
        }
    }
    out.flush()?;
    Ok(exit)
}

/// Lines that wait for a worker, and answers that wait to be written.
const QUEUE_LINES: usize = 64;
/// The longest line: above every limit on statements, in any escaping.
const MAX_LINE_BYTES: u64 = 256 * 1024 * 1024;
