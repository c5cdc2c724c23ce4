//! From the parser's tree to the statement algebra.
//!
//! The only place that knows the parser's node types. [`node`] sorts every kind of node once,
//! without a wildcard; the other files each lower one concern. Two rules hold everywhere:
//!
//! * INVARIANT (nothing is dropped): an expression, a relation or a type that stands in the tree
//!   stands in the statement, or an entry of [`Statement::unsupported`] says what was left out.
//! * Sizes are counted here, where the nesting is seen; they are compared elsewhere.
//!
//! Lowering recurses as deep as the tree; `parse` has refused trees that are too deep for the
//! stack.

#![deny(clippy::wildcard_enum_match_arm)]

mod call;
mod constant;
mod dml;
mod expr;
mod from;
mod json;
mod name_token;
mod node;
mod other;
mod query;
mod setting;
mod size;
mod span;
mod tag;
mod transaction;
mod type_ref;
mod utility;
mod xml;

#[cfg(test)]
mod tests;

use pg_query::protobuf as pb;

use crate::ir::{At, Body, Expr, Name, Path, Statement, Unsupported, Utility};
use crate::shape::Slot;
use name_token::NameTokens;
use node::{Class, StatementNode, classify};
use size::Counter;

/// Lowers every statement of a text.
///
/// A text without a statement (white space, comments, semicolons) is one [`Utility::Empty`].
///
/// `slots`: the text's plain constants, where a verdict by its shape is wanted.
pub(crate) fn lower(text: &str, tree: pb::ParseResult, slots: &[Slot]) -> Vec<Statement> {
    let mut statements: Vec<Statement> = tree.stmts.iter().map(|raw| statement(text, raw, slots)).collect();
    if statements.is_empty() {
        statements.push(Statement {
            span: 0..0,
            body: Body::Utility(Utility::Empty),
            unsupported: Vec::new(),
            size: crate::ir::Size::default(),
            slots: Vec::new(),
        });
    }
    statements
}

fn statement<'t>(text: &'t str, raw: &pb::RawStmt, slots: &'t [Slot]) -> Statement {
    let span = span::of(text, raw.stmt_location, raw.stmt_len);
    let names = NameTokens::new(text, span.clone());
    let slots = Slots { of_text: slots, met: Vec::new() };
    let mut lower = Lower { text, names, slots, unsupported: Vec::new(), counter: Counter::default() };
    let body = match raw.stmt.as_deref() {
        Some(node) => lower.body(node),
        None => Body::Utility(Utility::Empty),
    };
    let Lower { unsupported, counter, slots, .. } = lower;
    Statement { span, body, unsupported, size: counter.size(), slots: slots.met }
}

/// What lowering one statement needs and collects.
struct Lower<'t> {
    text: &'t str,
    names: NameTokens<'t>,
    slots: Slots<'t>,
    unsupported: Vec<Unsupported>,
    counter: Counter,
}

/// The text's plain constants, and which of them were met.
struct Slots<'t> {
    of_text: &'t [Slot],
    met: Vec<u32>,
}

impl Lower<'_> {
    /// A statement, or one inside PREPARE, EXPLAIN, COPY.
    fn body(&mut self, node: &pb::Node) -> Body {
        match classify(node) {
            Class::Statement(node) => self.statement(node),
            Class::Expr(_) => self.not_a_statement("an expression"),
            Class::From(_) => self.not_a_statement("an item of FROM"),
            Class::Part(what) | Class::Analysed(what) => self.not_a_statement(what),
            Class::Nothing => self.not_a_statement("nothing"),
        }
    }

    fn statement(&mut self, node: StatementNode<'_>) -> Body {
        let utility = match node {
            StatementNode::Select(node) => return Body::Query(Box::new(self.query(node))),
            StatementNode::Insert(node) => return Body::Insert(Box::new(self.insert(node))),
            StatementNode::Update(node) => return Body::Update(Box::new(self.update(node))),
            StatementNode::Delete(node) => return Body::Delete(Box::new(self.delete(node))),
            StatementNode::Merge(node) => return Body::Merge(Box::new(self.merge(node))),
            StatementNode::Transaction(node) => Utility::Transaction(self.transaction(node)),
            StatementNode::Set(node) => Utility::Set(self.set(node)),
            StatementNode::Show(node) => Utility::Show { name: name(&node.name) },
            StatementNode::SetConstraints => Utility::SetConstraints,
            StatementNode::Discard(node) => self.discard(node),
            StatementNode::Prepare(node) => self.prepare(node),
            StatementNode::Execute(node) => self.execute(node),
            StatementNode::Deallocate(node) => self.deallocate(node),
            StatementNode::Declare(node) => self.declare(node),
            StatementNode::Fetch(node) => self.fetch(node),
            StatementNode::Close(node) => self.close(node),
            StatementNode::Copy(node) => Utility::Copy(self.copy(node)),
            StatementNode::Explain(node) => self.explain(node),
            StatementNode::Unlisten(node) => self.unlisten(node),
            StatementNode::Call(node) => self.call_procedure(node),
            StatementNode::Other(other) => self.other(other),
        };
        Body::Utility(utility)
    }

    fn not_a_statement(&mut self, what: &'static str) -> Body {
        self.refuse(what, None);
        Body::Utility(Utility::Empty)
    }

    /// Notes what the algebra cannot express.
    fn refuse(&mut self, what: &'static str, at: At) {
        self.unsupported.push(Unsupported { what, at });
    }

    /// The same, in the place of an expression.
    fn unsupported(&mut self, what: &'static str, at: At) -> Expr {
        self.refuse(what, at);
        Expr::Unsupported(at)
    }

    /// One level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.counter.enter();
        let result = inner(self);
        self.counter.leave();
        result
    }

    /// A list of names.
    fn name_list(&mut self, nodes: &[pb::Node]) -> Vec<Name> {
        nodes.iter().map(|node| self.one_name(node, None)).collect()
    }

    /// A qualified name.
    fn path(&mut self, nodes: &[pb::Node], at: At) -> Path {
        let parts: Vec<Name> = nodes.iter().map(|node| self.one_name(node, at)).collect();
        if parts.is_empty() {
            self.refuse("an empty name", at);
            return Path { parts: vec![Name::default()], at };
        }
        Path { parts, at }
    }

    /// A qualified name that need not be there.
    fn optional_path(&mut self, nodes: &[pb::Node], at: At) -> Option<Path> {
        (!nodes.is_empty()).then(|| self.path(nodes, at))
    }

    fn one_name(&mut self, node: &pb::Node, at: At) -> Name {
        match string(node) {
            Some(text) => name(text),
            None => {
                self.refuse("a name that is none", at);
                Name::default()
            }
        }
    }
}

/// A place as the parser gives it; it says -1 for none.
fn place(location: i32) -> At {
    u32::try_from(location).ok()
}

fn name(text: &str) -> Name {
    text.into()
}

/// The parser's optional names are empty where they are not there; no name is empty.
fn optional_name(text: &str) -> Option<Name> {
    (!text.is_empty()).then(|| name(text))
}

fn string(node: &pb::Node) -> Option<&str> {
    if let Some(pb::node::Node::String(node)) = &node.node { Some(&node.sval) } else { None }
}

fn list(node: &pb::Node) -> Option<&[pb::Node]> {
    if let Some(pb::node::Node::List(node)) = &node.node { Some(&node.items) } else { None }
}
