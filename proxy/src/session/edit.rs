//! Places in a text whose name tokens were replaced on the way upstream (contracts 2): POSITION in the server's errors
//! is moved back to the client's text.

/// One token that was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit {
    /// Where the token begins in the client's text: characters, from 1.
    pub at: usize,
    /// Its length there, in characters.
    pub was: usize,
    /// The length of what stands for it upstream, in characters.
    pub is: usize,
}

/// A place in the upstream text, as the client would count it. Inside of a token: its start.
pub(super) fn back<'a>(position: usize, edits: impl IntoIterator<Item = &'a Edit>) -> usize {
    let (mut added, mut removed) = (0, 0);
    for edit in edits {
        let start = (edit.at + added).saturating_sub(removed);
        if position < start {
            break;
        }
        if position < start + edit.is {
            return edit.at;
        }
        (added, removed) = (added + edit.is, removed + edit.was);
    }
    (position + removed).saturating_sub(added)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_before_in_and_behind_replaced_tokens() {
        // `EXECUTE a; EXECUTE longer; x` with five characters for each name.
        let edits = [Edit { at: 9, was: 1, is: 5 }, Edit { at: 20, was: 6, is: 5 }];
        for (upstream, client) in
            [(1, 1), (8, 8), (9, 9), (13, 9), (14, 10), (23, 19), (24, 20), (28, 20), (29, 26)]
        {
            assert_eq!(back(upstream, &edits), client, "{upstream}");
        }
        assert_eq!(back(7, &[]), 7);
    }
}
