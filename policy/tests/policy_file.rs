//! The policy file: every problem at once, with line, column and path.
//!
//! `golden/policy-file/NAME.yaml` is a file, `NAME.txt` what is said about it. With `PGMOAT_BLESS=1`
//! the texts, the JSON Schema and the reference page are written anew.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use pgmoat_policy::Policy;
use pgmoat_policy::policy::{self, Limits, POLICY_FILE};

#[test]
fn every_problem_of_a_file_is_reported_with_its_place() {
    let mut seen = 0;
    for file in yaml_files() {
        seen += 1;
        compare(&file.with_extension("txt"), &report(&fs::read_to_string(&file).unwrap()));
    }
    assert!(seen >= 20, "only {seen} golden files found");
}

#[test]
fn the_schema_and_the_reference_page_are_made_from_the_table() {
    let schema = format!("{:#}\n", policy::schema());
    compare(&here().join("schema/policy.json"), &schema);
    compare(&here().join("docs/policy-file.md"), &policy::reference());
}

#[test]
fn every_key_stands_in_the_schema_and_on_the_page() {
    let schema = policy::schema().to_string();
    let page = policy::reference();
    let mut keys = 0;
    each_key(&POLICY_FILE, &mut |key| {
        keys += 1;
        assert!(schema.contains(&format!("\"{}\":{{", key.name)), "{} is not in the schema", key.name);
        assert!(page.contains(&format!("| `{}` |", key.name)), "{} is not on the page", key.name);
        assert!(key.about.ends_with('.'), "{} has no meaning", key.name);
    });
    assert!(keys > 50);
}

/// The schema says yes and no where the reader does.
#[test]
fn the_schema_agrees_with_the_reader() {
    let validator = jsonschema::validator_for(&policy::schema()).unwrap();
    for file in yaml_files() {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&file).unwrap();
        let Ok(value) = serde_yaml::from_str::<serde_json::Value>(&text) else { continue };
        let accepted = Policy::load(&text, "policy.yaml").is_ok();
        let valid = validator.is_valid(&value);
        assert!(valid || !accepted, "{name} is accepted, and the schema refuses it");
        if ["unknown_keys", "wrong_types", "missing_keys", "no_mapping"].contains(&name.as_str()) {
            assert!(!valid, "{name} passes the schema");
        }
    }
}

#[test]
fn the_default_limits_are_those_of_the_page() {
    let loaded = Policy::load("version: 1\nroles: { r: { tenant: exempt } }", "policy.yaml").unwrap();
    let limits = loaded.policy.role("r").unwrap().limits;
    assert_eq!(limits, Limits::default());
    let schema = policy::schema();
    for name in pgmoat_policy::LimitName::ALL {
        let shown = &schema["properties"]["limits"]["properties"][name.name()]["default"];
        assert_eq!(shown, limits.get(name), "{}", name.name());
    }
}

/// Not a fuzzer, but always run: a file that people break while they edit it is refused in words.
#[test]
fn no_text_makes_the_reader_panic() {
    let mut files = yaml_files();
    // Expanding aliases up to the bound takes a while; once is enough.
    files.retain(|file| !file.ends_with("billion_laughs.yaml"));
    let seeds: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let tokens = [
        "*a", "&a ", ": ", "- ", "{", "}", "[", "]", "\"", "'", "!!str ", "<<: *a", "\t", "\n", "---\n",
        "? ", "|\n", "# ", "%", "\u{feff}", "é", "~", "0x",
    ];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..10_000 {
        let mut bytes = seeds[random.below(seeds.len())].clone();
        bytes.truncate(4096);
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &tokens, &mut random);
        }
        let text = String::from_utf8_lossy(&bytes);
        match Policy::load(&text, "policy.yaml") {
            Ok(loaded) => assert!(loaded.warnings.iter().all(|problem| !problem.is_error())),
            Err(problems) => assert!(problems.iter().any(policy::Problem::is_error), "{text}"),
        }
    }
}

#[test]
fn a_file_above_the_bound_is_not_read() {
    let text = format!("version: 1\n# {}\n", "x".repeat(8 * 1024 * 1024));
    let problems = Policy::load(&text, "policy.yaml").unwrap_err();
    assert_eq!(problems[0].to_string(), "policy.yaml: the file has 8388622 bytes, at most 8388608 are read");
}

#[test]
fn ten_thousand_lines_of_tables_are_read_and_found() {
    let mut text = String::from("version: 1\nroles: { r: { tenant: required } }\ntenancy:\n  tables:\n");
    for number in 0..10_000 {
        writeln!(text, "    - {{ match: \"s{}.t{number}\", column: c{number} }}", number % 10).unwrap();
    }
    text.push_str("    - { match: \"s1.t*\", shared: true }\n");
    let policy = Policy::load(&text, "policy.yaml").unwrap().policy;
    let column = |schema: &str, table: &str| match policy.entry(schema, table) {
        Some(policy::Entry::Scoped { column }) => column.to_string(),
        Some(policy::Entry::Shared) => "shared".to_owned(),
        None => "none".to_owned(),
    };
    assert_eq!(column("s1", "t4321"), "c4321");
    assert_eq!(column("s1", "t4322"), "shared");
    assert_eq!(column("s2", "t4321"), "none");
}

fn report(text: &str) -> String {
    let (verdict, problems) = match Policy::load(text, "policy.yaml") {
        Ok(loaded) => ("accepted", loaded.warnings),
        Err(problems) => ("refused", problems),
    };
    let mut report = format!("{verdict}\n");
    for problem in problems {
        writeln!(report, "{problem}").unwrap();
    }
    report
}

fn compare(file: &Path, now: &str) {
    if env::var_os("PGMOAT_BLESS").is_some() {
        fs::write(file, now).unwrap();
    }
    let golden = fs::read_to_string(file).unwrap_or_default();
    assert!(golden == now, "{} is\n{golden}\nand should be\n{now}", file.display());
}

fn each_key(section: &policy::document::Section, visit: &mut impl FnMut(&policy::document::Key)) {
    for key in section.keys {
        visit(key);
        each_section(&key.shape, visit);
    }
}

fn each_section(shape: &policy::document::Shape, visit: &mut impl FnMut(&policy::document::Key)) {
    use policy::document::Shape;
    match shape {
        Shape::Section(section) => each_key(section, visit),
        Shape::List(shape) | Shape::Map { value: shape, .. } => each_section(shape, visit),
        Shape::Either(shapes) => shapes.iter().for_each(|shape| each_section(shape, visit)),
        Shape::Text | Shape::Integer { .. } | Shape::Boolean | Shape::Null | Shape::Word(_) => {}
    }
}

fn yaml_files() -> Vec<PathBuf> {
    let folder = fs::read_dir(here().join("golden/policy-file")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    files
}

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn mutate(bytes: &mut Vec<u8>, tokens: &[&str], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(4) {
        0 => drop(bytes.splice(at..at, tokens[random.below(tokens.len())].bytes())),
        1 => drop(bytes.drain(at..(at + random.below(30)).min(bytes.len()))),
        2 if at < bytes.len() => bytes[at] = u8::try_from(random.below(256)).unwrap_or_default(),
        _ => {
            let end = (at + random.below(200)).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            let place = random.below(bytes.len() + 1);
            drop(bytes.splice(place..place, piece));
        }
    }
}

/// xorshift64: the same inputs on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).unwrap_or(1)).unwrap_or_default()
    }
}
