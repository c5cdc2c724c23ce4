//! `up`, `down` and `psql`, and the folder that they share.

pub(crate) mod down;
mod hints;
pub(crate) mod psql;
mod showing;
mod site;
pub(crate) mod up;

pub(crate) use site::Site;

/// Writes a line to standard output. A reader who left (`lab/up | head`) misses it, and the lab stays up.
fn say(text: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
