"""The types that psycopg 3 and psycopg2 fetch by name. Prints what comes back.

Usage: psycopg_types.py DSN
"""

import sys

import psycopg
import psycopg2
import psycopg2.extras
from psycopg.types import TypeInfo
from psycopg.types.composite import CompositeInfo, register_composite
from psycopg.types.enum import EnumInfo, register_enum
from psycopg.types.multirange import MultirangeInfo
from psycopg.types.range import RangeInfo

ORDERS = "SELECT o, o.status FROM app.orders o WHERE o.tenant_id = 'acme' AND o.id < 8 ORDER BY o.id"


def main(dsn: str) -> None:
    psycopg_3(dsn)
    psycopg_2(dsn)


def psycopg_3(dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        for name in ("app.email", "text", "jsonb", "order_status", "app.nope"):
            found = TypeInfo.fetch(connection, name)
            print(name, found and (found.name, found.oid > 0, found.array_oid > 0))
        status = EnumInfo.fetch(connection, "app.order_status")
        print(status.labels)
        register_enum(status, connection)
        orders = CompositeInfo.fetch(connection, "app.orders")
        print(orders.field_names, len(orders.field_types))
        register_composite(orders, connection)
        print(RangeInfo.fetch(connection, "int4range").subtype_oid)
        print(MultirangeInfo.fetch(connection, "int4multirange").range_oid)
        for row in connection.execute(ORDERS):
            print(row)


def psycopg_2(dsn: str) -> None:
    connection = psycopg2.connect(dsn)
    orders = psycopg2.extras.register_composite("app.orders", connection)
    print(orders.attnames)
    print(psycopg2.extras.HstoreAdapter.get_oids(connection))
    print(psycopg2.extras.register_range("int4range", "Span", connection).range.__name__)
    with connection.cursor() as cursor:
        cursor.execute(ORDERS)
        print(cursor.fetchall())
    connection.close()


if __name__ == "__main__":
    main(sys.argv[1])
