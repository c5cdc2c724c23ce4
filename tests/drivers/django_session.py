"""Django over psycopg 3: its connection for the common items, its ORM on the lab's schema beside them."""

import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl, urlsplit

import django
from checklist import *
from django.conf import settings
from django.db import DatabaseError, connection, connections, models, transaction as transactions


def database(dsn, **more):
    parts = urlsplit(dsn)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": parts.hostname,
        "PORT": parts.port,
        "NAME": parts.path[1:],
        "USER": parts.username,
        "PASSWORD": parts.password,
        "OPTIONS": dict(parse_qsl(parts.query)) | more,
        "TIME_ZONE": "UTC",
    }


DATABASES = {
    "default": database(DSN),
    "tls": database(TLS_DSN),
    "bound": database(DSN, server_side_binding=True),
}
settings.configure(DATABASES=DATABASES, USE_TZ=True, TIME_ZONE="UTC", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField")
django.setup()


class Table(models.Model):
    class Meta:
        abstract = True
        app_label = "lab"
        managed = False


class Note(Table):
    tenant_id = models.TextField()
    body = models.TextField()

    class Meta(Table.Meta):
        db_table = 'app"."notes'  # as it is quoted: "app"."notes"


class Customer(Table):
    tenant_id = models.TextField()
    email = models.TextField()

    class Meta(Table.Meta):
        db_table = 'app"."customers'


class Order(Table):
    tenant_id = models.TextField()
    customer = models.ForeignKey(Customer, models.DO_NOTHING)
    total = models.DecimalField(max_digits=12, decimal_places=2)

    class Meta(Table.Meta):
        db_table = 'app"."orders'


MINE = Note.objects.filter(tenant_id="acme", body="Django")


def one(sql, values=None, alias="default"):
    with connections[alias].cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchone()[0] if cursor.description else cursor.rowcount


def row(sql, values=None):
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchone()


def code(sql):
    try:
        return one(sql)
    except DatabaseError as error:
        return error.__cause__.sqlstate


def note():
    return Note.objects.create(tenant_id="acme", body="Django")


def connect():
    return one("SELECT 1")


def tls():
    return one("SELECT 1", None, "tls")


def types():
    return line(row(TYPES))


def nulls():
    return line(row("SELECT NULL::int, NULL::text, %s::text", [None]))


def arrays():
    first, second = row("SELECT %s::int[], %s::text[]", [[1, 2, None], ["a", "b c"]])
    return f"{','.join(map(text, first))} {','.join(second)}"


def json():
    return one("""SELECT '{"a": [1, 2]}'::jsonb -> 'a' -> 1""")


def bytea():
    back = bytes(one("SELECT %s::bytea", [BYTES]))
    return f"{len(back)} {'same' if back == BYTES else 'other'}"


def prepared():
    # With server_side_binding values go by themselves.
    query = Order.objects.using("bound").filter(tenant_id="acme")
    return sum(query.get(id=order).id for order in range(2, 42, 2))


def transaction():
    try:
        with transactions.atomic():
            note()
            raise KeyError
    except KeyError:
        before = MINE.count()
    with transactions.atomic():
        note()
    return f"{before} {MINE.delete()[0]}"


def savepoint():
    with transactions.atomic():
        note()
        try:
            with transactions.atomic():
                note()
                raise KeyError
        except KeyError:
            pass
    return MINE.delete()[0]


def error():
    return code(ZERO)


def syntax():
    return code("SELEC 1")


def failed_transaction():
    connection.set_autocommit(False)
    codes = code(ZERO), code("SELECT 1")
    connection.rollback()
    connection.set_autocommit(True)
    return line([*codes, one("SELECT 1")])


def denied():
    return code(SECRET)


def refused():
    return code(EVERYONE)


def cancel():
    timer = threading.Timer(0.2, connection.connection.cancel_safe)
    timer.start()
    codes = code(LONG)
    timer.join()
    return f"{codes} {one('SELECT 1')}"


def timeout():
    one("SET statement_timeout = 100")
    codes = code(LONG)
    one("RESET statement_timeout")
    return f"{codes} {one('SELECT 1')}"


def setting():
    one("SET TimeZone = 'Asia/Tokyo'")
    hours = [one(HOUR), one(HOUR)]
    one("RESET TimeZone")
    return line([*hours, one(HOUR)])


def notice():
    heard = []
    connection.connection.add_notice_handler(lambda notice: heard.append(notice.sqlstate))
    one("ROLLBACK")
    return line(heard)


def rows():
    found = list(Order.objects.filter(tenant_id="acme").order_by("id").values_list("id", flat=True)[:5000])
    return f"{len(found)} {sum(found)}"


def copy_out():
    return "- it leaves COPY to its driver"


def copy_in():
    return "- it leaves COPY to its driver"


def pool():
    def client(number):
        try:
            found = [Order.objects.get(tenant_id="acme", id=2 * number + 2).id for _ in range(10)]
            return sum(id == 2 * number + 2 for id in found)
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as threads:  # a connection for each thread
        return sum(threads.map(client, range(20)))


def ORM():
    renamed = Note.objects.filter(tenant_id="acme", body="renamed")
    note()
    count = MINE.count()
    MINE.update(body="renamed")
    body = renamed.get().body
    renamed.delete()
    return f"{count} {body} {renamed.count()}"


def related():
    orders = Order.objects.filter(tenant_id="acme", customer__tenant_id="acme").select_related("customer")
    return len([order.customer.email for order in orders.order_by("id")[:3] if "@acme" in order.customer.email])


def iterator():
    query = Order.objects.filter(tenant_id="acme", id__lt=42).order_by("id")
    return len(list(query.iterator(chunk_size=4)))  # a server-side cursor


def atomic():
    with transactions.atomic():
        made = note()
        Order.objects.filter(tenant_id="acme").aggregate(models.Sum("total"))
        return Note.objects.filter(tenant_id="acme", id=made.id).delete()[0]


run(connect, tls, types, nulls, arrays, json, bytea, prepared, transaction, savepoint, error, syntax, failed_transaction)
run(denied, refused, cancel, timeout, setting, notice, rows, copy_out, copy_in, pool)
run(ORM, related, iterator, atomic)
