WITH monthly AS (
  SELECT tenant_id, date_trunc('month', created_at) AS month, sum(total) AS revenue FROM app.orders
  WHERE tenant_id = 'acme' AND total > {n} GROUP BY tenant_id, date_trunc('month', created_at)
)
SELECT month, revenue, lag(revenue) OVER (ORDER BY month) AS previous,
       round(100 * (revenue - lag(revenue) OVER (ORDER BY month)) / nullif(lag(revenue) OVER (ORDER BY month), 0), 1) AS growth
FROM monthly ORDER BY month;
WITH ranked AS (
  SELECT o.id, o.customer_id, o.total, row_number() OVER (PARTITION BY o.customer_id ORDER BY o.total DESC) AS place
  FROM app.orders o WHERE o.tenant_id = 'acme' AND o.status <> 'cancelled' AND o.id > {n}
)
SELECT r.customer_id, c.full_name, r.id, r.total FROM ranked r
JOIN app.customers c ON c.id = r.customer_id AND c.tenant_id = 'acme' WHERE r.place <= 3 ORDER BY r.customer_id, r.place LIMIT 100;
WITH spent AS (
  SELECT customer_id, sum(total) AS total, count(*) AS orders FROM app.orders WHERE tenant_id = 'acme' GROUP BY customer_id
), quartiles AS (
  SELECT customer_id, total, orders, ntile(4) OVER (ORDER BY total DESC) AS quartile FROM spent WHERE total > {n}
)
SELECT quartile, count(*) AS customers, round(avg(total), 2) AS average, sum(orders) AS orders FROM quartiles
GROUP BY quartile ORDER BY quartile;
WITH days AS (
  SELECT created_at::date AS day, count(*) AS orders, sum(total) AS revenue FROM app.orders
  WHERE tenant_id = 'acme' AND id < {n} GROUP BY 1
)
SELECT day, orders, revenue, sum(revenue) OVER (ORDER BY day) AS running,
       avg(revenue) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week FROM days ORDER BY day;
