COPY public.copy_of (id, title) FROM STDIN;
400	four hundred
401	\N
402	a tab\there
\.

COPY public.copy_of (id, title) FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ';');
id;title
410;"quoted ; inside"
411;
\.

COPY public.copy_of (id, title) FROM STDIN;
not a number	x
\.

COPY public.copy_of (id, title) FROM STDIN;
420
\.

COPY public.copy_of (id, title) FROM STDIN;
421	x	more
\.

COPY (SELECT id, title FROM public.copy_of WHERE id BETWEEN 400 AND 420 ORDER BY id) TO STDOUT;

COPY (SELECT id, title FROM public.copy_of WHERE id BETWEEN 400 AND 420 ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER, FORCE_QUOTE *);

COPY (SELECT 1, NULL, 'x') TO STDOUT WITH (NULL 'nothing', DELIMITER '|');

COPY (SELECT 1 / 0) TO STDOUT;

COPY public.nowhere TO STDOUT;

COPY public.copy_of TO '/nowhere/at/all';

COPY public.copy_of FROM PROGRAM 'true';

COPY (SELECT g, repeat('x', 100) FROM generate_series(1, 50) g) TO STDOUT;

SELECT count(*) FROM public.copy_of WHERE id >= 400;
