WITH orders AS (
  SELECT o.id, o.tenant_id, o.customer_id, o.status, o.total, o.created_at FROM app.orders o
  WHERE o.tenant_id = 'acme' AND o.created_at >= '2026-01-01' AND o.created_at < '2027-01-01' AND o.total > {n}
), lines AS (
  SELECT i.order_id, sum(i.qty) AS units, sum(i.qty * i.price) AS gross, sum(i.qty * i.price * (1 - i.discount)) AS net
  FROM app.order_items i WHERE i.tenant_id = 'acme' GROUP BY i.order_id
), buyers AS (
  SELECT c.id, c.segment, c.country, c.created_at FROM app.customers c WHERE c.tenant_id = 'acme' AND c.active
)
SELECT b.segment, n.name AS country, date_trunc('quarter', o.created_at) AS quarter, count(DISTINCT o.id) AS orders,
       count(DISTINCT b.id) AS customers, sum(l.units) AS units, round(sum(l.gross), 2) AS gross, round(sum(l.net), 2) AS net,
       round(sum(l.gross - l.net), 2) AS discounts, round(avg(o.total), 2) AS average,
       sum(CASE WHEN o.status = 'cancelled' THEN 1 ELSE 0 END) AS cancelled,
       round(100.0 * sum(CASE WHEN o.status = 'cancelled' THEN 1 ELSE 0 END) / count(*), 1) AS cancelled_percent,
       rank() OVER (PARTITION BY date_trunc('quarter', o.created_at) ORDER BY sum(l.net) DESC) AS place
FROM orders o JOIN lines l ON l.order_id = o.id JOIN buyers b ON b.id = o.customer_id
JOIN app.countries n ON n.iso2 = b.country
WHERE l.units > 1 AND (b.segment = 'ent' OR b.segment = 'mid' OR l.gross > 100)
GROUP BY b.segment, n.name, date_trunc('quarter', o.created_at) HAVING count(*) > 2 ORDER BY quarter, net DESC LIMIT 200;
SELECT p.sku, p.name, r.revenue, r.units, r.orders, s.parcels,
       CASE WHEN r.units > 100 THEN 'high' WHEN r.units > 20 THEN 'middle' ELSE 'low' END AS demand
FROM app.products p
JOIN (SELECT i.product_id, sum(i.qty * i.price) AS revenue, sum(i.qty) AS units, count(DISTINCT i.order_id) AS orders
      FROM app.order_items i JOIN app.orders o ON o.id = i.order_id AND o.tenant_id = i.tenant_id
      WHERE i.tenant_id = 'acme' AND o.status IN ('paid', 'shipped') AND o.id > {n} GROUP BY i.product_id) r ON r.product_id = p.id
LEFT JOIN (SELECT i.product_id, count(*) AS parcels FROM app.shipments h
           JOIN app.order_items i ON i.order_id = h.order_id AND i.tenant_id = h.tenant_id
           WHERE h.tenant_id = 'acme' AND h.shipped_at > '2026-02-01' GROUP BY i.product_id) s ON s.product_id = p.id
WHERE p.tenant_id = 'acme' AND p.price BETWEEN 1 AND 400 AND p.name LIKE 'Product%' AND r.orders > 1
ORDER BY r.revenue DESC NULLS LAST, p.sku LIMIT 100;
WITH cohort AS (
  SELECT c.id AS customer_id, date_trunc('month', c.created_at) AS month FROM app.customers c WHERE c.tenant_id = 'acme'
), activity AS (
  SELECT o.customer_id, date_trunc('month', o.created_at) AS month, sum(o.total) AS spent FROM app.orders o
  WHERE o.tenant_id = 'acme' AND o.status IN ('paid', 'shipped') AND o.total >= {n}
  GROUP BY o.customer_id, date_trunc('month', o.created_at)
), sizes AS (SELECT month, count(*) AS size FROM cohort GROUP BY month)
SELECT k.month AS cohort, a.month AS active_in, s.size, count(DISTINCT a.customer_id) AS active, round(sum(a.spent), 2) AS spent,
       round(100.0 * count(DISTINCT a.customer_id) / nullif(s.size, 0), 1) AS kept,
       sum(sum(a.spent)) OVER (PARTITION BY k.month ORDER BY a.month) AS spent_so_far
FROM cohort k JOIN activity a ON a.customer_id = k.customer_id JOIN sizes s ON s.month = k.month
WHERE a.month >= k.month GROUP BY k.month, a.month, s.size ORDER BY k.month, a.month;
SELECT 'orders' AS what, count(*) AS rows, min(created_at)::date AS first, max(created_at)::date AS last, sum(total) AS amount
FROM app.orders WHERE tenant_id = 'acme' AND id > {n}
UNION ALL
SELECT 'shipments', count(*), min(shipped_at)::date, max(shipped_at)::date, NULL FROM app.shipments WHERE tenant_id = 'acme'
UNION ALL
SELECT 'customers', count(*), min(created_at)::date, max(created_at)::date, NULL FROM app.customers
WHERE tenant_id = 'acme' AND EXISTS (SELECT 1 FROM app.orders o WHERE o.customer_id = customers.id AND o.tenant_id = 'acme')
UNION ALL
SELECT 'best day', orders::bigint, day, day, revenue FROM (
  SELECT day, revenue, row_number() OVER (ORDER BY revenue DESC) AS place,
         (SELECT count(*) FROM app.orders o WHERE o.tenant_id = 'acme' AND o.created_at::date = d.day) AS orders
  FROM app.daily_revenue d WHERE d.tenant_id = 'acme') best WHERE place = 1
ORDER BY what LIMIT 10;
