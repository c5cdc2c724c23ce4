"""psycopg2."""

import io
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg2
import psycopg2.extras
from checklist import *
from psycopg2.extensions import QueryCanceledError

ID = "SELECT id FROM app.orders WHERE tenant_id = %s AND id = %s"
NOTE = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'psycopg2')"
NOTES = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'psycopg2'"
FORGET = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'psycopg2'"


def connected(dsn=DSN):
    connection = psycopg2.connect(dsn)
    connection.autocommit = True
    return connection


main = connected()


def execute(sql, values=None, connection=None):
    cursor = (connection or main).cursor()
    cursor.execute(sql, values)
    return cursor


def one(sql, values=None, connection=None):
    return execute(sql, values, connection).fetchone()[0]


def code(sql):
    try:
        return one(sql)
    except psycopg2.Error as error:
        return error.pgcode


def connect():
    return one("SELECT 1", None, connected())


def tls():
    connection = connected(TLS_DSN)
    assert connection.info.ssl_in_use
    return one("SELECT 1", None, connection)


def types():
    return line(execute(TYPES).fetchone())


def nulls():
    return line(execute("SELECT NULL::int, NULL::text, %s::text", (None,)).fetchone())


def arrays():
    first, second = execute("SELECT %s::int[], %s::text[]", ([1, 2, None], ["a", "b c"])).fetchone()
    return f"{','.join(map(text, first))} {','.join(second)}"


def json():
    return one("""SELECT '{"a": [1, 2]}'::jsonb""")["a"][1]


def bytea():
    back = bytes(one("SELECT %s::bytea", (psycopg2.Binary(BYTES),)))
    return f"{len(back)} {'same' if back == BYTES else 'other'}"


def prepared():
    return "- it has no prepared statements"


def transaction():
    main.autocommit = False
    execute(NOTE)
    main.rollback()
    rolled_back = one(NOTES)
    execute(NOTE)
    main.commit()
    main.autocommit = True
    return f"{rolled_back} {execute(FORGET).rowcount}"


def savepoint():
    execute("BEGIN")
    execute(NOTE)
    execute("SAVEPOINT s")
    execute(NOTE)
    execute("ROLLBACK TO s")
    execute("COMMIT")
    return execute(FORGET).rowcount


def error():
    return code(ZERO)


def syntax():
    return code("SELEC 1")


def failed_transaction():
    execute("BEGIN")
    codes = code(ZERO), code("SELECT 1")
    execute("ROLLBACK")
    return line([*codes, one("SELECT 1")])


def denied():
    return code(SECRET)


def refused():
    return code(EVERYONE)


def cancel():
    timer = threading.Timer(0.2, main.cancel)
    timer.start()
    codes = code(LONG)
    timer.join()
    return f"{codes} {one('SELECT 1')}"


def timeout():
    execute("SET statement_timeout = 100")
    try:
        one(LONG)
    except QueryCanceledError as error:
        codes = error.pgcode
    execute("RESET statement_timeout")
    return f"{codes} {one('SELECT 1')}"


def setting():
    execute("SET TimeZone = 'Asia/Tokyo'")
    hours = [one(HOUR), one(HOUR)]
    execute("RESET TimeZone")
    return line([*hours, one(HOUR)])


def notice():
    del main.notices[:]
    execute("ROLLBACK")
    return "25P01" if "no transaction in progress" in main.notices[-1] else main.notices  # it gives the text alone


def rows():
    found = [row[0] for row in execute(MANY)]
    return f"{len(found)} {sum(found)}"


def copy_out():
    lines = io.StringIO()
    main.cursor().copy_expert(COPY_OUT, lines)
    return len(lines.getvalue().splitlines())


def copy_in():
    connection = connected(OPS_DSN)
    connection.cursor().copy_expert(COPY_IN, io.StringIO("acme\tpsycopg2\n" * 2))
    return execute(FORGET, None, connection).rowcount


def pool():
    def client(number):
        connection = connected()
        order = 2 * number + 2
        return sum(one(ID, ("acme", order), connection) == order for _ in range(10))

    with ThreadPoolExecutor(20) as threads:
        return sum(threads.map(client, range(20)))


def named_cursor():
    main.autocommit = False
    with main.cursor(name="Some cursor") as cursor:
        cursor.itersize = 4
        cursor.execute("SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 20")
        found = f"{len(cursor.fetchmany(5))} {len(list(cursor))}"
    main.commit()
    main.autocommit = True
    return found


def many_values():
    insert = "INSERT INTO app.notes (tenant_id, body) VALUES %s"
    psycopg2.extras.execute_values(main.cursor(), insert, [("acme", "psycopg2")] * 2)
    return execute(FORGET).rowcount


run(connect, tls, types, nulls, arrays, json, bytea, prepared, transaction, savepoint, error, syntax, failed_transaction)
run(denied, refused, cancel, timeout, setting, notice, rows, copy_out, copy_in, pool, named_cursor, many_values)
