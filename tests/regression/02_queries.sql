SELECT 1 AS one, 'two' AS two, NULL AS three, 4.0 AS four, true AS five;

SELECT 'it''s' AS quoted, E'tab\there' AS escaped, U&'d\0061ta' AS unicode, $$dollar$$ AS dollar;

SELECT 1 + 1, 7 / 2, 7 % 4, 2 ^ 10, -3, @ -5, |/ 16, 5 & 3, 5 | 3, 5 # 3, ~1, 1 << 4;

SELECT 1 / 0;

SELECT 1::numeric / 3, round(2.5), round(-2.567, 2), trunc(2.9), ceil(1.1), floor(-1.1);

SELECT 'a' || 'b' || NULL, concat('a', NULL, 'b'), 'abc' LIKE 'a%', 'abc' ~ '^a.c$', 'ABC' ILIKE 'abc', 'abc' SIMILAR TO '(a|b)%';

SELECT CASE WHEN 1 > 2 THEN 'no' WHEN 2 > 1 THEN 'yes' ELSE 'other' END, coalesce(NULL, 'x'), nullif(1, 1), greatest(1, 3, 2), least(1, NULL, 2);

SELECT g, g * g AS square FROM generate_series(1, 5) g WHERE g <> 3 ORDER BY g DESC;

SELECT g FROM generate_series(1, 10) g LIMIT 3 OFFSET 4;

SELECT g FROM generate_series(1, 10) g ORDER BY g % 3, g FETCH FIRST 4 ROWS WITH TIES;

SELECT DISTINCT g % 3 AS rest FROM generate_series(1, 9) g ORDER BY 1;

SELECT DISTINCT ON (g % 3) g FROM generate_series(1, 9) g ORDER BY g % 3, g DESC;

SELECT g % 2 AS odd, count(*), sum(g), string_agg(g::text, ',' ORDER BY g) FROM generate_series(1, 7) g GROUP BY 1 HAVING count(*) > 1 ORDER BY 1;

SELECT a, b, count(*) FROM (VALUES (1, 1), (1, 2), (2, 1)) v (a, b) GROUP BY ROLLUP (a, b) ORDER BY a NULLS LAST, b NULLS LAST;

SELECT a, b, count(*), grouping(a, b) FROM (VALUES (1, 1), (1, 2), (2, 1)) v (a, b) GROUP BY CUBE (a, b) ORDER BY 1 NULLS FIRST, 2 NULLS FIRST;

SELECT a, count(*) FILTER (WHERE b > 1) FROM (VALUES (1, 1), (1, 2), (2, 3)) v (a, b) GROUP BY GROUPING SETS ((a), ()) ORDER BY 1 NULLS LAST;

SELECT x.a, y.b FROM (VALUES (1), (2), (3)) x (a) LEFT JOIN (VALUES (2, 'two'), (3, 'three')) y (a, b) ON x.a = y.a ORDER BY 1;

SELECT * FROM (VALUES (1), (2)) x (a) FULL JOIN (VALUES (2), (3)) y (a) USING (a) ORDER BY a;

SELECT * FROM (VALUES (1), (2)) x (a) CROSS JOIN LATERAL (SELECT x.a * 10 AS ten) t NATURAL JOIN (VALUES (1, 'n')) z (a, n);

SELECT 1 UNION SELECT 2 UNION SELECT 1 ORDER BY 1;

SELECT 1 UNION ALL SELECT 1 EXCEPT SELECT 2;

SELECT * FROM generate_series(1, 5) INTERSECT SELECT * FROM generate_series(3, 9) ORDER BY 1;

SELECT (SELECT max(g) FROM generate_series(1, 4) g), EXISTS (SELECT 1 WHERE false), 3 IN (1, 2, 3), 3 = ANY (ARRAY[1, 2]), 3 > ALL (SELECT 1);

SELECT (SELECT g FROM generate_series(1, 2) g);

WITH RECURSIVE down (n) AS (SELECT 5 UNION ALL SELECT n - 1 FROM down WHERE n > 1) SELECT * FROM down;

WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT * FROM a, b;

WITH gone AS (DELETE FROM public.loans WHERE reader = 'ann' RETURNING *) SELECT count(*) FROM gone;

WITH RECURSIVE tree (id, parent) AS (VALUES (1, NULL), (2, 1), (3, 1), (4, 2)), walk AS (SELECT id, parent, 0 AS depth FROM tree WHERE parent IS NULL UNION ALL SELECT t.id, t.parent, w.depth + 1 FROM tree t JOIN walk w ON t.parent = w.id) SEARCH DEPTH FIRST BY id SET ord SELECT id, depth FROM walk ORDER BY ord;

SELECT g, row_number() OVER w, rank() OVER (ORDER BY g % 3), lag(g) OVER w, sum(g) OVER (ORDER BY g ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM generate_series(1, 6) g WINDOW w AS (ORDER BY g) ORDER BY g;

SELECT g, ntile(3) OVER (ORDER BY g), first_value(g) OVER (PARTITION BY g % 2 ORDER BY g), percent_rank() OVER (ORDER BY g), dense_rank() OVER (ORDER BY g / 2) FROM generate_series(1, 6) g ORDER BY g;

SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY g), mode() WITHIN GROUP (ORDER BY g % 3), stddev_pop(g), corr(g, g * 2), bool_and(g > 0), every(g > 1), array_agg(g ORDER BY g DESC) FROM generate_series(1, 5) g;

SELECT row_number() OVER (), * FROM (VALUES ('b'), ('a')) v (x) ORDER BY x COLLATE "C";

SELECT ROW(1, 'a') = ROW(1, 'a'), (1, 2) < (1, 3), ROW(1, NULL) IS NULL, (ROW(NULL, NULL)) IS NULL;

VALUES (1, 'one'), (2, 'two') ORDER BY 1 DESC;

SELECT * FROM nowhere;

SELECT nope FROM (VALUES (1)) v (x);

SELECT nope(1);

SELECT x FROM (VALUES (1)) a (x), (VALUES (2)) b (x);

SELECT count(*), g FROM generate_series(1, 2) g;

SELECT 'abc'::int;

SELECT 1 WHERE 'x';

SELEC 1;

SELECT 1 FROM;

SELECT 'open;

SELECT * FROM generate_series(1, 3) WITH ORDINALITY AS t (a, n);

SELECT * FROM ROWS FROM (generate_series(1, 2), unnest(ARRAY['a', 'b', 'c'])) AS t (a, b);

SELECT * FROM (VALUES (1, 2)) t (a, b) TABLESAMPLE BERNOULLI (100);

SELECT x FROM unnest(ARRAY[3, 1, 2]) x ORDER BY x USING >;

SELECT 5 BETWEEN 1 AND 10, 5 NOT BETWEEN SYMMETRIC 10 AND 1, 1 IS DISTINCT FROM NULL, NULL IS NOT DISTINCT FROM NULL, true IS UNKNOWN;

SELECT;

EXPLAIN (COSTS OFF) SELECT * FROM public.books WHERE id = 1;

EXPLAIN (COSTS OFF, VERBOSE) SELECT count(*) FROM generate_series(1, 10) g WHERE g > 5;
