//! Every key of the policy file (policy 2; the list is closed).
//!
//! What is not built yet says so here, and nowhere else.

use super::document::{self, Built, Key, Section, Shape, Word};

/// The whole file.
pub static POLICY_FILE: Section = Section {
    keys: &[
        Key::required(
            "version",
            Shape::Integer { min: 1, max: i64::MAX, unit: "" },
            "The policy's number. It rises with every edit and stands in every verdict and audit record.",
        ),
        Key::default(
            "search_path",
            Shape::List(&Shape::Text),
            "[\"public\"]",
            "Schemas in which unqualified names are looked up, after `pg_catalog`; pinned upstream.",
        ),
        Key::optional("tenancy", Shape::Section(&TENANCY), "Which rows belong to whom."),
        Key::optional(
            "tenants",
            Shape::Map {
                key: "TENANT",
                value: &Shape::Map {
                    key: "COLUMN",
                    value: &Shape::Either(&[
                        Shape::Integer { min: i64::MIN, max: i64::MAX, unit: "" },
                        Shape::Text,
                    ]),
                },
            },
            "What a tenant is called in tenant columns of that name. A tenant without an entry for a \
             column that others have one for has no rows there; where nobody has one, a tenant is \
             called by its name.",
        ),
        Key::required(
            "roles",
            Shape::Map { key: "ROLE", value: &Shape::Section(&ROLE) },
            "What principals may do.",
        ),
        Key::optional("limits", Shape::Section(&LIMITS), "Sizes, for every role that does not set its own."),
        Key::optional("trusted", Shape::Section(&TRUSTED), "What is known to be harmless."),
        Key::default(
            "system_catalogs",
            Shape::Word(CATALOGS),
            "deny",
            "What of the system catalogs may be read; a role may set its own.",
        ),
        Key::default("explain", Shape::Word(EXPLAIN), "deny", "What EXPLAIN may do; a role may set its own."),
        Key::default(
            "mode",
            Shape::Word(MODE),
            "enforce",
            "Whether refusals refuse; a role may set its own.",
        ),
    ],
};

static TENANCY: Section = Section {
    keys: &[
        Key::default(
            "proof",
            Shape::List(&Shape::Word(&[Word::new("literal"), Word::new("bound")])),
            "[\"literal\", \"bound\"]",
            "What counts as proof: a constant in the text, a `$n` whose value is checked at Bind.",
        ),
        Key::default(
            "tables",
            Shape::List(&Shape::Section(&TABLE)),
            "[]",
            "Which relations are whose; the first match wins, and what matches nothing is out of reach of tenants.",
        ),
        Key::default(
            "errors",
            Shape::Word(&[Word::new("redact"), Word::new("deny"), Word::new("pass")]),
            "redact",
            "What becomes of the server's errors and notices for tenants; `deny` also refuses what can fail on other tenants' rows (policy 3.9).",
        ),
        Key::default(
            "error_budget",
            Shape::Integer { min: 0, max: 1_000_000, unit: "errors a minute and principal" },
            "100",
            "How many errors over scoped relations a principal may cause.",
        ),
        Key::default(
            "trust_keys",
            Shape::List(&Shape::Text),
            "[]",
            "Columns, as `schema.table.column`, whose foreign key is known never to cross tenants although it lacks the tenant column.",
        ),
    ],
};

static TABLE: Section = Section {
    keys: &[
        Key::required(
            "match",
            Shape::Text,
            "Relations: `schema.table`, with `*` as a whole part or at its end.",
        ),
        Key::optional("column", Shape::Text, "The column that names the row's tenant."),
        Key::optional(
            "shared",
            Shape::Boolean,
            "`true`: reference data, the same for every tenant; read-only for tenants.",
        ),
    ],
};

static TRUSTED: Section = Section {
    keys: &[
        Key::default(
            "rules",
            Shape::List(&Shape::Text),
            "[]",
            "Relations, as `schema.table`, whose rewrite rules are harmless.",
        ),
        Key::default(
            "triggers",
            Shape::List(&Shape::Text),
            "[]",
            "Triggers, as `schema.table.trigger`, whose messages reach tenants.",
        )
        .built(Built::RefusedUntilThen("the messages of these triggers stay hidden")),
    ],
};

