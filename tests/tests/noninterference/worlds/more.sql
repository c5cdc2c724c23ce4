-- What the lab has not: tenant columns of every family, decoy columns beside them, views of every shape.
CREATE SCHEMA more;
CREATE TYPE more.realm AS ENUM ('acme', 'globex', 'initech', 'ACME', 'acme2');

CREATE TABLE more.devices (id integer PRIMARY KEY, owner uuid NOT NULL, tenant_id text, label text, seen integer, UNIQUE (owner, label));
CREATE TABLE more.seats (realm more.realm NOT NULL, id integer NOT NULL, customer_id bigint, label text, PRIMARY KEY (realm, id));
CREATE TABLE more.tickets (
    tenant_id varchar NOT NULL, id integer NOT NULL, order_id bigint, title text, weight integer,
    PRIMARY KEY (tenant_id, id));
CREATE TABLE more.ledger (account_no bigint NOT NULL, id integer NOT NULL, amount numeric(12,2), memo text, PRIMARY KEY (account_no, id));
CREATE TABLE more.cards (account_no smallint NOT NULL, id integer NOT NULL, label text, PRIMARY KEY (account_no, id));
-- A collation in which 'ACME' is 'acme'.
CREATE COLLATION more.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
-- It comes with a domain, a field and an array, too.
CREATE DOMAIN more.loose AS text COLLATE more.ci;
CREATE DOMAIN more.plain AS text;
CREATE TYPE more.marked AS (t text COLLATE more.ci, n integer);
-- Columns that look like the tenant column and compare otherwise.
CREATE TABLE more.labels (
    id integer NOT NULL, tenant_id text NOT NULL, code char(10), nm name, other text, amount numeric(12,2),
    alike text COLLATE more.ci, alikes text[] COLLATE more.ci, mark more.marked);

-- A relation that all tenants share, with a child that they do not.
CREATE TABLE more.tariffs (id integer, name text);
CREATE TABLE more.tariffs_own (tenant_id text NOT NULL) INHERITS (more.tariffs);

-- A tenant column that is computed of another one.
CREATE TABLE more.owned (id integer, owner text, tenant_id text GENERATED ALWAYS AS (owner) STORED);

-- A key that is unique bytewise, and which is compared otherwise.
CREATE TABLE more.codes (tenant_id text NOT NULL, code text UNIQUE, name text, UNIQUE (tenant_id, code));
CREATE TABLE more.coded (tenant_id text NOT NULL, id integer PRIMARY KEY, code text COLLATE more.ci);
-- From 18 on it cannot be made.
DO $$ BEGIN IF current_setting('server_version_num')::int < 180000 THEN
    ALTER TABLE more.coded ADD FOREIGN KEY (tenant_id, code) REFERENCES more.codes (tenant_id, code);
END IF; END $$;

-- Keys that a policy may trust, of relations whose rows can be written by another name.
CREATE TABLE more.parcels (tenant_id text NOT NULL, id integer, customer_id bigint REFERENCES app.customers (id)) PARTITION BY LIST (id);
CREATE TABLE more.parcels_0 PARTITION OF more.parcels DEFAULT;
CREATE TABLE more.crates (tenant_id text NOT NULL, id integer, customer_id bigint REFERENCES app.customers (id));
CREATE TABLE more.crates_old (FOREIGN KEY (customer_id) REFERENCES app.customers (id)) INHERITS (more.crates);

-- A type with an equality of its own, by which a row is compared field by field.
CREATE TYPE app.grade AS ENUM ('acme', 'globex', 'initech', 'ACME', 'acme2');
CREATE TABLE more.grades (grade app.grade NOT NULL, id integer PRIMARY KEY, label text);
CREATE FUNCTION app.same_grade(app.grade, app.grade) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT lower($1::text) = lower($2::text) $$;
CREATE OPERATOR app.= (LEFTARG = app.grade, RIGHTARG = app.grade, FUNCTION = app.same_grade);
CREATE OPERATOR CLASS app.grade_ops FOR TYPE app.grade USING btree AS OPERATOR 3 app.= (app.grade, app.grade);

-- A column with fields.
CREATE TYPE more.pair AS (a integer, b text);

