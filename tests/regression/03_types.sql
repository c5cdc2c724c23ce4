SELECT '2026-02-28'::date + 1, '2026-01-31'::date + interval '1 month', date '2026-03-01' - date '2026-01-01', extract(dow FROM date '2026-11-30');

SELECT timestamp '2026-11-30 12:34:56.789', timestamptz '2026-11-30 12:00+02' AT TIME ZONE 'UTC', time '23:59', interval '1 year 2 days 3:04:05';

SELECT date_trunc('hour', timestamp '2026-11-30 12:34:56'), age(timestamp '2026-11-30', timestamp '2020-01-15'), make_date(2026, 2, 3), to_char(timestamp '2026-11-30 15:00', 'YYYY-MM-DD HH24:MI Day');

SELECT to_date('30 Nov 2026', 'DD Mon YYYY'), to_timestamp(0) AT TIME ZONE 'UTC', to_number('1,234.5', '9,999.9'), to_char(1234.5, 'FM9G999D00');

SELECT '2026-02-30'::date;

SELECT 'infinity'::timestamp, '-infinity'::date, 'NaN'::numeric, 'Infinity'::float8, '-0'::float8;

SELECT 1.1::float4, 1e300::float8 * 10, 0.1 + 0.2, 0.1::float8 + 0.2::float8, 123456789012345678901234567890::numeric;

SELECT 1e400::float8;

SELECT 32768::smallint;

SELECT 2147483647 + 1;

SELECT 9223372036854775807 + 1;

SELECT 'true'::bool, 'off'::bool, 'maybe'::bool;

SELECT '\xdeadbeef'::bytea, length('\x00ff'::bytea), encode('abc', 'base64'), decode('YWJj', 'base64'), 'a'::bytea || '\x00'::bytea;

SELECT 'a'::char(3) || 'b', 'abc'::varchar(2), 'x'::"char", 'name'::name;

SELECT gen_random_uuid() IS NOT NULL, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, 'nope'::uuid;

SELECT inet '10.0.0.1/8', cidr '10.0.0.0/8', inet '10.1.2.3' << cidr '10.0.0.0/8', macaddr '08:00:2b:01:02:03', host(inet '::1');

SELECT point(1, 2), box '((0,0),(2,2))', circle '((0,0),1)', polygon '((0,0),(1,1),(2,0))', point(1, 1) <@ box '((0,0),(2,2))', point(0, 0) <-> point(3, 4);

SELECT B'1010' & B'0110', B'101'::bit(5), '11'::varbit, length(B'1010');

SELECT '12.34'::money, '$1,000.00'::money / 3;

SELECT ARRAY[1, 2, 3], '{a,"b c",NULL}'::text[], ARRAY[[1, 2], [3, 4]], '[2:3]={7,8}'::int[], '{}'::int[];

SELECT (ARRAY[1, 2, 3])[2], (ARRAY[1, 2, 3])[2:], array_length(ARRAY[1, 2], 1), cardinality(ARRAY[[1], [2]]), array_position(ARRAY['a', 'b'], 'b'), ARRAY[1, 2] || 3, ARRAY[1] @> ARRAY[1], ARRAY[1, 2] && ARRAY[2];

SELECT array_to_string(ARRAY[1, NULL, 3], ',', '*'), string_to_array('a,b,,c', ','), array_remove(ARRAY[1, 2, 1], 1), array_cat(ARRAY[1], ARRAY[2]), unnest(ARRAY[1, 2]);

SELECT '{1,2'::int[];

SELECT int4range(1, 5), '[1,5]'::int4range, int4range(1, 5) @> 3, int4range(1, 5) && int4range(4, 9), int4range(1, 5) * int4range(3, 9), isempty('empty'::int4range), lower(daterange('2026-01-01', '2026-02-01'));

SELECT '{[1,3), [5,7)}'::int4multirange, int4multirange(int4range(1, 3)) + int4multirange(int4range(2, 5)), range_merge('{[1,2),[5,6)}'::int4multirange);

SELECT int4range(5, 1);

SELECT '{"a": [1, {"b": null}], "c": "x"}'::json, '{"b": 1, "a": 2, "a": 3}'::jsonb;

