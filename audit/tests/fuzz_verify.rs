//! The fuzz functions over seeds and 10,000 mutated inputs: verification never panics, never calls a changed
//! log whole, and names the first changed line.

use pgmoat_audit::fuzzing;

#[test]
fn ten_thousand_tampered_logs_are_found_out() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    fuzzing::verify_tampered(&[]);
    for _ in 0..10_000 {
        let edits: Vec<u8> = (0..4 * (1 + random.below(3))).map(|_| random.byte()).collect();
        fuzzing::verify_tampered(&edits);
    }
}

#[test]
fn single_flipped_bits_all_over_a_log_are_found_out() {
    let log = fuzzing::sample(None);
    let lines = u32::try_from(log.iter().filter(|&&byte| byte == b'\n').count()).unwrap_or(0);
    for which in 0..lines {
        for at in (0..=255_u8).step_by(3) {
            for bit in [0, 1, 4, 7] {
                fuzzing::verify_tampered(&[7, u8::try_from(which).unwrap_or(0), at, 1 << bit]);
            }
        }
    }
}

#[test]
fn ten_thousand_arbitrary_inputs_never_panic() {
    let mut random = Random(0xdead_beef_cafe_f00d);
    let seeds =
        [fuzzing::sample(None), b"{\"v\":1,\"seq\":1,\"prev\":\"".to_vec(), vec![b'\n'; 5], Vec::new()];
    for seed in &seeds {
        fuzzing::verify(seed);
    }
    for round in 0..10_000 {
        let mut data = seeds.get(round % seeds.len()).cloned().unwrap_or_default();
        for _ in 0..=random.below(6) {
            let at = random.below(data.len() + 1);
            match random.below(3) {
                0 => data.insert(at, random.byte()),
                1 => data.truncate(at),
                _ => {
                    if let Some(byte) = data.get_mut(at) {
                        *byte = random.byte();
                    }
                }
            }
        }
        fuzzing::verify(&data);
    }
}

/// xorshift64: the same inputs on each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 16).unwrap_or(0) % bound
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }
}
