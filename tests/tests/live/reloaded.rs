//! A proxy whose files are changed while it runs.

use std::fs;
use std::path::{Path, PathBuf};

use pgmoat_tests::{Proxied, Stack};

use crate::patience::eventually;

/// With further limits; only SIGHUP reloads.
pub(crate) fn proxied(limits: &str) -> Proxied {
    let extra = format!("limits: {{ reload_watch_ms: 0, {limits} }}\n");
    Stack::get().proxy_with(|config| config.extra = extra).unwrap()
}

/// Changes a text in a file of the proxy's, where it stands once.
pub(crate) fn edit(file: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text.matches(old).count(), 1, "{old} in {text}");
    fs::write(file, text.replace(old, new)).unwrap();
}

/// Puts further settings behind a user's name.
pub(crate) fn edit_user(proxied: &Proxied, name: &str, settings: &str) {
    edit(&proxied.proxy.config_path(), &format!("name: {name},"), &format!("name: {name}, {settings},"));
}

/// Sends SIGHUP and waits for what comes of it: whether the files are in force.
pub(crate) fn reload(proxied: &mut Proxied) -> bool {
    let before = outcomes(proxied);
    proxied.proxy.hang_up().unwrap();
    eventually("the files are read again", || outcomes(proxied) != before);
    outcomes(proxied).0 > before.0
}

/// How many reloads were taken and refused.
pub(crate) fn outcomes(proxied: &Proxied) -> (usize, usize) {
    let log = proxied.proxy.log();
    (log.matches("read again and are in force").count(), log.matches("the files are not taken").count())
}

pub(crate) fn policy(proxied: &Proxied) -> PathBuf {
    proxied.proxy.policy_path()
}
