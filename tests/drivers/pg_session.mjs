// node's pg, with pg-cursor.

import { bytes, code, env, evens, line, pause, require, run, sql, sum } from "./checklist.mjs";

const { Client, Pool } = require("pg");
const Cursor = require("pg-cursor");
const note = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'pg')";
const notes = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'pg'";
const forget = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'pg'";

const main = await connected();

async function connected(connectionString = env.PGMOAT_DSN) {
  const client = new Client({ connectionString });
  await client.connect();
  return client;
}

async function one(text, values, client = main) {
  const { rows } = await client.query({ text, values, rowMode: "array" });
  return rows[0][0];
}

async function briefly(dsn, work) {
  const client = await connected(dsn);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function within(...texts) {
  for (const text of texts) await main.query(text);
}

await run({
  connect: () => briefly(env.PGMOAT_DSN, (client) => one("SELECT 1", [], client)),
  tls: () =>
    briefly(env.PGMOAT_TLS_DSN, (client) => {
      if (!client.connection.stream.encrypted) throw new Error("not encrypted");
      return one("SELECT 1", [], client);
    }),
  types: async () => line((await main.query({ text: sql.types, rowMode: "array" })).rows[0]),
  nulls: async () => {
    const { rows } = await main.query({ text: "SELECT NULL::int, NULL::text, $1::text", values: [null], rowMode: "array" });
    return line(rows[0]);
  },
  arrays: async () => {
    const { rows } = await main.query("SELECT $1::int[] AS a, $2::text[] AS b", [[1, 2, null], ["a", "b c"]]);
    return `${line(rows[0].a).replaceAll(" ", ",")} ${rows[0].b.join(",")}`;
  },
  json: async () => (await one(`SELECT '{"a": [1, 2]}'::jsonb`)).a[1],
  bytea: async () => {
    const back = await one("SELECT $1::bytea", [bytes]);
    return `${back.length} ${back.equals(bytes) ? "same" : "other"}`;
  },
  prepared: async () => {
    let all = 0;
    for (const id of evens(20)) {
      const { rows } = await main.query({ name: "order", text: sql.id, values: ["acme", id] });
      all += Number(rows[0].id);
    }
    return all;
  },
  transaction: async () => {
    await within("BEGIN", note, "ROLLBACK");
    const rolledBack = await one(notes);
    await within("BEGIN", note, "COMMIT");
    return `${rolledBack} ${(await main.query(forget)).rowCount}`;
  },
  savepoint: async () => {
    await within("BEGIN", note, "SAVEPOINT s", note, "ROLLBACK TO s", "COMMIT");
    return (await main.query(forget)).rowCount;
  },
  error: () => code(one(sql.zero)),
  syntax: () => code(one("SELEC 1")),
  "failed transaction": async () => {
    await main.query("BEGIN");
    const codes = [await code(one(sql.zero)), await code(one("SELECT 1"))];
    await main.query("ROLLBACK");
    return line([...codes, await one("SELECT 1")]);
  },
  denied: () => code(one(sql.denied)),
  refused: () => code(one(sql.refused)),
  cancel: async () => {
    const running = code(main.query(sql.long));
    await pause(200);
    // Its client has no method for it: a new one does it by the keys of the first.
    const { host, port } = main;
    const { Connection } = require("pg");
    const canceller = new Connection();
    canceller.on("connect", () => canceller.cancel(main.processID, main.secretKey));
    canceller.connect(port, host);
    return `${await running} ${await one("SELECT 1")}`;
  },
  timeout: async () => {
    await main.query("SET statement_timeout = 100");
    const said = await code(main.query(sql.long));
    await main.query("RESET statement_timeout");
    return `${said} ${await one("SELECT 1")}`;
  },
  setting: async () => {
    await main.query("SET TimeZone = 'Asia/Tokyo'");
    const hours = [await one(sql.hour), await one(sql.hour)];
    await main.query("RESET TimeZone");
    return line([...hours, await one(sql.hour)]);
  },
  notice: async () => {
    const heard = [];
    main.on("notice", (notice) => heard.push(notice.code));
    await main.query("ROLLBACK");
    return heard.join(" ");
  },
  rows: async () => {
    const { rows } = await main.query(sql.many);
    return `${rows.length} ${sum(rows.map((row) => row.id))}`;
  },
  "copy out": () => "- it leaves COPY to another package",
  "copy in": () => "- it leaves COPY to another package",
  pool: async () => {
    const pool = new Pool({ connectionString: env.PGMOAT_DSN, max: 20 });
    const answers = evens(20).flatMap((id) => Array.from({ length: 10 }, async () => Number(await one(sql.id, ["acme", id], pool)) === id));
    const right = (await Promise.all(answers)).filter(Boolean).length;
    await pool.end();
    return right;
  },
  named: async () => {
    const answers = evens(20).map((id) => main.query({ name: "order", text: sql.id, values: ["acme", id] }));
    return sum((await Promise.all(answers)).map(({ rows }) => rows[0].id));
  },
  "pg-cursor": async () => {
    const cursor = main.query(new Cursor(sql.twenty));
    const counts = [(await cursor.read(5)).length, (await cursor.read(5)).length, (await cursor.read(100)).length];
    await cursor.close();
    return line(counts);
  },
  "cursor, closed early": async () => {
    const cursor = main.query(new Cursor(sql.twenty));
    const count = (await cursor.read(5)).length;
    await cursor.close();
    return `${count} ${await one("SELECT 1")}`;
  },
});
await main.end();
