//! Each kind of session state.

use pgmoat_tests::Front;
use pgmoat_tests::front::{b, e, p, q, s};

/// One kind of state.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Start-up settings that make it.
    pub(crate) startup: &'static [(&'static str, &'static str)],
    /// Messages that make it.
    pub(crate) set: Vec<Front>,
    /// Messages whose answers show it, and change nothing.
    pub(crate) look: Vec<Front>,
    pub(crate) lives: Lives,
    pub(crate) stays: Stays,
}

/// How long PostgreSQL keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lives {
    /// To the end of the session, unless it is undone.
    Session,
    /// To the end of the transaction: made inside one alone.
    Transaction,
    /// Not at all: it is refused, or ends the session.
    Never,
}

/// What the connection does afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stays {
    /// It goes back to the pool, in transaction mode even while the client is there.
    Pooled,
    /// In transaction mode it is kept for the client.
    Pinned,
    /// It goes back, and in transaction mode the client itself may not find it again.
    Forgotten,
    /// It is closed: no command of PostgreSQL's takes this away again.
    Closed,
}

impl Row {
    fn new(name: &'static str, set: Vec<Front>, look: Vec<Front>) -> Self {
        Self { name, startup: &[], set, look, lives: Lives::Session, stays: Stays::Pooled }
    }

    fn in_transaction(self) -> Self {
        Self { lives: Lives::Transaction, ..self }
    }

    fn never(self) -> Self {
        Self { lives: Lives::Never, ..self }
    }

    fn pinned(self) -> Self {
        Self { stays: Stays::Pinned, ..self }
    }

    fn forgotten(self) -> Self {
        Self { stays: Stays::Forgotten, ..self }
    }

    fn closed(self) -> Self {
        Self { stays: Stays::Closed, ..self }
    }

    fn at_startup(self, startup: &'static [(&'static str, &'static str)]) -> Self {
        Self { startup, ..self }
    }
}

/// The whole table. `random` are numbers that follow on `setseed(0.5)`, as PostgreSQL writes an array.
pub(crate) fn rows(random: &str) -> Vec<Row> {
    let kinds =
        [settings(), inner(), pins(), identity(), names(), temporary(), locks(), sequences(random), rest()];
    kinds.concat()
}

fn sql(name: &'static str, set: &str, look: &str) -> Row {
    Row::new(name, vec![q(set)], vec![q(look)])
}

