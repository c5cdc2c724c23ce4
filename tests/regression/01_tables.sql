CREATE TABLE public.books (id int PRIMARY KEY, title text NOT NULL, price numeric(8,2) CHECK (price >= 0), tags text[] DEFAULT '{}', UNIQUE (title));

CREATE TABLE public.loans (book int REFERENCES public.books ON DELETE CASCADE, reader varchar(10), since date DEFAULT '2026-01-01', PRIMARY KEY (book, reader));

INSERT INTO public.books VALUES (1, 'Dune', 9.5, '{sf,sand}'), (2, 'Emma', 7, '{novel}'), (3, 'Ulysses', 12.25, DEFAULT);

INSERT INTO public.books (id, title) VALUES (1, 'Twice');

INSERT INTO public.books (id, title) VALUES (4, NULL);

INSERT INTO public.books (id, title, price) VALUES (4, 'Cheap', -1);

INSERT INTO public.books (id, title) VALUES (4, 'Dune');

INSERT INTO public.loans (book, reader) VALUES (1, 'ann'), (1, 'bob'), (3, 'ann');

INSERT INTO public.loans (book, reader) VALUES (99, 'ann');

INSERT INTO public.loans (book, reader) VALUES (2, 'a name that is too long');

INSERT INTO public.books (id, title, price) VALUES (2, 'Emma', 8) ON CONFLICT (id) DO UPDATE SET price = excluded.price RETURNING *;

INSERT INTO public.books (id, title) VALUES (2, 'Emma') ON CONFLICT DO NOTHING;

INSERT INTO public.books SELECT 10 + g, 'Volume ' || g, g FROM generate_series(1, 5) g RETURNING id, title;

UPDATE public.books SET price = price * 2 WHERE id > 10 RETURNING id, price;

UPDATE public.books b SET title = b.title || ' (lent)' FROM public.loans l WHERE l.book = b.id AND l.reader = 'bob';

UPDATE public.books SET id = 2 WHERE id = 3;

UPDATE public.books SET tags = array_append(tags, 'long') WHERE length(title) > 6;

DELETE FROM public.books WHERE id = 14 RETURNING title;

DELETE FROM public.books USING public.loans l WHERE l.book = books.id AND l.reader = 'nobody';

MERGE INTO public.books b USING (VALUES (2, 1), (77, 2)) v (id, price) ON b.id = v.id WHEN MATCHED THEN UPDATE SET price = v.price WHEN NOT MATCHED THEN INSERT VALUES (v.id, 'Merged', v.price);

SELECT * FROM public.books ORDER BY id;

SELECT count(*), min(price), max(price), avg(price) FROM public.books;

TABLE public.loans;

ALTER TABLE public.books ADD COLUMN pages int DEFAULT 100;

ALTER TABLE public.books ADD CONSTRAINT few_pages CHECK (pages < 50);

ALTER TABLE public.books RENAME COLUMN pages TO leaves;

ALTER TABLE public.books ALTER COLUMN leaves TYPE bigint USING leaves * 2;

SELECT leaves FROM public.books WHERE id = 1;

ALTER TABLE public.books DROP COLUMN leaves, DROP COLUMN nothing;

ALTER TABLE public.books DROP COLUMN leaves;

CREATE INDEX books_price ON public.books (price) WHERE price > 5;

CREATE INDEX IF NOT EXISTS books_price ON public.books (price);

CREATE TABLE public.copy_of AS SELECT id, title FROM public.books WHERE id < 3;

SELECT * FROM public.copy_of ORDER BY 1;

CREATE TABLE public.like_books (LIKE public.books INCLUDING ALL);

INSERT INTO public.like_books (id, title, price) VALUES (1, 'x', -5);

TRUNCATE public.copy_of;

SELECT count(*) FROM public.copy_of;

DROP TABLE public.books;

DROP TABLE IF EXISTS public.nothing_there;

DROP TABLE public.nothing_there;

COMMENT ON TABLE public.books IS 'what is read';

SELECT obj_description('public.books'::regclass);

CREATE SEQUENCE public.steps START 5 INCREMENT 3;

SELECT nextval('public.steps'), nextval('public.steps'), currval('public.steps');

SELECT setval('public.steps', 100), lastval();

CREATE TABLE public.made (id int GENERATED ALWAYS AS IDENTITY, twice int GENERATED ALWAYS AS (base * 2) STORED, base int);

INSERT INTO public.made (base) VALUES (4), (5) RETURNING *;

INSERT INTO public.made (id, base) VALUES (1, 1);

INSERT INTO public.made (twice) VALUES (1);
