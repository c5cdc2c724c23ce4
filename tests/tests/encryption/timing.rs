//! How long a refused login takes: for a wrong password, for a user that does not exist, and for one whose password is
//! being changed, so that it has two.
//!
//! In every run only the messages are compared; the times are measured in full lengths and written to
//! `tests/results/login-timing.txt`. What they are is for a reader to judge: other work on a machine moves them, so the
//! test fails only where one kind of login takes so much longer that a few tries would tell.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use pgmoat_lab::{User, scram_verifier};
use pgmoat_tests::{Login, Proxied, Raw, Stack, is_long};

#[test]
fn a_wrong_password_and_an_unknown_user_take_the_same_time() {
    let mut proxied = Stack::get().proxy().unwrap();
    give_second_password(&mut proxied, TWO_PASSWORDS);
    for (_, user) in KINDS {
        assert_eq!(said(&proxied, user), said(&proxied, "acme_app"), "{user}");
    }
    if !is_long() {
        return;
    }
    let mut times: [Vec<f64>; KINDS.len()] = Default::default();
    for turn in 0..WARM_UP + TRIES {
        // In turns, and each kind first as often as any other, so that whatever else the machine does happens to all.
        for at in 0..KINDS.len() {
            let kind = (at + turn) % KINDS.len();
            let took = measure(&proxied, KINDS[kind].1).as_secs_f64() * 1e6;
            if turn >= WARM_UP {
                times[kind].push(took);
            }
        }
    }
    let mut report = format!(
        "A refused login, from the start-up packet to the error, the client's own rounds of the hash included, in\n\
         microseconds; {TRIES} tries each, in turns.\n\n{:28}{}\n",
        "",
        PERCENTILES.map(|percent| format!("{percent:>7}th")).concat()
    );
    for ((name, _), times) in KINDS.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let at = PERCENTILES.map(|percent| format!("{:9.1}", times[times.len() * percent / 100]));
        let _ = writeln!(report, "{name:28}{}", at.concat());
    }
    let medians = times.each_ref().map(|times| times[times.len() / 2]);
    let (least, most) =
        medians.iter().fold((f64::MAX, 0.0_f64), |(least, most), &one| (least.min(one), most.max(one)));
    let _ = writeln!(report, "\nThe medians differ by {:.2} %.", (most / least - 1.0) * 100.0);
    println!("{report}");
    let results = concat!(env!("CARGO_MANIFEST_DIR"), "/results/login-timing.txt");
    std::fs::write(results, report).unwrap();
    assert!(most < least * GROSS, "these can be told apart by a few tries: {medians:?}");
}

/// The words of a refusal, without the name.
fn said(proxied: &Proxied, user: &str) -> String {
    Raw::connect(&wrong(proxied, user)).unwrap_err().to_string().replace(user, "USER")
}

fn wrong<'a>(proxied: &Proxied, user: &'a str) -> Login<'a> {
    Login { password: "wrong".into(), ..proxied.login(user) }
}

/// The whole of the server's part is inside; the client's own work (4,096 rounds of a hash) is the same for all.
fn measure(proxied: &Proxied, user: &str) -> Duration {
    let login = wrong(proxied, user);
    let mut raw = Raw::open(login.port).unwrap();
    let begun = Instant::now();
    assert!(raw.log_in(&login).is_err());
    begun.elapsed()
}

/// Both passwords of the user are right from now on.
fn give_second_password(proxied: &mut Proxied, name: &str) {
    let one = User::named(name).unwrap().verifier();
    let salt: Vec<u8> = name.bytes().cycle().take(16).collect();
    let other = scram_verifier(SECOND_PASSWORD, &salt, 4096);
    let path = proxied.proxy.config_path();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(&format!("\"{one}\""), &format!("[\"{one}\", \"{other}\"]"))).unwrap();
    proxied.proxy.kill9();
    proxied.proxy.start_again().unwrap();
    for password in [User::named(name).unwrap().password(), SECOND_PASSWORD.to_owned()] {
        Raw::connect(&Login { password, ..proxied.login(name) }).unwrap();
    }
}

const TWO_PASSWORDS: &str = "globex_app";
const SECOND_PASSWORD: &str = "the next one";

/// What a login is refused for, and a user for whom it is.
const KINDS: [(&str, &str); 3] = [
    ("wrong password", "acme_app"),
    ("unknown user", "nobody_h"),
    ("wrong, where two are right", TWO_PASSWORDS),
];
const PERCENTILES: [usize; 5] = [5, 25, 50, 75, 95];
const TRIES: usize = 1_000;
const WARM_UP: usize = 50;
/// Far beyond what the noise of a busy machine does to medians of so many.
const GROSS: f64 = 1.3;
