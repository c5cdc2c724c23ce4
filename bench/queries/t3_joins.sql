SELECT o.id, o.total, c.full_name, c.country FROM app.orders o
JOIN app.customers c ON c.id = o.customer_id AND c.tenant_id = o.tenant_id
WHERE o.tenant_id = 'acme' AND o.total > {n} AND c.active ORDER BY o.total DESC LIMIT 50;
SELECT c.country, n.name, count(DISTINCT o.id) AS orders, sum(i.qty * i.price) AS gross FROM app.customers c
JOIN app.countries n ON n.iso2 = c.country
JOIN app.orders o ON o.customer_id = c.id AND o.tenant_id = c.tenant_id
JOIN app.order_items i ON i.order_id = o.id AND i.tenant_id = o.tenant_id
WHERE c.tenant_id = 'acme' AND o.id > {n} GROUP BY c.country, n.name ORDER BY gross DESC;
SELECT w.name, s.shipped_at::date AS day, count(*) AS parcels FROM app.shipments s
JOIN app.warehouses w ON w.tenant_id = s.tenant_id AND w.id = s.warehouse_id
LEFT JOIN app.orders o ON o.id = s.order_id AND o.tenant_id = s.tenant_id
WHERE s.tenant_id = 'acme' AND s.id > {n} AND o.status IN ('shipped', 'paid') GROUP BY 1, 2 ORDER BY 2, 1;
SELECT p.sku, p.name, coalesce(sum(i.qty), 0) AS sold FROM app.products p
LEFT JOIN app.order_items i ON i.product_id = p.id AND i.tenant_id = p.tenant_id AND i.tenant_id = 'acme'
WHERE p.tenant_id = 'acme' AND p.price < {n} GROUP BY p.sku, p.name ORDER BY sold DESC, p.sku LIMIT 25;
