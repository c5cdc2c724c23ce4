"""psycopg 3 as some of the soak's clients: `psycopg_soak.py CLIENTS FIRST STATEMENTS_PER_SESSION`, until its input ends.

Prints one JSON object: sessions, statements, rows, denied, wrong, protocol, faults ([time, SQLSTATE, text]).
"""

import json
import os
import sys
import threading
import time

import psycopg

CLIENTS, FIRST, STATEMENTS = map(int, sys.argv[1:4])
PEOPLE = [("acme_app", "acme", "globex", True), ("globex_app", "globex", "acme", True), ("acme_analyst", "acme", "globex", False)]
THINKS = 0.15

seen = {"sessions": 0, "statements": 0, "rows": 0, "denied": 0, "wrong": [], "protocol": [], "faults": []}
lock = threading.Lock()
stop = threading.Event()


def count(**more):
    with lock:
        for name, number in more.items():
            seen[name] += number


def note(kind, what):
    with lock:
        seen[kind].append(what)


class Over(Exception):
    """The session has ended."""


class Client:
    def __init__(self, number):
        self.number, self.asked = number, 0
        self.user, self.tenant, self.other, self.writes = PEOPLE[number % len(PEOPLE)]

    def run(self):
        time.sleep(THINKS / 20 * (self.number % 20))
        dsn = os.environ["PGMOAT_DSN"].replace("USER", self.user)
        while not stop.is_set():
            try:
                with psycopg.connect(dsn, autocommit=True) as connection:
                    connection.prepare_threshold = 2
                    count(sessions=1)
                    self.session(connection)
            except Over:
                pass
            except psycopg.Error as error:
                note("faults", [time.time(), error.sqlstate or "closed", f"connect: {error}"])
                time.sleep(THINKS)

    def rows(self, connection, sql, values=None, expected=None):
        count(statements=1)
        try:
            cursor = connection.execute(sql, values)
            found = cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            if expected is not None and error.sqlstate == expected:
                return None
            if error.sqlstate is None and not connection.closed:
                note("protocol", f"{sql}: {error}")
                raise Over from None
            note("faults", [time.time(), error.sqlstate or "closed", f"{sql}: {error}"])
            if connection.closed:
                raise Over from None
            return None
        if expected is not None:
            note("wrong", f"{sql} was answered {found}")
        count(rows=len(found))
        return found

    def compare(self, what, found, expected):
        if found is not None and (not found or any(row != expected for row in found)):
            note("wrong", f"{what}: wanted {expected}, got {found}")

    def read(self, connection, nonce):
        sql = f"SELECT tenant_id, %s::text FROM app.orders WHERE tenant_id = '{self.tenant}' ORDER BY id LIMIT 5"
        found = self.rows(connection, sql, (nonce,))
        self.compare("own rows", found, (self.tenant, nonce))
        if found is not None and len(found) != 5:
            note("wrong", f"{len(found)} of 5 rows for {nonce}")

    def transaction(self, connection, nonce):
        if self.rows(connection, "BEGIN") is None:
            return
        if self.writes:
            self.rows(connection, f"INSERT INTO app.notes (tenant_id, body) VALUES ('{self.tenant}', %s)", (nonce,))
            mine = f"SELECT tenant_id, body FROM app.notes WHERE tenant_id = '{self.tenant}' AND body = %s"
            self.compare("a row just written", self.rows(connection, mine, (nonce,)), (self.tenant, nonce))
        else:
            self.read(connection, nonce)
        self.rows(connection, "COMMIT" if self.asked % 2 == 0 else "ROLLBACK")

    def masked(self, connection):
        sql = f"SELECT tenant_id, phone FROM app.customers WHERE tenant_id = '{self.tenant}' ORDER BY id LIMIT 5"
        found = self.rows(connection, sql)
        if found and any(row != (self.tenant, None) for row in found):
            note("wrong", f"not masked, or another's: {found}")

    def session(self, connection):
        name = f"soak-{self.number}-{self.asked}"
        if self.rows(connection, f"SET application_name = '{name}'") is None:
            return  # the server was away
        for _ in range(STATEMENTS):
            if stop.is_set():
                return
            nonce = f"{self.number}-{self.asked}"
            self.asked += 1
            kind = self.asked % 8
            if kind == 0:
                count(denied=1)
                self.rows(connection, f"SELECT tenant_id FROM app.orders WHERE tenant_id = '{self.other}'", expected="42501")
            elif kind == 1:
                self.transaction(connection, nonce)
            elif kind == 2:
                self.compare("a setting", self.rows(connection, "SHOW application_name"), (name,))
            elif kind == 3:
                self.rows(connection, "SELECT 1 / 0", expected="22012")
            elif kind == 4 and not self.writes:
                self.masked(connection)
            else:
                self.read(connection, nonce)
            time.sleep(THINKS)


threads = [threading.Thread(target=Client(number).run) for number in range(FIRST, FIRST + CLIENTS)]
for thread in threads:
    thread.start()
sys.stdin.read()
stop.set()
for thread in threads:
    thread.join()
print(json.dumps(seen))
