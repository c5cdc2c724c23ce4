//! The differences that may be (contracts 3's list), each as a rule with a name. What no rule takes away must be the
//! same, byte for byte.

use std::collections::{BTreeMap, HashMap};

use pgmoat_tests::{Front, Message, Transcript};

use crate::anew::is_stale;
use crate::play::Heard;
use crate::script::{Door, Role, Say, Script};

/// A message as it is compared.
#[derive(Debug)]
struct Told {
    words: String,
    /// Which of those that were heard it is.
    of: usize,
}

/// What is not permitted.
#[derive(Debug)]
pub(crate) struct Difference {
    /// For the reader of a failed test.
    pub(crate) text: String,
    /// The first of PostgreSQL's messages that differs says that a statement's result has changed: its number
    /// ([`crate::anew`]).
    pub(crate) stale: Option<usize>,
}

impl From<String> for Difference {
    fn from(text: String) -> Self {
        Self { text, stale: None }
    }
}

/// What both doors said, in the same words; none where they differ in nothing that is not permitted.
pub(crate) fn difference(script: &Script, direct: &Heard, proxied: &Heard) -> Option<Difference> {
    if let Some(stuck) = direct.stuck.as_ref() {
        return Some(format!("PostgreSQL itself hangs: {stuck}").into());
    }
    let both = format!("\n  direct:  {}\n  proxied: {}", direct.transcript, proxied.transcript);
    if let Some(stuck) = proxied.stuck.as_ref() {
        return Some(format!("hangs: {stuck}{both}").into());
    }
    let greetings = (greeting(&direct.greeting), greeting(&proxied.greeting));
    if greetings.0 != greetings.1 {
        return Some(format!("greeting\n  direct:  {:?}\n  proxied: {:?}", greetings.0, greetings.1).into());
    }
    let (told, proxied) = (told(script, Door::Direct, direct), told(script, Door::Proxied, proxied));
    let same = told.iter().zip(&proxied).take_while(|(direct, proxied)| is_same(script, direct, proxied));
    let at = same.count();
    if at == told.len().max(proxied.len()) {
        return None;
    }
    let words = |told: Option<&Told>| told.map_or("nothing".to_owned(), |told| told.words.clone());
    let [is, is_not] = [told.get(at), proxied.get(at)].map(words);
    let text = format!("at message {}{both}\n  direct:  {is}\n  proxied: {is_not}", at + 1);
    let of = told.get(at).map(|told| told.of);
    let stale = of.filter(|of| direct.transcript.messages.get(*of).is_some_and(is_stale));
    Some(Difference { text, stale })
}

fn told(script: &Script, door: Door, heard: &Heard) -> Vec<Told> {
    let mut known = parameters(&heard.greeting);
    let mut all = Vec::new();
    for (of, message) in heard.transcript.messages.iter().enumerate() {
        if let Some((name, value)) = parameter(message) {
            let own = script.settings.iter().any(|(setting, _)| *setting == name);
            let before = known.insert(name, value.clone());
            if own || before.as_ref() == Some(&value) {
                continue;
            }
        }
        all.push(Told { words: compared(script.role, door, message), of });
    }
    let of = heard.transcript.messages.len();
    match heard.transcript.closed {
        true => {
            // Rule *last words*: of a length that cannot be PostgreSQL says nothing and closes; the proxy says why.
            all.pop_if(|told| told.words.starts_with("E FATAL FATAL 08P01"));
            all.push(Told { words: "closed".to_owned(), of });
        }
        false => all.push(Told { words: own_settings(script, &known), of }),
    }
    all
}

/// Rule *start-up settings*: the proxy gives them to its upstream connection before the first statement, and again after
/// a RESET that lets them go, so what is told of them in between is not compared: what they are in the end is. What a
/// client knows already is no news.
fn own_settings(script: &Script, known: &HashMap<String, String>) -> String {
    let values: Vec<_> = script.settings.iter().map(|(name, _)| (name, known.get(*name))).collect();
    format!("settings {values:?}")
}

