//! SQL/XML.

use pg_query::protobuf as pb;
use pg_query::protobuf::XmlExprOp;

use super::{Lower, place};
use crate::ir::{Expr, SpecialForm};

impl Lower<'_> {
    /// XMLELEMENT and kin.
    pub(super) fn xml(&mut self, node: &pb::XmlExpr) -> Expr {
        let at = place(node.location);
        let what = match node.op() {
            XmlExprOp::IsXmlconcat => "XMLCONCAT",
            XmlExprOp::IsXmlelement => "XMLELEMENT",
            XmlExprOp::IsXmlforest => "XMLFOREST",
            XmlExprOp::IsXmlparse => "XMLPARSE",
            XmlExprOp::IsXmlpi => "XMLPI",
            XmlExprOp::IsXmlroot => "XMLROOT",
            XmlExprOp::IsXmlserialize => "XMLSERIALIZE",
            XmlExprOp::IsDocument => "IS DOCUMENT",
            XmlExprOp::Undefined => return self.unsupported("an unknown form of SQL/XML", at),
        };
        let named = self.targets(&node.named_args);
        let mut args: Vec<Expr> = named.into_iter().map(|target| target.expr).collect();
        args.extend(node.args.iter().map(|arg| self.expr(arg)));
        Expr::Special { form: SpecialForm::Xml(what), args, at }
    }

    /// XMLSERIALIZE (… AS type): a cast to that type.
    pub(super) fn xml_serialize(&mut self, node: &pb::XmlSerialize) -> Expr {
        let at = place(node.location);
        let args = vec![self.required(node.expr.as_deref(), at)];
        let special = Expr::Special { form: SpecialForm::Xml("XMLSERIALIZE"), args, at };
        Expr::Cast { arg: Box::new(special), ty: self.type_ref(node.type_name.as_ref()), at }
    }
}
