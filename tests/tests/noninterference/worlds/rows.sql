-- Rows of one world, made of `seeds`: one line per tenant and number k. Our own rows depend on k alone, so that they
-- are the same in every world; others' vary by h. `base` keeps others' keys apart from ours where keys must differ.
-- Some of our orders name a customer of another tenant's, as a key without the tenant column lets them: where that
-- tenant is removed they hang, which no valid key would allow; hence the triggers that check keys are off.
SET session_replication_role = replica;
INSERT INTO app.customers (id, tenant_id, email, full_name, ssn, phone, country, segment, active, profile, tags, created_at)
SELECT base + k, t, 'user' || k || CASE WHEN h % 4 = 0 THEN '@x' ELSE '@y' END, (ARRAY['Ann', 'Bob', 'Ann', 'acme', ''])[1 + h % 5],
       CASE WHEN h % 3 = 0 THEN NULL ELSE '00' || h % 4 END, CASE WHEN h % 4 = 1 THEN NULL ELSE '+1555' || k % 3 END,
       (ARRAY['DE', 'US', NULL])[1 + h % 3], (ARRAY['smb', 'mid', 'ent'])[1 + h % 3], h % 3 <> 0,
       jsonb_build_object('score', h % 4, 'ref', CASE WHEN h % 5 <> 0 THEN 'r' || h % 3 END), ARRAY['t' || h % 3, 'all'],
       timestamptz '2026-01-01 00:00+00' + (h % 6) * interval '1 day'
