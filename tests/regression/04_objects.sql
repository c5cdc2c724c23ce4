CREATE VIEW public.dear AS SELECT id, title FROM public.books WHERE price > 8;

SELECT * FROM public.dear ORDER BY id;

INSERT INTO public.dear VALUES (50, 'Through a view');

CREATE VIEW public.checked AS SELECT id, title, price FROM public.books WHERE price > 8 WITH CHECK OPTION;

INSERT INTO public.checked VALUES (51, 'Refused', 1);

CREATE OR REPLACE VIEW public.dear AS SELECT id FROM public.books;

CREATE MATERIALIZED VIEW public.counted AS SELECT count(*) AS n FROM public.books;

REFRESH MATERIALIZED VIEW public.counted;

SELECT n > 0 FROM public.counted;

CREATE FUNCTION public.add(a int, b int DEFAULT 1) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT a + b';

SELECT public.add(1), public.add(1, 2), public.add(b => 5, a => 1);

SELECT public.add('x');

CREATE FUNCTION public.noisy(x int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'x is %', x;
    IF x > 2 THEN
        RAISE WARNING 'large' USING DETAIL = 'more than two', HINT = 'less';
    END IF;
    IF x > 3 THEN
        RAISE EXCEPTION 'too large: %', x USING ERRCODE = 'P0042';
    END IF;
    RETURN x;
END $$;

SELECT public.noisy(1);

SELECT public.noisy(3);

SELECT public.noisy(4);

CREATE FUNCTION public.caught() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text;
    message text;
BEGIN
    PERFORM 1 / 0;
    RETURN 'never';
EXCEPTION WHEN division_by_zero THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
    RETURN state || ' ' || message;
END $$;

SELECT public.caught();

CREATE FUNCTION public.some_rows(n int) RETURNS TABLE (a int, b text) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..n LOOP
        a := i; b := repeat('x', i);
        RETURN NEXT;
    END LOOP;
    RETURN QUERY SELECT 0, 'end';
END $$;

SELECT * FROM public.some_rows(3);

CREATE FUNCTION public.dynamic(name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM public.%I', name) INTO STRICT n;
    RETURN n;
END $$;

SELECT public.dynamic('books') > 0;

SELECT public.dynamic('nowhere');

CREATE FUNCTION public.variadic_sum(VARIADIC n int[]) RETURNS bigint LANGUAGE sql AS 'SELECT sum(x) FROM unnest(n) x';

SELECT public.variadic_sum(1, 2, 3), public.variadic_sum(VARIADIC ARRAY[4, 5]);

CREATE PROCEDURE public.fill(n int, INOUT done int DEFAULT 0) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..n LOOP
        INSERT INTO public.copy_of VALUES (i, 'filled');
        done := done + 1;
    END LOOP;
END $$;

CALL public.fill(3);

CREATE PROCEDURE public.commits() LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.copy_of VALUES (100, 'kept');
    COMMIT;
    INSERT INTO public.copy_of VALUES (101, 'lost');
    ROLLBACK;
END $$;

CALL public.commits();

SELECT count(*), max(id) FROM public.copy_of;

CREATE FUNCTION public.log_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE '% on % by %', TG_OP, TG_TABLE_NAME, TG_WHEN;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    NEW.title := upper(NEW.title);
    RETURN NEW;
END $$;

CREATE TRIGGER log_it BEFORE INSERT OR UPDATE OR DELETE ON public.copy_of FOR EACH ROW EXECUTE FUNCTION public.log_change();

INSERT INTO public.copy_of VALUES (7, 'seven') RETURNING title;

DELETE FROM public.copy_of WHERE id = 7;

ALTER TABLE public.copy_of DISABLE TRIGGER log_it;

INSERT INTO public.copy_of VALUES (8, 'quiet') RETURNING title;

CREATE RULE no_nines AS ON INSERT TO public.copy_of WHERE new.id = 9 DO INSTEAD NOTHING;

INSERT INTO public.copy_of VALUES (9, 'ninth');

CREATE AGGREGATE public.product (int) (SFUNC = int4mul, STYPE = int, INITCOND = '1');

SELECT public.product(g) FROM generate_series(1, 5) g;

CREATE OPERATOR public.+++ (LEFTARG = int, RIGHTARG = int, FUNCTION = public.add);

SELECT 3 OPERATOR(public.+++) 4;

CREATE TABLE public.parts (day date, n int) PARTITION BY RANGE (day);

CREATE TABLE public.parts_2026 PARTITION OF public.parts FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');

INSERT INTO public.parts VALUES ('2026-05-05', 1), ('2026-06-06', 2) RETURNING tableoid::regclass;

INSERT INTO public.parts VALUES ('2030-01-01', 3);

CREATE TABLE public.parts_rest PARTITION OF public.parts DEFAULT;

INSERT INTO public.parts VALUES ('2030-01-01', 3);

UPDATE public.parts SET day = '2026-07-07' WHERE n = 3;

SELECT tableoid::regclass, * FROM public.parts ORDER BY n;

ALTER TABLE public.parts DETACH PARTITION public.parts_2026;

SELECT count(*) FROM public.parts;

CREATE TABLE public.listed (k text) PARTITION BY LIST (k);

CREATE TABLE public.listed_a PARTITION OF public.listed FOR VALUES IN ('a', 'b');

CREATE TABLE public.hashed (k int) PARTITION BY HASH (k);

CREATE TABLE public.hashed_0 PARTITION OF public.hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);

CREATE TABLE public.child () INHERITS (public.copy_of);

INSERT INTO public.child VALUES (500, 'heir');

SELECT count(*) > (SELECT count(*) FROM ONLY public.copy_of) FROM public.copy_of;

CREATE STATISTICS public.books_stats ON id, price FROM public.books;

ANALYZE public.books;

VACUUM public.books;

CREATE SCHEMA elsewhere;

GRANT SELECT ON public.books TO PUBLIC;

REVOKE ALL ON public.books FROM PUBLIC;

SELECT has_table_privilege('public.books', 'SELECT'), has_schema_privilege('internal', 'USAGE');

SELECT * FROM internal.api_keys;

SELECT * FROM pg_authid;

CREATE ROLE somebody;

SET ROLE postgres;

ALTER TABLE public.books ENABLE ROW LEVEL SECURITY;

CREATE POLICY cheap ON public.books USING (price < 10);

SELECT count(*) > 0 FROM public.books;

ALTER TABLE public.books DISABLE ROW LEVEL SECURITY;

DO $$ BEGIN RAISE NOTICE 'anonymous'; END $$;

DO $$ BEGIN PERFORM public.nowhere(); END $$;

CREATE EXTENSION nothing_like_it;

DROP FUNCTION public.add(int, int);

DROP FUNCTION public.add(int, int) CASCADE;

DROP SCHEMA elsewhere;
