<?php
// PDO: one line on the standard output for each item of the checklist.

const ID = "SELECT id FROM app.orders WHERE tenant_id = ? AND id = ?";
const NOTE = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'PDO')";
const NOTES = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'PDO'";
const FORGET = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'PDO'";
const ZERO = "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
const LONG = "SELECT count(*) FROM generate_series(1, 2000000000)";
const HOUR = "SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI')";
const MANY = "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 5000";
const TYPES = "SELECT true, 7::int2, (-2147483648)::int4, 9007199254740993::int8, 1.5::float8, 12.50::numeric(10,2), 'Grüße'::text,"
    . " date '2026-01-31', time '12:30:00', '00000000-0000-0000-0000-000000000042'::uuid";

function connected(string $variable, array $options = []): PDO
{
    $dsn = parse_url(getenv($variable));
    $more = str_replace("&", ";", $dsn["query"]);
    $pdo = "pgsql:host={$dsn["host"]};port={$dsn["port"]};dbname=" . substr($dsn["path"], 1) . ";$more";
    return new PDO($pdo, $dsn["user"], $dsn["pass"], $options + [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
}

$main = connected("PGMOAT_DSN");

function one(string $sql, array $values = [], ?PDO $on = null, array $options = []): mixed
{
    global $main;
    $statement = ($on ?? $main)->prepare($sql, $options);
    $statement->execute($values);
    return $statement->fetchColumn();
}

function code(string $sql): string
{
    try {
        return (string) one($sql);
    } catch (PDOException $error) {
        return $error->errorInfo[0];
    }
}

function text(mixed $value): string
{
    return is_bool($value) ? ($value ? "true" : "false") : (string) ($value ?? "null");
}

function item(string $name, callable $what): void
{
    try {
        $result = $what();
    } catch (Throwable $error) {
        fwrite(STDERR, "$error\n");
        $result = "surprise: " . strtok($error->getMessage(), "\n");
    }
    echo "$name\t$result\n";
}

item("connect", fn() => one("SELECT 1", [], connected("PGMOAT_DSN")));
item("tls", fn() => one("SELECT 1", [], connected("PGMOAT_TLS_DSN")));
item("types", fn() => implode(" ", array_map("text", $main->query(TYPES)->fetch(PDO::FETCH_NUM))));
item("nulls", function () use ($main) {
    $statement = $main->prepare("SELECT NULL::int, NULL::text, ?::text");
    $statement->execute([null]);
    return implode(" ", array_map("text", $statement->fetch(PDO::FETCH_NUM)));
});
item("arrays", fn() => "- it has no arrays");
item("json", fn() => json_decode(one(<<<'SQL'
    SELECT '{"a": [1, 2]}'::jsonb
    SQL))->a[1]);
item("bytea", function () use ($main) {
    $bytes = str_repeat(implode("", array_map("chr", range(0, 255))), 4096);
    $statement = $main->prepare("SELECT ?::bytea");
    $statement->bindValue(1, $bytes, PDO::PARAM_LOB);
    $statement->execute();
    $back = stream_get_contents($statement->fetchColumn());
    return strlen($back) . " " . ($back === $bytes ? "same" : "other");
});

// The same statement twenty times; it is let go by DEALLOCATE.
function prepared(array $options): int
{
    global $main;
    $statement = $main->prepare(ID, $options);
    $sum = 0;
    for ($id = 2; $id < 42; $id += 2) {
        $statement->execute(["acme", $id]);
        $sum += $statement->fetchColumn();
    }
    return $sum;
}

item("prepared", fn() => prepared([]));
item("transaction", function () use ($main) {
    $main->beginTransaction();
    $main->exec(NOTE);
    $main->rollBack();
    $rolledBack = one(NOTES);
    $main->beginTransaction();
    $main->exec(NOTE);
    $main->commit();
    return "$rolledBack " . $main->exec(FORGET);
});
item("savepoint", function () use ($main) {
    foreach (["BEGIN", NOTE, "SAVEPOINT s", NOTE, "ROLLBACK TO s", "COMMIT"] as $sql) {
        $main->exec($sql);
    }
    return $main->exec(FORGET);
});
item("error", fn() => code(ZERO));
item("syntax", fn() => code("SELEC 1"));
item("failed transaction", function () use ($main) {
    $main->beginTransaction();
    $codes = code(ZERO) . " " . code("SELECT 1");
    $main->rollBack();
    return "$codes " . one("SELECT 1");
});
item("denied", fn() => code("SELECT secret FROM internal.api_keys"));
item("refused", fn() => code("SELECT id FROM app.orders WHERE id = 4242"));
item("cancel", fn() => "- it cannot cancel");
item("timeout", function () use ($main) {
    $main->exec("SET statement_timeout = 100");
    $codes = code(LONG);
    $main->exec("RESET statement_timeout");
    return "$codes " . one("SELECT 1");
});
item("setting", function () use ($main) {
    $main->exec("SET TimeZone = 'Asia/Tokyo'");
    $hours = one(HOUR) . " " . one(HOUR);
    $main->exec("RESET TimeZone");
    return "$hours " . one(HOUR);
});
item("notice", fn() => "- it keeps notices to itself before PHP 8.4");
item("rows", function () use ($main) {
    $found = $main->query(MANY)->fetchAll(PDO::FETCH_COLUMN);
    return count($found) . " " . array_sum($found);
});
item("copy out", function () use ($main) {
    $query = "(SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 8)";
    return count($main->pgsqlCopyToArray($query));
});
item("copy in", function () {
    $ops = connected("PGMOAT_OPS_DSN");
    $ops->pgsqlCopyFromArray("app.notes", ["acme\tPDO", "acme\tPDO"], "\t", "\\\\N", "tenant_id, body");
    return $ops->exec(FORGET);
});
item("pool", function () {
    // One thread has many connections, and takes turns.
    $pool = array_map(fn() => connected("PGMOAT_DSN"), range(1, 20));
    $right = 0;
    for ($turn = 0; $turn < 10; $turn++) {
        foreach ($pool as $number => $connection) {
            $right += one(ID, ["acme", 2 * $number + 2], $connection) == 2 * $number + 2;
        }
    }
    return $right;
});
item("emulated", fn() => prepared([PDO::ATTR_EMULATE_PREPARES => true]));
item("one by one", fn() => prepared([PDO::PGSQL_ATTR_DISABLE_PREPARES => true]));
