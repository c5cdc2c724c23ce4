//! A database in which everything is allowed, and a proxy before it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use pgmoat_lab::{POLICY_YAML, SUPERUSER};
use pgmoat_tests::{Front, Login, Mode, Proxied, Raw, Stack, Transcript};

/// The proxy and its database.
#[derive(Debug)]
pub(crate) struct House {
    pub(crate) proxied: Proxied,
}

impl House {
    pub(crate) fn new(mode: Mode, size: usize) -> Self {
        Self::with(mode, size, "")
    }

    /// One that has this, too.
    pub(crate) fn with(mode: Mode, size: usize, more: &str) -> Self {
        let stack = Stack::get();
        let database = stack.database().unwrap();
        {
            // The roles are everyone's: one at a time.
            static ROLES: Mutex<()> = Mutex::new(());
            let _turn = ROLES.lock();
            stack.cluster().psql(&database, &format!("{SCHEMA};\n{more}")).unwrap();
        }
        let change = |config: &mut pgmoat_lab::ProxyConfig| {
            config.policy = unrestricted();
            config.databases[0].pool = mode.pool(size);
        };
        Self { proxied: stack.proxy_before(&database, change).unwrap() }
    }

    pub(crate) fn client(&self, more: &[(&str, &str)]) -> Raw {
        Raw::connect(&Login { more, ..self.proxied.login("ops") }).unwrap()
    }

    /// PostgreSQL itself, as its superuser.
    pub(crate) fn beside(&self) -> Raw {
        Raw::connect(&Stack::get().direct(SUPERUSER, &self.proxied.database)).unwrap()
    }
}

/// Numbers that follow on a seed, as PostgreSQL writes an array.
pub(crate) fn random_after_seed() -> String {
    let stack = Stack::get();
    let mut raw = Raw::connect(&stack.direct(SUPERUSER, "postgres")).unwrap();
    raw.query("SELECT setseed(0.5)").unwrap();
    let heard = raw.query("SELECT array_agg(random()) FROM generate_series(1, 500)").unwrap();
    heard.rows().concat().into_iter().flatten().collect()
}

/// Sends messages and reads all their answers, up to the end of the connection, where that comes first.
pub(crate) fn ask(raw: &mut Raw, messages: &[Front]) -> Transcript {
    if raw.send(messages).is_err() {
        return Transcript { closed: true, ..Transcript::default() };
    }
    let ready = messages.iter().filter(|message| matches!(message, Front::Query(_) | Front::Sync)).count();
    raw.read(ready).unwrap_or_else(|error| panic!("{messages:?}: {error}"))
}

/// An answer to compare: letters, SQLSTATEs, rows, and what notifications carry.
pub(crate) fn told(heard: &Transcript) -> String {
    let notified = heard.messages.iter().filter(|message| message.tag == b'A').count();
    format!("{heard} {:?} {notified}", heard.rows())
}

/// What the server reported of its settings during the login.
pub(crate) fn reported(raw: &Raw) -> BTreeMap<String, String> {
    let statuses = raw.greeting().messages.iter().filter(|message| message.tag == b'S');
    let texts = statuses.filter_map(|message| {
        let mut texts =
            message.body.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned());
        Some((texts.next()?, texts.next()?))
    });
    texts.collect()
}

pub(crate) fn backend_pid(raw: &mut Raw) -> String {
    let heard = raw.query("SELECT pg_backend_pid()").unwrap();
    heard.rows().concat().into_iter().flatten().collect()
}

/// The lab's policy, with `ops` as a role to which nothing is refused, and for which most is on the lists: what is not is
/// of unknown effect, and the connection is closed after it.
fn unrestricted() -> String {
    let (before, after) = POLICY_YAML.split_once("  ops:\n").unwrap();
    let (_, after) = after.split_once("\n\n").unwrap();
    format!("{before}{OPS}\n{after}")
}

