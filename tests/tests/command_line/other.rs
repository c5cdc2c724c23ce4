//! `user add`, `completions`, help.

use std::process::Command;

use crate::Folder;

/// PostgreSQL's own verifier for the same password and salt.
#[test]
fn a_users_verifier_is_of_the_password() {
    let folder = Folder::new();
    for (password, prepared) in [("pencil", "pencil"), ("I\u{ad}X", "IX"), ("\u{2168}", "IX")] {
        let arguments = ["user", "add", "acme \"app\"", "--role", "app", "--tenant", "acme"];
        let ended = folder.pgmoat_with(&arguments, &format!("{password}\nsecond line\n"), &[]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        let entry = ended.stdout.strip_prefix("- { name: \"acme \\\"app\\\"\", verifier: \"").unwrap();
        let (verifier, rest) = entry.split_once('"').unwrap();
        assert_eq!(rest, ", role: \"app\", tenant: \"acme\" }\n");
        let salt = verifier.strip_prefix("SCRAM-SHA-256$4096:").unwrap().split('$').next().unwrap();
        assert_eq!(verifier, pgmoat_lab::scram_verifier(prepared, &base64(salt), 4096));
    }
}

#[test]
fn a_user_without_a_password_is_not_made() {
    let folder = Folder::new();
    for (name, stdin) in [("a", ""), ("a", "\n"), ("", "x\n"), ("a\tb", "x\n")] {
        let ended = folder.pgmoat_with(&["user", "add", name, "--role", "ops"], stdin, &[]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{name:?}");
    }
}

#[test]
fn completions_and_help_name_every_command() {
    let folder = Folder::new();
    let help = folder.pgmoat(&["--help"]);
    let bash = folder.pgmoat(&["completions", "bash"]);
    assert_eq!((help.code, bash.code), (0, 0));
    for command in ["run", "check", "doctor", "verify", "policy", "catalog", "audit", "user", "completions"] {
        assert!(help.stdout.contains(&format!("\n  {command} ")), "{command}");
        assert!(bash.stdout.contains(&format!("pgmoat,{command})")), "{command}");
    }
    assert!(help.stdout.contains("Exit codes:"));
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert_eq!(folder.pgmoat(&["completions", shell]).code, 0, "{shell}");
    }
    folder.write("completions.bash", &bash.stdout);
    let checked = Command::new("bash").arg("-n").arg(folder.path("completions.bash")).status().unwrap();
    assert!(checked.success());
    assert_eq!(folder.pgmoat(&[]).code, 2);
    assert!(folder.pgmoat(&["--version"]).stdout.starts_with("pgmoat "));
}

/// Written out: no crate of this one decodes base64.
fn base64(text: &str) -> Vec<u8> {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.trim_end_matches('=').chars().map(|digit| alphabet.find(digit).unwrap());
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0, 0);
    for digit in digits {
        held = held << 6 | digit;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).unwrap());
        }
    }
    bytes
}
