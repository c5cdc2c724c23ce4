// node's pg, as its users use it: a pool, named statements, error.code.
//
// Usage: node node_pg_session.mjs DSN, with PGMOAT_DRIVERS naming the folder whose node_modules has pg (tests/install-drivers).
// PGMOAT_POLICED=1 adds what only the proxy refuses. Any surprise ends it with a stack and exit code 1.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import process from "node:process";

const { Client, Pool } = createRequire(`${process.env.PGMOAT_DRIVERS}/`)("pg");

const dsn = process.argv[2];
const order = "SELECT id, total FROM app.orders WHERE tenant_id = $1 AND id = $2";

const client = new Client({ connectionString: dsn });
await client.connect();
await parameters(client);
await preparedReuse(client);
await transactions(client);
await failures(client);
if (process.env.PGMOAT_POLICED) await refusals(client);
await parameters(client);
await client.end();

const pool = new Pool({ connectionString: dsn, max: 4 });
await Promise.all(Array.from({ length: 20 }, () => parameters(pool)));
await pool.end();

async function parameters(client) {
  const { rows } = await client.query(order, ["acme", 4242]);
  assert.deepEqual(rows.map((row) => row.id), ["4242"]); // bigint is text in JavaScript
  const none = await client.query("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 7");
  assert.equal(none.rowCount, 0);
}

async function preparedReuse(client) {
  for (let id = 2; id < 42; id += 2) {
    const { rows } = await client.query({ name: "order", text: order, values: ["acme", id] });
    assert.deepEqual(rows.map((row) => row.id), [String(id)]);
  }
}

async function transactions(client) {
  const insert = "INSERT INTO app.notes (tenant_id, body) VALUES ($1, $2)";
  await client.query("BEGIN");
  await client.query(insert, ["acme", "node"]);
  await client.query("SAVEPOINT s");
  await client.query(insert, ["acme", "node"]);
  await client.query("ROLLBACK TO s");
  await client.query("COMMIT");
  const { rowCount } = await client.query("DELETE FROM app.notes WHERE tenant_id = $1 AND body = $2", ["acme", "node"]);
  assert.equal(rowCount, 1);
}

async function failures(client) {
  const zero = "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
  await assert.rejects(client.query(zero), { code: "22012" });
  await assert.rejects(client.query("SELEC 1"), { code: "42601" });
  await client.query("BEGIN");
  await assert.rejects(client.query(zero), { code: "22012" });
  await assert.rejects(client.query(order, ["acme", 2]), { code: "25P02" });
  await client.query("ROLLBACK");
  await assert.rejects(client.query("SELECT secret FROM internal.api_keys"), { code: "42501" });
}

async function refusals(client) {
  await assert.rejects(client.query("SELECT id FROM app.orders WHERE id = 4242"), (error) => {
    assert.equal(error.code, "42501");
    assert.match(error.detail, /tenant_unproven/);
    assert.match(error.hint, /tenant_id/);
    assert.ok(Number(error.position) > 0);
    return true;
  });
  await assert.rejects(client.query(order, ["globex", 4241]), { code: "42501" });
}