static ROLE: Section = Section {
    keys: &[
        Key::required(
            "tenant",
            Shape::Word(&[Word::new("required"), Word::new("exempt")]),
            "Whether its principals have a tenant, and tenancy is proven.",
        ),
        Key::default(
            "statements",
            Shape::List(&Shape::Word(KINDS)),
            "[]",
            "Statement kinds that it may use.",
        ),
        Key::optional("relations", Shape::Section(&RELATIONS), "Relations that it may use."),
        Key::optional(
            "columns",
            Shape::Section(&COLUMNS),
            "Columns that it may not use, system columns that it may.",
        ),
        Key::default("masks", Shape::List(&Shape::Section(&MASK)), "[]", "Columns that it sees masked."),
        Key::optional("functions", Shape::Section(&FUNCTIONS), "Functions that it may call."),
        Key::optional(
            "settings",
            Shape::Section(&SETTINGS),
            "Settings that it may write beyond the standard list.",
        ),
        Key::optional("limits", Shape::Section(&LIMITS), "Its own sizes."),
        Key::optional("system_catalogs", Shape::Word(CATALOGS), "What of the system catalogs it may read."),
        Key::optional(
            "explain",
            Shape::Word(EXPLAIN),
            "What EXPLAIN may do; tenants learn others' statistics from it.",
        ),
        Key::optional("mode", Shape::Word(MODE), "Whether refusals refuse."),
        Key::default(
            "unrestricted",
            Shape::Boolean,
            "false",
            "Everything passes that parses, still judged for the audit: for migrations, with `tenant: exempt` only.",
        ),
    ],
};

static RELATIONS: Section = Section {
    keys: &[
        Key::default(
            "allow",
            Shape::List(&Shape::Text),
            "[]",
            "Patterns: `schema.name`, with `*` as a whole part or at its end.",
        ),
        Key::default("deny", Shape::List(&Shape::Text), "[]", "Patterns; wins over `allow`."),
        Key::default(
            "write_shared",
            Shape::List(&Shape::Text),
            "[]",
            "Patterns of shared relations that it may write: every tenant sees it.",
        ),
    ],
};

static COLUMNS: Section = Section {
    keys: &[
        Key::default(
            "deny",
            Shape::List(&Shape::Text),
            "[]",
            "Patterns: `schema.table.column`, with `*` as a whole part or at its end.",
        ),
        Key::default(
            "system",
            Shape::List(&Shape::Word(&[
                Word::new("ctid"),
                Word::new("xmin"),
                Word::new("xmax"),
                Word::new("cmin"),
                Word::new("cmax"),
            ])),
            "[]",
            "System columns that it may read; they tell of other tenants' writes.",
        ),
    ],
};

const OTHER_MASKS: Built = Built::RefusedUntilThen("outputs of columns with this mask are refused");

static MASK: Section = Section {
    keys: &[
        Key::required(
            "column",
            Shape::Text,
            "Pattern: `schema.table.column`, with `*` as a whole part or at its end.",
        ),
        Key::required(
            "kind",
            Shape::Word(&[
                Word::new("null"),
                Word::not_built("fixed", OTHER_MASKS),
                Word::not_built("partial", OTHER_MASKS),
                Word::not_built("hash", OTHER_MASKS),
                Word::not_built("token", OTHER_MASKS),
            ]),
            "What is shown in the value's place.",
        ),
        Key::optional(
            "keep",
            Shape::Integer { min: 0, max: 1024, unit: "characters" },
            "With `partial`, required: how many stay.",
        ),
        Key::optional("value", Shape::Text, "With `fixed`, required: what is shown."),
    ],
};

static FUNCTIONS: Section = Section {
    keys: &[
        Key::optional(
            "preset",
            Shape::Word(&[Word::new("standard")]),
            "The list of built-in functions without effects and reach.",
        ),
        Key::default(
            "allow",
            Shape::List(&Shape::Text),
            "[]",
            "Patterns: `schema.name`, with `*` as a whole part or at its end.",
        ),
        Key::default("deny", Shape::List(&Shape::Text), "[]", "Patterns; wins over `allow` and `preset`."),
    ],
};

static SETTINGS: Section = Section {
    keys: &[Key::default(
        "allow",
        Shape::List(&Shape::Text),
        "[]",
        "Names of settings, and `prefix.*` of custom ones.",
    )],
};

