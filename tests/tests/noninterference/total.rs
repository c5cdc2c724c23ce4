//! The sums over the summaries of all seeds in a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Numbers of a line, by the table that it stands in and what it is about.
type Lines = BTreeMap<(usize, String), Vec<u64>>;

/// Writes the sums beside the summaries, if those are asked for.
pub(crate) fn write() {
    let Some(folder) = std::env::var_os("PGMOAT_RESULTS") else { return };
    let folder = Path::new(&folder);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX)));
    files.sort();
    let texts: Vec<String> = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    fs::write(folder.join("noninterference-total.txt"), of(&texts)).unwrap();
}

/// The sums of summaries: of their first lines, and of every table line by line.
fn of(texts: &[String]) -> String {
    let mut heads: Vec<String> = Vec::new();
    let mut lines = Lines::new();
    let mut firsts = Vec::new();
    for text in texts {
        let mut all = text.lines();
        firsts.push(First::read(all.next().unwrap_or_default()));
        let mut table = 0;
        for line in all.filter(|line| !line.is_empty()) {
            match counts(line) {
                Some((numbers, name)) => {
                    let sum = lines.entry((table, name)).or_insert_with(|| vec![0; numbers.len()]);
                    sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
                }
                None => {
                    let known = heads.iter().position(|head| head == line);
                    table = known.unwrap_or_else(|| {
                        heads.push(line.to_owned());
                        heads.len() - 1
                    });
                }
            }
        }
    }
    let mut text = First::sum(&firsts);
    for (at, head) in heads.iter().enumerate() {
        text.push_str(&format!("\n{head}\n"));
        for ((_, name), numbers) in lines.range((at, String::new())..(at + 1, String::new())) {
            let numbers: String = numbers.iter().map(|number| format!("{number:>9}")).collect();
            text.push_str(&format!("{numbers} {name}\n"));
        }
    }
    text
}

/// The numbers with which a line of a table begins, and the rest; none for a head.
fn counts(line: &str) -> Option<(Vec<u64>, String)> {
    let mut rest = line.strip_prefix(' ')?.trim_start();
    let mut numbers = Vec::new();
    while let Some((word, after)) = rest.split_once(' ')
        && let Ok(number) = word.parse()
    {
        numbers.push(number);
        rest = after.trim_start();
    }
    Some((numbers, rest.to_owned()))
}

/// `seed 1: 9 judged, 3 allowed (33.3 %), 2 of them with rows to compare, 0 differences`.
struct First {
    seed: u64,
    judged: u64,
    allowed: u64,
    telling: u64,
    differences: u64,
}

impl First {
    fn read(line: &str) -> Self {
        let words: Vec<&str> = line.split([' ', ':', ',']).filter(|word| !word.is_empty()).collect();
        let before = |name: &str| {
            let at = words.iter().position(|word| *word == name).unwrap();
            words[at - 1].parse().unwrap()
        };
        Self {
            seed: words[1].parse().unwrap(),
            judged: before("judged"),
            allowed: before("allowed"),
            telling: before("of"),
            differences: before("differences"),
        }
    }

    fn sum(all: &[Self]) -> String {
        let sum = |number: fn(&Self) -> u64| all.iter().map(number).sum::<u64>();
        let (judged, allowed) = (sum(|first| first.judged), sum(|first| first.allowed));
        let seeds: Vec<String> = all.iter().map(|first| first.seed.to_string()).collect();
        format!(
            "{allowed} allowed over seeds {}, {} differences\n{judged} judged, {:.1} % of them allowed, {} with rows to compare\n",
            seeds.join(", "),
            sum(|first| first.differences),
            100.0 * allowed as f64 / judged.max(1) as f64,
            sum(|first| first.telling),
        )
    }
}

const PREFIX: &str = "noninterference-seed-";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_taken_line_by_line() {
        let one = "seed 1: 9 judged, 3 allowed (33.3 %), 2 of them with rows to compare, 0 differences\n\
                   \nnear misses\n        4       1 dropped\n\nerrors, by world\n        7 23505, no error, 23505\n        1 22012\n";
        let two = "seed 2: 11 judged, 3 allowed (27.3 %), 1 of them with rows to compare, 1 differences\n\
                   \nnear misses\n        5       0 dropped\n        1       1 moved\n\nerrors, by world\n        1 23505, no error, 23505\n";
        let text = of(&[one.to_owned(), two.to_owned()]);
        assert_eq!(
            text,
            "6 allowed over seeds 1, 2, 1 differences\n20 judged, 30.0 % of them allowed, 3 with rows to compare\n\
             \nnear misses\n        9        1 dropped\n        1        1 moved\n\
             \nerrors, by world\n        1 22012\n        8 23505, no error, 23505\n"
        );
    }
}
