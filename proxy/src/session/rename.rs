//! Names in what PostgreSQL says: it quotes those that it knows, which are the proxy's own (contracts 2). The client
//! reads its own.

use pgmoat_upstream::frame::Fields;

use super::Session;
use super::name::UpstreamName;
use super::queue::{Entry, What};
use super::terms::Named;

impl Session {
    /// Puts the client's names in the place of upstream ones in an error or notice about the head of the queue.
    pub(super) fn rename(&mut self, read: &mut Fields) {
        for code in RENAMED {
            let Some(text) = read.text(code).filter(|text| text.contains(UpstreamName::PREFIX)) else {
                continue;
            };
            let text = text.to_owned();
            read.set(code, replaced(&text, |upstream| self.client_name(upstream)));
        }
    }

    fn client_name(&mut self, upstream: UpstreamName) -> Option<String> {
        let said = self.queue.head().and_then(|entry| named_in(entry, upstream));
        let known = || {
            let statement = self.statements.name_of(|statement| statement.upstream == upstream);
            statement.or_else(|| self.portals.name_of(|portal| portal.upstream == upstream))
        };
        said.or_else(known).map(|name| name.to_string())
    }
}

/// What the message itself calls it.
fn named_in(entry: &Entry, upstream: UpstreamName) -> Option<std::sync::Arc<str>> {
    let terms = match &entry.what {
        What::Execute { name, portal: Some(portal) } if portal.upstream == upstream => {
            return Some(std::sync::Arc::clone(name));
        }
        What::Execute { portal: Some(portal), .. } => Some(&portal.terms),
        What::Query(script) => script.current(),
        What::Execute { portal: None, .. }
        | What::Parse { .. }
        | What::Bind { .. }
        | What::Describe { .. }
        | What::Close { .. }
        | What::Sync
        | What::CopyEnd => entry.terms.as_ref(),
    };
    let is_it = |named: &&Named| named.upstream == upstream;
    terms?.names.iter().find(is_it).map(|named| std::sync::Arc::clone(&named.name))
}

/// The text with every upstream name in it replaced that stands for itself, and for which there is another.
fn replaced(text: &str, mut name: impl FnMut(UpstreamName) -> Option<String>) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(UpstreamName::PREFIX) {
        let (before, from) = rest.split_at(at);
        let joined = before.chars().next_back().or_else(|| out.chars().next_back()).is_some_and(in_word);
        let (token, behind) = from.split_at_checked(UpstreamName::OWN_CHARACTERS).unwrap_or((from, ""));
        let alone = !joined && !behind.chars().next().is_some_and(in_word);
        out.push_str(before);
        match UpstreamName::read(token).filter(|_| alone).and_then(&mut name) {
            Some(name) => {
                out.push_str(&name);
                rest = behind;
            }
            None => {
                out.push_str(UpstreamName::PREFIX);
                rest = from.get(UpstreamName::PREFIX.len()..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn in_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Message, detail, hint and context.
const RENAMED: [u8; 4] = *b"MDHW";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_upstream_names_are_replaced() {
        let name = |upstream| (upstream == UpstreamName::Own(0x1f)).then(|| "mine".to_owned());
        for (text, read) in [
            ("\"pgmoat_000000000000001f\" and pgmoat_000000000000001f", "\"mine\" and mine"),
            ("pgmoat_000000000000001e", "pgmoat_000000000000001e"),
            ("xpgmoat_000000000000001f", "xpgmoat_000000000000001f"),
            ("pgmoat_000000000000001f0", "pgmoat_000000000000001f0"),
            ("pgmoat_000000000000001F", "pgmoat_000000000000001F"),
            ("pgmoat_pgmoat_000000000000001f", "pgmoat_pgmoat_000000000000001f"),
            ("«pgmoat_000000000000001f» é pgmoat_é00000000000001f", "«mine» é pgmoat_é00000000000001f"),
            ("pgmoat_", "pgmoat_"),
        ] {
            assert_eq!(replaced(text, name), read, "{text}");
        }
    }
}