static LIMITS: Section = Section {
    keys: &[
        limit("statement_bytes", 64 * 1024 * 1024, "bytes", "262144", "A text, before it is parsed."),
        limit("statements", 1024, "statements", "16", "In one simple-query message."),
        limit("depth", 1000, "levels", "64", "Nesting; a chain of one binary operator counts once."),
        limit(
            "relations",
            10_000,
            "references",
            "64",
            "Relations of a statement, as written, before views are expanded.",
        ),
        limit("in_list", 1_000_000, "elements", "8192", "One IN list, ARRAY[...] or VALUES outside INSERT."),
        limit("insert_rows", 1_000_000, "rows", "10000", "VALUES of an INSERT."),
        limit("set_operations", 10_000, "operations", "64", "UNION, INTERSECT, EXCEPT of a statement."),
        limit(
            "conditions",
            1_000_000,
            "terms",
            "4096",
            "Terms of AND and OR in a statement; PostgreSQL plans many of them for minutes, deaf to a cancel.",
        ),
        limit("parameters", 65_535, "parameters", "65535", "The highest `$n`."),
        limit(
            "conflict_rows",
            1_000_000,
            "rows",
            "100",
            "VALUES of an INSERT whose ON CONFLICT lacks the tenant column.",
        ),
        Key::optional(
            "rows",
            Shape::Either(&[Shape::Integer { min: 1, max: i64::MAX, unit: "rows" }, Shape::Section(&ROWS)]),
            "Rows that leave for a statement or portal; a number alone means `over: error`.",
        ),
        Key::optional(
            "timeout_ms",
            Shape::Integer { min: 1, max: 86_400_000, unit: "milliseconds" },
            "How long a statement may run.",
        ),
    ],
};

static ROWS: Section = Section {
    keys: &[
        Key::required("max", Shape::Integer { min: 1, max: i64::MAX, unit: "rows" }, "How many may leave."),
        Key::default(
            "over",
            Shape::Word(&[Word::new("cut"), Word::new("error")]),
            "error",
            "What happens over it: the surplus is dropped with a notice, or the statement fails.",
        ),
    ],
};

const fn limit(
    name: &'static str,
    max: i64,
    unit: &'static str,
    default: &'static str,
    about: &'static str,
) -> Key {
    Key::default(name, Shape::Integer { min: 1, max, unit }, default, about)
}

static CATALOGS: &[Word] = &[Word::new("deny"), Word::new("introspection"), Word::new("allow")];

static MODE: &[Word] = &[Word::new("enforce"), Word::not_built("observe", Built::NotYet)];

static EXPLAIN: &[Word] = &[Word::new("deny"), Word::new("plain"), Word::new("analyze")];

const NO_KIND: Built = Built::RefusedUntilThen("statements of this kind are refused");

static KINDS: &[Word] = &[
    Word::new("select"),
    Word::new("insert"),
    Word::new("update"),
    Word::new("delete"),
    Word::new("merge"),
    Word::new("transaction"),
    Word::new("set"),
    Word::new("show"),
    Word::new("prepare"),
    Word::new("cursor"),
    Word::new("copy_to"),
    Word::not_built("copy_from", NO_KIND),
    Word::new("call"),
    Word::new("ddl"),
    Word::new("temp"),
    Word::new("listen"),
    Word::new("lock"),
    Word::new("maintenance"),
    Word::new("grant"),
];

/// The JSON Schema of the policy file.
pub fn schema() -> serde_json::Value {
    document::schema("pgmoat policy", &POLICY_FILE)
}

/// The reference page of the policy file, in Markdown.
pub fn reference() -> String {
    document::reference("The policy file", INTRODUCTION, &POLICY_FILE)
}

const INTRODUCTION: &str =
    "Every key, its type, unit and default. The list is closed: an unknown key, a key that stands
twice, a word or number outside its range are errors, all reported at once with line and path.
What is marked as not supported yet is a warning where what it governs is refused until then,
else an error.

Patterns name things as the catalog has them (nothing is folded to lower case). `*` stands for a
whole part or for the end of one; a part with a dot, a star or a double quote in it is written in
double quotes, as in SQL.

Made from the table that the file is read by; `schema/policy.json` is its JSON Schema.";
