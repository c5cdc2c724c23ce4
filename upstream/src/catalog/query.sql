-- The whole catalog as one JSON text, format 1: what the policy may know of a database, and no more.
--
-- Runs on server majors 15 to 18 as any role, with an empty search_path (so that PostgreSQL's own
-- deparser qualifies every name that is not built in). Deterministic: keys in alphabetical order,
-- every array ordered, one object a line. What belongs to PostgreSQL itself (pg_catalog and
-- information_schema as initdb made them) is left out; what somebody added to pg_catalog later is
-- not, for it can shadow. 16384 is PostgreSQL's FirstNormalObjectId.
-- Columns that only newer majors have are read through to_jsonb(row).
WITH RECURSIVE
spaces AS MATERIALIZED (
    SELECT oid, nspname,
           nspname = 'pg_catalog' AS builtin,
           nspname !~ '^pg_' AND nspname <> 'information_schema' AS own
    FROM pg_namespace
),
type_names AS (
    SELECT t.oid, json_build_object('name', t.typname, 'schema', s.nspname) AS ref
    FROM pg_type t JOIN spaces s ON s.oid = t.typnamespace
),
function_names AS (
    SELECT p.oid, s.nspname, p.proname, s.builtin AND p.oid < 16384 AS builtin,
           json_build_object('name', p.proname, 'schema', s.nspname) AS ref
    FROM pg_proc p JOIN spaces s ON s.oid = p.pronamespace
),
relation_names AS (
    SELECT c.oid, s.nspname, c.relname, c.relkind,
           json_build_object('name', c.relname, 'schema', s.nspname) AS ref
    FROM pg_class c JOIN spaces s ON s.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND c.relpersistence <> 't'
      AND (s.own OR s.builtin AND c.oid >= 16384)
),
-- Functions outside pg_catalog that a constraint or a default calls, also through an operator. (A type's are those of a
-- domain's default, beside its input and output.)
-- (PostgreSQL records no dependency on what initdb made.)
calls AS (
    SELECT u.classid, u.objid, json_agg(u.ref ORDER BY u.nspname, u.proname) AS functions
    FROM (
        SELECT DISTINCT ON (d.classid, d.objid, f.nspname, f.proname)
               d.classid, d.objid, f.nspname, f.proname, f.ref
        FROM pg_depend d
        LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
        JOIN function_names f
          ON f.oid = CASE d.refclassid WHEN 'pg_proc'::regclass THEN d.refobjid ELSE o.oprcode::oid END
        WHERE d.classid IN ('pg_constraint'::regclass, 'pg_attrdef'::regclass, 'pg_type'::regclass)
          AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
          AND NOT f.builtin
    ) u
    GROUP BY u.classid, u.objid
),
-- From 18 on attnotnull also stands for NOT NULL ... NOT VALID, which old rows may break.
nulls_possible AS (
    SELECT conrelid, unnest(conkey) AS attnum FROM pg_constraint WHERE contype = 'n' AND NOT convalidated
),
columns AS (
    SELECT a.attrelid,
           json_agg(json_build_object(
               'collation', CASE WHEN co.oid IS NOT NULL
                            THEN json_build_object('name', co.collname, 'schema', cs.nspname) END,
               'collation_deterministic', co.collisdeterministic,
               'default', coalesce(pg_get_expr(d.adbin, d.adrelid), domain.typdefault),
               'default_functions', coalesce(k.functions, '[]'),
               'generated', nullif(a.attgenerated, ''),
               'identity', nullif(a.attidentity, ''),
               'name', a.attname,
               'not_null', a.attnotnull AND NOT EXISTS (
                   SELECT FROM nulls_possible n WHERE n.conrelid = a.attrelid AND n.attnum = a.attnum),
               'number', a.attnum,
               'type', t.ref,
               'type_oid', a.atttypid::int8,
               'typmod', a.atttypmod) ORDER BY a.attnum) AS list
    FROM pg_attribute a
    JOIN relation_names r ON r.oid = a.attrelid
    JOIN type_names t ON t.oid = a.atttypid
    LEFT JOIN pg_collation co ON co.oid = a.attcollation
    LEFT JOIN spaces cs ON cs.oid = co.collnamespace
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    LEFT JOIN pg_type domain ON domain.oid = a.atttypid AND domain.typtype = 'd' AND d.oid IS NULL
    LEFT JOIN calls k ON (k.classid, k.objid) IN (('pg_attrdef'::regclass, d.oid), ('pg_type'::regclass, domain.oid))
    WHERE a.attnum > 0 AND NOT a.attisdropped
    GROUP BY a.attrelid
),
-- Of a table (conrelid) or of a domain (contypid).
checks AS (
    SELECT c.conrelid, c.contypid,
           json_agg(json_build_object(
               'expression', pg_get_constraintdef(c.oid),
               'functions', coalesce(k.functions, '[]'),
               'name', c.conname) ORDER BY c.conname) AS list
    FROM pg_constraint c
    LEFT JOIN calls k ON k.classid = 'pg_constraint'::regclass AND k.objid = c.oid
    WHERE c.contype = 'c'
    GROUP BY c.conrelid, c.contypid
),
parents AS (
    SELECT i.inhrelid, json_agg(r.ref ORDER BY i.inhseqno) AS list
    FROM pg_inherits i JOIN relation_names r ON r.oid = i.inhparent
    GROUP BY i.inhrelid
),
-- OWNED BY ('a') and identity ('i').
owners AS (
    SELECT d.objid, json_build_object('column', a.attname, 'relation', r.ref) AS ref
    FROM pg_depend d
    JOIN relation_names r ON r.oid = d.refobjid
    JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
    WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
      AND d.objsubid = 0 AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i')
),
-- Columns that some whole, usable index leads with.
leads AS (
    SELECT u.indrelid, json_agg(u.attname ORDER BY u.attname) AS list
    FROM (
        SELECT DISTINCT i.indrelid, a.attname
        FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indisvalid AND i.indislive AND i.indpred IS NULL
    ) u
    GROUP BY u.indrelid
),
relations AS (
    SELECT '[' || coalesce(string_agg(json_build_object(
               'checks', coalesce(ch.list, '[]'),
               'columns', coalesce(co.list, '[]'),
               'has_children', EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = r.oid),
               'index_leads', coalesce(le.list, '[]'),
               'inherits', coalesce(pa.list, '[]'),
               'is_partition', c.relispartition,
               'kind', r.relkind,
               'name', r.relname,
               'oid', r.oid::int8,
               'owned_by', CASE WHEN r.relkind = 'S' THEN ow.ref END,
               'row_security', c.relrowsecurity,
               'schema', r.nspname,
               'view_definition', CASE WHEN r.relkind IN ('v', 'm') THEN pg_get_viewdef(r.oid) END
           )::text, E',\n' ORDER BY r.nspname, r.relname), '') || ']' AS list
    FROM relation_names r
    JOIN pg_class c ON c.oid = r.oid
    LEFT JOIN columns co ON co.attrelid = r.oid
    LEFT JOIN checks ch ON ch.conrelid = r.oid
    LEFT JOIN leads le ON le.indrelid = r.oid
    LEFT JOIN parents pa ON pa.inhrelid = r.oid
    LEFT JOIN owners ow ON ow.objid = r.oid AND r.relkind = 'S'
),
-- Temporal keys (WITHOUT OVERLAPS, from 18) are exclusion constraints by another name: not keys.
temporal AS (
    SELECT oid FROM pg_constraint c WHERE coalesce((to_jsonb(c) ->> 'conperiod')::bool, false)
),
key_columns AS (
    SELECT i.indexrelid,
           json_agg(json_build_object(
               'collation_deterministic', co.collisdeterministic,
               'collation_own', i.indcollation[n] = coalesce(a.attcollation, i.indcollation[n]),
               'name', a.attname,
               'opclass_default', oc.opcdefault) ORDER BY n) AS list,
           bool_or(i.indkey[n] = 0) AS expressions
    FROM pg_index i
    CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS n
    LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[n] AND i.indkey[n] <> 0
    LEFT JOIN pg_collation co ON co.oid = i.indcollation[n]
    JOIN pg_opclass oc ON oc.oid = i.indclass[n]
    WHERE i.indisunique AND NOT i.indisexclusion
    GROUP BY i.indexrelid
),
unique_keys AS (
    SELECT '[' || coalesce(string_agg(json_build_object(
               'columns', k.list,
               'constraint', c.oid IS NOT NULL,
               'deferrable', NOT i.indimmediate OR coalesce(c.condeferrable, false),
               'expressions', k.expressions,
               'name', ic.relname,
               'nulls_not_distinct', i.indnullsnotdistinct,
               'partial', i.indpred IS NOT NULL,
               'primary', i.indisprimary,
               'relation', r.ref,
               'valid', i.indisvalid AND i.indisready AND i.indislive
           )::text, E',\n' ORDER BY r.nspname, r.relname, ic.relname), '') || ']' AS list
    FROM pg_index i
    JOIN key_columns k ON k.indexrelid = i.indexrelid
    JOIN relation_names r ON r.oid = i.indrelid
    JOIN pg_class ic ON ic.oid = i.indexrelid
    LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u')
    WHERE c.oid IS NULL OR c.oid NOT IN (SELECT oid FROM temporal)
),
-- A key that references a partitioned table has a copy for each of its partitions, in which the
-- rows need not be: only copies that keep the first one's referenced table are true of all rows.
key_copies (root, oid, confrelid) AS (
    SELECT oid, oid, confrelid FROM pg_constraint WHERE contype = 'f' AND conparentid = 0
    UNION ALL
    SELECT k.root, c.oid, k.confrelid
    FROM pg_constraint c JOIN key_copies k ON c.conparentid = k.oid WHERE c.contype = 'f'
),
-- ALTER TABLE ... DISABLE TRIGGER switches a key off without a trace in pg_constraint.
keys_off AS (
    SELECT DISTINCT k.root
    FROM key_copies k JOIN pg_trigger t ON t.tgconstraint = k.oid
    WHERE t.tgenabled NOT IN ('O', 'A')
),
foreign_keys AS (
    SELECT '[' || coalesce(string_agg(json_build_object(
               'columns', cols.list,
               'deferrable', c.condeferrable,
               'enforced', coalesce((to_jsonb(c) ->> 'conenforced')::bool, true)
                           AND k.root NOT IN (SELECT root FROM keys_off),
               'name', c.conname,
               'on_delete', c.confdeltype,
               'on_update', c.confupdtype,
               'operators', ops.list,
               'period', c.oid IN (SELECT oid FROM temporal),
               'referenced_columns', refs.list,
               'references', f.ref,
               'relation', r.ref,
               'validated', c.convalidated
           )::text, E',\n' ORDER BY r.nspname, r.relname, c.conname), '') || ']' AS list
    FROM pg_constraint c
    JOIN key_copies k ON k.oid = c.oid AND k.confrelid = c.confrelid
    JOIN relation_names r ON r.oid = c.conrelid
    JOIN relation_names f ON f.oid = c.confrelid
    CROSS JOIN LATERAL (
        SELECT json_agg(a.attname ORDER BY u.n) AS list
        FROM unnest(c.conkey) WITH ORDINALITY AS u (attnum, n)
        JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = u.attnum) cols
    CROSS JOIN LATERAL (
        SELECT json_agg(a.attname ORDER BY u.n) AS list
        FROM unnest(c.confkey) WITH ORDINALITY AS u (attnum, n)
        JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = u.attnum) refs
    CROSS JOIN LATERAL (
        SELECT json_agg(json_build_object('name', o.oprname, 'schema', s.nspname) ORDER BY u.n) AS list
        FROM unnest(c.conpfeqop) WITH ORDINALITY AS u (op, n)
        JOIN pg_operator o ON o.oid = u.op
        JOIN spaces s ON s.oid = o.oprnamespace) ops
),
rules AS (
    SELECT '[' || coalesce(string_agg(json_build_object(
               'enabled', w.ev_enabled IN ('O', 'A'),
               'event', CASE w.ev_type WHEN '1' THEN 'select' WHEN '2' THEN 'update'
                                       WHEN '3' THEN 'insert' WHEN '4' THEN 'delete' END,
               'instead', w.is_instead,
               'name', w.rulename,
               'relation', r.ref
           )::text, E',\n' ORDER BY r.nspname, r.relname, w.rulename), '') || ']' AS list
    FROM pg_rewrite w JOIN relation_names r ON r.oid = w.ev_class
    WHERE w.rulename <> '_RETURN'
),
-- tgtype's bits: row 1, before 2, insert 4, delete 8, update 16, truncate 32, instead 64.
triggers AS (
    SELECT '[' || coalesce(string_agg(json_build_object(
               'enabled', t.tgenabled IN ('O', 'A'),
               'events', array_to_json(array_remove(ARRAY[
                   CASE WHEN t.tgtype & 8 <> 0 THEN 'delete' END,
                   CASE WHEN t.tgtype & 4 <> 0 THEN 'insert' END,
                   CASE WHEN t.tgtype & 32 <> 0 THEN 'truncate' END,
                   CASE WHEN t.tgtype & 16 <> 0 THEN 'update' END], NULL)),
               'function', f.ref,
               'level', CASE WHEN t.tgtype & 1 <> 0 THEN 'row' ELSE 'statement' END,
               'name', t.tgname,
               'relation', r.ref,
               'timing', CASE WHEN t.tgtype & 64 <> 0 THEN 'instead' WHEN t.tgtype & 2 <> 0 THEN 'before'
                              ELSE 'after' END
           )::text, E',\n' ORDER BY r.nspname, r.relname, t.tgname), '') || ']' AS list
    FROM pg_trigger t
    JOIN relation_names r ON r.oid = t.tgrelid
    JOIN function_names f ON f.oid = t.tgfoid
    WHERE NOT t.tgisinternal
),
arguments AS (
    SELECT p.oid,
           coalesce(json_agg(json_build_object(
               'mode', coalesce(p.proargmodes[u.n], 'i'),
               'name', nullif(p.proargnames[u.n], ''),
               'type', t.ref) ORDER BY u.n) FILTER (WHERE u.n IS NOT NULL), '[]') AS list
    FROM pg_proc p
    LEFT JOIN LATERAL unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY AS u (typ, n) ON true
    LEFT JOIN type_names t ON t.oid = u.typ
    GROUP BY p.oid
),
functions AS (
    SELECT '[' || coalesce(string_agg(json_build_object(
               'arguments', ar.list,
               'defaults', p.pronargdefaults,
               'kind', p.prokind,
               'name', p.proname,
               'oid', p.oid::int8,
               'parallel', p.proparallel,
               'returns', t.ref,
               'returns_set', p.proretset,
               'schema', f.nspname,
               'security_definer', p.prosecdef,
               'strict', p.proisstrict,
               'variadic', p.provariadic <> 0,
               'volatility', p.provolatile
           )::text, E',\n'
           ORDER BY f.nspname, p.proname, pg_get_function_identity_arguments(p.oid) COLLATE "C"), '') || ']' AS list
    FROM pg_proc p
    JOIN function_names f ON f.oid = p.oid
    JOIN spaces s ON s.oid = p.pronamespace
    JOIN type_names t ON t.oid = p.prorettype
    JOIN arguments ar ON ar.oid = p.oid
    WHERE s.own OR s.builtin AND p.oid >= 16384
),
operators AS (
    SELECT '[' || coalesce(string_agg(json_build_object(
               'function', f.ref,
               'left', l.ref,
               'name', o.oprname,
               'oid', o.oid::int8,
               'result', t.ref,
               'right', rt.ref,
               'schema', s.nspname
           )::text, E',\n'
           ORDER BY s.nspname, o.oprname, l.ref::text COLLATE "C" NULLS FIRST, rt.ref::text COLLATE "C"), '') || ']' AS list
    FROM pg_operator o
    JOIN spaces s ON s.oid = o.oprnamespace
    JOIN function_names f ON f.oid = o.oprcode
    JOIN type_names t ON t.oid = o.oprresult
    JOIN type_names rt ON rt.oid = o.oprright
    LEFT JOIN type_names l ON l.oid = o.oprleft
    WHERE s.own OR s.builtin AND o.oid >= 16384
),
casts AS (
    SELECT '[' || coalesce(string_agg(json_build_object(
               'context', c.castcontext,
               'function', f.ref,
               'method', c.castmethod,
               'source', s.ref,
               'target', t.ref
           )::text, E',\n' ORDER BY s.ref::text COLLATE "C", t.ref::text COLLATE "C"), '') || ']' AS list
    FROM pg_cast c
    JOIN type_names s ON s.oid = c.castsource
    JOIN type_names t ON t.oid = c.casttarget
    LEFT JOIN function_names f ON f.oid = c.castfunc
    WHERE c.oid >= 16384
),
types AS (
    SELECT '[' || coalesce(string_agg(json_build_object(
               'base', b.ref,
               'checks', coalesce(ch.list, '[]'),
               'element', e.ref,
               'kind', t.typtype,
               'name', t.typname,
               'not_null', t.typnotnull,
               'oid', t.oid::int8,
               'relation', CASE WHEN t.typtype = 'c' THEN r.ref END,
               'schema', s.nspname,
               'subtype', st.ref,
               'typmod', t.typtypmod
           )::text, E',\n' ORDER BY s.nspname, t.typname), '') || ']' AS list
    FROM pg_type t
    JOIN spaces s ON s.oid = t.typnamespace
    LEFT JOIN type_names b ON b.oid = t.typbasetype
    LEFT JOIN type_names e ON e.oid = t.typelem AND t.typcategory = 'A'
    LEFT JOIN checks ch ON ch.contypid = t.oid
    LEFT JOIN relation_names r ON r.oid = t.typrelid
    LEFT JOIN pg_range g ON g.rngtypid = t.oid OR g.rngmultitypid = t.oid
    LEFT JOIN type_names st ON st.oid = g.rngsubtype
    WHERE s.own OR s.builtin AND t.oid >= 16384
),
extensions AS (
    SELECT '[' || coalesce(string_agg(json_build_object(
               'name', x.extname, 'schema', s.nspname, 'version', x.extversion
           )::text, E',\n' ORDER BY x.extname), '') || ']' AS list
    FROM pg_extension x JOIN spaces s ON s.oid = x.extnamespace
),
schemas AS (
    SELECT coalesce(json_agg(nspname ORDER BY nspname), '[]') AS list FROM spaces WHERE own
)
SELECT '{"casts":' || (SELECT list FROM casts)
    || E',\n"database":' || to_json(current_database()::text)::text
    || E',\n"extensions":' || (SELECT list FROM extensions)
    || E',\n"foreign_keys":' || (SELECT list FROM foreign_keys)
    || E',\n"format":1'
    || E',\n"functions":' || (SELECT list FROM functions)
    || E',\n"operators":' || (SELECT list FROM operators)
    || E',\n"relations":' || (SELECT list FROM relations)
    || E',\n"rules":' || (SELECT list FROM rules)
    || E',\n"schemas":' || (SELECT list FROM schemas)::text
    || E',\n"server_encoding":' || to_json(current_setting('server_encoding'))::text
    || E',\n"server_version_num":' || current_setting('server_version_num')
    || E',\n"triggers":' || (SELECT list FROM triggers)
    || E',\n"types":' || (SELECT list FROM types)
    || E',\n"unique_keys":' || (SELECT list FROM unique_keys)
    || E'}\n'
