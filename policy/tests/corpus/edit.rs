//! What a hint tells a person to do, done to a text.
//!
//! It knows where clauses are and no more: the place is found from the position that the denial
//! gives, among the scanner's tokens.

use pg_query::protobuf::{ScanToken, Token};

/// A change that a hint asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edit {
    /// A condition, added to one of the statement's.
    Add(String, Place),
    /// A sub-select in the relation's place.
    Replace(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Where,
    /// The ON condition of the relation's own join.
    On,
    MergeOn,
}

impl Edit {
    /// None where the hint asks for something else.
    pub(crate) fn of(hint: &str) -> Option<Edit> {
        if let Some(source) = hint.strip_prefix("write \"(") {
            return Some(Edit::Replace(format!("({}", source.split_once("\" in its place")?.0)));
        }
        let (condition, place) = hint.strip_prefix("add \"")?.rsplit_once("\" to the ")?;
        let place = match place.split(',').next()? {
            "WHERE clause" => Place::Where,
            "ON condition of its join" => Place::On,
            "ON condition of the MERGE" => Place::MergeOn,
            other => panic!("no such place: {other}"),
        };
        Some(Edit::Add(condition.to_owned(), place))
    }

    /// The text after the change for the relation at `at`; none where there is no such place.
    pub(crate) fn apply(&self, sql: &str, at: usize) -> Option<String> {
        let scanned = pg_query::scan(sql).ok()?;
        let comment = |token: &ScanToken| matches!(token.token(), Token::SqlComment | Token::CComment);
        let tokens: Vec<ScanToken> = scanned.tokens.into_iter().filter(|token| !comment(token)).collect();
        let text = Text { tokens: &tokens };
        let own = text.tokens.iter().position(|token| token.end as usize > at)?;
        match self {
            Edit::Add(condition, Place::Where) => text.add_to_where(sql, own, condition),
            Edit::Add(condition, Place::On) => text.add_to_on(sql, own, condition),
            Edit::Add(condition, Place::MergeOn) => text.add_to_merge(sql, own, condition),
            Edit::Replace(source) => Some(text.replace(sql, own, source)),
        }
    }
}

struct Text<'t> {
    tokens: &'t [ScanToken],
}

