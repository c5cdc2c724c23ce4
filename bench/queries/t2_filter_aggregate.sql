SELECT status, count(*) AS orders, sum(total) AS revenue FROM app.orders
WHERE tenant_id = 'acme' AND created_at >= '2026-01-01' AND total > {n} GROUP BY status ORDER BY revenue DESC;
SELECT segment, count(*) FILTER (WHERE active) AS active, count(*) AS customers FROM app.customers
WHERE tenant_id = 'acme' AND country IN ('DE', 'US', 'JP') AND id < {n} GROUP BY segment HAVING count(*) > 3;
SELECT date_trunc('month', created_at) AS month, avg(total) AS average, max(total) AS largest FROM app.orders
WHERE tenant_id = 'acme' AND status <> 'cancelled' AND total BETWEEN 10 AND {n} GROUP BY 1 ORDER BY 1 LIMIT 24;
SELECT product_id, sum(qty) AS sold, round(sum(qty * price * (1 - discount)), 2) AS net FROM app.order_items
WHERE tenant_id = 'acme' AND qty >= 2 AND product_id <> {n} GROUP BY product_id ORDER BY net DESC LIMIT 20;
