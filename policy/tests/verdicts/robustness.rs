//! Whatever the text, judging it ends in a verdict.

use crate::lab::{Lab, on_large_stack};
use pgmoat_policy::Mode;

const TEXTS: usize = 10_000;

/// A small deterministic generator: the same texts on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap()
    }
}

fn corpus() -> Vec<String> {
    let both = [
        include_str!("../../../tests/corpus/attack.jsonl"),
        include_str!("../../../tests/corpus/benign.jsonl"),
    ];
    both.iter()
        .flat_map(|text| text.lines())
        .map(|line| {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            case["sql"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// What a word is, so that another of its kind may stand in its place.
fn class(word: &str) -> u8 {
    match word.bytes().next() {
        Some(b'\'') => 0,
        Some(b'0'..=b'9') => 1,
        Some(b'A'..=b'Z') => 2,
        Some(b'a'..=b'z' | b'"') => 3,
        _ => 4,
    }
}

/// Mostly puts words of the same kind in the place of others, so that many of the results still
/// parse; sometimes drops, doubles and moves words, and borrows pieces of other texts.
fn mutated(seeds: &[Vec<String>], dice: &mut Dice) -> String {
    let mut words = seeds[dice.roll(seeds.len())].clone();
    let other = &seeds[dice.roll(seeds.len())];
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(words.len());
        match dice.roll(16) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[dice.roll(words.len())].clone()),
            2 => {
                let with = dice.roll(words.len());
                words.swap(at, with);
            }
            3 => {
                let from = dice.roll(other.len());
                let piece = other[from..(from + 6).min(other.len())].to_vec();
                words.splice(at..at, piece);
            }
            _ => {
                let alike: Vec<&String> =
                    other.iter().filter(|word| class(word) == class(&words[at])).collect();
                if !alike.is_empty() {
                    words[at] = alike[dice.roll(alike.len())].clone();
                }
            }
        }
        if words.is_empty() {
            words.push("SELECT".to_owned());
        }
    }
    words.join(" ")
}

#[test]
fn mutated_texts_get_a_verdict() {
    on_large_stack(|| {
        let lab = Lab::new();
        let seeds: Vec<Vec<String>> = corpus()
            .iter()
            .map(|sql| sql.replace('(', " ( ").replace(')', " ) ").replace(',', " , "))
            .map(|sql| sql.split_whitespace().map(str::to_owned).collect())
            .filter(|words: &Vec<String>| !words.is_empty() && words.len() < 120)
            .collect();
        let mut dice = Dice(1);
        let mut parsed = 0;
        for number in 0..TEXTS {
            let text = mutated(&seeds, &mut dice);
            let who = ["app:acme", "analyst:acme", "ops"][number % 3];
            let mode = if number % 2 == 0 { Mode::Simple } else { Mode::Extended { declared: &[25] } };
            let judgement = lab.judge(who, mode, &text);
            assert!(!judgement.statements.is_empty());
            let syntax =
                judgement.denial().is_some_and(|(_, denial)| denial.code.to_string() == "syntax_error");
            parsed += usize::from(!syntax);
            if number % 50 == 0 {
                let again = lab.judge(who, mode, &text);
                assert_eq!(format!("{:?}", judgement.statements), format!("{:?}", again.statements));
            }
        }
        assert!(parsed > TEXTS / 10, "only {parsed} of the texts were SQL at all");
    });
}

#[test]
fn long_and_deep_texts_get_a_verdict() {
    on_large_stack(|| {
        let lab = Lab::new();
        let nested = |open: &str, middle: &str, close: &str, count: usize| {
            format!("{}{middle}{}", open.repeat(count), close.repeat(count))
        };
        let equalities: Vec<String> =
            (0..1500).map(|n| format!("o.tenant_id = c.tenant_id AND o.id <> {n}")).collect();
        let chain: Vec<String> = (0..60).map(|n| format!("app.orders o{n}")).collect();
        let links: Vec<String> = (1..60).map(|n| format!("o{n}.tenant_id = o{}.tenant_id", n - 1)).collect();
        let arms: Vec<String> = (0..3000).map(|n| format!("(tenant_id = 'acme' AND id = {n})")).collect();
        let recursive: String = (0..12).fold("SELECT 1 AS a".to_owned(), |inner, n| {
            format!("WITH RECURSIVE r{n} AS (({inner}) UNION ALL SELECT a + 1 FROM r{n} WHERE a < 3) SELECT a FROM r{n}")
        });
        let references: String = (1..20).fold("WITH c0 AS (SELECT tenant_id FROM app.orders)".to_owned(), |text, n| {
            format!("{text}, c{n} AS (SELECT a.tenant_id FROM c{0} a JOIN c{0} b ON a.tenant_id = b.tenant_id)", n - 1)
        });
        let texts = [
            format!("SELECT {}", nested("lower(", "'x'", ")", 5000)),
            format!("SELECT {}", vec!["1"; 10_000].join(" + ")),
            format!("SELECT 1 WHERE {}", nested("NOT (", "true", ")", 1000)),
            format!(
                "SELECT 1 FROM app.orders o, app.customers c WHERE c.tenant_id = 'acme' AND {}",
                equalities.join(" AND ")
            ),
            format!(
                "SELECT 1 FROM {} WHERE o59.tenant_id = 'acme' AND {}",
                chain.join(", "),
                links.join(" AND ")
            ),
            format!("SELECT 1 FROM app.orders WHERE {}", arms.join(" OR ")),
            vec!["SELECT 1"; 120].join(" UNION ALL "),
            recursive,
            format!("{references} SELECT 1 FROM c19 WHERE tenant_id = 'acme'"),
        ];
        for text in &texts {
            let judgement = lab.judge("app:acme", Mode::Simple, text);
            assert_eq!(judgement.statements.len(), 1);
        }
    });
}