/// Rule *a Query's own portal*: PostgreSQL runs a Query in the unnamed portal, and where it fails inside a transaction
/// that portal is still there, and cannot be run; here it went with the Query. An error either way.
///
/// Rule *a denied Bind's portal* (contracts 3): a Bind that fails by a value leaves PostgreSQL's unnamed portal half made, and
/// where the transaction has failed its Execute is told of an empty query; behind a denied Bind there is none here.
fn is_same(script: &Script, direct: &Told, proxied: &Told) -> bool {
    let error = |told: &Told, codes: &[&str]| {
        codes.iter().any(|code| told.words.starts_with(&format!("E ERROR ERROR {code}")))
    };
    let half_made = || direct.words.starts_with("I ") && denies_a_bind(script);
    direct.words == proxied.words
        || (error(proxied, &[NO_CURSOR]) && (error(direct, &["25P02", "55000"]) || half_made()))
}

fn denies_a_bind(script: &Script) -> bool {
    let mut said = script.steps.iter().flat_map(|step| &step.say);
    said.any(|say| matches!(say, Say::Denied { proxied: Front::Bind(..), .. }))
}

fn compared(role: Role, door: Door, message: &Message) -> String {
    match message.tag {
        b'E' | b'N' => fields(role, door, message),
        b'A' => without_pid(message),
        tag => format!("{} {:?}", char::from(tag), String::from_utf8_lossy(&message.body)),
    }
}

/// Rule *numbers*: process ids.
fn without_pid(message: &Message) -> String {
    format!("A {:?}", String::from_utf8_lossy(message.body.get(4..).unwrap_or_default()))
}

fn fields(role: Role, door: Door, message: &Message) -> String {
    let get = |code: u8| message.field(code).unwrap_or_default();
    let tag = char::from(message.tag);
    let (severity, sqlstate, text) = (get(b'V'), get(b'C'), get(b'M'));
    if message.tag == b'E' && is_denial(role, door, &sqlstate, &text) {
        return format!("E denied {severity}");
    }
    let told = format!("{tag} {} {severity} {sqlstate}", get(b'S'));
    // Rule *rebuilt errors*: a tenant's errors have texts of the proxy's own, none has the place in the server's source
    // (the proxy makes some itself: unknown names, texts that do not parse), and a message that is no message may be
    // told of in other words.
    match (role, sqlstate.as_str()) {
        (Role::Tenant, _) | (_, PROTOCOL_VIOLATION | BAD_TEXT) => told,
        (Role::Unrestricted, _) => {
            let field = |code: &u8| format!(" {}={}", char::from(*code), get(*code));
            told + &b"MDHPpqWstcdn".iter().map(field).collect::<String>()
        }
    }
}

const PROTOCOL_VIOLATION: &str = "08P01";
const BAD_TEXT: &str = "22021";
const NO_CURSOR: &str = "34000";

/// Rule *denials*: what the proxy refuses, and what stands in its place at the other door.
fn is_denial(role: Role, door: Door, sqlstate: &str, text: &str) -> bool {
    match (door, role) {
        (Door::Proxied, Role::Tenant) => sqlstate == "42501",
        (Door::Proxied, Role::Unrestricted) => sqlstate == "42501" && text.starts_with("function calls"),
        (Door::Direct, role) => {
            (sqlstate == "42501" && text == "permission denied for schema vault")
                || (role == Role::Tenant && sqlstate == BAD_TEXT && text.ends_with("\"UTF8\": 0xff"))
        }
    }
}

/// Rule *greeting*: keys and process ids, SCRAM's nonces, the order of what is reported, and the user's name: the one
/// that the client has logged in with.
fn greeting(greeting: &Transcript) -> BTreeMap<String, String> {
    let mut said = parameters(greeting);
    said.remove("session_authorization");
    said.into_iter().collect()
}

fn parameters(greeting: &Transcript) -> HashMap<String, String> {
    greeting.messages.iter().filter_map(parameter).collect()
}

fn parameter(message: &Message) -> Option<(String, String)> {
    if message.tag != b'S' {
        return None;
    }
    let mut texts =
        message.body.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned());
    Some((texts.next()?, texts.next()?))
}
