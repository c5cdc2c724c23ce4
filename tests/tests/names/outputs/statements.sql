-- FigureColname, and lists
SELECT *, t.*, (t).*, t, (t.p).*, (t.p).a, (p).b, (q).a, (q).*, (t.q).*, row(t.*), (row(1, 2)).*, (t.parr[1]).b, (t).v FROM zoo.t
SELECT t.field, field(t), t.fields, (t.fields).a, (fields(t)).* FROM zoo.t
SELECT u.v, v(u), (v(u)).* FROM zoo.u
SELECT FROM zoo.t
SELECT * FROM zoo.none
SELECT *, 1 FROM zoo.none
SELECT none.*, none, 2 FROM zoo.none
SELECT x.*, y.*, 1 FROM zoo.none x, (SELECT) y
SELECT ctid, xmin, tableoid, t.cmax FROM zoo.t
SELECT v, c, n, l, s, m, i2, i8, num, f, ts, d, arr, larr, parr, js, g FROM zoo.t
SELECT i2 + 1, i2 + i2, i2 + i8, num * 2, f / 2, -i2, v || 'x', n || 'x', c || 'x', l || 'x', js -> 'a', js ->> 'a', d + 1, ts - ts, arr || 'x', m < 'glad' FROM zoo.t
SELECT arr[1], larr[1], parr[1], arr[1:1], (parr[1]).b, js['a'] FROM zoo.t
SELECT v::text, v::varchar(2), 'x'::char, 'x'::"char", 'x'::char(3), 'x'::bpchar, 'x'::name, 1::numeric(4), 'x'::zoo.label, 'abc'::zoo.short, '{}'::text[], '{}'::zoo.label[], 1.5, 15000000000, 1e10, B'1', X'F', NULL, true, interval '1 day', date '2020-01-01', timestamp with time zone 'now', 0x10
SELECT coalesce(v, 'x'), coalesce(v, id::text), coalesce(l, 'x'), coalesce(l, v), coalesce(s, s), coalesce(l, l), coalesce(NULL, 'x'), coalesce(i2, i8), coalesce(c, v), coalesce(n, v), greatest(i2, 1), least(l, 'x'), greatest(l, l), nullif(l, 'x'), nullif(v, 'x'), nullif(i2, i8), nullif(n, 'x'), nullif(c, 'x'), nullif(s, 'x'), nullif(l, l), nullif(NULL, 'x'), nullif('x', 'y'), nullif(id, 1.5), nullif(m, 'sad') FROM zoo.t
SELECT CASE WHEN true THEN v ELSE 'x' END, CASE WHEN true THEN l END, CASE i2 WHEN 1 THEN i8 ELSE i2 END, CASE WHEN true THEN 'x' END FROM zoo.t
SELECT ARRAY[1, 2], ARRAY[v], ARRAY[l], ARRAY[[1], [2]], ARRAY(SELECT v FROM zoo.t), ARRAY[]::text[], ROW(1, 2), (1, 'x')
SELECT ARRAY[v], ARRAY[l, 'x'], ARRAY[n], ARRAY[p] FROM zoo.t
SELECT lower(v), lower(n), upper(l), length(c), now(), current_user, current_schema, current_date, current_timestamp, localtime, session_user, current_catalog, current_role, user FROM zoo.t
SELECT count(*), sum(i2), sum(id), sum(i8), avg(id), max(v), max(l), max(c), max(n), min(m), array_agg(v), string_agg(v, ','), json_agg(t), bool_and(true), percentile_disc(0.5) WITHIN GROUP (ORDER BY id), mode() WITHIN GROUP (ORDER BY l), grouping(v) FROM zoo.t GROUP BY v
SELECT row_number() OVER (), lag(v) OVER (ORDER BY id), first_value(l) OVER (), ntile(2) OVER (), lag(id, 1, 0) OVER (ORDER BY id) FROM zoo.t
SELECT zoo.same(1), zoo.same(v), zoo.same(l), zoo.compatible(i2, i8), zoo.twice(1), zoo.twice('x'), zoo.twice(v), zoo.nothing(), zoo.two_out(1), zoo.one_out(), zoo.one_pair(), zoo.out_pair(), zoo.same_out(1) FROM zoo.t
SELECT (zoo.two_out(1)).*, (zoo.one_pair()).*, (zoo.out_pair()).*, (zoo.same_out(1)).b FROM zoo.t
SELECT zoo.tab(), zoo.tab_one(), zoo.rows(), zoo.pairs(), zoo.paireds(), zoo.labels(), zoo.same_set('x'::text), generate_series(1, 2), unnest(ARRAY[1]), unnest(arr), unnest(larr), unnest(parr), jsonb_each('{}'), json_array_elements_text('[]') FROM zoo.t
SELECT (zoo.tab()).*, (unnest(parr)).*, (jsonb_each('{}')).key FROM zoo.t
SELECT (SELECT v FROM zoo.t LIMIT 1), (SELECT l FROM zoo.t LIMIT 1), (SELECT 'x'), (SELECT NULL), (SELECT c FROM zoo.t LIMIT 1)::text, EXISTS (SELECT 1), 1 IN (SELECT 1), ARRAY(SELECT l FROM zoo.t), (SELECT p FROM zoo.t LIMIT 1), (SELECT t FROM zoo.t LIMIT 1), (SELECT (p).b FROM zoo.t LIMIT 1)
SELECT v COLLATE "C", l COLLATE "C", v IS NULL, v LIKE 'x', NOT true, true AND false, v IN ('x'), v = ANY (arr), v BETWEEN 'a' AND 'b', v IS DISTINCT FROM 'x', ts AT TIME ZONE 'UTC', extract(year FROM ts), overlay(v PLACING 'x' FROM 1), trim(v), substring(v FROM 1), position('x' IN v), (ts, ts) OVERLAPS (ts, ts), v SIMILAR TO 'x', v IS NORMALIZED, normalize(v) FROM zoo.t
SELECT xmlelement(name a), xmlforest(v), xmlparse(content 'x'), xmlserialize(content xmlparse(content 'x') AS text), xmlconcat(NULL), xmlpi(name a), xmlroot(xmlparse(content 'x'), version '1.0'), '<a/>'::xml IS DOCUMENT FROM zoo.t
SELECT $1, $1::text, $2 + 1, $3::int, 'x' || $4
SELECT $1 AS a UNION SELECT 1
-- column lists
SELECT * FROM zoo.t AS x(one, two)
SELECT x.* FROM zoo.u AS x(a, b, c, d, e)
SELECT * FROM zoo.u AS x(a, b, c, d, e, f)
SELECT * FROM (SELECT 1, 'x', NULL, v, l, l || 'x' FROM zoo.t) AS q(a, b)
SELECT * FROM (SELECT 1 AS a, 2 AS a) q
SELECT q FROM (SELECT 1 AS a) q
SELECT q.q FROM (SELECT 1 AS q) q
SELECT q FROM (SELECT 1 AS q) q
SELECT (q).* FROM (SELECT 1 AS q) q
SELECT (q).* FROM (SELECT p AS q FROM zoo.t) q
SELECT (x).* FROM (SELECT p AS x, 1 AS y FROM zoo.t) z
SELECT (x).* FROM (SELECT t AS x, 1 AS y FROM zoo.t) z
SELECT x.* FROM (SELECT t AS x, 1 AS y FROM zoo.t) z
-- VALUES
VALUES (1, 'x'), (2, 'y')
VALUES (1, 'x'), (2.5, NULL)
VALUES (NULL), ('x')
VALUES (NULL), (1::bigint), (2)
VALUES ('x'::varchar), ('y'::text)
VALUES ('x'::char(2)), ('y'::text)
VALUES ('x'::char(2)), ('y')
VALUES ('x'::name), ('y'::text)
VALUES ('x'::name), ('y')
VALUES ('x'::zoo.label), ('y')
VALUES ('x'::zoo.label), ('y'::zoo.label)
VALUES ('x'::zoo.label), ('y'::text)
VALUES ('x'::zoo.short), ('y'::zoo.label)
VALUES ('sad'::zoo.mood), ('glad')
VALUES (1::smallint), (2::int), (3::bigint)
VALUES (1::smallint), (2::real)
VALUES (ARRAY[1]), ('{}')
VALUES (ROW(1, 2)), (ROW(3, 4))
SELECT * FROM (VALUES (1, 'x'::zoo.label), (2, 'y')) v
SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS v(a)
SELECT t.*, v.* FROM zoo.t, LATERAL (VALUES (t.p, t.l), (NULL, 'x')) v
SELECT v.* FROM zoo.u, LATERAL (VALUES (u.*), (1, 'x', 'y', 2, 'z')) v
-- set operations
SELECT v FROM zoo.t UNION SELECT 'x'
SELECT l FROM zoo.t UNION SELECT 'x'
SELECT l FROM zoo.t UNION ALL SELECT l FROM zoo.t
SELECT l FROM zoo.t UNION ALL SELECT v FROM zoo.t
SELECT s FROM zoo.t UNION ALL SELECT 'x'
SELECT 'x' UNION SELECT l FROM zoo.t
SELECT 'x' UNION SELECT 'y'
SELECT 'x' UNION SELECT NULL UNION SELECT 'y'::varchar
SELECT NULL UNION (SELECT NULL UNION SELECT 1)
SELECT i2 FROM zoo.t UNION SELECT i8 FROM zoo.t EXCEPT SELECT id FROM zoo.t
SELECT c FROM zoo.t UNION SELECT v FROM zoo.t
SELECT c FROM zoo.t UNION SELECT 'x'
SELECT n FROM zoo.t UNION SELECT v FROM zoo.t
SELECT v FROM zoo.t UNION SELECT n FROM zoo.t
SELECT id AS a, v AS b FROM zoo.t INTERSECT SELECT 1, 'x' ORDER BY 2
SELECT * FROM zoo.u UNION TABLE zoo.u
SELECT FROM zoo.t UNION ALL SELECT FROM zoo.u
VALUES (1) UNION SELECT i8 FROM zoo.t
SELECT p FROM zoo.t UNION ALL SELECT NULL
SELECT q FROM zoo.t UNION ALL SELECT p FROM zoo.t
SELECT q FROM zoo.t UNION ALL SELECT NULL
SELECT m FROM zoo.t UNION SELECT 'sad'
SELECT id FROM zoo.t UNION SELECT 1.5
SELECT d FROM zoo.t UNION SELECT ts FROM zoo.t
-- CTEs
WITH c AS (SELECT * FROM zoo.u) SELECT * FROM c
WITH c(a, b) AS (SELECT * FROM zoo.u) SELECT * FROM c, c AS d(x)
WITH c(a) AS (VALUES (1, 'x')) SELECT *, c FROM c
WITH c AS (SELECT 'x', NULL, l, (SELECT 1 AS z) FROM zoo.t) SELECT * FROM c
WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT * FROM r) SELECT * FROM r
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT *, r, n + 1 FROM r
WITH RECURSIVE r(n) AS (VALUES (1::bigint) UNION SELECT id FROM r, zoo.t) SELECT * FROM r
WITH RECURSIVE r(n) AS (SELECT l FROM zoo.t UNION SELECT n FROM r) SELECT * FROM r
WITH RECURSIVE r(n) AS (SELECT v FROM zoo.t UNION SELECT n FROM r) SELECT * FROM r
WITH RECURSIVE r(n, m) AS (SELECT 'x', NULL UNION ALL SELECT n, 'y' FROM r) SELECT * FROM r
WITH RECURSIVE r(a, b) AS (SELECT 1, 'x' UNION ALL SELECT a, b FROM r) SEARCH DEPTH FIRST BY a SET o SELECT * FROM r
WITH RECURSIVE r(a, b) AS (SELECT 1, 'x' UNION ALL SELECT a, b FROM r) SEARCH BREADTH FIRST BY a, b SET o SELECT * FROM r
WITH RECURSIVE r(a, b) AS (SELECT 1, 'x' UNION ALL SELECT a, b FROM r) CYCLE a SET c USING p SELECT * FROM r
WITH RECURSIVE r(a, b) AS (SELECT 1, 'x' UNION ALL SELECT a, b FROM r) CYCLE a SET c TO 'Y'::varchar DEFAULT 'N' USING p SELECT * FROM r
WITH RECURSIVE r(a, b) AS (SELECT 1, 'x' UNION ALL SELECT a, b FROM r) SEARCH DEPTH FIRST BY a SET o CYCLE a SET c USING p SELECT r.*, r FROM r
WITH RECURSIVE r(a) AS (SELECT 1, 'x' UNION ALL SELECT r.* FROM r) SEARCH DEPTH FIRST BY a SET o CYCLE a SET c USING p SELECT * FROM r AS s(one, two, three)
WITH c AS (INSERT INTO zoo.u DEFAULT VALUES RETURNING *) SELECT * FROM c
WITH c(one) AS (INSERT INTO zoo.u DEFAULT VALUES RETURNING *, u, 'x', NULL) SELECT * FROM c
WITH c AS (UPDATE zoo.t SET v = 'x' RETURNING p, (p).*, (t).q, ctid) SELECT *, (p).a FROM c
WITH c AS (DELETE FROM zoo.t USING zoo.u WHERE false RETURNING *) SELECT * FROM c
-- joins
SELECT * FROM zoo.t JOIN zoo.u USING (id)
SELECT * FROM zoo.t JOIN zoo.u USING (v, id)
SELECT * FROM zoo.t LEFT JOIN zoo.u USING (tenant_id, v)
SELECT * FROM zoo.t RIGHT JOIN zoo.u USING (v, tenant_id)
SELECT * FROM zoo.t FULL JOIN zoo.u USING (v, id)
SELECT id, v, tenant_id FROM zoo.t FULL JOIN zoo.u USING (v, id, tenant_id)
SELECT * FROM zoo.t NATURAL JOIN zoo.u
SELECT * FROM zoo.u NATURAL JOIN zoo.t
SELECT * FROM zoo.u NATURAL LEFT JOIN zoo.wide
SELECT * FROM zoo.wide NATURAL RIGHT JOIN zoo.u
SELECT * FROM zoo.wide NATURAL JOIN zoo.t
SELECT id, tenant_id, n FROM zoo.wide NATURAL JOIN zoo.t
SELECT id, tenant_id, n FROM zoo.wide NATURAL LEFT JOIN zoo.t
SELECT id, tenant_id, n FROM zoo.wide NATURAL RIGHT JOIN zoo.t
SELECT id, tenant_id, n FROM zoo.wide NATURAL FULL JOIN zoo.t
SELECT id, tenant_id, n FROM zoo.t NATURAL FULL JOIN zoo.wide
SELECT * FROM zoo.u NATURAL FULL JOIN zoo.wide NATURAL JOIN zoo.t
SELECT u.*, wide.*, id FROM zoo.u JOIN zoo.wide USING (id)
SELECT j.* FROM (zoo.u JOIN zoo.wide USING (id)) AS j
SELECT * FROM (zoo.u JOIN zoo.wide USING (id)) AS j(one, two, three)
SELECT j, j.one FROM (zoo.u JOIN zoo.wide USING (id)) AS j(one, two, three)
SELECT * FROM (zoo.u CROSS JOIN zoo.wide) AS j(a, b, c)
SELECT k.*, * FROM zoo.u JOIN zoo.wide USING (id, tenant_id) AS k
SELECT k, k.id, (k).id FROM zoo.u JOIN zoo.wide USING (id) AS k
SELECT * FROM zoo.u a JOIN zoo.u b USING (id) JOIN zoo.u c USING (id)
SELECT * FROM zoo.u a JOIN (zoo.u b JOIN zoo.wide c USING (tenant_id)) USING (tenant_id)
SELECT * FROM (zoo.u a JOIN zoo.wide b ON true) JOIN zoo.parent p ON true
SELECT * FROM zoo.u a, LATERAL (SELECT a.*, b.* FROM zoo.wide b) l
SELECT * FROM zoo.u a CROSS JOIN LATERAL zoo.two_out(a.x) AS f
SELECT * FROM zoo.none NATURAL JOIN zoo.u
SELECT * FROM zoo.parent NATURAL JOIN zoo.none, zoo.parts
SELECT * FROM (SELECT l AS k FROM zoo.t) a JOIN (SELECT v AS k FROM zoo.t) b USING (k)
SELECT * FROM (SELECT l AS k FROM zoo.t) a FULL JOIN (SELECT l AS k FROM zoo.t) b USING (k)
SELECT * FROM (SELECT c AS k FROM zoo.t) a FULL JOIN (SELECT v AS k FROM zoo.t) b USING (k)
SELECT * FROM (SELECT s AS k FROM zoo.t) a RIGHT JOIN (SELECT l AS k FROM zoo.t) b USING (k)
SELECT * FROM (SELECT 'x' AS k) a JOIN (SELECT v AS k FROM zoo.t) b USING (k)
-- functions in FROM
SELECT * FROM zoo.one_out()
SELECT * FROM zoo.one_out() AS f
SELECT * FROM zoo.one_out() AS f(x)
SELECT f, f.* FROM zoo.one_out() AS f
SELECT * FROM zoo.two_out(1)
SELECT * FROM zoo.two_out(1) AS f(x)
SELECT *, f, two_out FROM zoo.two_out(1) AS f(two_out)
SELECT * FROM zoo.in_out(1, 'x')
SELECT * FROM zoo.nameless_out()
SELECT * FROM zoo.nameless_out() AS n(a)
SELECT * FROM zoo.tab()
SELECT * FROM zoo.tab_one() AS f
SELECT * FROM zoo.rows()
SELECT * FROM zoo.rows() AS f(a, b)
SELECT f, (f).p, f.v, f.field FROM zoo.rows() AS f
SELECT * FROM zoo.pairs()
SELECT * FROM zoo.one_pair() AS f
SELECT * FROM zoo.paireds() AS f
SELECT * FROM zoo.out_pair()
SELECT * FROM zoo.records() AS r(a integer, b text)
SELECT * FROM zoo.records() AS (a integer, b zoo.label)
SELECT * FROM zoo.labels()
SELECT * FROM zoo.labels() AS f
SELECT * FROM zoo.same(1)
SELECT * FROM zoo.same('x'::zoo.label) AS f
SELECT * FROM zoo.same(ROW(1, 'x')::zoo.pair)
SELECT f.* FROM zoo.t, zoo.same(t) AS f
SELECT f.* FROM zoo.t, zoo.same(t.p) AS f
SELECT f.* FROM zoo.t, zoo.same_set(t.l) AS f
SELECT f.* FROM zoo.t, zoo.same_set(t.p) AS f
SELECT * FROM zoo.same_out(1)
SELECT * FROM zoo.same_out('x'::text) AS f(k)
SELECT * FROM zoo.compatible(1, 2.5)
SELECT * FROM zoo.twice(1)
SELECT * FROM zoo.twice('x'::text)
SELECT * FROM zoo.twice('x')
SELECT * FROM zoo.defaulted()
SELECT * FROM zoo.defaulted(b => 'x')
SELECT * FROM zoo.many(1, 2)
SELECT * FROM zoo.many(VARIADIC ARRAY[1])
SELECT * FROM zoo.nothing()
SELECT * FROM zoo.tab() WITH ORDINALITY
SELECT * FROM zoo.tab() WITH ORDINALITY AS f(a)
SELECT * FROM zoo.labels() WITH ORDINALITY AS f
SELECT * FROM ROWS FROM (zoo.tab(), zoo.labels(), zoo.rows())
SELECT * FROM ROWS FROM (zoo.tab(), zoo.labels()) WITH ORDINALITY AS f(a, b, c)
SELECT * FROM ROWS FROM (zoo.tab(), zoo.records() AS (a integer, b text), zoo.one_out()) AS f
SELECT * FROM ROWS FROM (zoo.one_out(), generate_series(1, 2)) AS f
SELECT f FROM ROWS FROM (zoo.one_out(), generate_series(1, 2)) AS f
SELECT * FROM unnest(ARRAY[1, 2])
SELECT * FROM unnest(ARRAY[1, 2], ARRAY['x']) AS u(a, b)
SELECT * FROM unnest(ARRAY[1, 2], ARRAY['x']) WITH ORDINALITY
SELECT f.* FROM zoo.t, unnest(t.parr) AS f
SELECT f.* FROM zoo.t, unnest(t.larr) AS f
SELECT f.* FROM zoo.t, unnest(t.arr, t.parr, t.larr) AS f
SELECT f.* FROM zoo.t, unnest(ARRAY[t.p]) AS f
SELECT f.* FROM zoo.t, unnest(ARRAY[t]) AS f
SELECT f.* FROM zoo.t, unnest(ARRAY[t.q]) AS f
SELECT f.* FROM zoo.t, unnest(ARRAY[t.l, 'x']) AS f
SELECT f.* FROM zoo.t, unnest(t.arr || 'x'::text) AS f
SELECT * FROM unnest('{a}'::zoo.label[]) AS x
SELECT * FROM generate_series(1::bigint, 2)
SELECT * FROM generate_series(1, 2.5) AS g
SELECT * FROM generate_series(now(), now(), '1 day') AS g(t)
SELECT * FROM generate_subscripts(ARRAY[1], 1)
SELECT * FROM jsonb_each('{}') AS e
SELECT * FROM jsonb_each_text('{}') AS e(k)
SELECT * FROM jsonb_array_elements('[]') AS e
SELECT * FROM jsonb_to_recordset('[]') AS r(a integer, b text)
SELECT * FROM json_to_record('{}') AS r(a zoo.label, b varchar(3))
SELECT * FROM jsonb_populate_record(NULL::zoo.pair, '{}')
SELECT * FROM jsonb_populate_recordset(NULL::zoo.t, '[]')
SELECT f.* FROM zoo.t, jsonb_populate_record(t, '{}') AS f
SELECT * FROM json_populate_record(ROW(1, 2), '{}') AS f(a integer, b integer)
SELECT * FROM regexp_matches('a', 'b')
SELECT * FROM string_to_table('a', ',')
SELECT * FROM pg_input_error_info('a', 'integer')
SELECT * FROM pg_get_keywords()
SELECT * FROM current_date
SELECT * FROM current_user AS u
SELECT * FROM current_schema
SELECT * FROM coalesce(1, 2) AS c
SELECT * FROM coalesce('x', 'y')
SELECT * FROM greatest(ROW(1, 'x')::zoo.pair, NULL)
SELECT * FROM nullif(1, 2)
SELECT * FROM CAST('x' AS zoo.label)
SELECT * FROM CAST(ROW(1, 'x') AS zoo.pair)
SELECT * FROM CAST(ROW(1, 'x') AS zoo.paired) AS f
SELECT * FROM xmltable('/a' PASSING '<a/>'::xml COLUMNS a text, o FOR ORDINALITY) AS x
SELECT f.* FROM zoo.t, LATERAL zoo.field(t) AS f
SELECT f.* FROM zoo.t, LATERAL zoo.fields(t) AS f
-- views, inheritance, partitions
SELECT * FROM zoo.plain
SELECT * FROM zoo.renamed
SELECT * FROM zoo.over
SELECT * FROM zoo.over AS o(x, y)
SELECT * FROM zoo.computed
SELECT * FROM zoo.unions
SELECT * FROM zoo.kept
SELECT renamed, (renamed).a FROM zoo.renamed
SELECT (p).b, l FROM zoo.plain
SELECT * FROM zoo.parent
SELECT * FROM ONLY zoo.parent
SELECT * FROM zoo.other
SELECT * FROM zoo.parts
SELECT * FROM zoo.part
SELECT parent, (parent).* FROM zoo.parent
SELECT "Odd Name", u."Odd Name" AS "another" FROM zoo.u
TABLE zoo.u
SELECT * FROM pg_class
SELECT oid, relname, reltype FROM pg_class
SELECT * FROM information_schema.tables
SELECT table_name, column_name, ordinal_position FROM information_schema.columns
-- RETURNING
INSERT INTO zoo.u (id) VALUES (1) RETURNING *
INSERT INTO zoo.u (id) VALUES (1)
INSERT INTO zoo.u AS x (id) VALUES (1) RETURNING x.*, x, id + 1, (SELECT 1 AS z), x.tableoid
INSERT INTO zoo.t (p) VALUES ((1, 'x')) RETURNING p, (p).*, (t.p).b, l, 'x', NULL
UPDATE zoo.t SET v = 'x' FROM zoo.u WHERE u.id = t.id RETURNING *
UPDATE zoo.t SET v = 'x' FROM zoo.u WHERE u.id = t.id RETURNING u.*, t.id
UPDATE zoo.t AS a SET v = 'x' RETURNING a.*, a
DELETE FROM zoo.t RETURNING *
DELETE FROM zoo.t USING zoo.u JOIN zoo.wide USING (id) RETURNING *
UPDATE zoo.parent SET a = 1 RETURNING *
UPDATE zoo.parts SET t = 'x' RETURNING *
INSERT INTO zoo.u SELECT * FROM zoo.u RETURNING v
INSERT INTO zoo.none DEFAULT VALUES RETURNING *
UPDATE zoo.u SET v = 'x' RETURNING old.*, new.*
UPDATE zoo.u SET v = 'x' RETURNING old, new.v, old.id, *
UPDATE zoo.u SET v = 'x' RETURNING WITH (OLD AS o, NEW AS n) o.*, n.id, u.v
DELETE FROM zoo.u RETURNING old.v, new.v
MERGE INTO zoo.u USING zoo.wide w ON w.id = u.id WHEN MATCHED THEN DELETE RETURNING *
MERGE INTO zoo.u USING zoo.wide w ON w.id = u.id WHEN MATCHED THEN DELETE RETURNING merge_action(), u.*, w.id
MERGE INTO zoo.u USING (SELECT 1 AS a) s ON false WHEN NOT MATCHED THEN INSERT (id) VALUES (s.a) RETURNING merge_action() AS x, s.*, u
MERGE INTO zoo.u USING zoo.wide w ON w.id = u.id WHEN MATCHED THEN DELETE RETURNING old.*, new.id, w.*
-- newer forms
SELECT * FROM JSON_TABLE('[]'::jsonb, '$[*]' COLUMNS (a integer PATH '$.a', o FOR ORDINALITY)) AS j
SELECT json_object('a': 1), json_array(1, 2), json_objectagg('a': 1), json_arrayagg(1), '{}' IS JSON
SELECT json_value('{}', '$.a'), json_query('{}', '$.a'), json_exists('{}', '$.a'), json_scalar(1), json('{}'), json_serialize('{}')
SELECT json_value('{}', '$.a' RETURNING integer), json_query('{}', '$.a' RETURNING text)
SELECT any_value(v), array_agg(l ORDER BY id) FROM zoo.t
SELECT * FROM zoo.u, (SELECT 1 AS a)
-- positions
SELECT v, id FROM zoo.u GROUP BY 1, 2 ORDER BY 2
SELECT DISTINCT ON (2) id, v FROM zoo.u ORDER BY 2
