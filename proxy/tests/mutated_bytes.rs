//! The fuzz functions of frames, first packets, messages and the configuration over seeds and
//! 10,000 mutations each: the same ones every time.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;

/// Mutations of each kind of seed.
const INPUTS: usize = 10_000;

/// A small generator of the same numbers every time (xorshift64*).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let rolled = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(rolled).unwrap() % sides
    }

    fn byte(&mut self) -> u8 {
        const LIKELY: [u8; 8] = [0, 1, 4, 5, 0x7f, 0x80, 0xff, b'\''];
        match self.roll(3) {
            0 => *LIKELY.get(self.roll(LIKELY.len())).unwrap(),
            _ => u8::try_from(self.roll(256)).unwrap(),
        }
    }

    /// One of the seeds, with up to four edits: a byte changed, put in, taken out, a piece twice.
    fn mutate(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds.get(self.roll(seeds.len())).unwrap().clone();
        for _ in 0..=self.roll(4) {
            let at = self.roll(bytes.len() + 1);
            match self.roll(4) {
                0 => {
                    let byte = self.byte();
                    if let Some(place) = bytes.get_mut(at) {
                        *place = byte;
                    }
                }
                1 => bytes.insert(at, self.byte()),
                2 if at < bytes.len() => drop(bytes.remove(at)),
                _ => {
                    let piece = bytes.get(at..).unwrap().to_vec();
                    bytes.extend(piece);
                }
            }
        }
        bytes
    }
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend(u32::try_from(body.len() + 4).unwrap().to_be_bytes());
    bytes.extend(body);
    bytes
}

fn first(version: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(body.len() + 8).unwrap().to_be_bytes().to_vec();
    bytes.extend(version.to_be_bytes());
    bytes.extend(body);
    bytes
}

fn client_messages() -> Vec<Vec<u8>> {
    let bind = b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x01a\xff\xff\xff\xff\0\x01\0\0";
    let all = [
        message(b'Q', b"SELECT 1\0"),
        message(b'P', b"s\0SELECT $1\0\0\x01\0\0\0\x19"),
        message(b'B', bind),
        message(b'D', b"Ss\0"),
        message(b'E', b"p\0\0\0\0\x05"),
        message(b'C', b"Pp\0"),
        message(b'H', b""),
        message(b'S', b""),
        message(b'd', b"row"),
        message(b'f', b"no\0"),
        message(b'F', b"\0\0\0\x01\0\0\0\0\0\0"),
        message(b'X', b""),
    ];
    let mut seeds = all.to_vec();
    seeds.push(all.concat());
    seeds
}

fn server_bodies() -> Vec<Vec<u8>> {
    [
        &b"SERROR\0VERROR\0C42501\0Mno\0P12\0\0"[..],
        b"TimeZone\0UTC\0",
        b"SELECT 1\0",
        b"\0\0\0\x07abcd",
        b"\0\0\0\x0aSCRAM-SHA-256\0\0",
        b"\0\0\0\x0br=abc,s=AAAA,i=4096",
        b"I",
    ]
    .map(<[u8]>::to_vec)
    .to_vec()
}

#[test]
fn mutated_frames_are_their_exact_slices() {
    let mut seeds = client_messages();
    seeds.extend(server_bodies().iter().map(|body| message(b'E', body)));
    let mut dice = Dice(0x5eed_0001);
    for _ in 0..INPUTS {
        let choice = dice.byte();
        pgmoat_upstream::fuzzing::frame(choice, &dice.mutate(&seeds));
    }
}

#[test]
fn mutated_first_packets_are_decoded_or_refused() {
    let seeds = [
        first(3 << 16, b"user\0ann\0database\0lab\0options\0-c geqo=off --a-b=c\\ d\0\0"),
        first((3 << 16) | 9999, b"user\0ann\0_pq_.x\x001\0\0"),
        first(80_877_102, b"\0\0\0\x07abcd"),
        first(80_877_103, b""),
        first(80_877_104, b""),
    ];
    let mut dice = Dice(0x5eed_0002);
    for _ in 0..INPUTS {
        pgmoat::fuzzing::startup(&dice.mutate(&seeds));
    }
}

#[test]
fn mutated_logins_let_nobody_in() {
    let first = |gs2: &str| {
        let message = format!("{gs2}n=,r=fyko+d2lbbFgONRv9qkxdawL");
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        [b"SCRAM-SHA-256\0", &length[..], message.as_bytes()].concat()
    };
    let proof = format!("c=biws,r=fyko+d2lbbFgONRv9qkxdawL,p={}=", "A".repeat(43));
    let seeds = ["n,,", "y,,", "p=tls-server-end-point,,"]
        .map(|gs2| [&first(gs2), &b"\xff"[..], proof.as_bytes()].concat());
    let mut dice = Dice(0x5eed_0006);
    for _ in 0..INPUTS {
        pgmoat::fuzzing::scram(&dice.mutate(&seeds));
    }
}

#[test]
fn mutated_messages_are_decoded_or_refused() {
    let mut seeds = client_messages();
    seeds.extend(server_bodies());
    let mut dice = Dice(0x5eed_0003);
    for _ in 0..INPUTS {
        pgmoat::fuzzing::decode(&dice.mutate(&seeds));
    }
}

#[test]
fn mutated_configurations_are_loaded_or_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pgmoat.yaml");
    fs::write(folder.path().join("policy.yaml"), include_str!("../../lab/policy.yaml")).unwrap();
    let seed = b"listen: 127.0.0.1:6432\npolicy: policy.yaml\naudit: { path: a.jsonl, durability: os }\n\
        users:\n  - { name: ops, verifier: \"SCRAM-SHA-256$4096:AAAA\", role: ops }\n\
        databases:\n  lab:\n    upstream: { host: h, port: 5432, dbname: lab, user: u, tls: disable }\n\
        \x20   pool: { mode: session, size: 4, wait_timeout_ms: 50 }\n";
    let mut dice = Dice(0x5eed_0004);
    for _ in 0..INPUTS {
        fs::write(&path, dice.mutate(&[seed.to_vec()])).unwrap();
        if let Err(problems) = pgmoat::config::load(&path) {
            assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.message.is_empty()));
        }
    }
}
