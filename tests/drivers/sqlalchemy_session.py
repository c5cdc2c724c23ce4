"""SQLAlchemy over psycopg 3: its core for the common items, its ORM beside them."""

import asyncio
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa
from checklist import *
from sqlalchemy import text as sql
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Session, mapped_column

ID = sql("SELECT id FROM app.orders WHERE tenant_id = :tenant AND id = :id")
NOTES = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'SQLAlchemy'"
FORGET = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'SQLAlchemy'"


def engine_of(dsn, **more):
    return sa.create_engine(dsn.replace("postgresql:", "postgresql+psycopg:"), **more)


engine = engine_of(DSN)
main = engine.connect().execution_options(isolation_level="AUTOCOMMIT")


class Base(DeclarativeBase):
    pass


class Note(Base):
    __tablename__ = "notes"
    __table_args__ = {"schema": "app"}
    id = mapped_column(sa.BigInteger, primary_key=True)
    tenant_id = mapped_column(sa.Text)
    body = mapped_column(sa.Text)


def one(statement, values=None, connection=main):
    statement = sql(statement) if isinstance(statement, str) else statement
    return connection.execute(statement, values or {}).scalar()


def code(statement, connection=main):
    try:
        return one(statement, None, connection)
    except sa.exc.DBAPIError as error:
        return error.orig.sqlstate


def note():
    return sa.insert(Note).values(tenant_id="acme", body="SQLAlchemy")


def briefly(dsn):
    with engine_of(dsn).connect() as connection:
        return one("SELECT 1", None, connection)


def connect():
    return briefly(DSN)


def tls():
    return briefly(TLS_DSN)


def types():
    return line(main.execute(sql(TYPES.replace("::", r"\:\:").replace("12:30:00", r"12\:30\:00"))).one())


def nulls():
    return line(main.execute(sql(r"SELECT NULL\:\:int, NULL\:\:text, CAST(:value AS text)"), {"value": None}).one())


def arrays():
    values = sa.literal([1, 2, None], ARRAY(sa.Integer)), sa.literal(["a", "b c"], ARRAY(sa.Text))
    first, second = main.execute(sa.select(*values)).one()
    return f"{','.join(map(text, first))} {','.join(second)}"


def json():
    return one(sa.select(sa.literal({"a": [1, 2]}, sa.JSON)))["a"][1]


def bytea():
    back = one(sa.select(sa.literal(BYTES, sa.LargeBinary)))
    return f"{len(back)} {'same' if back == BYTES else 'other'}"


def prepared():
    # psycopg prepares at the sixth time.
    return sum(one(ID, {"tenant": "acme", "id": order}) for order in range(2, 42, 2))


def transaction():
    with engine.connect() as connection:
        with connection.begin() as rolled_back:
            connection.execute(note())
            rolled_back.rollback()
        before = one(NOTES)
        with connection.begin():
            connection.execute(note())
    return f"{before} {main.execute(sql(FORGET)).rowcount}"


def savepoint():
    with engine.begin() as connection:
        connection.execute(note())
        with connection.begin_nested() as inner:
            connection.execute(note())
            inner.rollback()
    return main.execute(sql(FORGET)).rowcount


def error():
    return code(ZERO)


def syntax():
    return code("SELEC 1")


def failed_transaction():
    with engine.connect() as connection:
        codes = code(ZERO, connection), code("SELECT 1", connection)
        connection.rollback()
        return line([*codes, one("SELECT 1", None, connection)])


def denied():
    return code(SECRET)


def refused():
    return code(EVERYONE)


def cancel():
    timer = threading.Timer(0.2, main.connection.dbapi_connection.cancel_safe)
    timer.start()
    codes = code(LONG)
    timer.join()
    return f"{codes} {one('SELECT 1')}"


def timeout():
    main.execute(sql("SET statement_timeout = 100"))
    codes = code(LONG)
    main.execute(sql("RESET statement_timeout"))
    return f"{codes} {one('SELECT 1')}"


def setting():
    hour = sql("SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI')".replace(":", r"\:"))
    main.execute(sql("SET TimeZone = 'Asia/Tokyo'"))
    hours = [one(hour), one(hour)]
    main.execute(sql("RESET TimeZone"))
    return line([*hours, one(hour)])


def notice():
    heard = []
    main.connection.dbapi_connection.add_notice_handler(lambda notice: heard.append(notice.sqlstate))
    main.execute(sql("ROLLBACK"))
    return line(heard)


def rows():
    found = main.execute(sql(MANY)).scalars().all()
    return f"{len(found)} {sum(found)}"


def copy_out():
    return "- it leaves COPY to its driver"


def copy_in():
    return "- it leaves COPY to its driver"


def pool():
    pooled = engine_of(DSN, pool_size=20, pool_reset_on_return="rollback")

    def client(number):
        right = 0
        for _ in range(10):
            with pooled.connect() as connection:
                right += one(ID, {"tenant": "acme", "id": 2 * number + 2}, connection) == 2 * number + 2
        return right

    with ThreadPoolExecutor(20) as threads:
        return sum(threads.map(client, range(20)))


def ORM():
    mine = sa.select(Note).where(Note.tenant_id == "acme", Note.body.in_(["SQLAlchemy", "renamed"]))
    rename = sa.update(Note).where(Note.tenant_id == "acme", Note.body == "SQLAlchemy").values(body="renamed")
    forget = sa.delete(Note).where(Note.tenant_id == "acme", Note.body == "renamed")
    with Session(engine) as session:
        session.add(Note(tenant_id="acme", body="SQLAlchemy"))
        session.commit()
        count = len(session.scalars(mine).all())
        session.execute(rename)
        session.commit()
        body = session.scalars(mine).one().body
        session.execute(forget)
        session.commit()
        return f"{count} {body} {len(session.scalars(mine).all())}"


def reflection():
    return ",".join(column["name"] for column in sa.inspect(engine).get_columns("orders", schema="app"))


def streamed():
    query = sql("SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 20")
    with engine.connect() as connection:  # a server-side cursor
        return len(list(connection.execution_options(stream_results=True, max_row_buffer=4).execute(query)))


def asyncpg():
    async def all_of_it():
        other = create_async_engine(DSN.replace("postgresql:", "postgresql+asyncpg:").split("?")[0])
        query = sa.text("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = :id")
        async with other.connect() as connection:
            found = [(await connection.execute(query, {"id": order})).scalar() for order in range(2, 42, 2)]
        await other.dispose()
        return sum(found)

    return asyncio.run(all_of_it())


warnings.simplefilter("ignore", sa.exc.SAWarning)
run(connect, tls, types, nulls, arrays, json, bytea, prepared, transaction, savepoint, error, syntax, failed_transaction)
run(denied, refused, cancel, timeout, setting, notice, rows, copy_out, copy_in, pool)
run(ORM, reflection, streamed, asyncpg)