impl Text<'_> {
    fn token(&self, at: usize) -> Option<Token> {
        self.tokens.get(at).map(ScanToken::token)
    }

    /// The tokens of the query level around a token: from behind its parenthesis, or the statement's
    /// beginning or the last set operation, to the like.
    fn level(&self, own: usize) -> (usize, usize) {
        let mut depth = 0_usize;
        let mut begin = own;
        while begin > 0 {
            match self.token(begin - 1) {
                Some(Token::Ascii41) => depth += 1,
                Some(Token::Ascii40) if depth > 0 => depth -= 1,
                // A parenthesis that opens a query; any other is only one of FROM or of an expression.
                Some(Token::Ascii40) if self.opens_query(begin) => break,
                Some(Token::Ascii59) => break,
                Some(token) if depth == 0 && SET_OPERATIONS.contains(&token) => break,
                _ => {}
            }
            begin -= 1;
        }
        (begin, self.clause_end(begin.max(1), own, &[]))
    }

    fn opens_query(&self, at: usize) -> bool {
        matches!(
            self.token(at),
            Some(Token::Select | Token::With | Token::Insert | Token::Update | Token::DeleteP | Token::Merge)
        )
    }

    /// Where the clause around `from` ends, counted from where `from` is: at one of these tokens, a
    /// set operation, the closing parenthesis of the query, or the statement's end.
    fn clause_end(&self, begin: usize, from: usize, stops: &[Token]) -> usize {
        // How deep `from` is below the level's begin: parentheses of FROM.
        let mut depth = 0_i32;
        for at in begin..from {
            match self.token(at) {
                Some(Token::Ascii40) => depth += 1,
                Some(Token::Ascii41) => depth -= 1,
                _ => {}
            }
        }
        for at in from..self.tokens.len() {
            match self.token(at) {
                Some(Token::Ascii40) => depth += 1,
                Some(Token::Ascii41) if depth <= 0 => return at,
                Some(Token::Ascii41) => depth -= 1,
                Some(Token::Ascii59) => return at,
                // ON of a join ends no WHERE.
                Some(Token::On)
                    if !stops.contains(&Token::Join) && self.token(at + 1) != Some(Token::Conflict) => {}
                Some(token) if depth == 0 && (stops.contains(&token) || SET_OPERATIONS.contains(&token)) => {
                    return at;
                }
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// MERGE's own ON is the last one before its actions.
    fn add_to_merge(&self, sql: &str, own: usize, condition: &str) -> Option<String> {
        let actions = self.clause_end(own, own, &[Token::When]);
        let mut depth = 0;
        let on = (own..actions).rev().find(|at| {
            match self.token(*at) {
                Some(Token::Ascii41) => depth += 1,
                Some(Token::Ascii40) => depth -= 1,
                _ => {}
            }
            depth == 0 && self.token(*at) == Some(Token::On)
        })?;
        Some(self.conjoin(sql, on, actions, condition))
    }

    /// `schema.name AS alias` becomes the sub-select, which has the alias.
    fn replace(&self, sql: &str, own: usize, source: &str) -> String {
        let mut end = own + 1;
        while self.token(end) == Some(Token::Ascii46) {
            end += 2;
        }
        if self.token(end) == Some(Token::As) {
            end += 2;
        } else if self.token(end) == Some(Token::Ident) {
            end += 1;
        }
        let begin = if own > 0 && self.token(own - 1) == Some(Token::Only) { own - 1 } else { own };
        let (from, to) = (self.tokens[begin].start as usize, self.end_before(end));
        format!("{}{source}{}", &sql[..from], &sql[to..])
    }

    fn add_to_where(&self, sql: &str, own: usize, condition: &str) -> Option<String> {
        let (begin, end) = self.level(own);
        let clause = self.clause_end(begin, begin, &[Token::Where]);
        if clause < end {
            if self.token(clause + 1) == Some(Token::CurrentP) {
                return None;
            }
            let stop = self.clause_end(begin, clause + 1, AFTER_WHERE).min(end);
            return Some(self.conjoin(sql, clause, stop, condition));
        }
        let stop = self.clause_end(begin, own, AFTER_WHERE).min(end);
        let (head, tail) = sql.split_at(self.end_before(stop));
        // `TABLE t` is `SELECT * FROM t`.
        let written = match (0..own).rev().find(|at| self.token(*at) == Some(Token::Table)) {
            Some(at) if own <= at + 3 => {
                let token = &self.tokens[at];
                format!("{}SELECT * FROM{}", &head[..token.start as usize], &head[token.end as usize..])
            }
            Some(_) | None => head.to_owned(),
        };
        Some(format!("{written} WHERE {condition}{tail}"))
    }

    fn add_to_on(&self, sql: &str, own: usize, condition: &str) -> Option<String> {
        // ON that belong to joins which begin behind the relation come first.
        let joined = (0..own).rev().map(|at| self.token(at)).find(|token| {
            !matches!(
                token,
                Some(Token::Ascii46 | Token::Ident | Token::Only | Token::LateralP | Token::Ascii40)
            )
        });
        let mut pending = match joined {
            Some(Some(Token::Join)) => 0,
            _ => -1,
        };
        let mut depth = 0_i32;
        for at in own..self.tokens.len() {
            match self.token(at)? {
                Token::Ascii40 => depth += 1,
                Token::Ascii41 if depth == 0 => pending = 0,
                Token::Ascii41 => depth -= 1,
                Token::Join if depth == 0 => pending += 1,
                Token::On | Token::Using if depth == 0 && pending > 0 => pending -= 1,
                Token::On if depth == 0 => {
                    let stop = self.clause_end(at + 1, at + 1, AFTER_ON);
                    return Some(self.conjoin(sql, at, stop, condition));
                }
                Token::Using if depth == 0 => return None,
                Token::Where if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }

    /// `WHERE c` becomes `WHERE (c) AND added`.
    fn conjoin(&self, sql: &str, clause: usize, stop: usize, added: &str) -> String {
        let from = self.tokens[clause].end as usize;
        let to = self.end_before(stop);
        format!("{} ({}) AND {added}{}", &sql[..from], sql[from..to].trim(), &sql[to..])
    }

    fn end_before(&self, at: usize) -> usize {
        self.tokens[at - 1].end as usize
    }
}

const SET_OPERATIONS: &[Token] = &[Token::Union, Token::Intersect, Token::Except];

const AFTER_WHERE: &[Token] = &[
    Token::GroupP,
    Token::Having,
    Token::Window,
    Token::Order,
    Token::Limit,
    Token::Offset,
    Token::Fetch,
    Token::For,
    Token::Returning,
    Token::On,
];

const AFTER_ON: &[Token] = &[
    Token::Where,
    Token::GroupP,
    Token::Having,
    Token::Window,
    Token::Order,
    Token::Limit,
    Token::Offset,
    Token::Fetch,
    Token::For,
    Token::Returning,
    Token::When,
    Token::Join,
    Token::InnerP,
    Token::Left,
    Token::Right,
    Token::Full,
    Token::Cross,
    Token::Natural,
    Token::On,
    Token::Ascii44,
];