SELECT '{"a": {"b": [10, 20]}}'::jsonb -> 'a' -> 'b' ->> 1, '{"a": 1}'::jsonb @> '{"a": 1}', '{"a": 1}'::jsonb ? 'a', '{"a": {"b": 2}}'::jsonb #>> '{a,b}', '{"a": 1, "b": 2}'::jsonb - 'a', '[1,2]'::jsonb || '3';

SELECT jsonb_set('{"a": 1}', '{b}', '2'), jsonb_insert('[1,3]', '{1}', '2'), jsonb_strip_nulls('{"a": null, "b": 1}'), jsonb_pretty('{"a": [1]}'), jsonb_typeof('[]'), jsonb_array_length('[1,2]');

SELECT jsonb_path_query('{"a": [1, 5, 9]}', '$.a[*] ? (@ > 3)'), jsonb_path_exists('{"a": 1}', '$.b'), '{"a": 5}'::jsonb @@ '$.a > 3';

SELECT * FROM jsonb_each('{"a": 1, "b": [2]}');

SELECT * FROM jsonb_to_recordset('[{"x": 1, "y": "a"}, {"x": 2}]') AS t (x int, y text);

SELECT json_build_object('a', 1, 'b', ARRAY[1, 2]), json_agg(g), json_object_agg(g, g * 2), to_jsonb(ROW(1, 'x')), row_to_json(ROW(1, 'x')) FROM generate_series(1, 2) g;

SELECT '{"a": }'::json;

SELECT to_tsvector('english', 'The quick brown foxes jumped'), to_tsquery('english', 'fox & jump'), to_tsvector('english', 'foxes') @@ to_tsquery('english', 'fox'), plainto_tsquery('english', 'quick fox');

SELECT ts_rank(to_tsvector('english', 'a fox and a fox'), to_tsquery('fox')), ts_headline('english', 'a quick fox', to_tsquery('fox')), 'cat:1A'::tsvector || 'dog:2'::tsvector, phraseto_tsquery('simple', 'quick fox');

SELECT to_tsquery('a &');

SELECT xmlelement(name a, xmlattributes(1 AS b), 'x'), xmlforest(1 AS a, 'b' AS c);

CREATE TYPE public.mood AS ENUM ('sad', 'ok', 'glad');

SELECT 'ok'::public.mood < 'glad'::public.mood, enum_range(NULL::public.mood), 'bad'::public.mood;

ALTER TYPE public.mood ADD VALUE 'fine' BEFORE 'glad';

SELECT enum_range(NULL::public.mood);

CREATE TYPE public.pair AS (a int, b text);

SELECT ROW(1, 'x')::public.pair, (ROW(1, 'x')::public.pair).b, '(2,"y z")'::public.pair;

CREATE DOMAIN public.positive AS int CHECK (VALUE > 0);

SELECT 5::public.positive, (-5)::public.positive;

SELECT cast('5' AS int), int '5', '5'::int::text::numeric, pg_typeof(1), pg_typeof('x'), pg_typeof(NULL::public.mood);

SELECT md5('a'), sha256('a'), upper('ä'), initcap('hello world'), lpad('x', 3, '-'), rtrim('x  '), split_part('a.b.c', '.', 2), translate('abc', 'ab', 'xy'), reverse('abc'), format('%s %I %L', 'a', 'b c', 'd''e');

SELECT regexp_replace('foo bar', '(\w+) (\w+)', '\2 \1'), regexp_matches('a1b2', '[a-z]\d', 'g'), regexp_split_to_array('a, b', ',\s*'), substring('foobar' FROM 'o(.)b'), position('b' IN 'abc'), overlay('abcd' PLACING 'x' FROM 2 FOR 2);

SELECT regexp_replace('a', '(', 'b');

SELECT chr(8364), ascii('€'), length('€uro'), octet_length('€uro'), convert_to('€', 'UTF8'), 'ä' < 'b' COLLATE "C", normalize('é', NFD) = 'é';

SELECT width_bucket(5, 0, 10, 4), gcd(12, 18), lcm(4, 6), factorial(5), sqrt(2), ln(1), exp(0), pi(), degrees(pi()), sign(-2), mod(7, 3), div(7, 2), scale(1.50), trim_scale(1.50);

SELECT sqrt(-1);
