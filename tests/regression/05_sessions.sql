BEGIN;

INSERT INTO public.copy_of VALUES (200, 'in a transaction');

SAVEPOINT one;

INSERT INTO public.copy_of VALUES (201, 'after a savepoint');

ROLLBACK TO one;

SELECT 1 / 0;

SELECT 'not run';

ROLLBACK TO one;

RELEASE one;

COMMIT;

SELECT count(*) FROM public.copy_of WHERE id IN (200, 201);

BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

INSERT INTO public.copy_of VALUES (202, 'refused');

COMMIT;

COMMIT;

ROLLBACK;

BEGIN;

BEGIN;

COMMIT AND CHAIN;

SHOW transaction_isolation;

ROLLBACK;

SAVEPOINT outside;

START TRANSACTION DEFERRABLE;

SET CONSTRAINTS ALL DEFERRED;

LOCK TABLE public.copy_of IN SHARE MODE;

ABORT;

SET TimeZone = 'Asia/Tokyo';

SELECT timestamptz '2026-11-30 00:00 UTC';

SET DateStyle = 'German';

SELECT date '2026-11-30';

SET IntervalStyle = 'iso_8601';

SELECT interval '1 day 2 hours';

SET bytea_output = 'escape';

SELECT '\x6100'::bytea;

SET extra_float_digits = -5;

SELECT 1.23456789::float8;

SET TimeZone = 'Nowhere/Land';

SET nothing.like_it = 'custom';

SHOW nothing.like_it;

SHOW nothing_else;

RESET ALL;

SHOW DateStyle;

BEGIN;

SET LOCAL work_mem = '77MB';

SHOW work_mem;

COMMIT;

SHOW work_mem;

SELECT set_config('my.own', 'x', false), current_setting('my.own'), current_setting('my.other', true);

PREPARE one (int) AS SELECT $1 * 2 AS twice;

EXECUTE one(21);

EXECUTE one('x');

PREPARE one AS SELECT 1;

EXECUTE nobody;

DEALLOCATE one;

DEALLOCATE one;

PREPARE two AS INSERT INTO public.copy_of VALUES ($1, $2) RETURNING *;

EXECUTE two(300, 'prepared');

DEALLOCATE ALL;

BEGIN;

DECLARE c SCROLL CURSOR FOR SELECT g, g * g FROM generate_series(1, 10) g;

FETCH 2 FROM c;

FETCH RELATIVE 2 FROM c;

FETCH ABSOLUTE -1 FROM c;

FETCH BACKWARD 2 FROM c;

MOVE FORWARD ALL IN c;

FETCH PRIOR FROM c;

CLOSE c;

FETCH c;

ROLLBACK;

BEGIN;

DECLARE h CURSOR WITH HOLD FOR SELECT id FROM public.books ORDER BY id;

COMMIT;

FETCH 3 FROM h;

CLOSE h;

DECLARE outside CURSOR FOR SELECT 1;

BEGIN;

DECLARE u CURSOR FOR SELECT id FROM public.copy_of ORDER BY id FOR UPDATE;

FETCH u;

UPDATE public.copy_of SET title = 'where current of' WHERE CURRENT OF u;

CLOSE ALL;

ROLLBACK;

LISTEN news;

UNLISTEN *;

NOTIFY news, 'nobody hears';

CREATE TEMP TABLE mine (x int) ON COMMIT DELETE ROWS;

INSERT INTO mine VALUES (1);

SELECT count(*) FROM mine;

CREATE TEMP TABLE mine (x int);

DISCARD TEMP;

SELECT * FROM mine;

DISCARD ALL;

SELECT pg_advisory_lock(1), pg_advisory_unlock(1), pg_advisory_unlock(1);

SELECT pg_try_advisory_xact_lock(2);

SELECT current_user, session_user, current_schemas(false);

SELECT txid_current() > 0, pg_backend_pid() > 0, version() LIKE 'PostgreSQL%';

SET statement_timeout = 50;

SELECT pg_sleep(10);

RESET statement_timeout;

SET client_min_messages = warning;

DROP TABLE IF EXISTS public.no_notice_now;

RESET client_min_messages;
