"""asyncpg's loading of types: what it asks when it meets one that it does not know. Prints what comes back.

Usage: asyncpg_types.py DSN
"""

import asyncio
import sys

import asyncpg

OF_ACME = "FROM app.orders o WHERE o.tenant_id = 'acme' AND o.id < 8 ORDER BY o.id"
QUESTIONS = [
    f"SELECT o.status {OF_ACME}",
    f"SELECT ARRAY[o.status] {OF_ACME}",
    f"SELECT o {OF_ACME}",
    "SELECT array_agg(o ORDER BY o.id) FROM app.orders o WHERE o.tenant_id = 'acme' AND o.id < 8",
    "SELECT c.email FROM app.customers c WHERE c.tenant_id = 'acme' ORDER BY c.id LIMIT 3",
    "SELECT int4range(1, 5), tstzrange('2026-01-01+00', '2026-02-01+00'), ARRAY[numrange(1, 2)]",
    "SELECT int4multirange(int4range(1, 5)), range_agg(d) FROM (VALUES (daterange('2026-01-01', '2026-02-01'))) AS x (d)",
    "SELECT $1::app.order_status AS given",
    "SELECT $1::app.order_status[] AS given",
]
GIVEN = {"SELECT $1::app.order_status AS given": "paid", "SELECT $1::app.order_status[] AS given": ["paid", "new"]}


async def main(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        for round in range(2):
            for question in QUESTIONS:
                given = [GIVEN[question]] if question in GIVEN else []
                print(await connection.fetch(question, *given))
            prepared = await connection.prepare(f"SELECT o.status, o.total, o {OF_ACME}")
            print([(it.name, it.type.kind, it.type.name, it.type.schema) for it in prepared.get_attributes()])
            await connection.set_type_codec(
                "order_status", schema="app", encoder=str, decoder=str.upper, format="text"
            )
            await connection.set_type_codec(
                "jsonb", schema="pg_catalog", encoder=str, decoder=str, format="text"
            )
            print(await connection.fetch(f"SELECT o.status {OF_ACME}"))
            await connection.reset_type_codec("order_status", schema="app")
            await connection.reload_schema_state()
    finally:
        await connection.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
