"""asyncpg."""

import asyncio
import io
import json as json_module

import asyncpg
from checklist import *

ID = "SELECT id FROM app.orders WHERE tenant_id = $1 AND id = $2"
NOTE = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'asyncpg')"
NOTES = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'asyncpg'"
FORGET = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'asyncpg'"

loop = asyncio.new_event_loop()
main = loop.run_until_complete(asyncpg.connect(DSN))


def item(function):
    def called():
        return loop.run_until_complete(function())

    called.__name__ = function.__name__
    return called


async def code(sql, connection=main, **more):
    try:
        return await connection.fetchval(sql, **more)
    except asyncpg.PostgresError as error:
        return error.sqlstate


async def count(sql):
    return int((await main.execute(sql)).split()[-1])


@item
async def connect():
    connection = await asyncpg.connect(DSN)
    one = await connection.fetchval("SELECT 1")
    await connection.close()
    return one


@item
async def tls():
    connection = await asyncpg.connect(TLS_DSN)
    one = await connection.fetchval("SELECT 1")
    assert connection._transport.get_extra_info("cipher")
    await connection.close()
    return one


@item
async def types():
    return line(await main.fetchrow(TYPES))


@item
async def nulls():
    return line(await main.fetchrow("SELECT NULL::int, NULL::text, $1::text", None))


@item
async def arrays():
    first, second = await main.fetchrow("SELECT $1::int[], $2::text[]", [1, 2, None], ["a", "b c"])
    return f"{','.join(map(text, first))} {','.join(second)}"


@item
async def json():
    connection = await asyncpg.connect(DSN)
    await connection.set_type_codec("jsonb", encoder=json_module.dumps, decoder=json_module.loads, schema="pg_catalog")
    found = await connection.fetchval("""SELECT '{"a": [1, 2]}'::jsonb""")
    await connection.close()
    return found["a"][1]


@item
async def bytea():
    back = await main.fetchval("SELECT $1::bytea", BYTES)
    return f"{len(back)} {'same' if back == BYTES else 'other'}"


@item
async def prepared():
    statement = await main.prepare(ID)
    return sum([await statement.fetchval("acme", order) for order in range(2, 42, 2)])


@item
async def transaction():
    rolled_back = main.transaction()
    await rolled_back.start()
    await main.execute(NOTE)
    await rolled_back.rollback()
    before = await main.fetchval(NOTES)
    async with main.transaction(isolation="repeatable_read"):
        await main.execute(NOTE)
    return f"{before} {await count(FORGET)}"


@item
async def savepoint():
    async with main.transaction():
        await main.execute(NOTE)
        inner = main.transaction()
        await inner.start()
        await main.execute(NOTE)
        await inner.rollback()
    return await count(FORGET)


@item
async def error():
    return await code(ZERO)


@item
async def syntax():
    return await code("SELEC 1")


@item
async def failed_transaction():
    await main.execute("BEGIN")
    codes = await code(ZERO), await code("SELECT 1")
    await main.execute("ROLLBACK")
    return line([*codes, await main.fetchval("SELECT 1")])


@item
async def denied():
    return await code(SECRET)


@item
async def refused():
    return await code(EVERYONE)


@item
async def cancel():
    # As its own timeouts do: the task is cancelled, and that sends a request.
    running = loop.create_task(main.fetchval(LONG))
    await asyncio.sleep(0.2)
    running.cancel()
    try:
        await running
    except asyncio.CancelledError:
        codes = "57014"
    return f"{codes} {await main.fetchval('SELECT 1')}"


@item
async def timeout():
    await main.execute("SET statement_timeout = 100")
    codes = await code(LONG)
    await main.execute("RESET statement_timeout")
    return f"{codes} {await main.fetchval('SELECT 1')}"


@item
async def setting():
    await main.execute("SET TimeZone = 'Asia/Tokyo'")
    hours = [await main.fetchval(HOUR), await main.fetchval(HOUR)]
    await main.execute("RESET TimeZone")
    return line([*hours, await main.fetchval(HOUR)])


@item
async def notice():
    heard = []
    listener = lambda _, message: heard.append(message.sqlstate)
    main.add_log_listener(listener)
    await main.execute("ROLLBACK")
    await main.fetchval("SELECT 1")
    main.remove_log_listener(listener)
    return line(heard)


@item
async def rows():
    found = [row[0] for row in await main.fetch(MANY)]
    return f"{len(found)} {sum(found)}"


@item
async def copy_out():
    lines = io.BytesIO()
    query = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 8"
    await main.copy_from_query(query, output=lines, format="text")
    return len(lines.getvalue().splitlines())


@item
async def copy_in():
    connection = await asyncpg.connect(OPS_DSN)
    records = [("acme", "asyncpg")] * 2
    await connection.copy_records_to_table("notes", schema_name="app", columns=["tenant_id", "body"], records=records)
    await connection.close()
    return await count(FORGET)


@item
async def pool():
    async with asyncpg.create_pool(DSN, min_size=20, max_size=20) as pool:

        async def client(number):
            order, right = 2 * number + 2, 0
            for _ in range(10):
                async with pool.acquire() as connection:
                    right += await connection.fetchval(ID, "acme", order) == order
            return right

        return sum(await asyncio.gather(*(client(number) for number in range(20))))


@item
async def pools_reset():
    async with asyncpg.create_pool(DSN, min_size=1, max_size=1) as pool:
        hours = []
        for _ in range(2):  # CLOSE ALL, UNLISTEN *, RESET ALL, unlocking: before it is lent again
            async with pool.acquire() as connection:
                hours.append(await connection.fetchval(HOUR))
                await connection.execute("SET TimeZone = 'Asia/Tokyo'")
        return line(hours)


pools_reset.__name__ = "pool's_reset"


@item
async def cursor():
    async with main.transaction():
        query = "SELECT id FROM app.orders WHERE tenant_id = $1 ORDER BY id LIMIT 20"
        return len([row async for row in main.cursor(query, "acme", prefetch=3)])


@item
async def its_own_timeout():
    try:
        await main.fetchval(LONG, timeout=0.2)
    except asyncio.TimeoutError:
        return f"TimeoutError {await main.fetchval('SELECT 1')}"


@item
async def introspection():
    # An enumeration is looked up in the catalogs at its first use.
    return await main.fetchval("SELECT 'new'::app.order_status")


@item
async def many():
    await main.executemany("INSERT INTO app.notes (tenant_id, body) VALUES ('acme', $1)", [("asyncpg",)] * 3)
    return await count(FORGET)


run(connect, tls, types, nulls, arrays, json, bytea, prepared, transaction, savepoint, error, syntax, failed_transaction)
run(denied, refused, cancel, timeout, setting, notice, rows, copy_out, copy_in, pool)
run(pools_reset, cursor, its_own_timeout, introspection, many)
