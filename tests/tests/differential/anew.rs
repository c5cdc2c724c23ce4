//! Rule *plans made anew* (contracts 3): on shared connections a statement whose result has changed is made anew, where
//! PostgreSQL refuses each use of it (0A000, "cached plan must not change result type") until the client parses again.
//!
//! What is accepted in place of that error is one thing only: what PostgreSQL itself answers, from there to the script's
//! end, to a client that closes the statement and parses it again directly before that use. So the script is edited like
//! that and played at PostgreSQL's door once more; but for the two replies to the edit the proxy has to say the same.
//!
//! Which uses those are is not narrowed down any further: a use meets a new plan behind the one retry, and wherever the
//! client's connection is not the one that it was on before, or another client has parsed the same text there since. From
//! outside nobody can tell which connection it was.

use std::io;

use pgmoat_tests::front::{c_statement, q};
use pgmoat_tests::{Front, Message};

use crate::play::Heard;
use crate::script::{Door, Say, Script, Then, step};

/// A script in which statements are made anew before their stale uses, one after the other.
#[derive(Debug)]
pub(crate) struct Anew {
    script: Script,
    /// Where the replies to the edits are, in what is heard without them.
    edits: Vec<usize>,
    /// Uses before this place need no edit any more.
    from: Place,
}

/// Where PostgreSQL is played at.
pub(crate) trait Direct {
    /// The database that the proxy's is compared with.
    fn play(&mut self, script: &Script) -> io::Result<Heard>;

    /// A new one, of which nothing is seen afterwards.
    fn play_apart(&mut self, script: &Script) -> io::Result<Heard>;
}

/// A message in a script: its step, and its number there.
type Place = (usize, usize);

/// A Bind, or a statement's Describe.
struct Use {
    place: Place,
    /// The statement's.
    name: String,
    /// What it was told before it failed.
    replies: usize,
}

impl Anew {
    pub(crate) fn of(script: &Script) -> Self {
        Self { script: script.clone(), edits: Vec::new(), from: (0, 0) }
    }

    /// What is heard where the statement is made anew whose use PostgreSQL has refused at this message; none where no such
    /// use or statement is found.
    pub(crate) fn make(&mut self, at: usize, direct: &mut impl Direct) -> io::Result<Option<Heard>> {
        let Some(Use { place, name, replies }) = self.find_use(at + self.edits.len() * EDIT.len(), direct)?
        else {
            return Ok(None);
        };
        // What it was told before the error comes behind the replies to the edit.
        let at = at - replies;
        let Some(parse) = self.find_parse(place, &name, direct)? else { return Ok(None) };
        let edit = [c_statement(&name), parse].map(Say::Same);
        self.script.steps[place.0].say.splice(place.1..place.1, edit);
        self.edits.push(at);
        self.from = (place.0, place.1 + EDIT.len() + 1);
        let mut heard = direct.play(&self.script)?;
        let messages = &mut heard.transcript.messages;
        for at in &self.edits {
            // In their order: those before it are gone already.
            let replies = messages.get(*at..at + EDIT.len()).unwrap_or_default();
            if !replies.iter().map(|message| message.tag).eq(EDIT) {
                return Ok(None);
            }
            messages.drain(*at..at + EDIT.len());
        }
        Ok(Some(heard))
    }

    /// The first use of a statement behind which the error has come.
    fn find_use(&self, at: usize, direct: &mut impl Direct) -> io::Result<Option<Use>> {
        for (place, message) in self.messages().filter(|(place, _)| *place >= self.from) {
            let (Front::Bind(_, name, ..) | Front::Describe(b'S', name)) = message else { continue };
            let heard = direct.play_apart(&self.up_to((place.0, place.1 + 1)))?;
            let messages = &heard.transcript.messages;
            if messages.get(at).is_some_and(is_stale) {
                // ParameterDescription comes first.
                let replies =
                    usize::from(matches!(message, Front::Describe(..)) && messages[at - 1].tag == b't');
                return Ok(Some(Use { place, name: name.clone(), replies }));
            }
        }
        Ok(None)
    }

    /// The last Parse of this name before it, if that is the one that has counted.
    fn find_parse(&self, before: Place, name: &str, direct: &mut impl Direct) -> io::Result<Option<Front>> {
        let parses = |message: &&Front| matches!(message, Front::Parse(parsed, ..) if parsed == name);
        let earlier = self.messages().filter(|(place, _)| *place < before).map(|(_, message)| message);
        let Some(last @ Front::Parse(_, text, _)) = earlier.filter(parses).last() else { return Ok(None) };
        if name.is_empty() {
            // The server does not list it. One that failed would have dropped the one before it.
            return Ok(Some(last.clone()));
        }
        let name = name.replace('\'', "''");
        let ask = format!("SELECT statement FROM pg_prepared_statements WHERE name = '{name}'");
        let mut script = self.up_to(before);
        script.steps.push(step(vec![q(&ask)]));
        let rows = direct.play_apart(&script)?.transcript.rows();
        let counts = rows.last().is_some_and(|row| row[0].as_deref() == Some(text));
        Ok(counts.then(|| last.clone()))
    }

    fn messages(&self) -> impl Iterator<Item = (Place, &Front)> {
        let steps = self.script.steps.iter().enumerate();
        steps.flat_map(|(at, step)| {
            step.say.iter().enumerate().map(move |(number, say)| ((at, number), say.at(Door::Direct)))
        })
    }

    /// The script's messages before this place.
    fn up_to(&self, place: Place) -> Script {
        let mut script = self.script.clone();
        script.steps.truncate(place.0 + 1);
        script.steps[place.0].say.truncate(place.1);
        script.steps[place.0].then = Then::Settle;
        // How its bytes come is of no matter here.
        script.steps.iter_mut().for_each(|step| step.write_bytes = usize::MAX);
        script
    }
}

/// Whether PostgreSQL says that a statement's result is not what it was.
pub(crate) fn is_stale(message: &Message) -> bool {
    message.field(b'C').as_deref() == Some("0A000")
        && message.field(b'R').as_deref() == Some("RevalidateCachedQuery")
}

/// CloseComplete, ParseComplete.
const EDIT: [u8; 2] = [b'3', b'1'];
