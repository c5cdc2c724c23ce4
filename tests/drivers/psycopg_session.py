"""psycopg 3, as its users use it: a connection string, and the driver's own exception classes.

Usage: psycopg_session.py DSN. PGMOAT_POLICED=1 adds what only the proxy refuses. Any surprise is a traceback.
"""

import os
import sys

import psycopg
from psycopg import errors

ORDER = "SELECT id, total FROM app.orders WHERE tenant_id = %s AND id = %s"


def main(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        parameters(connection)
        prepared_reuse(connection)
        transactions(connection)
        pipeline(connection)
        server_side_cursor(connection)
        failures(connection)
        if os.environ.get("PGMOAT_POLICED"):
            refusals(connection)
        parameters(connection)


def parameters(connection: psycopg.Connection) -> None:
    for binary in (False, True):
        cursor = connection.cursor(binary=binary)
        row = cursor.execute(ORDER, ("acme", 4242)).fetchone()
        assert row is not None and row[0] == 4242, row
    assert connection.execute("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 7").fetchone() is None


def prepared_reuse(connection: psycopg.Connection) -> None:
    for order in range(2, 42, 2):
        row = connection.execute(ORDER, ("acme", order), prepare=True).fetchone()
        assert row is not None and row[0] == order, row


def transactions(connection: psycopg.Connection) -> None:
    with connection.transaction():
        connection.execute("INSERT INTO app.notes (tenant_id, body) VALUES (%s, %s)", ("acme", "psycopg"))
        try:
            with connection.transaction():  # a savepoint
                connection.execute("UPDATE app.notes SET body = 'no' WHERE tenant_id = 'acme' AND body = 'psycopg'")
                raise psycopg.Rollback()
        except psycopg.Rollback:
            pass
    rows = connection.execute("SELECT body FROM app.notes WHERE tenant_id = %s AND body = 'psycopg'", ("acme",))
    assert rows.fetchall() == [("psycopg",)]
    deleted = connection.execute("DELETE FROM app.notes WHERE tenant_id = %s AND body = 'psycopg'", ("acme",))
    assert deleted.rowcount == 1, deleted.rowcount


def server_side_cursor(connection: psycopg.Connection) -> None:
    query = "SELECT id FROM app.orders WHERE tenant_id = %s ORDER BY id LIMIT 20"
    want = connection.execute(query, ("acme",)).fetchall()
    with connection.transaction(), connection.cursor(name="Some cursor") as cursor:
        cursor.execute(query, ("acme",))
        assert cursor.fetchmany(5) == want[:5]
        assert cursor.fetchone() == want[5]
        cursor.itersize = 4
        assert list(cursor) == want[6:], "rows are lost"
    with connection.transaction(), connection.cursor(name="back", scrollable=True) as cursor:
        cursor.execute(query, ("acme",))
        cursor.scroll(7)
        assert cursor.fetchone() == want[7]


def pipeline(connection: psycopg.Connection) -> None:
    with connection.pipeline():
        cursors = [connection.execute(ORDER, ("acme", order)) for order in (2, 4, 6)]
        assert [cursor.fetchone()[0] for cursor in cursors] == [2, 4, 6]


def failures(connection: psycopg.Connection) -> None:
    expect(errors.DivisionByZero, connection, "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2")
    expect(errors.SyntaxError, connection, "SELEC 1")
    connection.execute("BEGIN")
    expect(errors.DivisionByZero, connection, "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2")
    expect(errors.InFailedSqlTransaction, connection, "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2")
    connection.execute("ROLLBACK")
    expect(errors.InsufficientPrivilege, connection, "SELECT secret FROM internal.api_keys")


def refusals(connection: psycopg.Connection) -> None:
    error = expect(errors.InsufficientPrivilege, connection, "SELECT id FROM app.orders WHERE id = 4242")
    assert error.diag.statement_position, "no caret"
    assert "tenant_unproven" in (error.diag.message_detail or ""), error.diag.message_detail
    assert "tenant_id" in (error.diag.message_hint or ""), error.diag.message_hint
    expect(errors.InsufficientPrivilege, connection, ORDER, ("globex", 4241))
    expect(errors.InsufficientPrivilege, connection, "SELECT id FROM app.orders WHERE tenant_id = 'globex'")


def expect(kind: type[Exception], connection: psycopg.Connection, sql: str, values: tuple = ()) -> psycopg.Error:
    try:
        connection.execute(sql, values)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} for {sql}")


main(sys.argv[1])
