//! Command tags that depend on the kind of object.

use pg_query::protobuf::ObjectType;

/// The tag of ALTER, RENAME, OWNER and SET SCHEMA for a kind of object.
pub(super) fn alter(object: ObjectType) -> &'static str {
    tags(object).0
}

/// The tag of DROP for a kind of object.
pub(super) fn drop(object: ObjectType) -> &'static str {
    tags(object).1
}

/// The tag of CREATE for a kind of object.
pub(super) fn create(object: ObjectType) -> &'static str {
    tags(object).2
}

macro_rules! named {
    ($name:literal) => {
        (concat!("ALTER ", $name), concat!("DROP ", $name), concat!("CREATE ", $name))
    };
}

fn tags(object: ObjectType) -> (&'static str, &'static str, &'static str) {
    use ObjectType as O;
    match object {
        O::ObjectAccessMethod => named!("ACCESS METHOD"),
        O::ObjectAggregate => named!("AGGREGATE"),
        O::ObjectAttribute | O::ObjectType => named!("TYPE"),
        O::ObjectCast => named!("CAST"),
        O::ObjectCollation => named!("COLLATION"),
        O::ObjectConversion => named!("CONVERSION"),
        O::ObjectDatabase => named!("DATABASE"),
        O::ObjectDomain | O::ObjectDomconstraint => named!("DOMAIN"),
        O::ObjectEventTrigger => named!("EVENT TRIGGER"),
        O::ObjectExtension => named!("EXTENSION"),
        O::ObjectFdw => named!("FOREIGN DATA WRAPPER"),
        O::ObjectForeignServer => named!("SERVER"),
        O::ObjectForeignTable => named!("FOREIGN TABLE"),
        O::ObjectFunction => named!("FUNCTION"),
        O::ObjectIndex => named!("INDEX"),
        O::ObjectLanguage => named!("LANGUAGE"),
        O::ObjectLargeobject => named!("LARGE OBJECT"),
        O::ObjectMatview => named!("MATERIALIZED VIEW"),
        O::ObjectOpclass => named!("OPERATOR CLASS"),
        O::ObjectOperator => named!("OPERATOR"),
        O::ObjectOpfamily => named!("OPERATOR FAMILY"),
        O::ObjectPolicy => named!("POLICY"),
        O::ObjectProcedure => named!("PROCEDURE"),
        O::ObjectPublication => named!("PUBLICATION"),
        O::ObjectRole => named!("ROLE"),
        O::ObjectRoutine => named!("ROUTINE"),
        O::ObjectRule => named!("RULE"),
        O::ObjectSchema => named!("SCHEMA"),
        O::ObjectSequence => named!("SEQUENCE"),
        O::ObjectSubscription => named!("SUBSCRIPTION"),
        O::ObjectStatisticExt => named!("STATISTICS"),
        O::ObjectColumn | O::ObjectTabconstraint | O::ObjectTable => named!("TABLE"),
        O::ObjectTablespace => named!("TABLESPACE"),
        O::ObjectTransform => named!("TRANSFORM"),
        O::ObjectTrigger => named!("TRIGGER"),
        O::ObjectTsconfiguration => named!("TEXT SEARCH CONFIGURATION"),
        O::ObjectTsdictionary => named!("TEXT SEARCH DICTIONARY"),
        O::ObjectTsparser => named!("TEXT SEARCH PARSER"),
        O::ObjectTstemplate => named!("TEXT SEARCH TEMPLATE"),
        O::ObjectUserMapping => named!("USER MAPPING"),
        O::ObjectView => named!("VIEW"),
        O::Undefined
        | O::ObjectAmop
        | O::ObjectAmproc
        | O::ObjectDefault
        | O::ObjectDefacl
        | O::ObjectParameterAcl
        | O::ObjectPublicationNamespace
        | O::ObjectPublicationRel => ("ALTER", "DROP", "CREATE"),
    }
}
