// A checklist in JavaScript: one line on the standard output for each item.

import { createRequire } from "node:module";
import process from "node:process";

export const env = process.env;
export const require = createRequire(`${env.PGMOAT_DRIVERS}/`);

export const sql = {
  types:
    "SELECT true, 7::int2, (-2147483648)::int4, 9007199254740993::int8, 1.5::float8, 12.50::numeric(10,2), 'Grüße'::text," +
    " (date '2026-01-31')::text, time '12:30:00', '00000000-0000-0000-0000-000000000042'::uuid",
  id: "SELECT id FROM app.orders WHERE tenant_id = $1 AND id = $2",
  zero: "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2",
  denied: "SELECT secret FROM internal.api_keys",
  refused: "SELECT id FROM app.orders WHERE id = 4242",
  long: "SELECT count(*) FROM generate_series(1, 2000000000)",
  hour: "SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI') AS hour",
  many: "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 5000",
  twenty: "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 20",
  copyOut: "COPY (SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 8) TO STDOUT",
  copyIn: "COPY app.notes (tenant_id, body) FROM STDIN",
};

export const bytes = Buffer.from(Array.from({ length: 1 << 20 }, (_, at) => at % 256));
export const evens = (to) => Array.from({ length: to }, (_, at) => 2 * at + 2);
export const line = (values) => values.map((value) => (value === null ? "null" : String(value))).join(" ");
export const sum = (numbers) => numbers.reduce((all, number) => all + Number(number), 0);
export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// The SQLSTATE of what fails, or what comes of it.
export async function code(running) {
  try {
    return await running;
  } catch (error) {
    return error.code ?? error;
  }
}

export async function run(items) {
  for (const [name, item] of Object.entries(items)) {
    try {
      console.log(`${name}\t${await item()}`);
    } catch (error) {
      console.error(error);
      console.log(`${name}\tsurprise: ${String(error).split("\n")[0]}`);
    }
  }
}
