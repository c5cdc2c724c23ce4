SELECT id, status, total FROM app.orders WHERE tenant_id = 'acme' AND id = {n};
SELECT email, full_name, segment FROM app.customers WHERE tenant_id = 'acme' AND id = {n};
SELECT name, price FROM app.products WHERE tenant_id = 'acme' AND sku = 'SKU-{n}' LIMIT 1;
SELECT count(*) AS open FROM app.open_orders WHERE tenant_id = 'acme' AND customer_id = {n};
