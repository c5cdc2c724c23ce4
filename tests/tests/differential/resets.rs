//! RESET, RESET ALL and DISCARD ALL beside start-up settings: the proxy gives those again, which upstream does not know
//! of, only where what let them go has stayed.

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Front, Mode, Stack, length};

use crate::pair::Pair;
use crate::script::{Role, Script, step};

/// Known fault G as far as a client's own settings go: one that is undone has let nothing go.
#[test]
fn a_reset_that_is_rolled_back_lets_no_setting_go() {
    let (spellings, starts) = (length(2, RESETS.len()), length(1, STARTS.len()));
    for mode in Mode::PROXIED {
        let mut pair = Pair::new(Stack::get(), *mode);
        let mut found = Vec::new();
        for reset in &RESETS[..spellings] {
            for (way, said) in ways(reset) {
                for settings in &STARTS[..starts] {
                    let name = format!("{reset}: {way}");
                    let steps = vec![step([before(), said.clone(), after()].concat())];
                    let script = Script { name, role: Role::Unrestricted, settings, steps };
                    found
                        .extend(pair.difference(&script).map(|difference| format!("{script}{difference}\n")));
                }
            }
        }
        found.extend(pair.complaints());
        assert!(found.is_empty(), "{mode}\n{}", found.join("\n"));
    }
}

fn ways(reset: &str) -> Vec<(&'static str, Vec<Front>)> {
    let and = |more: &str| vec![q(&format!("{reset}; {more}"))];
    let reset_alone = || vec![q(reset)];
    let between = |before: &[&str], after: &[&str]| {
        let texts = before.iter().chain([&reset]).chain(after);
        texts.map(|text| q(text)).collect::<Vec<_>>()
    };
    vec![
        ("stays", reset_alone()),
        ("stays in a batch", batch(&[reset])),
        ("a Query fails", and(BAD)),
        ("a batch fails", batch(&[reset, BAD])),
        ("a batch fails at Parse", [run(reset), vec![p("", "selec"), s()]].concat()),
        ("rolled back", between(&["BEGIN"], &["ROLLBACK"])),
        ("fails in a block", between(&["BEGIN"], &[BAD, "COMMIT"])),
        ("a block in a batch", batch(&["BEGIN", reset, "ROLLBACK"])),
        ("to a savepoint", between(&["BEGIN", "SAVEPOINT s"], &["ROLLBACK TO s", "COMMIT"])),
        ("before a savepoint", between(&["BEGIN"], &["SAVEPOINT s", "ROLLBACK TO s", "COMMIT"])),
        ("committed before what fails", vec![q(&format!("BEGIN; {reset}; COMMIT; {BAD}"))]),
        ("set again", and(PARIS)),
        ("set again in a batch", batch(&[reset, PARIS])),
        ("twice", [and(BAD), reset_alone(), vec![q(PARIS)], reset_alone()].concat()),
        ("chained", between(&["BEGIN", reset, "ROLLBACK AND CHAIN"], &["COMMIT AND CHAIN", "ROLLBACK"])),
        ("DISCARD ALL fails", between(&["BEGIN"], &["DISCARD ALL", "ROLLBACK"])),
        ("DISCARD ALL before what fails", batch(&["DISCARD ALL", BAD])),
    ]
}

fn run(sql: &str) -> Vec<Front> {
    vec![p("", sql), b("", "", &[]), e("", 0)]
}

fn batch(texts: &[&str]) -> Vec<Front> {
    let mut batch: Vec<Front> = texts.iter().flat_map(|text| run(text)).collect();
    batch.push(s());
    batch
}

/// What a client has set.
fn before() -> Vec<Front> {
    ["SET DateStyle = 'German'", "SELECT set_config('work_mem', '5MB', false)", "SET TimeZone = 'UTC'"]
        .map(q)
        .to_vec()
}

/// What is left of it.
fn after() -> Vec<Front> {
    ["SHOW TimeZone", "SHOW DateStyle", "SHOW work_mem"].map(q).to_vec()
}

const BAD: &str = "SELECT 1/0";
const PARIS: &str = "SET TimeZone = 'Europe/Paris'";
const RESETS: [&str; 4] = [
    "RESET ALL",
    "SELECT set_config('TimeZone', NULL, false) IS NULL",
    "RESET TimeZone",
    "SET TimeZone TO DEFAULT",
];
const STARTS: [&[(&str, &str)]; 3] =
    [&[("TimeZone", "Asia/Tokyo"), ("DateStyle", "ISO, DMY")], &[("TimeZone", "Asia/Tokyo")], &[]];
