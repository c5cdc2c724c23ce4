"""Django's introspection and inspectdb. Prints what they see.

Usage: django_inspection.py DSN [rows]

Django learns a table's columns from a row of it (SELECT * … LIMIT 1), so those are for users who may read every
tenant's rows: `rows` asks for them.
"""

import sys
from urllib.parse import urlsplit

import django
from django.conf import settings


def main(dsn: str, rows: bool) -> None:
    url = urlsplit(dsn)
    database = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": url.path.lstrip("/"),
        "USER": url.username,
        "PASSWORD": url.password,
        "HOST": url.hostname,
        "PORT": url.port,
    }
    settings.configure(DATABASES={"default": database}, USE_TZ=True)
    django.setup()
    inspection(rows)
    if rows:
        inspectdb()


def inspection(rows: bool) -> None:
    from django.db import connection
    from django.db.migrations.recorder import MigrationRecorder

    print("version", connection.pg_version // 10000, connection.features.is_postgresql_14)
    with connection.cursor() as cursor:
        introspection = connection.introspection
        tables = introspection.get_table_list(cursor)
        for table in sorted(tables, key=lambda table: table.name):
            print(table.name, table.type, table.comment)
            if rows:
                print(" ", introspection.get_table_description(cursor, table.name))
            print(" ", introspection.get_sequences(cursor, table.name))
            print(" ", introspection.get_relations(cursor, table.name))
            print(" ", introspection.get_primary_key_columns(cursor, table.name))
            for name, constraint in sorted(introspection.get_constraints(cursor, table.name).items()):
                print("   ", name, constraint)
        print(sorted(introspection.table_names(cursor, include_views=True)))
    print("migrations", MigrationRecorder(connection).has_table())


def inspectdb() -> None:
    from django.core.management import call_command

    call_command("inspectdb", include_partitions=True, include_views=True)


if __name__ == "__main__":
    main(sys.argv[1], "rows" in sys.argv[2:])
