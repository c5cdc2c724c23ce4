// postgres.js: it prepares everything, and sends what it is given at once in one pipeline.

import { bytes, code, env, evens, line, pause, require, run, sql as texts, sum } from "./checklist.mjs";
import fs from "node:fs";

const postgres = require("postgres");
const heard = [];
const options = { max: 1, onnotice: (notice) => heard.push(notice.code), fetch_types: true };
const sql = postgres(env.PGMOAT_DSN, options);
const note = () => "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'postgres.js')";
const notes = "SELECT count(*)::int AS count FROM app.notes WHERE tenant_id = 'acme' AND body = 'postgres.js'";
const forget = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'postgres.js'";
const order = (id, on = sql) => on`SELECT id FROM app.orders WHERE tenant_id = ${"acme"} AND id = ${id}`;

async function one(text, values = [], on = sql) {
  return Object.values((await on.unsafe(text, values))[0])[0];
}

async function briefly(dsn, more, work) {
  const other = postgres(dsn, { ...options, ...more });
  try {
    return await work(other);
  } finally {
    await other.end();
  }
}

await run({
  connect: () => briefly(env.PGMOAT_DSN, {}, (other) => one("SELECT 1", [], other)),
  tls: () => {
    const ssl = { ca: fs.readFileSync(env.PGMOAT_CA) };
    return briefly(env.PGMOAT_TLS_DSN.split("?")[0], { ssl }, (other) => one("SELECT 1", [], other));
  },
  types: async () => line((await sql.unsafe(texts.types).values())[0]),
  nulls: async () => line(Object.values((await sql`SELECT NULL::int AS a, NULL::text AS b, ${null}::text AS c`)[0])),
  arrays: async () => {
    const [{ a, b }] = await sql`SELECT ${sql.array([1, 2, null], 23)}::int[] AS a, ${["a", "b c"]}::text[] AS b`;
    // A null among numbers is NaN to it.
    return `${line(a).replaceAll(" ", ",").replace("NaN", "null")} ${b.join(",")}`;
  },
  json: async () => (await one(`SELECT '{"a": [1, 2]}'::jsonb`)).a[1],
  bytea: async () => {
    const [{ back }] = await sql`SELECT ${bytes}::bytea AS back`;
    return `${back.length} ${back.equals(bytes) ? "same" : "other"}`;
  },
  prepared: async () => {
    let all = 0;
    for (const id of evens(20)) all += Number((await order(id))[0].id);
    return all;
  },
  transaction: async () => {
    await code(
      sql.begin(async (sql) => {
        await sql.unsafe(note());
        throw new Error("rolled back");
      }),
    );
    const rolledBack = await one(notes);
    await sql.begin((sql) => sql.unsafe(note()));
    return `${rolledBack} ${(await sql.unsafe(forget)).count}`;
  },
  savepoint: async () => {
    await sql.begin(async (sql) => {
      await sql.unsafe(note());
      await code(
        sql.savepoint(async (sql) => {
          await sql.unsafe(note());
          throw new Error("rolled back");
        }),
      );
    });
    return (await sql.unsafe(forget)).count;
  },
  error: () => code(one(texts.zero)),
  syntax: () => code(one("SELEC 1")),
  "failed transaction": async () => {
    const codes = [];
    await code(
      sql.begin(async (sql) => {
        codes.push(await code(one(texts.zero, [], sql)));
        codes.push(await code(one("SELECT 1", [], sql)));
        throw new Error("rolled back");
      }),
    );
    return line([...codes, await one("SELECT 1")]);
  },
  denied: () => code(one(texts.denied)),
  refused: () => code(one(texts.refused)),
  cancel: async () => {
    const query = sql.unsafe(texts.long);
    const running = code(query.execute());
    await pause(200);
    query.cancel();
    return `${await running} ${await one("SELECT 1")}`;
  },
  timeout: async () => {
    await sql`SET statement_timeout = 100`;
    const said = await code(sql.unsafe(texts.long));
    await sql`RESET statement_timeout`;
    return `${said} ${await one("SELECT 1")}`;
  },
  setting: async () => {
    await sql`SET TimeZone = 'Asia/Tokyo'`;
    const hours = [await one(texts.hour), await one(texts.hour)];
    await sql`RESET TimeZone`;
    return line([...hours, await one(texts.hour)]);
  },
  notice: async () => {
    heard.length = 0;
    await sql.unsafe("ROLLBACK");
    return heard.join(" ");
  },
  rows: async () => {
    const rows = await sql.unsafe(texts.many);
    return `${rows.length} ${sum(rows.map((row) => row.id))}`;
  },
  "copy out": async () => {
    const stream = await sql.unsafe(texts.copyOut).readable();
    let all = "";
    for await (const chunk of stream) all += chunk;
    return all.trim().split("\n").length;
  },
  "copy in": () =>
    briefly(env.PGMOAT_OPS_DSN, {}, async (other) => {
      const stream = await other.unsafe(texts.copyIn).writable();
      await new Promise((done, failed) => {
        stream.on("finish", done).on("error", failed);
        stream.write("acme\tpostgres.js\n");
        stream.end("acme\tpostgres.js\n");
      });
      return (await other.unsafe(forget)).count;
    }),
  pool: () =>
    briefly(env.PGMOAT_DSN, { max: 20 }, async (pool) => {
      const answers = evens(20).flatMap((id) => Array.from({ length: 10 }, async () => Number((await order(id, pool))[0].id) === id));
      return (await Promise.all(answers)).filter(Boolean).length;
    }),
  pipelined: async () => sum((await Promise.all(evens(20).map((id) => order(id)))).map((rows) => rows[0].id)),
  cursor: async () => {
    const counts = [];
    for await (const rows of sql.unsafe(texts.twenty).cursor(5)) counts.push(rows.length);
    return line(counts);
  },
  described: async () => (await sql`SELECT id FROM app.orders WHERE tenant_id = ${"acme"}`.describe()).columns.map(({ name }) => name).join(),
  begin: async () => {
    // A transaction on a connection of its own among many, while others are busy.
    return briefly(env.PGMOAT_DSN, { max: 3 }, async (pool) => {
      await Promise.all([pool.begin((sql) => Promise.all([2, 4, 6].map((id) => order(id, sql)))), ...[2, 4].map((id) => order(id, pool))]);
      return one(notes, [], pool);
    });
  },
});
await sql.end();
