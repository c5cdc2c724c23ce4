//! Utility statements: those that wire and rules look into, and the many that are judged by their
//! kind alone.

use pg_query::protobuf as pb;
use pg_query::protobuf::DiscardMode;
use pg_query::protobuf::node::Node as N;

use super::{Lower, optional_name, place, string};
use crate::Kind;
use crate::ir::{Copy, CopyChannel, CopyWhat, Discard, Expr, Utility};

impl Lower<'_> {
    pub(super) fn discard(&mut self, node: &pb::DiscardStmt) -> Utility {
        Utility::Discard(match node.target() {
            DiscardMode::DiscardAll => Discard::All,
            DiscardMode::DiscardPlans => Discard::Plans,
            DiscardMode::DiscardSequences => Discard::Sequences,
            DiscardMode::DiscardTemp => Discard::Temp,
            DiscardMode::Undefined => {
                self.refuse("DISCARD of an unknown kind", None);
                Discard::All
            }
        })
    }

    pub(super) fn prepare(&mut self, node: &pb::PrepareStmt) -> Utility {
        let types = self.type_list(&node.argtypes);
        let body = self.inner_body(node.query.as_deref());
        Utility::Prepare { name: self.names.after("prepare", &node.name), types, body }
    }

    pub(super) fn execute(&mut self, node: &pb::ExecuteStmt) -> Utility {
        let args = self.expr_list(&node.params);
        Utility::Execute { name: self.names.after("execute", &node.name), args }
    }

    pub(super) fn deallocate(&mut self, node: &pb::DeallocateStmt) -> Utility {
        Utility::Deallocate { name: (!node.isall).then(|| self.names.last(&node.name)) }
    }

    pub(super) fn declare(&mut self, node: &pb::DeclareCursorStmt) -> Utility {
        Utility::Declare {
            hold: node.options & CURSOR_OPT_HOLD != 0,
            binary: node.options & CURSOR_OPT_BINARY != 0,
            query: Box::new(self.query_node(node.query.as_deref())),
            name: self.names.after("declare", &node.portalname),
        }
    }

    pub(super) fn fetch(&mut self, node: &pb::FetchStmt) -> Utility {
        Utility::Fetch { name: self.names.last(&node.portalname), is_move: node.ismove }
    }

    pub(super) fn close(&mut self, node: &pb::ClosePortalStmt) -> Utility {
        let all = node.portalname.is_empty();
        Utility::Close { name: (!all).then(|| self.names.last(&node.portalname)) }
    }

    pub(super) fn unlisten(&mut self, node: &pb::UnlistenStmt) -> Utility {
        Utility::Unlisten { channel: optional_name(&node.conditionname) }
    }

    pub(super) fn explain(&mut self, node: &pb::ExplainStmt) -> Utility {
        let mut analyze = false;
        for option in &node.options {
            let Some(N::DefElem(option)) = &option.node else {
                self.refuse("an option of EXPLAIN that is none", None);
                continue;
            };
            match option.defname.as_str() {
                "analyze" => analyze |= !is_off(option.arg.as_deref()),
                known if EXPLAIN_OPTIONS.contains(&known) => {}
                _ => self.refuse("an unknown option of EXPLAIN", place(option.location)),
            }
        }
        Utility::Explain { analyze, body: self.inner_body(node.query.as_deref()) }
    }

    pub(super) fn call_procedure(&mut self, node: &pb::CallStmt) -> Utility {
        let call = match node.funccall.as_deref() {
            Some(call) => Expr::Call(Box::new(self.nested(|lower| lower.call(call, false)))),
            None => self.unsupported("CALL without a procedure", None),
        };
        Utility::Other {
            kind: Some(Kind::Call),
            what: "CALL",
            relations: Vec::new(),
            call: Some(Box::new(call)),
            opaque: false,
        }
    }

    fn inner_body(&mut self, node: Option<&pb::Node>) -> Box<crate::ir::Body> {
        let nothing = pb::Node { node: None };
        Box::new(self.body(node.unwrap_or(&nothing)))
    }

    pub(super) fn copy(&mut self, node: &pb::CopyStmt) -> Copy {
        let what = match (&node.relation, node.query.as_deref()) {
            (Some(relation), None) => CopyWhat::Table(self.relation(relation), self.name_list(&node.attlist)),
            (None, query) => CopyWhat::Statement(self.inner_body(query)),
            (Some(relation), Some(_)) => {
                self.refuse("COPY of a table and a query", place(relation.location));
                CopyWhat::Table(self.relation(relation), Vec::new())
            }
        };
        let channel = match (node.is_program, node.filename.is_empty()) {
            (true, _) => CopyChannel::Program,
            (false, false) => CopyChannel::File,
            (false, true) => CopyChannel::Wire,
        };
        let mut binary = false;
        for option in &node.options {
            match &option.node {
                Some(N::DefElem(option)) => binary |= self.copy_option(option),
                _ => self.refuse("an option of COPY that is none", None),
            }
        }
        let filter = node.where_clause.as_deref().map(|node| self.expr(node));
        Copy { what, from: node.is_from, channel, binary, filter }
    }

    /// Whether the option asks for binary. What would change the encoding of the rows is left
    /// out: whoever reads them takes them for UTF-8.
    fn copy_option(&mut self, option: &pb::DefElem) -> bool {
        let value = option.arg.as_deref().and_then(string);
        match (option.defname.as_str(), value) {
            ("format", Some("text" | "csv")) => false,
            ("format", Some("binary")) => true,
            (known, _) if COPY_OPTIONS.contains(&known) => false,
            _ => {
                self.refuse("an option of COPY", place(option.location));
                false
            }
        }
    }
}

/// Whether PostgreSQL reads an option's value as false; no value is true.
fn is_off(value: Option<&pb::Node>) -> bool {
    match value.and_then(|value| value.node.as_ref()) {
        Some(N::String(value)) => ["off", "false"].iter().any(|off| value.sval.eq_ignore_ascii_case(off)),
        Some(N::Boolean(value)) => !value.boolval,
        Some(N::Integer(value)) => value.ival == 0,
        _ => false,
    }
}

/// parsenodes.h.
const CURSOR_OPT_BINARY: i32 = 0x0001;
/// parsenodes.h.
const CURSOR_OPT_HOLD: i32 = 0x0020;
/// Options of EXPLAIN, but for ANALYZE, that show nothing but the plan and its costs.
const EXPLAIN_OPTIONS: [&str; 11] = [
    "verbose",
    "costs",
    "settings",
    "generic_plan",
    "buffers",
    "serialize",
    "wal",
    "timing",
    "summary",
    "memory",
    "format",
];

/// Options of COPY, but for FORMAT, that change how rows are written and nothing else.
const COPY_OPTIONS: [&str; 13] = [
    "delimiter",
    "null",
    "default",
    "header",
    "quote",
    "escape",
    "force_quote",
    "force_not_null",
    "force_null",
    "freeze",
    "on_error",
    "reject_limit",
    "log_verbosity",
];
