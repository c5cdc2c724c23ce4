"""asyncpg, as its users use it: pools, prepared statements, binary values, the driver's own exception classes.

Usage: asyncpg_session.py DSN. PGMOAT_POLICED=1 adds what only the proxy refuses. Any surprise is a traceback.
"""

import asyncio
import os
import sys

import asyncpg

ORDER = "SELECT id, total FROM app.orders WHERE tenant_id = $1 AND id = $2"


async def main(dsn: str) -> None:
    async with asyncpg.create_pool(dsn, min_size=2, max_size=2) as pool:
        for _ in range(3):  # the pool resets a connection (CLOSE ALL, UNLISTEN *, RESET ALL) before it lends it again
            async with pool.acquire() as connection:
                await parameters(connection)
        async with pool.acquire() as connection:
            await prepared_reuse(connection)
            await transactions(connection)
            await failures(connection)
            if os.environ.get("PGMOAT_POLICED"):
                await refusals(connection)
            await parameters(connection)


async def parameters(connection: asyncpg.Connection) -> None:
    row = await connection.fetchrow(ORDER, "acme", 4242)
    assert row is not None and row["id"] == 4242, row
    assert await connection.fetchrow(ORDER, "acme", 7) is None
    rows = await connection.fetch("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 10 ORDER BY id")
    assert [row["id"] for row in rows] == [2, 4, 6, 8], rows


async def prepared_reuse(connection: asyncpg.Connection) -> None:
    statement = await connection.prepare(ORDER)
    for order in range(2, 42, 2):
        row = await statement.fetchrow("acme", order)
        assert row is not None and row["id"] == order, row


async def transactions(connection: asyncpg.Connection) -> None:
    insert = "INSERT INTO app.notes (tenant_id, body) VALUES ($1, $2)"
    select = "SELECT body FROM app.notes WHERE tenant_id = $1 AND body = $2"
    async with connection.transaction():
        await connection.execute(insert, "acme", "asyncpg")
        try:
            async with connection.transaction():  # a savepoint
                await connection.execute(insert, "acme", "asyncpg")
                raise KeyError
        except KeyError:
            pass
        cursor = [row["body"] async for row in connection.cursor(select, "acme", "asyncpg", prefetch=1)]
        assert cursor == ["asyncpg"], cursor
    assert await connection.execute("DELETE FROM app.notes WHERE tenant_id = $1 AND body = $2", "acme", "asyncpg") == "DELETE 1"


async def failures(connection: asyncpg.Connection) -> None:
    zero = "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2"
    await expect(asyncpg.DivisionByZeroError, connection.fetch(zero))
    await expect(asyncpg.PostgresSyntaxError, connection.fetch("SELEC 1"))
    await connection.execute("BEGIN")
    await expect(asyncpg.DivisionByZeroError, connection.fetch(zero))
    await expect(asyncpg.InFailedSQLTransactionError, connection.fetch(ORDER, "acme", 2))
    await connection.execute("ROLLBACK")
    await expect(asyncpg.InsufficientPrivilegeError, connection.fetch("SELECT secret FROM internal.api_keys"))


async def refusals(connection: asyncpg.Connection) -> None:
    refused = connection.fetch("SELECT id FROM app.orders WHERE id = 4242")
    error = await expect(asyncpg.InsufficientPrivilegeError, refused)
    assert error.position and "tenant_unproven" in error.detail and "tenant_id" in error.hint, error.as_dict()
    await expect(asyncpg.InsufficientPrivilegeError, connection.fetch(ORDER, "globex", 4241))


async def expect(kind: type[Exception], refused) -> Exception:
    try:
        await refused
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


asyncio.run(main(sys.argv[1]))