-- A key that carries the tenant and whose rest is not unique by itself.
CREATE TABLE more.depots (tenant_id text NOT NULL, id integer NOT NULL, name text, PRIMARY KEY (tenant_id, id));
CREATE TABLE more.bins (
    tenant_id text NOT NULL, id integer NOT NULL, depot_id integer, spot more.pair DEFAULT (1, 'x'), PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, depot_id) REFERENCES more.depots (tenant_id, id));

-- A key whose rest is unique by itself, and which nobody's rows need not keep: their tenant is NULL.
CREATE TABLE more.halls (tenant_id text NOT NULL, id integer PRIMARY KEY, name text, UNIQUE (tenant_id, id));
CREATE TABLE more.racks (
    tenant_id text, id integer PRIMARY KEY, hall_id integer,
    FOREIGN KEY (tenant_id, hall_id) REFERENCES more.halls (tenant_id, id));

CREATE VIEW more.v_halls AS SELECT tenant_id, id, name FROM more.halls;
CREATE VIEW more.v_pairs AS SELECT x.id AS a, y.tenant_id AS t, y.name AS b FROM more.v_halls x, more.v_halls y;
CREATE VIEW more.v_orders AS SELECT id, tenant_id, customer_id, status, total FROM app.orders;
CREATE VIEW more.v_twice AS SELECT v.tenant_id AS t, v.id, c.full_name FROM more.v_orders v LEFT JOIN app.customers c ON c.id = v.customer_id AND c.tenant_id = v.tenant_id;
CREATE VIEW more.v_loose AS SELECT o.tenant_id, o.id, c.full_name FROM app.orders o LEFT JOIN app.customers c ON c.id = o.customer_id;
CREATE VIEW more.v_distinct AS SELECT DISTINCT tenant_id, status FROM app.orders;
CREATE VIEW more.v_statuses AS SELECT DISTINCT status FROM app.orders;
CREATE VIEW more.v_ranked AS SELECT tenant_id, id, total, rank() OVER (PARTITION BY tenant_id ORDER BY total) AS place FROM app.orders;
CREATE VIEW more.v_ranked_all AS SELECT tenant_id, id, total, rank() OVER (ORDER BY total) AS place FROM app.orders;
CREATE VIEW more.v_union AS SELECT tenant_id, id, body FROM app.notes UNION ALL SELECT tenant_id, id, title FROM more.tickets;
CREATE VIEW more.v_both AS SELECT tenant_id, id, body FROM app.notes UNION SELECT tenant_id, id, name FROM app.warehouses;
CREATE VIEW more.v_except AS SELECT tenant_id, id FROM app.orders EXCEPT SELECT tenant_id, id FROM app.shipments;
CREATE VIEW more.v_first AS SELECT tenant_id, id, total FROM app.orders ORDER BY total, tenant_id, id LIMIT 5;
CREATE VIEW more.v_mine AS SELECT id, total FROM app.orders WHERE tenant_id = 'acme';
CREATE VIEW more.v_full AS SELECT o.tenant_id, o.id, c.tenant_id AS other_id, c.full_name FROM app.orders o FULL JOIN app.customers c ON c.id = o.customer_id AND c.tenant_id = o.tenant_id;
CREATE VIEW more.v_accounts AS SELECT i.account_no, i.order_id, p.amount FROM billing.invoices i JOIN billing.payments p ON p.invoice_id = i.id AND p.account_no = i.account_no;

-- What it is told is a notice; no policy allows it.
CREATE FUNCTION more.tell(what text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', what; RETURN false; END $$;

-- Fixed times instead of clocks, which are SQL's own freedom.
ALTER TABLE app.customers ALTER created_at SET DEFAULT '2026-03-01 00:00+00';
ALTER TABLE app.orders ALTER created_at SET DEFAULT '2026-03-01 00:00+00';
ALTER TABLE app.shipments ALTER shipped_at SET DEFAULT '2026-03-01 00:00+00';
ALTER TABLE app."Audit Trail" ALTER "When" SET DEFAULT '2026-03-01 00:00+00';
ALTER TABLE billing.invoices ALTER issued_on SET DEFAULT '2026-03-01';
ALTER TABLE billing.payments ALTER paid_at SET DEFAULT '2026-03-01 00:00+00';

GRANT USAGE ON SCHEMA more TO pgmoat_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA more TO pgmoat_service;
