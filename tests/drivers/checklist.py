"""A checklist in Python: one line on the standard output for each item."""

import os
import sys
import traceback

DSN, TLS_DSN, OPS_DSN = (os.environ[name] for name in ("PGMOAT_DSN", "PGMOAT_TLS_DSN", "PGMOAT_OPS_DSN"))

ORDER = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = "
TYPES = (
    "SELECT true, 7::int2, (-2147483648)::int4, 9007199254740993::int8, 1.5::float8, 12.50::numeric(10,2), 'Grüße'::text,"
    " date '2026-01-31', time '12:30:00', '00000000-0000-0000-0000-000000000042'::uuid"
)
ZERO = "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2"
SECRET = "SELECT secret FROM internal.api_keys"
EVERYONE = "SELECT id FROM app.orders WHERE id = 4242"
LONG = "SELECT count(*) FROM generate_series(1, 2000000000)"
HOUR = "SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI')"
MANY = "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 5000"
COPY_OUT = "COPY (SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 8) TO STDOUT"
COPY_IN = "COPY app.notes (tenant_id, body) FROM STDIN"
BYTES = bytes(range(256)) * 4096


def tell(item, result):
    print(f"{item}\t{result}", flush=True)


def text(value):
    """As all drivers' scripts write it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def line(values):
    return " ".join(text(value) for value in values)


def run(*items):
    """Each function is an item, by its name."""
    for item in items:
        name = item.__name__.strip("_").replace("_", " ")
        try:
            tell(name, item())
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            tell(name, f"surprise: {type(error).__name__}: {str(error).splitlines()[:1]}")
