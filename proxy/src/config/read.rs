//! Files: the configuration, the users file and the policy, all problems of all of them at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pgmoat_policy::Policy;
use pgmoat_policy::policy::document::{self, Content, Node, Section};
use pgmoat_policy::policy::{Place, Problem};
use sha2::{Digest as _, Sha256};

use super::load::Load;
use super::{CONFIGURATION_FILE, Config, USERS_FILE};

/// A configuration and its policy.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The policy that it names.
    pub policy: Policy,
    /// Problems that do not keep them from being used.
    pub warnings: Vec<Problem>,
    /// The policy's text, as a hash: whether it is another one.
    pub policy_text: PolicyText,
    /// Every file that was read.
    pub files: Vec<PathBuf>,
}

/// What could be read of a configuration and its policy, and all that is wrong with them.
#[derive(Debug)]
pub struct Read {
    /// The configuration, if nothing that it needs is missing.
    pub config: Option<Config>,
    /// The policy, if it is whole.
    pub policy: Option<Policy>,
    /// What is wrong or weak, file by file.
    pub problems: Vec<Problem>,
    policy_text: Option<PolicyText>,
    files: Vec<PathBuf>,
}

/// SHA-256 of a policy's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyText([u8; 32]);

/// Reads a configuration file, the users file and the policy that it names.
///
/// # Errors
/// Everything that is wrong with any of them, warnings included, file by file.
pub fn load(path: &Path) -> Result<Loaded, Vec<Problem>> {
    let Read { config, policy, problems, policy_text, files } = read(path);
    match (config, policy, policy_text) {
        (Some(config), Some(policy), Some(policy_text)) if !problems.iter().any(Problem::is_error) => {
            Ok(Loaded { config, policy, warnings: problems, policy_text, files })
        }
        _ => Err(problems),
    }
}

/// The same for who wants to look further at what there is of them.
pub fn read(path: &Path) -> Read {
    let mut problems = Vec::new();
    let Files { config, policy, users } = configuration(path, &mut problems);
    sort(&mut problems);
    let files = [Some(path.to_owned()), users, policy.clone()].into_iter().flatten().collect();
    let policy = policy.and_then(|path| match policy_and_text(&path) {
        Ok((loaded, text)) => {
            problems.extend(loaded.warnings);
            Some((loaded.policy, text))
        }
        Err(errors) => {
            problems.extend(errors);
            None
        }
    });
    if let (Some(config), Some((policy, _))) = (&config, &policy) {
        config.agrees_with(policy, &mut problems);
    }
    let (policy, policy_text) = policy.unzip();
    Read { config, policy, problems, policy_text, files }
}

/// Reads a policy file.
///
/// # Errors
/// Everything that is wrong with it, warnings included.
pub fn load_policy(path: &Path) -> Result<pgmoat_policy::policy::Loaded, Vec<Problem>> {
    policy_and_text(path).map(|(loaded, _)| loaded)
}

fn policy_and_text(path: &Path) -> Result<(pgmoat_policy::policy::Loaded, PolicyText), Vec<Problem>> {
    let text = text_of(path).map_err(|problem| vec![problem])?;
    let loaded = Policy::load(&text, &path.display().to_string())?;
    Ok((loaded, PolicyText(Sha256::digest(text).into())))
}

/// What a configuration file gives: even a broken one may name a policy, whose problems are told
/// with its own.
#[derive(Default)]
struct Files {
    config: Option<Config>,
    policy: Option<PathBuf>,
    users: Option<PathBuf>,
}

fn configuration(path: &Path, problems: &mut Vec<Problem>) -> Files {
    let Some(root) = tree(path, &CONFIGURATION_FILE, problems) else { return Files::default() };
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let mut load = Load { folder: &folder, problems };
    let config = load.config(&root);
    let users = users(&mut load, root.get("users"));
    let policy = root.get("policy").and_then(Node::text).map(|path| load.path(path));
    let users_file = root.get("users").and_then(Node::text).map(|path| load.path(path));
    Files { config: config.map(|config| Config { users, ..config }), policy, users: users_file }
}

fn users(load: &mut Load<'_>, node: Option<&Node>) -> Vec<super::User> {
    let Some(node) = node else { return Vec::new() };
    match &node.content {
        Content::Text(path) => {
            let path = load.path(path);
            match tree(&path, &USERS_FILE, load.problems) {
                Some(root) => root.get("users").map(|node| load.users(node)).unwrap_or_default(),
                None => Vec::new(),
            }
        }
        Content::Null
        | Content::Boolean(_)
        | Content::Integer(_)
        | Content::Number
        | Content::List(_)
        | Content::Map(_) => load.users(node),
    }
}

fn tree(path: &Path, section: &Section, problems: &mut Vec<Problem>) -> Option<Node> {
    let text = text_of(path).map_err(|problem| problems.push(problem)).ok()?;
    let (root, found) = document::read(&text, &path.display().to_string());
    problems.extend(found);
    let root = root?;
    document::conform(&root, section, problems);
    Some(root)
}

fn text_of(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).map_err(|error| {
        let file = Arc::from(path.display().to_string());
        let place = Place { file, line: 0, column: 0, path: String::new() };
        Problem::error(place, format!("cannot be read: {error}"))
    })
}

fn sort(problems: &mut [Problem]) {
    let key = |problem: &Problem| (Arc::clone(&problem.place.file), problem.place.line, problem.place.column);
    problems.sort_by_key(key);
}
