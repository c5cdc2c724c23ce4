"""psycopg 3."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
from checklist import *
from psycopg import errors

ID = "SELECT id FROM app.orders WHERE tenant_id = %s AND id = %s"
NOTE = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', %s)"
NOTES = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = %s"
FORGET = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = %s"

main = psycopg.connect(DSN, autocommit=True)


def one(sql, values=None, connection=main, **more):
    return connection.execute(sql, values, **more).fetchone()[0]


def code(sql, values=None, connection=main):
    try:
        return one(sql, values, connection)
    except psycopg.Error as error:
        return error.sqlstate


def connect():
    with psycopg.connect(DSN) as connection:
        return one("SELECT 1", None, connection)


def tls():
    with psycopg.connect(TLS_DSN) as connection:
        assert connection.pgconn.ssl_in_use
        return one("SELECT 1", None, connection)


def types():
    return line(main.execute(TYPES).fetchone())


def nulls():
    return line(main.execute("SELECT NULL::int, NULL::text, %s::text", (None,)).fetchone())


def arrays():
    first, second = main.execute("SELECT %s::int[], %s::text[]", ([1, 2, None], ["a", "b c"])).fetchone()
    return f"{','.join(map(text, first))} {','.join(second)}"


def json():
    return one("""SELECT '{"a": [1, 2]}'::jsonb""")["a"][1]


def bytea():
    back = one("SELECT %s::bytea", (BYTES,))
    assert one("SELECT %b::bytea", (BYTES,)) == BYTES
    return f"{len(back)} {'same' if back == BYTES else 'other'}"


def prepared():
    return sum(one(ID, ("acme", order), prepare=True) for order in range(2, 42, 2))


def transaction():
    with main.transaction(force_rollback=True):
        main.execute(NOTE, ("psycopg",))
    rolled_back = one(NOTES, ("psycopg",))
    with main.transaction():
        main.execute(NOTE, ("psycopg",))
    return f"{rolled_back} {main.execute(FORGET, ('psycopg',)).rowcount}"


def savepoint():
    with main.transaction():
        main.execute(NOTE, ("psycopg",))
        with main.transaction(force_rollback=True):
            main.execute(NOTE, ("psycopg",))
    return main.execute(FORGET, ("psycopg",)).rowcount


def error():
    return code(ZERO)


def syntax():
    return code("SELEC 1")


def failed_transaction():
    main.execute("BEGIN")
    codes = code(ZERO), code("SELECT 1")
    main.execute("ROLLBACK")
    return line([*codes, one("SELECT 1")])


def denied():
    return code(SECRET)


def refused():
    return code(EVERYONE)


def cancel():
    timer = threading.Timer(0.2, main.cancel_safe)
    timer.start()
    codes = code(LONG)
    timer.join()
    return f"{codes} {one('SELECT 1')}"


def timeout():
    main.execute("SET statement_timeout = 100")
    codes = code(LONG)
    main.execute("RESET statement_timeout")
    return f"{codes} {one('SELECT 1')}"


def setting():
    main.execute("SET TimeZone = 'Asia/Tokyo'")
    hours = [one(HOUR), one(HOUR)]
    main.execute("RESET TimeZone")
    return line([*hours, one(HOUR)])


def notice():
    heard = []
    main.add_notice_handler(lambda notice: heard.append(notice.sqlstate))
    main.execute("ROLLBACK")
    return line(heard)


def rows():
    found = [row[0] for row in main.execute(MANY)]
    return f"{len(found)} {sum(found)}"


def copy_out():
    with main.cursor() as cursor, cursor.copy(COPY_OUT) as copy:
        return len(list(copy.rows()))


def copy_in():
    with psycopg.connect(OPS_DSN, autocommit=True) as connection:
        with connection.cursor() as cursor, cursor.copy(COPY_IN) as copy:
            for _ in range(2):
                copy.write_row(("acme", "psycopg"))
        return connection.execute(FORGET, ("psycopg",)).rowcount


def pool():
    def client(number):
        with psycopg.connect(DSN, autocommit=True) as connection:
            return sum(one(ID, ("acme", 2 * number + 2), connection) == 2 * number + 2 for _ in range(10))

    with ThreadPoolExecutor(20) as threads:
        return sum(threads.map(client, range(20)))


def pipeline():
    with main.pipeline():
        cursors = [main.execute(ID, ("acme", order)) for order in (2, 4, 6)]
        return line(cursor.fetchone()[0] for cursor in cursors)


def error_in_a_pipeline():
    said = []
    # Whichever call finds the error that has come by then raises it.
    last = main.cursor()
    try:
        with main.pipeline() as pipeline:
            first = main.execute(ID, ("acme", 2))
            pipeline.sync()
            said.append(first.fetchone()[0])
            main.execute(ZERO)
            last.execute(ID, ("acme", 4))
            pipeline.sync()
            said.append("silent")
    except errors.DivisionByZero as error:
        said.append(error.sqlstate)
    try:
        said.append(last.fetchone())
    except psycopg.Error:
        said.append("aborted")
    return line([*said, one(ID, ("acme", 6))])


def server_side_cursor():
    query = "SELECT id FROM app.orders WHERE tenant_id = %s ORDER BY id LIMIT 20"
    with main.transaction(), main.cursor(name="Some cursor") as cursor:
        cursor.execute(query, ("acme",))
        some, next_one = cursor.fetchmany(5), cursor.fetchone()
        cursor.itersize = 4
        return f"{len(some)} {len(next_one)} {len(list(cursor))}"


def scrolled_cursor():
    query = "SELECT id FROM app.orders WHERE tenant_id = %s ORDER BY id LIMIT 20"
    with main.transaction(), main.cursor(name="back", scrollable=True) as cursor:
        cursor.execute(query, ("acme",))
        cursor.scroll(7)
        return cursor.fetchone()[0]


def binary():
    cursor = main.cursor(binary=True)
    return line(cursor.execute("SELECT %s::int8, 12.50::numeric", (4242,)).fetchone())


def asynchronous():
    async def all_of_it():
        async with await psycopg.AsyncConnection.connect(DSN, autocommit=True) as connection:
            found = [await (await connection.execute(ID, ("acme", order))).fetchone() for order in range(2, 42, 2)]
        return sum(row[0] for row in found)

    return asyncio.run(all_of_it())


def prepared_and_let_go():
    with psycopg.connect(DSN, autocommit=True) as connection:
        connection.prepared_max = 3  # the fourth makes the first go, by DEALLOCATE or Close
        for number in range(30):
            text = f"SELECT {number}"
            assert one(text, None, connection, prepare=True) == number
            assert one(text, None, connection, prepare=True) == number
        return number + 1


run(connect, tls, types, nulls, arrays, json, bytea, prepared, transaction, savepoint, error, syntax, failed_transaction)
run(denied, refused, cancel, timeout, setting, notice, rows, copy_out, copy_in, pool)
run(pipeline, error_in_a_pipeline, server_side_cursor, scrolled_cursor, binary, asynchronous, prepared_and_let_go)