fn settings() -> Vec<Row> {
    let (set, shown) = ("SET work_mem = '5MB'", "SHOW work_mem");
    vec![
        sql("SET", set, shown),
        sql("SET SESSION", "SET SESSION work_mem TO '5MB'", shown),
        sql("set_config", "SELECT set_config('work_mem', '5MB', false)", shown),
        sql("SET LOCAL", "SET LOCAL work_mem = '5MB'", shown).in_transaction(),
        sql("set_config, local", "SELECT set_config('work_mem', '5MB', true)", shown).in_transaction(),
        sql("SET by a block", "DO $$BEGIN PERFORM set_config('work_mem', '5MB', false); END$$", shown)
            .closed(),
        sql("SET by a function", "SELECT public.left_set('work_mem', '5MB')", shown).closed(),
        Row::new("start-up setting", vec![], vec![q(shown)]).at_startup(&[("work_mem", "5MB")]),
        Row::new("start-up options", vec![], vec![q(shown)]).at_startup(&[("options", "-c work_mem=5MB")]),
        Row::new("start-up setting, set again", vec![q("SET work_mem = '6MB'")], vec![q(shown)])
            .at_startup(&[("work_mem", "5MB")]),
        sql("TIME ZONE", "SET TIME ZONE 'Asia/Tokyo'", "SELECT timestamptz '2026-01-31 00:00Z'"),
        sql("DateStyle", "SET DateStyle = 'German'", "SELECT date '2026-01-31'"),
        sql("IntervalStyle", "SET IntervalStyle = 'iso_8601'", "SELECT interval '1 day'"),
        sql("bytea_output", "SET bytea_output = 'escape'", r"SELECT '\x00ff'::bytea"),
        sql("extra_float_digits", "SET extra_float_digits = -10", "SELECT 1 / 3.0::float8"),
        sql("application_name", "SET application_name = 'left'", "SHOW application_name"),
        sql("client_min_messages", "SET client_min_messages = 'error'", "SHOW client_min_messages"),
        sql("statement_timeout", "SET statement_timeout = '33s'", "SHOW statement_timeout"),
        sql("lock_timeout", "SET lock_timeout = '33s'", "SHOW lock_timeout"),
        sql("read only", "SET default_transaction_read_only = on", "SHOW transaction_read_only"),
        sql(
            "SESSION CHARACTERISTICS",
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "SHOW default_transaction_isolation",
        )
        .pinned(),
        sql("SET TRANSACTION", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SHOW transaction_isolation")
            .in_transaction(),
        sql("plan_cache_mode", "SET plan_cache_mode = force_generic_plan", "SHOW plan_cache_mode"),
        sql("enable_seqscan", "SET enable_seqscan = off", "SHOW enable_seqscan"),
        sql("row_security", "SET row_security = off", "SHOW row_security").closed(),
        sql("replication role", "SET session_replication_role = replica", "SHOW session_replication_role")
            .closed(),
        sql("XML", "SET xmloption = document", "SHOW xmloption"),
        sql(
            "text search",
            "SET default_text_search_config = 'pg_catalog.simple'",
            "SHOW default_text_search_config",
        ),
        // After RESET and DISCARD the name is still known and has the value ''.
        sql("custom setting", "SET left_over.one = 'x'", "SELECT current_setting('left_over.one', true)")
            .closed(),
        sql(
            "custom setting, local",
            "SET LOCAL left_over.two = 'x'",
            "SELECT current_setting('left_over.two', true)",
        )
        .in_transaction()
        .closed(),
        sql(
            "custom setting by set_config",
            "SELECT set_config('left_over.three', 'x', false)",
            "SELECT current_setting('left_over.three', true)",
        )
        .closed(),
    ]
}

/// What the database's own code does that no statement names as such.
fn inner() -> Vec<Row> {
    let rows = [
        ("STABLE function", "SELECT public.left_stable('work_mem', '5MB')"),
        ("operator", "SELECT 'work_mem'::text OPERATOR(public.<~) '5MB'::text"),
        ("cast", "UPDATE public.left_cast SET y = x"),
        ("domain", "INSERT INTO public.left_domains VALUES ('5MB')"),
        ("trigger", "INSERT INTO public.left_triggers VALUES (1)"),
        ("trigger of a partition", "INSERT INTO public.left_parted VALUES (1)"),
        (
            "trigger behind a foreign key",
            "DELETE FROM public.left_parent WHERE id IN (SELECT id FROM public.left_parent LIMIT 1)",
        ),
        ("default", "INSERT INTO public.left_default (y) VALUES (1)"),
        ("check", "INSERT INTO public.left_checked VALUES ('5MB')"),
    ];
    rows.into_iter().map(|(name, set)| sql(name, set, "SHOW work_mem").forgotten()).collect()
}

/// What parser and server must agree on: nobody may move it, nor may it stay moved.
fn pins() -> Vec<Row> {
    let scs = ("SET standard_conforming_strings = off", r"SELECT 'a\\b'");
    vec![
        sql("client_encoding", "SET client_encoding = 'LATIN1'", "SHOW client_encoding").never(),
        sql("SET NAMES", "SET NAMES 'LATIN1'", "SHOW client_encoding").never(),
        sql("standard_conforming_strings", scs.0, scs.1).never(),
        sql("search_path", "SET search_path = public", "SHOW search_path").never(),
        sql("search_path by set_config", "SELECT set_config('search_path', '', false)", "SHOW search_path")
            .never(),
        sql(
            "search_path by a block",
            "DO $$BEGIN PERFORM set_config('search_path', 'public', false); END$$",
            "SHOW search_path",
        )
        .closed(),
    ]
}

fn identity() -> Vec<Row> {
    vec![
        sql("SET ROLE", "SET ROLE left_role", "SELECT current_user").closed(),
        sql("role by set_config", "SELECT set_config('role', 'left_role', false)", "SELECT current_user")
            .closed(),
        sql("SET LOCAL ROLE", "SET LOCAL ROLE left_role", "SELECT current_user").in_transaction().closed(),
        sql(
            "SESSION AUTHORIZATION",
            "SET SESSION AUTHORIZATION left_role",
            "SELECT session_user, current_user",
        )
        .closed(),
        sql(
            "SET LOCAL SESSION AUTHORIZATION",
            "SET LOCAL SESSION AUTHORIZATION left_role",
            "SELECT session_user",
        )
        .in_transaction()
        .closed(),
    ]
}

fn names() -> Vec<Row> {
    let run = |portal: &str, statement: &str| vec![b(portal, statement, &[]), e(portal, 0), s()];
    let cursors = "SELECT count(*) FROM pg_cursors WHERE name <> ''";
    vec![
        sql("PREPARE", "PREPARE left_one AS SELECT 1", "EXECUTE left_one").pinned(),
        Row::new("PREPARE, then Bind", vec![q("PREPARE left_one AS SELECT 1")], run("", "left_one")).pinned(),
        Row::new("Parse", vec![p("left_two", "SELECT 'left'"), s()], run("", "left_two")),
        Row::new("unnamed Parse", vec![p("", "SELECT 'left'"), s()], run("", "")),
        Row::new(
            "Parse, then EXECUTE",
            vec![p("left_two", "SELECT 'left'"), s()],
            vec![q("EXECUTE left_two")],
        ),
        sql("cursor", "DECLARE left_cursor CURSOR FOR SELECT 1", cursors).in_transaction(),
        sql("cursor WITH HOLD", "DECLARE left_held CURSOR WITH HOLD FOR SELECT 1", cursors).pinned(),
        Row::new(
            "portal",
            vec![p("", "SELECT g FROM generate_series(1, 9) g"), b("left_portal", "", &[]), s()],
            vec![e("left_portal", 1), s()],
        )
        .in_transaction(),
        Row::new(
            "unnamed portal",
            vec![p("", "SELECT g FROM generate_series(1, 9) g"), b("", "", &[]), e("", 1), s()],
            vec![e("", 1), s()],
        )
        .in_transaction(),
    ]
}

/// The schema itself stays: empty, and with a number for a name.
fn temporary() -> Vec<Row> {
    let function = "CREATE FUNCTION pg_temp.left_f() RETURNS int LANGUAGE sql AS 'SELECT 1'";
    let rows = [
        sql("temporary table", "CREATE TEMP TABLE left_t (x int)", IN_TEMP),
        sql("SELECT INTO TEMP", "SELECT 1 INTO TEMP left_t", IN_TEMP),
        sql("table in pg_temp", "CREATE TABLE pg_temp.left_t (x int)", IN_TEMP),
        sql(
            "temporary table before another",
            "CREATE TEMP TABLE plans (x int)",
            "SELECT count(*) FROM plans",
        ),
        sql("temporary view", "CREATE TEMP VIEW left_v AS SELECT 1", IN_TEMP),
        sql("temporary sequence", "CREATE TEMP SEQUENCE left_s", IN_TEMP),
        sql("temporary function", function, IN_TEMP_FUNCTIONS),
        sql("temporary type", "CREATE TYPE pg_temp.left_type AS ENUM ('a')", IN_TEMP_TYPES),
        sql("temporary table by a block", "DO 'BEGIN CREATE TEMP TABLE left_t (x int); END'", IN_TEMP),
        sql("ON COMMIT DROP", "CREATE TEMP TABLE left_t (x int) ON COMMIT DROP", IN_TEMP).in_transaction(),
        sql("ON COMMIT DELETE ROWS", "CREATE TEMP TABLE left_t (x int) ON COMMIT DELETE ROWS", IN_TEMP),
    ];
    rows.into_iter().map(Row::pinned).collect()
}

fn locks() -> Vec<Row> {
    let held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()";
    let row = |name, set| sql(name, set, held).pinned();
    vec![
        row("advisory lock", "SELECT pg_advisory_lock(4711)"),
        row("advisory lock, twice", "SELECT pg_advisory_lock(4711), pg_advisory_lock(4711)"),
        row("advisory lock, shared", "SELECT pg_advisory_lock_shared(4711)"),
        row("advisory lock, tried", "SELECT pg_try_advisory_lock(47, 11)"),
        row("advisory lock by a function", "SELECT public.left_lock(4711)").closed(),
        sql("advisory lock of a transaction", "SELECT pg_advisory_xact_lock(4711)", held).in_transaction(),
        sql("advisory lock by an IMMUTABLE function", "SELECT public.left_immutable(4711)", held).forgotten(),
        sql("LISTEN", "LISTEN left_channel", "SELECT pg_listening_channels()").pinned(),
        sql("LISTEN, heard", "LISTEN left_channel", "NOTIFY left_channel, 'heard'").pinned(),
    ]
}

fn sequences(random: &str) -> Vec<Row> {
    let next = "SELECT nextval('app.notes_id_seq')";
    let is_ours = format!("SELECT random() = ANY ('{random}'::float8[])");
    vec![
        sql("currval", next, "SELECT currval('app.notes_id_seq') > 0").pinned(),
        sql("lastval", next, "SELECT lastval() > 0").pinned(),
        sql(
            "lastval by INSERT",
            "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', '')",
            "SELECT lastval() > 0",
        )
        .forgotten(),
        sql("setseed", "SELECT setseed(0.5)", &is_ours).closed(),
        sql("seed", "SET seed = 0.5", &is_ours).closed(),
    ]
}

fn rest() -> Vec<Row> {
    vec![
        sql("large object", "SELECT lo_open(lo_creat(-1), 131072)", "SELECT lo_tell(0)").in_transaction(),
        sql(
            "library",
            "LOAD 'auto_explain'",
            "SELECT current_setting('auto_explain.log_min_duration', true)",
        )
        .closed(),
        sql(
            "replication origin",
            "SELECT pg_replication_origin_session_setup('left_' || current_database())",
            "SELECT pg_replication_origin_session_is_setup()",
        )
        .closed(),
    ]
}

const IN_TEMP: &str = "SELECT relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()";
const IN_TEMP_FUNCTIONS: &str = "SELECT count(*) FROM pg_proc WHERE pronamespace = pg_my_temp_schema()";
const IN_TEMP_TYPES: &str = "SELECT count(*) FROM pg_type WHERE typnamespace = pg_my_temp_schema()";