FROM seeds ORDER BY md5(world || t || k);
INSERT INTO app.products (id, tenant_id, sku, name, price)
SELECT base + k, t, 'SKU-' || k, 'Product ' || h % 4, (ARRAY[0.00, 0.99, 10.00, 99.50])[1 + h % 4] FROM seeds ORDER BY md5(world || k || t);
INSERT INTO app.orders (id, tenant_id, customer_id, status, total, note, created_at, updated_at)
SELECT base + k, t, CASE WHEN own AND k > 5 THEN CASE WHEN free THEN k + 2 ELSE 96 + k END WHEN NOT own AND h % 3 = 0 THEN 1 + h % 7 ELSE base + 1 + (k * 2 + h) % seats END,
       (ARRAY['new', 'paid', 'shipped', 'cancelled'])[1 + h % 4]::app.order_status,
       CASE WHEN NOT own AND h % 6 = 5 THEN 12345.67 ELSE (ARRAY[0.00, 10.50, 20.00, 99.99, 10.50])[1 + h % 5] END, CASE WHEN own THEN (ARRAY[NULL, '7', '12'])[1 + h % 3] ELSE (ARRAY[NULL, 'gift', 'rush', '', '7', 'acme', 'x\'])[1 + h % 7] END,
       timestamptz '2026-01-01 00:00+00' + (h % 5) * interval '7 hours', CASE WHEN h % 2 = 0 THEN timestamptz '2026-02-01 00:00+00' END
FROM seeds ORDER BY md5(t || world || k);
INSERT INTO app.order_items (tenant_id, order_id, line_no, product_id, qty, price, discount)
SELECT t, CASE WHEN NOT own AND h % 4 = 1 AND n = 1 THEN 1 + h % 7 ELSE base + k END, n + CASE WHEN NOT own AND h % 4 = 1 AND n = 1 THEN 10 * k + rank ELSE 0 END,
       CASE WHEN NOT own AND h % 5 = 2 THEN 1 + h % 7 ELSE base + 1 + (k + n) % seats END, (h + n) % 4 + CASE WHEN own THEN 1 ELSE 0 END, (ARRAY[0.00, 0.99, 10.00])[1 + (h + n) % 3], ((h + n) % 4) * 0.05
FROM seeds, generate_series(1, 2) n WHERE k <= 4 ORDER BY md5(k || world || t), n;
INSERT INTO app.warehouses SELECT base + k, t, 'Warehouse ' || h % 3 FROM seeds WHERE k <= 5 AND t IS NOT NULL ORDER BY md5(world || k || t);
INSERT INTO app.warehouses SELECT base + k, t, 'Warehouse 0' FROM seeds WHERE k <= 5 AND t IS NULL;
INSERT INTO app.shipments (id, tenant_id, warehouse_id, order_id, shipped_at)
SELECT base + k, t, base + 1 + k % least(5, seats), CASE WHEN NOT own AND h % 3 = 1 THEN 1 + h % 7 ELSE base + k END, timestamptz '2026-01-02 00:00+00' + (h % 3) * interval '1 day'
FROM seeds ORDER BY md5(world || t || k);
INSERT INTO app.events SELECT t, timestamptz '2025-12-30 00:00+00' + (h % 6) * interval '1 day', (ARRAY['login', 'view', 'buy'])[1 + h % 3], jsonb_build_object('n', h % 5)
FROM seeds ORDER BY md5(world || t || k);
INSERT INTO app.notes (id, tenant_id, body) SELECT base + k, t, 'note ' || h % 4 FROM seeds ORDER BY md5(world || t || k);
INSERT INTO app.pinned_notes (id, tenant_id, body, pinned_by) SELECT CASE WHEN own THEN 40 ELSE 0 END + k, t, 'note ' || h % 3, CASE WHEN h % 2 = 0 THEN 'boss' END FROM seeds WHERE k <= 3 ORDER BY md5(world || t || k);
INSERT INTO app."Audit Trail" SELECT t, timestamptz '2026-02-01 00:00+00' + (h % 4) * interval '1 minute', 'did ' || h % 3 FROM seeds ORDER BY md5(world || t || k);
INSERT INTO billing.invoices (id, account_no, order_id, amount, issued_on)
SELECT md5('inv' || (base + k))::uuid, a, CASE WHEN h % 5 = 0 THEN NULL WHEN NOT own AND h % 3 = 1 THEN 1 + h % 7 ELSE base + k END, (ARRAY[0.00, 10.50, 99.99])[1 + h % 3], date '2026-01-01' + h % 4
FROM seeds ORDER BY md5(world || t || k);
INSERT INTO billing.payments (id, account_no, invoice_id, amount, paid_at)
SELECT md5('pay' || (base + k))::uuid, a, CASE WHEN NOT own AND h % 3 = 2 THEN md5('inv' || 1 + h % 7)::uuid ELSE md5('inv' || (base + 1 + h % seats))::uuid END,
       (ARRAY[0.00, 10.50, 20.00])[1 + h % 3], timestamptz '2026-01-03 00:00+00' + (h % 3) * interval '1 day'
FROM seeds ORDER BY md5(world || t || k);
INSERT INTO more.devices SELECT base + k, u, CASE WHEN h % 3 = 0 THEN 'acme' ELSE t END, 'label ' || k, h % 4 FROM seeds ORDER BY md5(world || t || k);
INSERT INTO more.seats SELECT r, base + k, CASE WHEN h % 4 = 0 THEN NULL WHEN NOT own AND h % 2 = 0 THEN k ELSE base + k END, 'label ' || h % 3 FROM seeds WHERE has_realm ORDER BY md5(world || t || k);
INSERT INTO more.tickets SELECT t, base + k, CASE WHEN h % 3 = 1 THEN 1 + h % 7 ELSE base + k END, 'note ' || h % 4, h % 5 FROM seeds ORDER BY md5(world || t || k);
INSERT INTO more.ledger SELECT a, base + k, (ARRAY[0.00, 10.50, 99.99, NULL])[1 + h % 4], (ARRAY['acme', 'gift', NULL])[1 + h % 3] FROM seeds ORDER BY md5(world || t || k);
INSERT INTO more.cards SELECT a, base + k, 'label ' || h % 3 FROM seeds WHERE a < 30000 OR a IS NULL ORDER BY md5(world || t || k);
INSERT INTO more.labels SELECT base + k, t, (ARRAY['acme', 'globex', t])[1 + h % 3], (ARRAY['acme', 'ac', t])[1 + h % 3], (ARRAY['acme', 'acme2', t, NULL])[1 + h % 4], (ARRAY[42.00, 0.00])[1 + h % 2],
       alike, ARRAY[alike, alike], ROW(alike, h % 3)::more.marked FROM (SELECT *, (ARRAY['acme', 'ACME', t])[1 + h % 3] AS alike FROM seeds) seeds ORDER BY md5(world || t || k);
INSERT INTO more.halls SELECT t, 100 * rank + k, 'hall ' || h % 3 FROM seeds WHERE k <= 4 AND t IS NOT NULL ORDER BY md5(world || t || k);
INSERT INTO more.racks SELECT t, 100 * rank + k, 100 * rank + k FROM seeds WHERE k <= 4 AND (own OR h % 2 = 0) AND t IS NOT NULL;
INSERT INTO more.racks SELECT NULL, 100 * rank + 50 + k, k FROM seeds WHERE k <= 4 AND NOT own;
INSERT INTO more.codes SELECT t, code, 'name ' || h % 3 FROM (SELECT *, CASE WHEN own THEN 'C' ELSE 'c' END || k || repeat('r', rank - 1) AS code FROM seeds) seeds
WHERE k <= 4 AND t IS NOT NULL ORDER BY md5(world || t || k);
INSERT INTO more.coded SELECT t, 100 * rank + k, CASE WHEN own THEN 'C' ELSE 'c' END || k || repeat('r', rank - 1) FROM seeds WHERE k <= 4 AND t IS NOT NULL;
INSERT INTO more.parcels SELECT t, 100 * rank + k, CASE WHEN own THEN CASE WHEN k > 3 THEN 100 + k ELSE k END ELSE base + 1 END FROM seeds WHERE k <= 5 AND t IS NOT NULL;
INSERT INTO more.crates SELECT t, 100 * rank + k, CASE WHEN own THEN CASE WHEN k > 3 THEN 100 + k ELSE k END ELSE base + 1 END FROM seeds WHERE k <= 5 AND t IS NOT NULL;
INSERT INTO more.crates_old SELECT t, 100 * rank + 50 + k, CASE WHEN own THEN CASE WHEN k > 3 THEN 100 + k ELSE k END ELSE base + 1 END FROM seeds WHERE k <= 5 AND t IS NOT NULL;
INSERT INTO more.grades SELECT r::text::app.grade, 100 * rank + k, 'label ' || h % 3 FROM seeds WHERE k <= 5 AND r IS NOT NULL;
INSERT INTO more.tariffs VALUES (1, 'one'), (2, 'two');
INSERT INTO more.tariffs_own SELECT 100 * rank + k, 'own ' || h % 3, t FROM seeds WHERE k <= 3 AND t IS NOT NULL;
INSERT INTO more.owned SELECT 100 * rank + k, t FROM seeds WHERE k <= 3 AND t IS NOT NULL;
INSERT INTO more.depots SELECT t, k, 'note ' || h % 4 FROM seeds WHERE t IS NOT NULL ORDER BY md5(world || t || k);
INSERT INTO more.bins SELECT t, k, 1 + (k * 2 + h) % seats FROM seeds WHERE t IS NOT NULL ORDER BY md5(world || t || k);
RESET session_replication_role;
