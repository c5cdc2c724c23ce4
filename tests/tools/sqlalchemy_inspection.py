"""SQLAlchemy's inspector and reflection, over psycopg 3 and psycopg2. Prints what they see.

Usage: sqlalchemy_inspection.py DSN
"""

import sys

import sqlalchemy
from sqlalchemy.schema import CreateTable

ONE_BY_ONE = [
    "get_columns",
    "get_pk_constraint",
    "get_foreign_keys",
    "get_indexes",
    "get_unique_constraints",
    "get_check_constraints",
    "get_table_comment",
]


def main(dsn: str) -> None:
    for driver in ("psycopg", "psycopg2"):
        engine = sqlalchemy.create_engine(dsn.replace("postgresql:", f"postgresql+{driver}:"))
        try:
            inspection(engine)
            reflection(engine)
        finally:
            engine.dispose()


def inspection(engine: sqlalchemy.Engine) -> None:
    inspector = sqlalchemy.inspect(engine)
    print("default schema", inspector.default_schema_name)
    print("schemas", inspector.get_schema_names())
    for schema in ("app", "billing", None):
        tables = sorted(inspector.get_table_names(schema))
        views = sorted(inspector.get_view_names(schema))
        materialized = sorted(inspector.get_materialized_view_names(schema))
        print(schema, "tables", tables, "views", views, materialized)
        print(schema, "sequences", sorted(inspector.get_sequence_names(schema)))
        print(schema, "enums", inspector.get_enums(schema), "domains", inspector.get_domains(schema))
        print(schema, "keys", shown(inspector.get_sorted_table_and_fkc_names(schema)))
        for table in tables + views + materialized:
            for method in ONE_BY_ONE:
                print(schema, table, method, shown(getattr(inspector, method)(table, schema)))
        for view in views + materialized:
            print(schema, view, inspector.get_view_definition(view, schema))
        for method in ("get_multi_" + it.removeprefix("get_") for it in ONE_BY_ONE):
            seen = getattr(inspector, method)(schema=schema, kind=sqlalchemy.engine.reflection.ObjectKind.ANY)
            print(schema, method, sorted(shown(item) for item in seen.items()))
    print("temporary", inspector.get_temp_table_names(), inspector.get_temp_view_names())
    print("has", [inspector.has_table(name, "app") for name in ("orders", "open_orders", "nope")])
    print("has", inspector.has_schema("app"), inspector.has_schema("nope"), inspector.has_sequence("orders_id_seq", "app"))
    print("oid of a table", inspector.get_table_oid("orders", "app") > 0)
    print("extensions", engine.dialect.server_version_info[:1])


def reflection(engine: sqlalchemy.Engine) -> None:
    for schema in ("app", "billing"):
        metadata = sqlalchemy.MetaData()
        metadata.reflect(engine, schema=schema, views=True)
        for name in sorted(metadata.tables):
            print(CreateTable(metadata.tables[name]).compile(engine))


def shown(seen: object) -> str:
    """Sets and dictionaries in an order of their own."""
    if isinstance(seen, dict):
        return "{" + ", ".join(sorted(f"{key!r}: {shown(value)}" for key, value in seen.items())) + "}"
    if isinstance(seen, (list, tuple, set)):
        items = [shown(item) for item in seen]
        return "[" + ", ".join(items if isinstance(seen, tuple) else sorted(items)) + "]"
    return repr(seen)


if __name__ == "__main__":
    main(sys.argv[1])
