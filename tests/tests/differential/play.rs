//! Playing a script at one door.

use std::io;
use std::time::Duration;

use pgmoat_tests::front::{c_statement, s};
use pgmoat_tests::{Front, Login, Message, Raw, Transcript};

use crate::script::{Door, Script, Step, Then};

/// What was heard at a door.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard {
    pub(crate) greeting: Transcript,
    pub(crate) transcript: Transcript,
    /// How many messages had come at each [`Then::Peek`].
    pub(crate) peeked: Vec<usize>,
    /// Why it ended before its time.
    pub(crate) stuck: Option<String>,
}

/// Plays it on a connection of its own. `peeked`: what PostgreSQL had sent at each look, so that the proxy is waited
/// for; none to look for oneself.
pub(crate) fn play(
    script: &Script,
    door: Door,
    login: &Login<'_>,
    peeked: Option<&[usize]>,
) -> io::Result<Heard> {
    let mut raw = Raw::connect(login)?;
    raw.wait_at_most(PATIENCE)?;
    let mut heard = Heard { greeting: raw.greeting().clone(), ..Heard::default() };
    let mut looks = peeked.map(|counts| counts.iter().copied());
    for (at, step) in script.steps.iter().enumerate() {
        let wanted = match (step.then, &mut looks) {
            (Then::Peek, Some(looks)) => looks.next(),
            _ => None,
        };
        if let Err(error) = say(step, door, &mut raw, &mut heard, wanted) {
            heard.stuck = Some(format!("step {}: {error}", at + 1));
            break;
        }
        if heard.transcript.closed {
            break;
        }
    }
    if heard.stuck.is_none() && !heard.transcript.closed {
        let last = Step { say: Vec::new(), write_bytes: usize::MAX, then: Then::Settle };
        if let Err(error) = say(&last, door, &mut raw, &mut heard, None) {
            heard.stuck = Some(format!("at the end: {error}"));
        }
    }
    // Not waited for: a connection that the server has closed cannot be written to.
    let _ = raw.send(&[Front::Terminate]);
    Ok(heard)
}

fn say(step: &Step, door: Door, raw: &mut Raw, heard: &mut Heard, wanted: Option<usize>) -> io::Result<()> {
    let mut bytes = Vec::new();
    for say in &step.say {
        say.at(door).encode(&mut bytes)?;
    }
    if step.then == Then::Settle {
        for message in fence() {
            message.encode(&mut bytes)?;
        }
    }
    raw.write_at_most(step.write_bytes);
    if let Err(error) = raw.send_bytes(&bytes) {
        // The server may have closed before it had read all: what it said is still there.
        if !matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) {
            return Err(error);
        }
    }
    match step.then {
        Then::Go => Ok(()),
        Then::Ready => {
            let before = heard.transcript.ready();
            while !heard.transcript.closed && heard.transcript.ready() == before {
                hear(raw, &mut heard.transcript)?;
            }
            Ok(())
        }
        Then::Settle => {
            while !heard.transcript.closed && !is_fence(&heard.transcript.messages) {
                hear(raw, &mut heard.transcript)?;
            }
            let kept = heard.transcript.messages.len().saturating_sub(FENCE + 1);
            if !heard.transcript.closed {
                heard.transcript.messages.drain(kept..kept + FENCE);
            }
            Ok(())
        }
        Then::Peek => {
            match wanted {
                Some(wanted) => {
                    while unasked(&heard.transcript) < wanted && !heard.transcript.closed {
                        hear(raw, &mut heard.transcript)?;
                    }
                }
                None => look(raw, &mut heard.transcript)?,
            }
            heard.peeked.push(unasked(&heard.transcript));
            Ok(())
        }
    }
}

/// Ends any copy-in, syncs, and closes names that nobody has: so many CloseCompletes in a row come from nothing else.
fn fence() -> Vec<Front> {
    let mut messages = vec![Front::CopyDone, s()];
    messages.extend((0..FENCE).map(|_| c_statement("fence")));
    messages.push(s());
    messages
}

fn is_fence(messages: &[Message]) -> bool {
    let Some((last, before)) = messages.split_last() else { return false };
    last.tag == b'Z'
        && before.len() >= FENCE
        && before.iter().rev().take(FENCE).all(|message| message.tag == b'3')
}

/// How many messages, but for those that may come at any time.
fn unasked(transcript: &Transcript) -> usize {
    transcript.messages.iter().filter(|message| !matches!(message.tag, b'S' | b'N' | b'A')).count()
}

fn hear(raw: &mut Raw, transcript: &mut Transcript) -> io::Result<()> {
    match raw.next_message()? {
        Some(message) => transcript.messages.push(message),
        None => transcript.closed = true,
    }
    Ok(())
}

/// All that comes unasked.
fn look(raw: &mut Raw, transcript: &mut Transcript) -> io::Result<()> {
    raw.wait_at_most(QUIET)?;
    let looked = loop {
        match hear(raw, transcript) {
            Ok(()) if transcript.closed => break Ok(()),
            Ok(()) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                break Ok(());
            }
            Err(error) => break Err(error),
        }
    };
    raw.wait_at_most(PATIENCE)?;
    looked
}

/// How many CloseCompletes in a row are the player's own. Scripts have fewer.
const FENCE: usize = 9;

/// Longer than a right answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(8);

/// When PostgreSQL has said what it says unasked. Too short a time makes a test weaker, never red.
const QUIET: Duration = Duration::from_millis(25);