const OPS: &str = "  ops:
    tenant: exempt
    unrestricted: true
    statements: [select, insert, update, delete, merge, transaction, set, show, prepare, cursor, copy_to, call,
      ddl, temp, listen, lock, maintenance, grant]
    relations: { allow: [\"app.*\", \"billing.*\", \"public.*\", \"pg_temp.*\"] }
    functions: { preset: standard, allow: [\"public.*\", \"pg_catalog.*\"] }
    settings: { allow: [work_mem, lock_timeout, plan_cache_mode, enable_seqscan, xmloption, default_text_search_config, bytea_output, extra_float_digits, default_transaction_read_only,
      default_transaction_isolation, seed, \"left_over.*\"] }
    system_catalogs: allow
    explain: analyze
";

/// A role to become, an origin, and functions that do what the proxy cannot see in the statement that calls them.
const SCHEMA: &str = "ALTER ROLE pgmoat_service SUPERUSER;
    DO $$BEGIN CREATE ROLE left_role; EXCEPTION WHEN duplicate_object THEN NULL; END$$;
    GRANT ALL ON SCHEMA public TO left_role;
    SELECT pg_replication_origin_create('left_' || current_database());
    CREATE FUNCTION public.left_set(name text, value text) RETURNS text LANGUAGE sql
        AS 'SELECT set_config(name, value, false)';
    CREATE FUNCTION public.left_lock(key int) RETURNS void LANGUAGE sql AS 'SELECT pg_advisory_lock(key)';
    CREATE FUNCTION public.left_stable(name text, value text) RETURNS text LANGUAGE plpgsql STABLE
        AS 'BEGIN RETURN set_config(name, value, false); END';
    CREATE FUNCTION public.left_immutable(key int) RETURNS int LANGUAGE plpgsql IMMUTABLE
        AS 'BEGIN PERFORM pg_advisory_lock(key); RETURN key; END';
    CREATE OPERATOR public.<~ (FUNCTION = public.left_stable, LEFTARG = text, RIGHTARG = text);
    CREATE TYPE public.left_type AS (value text);
    CREATE FUNCTION public.left_as_text(it public.left_type) RETURNS text LANGUAGE plpgsql STABLE
        AS 'BEGIN RETURN set_config(''work_mem'', it.value, false); END';
    CREATE CAST (public.left_type AS text) WITH FUNCTION public.left_as_text AS ASSIGNMENT;
    CREATE TABLE public.left_cast (x public.left_type, y text);
    INSERT INTO public.left_cast VALUES (ROW('5MB'), '');
    CREATE DOMAIN public.left_domain AS text CHECK (public.left_stable('work_mem', VALUE) IS NOT NULL);
    CREATE TABLE public.left_domains (x public.left_domain);
    CREATE FUNCTION public.left_trigger() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM set_config(''work_mem'', ''5MB'', false); RETURN coalesce(new, old); END';
    CREATE TABLE public.left_triggers (x int);
    CREATE TABLE public.left_parted (x int) PARTITION BY RANGE (x);
    CREATE TABLE public.left_part PARTITION OF public.left_parted DEFAULT;
    CREATE TABLE public.left_parent (id int PRIMARY KEY);
    CREATE TABLE public.left_child (id int REFERENCES public.left_parent ON DELETE CASCADE);
    INSERT INTO public.left_parent SELECT generate_series(1, 2000);
    INSERT INTO public.left_child SELECT generate_series(1, 2000);
    CREATE TRIGGER runs AFTER INSERT ON public.left_triggers FOR EACH ROW EXECUTE FUNCTION public.left_trigger();
    CREATE TRIGGER runs BEFORE INSERT ON public.left_part FOR EACH ROW EXECUTE FUNCTION public.left_trigger();
    CREATE TRIGGER runs AFTER DELETE ON public.left_child FOR EACH ROW EXECUTE FUNCTION public.left_trigger();
    CREATE TABLE public.left_default (x text DEFAULT public.left_set('work_mem', '5MB'), y int);
    CREATE TABLE public.left_checked (x text CHECK (public.left_stable('work_mem', x) = x));";
